"""The cluster bootstrap against a closed form, a loop and scipy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.stats import (
    cluster_ratio_interval,
    cluster_ratio_intervals,
    cluster_weights,
    resampled_ratios,
    resampled_sums,
)


def naive_ratios(events: Any, units: Any, rng: np.random.Generator, replicates: int) -> list[float]:
    """Resample clusters by index, one replicate at a time, and add up their rows in whole numbers."""
    kept = [(int(y), int(n)) for y, n in zip(events, units, strict=True) if n > 0]
    ratios = []
    for picks in rng.integers(0, len(kept), size=(replicates, len(kept))).tolist():
        ratios.append(sum(kept[i][0] for i in picks) / sum(kept[i][1] for i in picks))
    return ratios


def sample(clusters: int, seed: int = 7) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    units = rng.integers(1, 9, clusters)
    return rng.binomial(units, 0.3), units


def test_equals_resampling_rows_by_index_with_the_same_generator() -> None:
    events, units = sample(23)
    expected = naive_ratios(events, units, np.random.default_rng(3), 200)
    ours = resampled_ratios(events, units, rng=np.random.default_rng(3), replicates=200)
    assert ours[:, 0].tolist() == expected


def test_large_sums_that_do_not_pack_are_the_same() -> None:
    # Sums beyond 2^31 take the matrix product; still whole numbers below 2^53, still exact.
    events, units = sample(23)
    big = resampled_ratios(events * 2**40, units * 2**40, rng=np.random.default_rng(3), replicates=50)
    assert big[:, 0].tolist() == naive_ratios(events, units, np.random.default_rng(3), 50)


def test_real_and_negative_sums_are_taken_as_they_are() -> None:
    events = np.array([0.25, -0.5, 1.75, 0.0])
    units = np.array([1.0, 2.0, 0.5, 3.0])
    ratios = resampled_ratios(events, units, rng=np.random.default_rng(1), replicates=100)[:, 0]
    picks = np.random.default_rng(1).integers(0, 4, size=(100, 4))
    np.testing.assert_allclose(ratios, events[picks].sum(axis=1) / units[picks].sum(axis=1), rtol=1e-13)


def test_equals_scipy_on_the_same_statistic() -> None:
    from scipy.stats import bootstrap

    events, units = sample(60)
    theirs = bootstrap(
        (events.astype(float), units.astype(float)),
        lambda y, n, axis=-1: y.sum(axis=axis) / n.sum(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=1000,
        method="percentile",
        rng=np.random.default_rng(11),
    ).confidence_interval
    ours = cluster_ratio_interval(events, units, rng=np.random.default_rng(11), replicates=1000).interval
    assert ours.lower == pytest.approx(theirs.low, rel=1e-12)
    assert ours.upper == pytest.approx(theirs.high, rel=1e-12)


def test_ends_approach_the_binomial_quantiles_of_single_unit_clusters() -> None:
    # One unit per cluster, k = 20 of Q = 50: a replicate's sum is Bin(50, .4) exactly. Its .025 and .975 quantiles are
    # 13 and 27 (P(X <= 12) = .0133 < .025 <= P(X <= 13) = .0280; P(X <= 26) = .9686 < .975 <= P(X <= 27) = .9840).
    # The nearest of these tails is .0029 away: 3.7 standard deviations sqrt(.025 * .975 / 40,000) of a replicate share.
    cumulative = np.cumsum([math.comb(50, k) * 0.4**k * 0.6 ** (50 - k) for k in range(51)])
    assert cumulative[12] < 0.025 - 0.0029 < 0.025 + 0.0029 < cumulative[13]
    assert cumulative[26] < 0.975 - 0.0029 < 0.975 + 0.0029 < cumulative[27]
    events = np.r_[np.ones(20), np.zeros(30)]
    result = cluster_ratio_interval(events, np.ones(50), rng=np.random.default_rng(5), replicates=40_000)
    assert result.estimate == 0.4
    assert result.interval.lower == pytest.approx(13 / 50)
    assert result.interval.upper == pytest.approx(27 / 50)


@pytest.mark.parametrize("block", [1, 7, 64, 1 << 20])
@pytest.mark.parametrize("columns", [1, 3])
def test_block_size_changes_nothing(block: int, columns: int) -> None:
    events, units = sample(13)
    y, n = np.tile(events[:, None], columns), np.tile(units[:, None], columns)
    whole = resampled_ratios(y, n, rng=np.random.default_rng(2), replicates=101)
    blocks = resampled_ratios(y, n, rng=np.random.default_rng(2), replicates=101, block=block)
    assert np.array_equal(whole, blocks)


@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64])
def test_blocks_concatenate_for_every_kind_of_generator(kind: Any) -> None:
    events, units = sample(13)
    whole = resampled_ratios(events, units, rng=np.random.Generator(kind(2)), replicates=51)
    blocks = resampled_ratios(events, units, rng=np.random.Generator(kind(2)), replicates=51, block=13)
    assert np.array_equal(whole, blocks)


def test_each_column_is_what_it_gives_alone() -> None:
    events, units = sample(41)
    y, n = np.stack([events, units - events, units], axis=1), np.stack([units, units, 2 * units], axis=1)
    together = cluster_ratio_intervals(y, n, rng=np.random.default_rng(4), replicates=300)
    alone = tuple(
        cluster_ratio_interval(y[:, a], n[:, a], rng=np.random.default_rng(4), replicates=300) for a in range(3)
    )
    assert together == alone


def test_clusters_without_units_leave_before_resampling() -> None:
    events, units = sample(20)
    with_empty = cluster_ratio_interval(
        np.insert(events, 5, 0), np.insert(units, 5, 0), rng=np.random.default_rng(1), replicates=100
    )
    assert with_empty == cluster_ratio_interval(events, units, rng=np.random.default_rng(1), replicates=100)
    assert with_empty.n_clusters == 20


def test_columns_over_different_clusters_are_refused() -> None:
    with pytest.raises(InputError, match="differ in which clusters"):
        cluster_ratio_intervals([[1, 0], [1, 1]], [[1, 0], [1, 1]], rng=np.random.default_rng(0))


@pytest.mark.parametrize(("replicates", "block"), [(0, 8), (8, 0)])
def test_sizes_below_one_are_refused(replicates: int, block: int) -> None:
    with pytest.raises(InputError, match="at least 1"):
        resampled_ratios([1], [1], rng=np.random.default_rng(0), replicates=replicates, block=block)


def weights(profile: Any, seed: int, replicates: int, **settings: int) -> NDArray[np.float64]:
    result = np.empty((replicates, max(profile) + 1))
    for rows, block in cluster_weights(profile, rng=np.random.default_rng(seed), replicates=replicates, **settings):
        result[rows] = block
    return result


@pytest.mark.parametrize("block", [1, 50, 1 << 20])
def test_weights_count_the_drawn_indices(block: int) -> None:
    picks = np.random.default_rng(8).integers(0, 17, size=(40, 17))
    expected = np.array([np.bincount(row, minlength=17) for row in picks])
    assert np.array_equal(weights(np.arange(17), 8, 40, block=block), expected)


def test_sums_are_sums_of_rows_drawn_by_index() -> None:
    values = np.random.default_rng(1).integers(0, 9, (17, 5))
    picks = np.random.default_rng(8).integers(0, 17, size=(40, 17))
    sums = resampled_sums(values, rng=np.random.default_rng(8), replicates=40)
    assert np.array_equal(sums, values[picks].sum(axis=1))


def test_profiles_draw_the_clusters_that_they_stand_for() -> None:
    # The weights of profiles are those of their clusters, added up: the same draws, whatever the profiles are.
    profile = np.array([0, 2, 0, 1, 2, 2, 0, 2, 2])
    alone, together = weights(np.arange(9), 8, 40), weights(profile, 8, 40)
    assert np.array_equal(together, np.stack([alone[:, profile == d].sum(1) for d in range(3)], axis=1))


def test_many_equal_clusters_are_drawn_as_a_multinomial() -> None:
    # 6,000 clusters in two profiles: weights are Bin(6000, .25), mean 1500, variance 1125. Over 2,000 replicates the
    # mean has a standard deviation of .75, the variance one of about 1125 sqrt(2/2000) = 35.6; four of each.
    drawn = weights(np.repeat([0, 1], [1500, 4500]), 3, 2000)
    assert (drawn.sum(axis=1) == 6000).all()
    assert abs(drawn[:, 0].mean() - 1500) < 4 * 0.75
    assert abs(drawn[:, 0].var() - 1125) < 4 * 35.6


@pytest.mark.parametrize("bad", [[], [-1, 0], [0.0], [[0]], [0, 2]])
def test_profiles_are_numbered_without_gaps(bad: Any) -> None:
    with pytest.raises(InputError, match="profile"):
        next(cluster_weights(bad, rng=np.random.default_rng(0)))


def test_sums_need_clusters_and_finite_values() -> None:
    with pytest.raises(InputError, match="at least one cluster"):
        resampled_sums(np.empty((0, 2)), rng=np.random.default_rng(0))
    with pytest.raises(InputError, match="NaN"):
        resampled_sums([[math.nan]], rng=np.random.default_rng(0))
    with pytest.raises(InputError, match="at least 1"):
        resampled_sums([[1.0]], rng=np.random.default_rng(0), replicates=0)
