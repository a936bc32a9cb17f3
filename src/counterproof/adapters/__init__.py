"""Logs and data sets in: pools of trajectories, their corpora, QA files, and native completion text both ways."""

from counterproof.adapters.formats import Format, LogFormat, Reading, expressible, markers
from counterproof.adapters.pool import FORMATS, PoolReader, open_pool
from counterproof.adapters.questions import Question, QuestionSet, read_questions
from counterproof.adapters.traits import TRAITS
from counterproof.adapters.writing import write_pool

__all__ = [
    "FORMATS",
    "TRAITS",
    "Format",
    "LogFormat",
    "PoolReader",
    "Question",
    "QuestionSet",
    "Reading",
    "expressible",
    "markers",
    "open_pool",
    "read_questions",
    "write_pool",
]
