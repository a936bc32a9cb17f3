"""What a claim is, and what one source shows of it."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

from counterproof.core.outcomes import NotApplicable
from counterproof.stats.rates import RateEstimate
from studies.rewards_results.sources import Audited
from studies.rewards_results.wording import exceptions


class Word(enum.Enum):
    """What a source says of a claim."""

    HOLDS = "holds"
    FAILS = "does not hold"
    UNTESTED = "not tested here"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True, slots=True)
class Shown:
    """What one source shows of a claim, in a word and in numbers."""

    word: Word
    text: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement that the design of the audit makes.

    Attributes:
        group: Heading that it stands under.
        text: The statement, as it was made.
        check: What one source shows of it.
        why: Why sources disagree with it, or what the reader should know.
    """

    group: str
    text: str
    check: Callable[[Audited], Shown]
    why: str = ""


def holds_if(condition: bool, text: str) -> Shown:
    """Return `holds` or `does not hold`."""
    return Shown(Word.HOLDS if condition else Word.FAILS, text)


def lawful(rate: RateEstimate | NotApplicable, what: str = "candidates", also: str = "") -> Shown:
    """Return what the exceptions to a law say of it."""
    if isinstance(rate, NotApplicable):
        return Shown(Word.UNTESTED, f"no {what}{also}")
    return holds_if(rate.n_events == 0, exceptions(rate, what) + also)


def needs(edit: str, check: Callable[[Audited], Shown]) -> Callable[[Audited], Shown]:
    """Return a check that says why where an edit does not apply to the source."""

    def guarded(one: Audited) -> Shown:
        for row in one.rows("reference", "not applicable"):
            if row["what"] == f"edit {edit}":
                return Shown(Word.NOT_APPLICABLE, str(row["reason"]))
        return check(one)

    return guarded
