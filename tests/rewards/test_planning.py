import dataclasses

import pytest

from counterproof.core.errors import PlanError
from counterproof.core.plan import Digest, Gate, Plan
from counterproof.rewards.cells import cells_of, set_up
from counterproof.rewards.detectors import DETECTORS, detector
from counterproof.rewards.edits import EDITS, edit
from counterproof.rewards.lattice import lattice_of
from counterproof.rewards.planning import models_of, planned_lacks, planned_models, planned_setup
from tests.rewards.records import ALL, SETUP, plan_of, record


@edit("x", reads=["answer"], writes=["answer"], targets=["mine"], generators={"lexical": (2, 4)}, proven=True)
def own_edit(view, context):  # type: ignore[no-untyped-def]
    """an edit of ours"""
    return []


@detector("mine", reads=["answer"], contract=True, weight=0.5)
def own_detector(view, corpus):  # type: ignore[no-untyped-def]
    return False


SETUPS = {
    "whole": SETUP,
    "no citations": set_up(ALL - {"citations"}),
    "no corpus": set_up(ALL - {"corpus"}),
    "own": set_up(ALL, (*EDITS, own_edit), (*DETECTORS, own_detector)),
}


@pytest.mark.parametrize("name", SETUPS)
def test_setup_read_back_from_a_plan_gives_the_same_cells_lattice_and_masks(name: str) -> None:
    setup = SETUPS[name]
    again = planned_setup(Plan.from_json(plan_of(setup).to_json()))
    assert cells_of(again) == cells_of(setup)
    assert (again.contract_mask, again.strict_mask, again.lattice) == (
        setup.contract_mask,
        setup.strict_mask,
        setup.lattice,
    )
    assert again.skipped == setup.skipped
    assert [(e.name, e.title, e.code, e.proven, e.reads, e.writes) for e in again.edits] == [
        (e.name, e.title, e.code, e.proven, e.reads, e.writes) for e in setup.edits
    ]
    mine, other = lattice_of(setup), lattice_of(again)
    assert (mine.names, mine.weights.tolist()) == (other.names, other.weights.tolist())


def test_what_is_known_from_a_plan_only_cannot_be_run() -> None:
    again = planned_setup(plan_of())
    with pytest.raises(PlanError, match="cannot be run"):
        again.edits[0].make(record(), None)  # type: ignore[arg-type]
    with pytest.raises(PlanError, match="cannot be run"):
        again.detectors[0].detect(record(), None)  # type: ignore[arg-type]


def test_plan_states_what_would_falsify_each_primary_attack() -> None:
    plan = plan_of()
    assert [one.name for one in plan.hypotheses] == [
        "resists same_final{U}",
        "resists same_final{UL}",
        "resists fake_id",
        "resists launder/lexical@8",
        "resists launder/bm25@16",
    ]
    assert plan.hypotheses[0].falsified_by == "a unit whose worst isolated candidate has a margin of at most 1e-9"


def test_plan_holds_digests_gates_and_settings() -> None:
    plan = plan_of(gates=("asr>0", "asr.upper>0.1"), allow_stateful=True)
    assert plan.inputs == (Digest("log", "0" * 64), Digest("verifier", "1" * 64))
    assert plan.gates == (Gate("asr>0"), Gate("asr.upper>0.1"))
    assert plan.stages == ("stateless", "controls", "scores", "evidence")
    assert (plan.unit, plan.arms, plan.seed) == ("question", ("ours",), 3)
    assert plan.settings["allow_stateful"] is True
    assert plan.settings["tolerance"] == 1e-9
    assert "gates" not in plan.settings


def test_same_audit_has_the_same_plan_and_another_weight_another() -> None:
    assert plan_of().digest() == plan_of().digest()
    heavier = (dataclasses.replace(DETECTORS[0], weight=3.0), *DETECTORS[1:])
    assert plan_of(set_up(ALL, detectors=heavier)).digest() != plan_of().digest()


def test_lacks_and_models_of_a_plan_without_any() -> None:
    assert planned_lacks(plan_of()) == ()
    assert tuple(planned_models(plan_of())) == ()


def test_plan_of_another_room_is_refused() -> None:
    other = Plan("panel", "item", ("a",), (), 0, ("x",))
    with pytest.raises(PlanError, match="describes no rewards audit"):
        planned_setup(other)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["b", "a", "b"], ("a", "b")),
        (["a", "a"], ()),
        ([], ()),
        ([str(i) for i in range(21)], ()),
        ([f"{i:02d}" for i in range(20)], tuple(f"{i:02d}" for i in range(20))),
    ],
)
def test_models_get_rows_when_there_are_two_to_twenty(names: list[str], expected: tuple[str, ...]) -> None:
    assert models_of(names) == expected
