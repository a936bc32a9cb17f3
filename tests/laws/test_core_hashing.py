"""Laws of canonical forms and plans: order and container do not matter, everything else does."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from counterproof.core import Digest, Gate, Hypothesis, Plan
from counterproof.core.hashing import canonical, digest

leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
words = st.text(min_size=1, max_size=8)
names = st.lists(words, min_size=1, max_size=3, unique=True).map(tuple)
plans = st.builds(
    Plan,
    room=words,
    unit=words,
    arms=names,
    inputs=st.lists(st.builds(Digest, words, words), max_size=2).map(tuple),
    seed=st.integers(0, 2**64),
    stages=names,
    gates=st.lists(st.builds(Gate, words, st.booleans()), max_size=3).map(tuple),
    hypotheses=st.lists(st.builds(Hypothesis, words, words, words), max_size=2).map(tuple),
    settings=st.dictionaries(st.text(), values, max_size=3),
)


def reordered(value: Any) -> Any:
    """The same value with keys in reverse order and tuples for lists."""
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(value)}
    if isinstance(value, list):
        return tuple(reordered(entry) for entry in value)
    return value


@given(values)
def test_order_of_keys_and_kind_of_sequence_do_not_matter(value: Any) -> None:
    assert canonical(reordered(value)) == canonical(value)


@given(values)
def test_canonical_text_is_json_that_reads_back(value: Any) -> None:
    assert json.loads(canonical(value)) == value


@given(values, values)
def test_different_values_have_different_digests(one: Any, other: Any) -> None:
    if one != other:
        assert digest(one) != digest(other)


@given(st.frozensets(leaves), st.randoms(use_true_random=False))
def test_order_in_a_set_does_not_matter(value: frozenset[Any], random: Any) -> None:
    entries = list(value)
    random.shuffle(entries)
    assert canonical(set(entries)) == canonical(value)


@given(plans)
def test_a_plan_reads_back_equal(plan: Plan) -> None:
    again = Plan.from_json(plan.to_json())
    assert again == plan
    assert (again.digest(), hash(again), again.to_json()) == (plan.digest(), hash(plan), plan.to_json())


@given(plans, plans)
def test_equal_plans_have_equal_hashes_and_others_do_not(one: Plan, other: Plan) -> None:
    promised = [
        dataclasses.replace(plan, gates=tuple(gate for gate in plan.gates if not gate.post_hoc))
        for plan in (one, other)
    ]
    assert (promised[0] == promised[1]) == (one.digest() == other.digest())


@given(plans, st.lists(words, max_size=3), st.data())
def test_gates_added_afterwards_never_change_the_hash(plan: Plan, expressions: list[str], data: st.DataObject) -> None:
    gates = list(plan.gates)
    for expression in expressions:
        gates.insert(data.draw(st.integers(0, len(gates))), Gate(expression, post_hoc=True))
    assert dataclasses.replace(plan, gates=tuple(gates)).digest() == plan.digest()
