"""Sums by cluster that merge: all that an analysis keeps of the rows it has seen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterproof.core.errors import InputError


class ClusterSums:
    """Whole-number sums in C columns for every cluster key; memory grows with clusters, not with rows.

    Counts are integers, so adding rows in any order, in any batches, or on several machines and merging gives the same
    table to the last bit (integer addition is associative and commutative; float addition is not).

    >>> sums = ClusterSums(2)
    >>> sums.add(["q2", "q1", "q2"], [[1, 1], [0, 1], [0, 1]])
    >>> sums.keys()
    ('q1', 'q2')
    >>> sums.table().tolist()
    [[0, 1], [1, 2]]

    Args:
        width: C, the number of columns, for instance events and units of each attack.
    """

    __slots__ = ("_rows", "_sums")

    def __init__(self, width: int) -> None:
        if width < 1:
            raise InputError(f"sums need at least one column, not {width}")
        self._rows: dict[str, int] = {}
        self._sums: NDArray[np.int64] = np.zeros((16, width), dtype=np.int64)

    @property
    def width(self) -> int:
        """Number of columns, C."""
        return int(self._sums.shape[1])

    def __len__(self) -> int:
        return len(self._rows)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClusterSums):
            return NotImplemented
        return self.keys() == other.keys() and np.array_equal(self.table(), other.table())

    __hash__ = None  # type: ignore[assignment]  # it changes as rows come in

    def add(self, keys: Sequence[str], counts: ArrayLike) -> None:
        """Add one row of counts to the sums of each key; a key may occur more than once.

        Args:
            keys: Cluster of each row, length N.
            counts: Whole numbers, (N, C).

        Raises:
            InputError: The shape is another one, or the counts are no whole numbers.
        """
        rows = np.asarray(counts)
        if rows.shape != (len(keys), self.width):
            raise InputError(f"counts have shape {rows.shape}; {len(keys)} keys need ({len(keys)}, {self.width})")
        if rows.dtype.kind not in "biu" and rows.size:
            raise InputError(f"counts are {rows.dtype}; only whole numbers add up to the same sum in every order")
        index = np.fromiter((self._rows.setdefault(key, len(self._rows)) for key in keys), np.intp, len(keys))
        if len(self._rows) > len(self._sums):
            grown = np.zeros((max(len(self._rows), 2 * len(self._sums)), self.width), dtype=np.int64)
            grown[: len(self._sums)] = self._sums
            self._sums = grown
        np.add.at(self._sums, index, rows.astype(np.int64))

    def merge(self, other: ClusterSums) -> ClusterSums:
        """Return the sums over both parts; neither is changed. Associative and commutative.

        Raises:
            InputError: The parts have different widths.
        """
        merged = ClusterSums(self.width)
        for part in (self, other):
            merged.add(part.keys(), part.table())
        return merged

    def keys(self) -> tuple[str, ...]:
        """Return the cluster keys in sorted order, whatever the order in which they came."""
        return tuple(sorted(self._rows))

    def table(self) -> NDArray[np.int64]:
        """Return the sums (Q, C), one row per key of `keys()`; a copy."""
        return self._sums[[self._rows[key] for key in self.keys()]]
