"""The decision rule for a rate: which interval, about what, with which warning; and its coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.core.outcomes import NotApplicable
from counterproof.stats import RateEstimate, clustered_rate, clustered_rates, exact_interval, resampled_ratios


def rate(events: list[int], units: list[int], seed: int = 0) -> RateEstimate:
    result = clustered_rate(events, units, rng=np.random.default_rng(seed), replicates=200)
    assert isinstance(result, RateEstimate)
    return result


def names(result: RateEstimate) -> list[tuple[str, bool]]:
    return [(warning.name, warning.blocking) for warning in result.warnings]


def test_zero_of_sixty_rows_in_twelve_questions_is_bounded_over_the_questions() -> None:
    # The bootstrap gives [0, 0] here; 1 - .05^(1/12) = .2209.
    assert (resampled_ratios([0] * 12, [5] * 12, rng=np.random.default_rng(0), replicates=50) == 0).all()
    result = rate([0] * 12, [5] * 12)
    assert result.estimate == result.share == 0.0
    assert result.estimand == "share of clusters with any event"
    assert (result.interval.lower, round(result.interval.upper, 4)) == (0.0, 0.2209)
    assert result.interval.sided == "upper"
    assert result.method == "Clopper-Pearson exact over clusters"
    assert (result.n_events, result.n_units, result.n_clusters) == (0, 60, 12)
    assert (result.event_clusters, result.event_free_clusters, result.full_clusters) == (0, 12, 0)
    assert names(result) == [("few-clusters", False)]


def test_bound_on_the_units_grows_with_uneven_clusters() -> None:
    # 60 units in 20 clusters, 9 at most: N_max / N_mean = 3, and 3 (1 - .05^(1/20)) = .4173; capped at 1 beyond that.
    uneven = rate([0] * 20, [9] + [3] * 13 + [2] * 6)
    assert uneven.row_bound is not None
    assert uneven.row_bound.upper == pytest.approx(3 * (1 - 0.05 ** (1 / 20)))
    assert round(uneven.row_bound.upper, 4) == 0.4173
    assert uneven.row_bound.lower == 0.0
    assert uneven.row_bound.sided == "upper"
    assert "at most 9 units and 3 on average" in uneven.assumption
    even = rate([0] * 12, [5] * 12)
    assert even.row_bound is not None
    assert even.row_bound.upper == pytest.approx(even.interval.upper)
    capped = rate([0, 0], [1, 9])
    assert capped.row_bound is not None
    assert capped.row_bound.upper == 1.0


def test_n_of_n_is_the_mirror_image_of_zero() -> None:
    zero, full = rate([0] * 12, [5] * 11 + [8]), rate([5] * 11 + [8], [5] * 11 + [8])
    assert full.estimate == full.share == 1.0
    assert full.estimand == "share of clusters whose every unit has the event"
    assert full.interval.sided == "lower"
    assert full.interval.upper == 1.0
    assert full.interval.lower == pytest.approx(0.05 ** (1 / 12))
    assert zero.row_bound is not None
    assert full.row_bound is not None
    assert full.row_bound.lower == pytest.approx(1 - zero.row_bound.upper)
    assert full.full_clusters == 12


def test_few_event_clusters_get_exact_bounds_on_the_share_of_clusters() -> None:
    # 4 of 200 clusters, one event among 8 units each: the share of units, 4/1600 = .0025, lies outside that interval
    # and inside the bound on units, [lower / 8, upper].
    result = rate([1] * 4 + [0] * 196, [8] * 200)
    exact = exact_interval(4, 200)
    assert (result.share, result.estimate) == (0.02, 0.0025)
    assert (result.interval.lower, result.interval.upper) == (exact.lower, exact.upper)
    assert result.estimate < result.interval.lower
    assert result.row_bound is not None
    assert (result.row_bound.lower, result.row_bound.upper) == pytest.approx((exact.lower / 8, exact.upper))
    assert result.row_interval is result.row_bound
    assert result.warnings == ()


def test_few_clusters_with_an_event_free_unit_get_the_mirrored_bounds() -> None:
    result = rate([7] * 4 + [8] * 196, [8] * 200)
    exact = exact_interval(196, 200)
    assert result.estimand == "share of clusters whose every unit has the event"
    assert result.share == 0.98
    assert (result.interval.lower, result.interval.upper) == pytest.approx((exact.lower, exact.upper))
    assert result.interval.sided == "two"
    assert result.row_bound is not None
    assert result.row_bound.lower <= result.estimate <= result.row_bound.upper


def test_five_clusters_on_both_sides_are_enough_for_cluster_t() -> None:
    result = rate([1] * 5 + [0] * 5, [1] * 10)
    assert result.method == "cluster t, 9 df"
    assert result.estimand == "share of units with the event"
    assert result.row_bound is None
    assert result.row_interval is result.interval
    assert result.share == result.estimate == 0.5
    # s^2 = 10/9 * 1/4; t(.975; 9 df) = 2.262157.
    assert result.interval.upper == pytest.approx(0.5 + 2.262157 * math.sqrt(10 / 9 / 4 / 10))
    assert rate([1] * 4 + [0] * 6, [1] * 10).method == "Clopper-Pearson exact over clusters"
    assert rate([1] * 6 + [0] * 4, [1] * 10).method == "Clopper-Pearson exact over clusters"


def test_events_in_every_cluster_but_not_in_every_unit_do_not_count_as_saturated() -> None:
    # Half of the units of every cluster or so: no cluster is free of events, yet the rate is far from 1.
    units = [8] * 60
    events = [3, 4, 5] * 20
    result = rate(events, units)
    assert result.event_free_clusters == 0
    assert result.method.startswith("cluster bootstrap")
    assert result.interval.lower < 0.5 < result.interval.upper < 0.6


@pytest.mark.parametrize(("clusters", "method"), [(39, "cluster t"), (40, "cluster bootstrap")])
def test_forty_clusters_are_enough_for_the_bootstrap(clusters: int, method: str) -> None:
    assert rate([1, 0, 2] * 13 + [1] * (clusters - 39), [2] * clusters).method.startswith(method)


@pytest.mark.parametrize(("clusters", "warned"), [(14, True), (15, False)])
def test_fewer_than_fifteen_clusters_are_named(clusters: int, warned: bool) -> None:
    result = rate([1, 0] * 7 + [0] * (clusters - 14), [1] * clusters)
    assert (("few-clusters", False) in names(result)) is warned


def test_one_cluster_is_called_one() -> None:
    (warning,) = rate([0], [3]).warnings
    assert warning.message.startswith("1 cluster only")


@pytest.mark.parametrize("clusters", [20, 50])
def test_an_interval_without_width_blocks(clusters: int) -> None:
    assert names(rate([1] * clusters, [2] * clusters)) == [("degenerate-interval", True)]


def test_clusters_without_units_leave_and_are_not_counted() -> None:
    assert rate([0, 1, 0, 0], [0, 2, 3, 0]) == rate([1, 0], [2, 3])


def test_nothing_eligible_is_not_applicable() -> None:
    for units in ([], [0, 0]):
        result = clustered_rate(units, units, rng=np.random.default_rng(0))
        assert isinstance(result, NotApplicable)
        assert result.reason.startswith("no-units")


def test_the_generator_moves_only_for_the_bootstrap() -> None:
    rng = np.random.default_rng(0)
    clustered_rate([0] * 50, [1] * 50, rng=rng)
    assert rng.random() == np.random.default_rng(0).random()
    rng, fresh = np.random.default_rng(0), np.random.default_rng(0)
    clustered_rate([1, 0] * 25, [1] * 50, rng=rng, replicates=10)
    fresh.integers(0, 50, size=(10, 50))
    assert rng.random() == fresh.random()


def test_each_column_is_what_it_gives_alone() -> None:
    data = np.random.default_rng(8)
    units = data.integers(1, 9, size=(60, 5))
    units[:15, 1] = 0  # 45 clusters: another bootstrap
    units[:50, 2] = 0  # 10 clusters: cluster t or exact
    units[:, 3] = 0
    events = data.binomial(units, 0.4)
    events[:, 4] = 0
    together = clustered_rates(events, units, rng=np.random.default_rng(1), replicates=100)
    alone = tuple(
        clustered_rate(events[:, a], units[:, a], rng=np.random.default_rng(1), replicates=100) for a in range(5)
    )
    assert together == alone
    assert isinstance(together[3], NotApplicable)


@pytest.mark.parametrize(
    ("events", "units", "message"),
    [
        ([0.5], [1], "whole numbers"),
        ([1], [1.5], "whole numbers"),
        ([2], [1], "more events than units"),
        ([-1], [1], "fewer than 0"),
        ([1, 1], [1], "shape"),
        ([[1, 1]], [[1, 1]], "one column"),
    ],
)
def test_unusable_counts_are_refused(events: list[float], units: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        clustered_rate(events, units, rng=np.random.default_rng(0))


def test_a_level_out_of_range_is_refused() -> None:
    with pytest.raises(InputError, match="level"):
        clustered_rate([0], [1], rng=np.random.default_rng(0), level=1.0)


RUNS = 1000
ICC = 0.2
SIZES = (2, 6)


def share_with_any_event(p: float, size: int) -> float:
    """1 - E[(1 - P)^size] for P ~ Beta(p m, (1 - p) m), m = (1 - icc)/icc: a product, by the beta-binomial law."""
    if p == 0:
        return 0.0
    m = (1 - ICC) / ICC
    return 1 - math.prod(((1 - p) * m + j) / (m + j) for j in range(size))


@pytest.mark.parametrize("clusters", [8, 12, 30])
@pytest.mark.parametrize("p", [0.0, 0.01, 0.1])
def test_interval_contains_truth_at_stated_rate(clusters: int, p: float) -> None:
    # Half of the clusters have 2 units, half 6; units of one cluster share a beta-distributed probability with mean p
    # (intraclass correlation .2), so the true share of units is p. Misses at the nominal level are at most
    # Bin(1000, .05): mean 50 plus four standard deviations, 4 sqrt(1000 * .05 * .95) = 27.6. Exact bounds are
    # conservative, so there is no lower limit.
    rng = np.random.default_rng(20_240_502)
    units = np.tile(np.resize(SIZES, clusters)[:, None], RUNS)
    m = (1 - ICC) / ICC
    probability = np.zeros(units.shape) if p == 0 else rng.beta(p * m, (1 - p) * m, units.shape)
    rates = clustered_rates(rng.binomial(units, probability), units, rng=rng)
    any_event = sum(share_with_any_event(p, size) for size in SIZES) / len(SIZES)
    row_misses = share_misses = 0
    for result in rates:
        assert isinstance(result, RateEstimate)
        row_misses += not result.row_interval.lower <= p <= result.row_interval.upper
        truth = any_event if result.estimand == "share of clusters with any event" else p
        share_misses += not result.interval.lower <= truth <= result.interval.upper
    allowed = 0.05 * RUNS + 4 * math.sqrt(RUNS * 0.05 * 0.95)
    assert row_misses <= allowed
    assert share_misses <= allowed
