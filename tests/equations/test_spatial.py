"""Spatial tests: derivatives, vanishing ends, integration by parts."""

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.equations.spatial import SpatialTests, bump_tests, compact_tests, fourier_tests


@pytest.mark.parametrize("tests", [fourier_tests(64, 5.0), bump_tests(64, 5.0)])
def test_derivatives_of_periodic_tests_are_spectral(tests: SpatialTests) -> None:
    k = np.fft.rfftfreq(64, 5.0 / 64) * 2 * np.pi
    k[-1] = 0
    hat = np.fft.rfft(tests.values[0])
    for d in range(5):
        expected = np.fft.irfft(hat * (1j * k) ** d, 64)
        assert np.allclose(tests.values[d], expected, atol=1e-9 * np.abs(expected).max())


def test_both_default_sets_have_nine_functions() -> None:
    assert fourier_tests(64).values.shape == (5, 9, 64)
    assert bump_tests(64).values.shape == (5, 9, 64)
    assert (fourier_tests(64).values[0, 0] == 1).all()


def test_bumps_are_the_stated_function() -> None:
    x = np.arange(64) * (2 * np.pi / 64)
    assert np.allclose(bump_tests(64).values[0, 2], np.exp(4 * (np.cos(x - 4 * np.pi / 9) - 1)), atol=1e-14)


def test_compact_bumps_vanish_at_both_ends_with_all_their_derivatives() -> None:
    tests = compact_tests(129, 3.0)
    assert np.allclose(tests.values[:, :, [0, -1]], 0, atol=1e-12)
    assert tests.values[0].max() == pytest.approx(1.0, abs=0.02)
    assert tests.spacing == pytest.approx(3.0 / 128)


def test_derivatives_move_onto_compact_bumps() -> None:
    # <psi, f_xx> = <psi'', f> for a function that is not periodic.
    tests = compact_tests(257, 2.0)
    x = np.linspace(0, 2, 257)
    f, f_xx = np.exp(x) + x**3, np.exp(x) + 6 * x
    assert np.allclose(tests.values[2] @ f, tests.values[0] @ f_xx, rtol=1e-5)


def test_unfit_sets_are_refused() -> None:
    with pytest.raises(InputError, match="half the points"):
        fourier_tests(8, modes=(4,))
    with pytest.raises(InputError, match="sharpness"):
        bump_tests(16, sharpness=50.0)
    with pytest.raises(InputError, match="12 points"):
        compact_tests(20, 1.0)
