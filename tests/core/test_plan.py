"""Plans: every problem at once, one hash for one plan, and a form that reads back."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pickle
from types import MappingProxyType
from typing import Any

import pytest

from counterproof.core import Digest, Gate, Hypothesis, Plan, PlanError
from counterproof.core.plan import SCHEMA

PLAN = Plan(
    room="rewards",
    unit="question",
    arms=("treatment", "control"),
    inputs=(Digest("pool", "00ff"),),
    seed=7,
    stages=("audit",),
    gates=(Gate("asr>0"),),
    hypotheses=(Hypothesis("H1", "the reward resists", "one proven attack succeeds"),),
    settings={"lambda": 0.5, "budgets": (1, 8)},
)


def but(**changes: Any) -> Plan:
    return dataclasses.replace(PLAN, **changes)


def test_hash_is_sha256_of_the_plan_written_out() -> None:
    text = (
        '{"arms":["treatment","control"],"gates":[{"expression":"asr>0","post_hoc":false,"type":"Gate"}],'
        '"hypotheses":[{"claim":"the reward resists","falsified_by":"one proven attack succeeds","name":"H1",'
        '"type":"Hypothesis"}],"inputs":[{"role":"pool","sha256":"00ff","type":"Digest"}],"room":"rewards",'
        '"schema":1,"seed":7,"settings":{"budgets":[1,8],"lambda":0.5},"stages":["audit"],"type":"Plan",'
        '"unit":"question"}'
    )
    assert PLAN.digest() == hashlib.sha256(text.encode()).hexdigest()


def test_the_same_plan_has_the_same_hash() -> None:
    same = but(settings={"budgets": [1, 8], "lambda": 0.5})
    assert same == PLAN
    assert same.digest() == PLAN.digest()
    assert hash(same) == hash(PLAN)
    assert len({same, PLAN}) == 1
    assert pickle.loads(pickle.dumps(PLAN)) == PLAN


@pytest.mark.parametrize(
    "changes",
    [
        {"room": "panel"},
        {"unit": "trajectory"},
        {"arms": ("control", "treatment")},
        {"inputs": (Digest("pool", "00fe"),)},
        {"inputs": (Digest("corpus", "00ff"),)},
        {"seed": 8},
        {"stages": ("audit", "confirm")},
        {"gates": ()},
        {"gates": (Gate("asr>0.1"),)},
        {"hypotheses": ()},
        {"hypotheses": (Hypothesis("H1", "the reward resists", "two proven attacks succeed"),)},
        {"settings": {"lambda": 0.5, "budgets": (8, 1)}},
        {"settings": {"lambda": 1, "budgets": (1, 8)}},
        {"schema": SCHEMA + 1},
    ],
)
def test_any_change_is_another_plan(changes: dict[str, Any]) -> None:
    assert but(**changes) != PLAN
    assert but(**changes).digest() != PLAN.digest()


def test_numbers_that_python_calls_equal_stay_different_plans() -> None:
    # 1 == 1.0 == True, yet their texts differ: equality follows the hash.
    plans = [but(settings={"x": value}) for value in (1, 1.0, True)]
    assert len({plan.digest() for plan in plans}) == len(set(plans)) == 3


def test_a_gate_added_afterwards_does_not_change_the_hash() -> None:
    later = but(gates=(*PLAN.gates, Gate("asr.upper>0.2", post_hoc=True)))
    assert later.digest() == PLAN.digest()
    assert later != PLAN


def test_a_plan_is_no_text() -> None:
    assert PLAN.to_json() != PLAN


def test_settings_cannot_be_changed_from_outside() -> None:
    budgets = [1, 8]
    settings = {"budgets": budgets}
    plan = but(settings=MappingProxyType(settings))
    before = plan.digest()
    budgets.append(64)
    settings["more"] = []
    assert plan.digest() == before
    assert plan.settings == {"budgets": [1, 8]}


def test_every_problem_is_named_at_once() -> None:
    with pytest.raises(PlanError) as caught:
        Plan(
            room="",
            unit="",
            arms=("a", "b", "a"),
            inputs=(Digest("pool", ""),),
            seed=-1,
            stages=(),
            gates=(Gate(""), Gate("asr>0", post_hoc="no")),  # type: ignore[arg-type]
            hypotheses=(Hypothesis("H1", "", "x"),),
            settings={"a": {"b": [0.5, float("nan")]}, "c": {1, 2}, 3: None},  # type: ignore[dict-item]
        )
    assert str(caught.value).splitlines() == [
        "this plan cannot be carried out:",
        "  - room: is empty",
        "  - unit: is empty",
        "  - arms: names a more than once",
        "  - stages: is empty (name at least one)",
        "  - inputs[0].sha256: is empty",
        "  - gates[0].expression: is empty",
        "  - gates[1].post_hoc: is 'no' (give true or false)",
        "  - hypotheses[0].claim: is empty",
        "  - seed: is -1 (give a whole number from 0)",
        "  - settings: has the key 3 (keys must be text)",
        "  - settings.a.b[1]: is nan (give a finite number)",
        "  - settings.c: is set (give a plain JSON value)",
    ]


@pytest.mark.parametrize("seed", [True, 1.0, "7", None, -1])
def test_a_seed_is_a_whole_number_from_zero(seed: Any) -> None:
    with pytest.raises(PlanError, match="seed"):
        but(seed=seed)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), b"x", object(), {"a": {"b": float("nan")}}])
def test_settings_are_plain_json(value: object) -> None:
    with pytest.raises(PlanError, match=r"settings\.x"):
        but(settings={"x": value})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"settings": [1]}, "settings: is list"),
        ({"arms": (1, [2])}, r"arms\[1\]: is \[2\] \(give text\)"),
        ({"room": None}, r"room: is None \(give text\)"),
        ({"stages": ("",)}, r"stages\[0\]: is empty"),
    ],
)
def test_wrong_types_are_problems_too(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(PlanError, match=said):
        but(**changes)


def test_a_plan_reads_back_equal() -> None:
    text = PLAN.to_json()
    again = Plan.from_json(text)
    assert again == PLAN
    assert again.digest() == PLAN.digest()
    assert again.to_json() == text
    assert text.endswith("}\n")


def test_a_lone_surrogate_can_be_written_and_read_back() -> None:
    plan = but(settings={"file": "caf\udce9 é"})
    text = plan.to_json()
    assert "é" in text
    assert Plan.from_json(text.encode("utf-8").decode("utf-8")) == plan


def changed(**changes: Any) -> str:
    return json.dumps(json.loads(PLAN.to_json()) | changes)


@pytest.mark.parametrize("schema", [SCHEMA + 1, None, "1"])
def test_another_schema_is_refused(schema: object) -> None:
    with pytest.raises(PlanError, match=f"plan schema {schema!r}; this version reads schema {SCHEMA}"):
        Plan.from_json(changed(schema=schema))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{",
        "[" * 100_000,
        changed(arms="ab"),
        changed(inputs={"role": "pool"}),
        changed(inputs=[{"role": "pool"}]),
        changed(gates=[5]),
        changed(hypotheses=None),
        json.dumps({"schema": SCHEMA}),
    ],
)
def test_what_is_no_plan_is_refused(text: str) -> None:
    with pytest.raises(PlanError, match="this is no plan"):
        Plan.from_json(text)


@pytest.mark.parametrize("text", [changed(seed="7"), changed(settings=[]), changed(settings={"x": float("nan")})])
def test_a_read_plan_is_checked_like_a_written_one(text: str) -> None:
    with pytest.raises(PlanError, match="cannot be carried out"):
        Plan.from_json(text)


def test_differences_name_the_parts_and_show_short_values() -> None:
    other = but(
        seed=8,
        gates=(Gate("asr>0.5"), Gate("asr.upper>0.1", post_hoc=True)),
        inputs=(Digest("pool", "00fe" * 16), Digest("verifier", "01")),
        settings={"lambda": 0.25, "budgets": (1, 8), "setup": {"edits": ["x"] * 40}},
    )
    assert PLAN.differences(other) == (
        "seed: 7, now 8",
        "gates: asr>0, now asr>0.5",
        "input pool",
        "setting lambda: 0.5, now 0.25",
        "input verifier: nothing, now 01",
        "setting setup",
    )
    assert PLAN.differences(PLAN) == ()
    assert PLAN.differences(but(gates=(*PLAN.gates, Gate("asr>1", post_hoc=True)))) == ()
