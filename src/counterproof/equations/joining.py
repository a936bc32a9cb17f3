"""Truth joined to a frozen evidence table, and tables of several libraries as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.equations.evidence import UNKNOWN, EvidenceTable


def with_truth(table: EvidenceTable, words: Sequence[str]) -> EvidenceTable:
    """Return the table with the true verdict of each item, in words; an empty word leaves it unknown.

    Args:
        table: Verdicts that were frozen without truth.
        words: One for each item, (I,).

    Raises:
        InputError: There are not as many words as items.
    """
    if len(words) != len(table.items):
        raise InputError(f"{len(words)} true verdicts for {len(table.items)} items")
    verdicts = tuple(sorted({*table.verdicts, *words} - {""}))
    code = {name: i for i, name in enumerate(verdicts)}
    truth = np.array([code.get(word, UNKNOWN) for word in words], dtype=np.int64)
    return replace(table, verdicts=verdicts, verdict=_recoded(table.verdict, table.verdicts, code), truth=truth)


def _recoded(codes: NDArray[np.int64], names: Sequence[str], code: dict[str, int]) -> NDArray[np.int64]:
    places = np.array([*(code[name] for name in names), 0], dtype=np.int64)
    return np.where(codes >= 0, places[np.maximum(codes, 0)], codes)


def join_evidence(tables: Sequence[EvidenceTable], prefixes: Sequence[str]) -> EvidenceTable:
    """Return tables over the same views as one; a cluster is the same one in all of them.

    Args:
        tables: At least one; clusters are positions in one shared list.
        prefixes: What goes in front of each table's item keys.

    Raises:
        InputError: The views differ, or there is no table.
    """
    if not tables or any(one.views != tables[0].views for one in tables):
        raise InputError("tables are joined over the same views; there is none, or they differ")
    verdicts = tuple(sorted({name for one in tables for name in one.verdicts}))
    code = {name: i for i, name in enumerate(verdicts)}
    start = np.cumsum([0, *(len(one.items) for one in tables)])
    return EvidenceTable(
        items=tuple(f"{p} {item}" for p, one in zip(prefixes, tables, strict=True) for item in one.items),
        views=tables[0].views,
        verdicts=verdicts,
        verdict=np.concatenate([_recoded(one.verdict, one.verdicts, code) for one in tables]),
        score=np.concatenate([one.score for one in tables]),
        scored=np.concatenate([one.scored for one in tables]),
        missing={
            (int(at) + i, v): why
            for at, one in zip(start[:-1], tables, strict=True)
            for (i, v), why in one.missing.items()
        },
        cluster=np.concatenate([one.cluster for one in tables]),
        truth=np.concatenate([_recoded(one.truth, one.verdicts, code) for one in tables]),
    )
