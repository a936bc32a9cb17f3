"""Laws of exact intervals and of the rule for a rate."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from counterproof.stats import RateEstimate, cluster_t_interval, clustered_rate, exact_interval

levels = st.floats(0.5, 0.999)
cluster = st.integers(0, 9).flatmap(lambda units: st.tuples(st.integers(0, units), st.just(units)))
clusters = st.lists(cluster, min_size=1, max_size=60).filter(lambda pairs: any(units for _, units in pairs))


def rate(pairs: list[tuple[int, int]]) -> RateEstimate:
    events, units = zip(*pairs, strict=True)
    result = clustered_rate(events, units, rng=np.random.default_rng(0), replicates=50)
    assert isinstance(result, RateEstimate)
    return result


@given(st.integers(1, 400), st.data(), levels)
def test_exact_interval_contains_the_share_and_nests_with_the_level(
    trials: int, data: st.DataObject, level: float
) -> None:
    events = data.draw(st.integers(0, trials))
    interval, wider = exact_interval(events, trials, level=level), exact_interval(events, trials, level=(1 + level) / 2)
    assert 0 <= wider.lower <= interval.lower <= events / trials <= interval.upper <= wider.upper <= 1


@given(st.integers(1, 400), st.data(), levels, st.sampled_from(["two", "upper", "lower"]))
def test_exact_ends_rise_with_events(trials: int, data: st.DataObject, level: float, sided: str) -> None:
    events = data.draw(st.integers(0, trials - 1))
    fewer = exact_interval(events, trials, level=level, sided=sided)  # type: ignore[arg-type]  # sampled literals
    more = exact_interval(events + 1, trials, level=level, sided=sided)  # type: ignore[arg-type]  # sampled literals
    assert fewer.lower <= more.lower
    assert fewer.upper <= more.upper


@given(st.integers(1, 400), st.data(), levels)
def test_exact_interval_of_the_complement_is_mirrored(trials: int, data: st.DataObject, level: float) -> None:
    events = data.draw(st.integers(0, trials))
    interval = exact_interval(events, trials, level=level)
    mirrored = exact_interval(trials - events, trials, level=level)
    assert interval.lower == pytest.approx(1 - mirrored.upper, abs=1e-12)


@given(clusters)
def test_interval_is_about_the_share_and_the_bound_about_the_estimate(pairs: list[tuple[int, int]]) -> None:
    result = rate(pairs)
    bounds = result.row_interval
    assert 0 <= result.interval.lower <= result.interval.upper <= 1
    assert 0 <= bounds.lower <= bounds.upper <= 1
    if not result.method.startswith("cluster bootstrap"):  # percentiles of a finite number of replicates may miss it
        assert result.interval.lower - 1e-12 <= result.share <= result.interval.upper + 1e-12
        assert bounds.lower - 1e-12 <= result.estimate <= bounds.upper + 1e-12


@given(clusters)
def test_counts_add_up(pairs: list[tuple[int, int]]) -> None:
    result = rate(pairs)
    assert result.event_clusters + result.event_free_clusters == result.n_clusters
    assert result.full_clusters <= result.event_clusters
    assert result.n_units == sum(units for _, units in pairs)
    assert result.estimate == result.n_events / result.n_units


@given(clusters)
def test_complement_mirrors_the_interval(pairs: list[tuple[int, int]]) -> None:
    result = rate(pairs)
    assume(result.event_clusters != result.n_clusters - result.full_clusters)  # a tie is read from the side of events
    mirrored = rate([(units - events, units) for events, units in pairs])
    assert result.row_interval.lower == pytest.approx(1 - mirrored.row_interval.upper, abs=1e-9)
    assert result.row_interval.upper == pytest.approx(1 - mirrored.row_interval.lower, abs=1e-9)


@given(clusters, st.randoms(use_true_random=False))
def test_order_of_clusters_matters_to_the_bootstrap_only(pairs: list[tuple[int, int]], random: object) -> None:
    shuffled = list(pairs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # Hypothesis types it loosely
    result, again = rate(pairs), rate(shuffled)
    assert again.method == result.method
    assert again.estimate == result.estimate
    if not result.method.startswith("cluster bootstrap"):
        assert again.interval.lower == pytest.approx(result.interval.lower, abs=1e-12)
        assert again.interval.upper == pytest.approx(result.interval.upper, abs=1e-12)


@given(clusters, st.data())
def test_one_more_event_never_lowers_the_estimate(pairs: list[tuple[int, int]], data: st.DataObject) -> None:
    room = [index for index, (events, units) in enumerate(pairs) if events < units]
    assume(room)
    index = data.draw(st.sampled_from(room))
    more = list(pairs)
    more[index] = (pairs[index][0] + 1, pairs[index][1])
    before, after = rate(pairs), rate(more)
    assert before.estimate < after.estimate
    if before.estimand == after.estimand == "share of clusters with any event":
        assert before.interval.upper <= after.interval.upper + 1e-12 or before.interval.sided != after.interval.sided


@given(st.lists(st.tuples(st.floats(-5, 5), st.integers(1, 9)), min_size=2, max_size=40), st.floats(-3, 3))
def test_t_interval_moves_with_a_shift_of_every_unit(pairs: list[tuple[float, int]], shift: float) -> None:
    sums, units = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    moved = cluster_t_interval(sums + shift * units, units).interval
    plain = cluster_t_interval(sums, units).interval
    assert moved.lower == pytest.approx(plain.lower + shift, abs=1e-6)
    assert moved.upper == pytest.approx(plain.upper + shift, abs=1e-6)
