"""The one place where foreign code is called: whatever it does comes out as a typed outcome."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable

from counterproof.core.outcomes import Failed, Floored, Outcome, Scored, TimedOut, outcome_of

_LONGEST = 300
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")


def attempt(
    function: Callable[..., object],
    *arguments: object,
    swallowed: tuple[type[BaseException], ...] = (Exception, SystemExit),
) -> Outcome:
    """Return the outcome of `function(*arguments)`; what it raises becomes `Failed`.

    Args:
        function: Foreign code.
        arguments: What it is given.
        swallowed: What may not escape. By default Ctrl-C does; in a worker nothing does.

    >>> attempt(lambda: 1)
    Scored(score=1.0, components=(), reads=frozenset())
    """
    try:
        return sound(outcome_of(function(*arguments)))
    except swallowed as error:
        return Failed(describe(error))


def describe(error: BaseException) -> str:
    """Return class, message and the file and line that raised, as one line that is the same on every machine.

    Folders and memory addresses are left out, so that equal failures stay equal in a ledger.
    """
    try:
        message = str(error)
    except Exception as worse:  # noqa: BLE001 - `__str__` is foreign code too
        message = f"<no message: {type(worse).__name__}>"
    message = _ADDRESS.sub("0x...", " ".join(message[: 4 * _LONGEST].split()))
    if len(message) > _LONGEST:
        message = message[:_LONGEST] + "..."
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if isinstance(error, SyntaxError):  # its message says where; the frame is the importer's
        trace = None
    where = f" ({os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno})" if trace is not None else ""
    return type(error).__name__ + (f": {message}" if message else "") + where


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
