"""Edits and detectors from outside: what they raise is their author's to mend, and is told as that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from counterproof.core.errors import OperatorError, message_of, raised_at
from counterproof.core.records import Trajectory


def operator_error(owner: str, function: Callable[..., Any], record: Trajectory, error: BaseException) -> OperatorError:
    """Return the error that names the operator, the trajectory, and the line of the operator's own file.

    Where no line of that file was being run (it yielded what is no candidate, say), it is the line of its definition.
    """
    code = getattr(function, "__code__", None)
    file = code.co_filename if code is not None else ""
    where = raised_at(error, file)
    if code is not None and not where:
        where = f"{file.rpartition('/')[2]}:{code.co_firstlineno}"
    return OperatorError(
        f"{owner} cannot be used on trajectory '{record.trajectory_id}': {message_of(error)} ({where}); correct it and "
        "use another folder, because its source is part of the run"
    )
