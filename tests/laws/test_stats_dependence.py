"""Laws of dependence measures and of adjusted p-values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from counterproof.stats import (
    cohen_kappa,
    conditional_gain,
    conditional_mutual_information,
    holm,
    krippendorff_alpha,
    max_t,
    mutual_information,
    phi,
)

counts = st.integers(0, 20)
cubes = hnp.arrays(np.int64, st.tuples(*[st.integers(1, 3)] * 3), elements=counts).filter(lambda t: t.sum() > 0)
squares = (
    st.integers(2, 4).flatmap(lambda c: hnp.arrays(np.int64, (c, c), elements=counts)).filter(lambda t: t.sum() > 0)
)
p_values = st.lists(st.floats(0, 1), max_size=12)


@given(cubes)
def test_chain_rule(table: np.ndarray) -> None:
    # I(Y; A, B) = I(Y; A) + I(Y; B | A) = I(Y; B) + I(Y; A | B), with axes (Y, A, B).
    whole = float(mutual_information(table.reshape(len(table), -1)))
    by_a = float(mutual_information(table.sum(2)) + conditional_gain(table))
    by_b = float(mutual_information(table.sum(1)) + conditional_gain(np.swapaxes(table, 1, 2)))
    assert whole == pytest.approx(by_a, abs=1e-12)
    assert whole == pytest.approx(by_b, abs=1e-12)


@given(cubes)
def test_information_is_symmetric_and_not_negative(table: np.ndarray) -> None:
    forward = float(conditional_mutual_information(table))
    assert forward >= 0
    assert forward == pytest.approx(float(conditional_mutual_information(np.swapaxes(table, 1, 2))), abs=1e-12)


@given(squares, st.integers(1, 9))
def test_measures_depend_on_shares_and_not_on_names(table: np.ndarray, factor: int) -> None:
    order = np.argsort(np.random.default_rng(factor).random(len(table)))
    other = factor * table[order][:, order]
    for measure in (phi, cohen_kappa, mutual_information):
        np.testing.assert_allclose(measure(other), measure(table), atol=1e-12)


@given(squares)
def test_phi_is_a_correlation_and_kappa_at_most_one(table: np.ndarray) -> None:
    correlation, kappa = float(phi(table)), float(cohen_kappa(table))
    assert np.isnan(correlation) or abs(correlation) <= 1 + 1e-12
    assert np.isnan(kappa) or kappa <= 1


@given(hnp.arrays(np.int64, st.tuples(st.integers(1, 8), st.integers(2, 4)), elements=st.integers(0, 4)))
def test_alpha_does_not_depend_on_the_order_of_units_or_values(table: np.ndarray) -> None:
    forward, backward = krippendorff_alpha(table), krippendorff_alpha(table[::-1, ::-1])
    if isinstance(forward, float):
        assert backward == pytest.approx(forward, abs=1e-12)
        assert forward <= 1
    else:
        assert backward == forward


@given(p_values)
def test_holm_is_never_below_the_raw_value_and_keeps_the_order(raw: list[float]) -> None:
    adjusted = holm(raw)
    assert (adjusted >= np.array(raw)).all()
    assert (adjusted <= 1).all()
    order = np.argsort(raw, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()


@given(p_values, st.integers(0, 10))
def test_holm_does_not_depend_on_the_order_given(raw: list[float], seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(raw))
    np.testing.assert_array_equal(holm(np.array(raw)[order]), holm(raw)[order])


@given(st.integers(1, 5), st.integers(1, 20), st.integers(0, 1000))
def test_adjusted_maximum_is_never_below_the_p_value_alone(m: int, draws: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    observed, null = rng.normal(size=m), rng.normal(size=(draws, m))
    alone = (1 + (null >= observed).sum(axis=0)) / (draws + 1)
    assert (max_t(observed, null) >= alone - 1e-12).all()
