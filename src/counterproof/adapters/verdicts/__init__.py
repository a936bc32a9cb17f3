"""Verdicts in: tables of who judged what how, and logs of inspect_ai, as the table that a panel audit works on."""

from counterproof.adapters.verdicts.coding import FAILURES
from counterproof.adapters.verdicts.columns import ColumnMap, guess_columns
from counterproof.adapters.verdicts.inspect_logs import is_inspect_log, read_inspect
from counterproof.adapters.verdicts.reading import VerdictFile, read_verdicts

__all__ = [
    "FAILURES",
    "ColumnMap",
    "VerdictFile",
    "guess_columns",
    "is_inspect_log",
    "read_inspect",
    "read_verdicts",
]
