"""Quadrature rules on the monomials they integrate exactly, and the folding of modes under Simpson's rule."""

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.equations.quadrature import PANELS, quadrature_weights, sine_tests


@pytest.mark.parametrize(("rule", "degree"), [("trapezoid", 1), ("simpson", 3), ("simpson38", 3), ("boole", 5)])
def test_rule_is_exact_to_its_degree_and_not_beyond(rule: str, degree: int) -> None:
    x = np.linspace(0, 1, 13)
    weights = quadrature_weights(rule, 13, 1 / 12)
    for power in range(degree + 1):
        assert weights @ x**power == pytest.approx(1 / (power + 1), abs=1e-15)
    assert abs(weights @ x ** (degree + 1) - 1 / (degree + 2)) > 1e-9


def test_simpson_is_exact_on_cubics_for_every_grid_of_the_lab() -> None:
    for count in (7, 13, 25, 49):
        x = np.linspace(0, 1, count)
        assert (
            abs(quadrature_weights("simpson", count, 1 / (count - 1)) @ (1 - 2 * x + 3 * x**2 - 4 * x**3) - 0.0) < 1e-15
        )


def test_fifth_mode_folds_onto_the_first_on_six_intervals() -> None:
    i = np.arange(1, 6)  # at the ends both are zero, and set to it
    assert np.allclose(np.sin(5 * np.pi * i / 6), (-1.0) ** (i + 1) * np.sin(np.pi * i / 6), rtol=0, atol=2e-15)


def test_folded_part_is_a_third_of_mode_one_in_the_design_and_minus_five_thirds_in_the_target() -> None:
    # Simpson's inner weights are h (1 - (-1)^i/3); the alternating part turns mode 5 into mode 1.
    i, h = np.arange(1, 6), 1 / 6
    weights = quadrature_weights("simpson", 7, h)[1:-1]
    assert np.allclose(weights, h * (1 - (-1.0) ** i / 3), atol=1e-16)
    rng = np.random.default_rng(1)
    column = rng.standard_normal(5)
    alternating = -h * (-1.0) ** i / 3
    folded = (alternating * np.sin(5 * np.pi * i / 6)) @ column
    assert folded == pytest.approx((h * np.sin(np.pi * i / 6)) @ column / 3, rel=1e-12)
    folded = (alternating * 5 * np.cos(5 * np.pi * i / 6)) @ column
    assert folded == pytest.approx(-5 / 3 * (h * np.cos(np.pi * i / 6)) @ column, rel=1e-12)


def test_ratios_of_mode_five_to_mode_one_in_full() -> None:
    weights = quadrature_weights("simpson", 7, 1 / 6)
    values, slopes = sine_tests(7, 5, 1.0)
    design = values @ weights
    target = -(slopes * weights) @ np.linspace(0, 1, 7)
    assert design[4] / design[0] == pytest.approx(0.396, abs=5e-4)
    assert target[4] / target[0] == pytest.approx(-1.34, abs=5e-3)


def test_sines_vanish_exactly_at_both_ends() -> None:
    values, slopes = sine_tests(7, 5, 0.2)
    assert (values[:, [0, -1]] == 0).all()
    assert slopes[:, 0].tolist() == pytest.approx([k * np.pi / 0.2 for k in range(1, 6)])


def test_misfits_are_refused() -> None:
    with pytest.raises(InputError, match="multiple of 2 intervals"):
        quadrature_weights("simpson", 8)
    with pytest.raises(InputError, match="simpson"):
        quadrature_weights("simpsn", 7)
    assert set(PANELS) == {"trapezoid", "simpson", "simpson38", "boole"}
