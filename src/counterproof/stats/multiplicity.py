"""Many tests at once: Holm's adjustment, and the permutation maximum that uses their dependence."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterproof.core.errors import InputError


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return Holm's adjusted p-values, (M,) in and (M,) out, in the order given.

        p_(i) adjusted = max over j <= i of min(1, (M - j + 1) p_(j)),   p_(1) <= ... <= p_(M)

    Rejecting what is at most alpha keeps the chance of any false rejection at most alpha under any dependence. Never
    below the raw value, and in the same order.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]

    Raises:
        InputError: A p-value is outside [0, 1], or the values are not (M,).

    Source:
        Holm 1979, Scandinavian Journal of Statistics 6(2), 65-70.
    """
    raw = np.asarray(p_values, dtype=np.float64)
    if raw.ndim != 1 or not ((raw >= 0) & (raw <= 1)).all():
        raise InputError("give p-values between 0 and 1, in one row")
    order = np.argsort(raw, kind="stable")
    scaled = raw[order] * np.arange(len(raw), 0, -1)
    adjusted = np.empty_like(raw)
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return adjusted


def max_t(observed: ArrayLike, null: ArrayLike) -> NDArray[np.float64]:
    """Return step-down adjusted p-values from the permutation distribution of the maximum, (M,) in and out.

    Statistics are ranked, largest first. For rank i, u_b is the largest null statistic of draw b among ranks i .. M,

        p_(i) = (1 + #{b : u_b >= t_(i)}) / (B + 1),  then made monotone in i

    Keeps the chance of any false rejection at most alpha when draws are exchangeable with the data under the complete
    null and every subset of nulls is (subset pivotality). Less strict than `holm` where statistics depend on each
    other.

    Args:
        observed: Statistics, larger is more extreme, (M,).
        null: The same statistics on each permuted data set, (B, M).

    Raises:
        InputError: Shapes do not fit, there is no draw, or a value is NaN.

    Source:
        Westfall and Young 1993, Resampling-Based Multiple Testing, ch. 2; the added one: Phipson and Smyth 2010,
        doi:10.2202/1544-6115.1585.
    """
    t, draws = np.asarray(observed, dtype=np.float64), np.asarray(null, dtype=np.float64)
    if t.ndim != 1 or draws.ndim != 2 or draws.shape[1] != len(t) or not len(draws):
        raise InputError(f"{t.shape} statistics and {draws.shape} draws do not fit; give (M,) and (B, M)")
    if np.isnan(t).any() or np.isnan(draws).any():
        raise InputError("a statistic is NaN; leave out what is not defined")
    order = np.argsort(-t, kind="stable")
    running = np.maximum.accumulate(draws[:, order[::-1]], axis=1)[:, ::-1]
    share = (1 + (running >= t[order]).sum(axis=0)) / (len(draws) + 1)
    adjusted = np.empty_like(t)
    adjusted[order] = np.maximum.accumulate(share)
    return adjusted
