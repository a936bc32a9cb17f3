"""One call of one channel, as text and as a symbol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from counterproof.adapters.verdicts.coding import Coding
from counterproof.panel.table import FailureKind

NO_FAILURE = frozenset({"", "0", "false", "no", "none", "null", "nan", "na", "n/a", "ok"})
"""What a failure column says, in lower case, of a call that gave a verdict."""
SIDES = {"0": "given", "false": "given", "1": "swapped", "true": "swapped"}
"""Names of the orders of a pair where a column says true or false of `swapped`."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of one channel, its values still text.

    Attributes:
        item: The item's key.
        channel: Who judged.
        where: Where it stands.
        verdict: A class, or a value that stands for a failure.
        failure: Why there is no verdict; goes before `verdict`.
        side: Which order of a pair.
        repeat: Which repetition.
        cost: What it cost.
        seconds: How long it took.
    """

    item: str
    channel: str
    where: str
    verdict: str
    failure: str = ""
    side: str = ""
    repeat: str = ""
    cost: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Coded:
    """A call with its symbol: a class code, -1 with a kind, or -1 without one when nobody asked."""

    call: Call
    code: int
    kind: FailureKind | None


def has_failed(call: Call) -> bool:
    """Whether the failure column says that there is no verdict."""
    return call.failure.casefold() not in NO_FAILURE


def symbol_of(call: Call, coding: Coding) -> tuple[int, FailureKind | None] | None:
    """Return the code and kind of a call as `Coded` holds them; None when its text is neither class nor failure."""
    if has_failed(call):
        if call.failure.casefold() in ("1", "true", "yes"):
            return -1, FailureKind.UNSTATED
        return (-1, coding.kind(call.failure)) if coding.is_failure(call.failure) else None
    code = coding.code(call.verdict)
    if code is not None:
        return code, None
    return (-1, coding.kind(call.verdict)) if coding.is_failure(call.verdict) else None


def channel_names(coded: Sequence[Coded]) -> list[str]:
    """Return the channel name of each call: `judge`, `judge/swapped`, `judge#2`; parts that never vary are left out."""
    sides = len({entry.call.side for entry in coded}) > 1
    repeats = len({entry.call.repeat for entry in coded}) > 1
    return [
        entry.call.channel
        + (f"/{entry.call.side}" if sides and entry.call.side else "")
        + (f"#{entry.call.repeat}" if repeats and entry.call.repeat else "")
        for entry in coded
    ]
