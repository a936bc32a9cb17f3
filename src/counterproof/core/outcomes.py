"""Typed outcomes of a request. A failure is never coded as a number.

`outcome_of` turns what foreign code returned into one of them; `pack` and `unpack` are their only wire form, used by
the ledger and by the isolated workers alike.
"""

from __future__ import annotations

import json
import math
import struct
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Any, TypeAlias

from counterproof.core.errors import InputError


@dataclass(frozen=True, slots=True)
class Scored:
    """A verdict was given.

    Attributes:
        score: The total, in the verifier's own units; finite.
        components: Named terms where the verifier returned a mapping; they sum to the score unless the mapping had a
            `score` of its own. Empty for a bare number.
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
    An outcome that foreign code built itself is checked; `reads` is added to what it states.

    >>> outcome_of(True).score
    1.0
    >>> outcome_of(None)
    Abstained(reason='returned None')
    """
    if isinstance(value, _KINDS):
        return _given(value, reads)
    if value is None:
        return Abstained()
    if isinstance(value, Mapping):
        return _outcome_of_mapping(value, reads)
    number = _real(value)
    if isinstance(number, str):
        return Failed(number)
    return Scored(number, (), reads)


def _given(value: Outcome, reads: frozenset[str]) -> Outcome:
    """Return an outcome that foreign code built itself, if its parts are what its type states; else `Failed`."""
    if type(value) not in _KINDS and not isinstance(value, Scored):
        return Failed(f"returned {type(value).__name__}, a subclass of an outcome")
    outcome = sound(value)
    if isinstance(outcome, Scored) and not reads <= outcome.reads:
        return Scored(outcome.score, outcome.components, outcome.reads | reads)
    return outcome


def sound(outcome: Outcome) -> Outcome:
    """Return the outcome if its parts are what its type states, else `Failed`.

    Foreign code may build an outcome itself, and a worker's reply may be forged: a score that is text, NaN or infinite
    never passes. Numbers of other types become floats.
    """
    if isinstance(outcome, Scored):
        return outcome if _fits(outcome) else _mended(outcome)
    if isinstance(outcome, TimedOut):
        return outcome if _is_finite(outcome.seconds) else Failed("returned an outcome without a finite time")
    if type(outcome.reason) is not str:
        return Failed(f"returned {type(outcome).__name__} with a reason that is no text")
    if isinstance(outcome, Floored) and not _is_finite(outcome.value):
        return Failed("returned a floored outcome without a finite value")
    return outcome


def _is_finite(number: object) -> bool:
    return type(number) is float and math.isfinite(number)


def _fits(outcome: Scored) -> bool:
    if type(outcome) is not Scored or not _is_finite(outcome.score) or type(outcome.reads) is not frozenset:
        return False
    if type(outcome.components) is not tuple or not all(type(name) is str for name in outcome.reads):
        return False
    return all(
        type(entry) is tuple and len(entry) == 2 and type(entry[0]) is str and _is_finite(entry[1])
        for entry in outcome.components
    )


def _mended(outcome: Scored) -> Outcome:
    score = outcome_of(outcome.score)
    if not isinstance(score, Scored):
        return Failed("returned a Scored without a finite score")
    try:
        entries: Iterable[tuple[object, object]] = outcome.components
        components = tuple((str(name), float(number)) for name, number in entries)  # type: ignore[arg-type]
        reads = frozenset(str(name) for name in outcome.reads)
    except (TypeError, ValueError, OverflowError):
        return Failed("returned a Scored with components that are no pairs of a name and a number")
    if not all(math.isfinite(number) for _, number in components):
        return Failed("returned a Scored with a component that is not finite")
    return Scored(score.score, components, reads)


def _outcome_of_mapping(value: Mapping[Any, Any], reads: frozenset[str]) -> Outcome:
    if type(value) is dict and "score" not in value and value and {*map(type, value.values())} == _FLOAT:
        # A finite sum of floats has finite terms only, so a plain mapping of them is checked by one addition.
        total = sum(value.values())
        if math.isfinite(total) and {*map(type, value)} == _TEXT:
            return Scored(math.fsum(value.values()), tuple(value.items()), reads)
    return _outcome_of_any_mapping(value, reads)


def _outcome_of_any_mapping(value: Mapping[Any, Any], reads: frozenset[str]) -> Outcome:
    numbers = {str(key): entry for key, entry in value.items() if key != "score" and _is_number(entry)}
    parts = {name: _real(entry) for name, entry in numbers.items()}
    if "score" in value:
        entry = value["score"]
        if entry is None:
            return Abstained("'score' is None")
        if isinstance(entry, (str, bytes)):
            return Failed(f"'score' is text: {entry!r:.80}")
        total = _real(entry)
        if isinstance(total, str):
            return Failed(f"'score': {total}")
        return Scored(total, tuple((n, part) for n, part in parts.items() if isinstance(part, float)), reads)
    for name, part in parts.items():
        if isinstance(part, str):
            return Failed(f"{name!r:.80}: {part}")
    components = tuple((name, part) for name, part in parts.items() if isinstance(part, float))
    if not components:
        return Failed(f"returned a mapping without a number (keys: {', '.join(map(str, value)) or 'none'})"[:200])
    try:
        total = math.fsum(number for _, number in components)
    except OverflowError:
        return Failed("the sum of the components is not finite")
    return (
        Scored(total, components, reads) if math.isfinite(total) else Failed("the sum of the components is not finite")
    )


def _is_number(value: object) -> bool:
    """Whether a value in a mapping is meant as a number: text, None and containers beside numbers are left out."""
    return value is not None and not isinstance(value, (str, bytes)) and hasattr(value, "__float__")


def _real(value: object) -> float | str:
    """Return `value` as a finite float, or the reason why it is none."""
    if type(value) is float:
        return value if math.isfinite(value) else f"returned {value}"
    if isinstance(value, (str, bytes)):
        return f"returned text: {value!r:.80}"
    if not hasattr(value, "__float__") or isinstance(value, complex) or _kind(value) not in "biuf":
        return f"returned {type(value).__name__}, which is no number"
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        return f"returned {type(value).__name__}, which is no number ({error})"
    return number if math.isfinite(number) else f"returned {number}"


def _kind(value: object) -> str:
    """Return the kind letter of a numpy value, and that of a float for any other."""
    return str(getattr(getattr(value, "dtype", None), "kind", "f"))


_FLOAT, _TEXT = {float}, {str}
_KINDS = (Scored, Abstained, Floored, Failed, TimedOut, NotQueried, NotApplicable)
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
_NAME, _NUMBER = itemgetter(0), itemgetter(1)


def pack(outcomes: Sequence[Outcome]) -> bytes:
    """Return outcomes as bytes: a JSON header (kinds, layouts, reasons), then little-endian float64 values.

    Scored outcomes with the same component names share one *layout*, so a batch of them costs eight bytes a number.
    Equal sequences give equal bytes.
    """
    return _pack_alike(outcomes) or _pack_any(outcomes)


def _pack_alike(outcomes: Sequence[Outcome]) -> bytes:
    """Pack scored outcomes of one layout, in half the time; return nothing where there are others."""
    first = outcomes[0] if outcomes else None
    if type(first) is not Scored:
        return b""
    names, reads = [*map(_NAME, first.components)], first.reads
    numbers: list[float] = []
    for outcome in outcomes:
        if type(outcome) is not Scored or outcome.reads != reads or [*map(_NAME, outcome.components)] != names:
            return b""
        numbers.append(outcome.score)
        numbers += map(_NUMBER, outcome.components)
    head = _scored_head(len(outcomes), tuple(names), reads)
    return _HEADER.pack(len(head)) + head + _little_endian(array("d", numbers)).tobytes()


def _pack_any(outcomes: Sequence[Outcome]) -> bytes:
    layouts: dict[tuple[tuple[str, ...], frozenset[str]], int] = {}
    kinds: list[int | str] = []
    others: list[list[str | float]] = []
    values = array("d")
    for outcome in outcomes:
        if type(outcome) is Scored:
            values.append(outcome.score)
            names: tuple[str, ...] = ()
            if outcome.components:
                names, numbers = zip(*outcome.components, strict=True)
                values.extend(numbers)
            kinds.append(layouts.setdefault((names, outcome.reads), len(layouts)))
        else:
            letter = _LETTERS[type(outcome)]
            kinds.append(letter)
            others.append([getattr(outcome, field) for field in _FIELDS[letter]])
    head = _head(kinds, list(layouts), others)
    return _HEADER.pack(len(head)) + head + _little_endian(values).tobytes()


_Layout: TypeAlias = tuple[tuple[str, ...], frozenset[str]]


def _head(kinds: list[int | str], layouts: list[_Layout], others: list[list[str | float]]) -> bytes:
    listed = [[names, sorted(reads)] for names, reads in layouts]
    return json.dumps([kinds, listed, others], separators=(",", ":"), ensure_ascii=True).encode()


@lru_cache(maxsize=256)
def _scored_head(count: int, names: tuple[str, ...], reads: frozenset[str]) -> bytes:
    return _head([0] * count, [(names, reads)], [])


def unpack(payload: bytes) -> tuple[Outcome, ...]:
    """Return the outcomes that `pack` wrote.

    Raises:
        InputError: The bytes are not of that form.
    """
    try:
        header, values = _opened(payload)
        return tuple(_unpack_rows(header, values))
    except (struct.error, ValueError, KeyError, TypeError, IndexError, StopIteration, RecursionError) as error:
        raise InputError(f"not a packed sequence of outcomes: {error}") from None


def unpack_scores(payload: bytes) -> tuple[tuple[str, ...], frozenset[str], int, array[float]] | None:
    """Return the numbers of packed outcomes that are all scored and have the same components, without unpacking each.

    Returns:
        Component names (K), what was read, the number of outcomes N, and N times (score, then K components) in one
        flat array; None when some outcome is no score or has other components: then use `unpack`.

    Raises:
        InputError: The bytes are not of that form.
    """
    try:
        header, values = _opened(payload)
    except (struct.error, ValueError, TypeError, IndexError, RecursionError) as error:
        raise InputError(f"not a packed sequence of outcomes: {error}") from None
    if len(header.layouts) != 1 or header.others or any(header.kinds):
        return None
    names, reads = header.layouts[0]
    if len(values) != len(header.kinds) * (1 + len(names)):
        raise InputError("not a packed sequence of outcomes: the header states another number of numbers")
    return names, reads, len(header.kinds), values


@dataclass(frozen=True, slots=True)
class _Header:
    kinds: tuple[int | str, ...]
    layouts: tuple[tuple[tuple[str, ...], frozenset[str]], ...]
    others: tuple[tuple[Any, ...], ...]


_CACHED = 1 << 14


@lru_cache(maxsize=256)
def _header(head: bytes) -> _Header:
    kinds, layouts, others = json.loads(head)
    return _Header(
        tuple(kinds),
        tuple((tuple(names), frozenset(reads)) for names, reads in layouts),
        tuple(tuple(fields) for fields in others),
    )


def _opened(payload: bytes) -> tuple[_Header, array[float]]:
    (size,) = _HEADER.unpack_from(payload)
    values = array("d")
    values.frombytes(payload[4 + size :])
    head = payload[4 : 4 + size]
    return (_header if size <= _CACHED else _header.__wrapped__)(head), _little_endian(values)


def _unpack_rows(header: _Header, values: array[float]) -> list[Outcome]:
    rows: list[Outcome] = []
    position = 0
    others = iter(header.others)
    for kind in header.kinds:
        if isinstance(kind, int):
            if kind < 0:
                raise ValueError("a negative layout")
            names, reads = header.layouts[kind]
            end = position + 1 + len(names)
            if end > len(values):
                raise ValueError("fewer numbers than the header states")
            components = tuple(zip(names, values[position + 1 : end], strict=True))
            rows.append(Scored(values[position], components, reads))
            position = end
        else:
            rows.append(_BY_LETTER[kind](*next(others)))
    if position != len(values) or next(others, None) is not None:
        raise ValueError("more numbers or reasons than the header states")
    return rows


def _little_endian(values: array[float]) -> array[float]:
    import sys

    if sys.byteorder == "big":
        values = values[:]
        values.byteswap()
    return values
