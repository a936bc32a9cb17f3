"""A rate over clusters, with the interval that its data allow: the one place where that choice is made."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterproof.core.errors import InputError
from counterproof.core.findings import HealthWarning, Interval
from counterproof.core.outcomes import NotApplicable
from counterproof.stats.binomial import check_level, exact_interval
from counterproof.stats.bootstrap import cluster_ratio_intervals
from counterproof.stats.ratio import cluster_t_interval, columns

RARE = 5
"""With fewer clusters than this on either side, resampling sees too few of them: exact bounds over clusters."""
FEW = 15
"""Below this many clusters every interval carries the warning `few-clusters`."""
T_BELOW = 40
"""Below this many clusters the percentile bootstrap covers too little: cluster t."""

SHARE_OF_UNITS = "share of units with the event"
SHARE_OF_CLUSTERS = "share of clusters with any event"
SHARE_FULL = "share of clusters whose every unit has the event"


@dataclass(frozen=True, slots=True)
class RateEstimate:
    """A share of units with an event, and what can be said of it.

    Attributes:
        estimate: Share of units with the event, a ratio of sums over clusters, in [0, 1].
        interval: For what `estimand` names, which is not always the share of units.
        estimand: `share of units with the event` for cluster t and bootstrap; for exact bounds `share of clusters with
            any event`, or `share of clusters whose every unit has the event` where nearly all have.
        share: Point estimate of the estimand; `estimate` itself for cluster t and bootstrap. The interval is about it.
        row_bound: With exact bounds, the interval that they imply for the share of units; else None.
        assumption: What `row_bound` rests on; empty without one.
        n_events: Units with the event.
        n_units: Units.
        n_clusters: Clusters with units.
        event_clusters: Clusters with at least one event.
        event_free_clusters: Clusters with units and no event.
        full_clusters: Clusters whose every unit has the event.
        warnings: `few-clusters` (below 15; not blocking) and `degenerate-interval` (blocking).
    """

    estimate: float
    interval: Interval
    estimand: str
    share: float
    row_bound: Interval | None
    assumption: str
    n_events: int
    n_units: int
    n_clusters: int
    event_clusters: int
    event_free_clusters: int
    full_clusters: int
    warnings: tuple[HealthWarning, ...] = ()

    @property
    def method(self) -> str:
        """How the interval was computed."""
        return self.interval.method

    @property
    def row_interval(self) -> Interval:
        """The interval for the share of units, by whichever method: `row_bound` where there is one."""
        return self.interval if self.row_bound is None else self.row_bound


def clustered_rate(
    events: ArrayLike, units: ArrayLike, *, rng: np.random.Generator, level: float = 0.95, replicates: int = 5000
) -> RateEstimate | NotApplicable:
    """Return the share of units with an event, with an interval over clusters chosen by this rule.

    Clusters without units leave first. Then, for Q clusters:

    1. Fewer than 5 clusters with any event: exact bounds on the *share of clusters with any event* (one-sided with no
       event at all: 1 - (1 - level)^(1/Q)). Fewer than 5 clusters with any event-free unit: the mirror image, exact
       bounds on the *share of clusters whose every unit has the event*. If both hold, the rarer side; in a tie, events.
    2. Else below 40 clusters: cluster t, clipped to [0, 1].
    3. Else: percentile bootstrap of clusters.

    An exact interval is not about the share of units and need not contain it: 4 of 200 clusters with one event each
    among 8 units give the interval [.0055, .0504] around .02, and the share of units is .0025. So beside it stands
    `row_bound`. Let a population of clusters hold N_mean units on average and at most N_max, and let s be its share of
    clusters with any event. A cluster with any has 1 to N_max events, so the share of units with it lies in
    [s/N_mean, min(1, s N_max/N_mean)]; the ends of the interval for s go in for s, the observed N for the population's.
    It always contains the estimate. The mirror image bounds the share of event-free units.

    A cluster with events and event-free units counts on both sides: the rule is symmetric, and a rate of one half
    spread over all clusters, so that none is free of events, is left to the bootstrap, which handles it well.

    Args:
        events: Units with the event per cluster, whole numbers, (Q,), at most `units`. Sort clusters by key first: the
            bootstrap draws by position.
        units: Units per cluster, whole numbers, (Q,).
        rng: Source of the bootstrap's draws; untouched by the other methods.
        level: Confidence level, strictly between 0 and 1.
        replicates: Bootstrap replicates.

    Returns:
        The estimate, or `NotApplicable` (reason starts with `no-units`) when no cluster has a unit.

    Raises:
        InputError: Counts are not whole, negative, or more events than units; or an argument is out of its range.

    Source:
        See `exact_interval`, `cluster_t_interval` and `cluster_ratio_interval`. The thresholds are ours, but for 5,000
        replicates and the bound at zero events.
    """
    y, n = columns(events, units)
    if y.shape[1] != 1:
        raise InputError(f"`clustered_rate` takes one column, not {y.shape[1]}; `clustered_rates` takes more")
    return clustered_rates(y, n, rng=rng, level=level, replicates=replicates)[0]


def clustered_rates(
    events: ArrayLike, units: ArrayLike, *, rng: np.random.Generator, level: float = 0.95, replicates: int = 5000
) -> tuple[RateEstimate | NotApplicable, ...]:
    """Return `clustered_rate` of every column, (Q, A) in and A out; columns over the same clusters share one bootstrap.

    Column a is what column a alone gives with a generator in the same state, whatever the other columns are.

    Args:
        events: Whole numbers, (Q, A).
        units: Whole numbers, (Q, A); columns may differ in which clusters have units.
        rng: Source of the bootstrap's draws.
        level: Confidence level, strictly between 0 and 1.
        replicates: Bootstrap replicates.

    Raises:
        InputError: As for `clustered_rate`.
    """
    y, n = columns(events, units)
    _check_counts(y, n)
    check_level(level)
    rates: list[RateEstimate | NotApplicable | None] = [
        _without_resampling(y[:, column], n[:, column], level) for column in range(y.shape[1])
    ]
    groups: dict[bytes, list[int]] = {}
    for column, rate in enumerate(rates):
        if rate is None:
            groups.setdefault((n[:, column] > 0).tobytes(), []).append(column)
    start = copy.deepcopy(rng)
    for number, group in enumerate(groups.values(), 1):
        # Each group reads the stream from its start, and the last one moves the caller's generator on.
        source = rng if number == len(groups) else copy.deepcopy(start)
        ratios = cluster_ratio_intervals(y[:, group], n[:, group], rng=source, level=level, replicates=replicates)
        for column, ratio in zip(group, ratios, strict=True):
            rates[column] = _of_units(_Counts.of(y[:, column], n[:, column]), ratio.interval)
    return tuple(rate for rate in rates if rate is not None)


@dataclass(frozen=True, slots=True)
class _Counts:
    events: int
    units: int
    clusters: int
    any_event: int
    full: int
    largest: int

    @classmethod
    def of(cls, y: NDArray[np.float64], n: NDArray[np.float64]) -> _Counts:
        present = n > 0
        return cls(
            events=int(y.sum()),
            units=int(n.sum()),
            clusters=int(present.sum()),
            any_event=int((y > 0).sum()),
            full=int((present & (y == n)).sum()),
            largest=int(n.max()),
        )

    @property
    def any_event_free(self) -> int:
        return self.clusters - self.full


def _without_resampling(
    y: NDArray[np.float64], n: NDArray[np.float64], level: float
) -> RateEstimate | NotApplicable | None:
    """Return the rate where the rule needs no bootstrap, else None."""
    if not n.any():
        return NotApplicable("no-units: no cluster has an eligible unit")
    counts = _Counts.of(y, n)
    if min(counts.any_event, counts.any_event_free) < RARE:
        return _over_clusters(counts, level)
    if counts.clusters < T_BELOW:
        return _of_units(counts, cluster_t_interval(y, n, level=level, proportion=True).interval)
    return None


def _of_units(counts: _Counts, interval: Interval) -> RateEstimate:
    estimate = counts.events / counts.units
    return _rate(counts, interval, SHARE_OF_UNITS, estimate, None)


def _over_clusters(counts: _Counts, level: float) -> RateEstimate:
    mirrored = counts.any_event_free < counts.any_event
    rare = counts.any_event_free if mirrored else counts.any_event
    interval = exact_interval(rare, counts.clusters, level=level, sided="upper" if rare == 0 else "two")
    mean = counts.units / counts.clusters
    bound = replace(
        interval,
        lower=interval.lower / mean,
        upper=min(1.0, interval.upper * counts.largest / mean),
        method=f"{interval.method} over clusters, times {counts.largest} units at most / {mean:.4g} on average",
    )
    interval = replace(interval, method=f"{interval.method} over clusters")
    if mirrored:
        return _rate(counts, _mirror(interval), SHARE_FULL, counts.full / counts.clusters, _mirror(bound))
    return _rate(counts, interval, SHARE_OF_CLUSTERS, counts.any_event / counts.clusters, bound)


def _mirror(interval: Interval) -> Interval:
    sided = {"two": "two", "upper": "lower", "lower": "upper"}[interval.sided]
    return replace(interval, lower=1 - interval.upper, upper=1 - interval.lower, sided=sided)


def _rate(counts: _Counts, interval: Interval, estimand: str, share: float, row_bound: Interval | None) -> RateEstimate:
    assumption = ""
    if row_bound is not None:
        mean = counts.units / counts.clusters
        assumption = (
            f"clusters of the population hold at most {counts.largest} units and {mean:.4g} on average, "
            "as the observed ones do"
        )
    return RateEstimate(
        estimate=counts.events / counts.units,
        interval=interval,
        estimand=estimand,
        share=share,
        row_bound=row_bound,
        assumption=assumption,
        n_events=counts.events,
        n_units=counts.units,
        n_clusters=counts.clusters,
        event_clusters=counts.any_event,
        event_free_clusters=counts.clusters - counts.any_event,
        full_clusters=counts.full,
        warnings=_warnings(counts, interval),
    )


def _warnings(counts: _Counts, interval: Interval) -> tuple[HealthWarning, ...]:
    warnings: list[HealthWarning] = []
    if counts.clusters < FEW:
        plural = "" if counts.clusters == 1 else "s"
        warnings.append(
            HealthWarning(
                "few-clusters",
                f"{counts.clusters} cluster{plural} only (fewer than {FEW}); rows of one cluster do not add clusters",
            )
        )
    if interval.upper - interval.lower < 1e-12:
        warnings.append(
            HealthWarning(
                "degenerate-interval",
                "every cluster has the same share, so the interval has no width; this is no evidence of precision",
                blocking=True,
            )
        )
    return tuple(warnings)


def _check_counts(y: NDArray[np.float64], n: NDArray[np.float64]) -> None:
    if (y != np.floor(y)).any() or (n != np.floor(n)).any():
        raise InputError("events and units of a rate are whole numbers; for a mean of scores use the ratio estimators")
    if (y < 0).any() or (y > n).any():
        raise InputError("a cluster has fewer than 0 events, or more events than units")
