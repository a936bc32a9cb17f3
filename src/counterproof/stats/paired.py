"""The difference of two rates on the same units, with an interval over clusters."""

from __future__ import annotations

import copy
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterproof.core.errors import InputError
from counterproof.core.findings import Interval
from counterproof.core.outcomes import NotApplicable
from counterproof.stats.binomial import check_level
from counterproof.stats.bootstrap import resampled_sums
from counterproof.stats.rates import T_BELOW
from counterproof.stats.ratio import RatioEstimate, columns

TOGETHER = 256
"""Comparisons resampled at a time; bounds memory, changes no draw."""


def paired_difference(
    first: ArrayLike,
    second: ArrayLike,
    units: ArrayLike,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    replicates: int = 5000,
) -> RatioEstimate | NotApplicable:
    """Return how much higher the first of two rates on the same units is, averaged over groups of units.

        D = 1/C sum_c (sum_q x_qc - sum_q y_qc)/sum_q n_qc

    With one column it is a difference of plain rates (accuracy, coverage, loss per item); with one column per class it
    is a difference of balanced accuracies. With `second` zero it is the rate itself.

    From 40 clusters on, the percentile bootstrap of clusters (units of all groups are drawn together); below, D
    plus or minus t(Q - 1) standard errors of its linearisation e_q = 1/C sum_c (d_qc - D_c n_qc)/N_c, which covers
    better there.

    Args:
        first: Sum of the first rate's numerator per cluster, (Q,) or (Q, C).
        second: The second's, of the same shape.
        units: Units, of the same shape, not negative.
        rng: Source of the bootstrap's draws; untouched below 40 clusters.
        level: Confidence level, strictly between 0 and 1.
        replicates: Bootstrap replicates.

    Returns:
        The difference, or `NotApplicable`: a group without units (`no-units`), fewer than two clusters
        (`few-clusters`), or a group so rare that replicates lack it (`rare-group`).

    Raises:
        InputError: Shapes differ, a value is not finite, or an argument is out of its range.

    Source:
        As for `cluster_t_interval` and `cluster_ratio_interval`.
    """
    x, n = columns(first, units)
    y, _ = columns(second, units)
    if x.shape != y.shape:
        raise InputError(f"the two numerators have shapes {x.shape} and {y.shape}; give the same")
    present = n.any(axis=1)
    if not present.any():
        return NotApplicable("no-units: a group has no unit")
    difference, n = (x - y)[present][:, None], n[present][:, None]
    return paired_differences(difference, n, rng=rng, level=level, replicates=replicates)[0]


def paired_differences(
    difference: ArrayLike,
    units: ArrayLike,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    replicates: int = 5000,
) -> tuple[RatioEstimate | NotApplicable, ...]:
    """Return `paired_difference` of many comparisons on the same resampled clusters, (Q, A, C) in and A out.

    Every row is a cluster and is drawn, also where a comparison has no unit in it.

    Args:
        difference: Sum of the first numerator minus the second per cluster, comparison and group, (Q, A, C).
        units: Units, of the same shape, not negative.
        rng: Source of the bootstrap's draws.
        level: Confidence level, strictly between 0 and 1.
        replicates: Bootstrap replicates.

    Raises:
        InputError: Shapes are not (Q, A, C), a value is not finite, or an argument is out of its range.
    """
    check_level(level)
    d, n = np.asarray(difference, dtype=np.float64), np.asarray(units, dtype=np.float64)
    if d.ndim != 3 or d.shape != n.shape:
        raise InputError(f"differences have shape {d.shape}, units {n.shape}; both must be (Q, A, C)")
    columns(d.reshape(len(d), -1), n.reshape(len(n), -1))
    found: list[RatioEstimate | NotApplicable] = []
    start = copy.deepcopy(rng)
    for at in range(0, d.shape[1], TOGETHER):
        # Every group of comparisons reads the stream from its start, so that all share the resampled clusters.
        source = rng if at + TOGETHER >= d.shape[1] else copy.deepcopy(start)
        part = slice(at, at + TOGETHER)
        found += _group(d[:, part], n[:, part], source, level, replicates)
    return tuple(found)


def _group(
    d: NDArray[np.float64], n: NDArray[np.float64], rng: np.random.Generator, level: float, replicates: int
) -> list[RatioEstimate | NotApplicable]:
    clusters, comparisons, groups = d.shape
    present = [n[:, a].any(axis=1) for a in range(comparisons)]
    results = [_directly(d[p, a], n[p, a], level) for a, p in enumerate(present)]
    if any(result is None for result in results):
        both = np.concatenate([d.reshape(clusters, -1), n.reshape(clusters, -1)], axis=1)
        sums = resampled_sums(both, rng=rng, replicates=replicates).reshape(replicates, 2, comparisons, groups)
        below = sums[:, 1]
        means = np.divide(sums[:, 0], below, out=np.full(below.shape, np.nan), where=below > 0).mean(axis=2)
    found: list[RatioEstimate | NotApplicable] = []
    for a, result in enumerate(results):
        if result is not None:
            found.append(result)
            continue
        interval = percentile_interval(means[:, a], level=level)
        estimate = float((d[:, a].sum(axis=0) / n[:, a].sum(axis=0)).mean())
        rare = NotApplicable("rare-group: too many resamples have no unit of a group")
        found.append(rare if interval is None else RatioEstimate(estimate, interval, int(present[a].sum())))
    return found


def _directly(d: NDArray[np.float64], n: NDArray[np.float64], level: float) -> RatioEstimate | NotApplicable | None:
    """Return the difference where it needs no bootstrap, else None."""
    if not n.size or not n.any(axis=0).all():
        return NotApplicable("no-units: a group has no unit")
    if len(n) < 2:
        return NotApplicable("few-clusters: an interval needs at least two clusters")
    if len(n) >= T_BELOW:
        return None
    estimate = float((d.sum(axis=0) / n.sum(axis=0)).mean())
    return RatioEstimate(estimate, _cluster_t(estimate, d, n, level), len(n))


def percentile_interval(replicates: ArrayLike, *, level: float = 0.95, shift: float = 0.0) -> Interval | None:
    """Return the percentile interval of bootstrap replicates, moved down by `shift`.

    Replicates that are NaN (the measure is undefined there) are left out; None when they are more than one tail,
    (1 - level)/2, of all: then the ends would rest on which resamples happen to define the measure.

    Args:
        replicates: (B,).
        level: Confidence level, strictly between 0 and 1.
        shift: Twice the bootstrap's bias, for a measure that is biased as the bootstrap is.
    """
    check_level(level)
    values = np.asarray(replicates, dtype=np.float64)
    defined = values[~np.isnan(values)]
    tail = (1 - level) / 2
    if not defined.size or len(values) - len(defined) > tail * len(values):
        return None
    lower, upper = np.quantile(defined, [tail, 1 - tail]).tolist()
    moved = ", shifted by twice the bootstrap bias" if shift else ""
    method = f"cluster bootstrap, percentile{moved}, {len(values)} replicates"
    return Interval(lower - shift, upper - shift, level, method)


def _cluster_t(estimate: float, d: NDArray[np.float64], n: NDArray[np.float64], level: float) -> Interval:
    from scipy.special import stdtrit

    total, clusters = n.sum(axis=0), len(n)
    residuals = ((d - d.sum(axis=0) / total * n) / total).mean(axis=1)
    error = math.sqrt(clusters / (clusters - 1) * float(residuals @ residuals))
    half = float(stdtrit(clusters - 1, (1 + level) / 2)) * error
    return Interval(estimate - half, estimate + half, level, f"cluster t, {clusters - 1} df")
