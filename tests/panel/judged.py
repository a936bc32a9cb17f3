"""Labelled tables for tests of diagnostics: from errors, with failures and clusters as given."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterproof.panel.table import Channel, FailureKind, Gold, VerdictTable


def judged(
    labels: ArrayLike, errors: ArrayLike, *, failed: ArrayLike | None = None, clusters: Sequence[object] | None = None
) -> tuple[VerdictTable, Gold]:
    """Two-class verdicts: the label, flipped where `errors` (N, K) is true, failed where `failed` is."""
    y, wrong = np.asarray(labels, dtype=np.int8), np.asarray(errors, dtype=np.bool_)
    symbols = (y[:, None] ^ wrong).astype(np.int8)
    if failed is not None:
        symbols[np.asarray(failed, dtype=np.bool_)] = 2
    return of_symbols(symbols, clusters=clusters), Gold(y)


def of_symbols(
    symbols: NDArray[np.int8], *, classes: int = 2, clusters: Sequence[object] | None = None
) -> VerdictTable:
    n, k = symbols.shape
    keys = tuple(f"i{i}" for i in range(n))
    return VerdictTable(
        items=keys,
        clusters=keys if clusters is None else tuple(map(str, clusters)),
        channels=tuple(Channel(f"c{j}") for j in range(k)),
        classes=tuple(f"class {c}" for c in range(classes)),
        symbols=symbols,
        kinds=np.where(symbols == classes, np.int8(FailureKind.TIMED_OUT), np.int8(-1)),
    )


def copy_gate(rng: np.random.Generator, n: int, k: int, error: float, s: float) -> NDArray[np.bool_]:
    """Errors (n, k): with probability s all views of an item take view 0's error."""
    own = rng.random((n, k)) < error
    return np.where((rng.random(n) < s)[:, None], own[:, :1], own)


def common_cause(rng: np.random.Generator, n: int, k: int, error: float, s: float) -> NDArray[np.bool_]:
    """Errors (n, k): each view takes the item's common error with probability s, else its own."""
    own, common = rng.random((n, k)) < error, rng.random(n) < error
    return np.where(rng.random((n, k)) < s, common[:, None], own)
