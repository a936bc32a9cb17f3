"""What a returned value stands for, and the one wire form of outcomes. Expected values by hand."""

from __future__ import annotations

import json
import math
import struct
from collections import UserDict
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

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

NAN, INFINITY = float("nan"), float("inf")
READS = frozenset({"answer", "steps"})


@pytest.mark.parametrize(
    ("value", "score"),
    [
        (True, 1.0),
        (False, 0.0),
        (3, 3.0),
        (-0.25, -0.25),
        (5e-324, 5e-324),
        (Fraction(1, 4), 0.25),
        (Decimal("0.5"), 0.5),
        (np.float32(0.5), 0.5),
        (np.int64(-2), -2.0),
        (np.bool_(True), 1.0),
        (np.array(2.0), 2.0),
    ],
)
def test_a_real_number_is_a_score(value: object, score: float) -> None:
    outcome = outcome_of(value, READS)
    assert outcome == Scored(score, (), READS)
    assert isinstance(outcome, Scored)
    assert type(outcome.score) is float


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("0.7", "text: '0.7'"),
        (b"1", "text: b'1'"),
        (np.str_("1"), "text"),
        (NAN, "nan"),
        (INFINITY, "inf"),
        (-INFINITY, "-inf"),
        (np.float64("nan"), "nan"),
        (Decimal("NaN"), "nan"),
        (10**400, "no number"),
        (1j, "complex, which is no number"),
        ([1.0], "list, which is no number"),
        (np.array([1.0, 2.0]), "ndarray, which is no number"),
        (object(), "object, which is no number"),
        ((), "tuple, which is no number"),
    ],
)
def test_what_is_no_finite_real_number_failed(value: object, said: str) -> None:
    outcome = outcome_of(value, READS)
    assert isinstance(outcome, Failed)
    assert said in outcome.reason


def test_long_text_is_quoted_in_part() -> None:
    outcome = outcome_of("x" * 10_000)
    assert isinstance(outcome, Failed)
    assert len(outcome.reason) < 200


def test_none_abstained() -> None:
    assert outcome_of(None, READS) == Abstained("returned None")


def test_a_mapping_gives_the_exact_sum_of_its_numbers() -> None:
    # Ten times .1 is 1 only when the sum is rounded once, at its end.
    terms = {f"t{number}": 0.1 for number in range(10)}
    assert outcome_of(terms, READS) == Scored(1.0, tuple(terms.items()), READS)


def test_a_mapping_with_a_score_gives_that_and_the_rest_as_components() -> None:
    assert outcome_of({"f1": 0.5, "score": 2, "cost": -1}) == Scored(2.0, (("f1", 0.5), ("cost", -1.0)))
    assert outcome_of({"score": 0.5}) == Scored(0.5)
    assert outcome_of({"score": True, "f1": 0.0}) == Scored(1.0, (("f1", 0.0),))


def test_text_and_none_beside_numbers_are_not_counted() -> None:
    assert outcome_of({"a": 1, "why": "because", "b": None, "raw": b"x"}) == Scored(1.0, (("a", 1.0),))
    assert outcome_of({"score": 0.5, "why": "because"}) == Scored(0.5)


def test_numbers_of_every_kind_are_components() -> None:
    value = {"a": True, "b": np.float32(0.5), "c": Fraction(1, 4)}
    assert outcome_of(value) == Scored(1.75, (("a", 1.0), ("b", 0.5), ("c", 0.25)))


def test_any_mapping_will_do_and_its_keys_become_text() -> None:
    assert outcome_of(UserDict(a=0.5, b=0.25)) == Scored(0.75, (("a", 0.5), ("b", 0.25)))
    assert outcome_of({1: 0.5, None: 0.25}) == Scored(0.75, (("1", 0.5), ("None", 0.25)))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({}, "without a number (keys: none)"),
        ({"a": None, "b": "text"}, "without a number (keys: a, b)"),
        ({"a": NAN}, "'a': returned nan"),
        ({"a": 1.0, "b": INFINITY}, "'b': returned inf"),
        ({"a": INFINITY, "b": -INFINITY}, "'a': returned inf"),
        ({"score": NAN, "a": 1.0}, "'score': returned nan"),
        ({"score": "high"}, "'score' is text: 'high'"),
        ({"score": b"1"}, "'score' is text"),
        ({"a": 1e308, "b": 1e308}, "sum of the components is not finite"),
    ],
)
def test_a_mapping_without_a_finite_total_failed(value: object, said: str) -> None:
    outcome = outcome_of(value)
    assert isinstance(outcome, Failed)
    assert said in outcome.reason


def test_a_mapping_whose_score_is_none_abstained() -> None:
    assert outcome_of({"score": None, "a": 1.0}) == Abstained("'score' is None")


@pytest.mark.parametrize(
    "outcome",
    [
        Scored(0.5, (("a", 0.25), ("b", 0.25)), READS),
        Abstained("unsure"),
        Floored("no reply", -1.0),
        Failed("raised"),
        TimedOut(2.5),
        NotQueried("budget"),
        NotApplicable("no citations"),
    ],
)
def test_an_outcome_is_returned_as_it_is(outcome: Outcome) -> None:
    assert outcome_of(outcome) == outcome
    assert sound(outcome) is outcome


def test_reads_are_added_to_those_that_a_scored_outcome_states() -> None:
    assert outcome_of(Scored(1.0, (), frozenset({"gold_answers"})), READS) == Scored(
        1.0, (), READS | frozenset({"gold_answers"})
    )
    assert outcome_of(Scored(1.0), READS) == Scored(1.0, (), READS)
    full = Scored(1.0, (), READS)
    assert outcome_of(full, frozenset({"answer"})) is full


@pytest.mark.parametrize(
    "forged",
    [
        Scored(NAN),
        Scored(INFINITY),
        Scored("1"),  # type: ignore[arg-type]
        Scored(None),  # type: ignore[arg-type]
        Scored(1.0, (("a", NAN),)),
        Scored(1.0, (("a", "b"),)),  # type: ignore[arg-type]
        Scored(1.0, (("a",),)),  # type: ignore[arg-type]
        Scored(1.0, 7),  # type: ignore[arg-type]
        Scored(1.0, (), 7),  # type: ignore[arg-type]
        Scored(1.0, (("a", 10**400),)),
        Floored("reason", NAN),
        Floored(3, 1.0),  # type: ignore[arg-type]
        TimedOut(NAN),
        TimedOut("long"),  # type: ignore[arg-type]
        Abstained(None),  # type: ignore[arg-type]
        Failed(ValueError()),  # type: ignore[arg-type]
        NotQueried(0),  # type: ignore[arg-type]
        NotApplicable(()),  # type: ignore[arg-type]
    ],
)
def test_an_outcome_with_wrong_parts_failed(forged: Outcome) -> None:
    for outcome in (outcome_of(forged, READS), sound(forged)):
        assert isinstance(outcome, Failed)
        assert outcome.reason.startswith("returned ")


def test_parts_of_other_types_become_plain_ones() -> None:
    given = Scored(np.float32(0.5), [["a", 1]], {"answer"})  # type: ignore[arg-type]
    outcome = sound(given)
    assert outcome == Scored(0.5, (("a", 1.0),), frozenset({"answer"}))
    assert isinstance(outcome, Scored)
    assert type(outcome.score) is float
    assert type(outcome.components[0][1]) is float


def test_a_subclass_of_scored_becomes_a_plain_scored() -> None:
    class Loud(Scored):
        pass

    assert type(outcome_of(Loud(0.5))) is Scored


def header_of(payload: bytes) -> object:
    (size,) = struct.unpack_from("<I", payload)
    return json.loads(payload[4 : 4 + size])


def payload_of(header: object, *numbers: float) -> bytes:
    head = json.dumps(header).encode()
    return struct.pack("<I", len(head)) + head + struct.pack(f"<{len(numbers)}d", *numbers)


def test_packed_bytes_written_out() -> None:
    outcomes = (Scored(1.5, (("a", 0.5), ("b", 1.0)), frozenset({"y", "x"})), TimedOut(2.5), Scored(-1.0))
    head = b'[[0,"T",1],[[["a","b"],["x","y"]],[[],[]]],[[2.5]]]'
    assert pack(outcomes) == struct.pack("<I", len(head)) + head + struct.pack("<4d", 1.5, 0.5, 1.0, -1.0)


def test_outcomes_with_the_same_components_cost_eight_bytes_a_number() -> None:
    row = Scored(0.5, (("f1", 0.25), ("cost", 0.25)), READS)
    longer = [len(pack([row] * count)) for count in (10, 20)]
    # Each further row adds three numbers, and "0," in the header.
    assert longer[1] - longer[0] == 10 * (3 * 8 + 2)


def test_every_kind_comes_back_from_its_bytes() -> None:
    outcomes = (
        Scored(0.5, (("a", 0.25), ("a", 0.25)), READS),
        Abstained("unsure"),
        Floored("no reply", -1.0),
        Failed('raised "Ü\n"'),
        TimedOut(0.1),
        NotQueried(),
        NotApplicable("no citations"),
        Scored(-0.5),
    )
    assert unpack(pack(outcomes)) == outcomes
    assert unpack(pack(())) == ()


def test_numbers_keep_every_bit() -> None:
    (outcome,) = unpack(pack([Scored(0.1 + 0.2, (("tiny", 5e-324), ("zero", -0.0)))]))
    assert isinstance(outcome, Scored)
    assert outcome.score.hex() == (0.1 + 0.2).hex()
    assert math.copysign(1.0, outcome.components[1][1]) == -1.0


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\x01\x00",
        b"\xff\xff\xff\xff[]",
        struct.pack("<I", 2) + b"{}",
        struct.pack("<I", 3) + b"\xff\xfe\xfd",
        struct.pack("<I", 100_000) + b"[" * 100_000,
        payload_of([]),
        payload_of([[0], [], []], 1.0),
        payload_of([[0], [[["a"], []]], []], 1.0),
        payload_of([[0], [[[], []]], []], 1.0, 2.0),
        payload_of([[0], [[[], []]], []], 1.0) + b"\x00",
        payload_of([["Z"], [], [["reason"]]]),
        payload_of([["F"], [], []]),
        payload_of([["F"], [], [[]]]),
        payload_of([["L"], [], [["a", 1.0, 2.0]]]),
        payload_of([[None], [], []]),
        payload_of([[[0]], [], []]),
        payload_of([[0], [[[], [[]]]], []], 1.0),
        payload_of([5, [], []]),
        payload_of([[10**30], [[[], []]], []], 1.0),
    ],
)
def test_malformed_bytes_are_refused(payload: bytes) -> None:
    with pytest.raises(InputError, match="not a packed sequence of outcomes"):
        unpack(payload)


def test_numbers_of_outcomes_alike_are_read_at_once() -> None:
    rows = [Scored(0.5, (("a", 0.25), ("b", 0.25)), READS), Scored(-1.0, (("a", 0.0), ("b", -1.0)), READS)]
    found = unpack_scores(pack(rows))
    assert found is not None
    names, reads, count, values = found
    assert (names, reads, count) == (("a", "b"), READS, 2)
    assert values.tolist() == [0.5, 0.25, 0.25, -1.0, 0.0, -1.0]


@pytest.mark.parametrize(
    "rows", [(), (Failed("raised"),), (Scored(1.0), Failed("raised")), (Scored(1.0), Scored(1.0, (), READS))]
)
def test_outcomes_that_differ_in_kind_are_not_read_at_once(rows: tuple[Outcome, ...]) -> None:
    assert unpack_scores(pack(rows)) is None


@pytest.mark.parametrize(
    "payload", [b"", struct.pack("<I", 2) + b"{}", payload_of([]), payload_of([[0, 0], [[[], []]], []], 1.0)]
)
def test_malformed_bytes_are_not_read_at_once(payload: bytes) -> None:
    with pytest.raises(InputError, match="not a packed sequence of outcomes"):
        unpack_scores(payload)


def test_a_header_is_json_text_in_ascii() -> None:
    payload = pack([Failed("é")])
    assert header_of(payload) == [["F"], [], [["é"]]]
    assert payload.isascii()
