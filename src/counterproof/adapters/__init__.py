"""Logs and data sets in: trajectories, corpora, QA files, verdicts, space-time fields; completion text both ways."""

from counterproof.adapters.formats import Format, LogFormat, Reading, expressible, markers
from counterproof.adapters.pool import FORMATS, PoolReader, open_pool
from counterproof.adapters.questions import Question, QuestionSet, read_questions
from counterproof.adapters.spacetime import Field, read_field
from counterproof.adapters.traits import TRAITS
from counterproof.adapters.verdicts import (
    FAILURES,
    ColumnMap,
    VerdictFile,
    guess_columns,
    is_inspect_log,
    read_inspect,
    read_verdicts,
)
from counterproof.adapters.writing import write_pool

__all__ = [
    "FAILURES",
    "FORMATS",
    "TRAITS",
    "ColumnMap",
    "Field",
    "Format",
    "LogFormat",
    "PoolReader",
    "Question",
    "QuestionSet",
    "Reading",
    "VerdictFile",
    "expressible",
    "guess_columns",
    "is_inspect_log",
    "markers",
    "open_pool",
    "read_field",
    "read_inspect",
    "read_questions",
    "read_verdicts",
    "write_pool",
]
