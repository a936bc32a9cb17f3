"""The one place where foreign code is called: whatever it does comes out as a typed outcome."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from counterproof.core.outcomes import Failed, Outcome, outcome_of

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
        return outcome_of(function(*arguments))
    except swallowed as error:
        return Failed(describe(error))


def guarded(function: Callable[[Any], Outcome], record: object) -> Outcome:
    """Return `function(record)` for a function whose outcomes were checked where they were made; else as `attempt`.

    For what this project itself bound or built: `attempt` would check every part of every outcome a second time.
    """
    try:
        return function(record)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - foreign code is called here
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
