"""Laws of the cluster bootstrap: sums per cluster = rows resampled by cluster, in any block, any column."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from counterproof.stats import resampled_ratios

cluster = st.integers(0, 6).flatmap(lambda units: st.lists(st.booleans(), min_size=units, max_size=units))
clusters = st.lists(cluster, min_size=1, max_size=12).filter(any)
seeds = st.integers(0, 2**32 - 1)


def by_rows(rows: list[list[bool]], seed: int, replicates: int) -> list[float]:
    """The slow obvious version: gather the rows of each drawn cluster, then divide events by rows."""
    kept = [cluster_rows for cluster_rows in rows if cluster_rows]
    picks = np.random.default_rng(seed).integers(0, len(kept), size=(replicates, len(kept)))
    ratios = []
    for replicate in picks.tolist():
        gathered = [row for index in replicate for row in kept[index]]
        ratios.append(sum(gathered) / len(gathered))
    return ratios


@given(clusters, seeds, st.integers(1, 40), st.integers(1, 3))
def test_sums_by_cluster_equal_resampled_rows(rows: list[list[bool]], seed: int, block: int, columns: int) -> None:
    events = np.array([[sum(cluster_rows)] * columns for cluster_rows in rows])
    units = np.array([[len(cluster_rows)] * columns for cluster_rows in rows])
    ratios = resampled_ratios(events, units, rng=np.random.default_rng(seed), replicates=9, block=block)
    expected = by_rows(rows, seed, 9)
    for column in range(columns):
        assert ratios[:, column].tolist() == expected


@given(clusters, seeds)
def test_one_more_event_never_lowers_a_replicate(rows: list[list[bool]], seed: int) -> None:
    units = np.array([len(cluster_rows) for cluster_rows in rows])
    events = np.array([sum(cluster_rows) for cluster_rows in rows])
    more = np.minimum(events + 1, units)
    before = resampled_ratios(events, units, rng=np.random.default_rng(seed), replicates=9)
    after = resampled_ratios(more, units, rng=np.random.default_rng(seed), replicates=9)
    assert (before <= after).all()
    assert ((before >= 0) & (after <= 1)).all()


@given(clusters, seeds, st.integers(2, 5))
def test_scaling_every_count_changes_nothing(rows: list[list[bool]], seed: int, factor: int) -> None:
    units = np.array([len(cluster_rows) for cluster_rows in rows])
    events = np.array([sum(cluster_rows) for cluster_rows in rows])
    plain = resampled_ratios(events, units, rng=np.random.default_rng(seed), replicates=9)
    scaled = resampled_ratios(events * factor, units * factor, rng=np.random.default_rng(seed), replicates=9)
    assert np.array_equal(plain, scaled)
