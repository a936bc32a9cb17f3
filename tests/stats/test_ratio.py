"""The linearised t interval by hand, and its coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.stats import cluster_t_interval


def test_interval_by_hand() -> None:
    # y = (1, 0, 3), n = (2, 2, 4): R = 1/2, e = (0, -1, 1), sum e^2 = 2, N = 8,
    # se = sqrt(3/2 * 2 / 64) = sqrt(3)/8. With 2 df the t quantile is (2p - 1)/sqrt(2p(1 - p)): 4.302653 at p = .975.
    result = cluster_t_interval([1, 0, 3], [2, 2, 4])
    half = 0.95 / math.sqrt(2 * 0.975 * 0.025) * math.sqrt(3) / 8
    assert result.estimate == 0.5
    assert result.n_clusters == 3
    assert result.interval.lower == pytest.approx(0.5 - half, rel=1e-12)
    assert result.interval.upper == pytest.approx(0.5 + half, rel=1e-12)
    assert result.interval.method == "cluster t, 2 df"


def test_equal_sizes_give_the_textbook_t_interval_of_the_mean() -> None:
    # n_q = 1: R is the mean and se = s/sqrt(Q). Values 1..5: s^2 = 2.5, t(.975; 4 df) = 2.776445.
    result = cluster_t_interval([1, 2, 3, 4, 5], [1] * 5)
    half = 2.776445105198 * math.sqrt(2.5 / 5)
    assert result.interval.lower == pytest.approx(3 - half, rel=1e-12)
    assert result.interval.upper == pytest.approx(3 + half, rel=1e-12)


def test_two_clusters_use_the_cauchy_quantile() -> None:
    # One degree of freedom: t(.975) = tan(.475 pi). Values 0 and 1: s/sqrt(2) = 1/2.
    half = math.tan(0.475 * math.pi) / 2
    assert cluster_t_interval([0, 1], [1, 1]).interval.upper == pytest.approx(0.5 + half, rel=1e-9)


def test_ends_are_clipped_only_where_it_is_a_proportion() -> None:
    free = cluster_t_interval([0, 1], [1, 1]).interval
    clipped = cluster_t_interval([0, 1], [1, 1], proportion=True).interval
    assert free.lower < 0 < 1 < free.upper
    assert (clipped.lower, clipped.upper) == (0.0, 1.0)


def test_clusters_without_units_leave() -> None:
    assert cluster_t_interval([1, 0, 0, 3], [2, 2, 0, 4]) == cluster_t_interval([1, 0, 3], [2, 2, 4])


def test_one_cluster_has_no_t_interval() -> None:
    with pytest.raises(InputError, match="at least two"):
        cluster_t_interval([1, 0], [2, 0])


@pytest.mark.parametrize(
    ("events", "units", "message"),
    [
        ([1, 2], [1], "shape"),
        ([float("nan")], [1], "NaN"),
        ([1], [-1], "negative"),
        ([0, 0], [0, 0], "no cluster has any unit"),
        ([[[1]]], [[[1]]], "shape"),
    ],
)
def test_unusable_sums_are_refused(events: list[float], units: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        cluster_t_interval(events, units)


@pytest.mark.parametrize("clusters", [8, 30])
def test_normal_clusters_are_covered_at_the_stated_rate(clusters: int) -> None:
    # Equal sizes and normal sums: the interval is exactly Student's, so misses are Bin(2000, .05); four standard
    # deviations of that are 2000 * .05 +- 4 sqrt(2000 * .05 * .95) = 100 +- 39.
    rng = np.random.default_rng(20_240_501)
    runs = 2000
    misses = 0
    for sums in rng.normal(3.0, 1.0, size=(runs, clusters)):
        interval = cluster_t_interval(sums, np.ones(clusters)).interval
        misses += not interval.lower <= 3.0 <= interval.upper
    assert abs(misses - 0.05 * runs) <= 4 * math.sqrt(runs * 0.05 * 0.95)
