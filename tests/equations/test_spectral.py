"""ETDRK4 converges with order four; linear laws are exact."""

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.equations.draws import LAB_GRID, Grid, draw
from counterproof.equations.spectral import spectral_fields


@pytest.mark.parametrize("family", [1, 2, 3, 4])
def test_etdrk4_has_order_four(family: int) -> None:
    draws, grid = [draw(family, s) for s in range(3)], Grid(64, 2, 0.2)
    exact = spectral_fields(draws, grid, substeps=256)
    errors = [np.abs(spectral_fields(draws, grid, substeps=n) - exact).max() for n in (4, 8, 16)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 3.9).all()
    assert (orders < 4.4).all()


def test_advection_diffusion_is_exact() -> None:
    one = draw(0, 5)
    c, d = one.coefficients
    m = np.arange(1, 5)[:, None, None]
    t, x = LAB_GRID.t[:, None], LAB_GRID.x
    amplitudes, phases = (np.asarray(values)[:, None, None] for values in (one.amplitudes, one.phases))
    modes = amplitudes * np.exp(-d * m**2 * t) * np.cos(m * (x - c * t) + phases)
    assert np.allclose(spectral_fields([one])[0], one.mean + modes.sum(axis=0), atol=1e-13)


def test_hyperdiffusion_decays_by_the_fourth_power() -> None:
    one = draw(5, 2)
    hat = np.fft.rfft(spectral_fields([one])[0], axis=1)[:, 1:5]
    ratio = np.abs(hat[-1] / hat[0])
    assert np.allclose(ratio, np.exp(-one.coefficients[0] * np.arange(1, 5) ** 4 * 0.2), rtol=1e-10)


def test_mean_is_conserved_by_laws_in_divergence_form() -> None:
    for family in (1, 4):
        u = spectral_fields([draw(family, 1)])[0]
        assert np.allclose(u.mean(axis=1), u[0].mean(), atol=1e-13)


def test_draws_of_two_families_are_refused() -> None:
    with pytest.raises(InputError, match="one family"):
        spectral_fields([draw(0, 0), draw(1, 0)])
