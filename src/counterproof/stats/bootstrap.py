"""Cluster bootstrap of sums and of ratios of sums, from the sums of each cluster."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterproof.core.errors import InputError
from counterproof.core.findings import Interval
from counterproof.stats.binomial import check_level
from counterproof.stats.ratio import RatioEstimate, columns, with_units

BLOCK = 1 << 16
"""Cluster indices drawn at a time, half a megabyte: it stays in cache, and memory does not grow with replicates."""

MERGE_FROM, MERGE = 4096, 16
"""From this many clusters on, and so many times as many clusters as profiles, `cluster_weights` draws multinomials."""

_HALF = 31
"""Bits for the sum of events in a packed sum; the sum of units takes the bits above."""


def cluster_ratio_interval(
    events: ArrayLike, units: ArrayLike, *, rng: np.random.Generator, level: float = 0.95, replicates: int = 5000
) -> RatioEstimate:
    """Return a ratio of sums with its percentile interval from a bootstrap of clusters.

        R = sum y_q / sum n_q;   replicate b: R_b = sum_i y_q(b,i) / sum_i n_q(b,i),  q(b, 1..Q) drawn with replacement

    The ends are the (1 - level)/2 and (1 + level)/2 quantiles of R_b (linear interpolation). The draws are those of
    `rng.integers(0, Q, size=(B, Q))`: the same interval as gathering rows by these indices, and as
    `scipy.stats.bootstrap(method="percentile", paired=True)` with a generator in the same state.

    Assumes independent clusters. Covers too little below about 40 clusters (`cluster_t_interval`) and is degenerate
    without events (`exact_interval`); `clustered_rate` makes that choice.

    Args:
        events: y, sum per cluster, (Q,).
        units: n, units per cluster, (Q,), not negative. Clusters without units leave before resampling.
        rng: Source of the draws; it moves on by B * Q integers.
        level: Confidence level, strictly between 0 and 1.
        replicates: B, at least 1.

    Raises:
        InputError: No cluster has units, or an argument is out of its range.

    Source:
        Efron and Tibshirani 1993, An Introduction to the Bootstrap, ch. 13; whole clusters as the resampling unit:
        Cameron, Gelbach and Miller 2008, doi:10.1162/rest.90.3.414.
    """
    return cluster_ratio_intervals(events, units, rng=rng, level=level, replicates=replicates)[0]


def cluster_ratio_intervals(
    events: ArrayLike, units: ArrayLike, *, rng: np.random.Generator, level: float = 0.95, replicates: int = 5000
) -> tuple[RatioEstimate, ...]:
    """Return `cluster_ratio_interval` of every column, all on the same resampled clusters and in one pass.

    Column a of the result is what column a alone gives with a generator in the same state.

    Args:
        events: (Q, A).
        units: (Q, A); a cluster has units in every column or in none.
        rng: Source of the draws; it moves on by B * Q integers.
        level: Confidence level, strictly between 0 and 1.
        replicates: B, at least 1.

    Raises:
        InputError: Columns differ in which clusters have units, none has any, or an argument is out of its range.
    """
    check_level(level)
    y, n = with_units(*columns(events, units))
    replicated = resampled_ratios(y, n, rng=rng, replicates=replicates)
    tail = (1 - level) / 2
    lower, upper = np.quantile(replicated, [tail, 1 - tail], axis=0).tolist()
    estimates = (y.sum(axis=0) / n.sum(axis=0)).tolist()
    method = f"cluster bootstrap, percentile, {replicates} replicates"
    return tuple(
        RatioEstimate(estimate, Interval(low, high, level, method), len(n))
        for estimate, low, high in zip(estimates, lower, upper, strict=True)
    )


def resampled_ratios(
    events: ArrayLike, units: ArrayLike, *, rng: np.random.Generator, replicates: int = 5000, block: int = BLOCK
) -> NDArray[np.float64]:
    """Return the ratio of sums in each bootstrap replicate, (B, A).

    Columns share the resampled clusters, so the difference of two columns is a paired bootstrap of their difference.
    Sums of whole numbers are exact, so the result does not depend on the block, the number of columns or the machine;
    sums of other numbers may differ in the last bits.

    Args:
        events: (Q,) or (Q, A).
        units: Of the same shape; a cluster has units in every column or in none, and leaves in the latter case.
        rng: Source of the draws, row by row: replicate b takes the b-th Q of `rng.integers(0, Q, size=(B, Q))`.
        replicates: B, at least 1.
        block: Indices drawn at a time; bounds memory, never changes a draw.

    Raises:
        InputError: As for `cluster_ratio_intervals`.
    """
    y, n = with_units(*columns(events, units))
    if replicates < 1 or block < 1:
        raise InputError(f"replicates ({replicates}) and block ({block}) must be at least 1")
    draws = _draws(len(n), replicates, block, rng)
    if y.shape[1] == 1 and _packable(y, n):
        return _gathered(y[:, 0], n[:, 0], draws, replicates)
    return _weighted(y, n, draws, replicates)


def cluster_weights(
    profile: ArrayLike, *, rng: np.random.Generator, replicates: int = 5000, block: int = BLOCK
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Yield how often each profile was drawn, replicates in blocks: slices of (B) with weights (b, D).

    A profile is a group of clusters with equal sums. Q clusters are drawn with replacement by `rng.integers(0, Q,
    size=(B, Q))`, and counted by profile: as resampling clusters by index, whatever the profiles are. From
    `MERGE_FROM` clusters on, and where profiles are fewer than a sixteenth of them, the counts are drawn as the
    multinomial that they are: the same distribution, other draws, at a cost that no longer grows with Q.

    Args:
        profile: Profile number of each cluster, 0 .. D-1, each with a cluster, (Q,).
        rng: Source of the draws.
        replicates: B, at least 1.
        block: Numbers drawn at a time; bounds memory, never changes a draw.

    Raises:
        InputError: There is no cluster, profiles are not numbered 0 .. D-1, or a size is below 1.
    """
    owner = np.asarray(profile)
    if owner.ndim != 1 or not owner.size or not np.issubdtype(owner.dtype, np.integer) or owner.min() < 0:
        raise InputError("give the profile number of each cluster, from 0, in one row")
    if replicates < 1 or block < 1:
        raise InputError(f"replicates ({replicates}) and block ({block}) must be at least 1")
    often = np.bincount(owner)
    if not often.all():
        raise InputError(f"no cluster has profile {int(often.argmin())}; number profiles without gaps")
    clusters, profiles = len(owner), len(often)
    if clusters >= MERGE_FROM and profiles * MERGE <= clusters:
        step = max(1, block // profiles)
        for start in range(0, replicates, step):
            rows = slice(start, min(start + step, replicates))
            yield rows, rng.multinomial(clusters, often / clusters, size=rows.stop - start).astype(np.float64)
        return
    distinct = profiles == clusters and bool((owner == np.arange(clusters)).all())
    for rows, index in _draws(clusters, replicates, block, rng):
        yield rows, _drawn(index if distinct else owner[index], profiles)


def resampled_sums(
    values: ArrayLike, *, rng: np.random.Generator, replicates: int = 5000, block: int = BLOCK
) -> NDArray[np.float64]:
    """Return the sums of all columns in each bootstrap replicate, (Q, M) in and (B, M) out: one matrix product.

    Sums are the sufficient statistic of any number of measures: compute them from the sums of a replicate as from those
    of the data.

    Args:
        values: Sums per cluster, (Q, M), finite. Every row is a cluster and is drawn, also one of zeros.
        rng: Source of the draws, row by row as in `resampled_ratios`.
        replicates: B, at least 1.
        block: Indices drawn at a time; bounds memory, never changes a draw.

    Raises:
        InputError: There is no cluster, a value is not finite, or a size is below 1.
    """
    sums = np.asarray(values, dtype=np.float64)
    if sums.ndim != 2 or not len(sums):
        raise InputError(f"values have shape {sums.shape}; give (Q, M) with at least one cluster")
    if not np.isfinite(sums).all():
        raise InputError("sums per cluster hold NaN or infinity; leave out what failed, and count it apart")
    if replicates < 1 or block < 1:
        raise InputError(f"replicates ({replicates}) and block ({block}) must be at least 1")
    return _summed(sums, _draws(len(sums), replicates, block, rng), replicates)


def _draws(
    clusters: int, replicates: int, block: int, rng: np.random.Generator
) -> Iterator[tuple[slice, NDArray[np.int64]]]:
    rows = max(1, block // clusters)
    for start in range(0, replicates, rows):
        stop = min(start + rows, replicates)
        yield slice(start, stop), rng.integers(0, clusters, size=(stop - start, clusters))


def _packable(y: NDArray[np.float64], n: NDArray[np.float64]) -> bool:
    largest = max(float(y.max()), float(n.max()))
    whole = bool((y == np.floor(y)).all() and (n == np.floor(n)).all() and (y >= 0).all())
    return whole and largest * len(n) < 1 << _HALF


def _gathered(
    y: NDArray[np.float64], n: NDArray[np.float64], draws: Iterator[tuple[slice, NDArray[np.int64]]], replicates: int
) -> NDArray[np.float64]:
    # Both sums of a cluster in one integer: one gather and one addition in place of two, still exact.
    packed = y.astype(np.int64) + (n.astype(np.int64) << _HALF)
    sums = np.empty(replicates, dtype=np.int64)
    for rows, index in draws:
        np.add.reduce(packed.take(index), axis=1, out=sums[rows])
    return ((sums & ((1 << _HALF) - 1)) / (sums >> _HALF))[:, None]


def _weighted(
    y: NDArray[np.float64], n: NDArray[np.float64], draws: Iterator[tuple[slice, NDArray[np.int64]]], replicates: int
) -> NDArray[np.float64]:
    width = y.shape[1]
    sums = _summed(np.concatenate([y, n], axis=1), draws, replicates)
    return sums[:, :width] / sums[:, width:]


def _summed(
    values: NDArray[np.float64], draws: Iterator[tuple[slice, NDArray[np.int64]]], replicates: int
) -> NDArray[np.float64]:
    sums = np.empty((replicates, values.shape[1]))
    for rows, index in draws:
        sums[rows] = _drawn(index, len(values)) @ values
    return sums


def _drawn(index: NDArray[np.int64], width: int) -> NDArray[np.float64]:
    # How often each of `width` was drawn, (b, width): one count over all replicates of the block.
    cell = index + np.arange(len(index))[:, None] * width
    return np.bincount(cell.ravel(), minlength=len(index) * width).reshape(len(index), width).astype(np.float64)
