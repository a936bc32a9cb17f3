"""Dependence measures against hand computation, published examples, scipy and, where it is installed, scikit-learn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.core.outcomes import NotApplicable
from counterproof.stats import (
    GTest,
    alpha_of,
    alpha_parts,
    association_g_test,
    cohen_kappa,
    conditional_g_test,
    conditional_gain,
    conditional_mutual_information,
    homogeneity_g_test,
    krippendorff_alpha,
    mutual_information,
    pair_information,
    phi,
    resampled_sums,
)

_: int | None = None
# Krippendorff 2011, example with four observers, twelve units and missing values; nominal alpha .743.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
    [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
]


def counts_of(observers: list[list[int | None]]) -> NDArray[np.int64]:
    units = list(zip(*observers, strict=True))
    values = sorted({v for unit in units for v in unit if v is not None})
    return np.array([[unit.count(value) for value in values] for unit in units])


def entropy(*shares: float) -> float:
    return -sum(p * math.log2(p) for p in shares if p)


def test_kappa_of_a_table_by_hand() -> None:
    # p_o = 35/50 = .7, p_e = (25*30 + 25*20)/2500 = .5, kappa = .2/.5.
    assert float(cohen_kappa([[20, 5], [10, 15]])) == pytest.approx(0.4)


def test_phi_of_a_table_by_hand() -> None:
    # (20*15 - 5*10)/sqrt(25*25*30*20) = 250/sqrt(375000).
    assert float(phi([[20, 5], [10, 15]])) == pytest.approx(250 / math.sqrt(375_000))


def test_phi_of_three_categories_is_one_only_on_the_diagonal() -> None:
    assert float(phi(np.diag([3, 4, 5]))) == pytest.approx(1.0)
    # n = 6, trace 0, margins all 2: (0 - 12)/(36 - 12).
    assert float(phi([[0, 1, 1], [1, 0, 1], [1, 1, 0]])) == pytest.approx(-0.5)


def test_mutual_information_by_hand() -> None:
    assert float(mutual_information([[5, 0], [0, 5]])) == pytest.approx(1.0)
    assert float(mutual_information([[2, 4], [3, 6]])) == pytest.approx(0.0, abs=1e-15)
    # Uniform margins, agreement 2/3: 1 bit less the entropy of (2/3, 1/3).
    assert float(mutual_information([[2, 1], [1, 2]])) == pytest.approx(1 - entropy(2 / 3, 1 / 3))


def test_information_given_a_third_variable_by_hand() -> None:
    # Y = A xor B over four equally likely cells: b alone tells nothing, with a everything.
    xor = np.zeros((2, 2, 2))
    for a in (0, 1):
        for b in (0, 1):
            xor[a ^ b, a, b] = 1
    assert float(mutual_information(xor.sum(1))) == pytest.approx(0.0, abs=1e-15)
    assert float(conditional_gain(xor)) == pytest.approx(1.0)
    # A and B are both a copy of Y: dependent, but not once Y is known, and b adds nothing to a.
    copies = np.zeros((2, 2, 2))
    copies[0, 0, 0] = copies[1, 1, 1] = 7
    assert float(mutual_information(copies.sum(0))) == pytest.approx(1.0)
    assert float(conditional_mutual_information(copies)) == pytest.approx(0.0, abs=1e-15)
    assert float(conditional_gain(copies)) == pytest.approx(0.0, abs=1e-15)


def test_gain_of_a_noisy_second_view_in_closed_form() -> None:
    # Equal classes, views independent given Y with errors p and q: I(Y;B|A) = H(Y|A) - H(Y|A,B), over four cells.
    p, q = 0.2, 0.3
    table = np.array(
        [[[0.5 * (p if a != y else 1 - p) * (q if b != y else 1 - q) for b in (0, 1)] for a in (0, 1)] for y in (0, 1)]
    )
    pair = table.sum(0)
    left = sum(pair[a, b] * entropy(*(table[:, a, b] / pair[a, b])) for a in (0, 1) for b in (0, 1))
    assert float(conditional_gain(table * 1e4)) == pytest.approx(entropy(p, 1 - p) - left)


@pytest.mark.parametrize("measure", [phi, cohen_kappa, mutual_information])
def test_leading_axes_are_kept(measure: Any) -> None:
    tables = np.random.default_rng(0).integers(1, 30, (4, 3, 2, 2))
    together = measure(tables)
    assert together.shape == (4, 3)
    assert float(together[2, 1]) == float(measure(tables[2, 1]))


def test_information_of_a_pair_is_the_four_measures() -> None:
    tables = np.random.default_rng(1).integers(0, 9, (5, 2, 3, 4))
    expected = (
        mutual_information(tables.sum(1)),
        conditional_mutual_information(tables),
        conditional_gain(tables),
        conditional_gain(np.swapaxes(tables, 2, 3)),
    )
    np.testing.assert_allclose(pair_information(tables), np.stack(expected, axis=-1), atol=1e-13)


def test_what_a_table_does_not_define_is_masked() -> None:
    assert np.isnan(phi([[3, 2], [0, 0]]))
    assert np.isnan(cohen_kappa([[3, 0], [0, 0]]))
    assert np.isnan(mutual_information(np.zeros((2, 2))))
    assert float(mutual_information([[3, 2], [0, 0]])) == 0.0


@pytest.mark.parametrize("bad", [[[1, -1], [0, 1]], [[1, math.nan], [0, 1]], [1, 2]])
def test_tables_that_are_none_are_refused(bad: Any) -> None:
    with pytest.raises(InputError):
        mutual_information(bad)
    with pytest.raises(InputError):
        phi(bad)


def test_square_measures_need_a_square_table() -> None:
    with pytest.raises(InputError, match="same categories"):
        cohen_kappa([[1, 2, 3], [4, 5, 6]])


def test_measures_equal_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is an extra")
    rng = np.random.default_rng(3)
    for classes in (2, 3, 5):
        a = rng.integers(0, classes, 300)
        b = np.where(rng.random(300) < 0.5, a, rng.integers(0, classes, 300))
        table = np.zeros((classes, classes))
        np.add.at(table, (a, b), 1)
        assert float(cohen_kappa(table)) == pytest.approx(metrics.cohen_kappa_score(a, b), abs=1e-12)
        assert float(mutual_information(table)) * math.log(2) == pytest.approx(metrics.mutual_info_score(a, b))
        assert float(phi(table)) == pytest.approx(metrics.matthews_corrcoef(a, b), abs=1e-12)


def test_krippendorff_alpha_of_the_published_examples() -> None:
    assert krippendorff_alpha(counts_of(OBSERVERS)) == pytest.approx(0.743, abs=5e-4)
    # Same source, binary data of two observers over ten units, none missing: .095.
    pair: list[list[int | None]] = [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]
    assert krippendorff_alpha(counts_of(pair)) == pytest.approx(0.095, abs=5e-4)


def test_alpha_ignores_units_with_one_value() -> None:
    counts = counts_of(OBSERVERS)
    more = np.vstack([counts, np.eye(5, dtype=int)])
    assert krippendorff_alpha(more) == krippendorff_alpha(counts)


def test_alpha_without_variation_is_not_applicable() -> None:
    assert isinstance(krippendorff_alpha([[3, 0], [2, 0]]), NotApplicable)
    assert isinstance(krippendorff_alpha([[1, 0], [0, 1]]), NotApplicable)


def test_alpha_of_resampled_parts_is_alpha_of_resampled_units() -> None:
    counts = counts_of(OBSERVERS)
    sums = resampled_sums(alpha_parts(counts), rng=np.random.default_rng(1), replicates=20)
    picks = np.random.default_rng(1).integers(0, len(counts), size=(20, len(counts)))
    for replicate, index in zip(alpha_of(sums).tolist(), picks, strict=True):
        assert replicate == pytest.approx(krippendorff_alpha(counts[index]), abs=1e-12)


def test_g_test_equals_scipy_without_a_third_variable() -> None:
    from scipy.stats import chi2_contingency

    table = np.array([[12, 7, 9], [5, 14, 8]])
    theirs = chi2_contingency(table, correction=False, lambda_="log-likelihood")
    ours = conditional_g_test(table[None])
    assert isinstance(ours, GTest)
    assert (ours.df, ours.n) == (2, 55)
    assert ours.statistic == pytest.approx(theirs.statistic)
    assert ours.p_value == pytest.approx(theirs.pvalue)


def test_g_tests_of_strata_add_up() -> None:
    rng = np.random.default_rng(4)
    table = rng.integers(3, 30, (4, 3, 5))
    whole = conditional_g_test(table)
    parts = [conditional_g_test(stratum[None]) for stratum in table]
    assert isinstance(whole, GTest)
    assert whole.df == 4 * 2 * 4
    assert whole.statistic == pytest.approx(sum(part.statistic for part in parts if isinstance(part, GTest)))


def test_categories_that_never_occur_count_for_nothing() -> None:
    table = np.random.default_rng(4).integers(3, 30, (2, 3, 2))
    padded = np.pad(table, ((0, 1), (1, 0), (0, 2)))
    ours, plain = conditional_g_test(padded), conditional_g_test(table)
    assert isinstance(ours, GTest)
    assert isinstance(plain, GTest)
    assert (ours.df, ours.n) == (plain.df, plain.n)
    assert ours.statistic == pytest.approx(plain.statistic, rel=1e-10)
    assert isinstance(conditional_g_test(table[:, :1]), NotApplicable)


def test_a_design_effect_divides_the_statistic() -> None:
    table = np.random.default_rng(4).integers(3, 30, (2, 2, 2))
    plain, divided = conditional_g_test(table), conditional_g_test(table, design_effect=2.0)
    assert isinstance(plain, GTest)
    assert isinstance(divided, GTest)
    assert divided.statistic == pytest.approx(plain.statistic / 2)
    assert divided.p_value > plain.p_value
    with pytest.raises(InputError, match="below 1"):
        conditional_g_test(table, design_effect=0.5)


def test_size_of_the_test_of_a_gain_that_is_nil() -> None:
    # b copies a with noise and depends on y through a only, n = 419: the share of p < .05 is the size, asked to lie in
    # (.03, .07). Over 4,000 draws its standard deviation is .0034, so a size of .05 to .056 leaves this range with
    # probability below 1e-4.
    rng = np.random.default_rng(16)
    draws, n = 4000, 419
    y = rng.integers(0, 2, (draws, n))
    a = y ^ (rng.random((draws, n)) < 0.3)
    b = a ^ (rng.random((draws, n)) < 0.25)
    codes = (np.arange(draws)[:, None] * 8 + a * 4 + y * 2 + b).ravel()
    tables = np.bincount(codes, minlength=draws * 8).reshape(draws, 2, 2, 2)
    tests = [conditional_g_test(table) for table in tables]
    assert all(isinstance(test, GTest) and test.df == 2 for test in tests)
    size = sum(isinstance(test, GTest) and test.p_value < 0.05 for test in tests) / draws
    assert 0.03 < size < 0.07


def test_homogeneity_pools_small_categories() -> None:
    # Shares 1/2 each: a category needs 10 rows in all to expect 5 in each sample. The last three make 12 together.
    table = np.array([[20, 30, 2, 3, 1], [25, 19, 4, 1, 1]])
    pooled = conditional_g_test(np.array([[[20, 30, 6], [25, 19, 6]]]))
    assert homogeneity_g_test(table, expected=5 * 50 / 53) == pooled
    assert isinstance(pooled, GTest)
    assert pooled.df == 2


def test_a_pool_that_stays_small_joins_the_smallest_category() -> None:
    table = np.array([[20, 30, 2], [25, 19, 1]])
    assert homogeneity_g_test(table) == conditional_g_test(np.array([[[22, 30], [26, 19]]]))


def test_homogeneity_without_two_categories_is_not_applicable() -> None:
    assert isinstance(homogeneity_g_test([[40, 1], [30, 0]]), NotApplicable)
    assert isinstance(homogeneity_g_test([[40, 10], [0, 0]]), NotApplicable)


def test_association_does_not_react_to_margins() -> None:
    # Both tables have odds ratio 6; the second has other margins.
    same = association_g_test([[[30, 10], [10, 20]], [[90, 10], [15, 10]]])
    assert isinstance(same, GTest)
    assert same.df == 1
    assert same.statistic == pytest.approx(0.0, abs=1e-6)


def test_association_by_hand() -> None:
    # Margins are 20 everywhere; the fit without interaction is 10 in each cell (by symmetry of the two samples).
    test = association_g_test([[[15, 5], [5, 15]], [[5, 15], [15, 5]]])
    assert isinstance(test, GTest)
    assert test.statistic == pytest.approx(2 * 4 * (15 * math.log(1.5) + 5 * math.log(0.5)))
    assert isinstance(association_g_test([[[15, 0], [5, 0]], [[5, 0], [15, 0]]]), NotApplicable)
