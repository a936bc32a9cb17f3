"""Paired differences over clusters against index resampling and the formulas by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.core.outcomes import NotApplicable
from counterproof.stats import (
    RatioEstimate,
    cluster_t_interval,
    paired_difference,
    paired_differences,
    percentile_interval,
)


def test_difference_of_balanced_accuracies_by_hand() -> None:
    # Class 0: 3 of 4 against 2 of 4; class 1: 1 of 2 against 1 of 2. Mean of .25 and 0.
    first, second, units = [[2, 1], [1, 0]], [[1, 0], [1, 1]], [[2, 1], [2, 1]]
    result = paired_difference(first, second, units, rng=np.random.default_rng(0))
    assert isinstance(result, RatioEstimate)
    assert result.estimate == pytest.approx(0.125)
    # Linearised by cluster: class 0 (1 - .25*2)/4 and (0 - .5)/4, class 1 (1 - 0)/2 and -1/2; means .3125 and -.3125.
    # se = sqrt(2/1 * 2 * .3125^2); t(1) at .975 is 12.7062.
    half = 12.7062047 * 0.3125 * 2
    assert result.interval.upper == pytest.approx(0.125 + half)
    assert result.interval.lower == pytest.approx(0.125 - half)


def test_few_clusters_with_one_group_are_the_cluster_t_of_the_difference() -> None:
    rng = np.random.default_rng(2)
    units = rng.integers(1, 9, 20)
    x, y = rng.binomial(units, 0.6), rng.binomial(units, 0.5)
    ours = paired_difference(x, y, units, rng=rng)
    theirs = cluster_t_interval(x - y, units)
    assert isinstance(ours, RatioEstimate)
    assert ours.interval.lower == pytest.approx(theirs.interval.lower)
    assert ours.interval.upper == pytest.approx(theirs.interval.upper)


def test_many_clusters_equal_index_resampling() -> None:
    rng = np.random.default_rng(2)
    units = rng.integers(1, 9, (60, 2))
    x, y = rng.binomial(units, 0.6), rng.binomial(units, 0.5)
    ours = paired_difference(x, y, units, rng=np.random.default_rng(9), replicates=400)
    picks = np.random.default_rng(9).integers(0, 60, (400, 60))
    ratios = [((x - y)[i].sum(0) / units[i].sum(0)).mean() for i in picks]
    lower, upper = np.quantile(ratios, [0.025, 0.975])
    assert isinstance(ours, RatioEstimate)
    assert ours.interval.lower == pytest.approx(lower)
    assert ours.interval.upper == pytest.approx(upper)


def test_comparisons_share_their_resamples() -> None:
    rng = np.random.default_rng(5)
    units = np.ones((50, 300, 1))
    d = rng.integers(-1, 2, (50, 300, 1)).astype(float)
    d[:, 299] = d[:, 0]
    results = paired_differences(d, units, rng=np.random.default_rng(1), replicates=50)
    assert results[0] == results[299]


def test_reasons_why_there_is_no_difference() -> None:
    rng = np.random.default_rng(0)
    empty = paired_difference([[1, 0]], [[0, 0]], [[1, 0]], rng=rng)
    assert isinstance(empty, NotApplicable)
    assert empty.reason.startswith("no-units")
    single = paired_difference([1], [0], [2], rng=rng)
    assert isinstance(single, NotApplicable)
    assert single.reason.startswith("few-clusters")
    # One cluster of 50 holds the second class: 36 % of resamples, (49/50)^50, lack it.
    units = np.c_[np.ones(50), np.r_[1, np.zeros(49)]]
    rare = paired_difference(units, np.zeros((50, 2)), units, rng=rng, replicates=500)
    assert isinstance(rare, NotApplicable)
    assert rare.reason.startswith("rare-group")


def test_shapes_must_fit() -> None:
    with pytest.raises(InputError):
        paired_difference([[1, 0]], [[1]], [[1, 1]], rng=np.random.default_rng(0))
    with pytest.raises(InputError, match="both must be"):
        paired_differences([[1.0]], [[1.0]], rng=np.random.default_rng(0))


def test_percentile_interval_shifts_and_leaves_out_what_is_undefined() -> None:
    values = np.arange(101.0)
    plain, moved = percentile_interval(values, level=0.9), percentile_interval(values, level=0.9, shift=2.0)
    assert plain is not None
    assert moved is not None
    assert [plain.lower, plain.upper] == pytest.approx([5.0, 95.0])
    assert [moved.lower, moved.upper] == pytest.approx([3.0, 93.0])
    assert "shifted" in moved.method
    few = np.r_[values, np.full(4, math.nan)]
    kept = percentile_interval(few, level=0.9)
    assert kept is not None
    assert [kept.lower, kept.upper] == pytest.approx([5.0, 95.0])
    assert percentile_interval(np.r_[values, np.full(20, math.nan)], level=0.9) is None
