"""The one error tree. A message says what was given, where, what is allowed and what to do."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_LONGEST = 300
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")


class CounterproofError(Exception):
    """Base of every error that counterproof raises on purpose; the command line shows it and exits 3."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One bad field or row: where it is, what is wrong there, and what to do."""

    where: str
    what: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" + (f" ({self.remedy})" if self.remedy else "")


class InputError(CounterproofError):
    """Data or an argument cannot be used. Carries every problem found, not only the first.

    Args:
        message: What was being read and what is wrong with it.
        problems: Each bad field or row.
        total: How many problems there were, when `problems` holds only the first of them.
    """

    def __init__(self, message: str, problems: Sequence[Problem] = (), total: int | None = None) -> None:
        self.problems = tuple(problems)
        self.total = len(self.problems) if total is None else total
        lines = [message, *(f"  - {problem}" for problem in self.problems)]
        if self.total > len(self.problems):
            lines.append(f"  ... and {self.total - len(self.problems)} more")
        super().__init__("\n".join(lines))


class PlanError(CounterproofError):
    """A plan is inconsistent, or a run folder belongs to another plan."""


class BoundaryError(CounterproofError):
    """An operator read a field that it did not declare."""


class OperatorError(CounterproofError):
    """An edit or a detector from outside raised, or made what cannot be used."""


class BindingError(CounterproofError):
    """A verifier cannot be found, imported or called with the fields at hand."""


class CannotRender(CounterproofError):  # noqa: N818 - reads as a statement, like BoundaryError
    """A log format cannot express this record; the outcome is then not applicable, never a score."""


class LedgerError(CounterproofError):
    """A ledger on disk cannot be used."""


class CorruptLedgerError(LedgerError):
    """A file of a ledger does not have the content that its name or its manifest states."""


class LockedLedgerError(LedgerError):
    """Another process is writing to the ledger."""


class FrozenLedgerError(LedgerError):
    """A frozen stage was asked to take a row."""


class IsolationError(CounterproofError):
    """The worker that runs foreign code cannot be started."""


def nearest(name: str, choices: Iterable[str]) -> str:
    """Return a hint that names up to three choices that are close, or all of them when none is.

    >>> nearest("refrence", ["reference", "outcome"])
    "did you mean 'reference'?"
    >>> nearest("zzz", ["reference", "outcome"])
    'choose from: outcome, reference'
    """
    options = sorted(set(choices))
    close = difflib.get_close_matches(name, options, n=3, cutoff=0.6)
    if close:
        return "did you mean " + " or ".join(f"'{match}'" for match in close) + "?"
    return "choose from: " + (", ".join(options) or "nothing")


def describe(error: BaseException) -> str:
    """Return class, message and the file and line that raised, as one line that is the same on every machine.

    Folders and memory addresses are left out, so that equal failures stay equal in a ledger.
    """
    where = raised_at(error)
    return message_of(error) + (f" ({where})" if where else "")


def message_of(error: BaseException) -> str:
    """Return class and message of an exception on one line, without memory addresses, cut where it is long."""
    try:
        message = str(error)
    except Exception as worse:  # noqa: BLE001 - `__str__` is foreign code too
        message = f"<no message: {type(worse).__name__}>"
    message = _ADDRESS.sub("0x...", " ".join(message[: 4 * _LONGEST].split()))
    if len(message) > _LONGEST:
        message = message[:_LONGEST] + "..."
    return type(error).__name__ + (f": {message}" if message else "")


def raised_at(error: BaseException, file: str = "") -> str:
    """Return `name.py:line` of the innermost frame, or of the innermost in `file` where one is named; "" without any.

    A syntax error's own message says where it is; the frame would be the importer's.
    """
    where, trace = "", None if isinstance(error, SyntaxError) else error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if not file or name == file:
            where = f"{name.rpartition('/')[2]}:{trace.tb_lineno}"
        trace = trace.tb_next
    return where
