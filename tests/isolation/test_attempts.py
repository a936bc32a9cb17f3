from __future__ import annotations

import math

import pytest

from counterproof.core.outcomes import (
    Abstained,
    Failed,
    Floored,
    NotApplicable,
    NotQueried,
    Outcome,
    Scored,
    TimedOut,
    sound,
)
from counterproof.isolation import attempt


def fail(error: BaseException) -> None:
    raise error


def test_reason_names_class_message_file_and_line() -> None:
    line = fail.__code__.co_firstlineno + 1
    assert attempt(fail, ValueError("a\n  b")) == Failed(f"ValueError: a b (test_attempts.py:{line})")


def test_syntax_errors_say_where_they_are_themselves() -> None:
    outcome = attempt(compile, "x = (", "reward.py", "exec")
    assert outcome == Failed("SyntaxError: '(' was never closed (reward.py, line 1)")


def test_exit_is_a_failure_and_an_interrupt_passes() -> None:
    assert isinstance(attempt(fail, SystemExit(2)), Failed)
    with pytest.raises(KeyboardInterrupt):
        attempt(fail, KeyboardInterrupt())
    assert isinstance(attempt(fail, KeyboardInterrupt(), swallowed=(BaseException,)), Failed)


@pytest.mark.parametrize(
    "outcome",
    [
        Scored(1.0, (("a", 0.5), ("b", 0.5)), frozenset({"answer"})),
        Abstained(),
        Floored("late", 0.0),
        Failed("x"),
        TimedOut(1.0),
        NotQueried(),
        NotApplicable("no text"),
    ],
)
def test_sound_outcomes_pass_unchanged(outcome: Outcome) -> None:
    assert sound(outcome) is outcome


def test_numbers_of_other_types_become_floats() -> None:
    assert sound(Scored(1, (("a", 2),), frozenset({"x"}))) == Scored(1.0, (("a", 2.0),), frozenset({"x"}))
    mended = sound(Scored(True))
    assert isinstance(mended, Scored)
    assert type(mended.score) is float


@pytest.mark.parametrize(
    "outcome",
    [
        Scored(math.nan),
        Scored(math.inf),
        Scored("1"),  # type: ignore[arg-type]
        Scored(None),  # type: ignore[arg-type]
        Scored(1.0, (("a", math.nan),)),
        Scored(1.0, ("ab",)),  # type: ignore[arg-type]
        Scored(1.0, (("a", "b"),)),  # type: ignore[arg-type]
        Scored(1.0, (), 3),  # type: ignore[arg-type]
        Floored("x", math.nan),
        TimedOut(math.nan),
        Abstained(None),  # type: ignore[arg-type]
    ],
)
def test_unsound_outcomes_fail(outcome: Outcome) -> None:
    assert isinstance(sound(outcome), Failed)
