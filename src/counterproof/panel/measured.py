"""A measured number of a panel with its interval over clusters, by the rule that its data allow."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterproof.core.findings import Interval
from counterproof.core.outcomes import NotApplicable
from counterproof.stats import cluster_weights, clustered_rate, percentile_interval

Array = NDArray[np.float64]
RARE = 5
"""With fewer clusters than this on either side a share gets exact bounds over clusters."""
T_BELOW = 40
"""Below this many clusters: cluster t."""


@dataclass(frozen=True, slots=True)
class Measured:
    """An estimate.

    Attributes:
        estimate: The number, or why there is none.
        interval: Over clusters; None where none can be given.
        bias: Bootstrap bias of an information measure, in bits; 0 for others. The interval allows for it, the estimate
            is the plug-in value.
        n: Units that entered.
        clusters: Clusters with any.
    """

    estimate: float | NotApplicable
    interval: Interval | None = None
    bias: float = 0.0
    n: int = 0
    clusters: int = 0

    @property
    def corrected(self) -> float | NotApplicable:
        """The estimate less its bias, at least 0 where there is a bias."""
        if isinstance(self.estimate, NotApplicable) or not self.bias:
            return self.estimate
        return max(0.0, self.estimate - self.bias)


def resampled(
    estimate: float, replicates: Array, *, level: float, information: bool = False, n: int = 0, clusters: int = 0
) -> Measured:
    """Return an estimate with its percentile interval; NaN replicates are those that do not define it.

    A mutual information is biased upwards, and its bootstrap replicates once more: the interval of one moves down by
    twice the bootstrap's bias and ends at 0 at the lowest. It is still no test of zero.
    """
    bias = float(np.nanmean(replicates)) - estimate if information and not np.isnan(replicates).all() else 0.0
    interval = percentile_interval(replicates, level=level, shift=2 * bias)
    if information and interval is not None:
        lower, upper = max(0.0, interval.lower), max(0.0, interval.upper)
        interval = Interval(lower, upper, level, interval.method)
    return Measured(estimate, interval, bias, n, clusters)


def left_out(
    estimate: float,
    without: Array,
    *,
    level: float,
    limits: tuple[float, float] = (-math.inf, math.inf),
    n: int = 0,
    clusters: int = 0,
) -> Measured:
    """Return an estimate with its cluster t interval from the jackknife, for few clusters.

        se^2 = (Q - 1)/Q sum_q (theta_(-q) - mean)^2,   theta +- t(Q - 1) se

    Args:
        estimate: On all clusters.
        without: With each cluster left out, (Q,).
        level: Confidence level.
        limits: Range of the measure; the ends stay inside.
        n: Units.
        clusters: Clusters with any.

    Source:
        Efron and Tibshirani 1993, An Introduction to the Bootstrap, ch. 11.
    """
    size = len(without)
    if size < 2 or np.isnan(without).any():
        return Measured(estimate, None, 0.0, n, clusters)
    from scipy.special import stdtrit

    error = math.sqrt((size - 1) / size * float(((without - without.mean()) ** 2).sum()))
    half = float(stdtrit(size - 1, (1 + level) / 2)) * error
    lower, upper = max(limits[0], estimate - half), min(limits[1], estimate + half)
    return Measured(estimate, Interval(lower, upper, level, f"cluster t, {size - 1} df, jackknife"), 0.0, n, clusters)


def rates(
    events: Array, units: Array, *, rng: np.random.Generator, level: float = 0.95, replicates: int = 10_000
) -> tuple[Measured, ...]:
    """Return the share of units with an event for every column, (Q, M) whole numbers in and M out.

    The rule is that of `clustered_rate`: exact bounds over clusters where either side is rare, cluster t below 40
    clusters, else the percentile bootstrap; all columns share the resamples, and every cluster is drawn.
    """
    directly = [direct_rate(events[:, j], units[:, j], level=level) for j in range(events.shape[1])]
    open_columns = [j for j, rate in enumerate(directly) if rate is None]
    ratios = np.empty((0, 0))
    if open_columns:
        ratios = resampled_ratios_of(events[:, open_columns], units[:, open_columns], rng=rng, replicates=replicates)
    found: list[Measured] = []
    for j, rate in enumerate(directly):
        if rate is not None:
            found.append(rate)
            continue
        n, clusters = int(units[:, j].sum()), int((units[:, j] > 0).sum())
        replicated = ratios[:, open_columns.index(j)]
        found.append(resampled(float(events[:, j].sum()) / n, replicated, level=level, n=n, clusters=clusters))
    return tuple(found)


def direct_rate(events: Array, units: Array, *, level: float) -> Measured | None:
    """Return the rate of one column (Q,) where its interval needs no bootstrap, else None."""
    present = units > 0
    clusters = int(present.sum())
    if not clusters:
        return Measured(NotApplicable("no-units: no item counts here"))
    some, free = int((events > 0).sum()), int((events < units).sum())
    if clusters >= T_BELOW and min(some, free) >= RARE:
        return None
    rate = clustered_rate(events, units, rng=np.random.default_rng(0), level=level)
    if isinstance(rate, NotApplicable):
        return Measured(rate)
    return Measured(rate.estimate, rate.row_interval, 0.0, rate.n_units, rate.n_clusters)


def resampled_ratios_of(events: Array, units: Array, *, rng: np.random.Generator, replicates: int) -> Array:
    """Return the ratio of sums of every column in each replicate, (Q, M) in and (B, M) out; NaN without units."""
    sums = resampled_profiles(np.concatenate([events, units], axis=1), rng=rng, replicates=replicates)
    width = events.shape[1]
    below = sums[:, width:]
    ratios: Array = np.divide(sums[:, :width], below, out=np.full(below.shape, np.nan), where=below > 0)
    return ratios


def resampled_profiles(values: Array, *, rng: np.random.Generator, replicates: int) -> Array:
    """Return the sums of all columns in each replicate, (Q, M) in and (B, M) out; equal clusters are drawn together."""
    profiles, profile = np.unique(values, axis=0, return_inverse=True)
    sums = np.empty((replicates, values.shape[1]))
    for rows, weights in cluster_weights(profile, rng=rng, replicates=replicates):
        sums[rows] = weights @ profiles
    return sums


def cluster_sums(values: ArrayLike, clusters: NDArray[np.intp], size: int) -> Array:
    """Return sums per cluster, (N, M) in and (Q, M) out, for clusters numbered 0 .. Q-1."""
    columns = np.asarray(values, dtype=np.float64)
    return np.stack([np.bincount(clusters, weights=column, minlength=size) for column in columns.T], axis=1)
