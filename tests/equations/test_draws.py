"""Draws, starts and noise."""

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.equations.draws import LAB_GRID, add_noise, draw, start_of
from counterproof.equations.families import FAMILIES


@pytest.mark.parametrize("family", range(6))
def test_draw_is_repeatable_and_within_its_ranges(family: int) -> None:
    one = draw(family, 3)
    assert one == draw(family, 3)
    assert one != draw(family, 4)
    assert one.coefficients != draw(family, 3, lab=1).coefficients
    law = FAMILIES[family]
    assert all(low <= c <= high for c, (low, high) in zip(one.coefficients, law.ranges, strict=True))
    assert law.mean[0] <= one.mean <= law.mean[1]


@pytest.mark.parametrize("family", range(6))
def test_start_has_the_stated_mean_and_amplitude(family: int) -> None:
    one = draw(family, 11)
    u = start_of([one], 64)[0]
    assert u.mean() == pytest.approx(one.mean, abs=1e-14)
    assert np.sqrt(np.mean((u - u.mean()) ** 2)) == pytest.approx(FAMILIES[family].amplitude, rel=1e-12)


def test_start_is_the_same_function_on_every_grid() -> None:
    draws = [draw(1, s) for s in range(3)]
    assert np.allclose(start_of(draws, 192)[:, ::3], start_of(draws, 64), atol=1e-14)


def test_noise_has_the_stated_size_and_belongs_to_the_seed() -> None:
    draws = [draw(0, s) for s in range(4)]
    clean = np.random.default_rng(0).standard_normal((4, 49, 64)) + 1.0
    noise = (add_noise(clean, draws, 0.005) - clean) / np.sqrt(np.mean(clean**2, axis=(1, 2), keepdims=True))
    # The root mean square of 12,544 normal numbers has standard error 1/sqrt(2 * 12544) of itself.
    assert np.sqrt(np.mean(noise**2)) == pytest.approx(0.005, rel=5 / np.sqrt(2 * noise.size))
    again = add_noise(clean[2:3], draws[2:3], 0.005)
    assert again.tobytes() == add_noise(clean, draws, 0.005)[2:3].tobytes()
    assert add_noise(clean, draws, 0.0).tobytes() == clean.tobytes()


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(InputError, match="below 6"):
        draw(6, 0)
    with pytest.raises(InputError, match="noise level"):
        add_noise(np.zeros((1, 2, 2)), [draw(0, 0)], -0.1)
    assert LAB_GRID.t[-1] == pytest.approx(0.2)
