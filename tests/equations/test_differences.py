"""Finite differences converge with order two to the spectral solution."""

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.equations.differences import STENCILS, difference_fields
from counterproof.equations.draws import draw
from counterproof.equations.spectral import spectral_fields


@pytest.mark.parametrize("family", range(6))
def test_order_two(family: int) -> None:
    draws = [draw(family, s) for s in range(2)]
    exact = spectral_fields(draws)
    errors = [np.sqrt(np.mean((difference_fields(draws, points=n) - exact) ** 2)) for n in (128, 256)]
    assert 1.96 < np.log2(errors[0] / errors[1]) < 2.01


@pytest.mark.parametrize("derivative", [0, 1, 2, 3, 4])
def test_stencil_differentiates_its_monomial_exactly_and_annihilates_lower_ones(derivative: int) -> None:
    offsets, weights = zip(*STENCILS[derivative].items(), strict=True)
    for power in range(derivative + 2):
        value = sum(w * float(o) ** power for o, w in zip(offsets, weights, strict=True))
        factorial = float(np.prod(np.arange(1, derivative + 1)))
        assert value == pytest.approx(factorial if power == derivative else 0.0, abs=1e-12)


def test_points_must_be_a_multiple_of_the_stored_ones() -> None:
    with pytest.raises(InputError, match="multiple"):
        difference_fields([draw(0, 0)], points=100)
