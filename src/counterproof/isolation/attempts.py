"""The one place where foreign code is called: whatever it does comes out as a typed outcome."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from counterproof.core.errors import describe
from counterproof.core.outcomes import Failed, Outcome, outcome_of


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
