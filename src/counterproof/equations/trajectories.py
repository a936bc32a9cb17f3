"""The lab's trajectories by implementation name, for draws of any mixture of families."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError, nearest
from counterproof.equations.differences import difference_fields
from counterproof.equations.draws import LAB_GRID, Draw, Grid
from counterproof.equations.spectral import spectral_fields

TOGETHER = 64
"""Trajectories computed at a time; bounds memory, changes no byte."""


def _fd64(draws: Sequence[Draw], grid: Grid) -> NDArray[np.float64]:
    return difference_fields(draws, grid, points=grid.points)


def _fd192(draws: Sequence[Draw], grid: Grid) -> NDArray[np.float64]:
    return difference_fields(draws, grid, points=3 * grid.points)


IMPLEMENTATIONS: Mapping[str, Callable[[Sequence[Draw], Grid], NDArray[np.float64]]] = {
    "spectral": spectral_fields,
    "fd64": _fd64,
    "fd192": _fd192,
}


def trajectories(draws: Sequence[Draw], implementation: str = "spectral", grid: Grid = LAB_GRID) -> NDArray[np.float64]:
    """Return the trajectory of each draw, (E, T, N), in the order given.

    Args:
        draws: Draws of any families.
        implementation: `spectral`, `fd64` (finite differences on the stored points) or `fd192` (on three times as
            many).
        grid: Where to store.

    Raises:
        InputError: There is no such implementation.
    """
    if implementation not in IMPLEMENTATIONS:
        raise InputError(f"no implementation '{implementation}'; {nearest(implementation, IMPLEMENTATIONS)}")
    fields = np.empty((len(draws), grid.intervals + 1, grid.points))
    for family in sorted({one.family for one in draws}):
        places = [i for i, one in enumerate(draws) if one.family == family]
        for at in range(0, len(places), TOGETHER):
            block = places[at : at + TOGETHER]
            fields[block] = IMPLEMENTATIONS[implementation]([draws[i] for i in block], grid)
    return fields
