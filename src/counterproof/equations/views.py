"""Evidence views: which stored times are shown to the verifier, and how many temporal test functions it uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError

COUNTS = (7, 13, 25)
MODE_COUNTS = (2, 3, 4, 5)


@dataclass(frozen=True, slots=True)
class TimeGrid:
    """Equispaced stored times: `count` of them, every `stride`-th, from position `start`."""

    start: int
    stride: int
    count: int

    @property
    def places(self) -> NDArray[np.int64]:
        """Positions among the stored times, (count,)."""
        return self.start + self.stride * np.arange(self.count, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class View:
    """A permitted evidence view.

    Attributes:
        name: Its name, for example `A03`.
        grid: Which stored times it shows.
        modes: Number K of temporal test functions.
    """

    name: str
    grid: TimeGrid
    modes: int

    @property
    def samples(self) -> int:
        """Number n of times shown."""
        return self.grid.count


def subsampled(intervals: int, count: int) -> TimeGrid:
    """Return the grid of `count` equispaced times over the whole window of so many stored intervals.

    Raises:
        InputError: The count does not divide the stored intervals.

    >>> subsampled(48, 7)
    TimeGrid(start=0, stride=8, count=7)
    """
    if count < 2 or intervals % (count - 1):
        fitting = [n + 1 for n in range(1, intervals + 1) if intervals % n == 0]
        raise InputError(f"{count} samples do not divide {intervals} stored intervals; choose from {fitting}")
    return TimeGrid(0, intervals // (count - 1), count)


def lab_views(
    intervals: int = 48, counts: Sequence[int] = COUNTS, modes: Sequence[int] = MODE_COUNTS
) -> tuple[View, ...]:
    """Return the views A00, A01, ...: every count with every number of modes, counts first.

    With the defaults the index is 4 * (position in 7, 13, 25) + (K - 2): twelve views.

    >>> [view.name for view in lab_views() if (view.samples, view.modes) in {(7, 4), (7, 5), (25, 2)}]
    ['A02', 'A03', 'A08']
    """
    pairs = [(count, k) for count in counts for k in modes]
    width = max(2, len(str(len(pairs) - 1)))
    return tuple(View(f"A{i:0{width}}", subsampled(intervals, n), k) for i, (n, k) in enumerate(pairs))


def reference_views(intervals: int = 48, modes: Sequence[int] = MODE_COUNTS) -> tuple[View, ...]:
    """Return the views of all stored times, `REF2`, `REF3`, ...; they are for checking, never permitted evidence."""
    return tuple(View(f"REF{k}", subsampled(intervals, intervals + 1), k) for k in modes)


def view_index(views: Sequence[View], samples: int, modes: int) -> int:
    """Return the position of the view with so many samples and modes.

    Raises:
        InputError: There is none.
    """
    for i, view in enumerate(views):
        if (view.samples, view.modes) == (samples, modes):
            return i
    raise InputError(f"there is no view with {samples} samples and {modes} modes")
