"""Distinct rows of a verdict table with their counts: what every estimate of a panel is a function of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError

DENSE_CHANNELS = 12
DENSE_CELLS = 1 << 22
"""Above 12 channels, or where a histogram over all conceivable rows would not fit a cache, rows are sorted instead."""
T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, slots=True, eq=False)
class Patterns:
    """The P distinct rows of N items over K channels.

    Attributes:
        rows: Each distinct row once, in lexicographic order of codes, (P, K), int8; `NOT_QUERIED` is a
            code like others.
        counts: Items with that row, (P).
        inverse: Row of each item, (N): `rows[inverse]` is what was encoded.
    """

    rows: NDArray[np.int8]
    counts: NDArray[np.int64]
    inverse: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.rows)

    def spread(self, values: NDArray[T]) -> NDArray[T]:
        """Return per item (N, ...) what `values` holds per pattern (P, ...)."""
        spread: NDArray[T] = values[self.inverse]
        return spread


def encode(symbols: NDArray[np.int8]) -> Patterns:
    """Return the distinct rows of an (N, K) matrix of codes.

    One pass over the matrix makes a mixed-radix number of each row. Up to 12 channels these are counted in a dense
    histogram, O(N·K + S^K) with S the codes in use; otherwise they are sorted, O(N·K + N log N).

    Raises:
        InputError: The matrix is not two-dimensional, has no channel, or is not int8.
    """
    if symbols.ndim != 2 or symbols.dtype != np.int8 or not symbols.shape[1]:
        raise InputError(f"codes of shape {symbols.shape} and type {symbols.dtype}; give int8 of (items, channels)")
    n, k = symbols.shape
    if not n:
        return Patterns(symbols.copy(), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.intp))
    low = int(symbols.min())
    base = int(symbols.max()) - low + 1
    dense = k <= DENSE_CHANNELS and base**k <= min(DENSE_CELLS, max(8 * n, 1 << 12))
    return _by_histogram(symbols, low, base) if dense else _by_sorting(symbols, low, base)


def _by_histogram(symbols: NDArray[np.int8], low: int, base: int) -> Patterns:
    n, k = symbols.shape
    codes = np.zeros(n, dtype=np.intp)
    for j in range(k):
        codes *= base
        codes += symbols[:, j]
    codes -= low * sum(base**j for j in range(k))
    histogram = np.bincount(codes, minlength=base**k)
    present = np.flatnonzero(histogram)
    place = np.zeros(base**k, dtype=np.intp)
    place[present] = np.arange(len(present))
    digits = present[:, None] // base ** np.arange(k - 1, -1, -1) % base
    return Patterns((digits + low).astype(np.int8), histogram[present], place[codes])


def _by_sorting(symbols: NDArray[np.int8], low: int, base: int) -> Patterns:
    """As `_by_histogram`; where the number would overflow, what is read so far is replaced by its rank."""
    codes = np.zeros(len(symbols), dtype=np.int64)
    cells = 1
    for column in symbols.T:
        if cells > 2**62 // base:
            distinct, codes = np.unique(codes, return_inverse=True)
            cells = len(distinct)
        codes = codes * base + (column.astype(np.int64) - low)
        cells *= base
    _, first, inverse, counts = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
    return Patterns(symbols[first], counts.astype(np.int64), inverse)
