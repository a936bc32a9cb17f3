"""Dependence between categorical variables, from tables of counts, and the G-tests that go with it.

Axes: A and B are the categories of two variables, Z those of a third; leading axes (bootstrap replicates, pairs) are
kept, so that one call measures all of them. A measure that a table does not define (no row, a variable that never
varies) is NaN in the returned array: a mask for the caller, who gives the reason, never a value.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterproof.core.errors import InputError
from counterproof.core.outcomes import NotApplicable

Array = NDArray[np.float64]
ROUNDING = 1e-12
"""Bits that rounding may leave of none."""
SLICES = 8
"""Categories up to which a sum goes slice by slice."""


def phi(table: ArrayLike) -> Array:
    """Return the correlation of two variables with the same categories, (..., A, A) in and (...) out.

        R = (n sum_i n_ii - sum_i r_i c_i) / sqrt((n^2 - sum r_i^2)(n^2 - sum c_i^2))

    For two categories it is Pearson's phi (also called Matthews correlation), for more Gorodkin's R_K. In [-1, 1];
    0 under independence; NaN where either variable is constant.

    >>> float(phi([[4, 1], [1, 4]]).round(3))
    0.6

    Source:
        Gorodkin 2004, doi:10.1016/j.compbiolchem.2004.09.006.
    """
    n, diagonal, rows, columns = _square(table)
    spread = (n * n - _over(rows * rows, -1)) * (n * n - _over(columns * columns, -1))
    return _quotient(n * diagonal - _over(rows * columns, -1), np.sqrt(np.maximum(spread, 0.0)))


def cohen_kappa(table: ArrayLike) -> Array:
    """Return Cohen's kappa, (..., A, A) in and (...) out: agreement beyond what the margins alone give.

        kappa = (p_o - p_e)/(1 - p_e),   p_o = sum p_ii,   p_e = sum r_i c_i

    At most 1; 0 under independence; NaN where both variables are constant in the same category.

    >>> float(cohen_kappa([[4, 1], [1, 4]]).round(3))
    0.6

    Source:
        Cohen 1960, doi:10.1177/001316446002000104.
    """
    n, diagonal, rows, columns = _square(table)
    expected = _over(rows * columns, -1)
    return _quotient(n * diagonal - expected, n * n - expected)


def mutual_information(table: ArrayLike) -> Array:
    """Return I(A; B) in bits of the empirical distribution, (..., A, B) in and (...) out.

    At least 0. The plug-in value is biased upwards by about (|A|-1)(|B|-1)/(2 n ln 2) bits over n independent rows.
    """
    counts = _counts(table, 2)
    return conditional_mutual_information(counts[..., None, :, :])


def conditional_mutual_information(table: ArrayLike) -> Array:
    """Return I(A; B | Z) in bits of the empirical distribution, (..., Z, A, B) in and (...) out.

        I = sum_zab p(z,a,b) log2( p(z,a,b) p(z) / (p(z,a) p(z,b)) )

    At least 0. Biased upwards by about |Z|(|A|-1)(|B|-1)/(2 n ln 2) bits over n independent rows, so that an interval
    that excludes 0 proves nothing; `conditional_g_test` is the test.
    """
    counts = _counts(table, 3)
    cells = _xlog2x(counts).sum((-3, -2, -1)) + _xlog2x(counts.sum((-2, -1))).sum(-1)
    margins = _xlog2x(counts.sum(-1)).sum((-2, -1)) + _xlog2x(counts.sum(-2)).sum((-2, -1))
    return _information(_quotient(cells - margins, counts.sum((-3, -2, -1))))


def conditional_gain(table: ArrayLike) -> Array:
    """Return CMG(b|a) = I(Y; B | A) in bits, (..., Y, A, B) in and (...) out: what b adds on Y once a is known.

    At least 0, biased upwards as `conditional_mutual_information` is. Higher is better for buying b after a.
    """
    return conditional_mutual_information(np.moveaxis(_counts(table, 3), -2, -3))


def pair_information(table: ArrayLike) -> Array:
    """Return I(A;B), I(A;B|Y), I(Y;B|A) and I(Y;A|B) in bits, (..., Y, A, B) in and (..., 4) out.

    As `mutual_information` of the table summed over Y, `conditional_mutual_information`, and `conditional_gain` both
    ways, with every margin summed and every logarithm taken once.
    """
    counts = _counts(table, 3)
    ya, yb, ab = (_over(counts, axis) for axis in (-1, -2, -3))
    y, a, b = _over(ya, -1), _over(ab, -1), _over(ab, -2)
    n = _over(y, -1)
    whole = _over(_xlog2x(counts), -3, -2, -1)
    pair_ya, pair_yb, pair_ab = (_over(_xlog2x(pair), -2, -1) for pair in (ya, yb, ab))
    one_y, one_a, one_b = (_over(_xlog2x(one), -1) for one in (y, a, b))
    bits = (
        pair_ab + _xlog2x(n) - one_a - one_b,
        whole + one_y - pair_ya - pair_yb,
        whole + one_a - pair_ya - pair_ab,
        whole + one_b - pair_yb - pair_ab,
    )
    return _information(np.stack([_quotient(value, n) for value in bits], axis=-1))


def krippendorff_alpha(counts: ArrayLike) -> float | NotApplicable:
    """Return Krippendorff's alpha for nominal values with missing ones, from counts per unit.

        alpha = 1 - D_o/D_e,   D_o = 1/n sum_u sum_{c != k} n_uc n_uk/(m_u - 1),
        D_e = 1/(n(n - 1)) sum_{c != k} n_c n_k,   over units with m_u >= 2 values, n = sum m_u

    At most 1 (perfect agreement); 0 is what chance gives. It sees agreement only: raters who are wrong together raise
    it.

    Args:
        counts: How many raters gave each value to each unit, (N, C).

    Returns:
        Alpha, or `NotApplicable` when no unit has two values, or all values are the same.

    Raises:
        InputError: Counts are negative, not finite, or not (N, C).

    Source:
        Krippendorff 2011, Computing Krippendorff's Alpha-Reliability (nominal data, any number of observers, missing
        data).
    """
    parts = alpha_parts(counts).sum(axis=0)
    alpha = float(alpha_of(parts))
    if math.isnan(alpha):
        return NotApplicable("no-variation: no unit has two values, or all values are the same")
    return alpha


def alpha_parts(counts: ArrayLike) -> Array:
    """Return what each unit adds to Krippendorff's alpha, (N, C) in and (N, 1 + C) out.

    Column 0 is the unit's disagreement sum_{c != k} n_uc n_uk/(m_u - 1), the others its values, all 0 for a unit with
    fewer than two. Sums over units (of a cluster, of a bootstrap replicate) go into `alpha_of`.
    """
    values = _counts(counts, 2)
    if values.ndim != 2:
        raise InputError(f"counts have shape {values.shape}; give (N, C): units x values")
    given = values.sum(axis=1)
    paired = given >= 2
    apart = (given**2 - (values**2).sum(axis=1)) / np.where(paired, given - 1, 1.0)
    return np.concatenate([(apart * paired)[:, None], values * paired[:, None]], axis=1)


def alpha_of(parts: ArrayLike) -> Array:
    """Return Krippendorff's alpha from summed `alpha_parts`, (..., 1 + C) in and (...) out; NaN where undefined."""
    sums = np.asarray(parts, dtype=np.float64)
    apart, values = sums[..., 0], sums[..., 1:]
    n = values.sum(-1)
    return _array(1.0 - (n - 1) * _quotient(apart, n * n - (values * values).sum(-1)))


@dataclass(frozen=True, slots=True)
class GTest:
    """A likelihood-ratio test.

    Attributes:
        statistic: G, after division by `design_effect`.
        df: Degrees of freedom.
        p_value: P(chi-squared with `df` >= G).
        n: Rows.
        design_effect: By how much clustering inflates G; 1 for independent rows.
    """

    statistic: float
    df: int
    p_value: float
    n: int
    design_effect: float = 1.0


def conditional_g_test(table: ArrayLike, *, design_effect: float = 1.0) -> GTest | NotApplicable:
    """Return the G-test of A independent of B given Z, from counts (Z, A, B).

        G = 2 n ln 2 I(A; B | Z) / design effect  ~  chi-squared with (|A| - 1)(|B| - 1)|Z| degrees of freedom

    Categories that never occur in the table count for nothing. For "b adds nothing on Y once a is known" give
    (A, Y, B); for independence without a third variable give (1, A, B).

    Assumes independent rows, and expected counts of about 5 or more. Rows that share a cluster inflate G on average by
    a design effect; dividing by it is the first-order correction of Rao and Scott.

    Args:
        table: Counts, (Z, A, B).
        design_effect: At least 1.

    Returns:
        The test, or `NotApplicable` when A or B has fewer than two categories that occur.

    Raises:
        InputError: The table is not (Z, A, B), holds negative counts, or the design effect is below 1.

    Source:
        Agresti 2013, Categorical Data Analysis, 3rd ed., ch. 2-3. Rao and Scott 1981,
        doi:10.1080/01621459.1981.10477633.
    """
    counts = _counts(table, 3)
    if counts.ndim != 3:
        raise InputError(f"the table has shape {counts.shape}; give (Z, A, B)")
    if not design_effect >= 1:
        raise InputError(f"a design effect of {design_effect} is below 1")
    strata, first, second = (int((counts.sum(axes) > 0).sum()) for axes in ((1, 2), (0, 2), (0, 1)))
    df = strata * (first - 1) * (second - 1)
    if df < 1:
        return NotApplicable("one-category: a variable that never varies is independent of everything")
    n = float(counts.sum())
    raw = 2 * n * math.log(2) * float(conditional_mutual_information(counts))
    return _g_test(raw / design_effect, df, n, design_effect)


def homogeneity_g_test(table: ArrayLike, *, expected: float = 5.0) -> GTest | NotApplicable:
    """Return the G-test that S samples over L categories share one distribution, from counts (S, L).

    Categories in which any sample expects fewer than `expected` rows are pooled into one; if the pool itself stays too
    small, it joins the smallest category left. df = (S - 1)(categories - 1).

    Returns:
        The test, or `NotApplicable` when fewer than two categories are left, or a sample is empty.

    Raises:
        InputError: The table is not (S, L) with S >= 2.
    """
    counts = _counts(table, 2)
    if counts.ndim != 2 or len(counts) < 2:
        raise InputError(f"the table has shape {counts.shape}; give at least two samples over L categories")
    if not (counts.sum(axis=1) > 0).all():
        return NotApplicable("no-rows: a sample is empty")
    share = counts.sum(axis=1) / counts.sum()
    pooled = _pooled(counts, expected / float(share.min()))
    if pooled.shape[1] < 2:
        return NotApplicable(f"one-category: all but one have fewer than {expected:g} expected rows")
    return conditional_g_test(pooled[None])


def association_g_test(table: ArrayLike) -> GTest | NotApplicable:
    """Return the G-test that two variables are associated alike in S samples, whatever their margins, from (S, A, B).

    The fit keeps every two-way margin and has no three-way interaction; df = (S - 1)(|A| - 1)(|B| - 1) over the
    categories that occur. It asks whether the *dependence* of A and B differs, not whether either became more common.

    Returns:
        The test, or `NotApplicable` when a variable has one category only, or a sample is empty.

    Raises:
        InputError: The table is not (S, A, B) with S >= 2.

    Source:
        Agresti 2013, Categorical Data Analysis, 3rd ed., ch. 9 (homogeneous association).
    """
    counts = _counts(table, 3)
    if counts.ndim != 3 or len(counts) < 2:
        raise InputError(f"the table has shape {counts.shape}; give at least two samples of (A, B)")
    if not (counts.sum((1, 2)) > 0).all():
        return NotApplicable("no-rows: a sample is empty")
    counts = counts[:, counts.sum((0, 2)) > 0][:, :, counts.sum((0, 1)) > 0]
    df = (len(counts) - 1) * (counts.shape[1] - 1) * (counts.shape[2] - 1)
    if df < 1:
        return NotApplicable("one-category: a variable that never varies is associated with nothing")
    fit = _without_interaction(counts)
    seen = counts > 0
    statistic = 2 * float((counts[seen] * np.log(counts[seen] / fit[seen])).sum())
    return _g_test(max(statistic, 0.0), df, float(counts.sum()))


def _g_test(statistic: float, df: int, n: float, design_effect: float = 1.0) -> GTest:
    from scipy.special import chdtrc

    return GTest(statistic, df, float(chdtrc(df, statistic)), round(n), design_effect)


def _pooled(counts: Array, least: float) -> Array:
    total = counts.sum(axis=0)
    small = total < least
    kept, pool = counts[:, ~small], counts[:, small].sum(axis=1)
    if not pool.any():
        return kept
    if pool.sum() < least and kept.shape[1]:
        smallest = int(kept.sum(axis=0).argmin())
        kept = kept.copy()
        kept[:, smallest] += pool
        return kept
    return np.concatenate([kept, pool[:, None]], axis=1)


def _without_interaction(counts: Array, *, tolerance: float = 1e-10, rounds: int = 10_000) -> Array:
    # Iterative proportional fitting of the three two-way margins; a zero margin keeps its cells at zero.
    fit = np.ones_like(counts)
    for _ in range(rounds):
        before = fit
        for axis in range(3):
            have, want = fit.sum(axis=axis, keepdims=True), counts.sum(axis=axis, keepdims=True)
            fit = _array(fit * np.divide(want, have, out=np.zeros_like(have), where=have > 0))
        if np.abs(fit - before).max() <= tolerance * counts.sum():
            break
    return fit


def _counts(table: ArrayLike, axes: int) -> Array:
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim < axes:
        raise InputError(f"the table has shape {counts.shape}; it needs at least {axes} axes")
    if not (np.isfinite(counts).all() and (counts >= 0).all()):
        raise InputError("the table holds counts that are negative or not finite")
    return counts


def _square(table: ArrayLike) -> tuple[Array, Array, Array, Array]:
    counts = _counts(table, 2)
    if counts.shape[-1] != counts.shape[-2]:
        raise InputError(f"the table has shape {counts.shape}; both variables need the same categories")
    rows, columns = _over(counts, -1), _over(counts, -2)
    return _over(rows, -1), _over(np.diagonal(counts, axis1=-2, axis2=-1), -1), rows, columns


def _over(counts: Array, *axes: int) -> Array:
    # Sums over axes counted from the end. A few categories are added slice by slice, much faster than `sum` over them.
    total = counts
    for axis in sorted(axes):
        slices = np.moveaxis(total, axis, 0)
        total = functools.reduce(np.add, slices) if len(slices) <= SLICES else slices.sum(axis=0)
    return total


def _array(values: ArrayLike) -> Array:
    return np.asarray(values, dtype=np.float64)


def _information(bits: Array) -> Array:
    # What rounding leaves of an exact zero is a zero.
    information: Array = np.where(bits < ROUNDING, 0.0, bits)
    return information


def _xlog2x(counts: Array) -> Array:
    return _array(counts * np.log2(np.where(counts > 0, counts, 1.0)))


def _quotient(numerator: Array, denominator: Array) -> Array:
    over = _array(denominator)
    quotient: Array = np.divide(numerator, over, out=np.full(over.shape, np.nan), where=over > 0)
    return quotient
