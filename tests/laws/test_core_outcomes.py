"""Laws of outcomes: the wire form loses nothing, refuses what it did not write, and lets no forged number through."""

from __future__ import annotations

import contextlib
import json
import math
import struct
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterproof.core import (
    Abstained,
    Failed,
    Floored,
    InputError,
    NotApplicable,
    NotQueried,
    Outcome,
    Scored,
    TimedOut,
    outcome_of,
    pack,
    sound,
    unpack,
)
from counterproof.core.outcomes import unpack_scores

numbers = st.floats(allow_nan=False, allow_infinity=False)
scored = st.builds(
    Scored,
    numbers,
    st.lists(st.tuples(st.text(), numbers), max_size=3).map(tuple),
    st.frozensets(st.text(), max_size=3),
)
outcomes = st.one_of(
    scored,
    st.builds(Abstained, st.text()),
    st.builds(Floored, st.text(), numbers),
    st.builds(Failed, st.text()),
    st.builds(TimedOut, numbers),
    st.builds(NotQueried, st.text()),
    st.builds(NotApplicable, st.text()),
)
batches = st.lists(outcomes, max_size=8).map(tuple)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.sampled_from(["A", "L", "F", "T", "Q", "N", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=6,
)


@given(batches)
def test_packing_loses_nothing(batch: tuple[Outcome, ...]) -> None:
    assert unpack(pack(batch)) == batch


@given(batches)
def test_packing_what_was_unpacked_gives_the_same_bytes(batch: tuple[Outcome, ...]) -> None:
    assert pack(unpack(pack(batch))) == pack(list(batch))


@given(scored, st.randoms(use_true_random=False))
def test_the_order_in_which_reads_were_noted_does_not_show(outcome: Scored, random: Any) -> None:
    names = list(outcome.reads)
    random.shuffle(names)
    again = Scored(outcome.score, outcome.components, frozenset(names))
    assert pack([again]) == pack([outcome])


@given(batches, batches)
def test_different_batches_give_different_bytes(one: tuple[Outcome, ...], other: tuple[Outcome, ...]) -> None:
    if one != other:
        assert pack(one) != pack(other)


@given(batches, st.data())
def test_no_truncated_batch_is_read(batch: tuple[Outcome, ...], data: st.DataObject) -> None:
    payload = pack(batch)
    with pytest.raises(InputError):
        unpack(payload[: data.draw(st.integers(0, len(payload) - 1))])


@given(batches, st.binary(min_size=1, max_size=17))
def test_nothing_may_follow_a_batch(batch: tuple[Outcome, ...], more: bytes) -> None:
    with pytest.raises(InputError):
        unpack(pack(batch) + more)


@given(st.binary(max_size=64))
def test_any_bytes_are_read_or_refused(payload: bytes) -> None:
    with contextlib.suppress(InputError):
        assert isinstance(unpack(payload), tuple)


@given(
    st.lists(json_values, max_size=3),
    st.lists(st.tuples(json_values, json_values), max_size=3),
    st.lists(st.lists(json_values, max_size=3), max_size=3),
    st.lists(st.floats(), max_size=6),
)
def test_a_forged_batch_is_refused_or_made_sound(kinds: Any, layouts: Any, others: Any, values: list[float]) -> None:
    head = json.dumps([kinds, layouts, others]).encode()
    payload = struct.pack("<I", len(head)) + head + struct.pack(f"<{len(values)}d", *values)
    try:
        forged = unpack(payload)
    except InputError:
        return
    clean = tuple(map(sound, forged))
    assert unpack(pack(clean)) == clean
    for outcome in clean:
        if isinstance(outcome, Scored):
            assert all(map(math.isfinite, (outcome.score, *(number for _, number in outcome.components))))


@given(outcomes)
def test_sound_changes_nothing_that_is_sound(outcome: Outcome) -> None:
    assert sound(outcome) is outcome
    assert outcome_of(outcome) is outcome


@given(
    st.dictionaries(st.text(), st.floats(-1e6, 1e6), min_size=1).filter(lambda terms: "score" not in terms), st.data()
)
def test_the_order_of_a_mapping_does_not_change_its_score(terms: Mapping[str, float], data: st.DataObject) -> None:
    shuffled = dict(data.draw(st.permutations(list(terms.items()))))
    one, other = outcome_of(terms), outcome_of(shuffled)
    assert isinstance(one, Scored)
    assert isinstance(other, Scored)
    assert one.score == other.score == math.fsum(terms.values())
    assert dict(one.components) == dict(other.components) == terms


@given(st.dictionaries(st.sampled_from(["a", "b", "score"]), st.none() | st.text() | st.floats() | st.integers()))
def test_no_mapping_gives_a_number_that_is_not_finite(value: dict[str, object]) -> None:
    outcome = outcome_of(value)
    assert sound(outcome) == outcome
    assert isinstance(outcome, (Scored, Abstained, Failed))


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), st.floats(), min_size=1))
def test_plain_mappings_of_floats_are_judged_like_all_others(value: dict[str, float]) -> None:
    class Other(dict[str, float]):
        pass

    assert outcome_of(value) == outcome_of(Other(value))


@given(batches)
def test_numbers_read_at_once_are_those_of_the_outcomes(batch: tuple[Outcome, ...]) -> None:
    found = unpack_scores(pack(batch))
    alike = {
        (tuple(name for name, _ in row.components), row.reads) if isinstance(row, Scored) else None for row in batch
    }
    if len(alike) != 1 or None in alike:
        assert found is None
        return
    assert found is not None
    names, reads, count, values = found
    assert (alike, count) == ({(names, reads)}, len(batch))
    flat = [n for row in batch if isinstance(row, Scored) for n in (row.score, *(one for _, one in row.components))]
    assert values.tolist() == flat
