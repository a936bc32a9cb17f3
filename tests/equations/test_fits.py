"""Closed forms against least squares on every support."""

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.equations.draws import LAB_GRID, add_noise, draw
from counterproof.equations.fits import (
    _by_recursion,
    condition_numbers,
    correlations,
    qr_residual,
    squared_residuals,
    support_coefficients,
)
from counterproof.equations.library import all_supports
from counterproof.equations.trajectories import trajectories
from tests.equations.laboratory import advected, verifier


def by_lstsq(A: np.ndarray, b: np.ndarray, members: tuple[int, ...]) -> float:
    part = A[:, list(members)]
    norms = np.linalg.norm(part, axis=0)
    part = part[:, norms > 1e-12] / norms[norms > 1e-12]
    coefficients = np.linalg.lstsq(part, b, rcond=None)[0] if part.size else np.zeros(0)
    return float(np.linalg.norm(part @ coefficients - b) / np.linalg.norm(b))


@pytest.mark.parametrize("spatial", ["F", "B"])
@pytest.mark.parametrize("level", [0.0, 0.005])
def test_every_support_of_every_view_agrees_with_least_squares(spatial: str, level: float) -> None:
    draws = [draw(2, 1), draw(4, 2)]
    u = add_noise(trajectories(draws), draws, level)
    one = verifier(spatial)
    rows = one.weakform.rows(u)
    grams = one.weakform.grams(rows)
    squares = squared_residuals(correlations(grams.reshape(-1, 9, 9)), one.supports).reshape(92, 2, 16)
    for e, v in ((0, 0), (0, 3), (1, 7), (1, 11), (0, 12), (1, 15)):
        A, b = one.weakform.system(rows, v)
        exact = np.array([by_lstsq(A[e], b[e], members) for members in one.supports.members])
        found = np.sqrt(squares[:, e, v])
        assert np.abs(found - exact).max() < 1e-7
        assert np.abs(found - exact)[exact > 1e-3].max() < 1e-10


def random_grams(rows: int, terms: int, batch: int) -> tuple[np.ndarray, np.ndarray]:
    systems = np.random.default_rng(8).standard_normal((batch, rows, terms + 1)) * np.logspace(-3, 3, terms + 1)
    return systems, np.swapaxes(systems, 1, 2) @ systems


def test_general_recursion_agrees_with_the_closed_forms_and_with_least_squares() -> None:
    systems, grams = random_grams(12, 6, 4)
    c = correlations(grams)
    three = all_supports(6, 3)
    assert np.allclose(_by_recursion(c, three), squared_residuals(c, three), atol=1e-13)
    five = all_supports(6, 5)
    squares = squared_residuals(c, five)
    for s, members in enumerate(five.members):
        for e in range(4):
            assert np.sqrt(squares[s, e]) == pytest.approx(
                by_lstsq(systems[e, :, :-1], systems[e, :, -1], members), abs=1e-10
            )


def test_zero_and_dependent_columns_explain_nothing_more() -> None:
    systems, _ = random_grams(10, 4, 2)
    systems[:, :, 1] = 0.0
    systems[:, :, 3] = 2 * systems[:, :, 0]
    c = correlations(np.swapaxes(systems, 1, 2) @ systems)
    for supports in (all_supports(4, 3), all_supports(4, 4)):
        squares = squared_residuals(c, supports)
        alone = squares[supports.index((0,))]
        assert np.allclose(squares[supports.index((1,))], 1.0)
        assert np.allclose(squares[supports.index((0, 1))], alone)
        assert np.allclose(squares[supports.index((0, 3))], alone, atol=1e-10)


def test_condition_number_is_that_of_unit_norm_columns() -> None:
    systems, grams = random_grams(9, 5, 3)
    supports = all_supports(5, 3)
    for members in ((2,), (0, 3), (1, 2, 4)):
        chosen = np.full(3, supports.index(members))
        found = condition_numbers(correlations(grams), supports, chosen)
        for e in range(3):
            part = systems[e][:, list(members)]
            assert found[e] == pytest.approx(np.linalg.cond(part / np.linalg.norm(part, axis=0)), rel=1e-9)


def test_qr_keeps_digits_that_the_gram_loses() -> None:
    one = verifier("F")
    rows = one.weakform.rows(advected(LAB_GRID.t))
    A, b = one.weakform.system(rows, 12)
    noisy = b[0] + 1e-9 * np.linalg.norm(b[0]) * np.eye(b.shape[1])[0]
    exact = by_lstsq(A[0], noisy, (4, 5))
    assert qr_residual(A[0], noisy, (4, 5)) == pytest.approx(exact, rel=1e-6)


def test_coefficients_are_in_the_terms_own_units() -> None:
    systems, _ = random_grams(20, 4, 3)
    systems[:, :, -1] = systems[:, :, 0] * 3.0 - systems[:, :, 2] * 0.5
    supports = all_supports(4, 2)
    chosen = np.full(3, supports.index((0, 2)))
    found = support_coefficients(np.swapaxes(systems, 1, 2) @ systems, supports, chosen)
    assert np.allclose(found, [3.0, 0, -0.5, 0], atol=1e-9)


def test_a_target_of_zero_is_refused() -> None:
    with pytest.raises(InputError, match="nothing changes in time"):
        correlations(np.diag([1.0, 0.0])[None])
