"""Typed outcomes of a request. A failure is never coded as a number.

`outcome_of` turns what foreign code returned into one of them; `pack` and `unpack` are their only wire form, used by
the ledger and by the isolated workers alike.
"""

from __future__ import annotations

import json
import math
import struct
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from counterproof.core.errors import InputError


@dataclass(frozen=True, slots=True)
class Scored:
    """A verdict was given.

    Attributes:
        score: The total, in the verifier's own units; finite.
        components: Named terms that sum to the score where the verifier returned a mapping; else empty.
        reads: Names of the record's fields that the verifier was given or was seen to read.
    """

    score: float
    components: tuple[tuple[str, float], ...] = ()
    reads: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Abstained:
    """The verifier declined to judge (it returned None)."""

    reason: str = "returned None"


@dataclass(frozen=True, slots=True)
class Floored:
    """No verdict, but an objective needs a number: `value` may enter an objective and nothing else."""

    reason: str
    value: float


@dataclass(frozen=True, slots=True)
class Failed:
    """The verifier raised, or returned what is no score."""

    reason: str


@dataclass(frozen=True, slots=True)
class TimedOut:
    """No reply within the limit; the process tree was killed."""

    seconds: float


@dataclass(frozen=True, slots=True)
class NotQueried:
    """A policy or a budget left this call out."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """The question does not arise for this item, for the reason given."""

    reason: str


Outcome: TypeAlias = Scored | Abstained | Floored | Failed | TimedOut | NotQueried | NotApplicable


def outcome_of(value: object, reads: frozenset[str] = frozenset()) -> Outcome:
    """Return the outcome that a value returned by foreign code stands for.

    bool and real numbers are scores; None is `Abstained`; text, NaN and infinity are `Failed`; a mapping gives its
    `score` if present, else the sum of its numbers, and its numbers become components (besides `score` itself).
    An outcome is returned as it is, with `reads` filled in where it has none.

    >>> outcome_of(True).score
    1.0
    >>> outcome_of(None)
    Abstained(reason='returned None')
    """
    if isinstance(value, Scored):
        return value if value.reads or not reads else Scored(value.score, value.components, reads)
    if isinstance(value, (Abstained, Floored, Failed, TimedOut, NotQueried, NotApplicable)):
        return value
    if value is None:
        return Abstained()
    if isinstance(value, Mapping):
        return _outcome_of_mapping(value, reads)
    number = _real(value)
    if isinstance(number, str):
        return Failed(number)
    return Scored(number, (), reads)


def _outcome_of_mapping(value: Mapping[Any, Any], reads: frozenset[str]) -> Outcome:
    components: list[tuple[str, float]] = []
    total: float | None = None
    for key, entry in value.items():
        if entry is None or isinstance(entry, (str, bytes)):
            if key == "score":
                return Abstained("'score' is None") if entry is None else Failed(f"'score' is text: {entry!r:.80}")
            continue
        number = _real(entry)
        if isinstance(number, str):
            return Failed(f"{key!r}: {number}")
        if key == "score":
            total = number
        else:
            components.append((str(key), number))
    if total is None:
        if not components:
            return Failed(f"returned a mapping without a number (keys: {', '.join(map(str, value)) or 'none'})")
        total = math.fsum(number for _, number in components)
        if not math.isfinite(total):
            return Failed("the sum of the components is not finite")
    return Scored(total, tuple(components), reads)


def _real(value: object) -> float | str:
    """Return `value` as a finite float, or the reason why it is none."""
    if type(value) is float:
        return value if math.isfinite(value) else f"returned {value}"
    if isinstance(value, (str, bytes)):
        return f"returned text: {value!r:.80}"
    if not hasattr(value, "__float__"):
        return f"returned {type(value).__name__}, which is no number"
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        return f"returned {type(value).__name__}, which is no number ({error})"
    return number if math.isfinite(number) else f"returned {number}"


_BY_LETTER: dict[str, Callable[..., Outcome]] = {
    "A": Abstained,
    "L": Floored,
    "F": Failed,
    "T": TimedOut,
    "Q": NotQueried,
    "N": NotApplicable,
}
_LETTERS: dict[type, str] = {cls: letter for letter, cls in _BY_LETTER.items()}  # type: ignore[misc]
_FIELDS: dict[str, tuple[str, ...]] = {
    "A": ("reason",),
    "L": ("reason", "value"),
    "F": ("reason",),
    "T": ("seconds",),
    "Q": ("reason",),
    "N": ("reason",),
}
_HEADER = struct.Struct("<I")


def pack(outcomes: Sequence[Outcome]) -> bytes:
    """Return outcomes as bytes: a JSON header (kinds, layouts, reasons), then little-endian float64 values.

    Scored outcomes with the same component names share one *layout*, so a batch of them costs eight bytes a number.
    Equal sequences give equal bytes.
    """
    layouts: dict[tuple[tuple[str, ...], frozenset[str]], int] = {}
    kinds: list[int | str] = []
    others: list[list[str | float]] = []
    values = array("d")
    for outcome in outcomes:
        if type(outcome) is Scored:
            if outcome.components:
                names, numbers = zip(*outcome.components, strict=True)
                values.append(outcome.score)
                values.extend(numbers)
            else:
                names = ()
                values.append(outcome.score)
            kinds.append(layouts.setdefault((names, outcome.reads), len(layouts)))
        else:
            letter = _LETTERS[type(outcome)]
            kinds.append(letter)
            others.append([getattr(outcome, field) for field in _FIELDS[letter]])
    head = json.dumps(
        [kinds, [[names, sorted(reads)] for names, reads in layouts], others],
        separators=(",", ":"),
        ensure_ascii=True,
    ).encode()
    return _HEADER.pack(len(head)) + head + _little_endian(values).tobytes()


def unpack(payload: bytes) -> tuple[Outcome, ...]:
    """Return the outcomes that `pack` wrote.

    Raises:
        InputError: The bytes are not of that form.
    """
    try:
        (size,) = _HEADER.unpack_from(payload)
        kinds, layouts, others = json.loads(payload[4 : 4 + size])
        values = array("d")
        values.frombytes(payload[4 + size :])
        return tuple(_unpack_rows(kinds, layouts, iter(others), _little_endian(values)))
    except (struct.error, ValueError, KeyError, TypeError, IndexError, StopIteration) as error:
        raise InputError(f"not a packed sequence of outcomes: {error}") from None


def _unpack_rows(kinds: list[int | str], layouts: list[Any], others: Any, values: array[float]) -> list[Outcome]:
    rows: list[Outcome] = []
    position = 0
    read_sets = [frozenset(reads) for _, reads in layouts]
    for kind in kinds:
        if isinstance(kind, int):
            names = layouts[kind][0]
            end = position + 1 + len(names)
            if end > len(values):
                raise ValueError("fewer numbers than the header states")
            components = tuple(zip(names, values[position + 1 : end], strict=True))
            rows.append(Scored(values[position], components, read_sets[kind]))
            position = end
        else:
            rows.append(_BY_LETTER[kind](*next(others)))
    if position != len(values):
        raise ValueError("more numbers than the header states")
    return rows


def _little_endian(values: array[float]) -> array[float]:
    import sys

    if sys.byteorder == "big":
        values = values[:]
        values.byteswap()
    return values
