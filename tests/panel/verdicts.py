"""Small verdict tables for tests."""

from collections.abc import Sequence

import numpy as np

from counterproof.panel.table import Channel, FailureKind, VerdictTable


def table_of(rows: Sequence[Sequence[int]] | np.ndarray, classes: int = 2) -> VerdictTable:
    """A table of codes: a class, `classes` for a failure, -1 for a call never made."""
    symbols = np.array(rows, dtype=np.int8)
    keys = tuple(f"i{n}" for n in range(len(symbols)))
    return VerdictTable(
        items=keys,
        clusters=keys,
        channels=tuple(Channel(f"c{j}") for j in range(symbols.shape[1])),
        classes=tuple(f"class {c}" for c in range(classes)),
        symbols=symbols,
        kinds=np.where(symbols == classes, np.int8(FailureKind.UNSTATED), np.int8(-1)),
    )
