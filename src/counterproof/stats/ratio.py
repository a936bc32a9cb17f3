"""A ratio of sums over clusters, and its interval when clusters are few."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterproof.core.errors import InputError
from counterproof.core.findings import Interval
from counterproof.stats.binomial import check_level


@dataclass(frozen=True, slots=True)
class RatioEstimate:
    """R = sum of y over sum of n, with an interval for it.

    Attributes:
        estimate: The ratio over the clusters with units.
        interval: For the ratio in the population of clusters.
        n_clusters: Clusters with units, Q.
    """

    estimate: float
    interval: Interval
    n_clusters: int


def cluster_t_interval(
    events: ArrayLike, units: ArrayLike, *, level: float = 0.95, proportion: bool = False
) -> RatioEstimate:
    """Return a ratio of sums with its linearised t interval over clusters: the choice below about 40 clusters.

        R = sum y_q / sum n_q,   e_q = y_q - R n_q,   N = sum n_q
        R +- t(Q - 1) sqrt( Q/(Q - 1) sum e_q^2 / N^2 )

    Assumes independent clusters of which Q was fixed beforehand, and sums near enough to normal: with fewer than 5
    clusters that have an event, use `exact_interval` over clusters. Where all ratios y_q/n_q are equal its width is 0,
    which is no evidence of precision.

    Args:
        events: y, sum per cluster, (Q,).
        units: n, units per cluster, (Q,), not negative. Clusters without units leave first.
        level: Confidence level, strictly between 0 and 1.
        proportion: True clips the ends to [0, 1]; only for a share, never for a mean of scores.

    Raises:
        InputError: Fewer than two clusters have units, or a value cannot be used.

    Source:
        Cochran 1977, Sampling Techniques, 3rd ed., ch. 6 (ratio estimators). The percentile bootstrap covers too little
        at few clusters: Cameron, Gelbach and Miller 2008, doi:10.1162/rest.90.3.414.
    """
    y, n = (column[:, 0] for column in with_units(*columns(events, units)))
    check_level(level)
    clusters = len(n)
    if clusters < 2:
        raise InputError(f"a t interval needs at least two clusters with units, not {clusters}")
    from scipy.special import stdtrit

    total = float(n.sum())
    ratio = float(y.sum()) / total
    residuals = y - ratio * n
    error = math.sqrt(clusters / (clusters - 1) * float(residuals @ residuals)) / total
    half = float(stdtrit(clusters - 1, (1 + level) / 2)) * error
    lower, upper = ratio - half, ratio + half
    if proportion:
        lower, upper = max(0.0, lower), min(1.0, upper)
    return RatioEstimate(ratio, Interval(lower, upper, level, f"cluster t, {clusters - 1} df"), clusters)


def columns(events: ArrayLike, units: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return sums as two (Q, A) arrays of finite numbers; a (Q,) pair becomes one column.

    Raises:
        InputError: Shapes differ, a value is not finite, or a number of units is negative.
    """
    y, n = np.asarray(events, dtype=np.float64), np.asarray(units, dtype=np.float64)
    if y.shape != n.shape or y.ndim not in (1, 2):
        raise InputError(f"events have shape {y.shape}, units {n.shape}; both must be (Q,) or both (Q, A)")
    if not (np.isfinite(y).all() and np.isfinite(n).all()):
        raise InputError("sums per cluster hold NaN or infinity; leave out what failed, and count it apart")
    if (n < 0).any():
        raise InputError("a cluster has a negative number of units")
    return (y[:, None], n[:, None]) if y.ndim == 1 else (y, n)


def with_units(
    events: NDArray[np.float64], units: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the rows of (Q, A) sums whose cluster has units; it must have them in every column or in none.

    Raises:
        InputError: No cluster has units, or some cluster has units in a part of the columns.
    """
    present = units > 0
    keep = present.any(axis=1)
    if not keep.any():
        raise InputError("no cluster has any unit; a ratio over nothing is not applicable")
    if not present[keep].all():
        raise InputError(
            "columns differ in which clusters have units; analyse together only columns with the same clusters "
            "(`clustered_rates` groups them)"
        )
    return (events, units) if keep.all() else (events[keep], units[keep])
