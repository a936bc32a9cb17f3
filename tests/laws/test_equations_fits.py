"""Laws of the fits: bounds, nesting, scaling, and agreement with least squares on drawn systems."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from counterproof.equations.fits import condition_numbers, correlations, squared_residuals
from counterproof.equations.library import all_supports
from counterproof.equations.verdicts import Rule, select

SEEDS = st.integers(0, 2**32 - 1)


def drawn(seed: int, rows: int, terms: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((rows, terms + 1)) * 10.0 ** rng.integers(-3, 4, terms + 1)


def gram(system: np.ndarray) -> np.ndarray:
    return (system.T @ system)[None]


@given(SEEDS, st.integers(2, 20), st.integers(1, 7), st.integers(1, 5))
def test_residuals_agree_with_least_squares(seed: int, rows: int, terms: int, largest: int) -> None:
    system = drawn(seed, rows, terms)
    supports = all_supports(terms, min(largest, terms))
    found = np.sqrt(squared_residuals(correlations(gram(system)), supports)[:, 0])
    scaled = system / np.linalg.norm(system, axis=0)
    for s, members in enumerate(supports.members):
        part = scaled[:, list(members)]
        # Drawn columns may be dependent where there are few rows; both sides then find a residual of rounding size.
        left = scaled[:, -1] - part @ np.linalg.lstsq(part, scaled[:, -1], rcond=1e-10)[0]
        assert abs(found[s] - np.linalg.norm(left)) < 1e-5


@given(SEEDS, st.integers(6, 20), st.integers(2, 6))
def test_a_larger_support_never_fits_worse(seed: int, rows: int, terms: int) -> None:
    supports = all_supports(terms, terms)
    squares = squared_residuals(correlations(gram(drawn(seed, rows, terms))), supports)[:, 0]
    for s, members in enumerate(supports.members):
        for dropped in range(len(members) if len(members) > 1 else 0):
            smaller = supports.index(members[:dropped] + members[dropped + 1 :])
            assert squares[s] <= squares[smaller] + 1e-9


@given(SEEDS, st.lists(st.floats(1e-3, 1e3), min_size=6, max_size=6))
def test_scaling_columns_or_target_changes_nothing(seed: int, scales: list[float]) -> None:
    system, supports = drawn(seed, 12, 5), all_supports(5, 3)
    first, second = (correlations(gram(one)) for one in (system, system * scales))
    assert np.allclose(squared_residuals(first, supports), squared_residuals(second, supports), atol=1e-9)
    chosen = np.array([supports.index((0, 2, 4))])
    assert np.allclose(condition_numbers(first, supports, chosen), condition_numbers(second, supports, chosen))


@given(SEEDS, st.integers(1, 6), st.integers(1, 4))
def test_selection_is_the_smallest_nearly_best_support(seed: int, terms: int, largest: int) -> None:
    supports = all_supports(terms, min(largest, terms))
    squares = np.random.default_rng(seed).uniform(0, 1, (len(supports), 3)) ** 4
    rule = Rule()
    one = select(squares, supports, rule)
    for b in range(3):
        r = np.sqrt(squares[:, b])
        near = r <= max(rule.ratio * r.min(), r.min() + rule.slack)
        size = supports.sizes[near].min()
        s = min(np.flatnonzero(supports.sizes == size), key=lambda i: r[i])
        assert one.support[b] == s
        assert one.residual[b] == r[s]
        rivals = [r[i] for i in range(len(r)) if i != s and supports.sizes[i] <= size]
        assert abs(one.gap[b] - (min([1.0, *rivals]) - r[s])) < 1e-12
