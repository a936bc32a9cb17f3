"""One draw, one trajectory: the same bytes whatever is computed beside it."""

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.equations.draws import draw
from counterproof.equations.trajectories import IMPLEMENTATIONS, trajectories


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_trajectory_does_not_depend_on_its_neighbours(implementation: str) -> None:
    draws = [draw(family, seed) for seed in range(3) for family in range(6)]
    together = trajectories(draws, implementation)
    for i in (0, 7, 9, 16):
        assert trajectories([draws[i]], implementation)[0].tobytes() == together[i].tobytes()
    assert np.isfinite(together).all()


def test_implementations_solve_the_same_law_from_the_same_draw() -> None:
    draws = [draw(family, 4) for family in range(6)]
    spectral, coarse, fine = (trajectories(draws, name) for name in IMPLEMENTATIONS)
    assert np.allclose(spectral[:, 0], coarse[:, 0], atol=1e-13)
    first, second = (np.abs(other - spectral).max(axis=(1, 2)) for other in (coarse, fine))
    assert (second < first / 6).all()  # a third of the spacing, order two: a ninth
    assert (first < 0.05).all()


def test_unknown_implementation_names_the_nearest() -> None:
    with pytest.raises(InputError, match="spectral"):
        trajectories([draw(0, 0)], "spectrum")
