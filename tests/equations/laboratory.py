"""Small studies and exact trajectories that several test modules share."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from counterproof.equations.draws import LAB_GRID
from counterproof.equations.episodes1d import Lab, LabResult, run_lab, spatial_set
from counterproof.equations.library import DEFAULT_LIBRARY
from counterproof.equations.verifier import Verifier
from counterproof.equations.views import View, lab_views, reference_views
from counterproof.equations.weakform import build_weakform

EVERY_VIEW = (*lab_views(), *reference_views())


@lru_cache(maxsize=8)
def study(seeds: int = 5, first: int = 700, implementation: str = "spectral") -> LabResult:
    """The default study on a few seeds: 36 episodes a seed."""
    return run_lab(Lab(tuple(range(first, first + seeds)), implementation=implementation))


def verifier(spatial: str = "F", views: tuple[View, ...] = EVERY_VIEW) -> Verifier:
    return Verifier(build_weakform(LAB_GRID.t, DEFAULT_LIBRARY, spatial_set(spatial), views))


def advected(times: NDArray[np.float64], points: int = 64, c: float = 0.5, d: float = 0.15) -> NDArray[np.float64]:
    """The exact solution of u_t = -c u_x + d u_xx from four decaying modes, (1, T, N)."""
    x = np.arange(points) * (2 * np.pi / points)
    u = np.full((times.size, points), 0.2)
    for m in range(1, 5):
        decay = np.exp(-d * m * m * times)[:, None]
        u += decay * np.cos(m * (x - c * times[:, None]) + 0.7 * m) / m
    return u[None]
