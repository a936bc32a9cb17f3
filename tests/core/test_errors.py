"""Errors say everything at once, and name the nearest choice."""

from __future__ import annotations

import json
import pickle

import pytest

from counterproof.core import (
    BindingError,
    BoundaryError,
    CannotRender,
    CorruptLedgerError,
    CounterproofError,
    FrozenLedgerError,
    InputError,
    IsolationError,
    LedgerError,
    LockedLedgerError,
    PlanError,
    Problem,
    nearest,
)
from counterproof.core.errors import describe, message_of, raised_at


def test_a_problem_says_where_what_and_the_remedy() -> None:
    assert str(Problem("pool.jsonl:3", "has no answer")) == "pool.jsonl:3: has no answer"
    assert str(Problem("seed", "is -1", "give a whole number")) == "seed: is -1 (give a whole number)"


def test_an_input_error_shows_every_problem() -> None:
    error = InputError("pool.jsonl cannot be used", [Problem("row 1", "is empty"), Problem("row 4", "is text", "fix")])
    assert str(error) == "pool.jsonl cannot be used\n  - row 1: is empty\n  - row 4: is text (fix)"
    assert error.total == 2


def test_an_input_error_says_how_many_it_left_out() -> None:
    error = InputError("bad", [Problem("row 1", "is empty")], total=40)
    assert str(error) == "bad\n  - row 1: is empty\n  ... and 39 more"
    assert (error.total, len(error.problems)) == (40, 1)


def test_an_input_error_without_problems_is_its_message() -> None:
    error = InputError("no such file")
    assert (str(error), error.problems, error.total) == ("no such file", (), 0)


def test_an_input_error_survives_the_way_to_another_process() -> None:
    error = InputError("bad", [Problem("row 1", "is empty")], total=40)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.problems, again.total) == (str(error), error.problems, error.total)


@pytest.mark.parametrize(
    "error", [InputError, PlanError, BoundaryError, BindingError, CannotRender, IsolationError, LedgerError]
)
def test_all_errors_have_one_root(error: type[Exception]) -> None:
    assert issubclass(error, CounterproofError)
    assert not issubclass(error, (ValueError, TypeError, AttributeError))


@pytest.mark.parametrize("error", [CorruptLedgerError, LockedLedgerError, FrozenLedgerError])
def test_errors_of_a_ledger_can_be_caught_as_one(error: type[Exception]) -> None:
    assert issubclass(error, LedgerError)


def test_near_misses_are_suggested_nearest_first() -> None:
    assert nearest("refrence", ["outcome", "reference"]) == "did you mean 'reference'?"
    # Ratios 2M/T by hand: "reference" 2*8/17, "preference" 2*8/18; both pass .6.
    assert nearest("refrence", ["preference", "reference"]) == "did you mean 'reference' or 'preference'?"


def test_at_most_three_near_misses_are_suggested() -> None:
    assert nearest("edit", [f"edit{number}" for number in range(9)]).count("edit") == 3


def test_all_choices_are_listed_where_none_is_near() -> None:
    assert nearest("zzz", ["reference", "outcome", "outcome"]) == "choose from: outcome, reference"
    assert nearest("zzz", []) == "choose from: nothing"


def test_reason_is_the_same_in_every_process() -> None:
    assert describe(ValueError(f"{object()}")) == "ValueError: <object object at 0x...>"


def test_long_messages_are_cut() -> None:
    assert describe(ValueError("x" * 10_000)) == "ValueError: " + "x" * 300 + "..."


def outer(error: Exception) -> None:
    inner_one(error)


def inner_one(error: Exception) -> None:
    raise error


def test_place_is_the_innermost_line_or_the_innermost_of_a_named_file() -> None:
    inner = inner_one.__code__.co_firstlineno + 1
    with pytest.raises(ValueError, match="no") as raised:
        outer(ValueError("no"))
    error = raised.value
    assert raised_at(error) == raised_at(error, __file__) == f"test_errors.py:{inner}"
    assert raised_at(error, "elsewhere.py") == ""
    assert describe(error) == f"ValueError: no (test_errors.py:{inner})"
    assert message_of(error) == "ValueError: no"
    with pytest.raises(ValueError, match="Expecting") as raised:
        json.loads("{")
    assert raised_at(raised.value).startswith("decoder.py:")
    assert raised_at(raised.value, __file__).startswith("test_errors.py:")
