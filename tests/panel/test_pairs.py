"""Pair tables and measures against loops over rows, and resampling against gathering rows by cluster."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from counterproof.panel.pairs import MEASURES, error_tables, pair_measures, pair_tables, resampled_measures


def drawn(
    n: int, k: int, classes: int, clusters: int, seed: int = 0
) -> tuple[NDArray[np.int8], NDArray[np.int8], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    symbols = rng.integers(-1, classes + 1, (n, k)).astype(np.int8)
    labels = rng.integers(-1, classes, n).astype(np.int8)
    owner = rng.permutation(np.r_[np.arange(clusters), rng.integers(0, clusters, n - clusters)])
    return symbols, labels, owner


def by_rows(symbols: NDArray[np.int8], labels: NDArray[np.int8], a: int, b: int, classes: int) -> NDArray[np.float64]:
    table = np.zeros((classes, classes, classes))
    for y, row in zip(labels.tolist(), symbols.tolist(), strict=True):
        if y >= 0 and 0 <= row[a] < classes and 0 <= row[b] < classes:
            table[y, row[a], row[b]] += 1
    return table


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("clusters", [9, 60])
def test_totals_count_the_items_on_which_both_gave_a_class(classes: int, clusters: int) -> None:
    symbols, labels, owner = drawn(60, 4, classes, clusters)
    tables = pair_tables(symbols, labels, owner.astype(np.intp), classes)
    assert tables.often.sum() == clusters
    assert tables.singletons == (clusters == 60)
    for (a, b), total in zip(tables.pairs.tolist(), tables.totals, strict=True):
        assert np.array_equal(total, by_rows(symbols, labels, a, b, classes))


def test_error_tables_hold_right_and_wrong_of_both() -> None:
    table = np.arange(27.0).reshape(3, 3, 3)
    expected = np.zeros((2, 2))
    for y, a, b in np.ndindex(3, 3, 3):
        expected[int(a != y), int(b != y)] += table[y, a, b]
    assert np.array_equal(error_tables(table), expected)


def test_measures_by_hand() -> None:
    # 20 items: class 0 with (a, b) counts [[6, 2], [1, 1]], class 1 with [[2, 1], [1, 6]].
    table = np.array([[[6, 2], [1, 1]], [[2, 1], [1, 6]]], dtype=np.float64)
    value = dict(zip(MEASURES, pair_measures(table).tolist(), strict=True))
    # Wrong together 1 + 2; a errs on 2 + 3, b on 3 + 3; either on 5 + 6 - 3 = 8. Differ: 2 + 1 + 1 + 1.
    assert value["error_overlap"] == pytest.approx(3 / 20)
    assert value["excess_overlap"] == pytest.approx(3 / 20 - 5 / 20 * 6 / 20)
    assert value["jaccard"] == pytest.approx(3 / 8)
    assert value["disagreement"] == pytest.approx(5 / 20)
    assert value["error_phi"] == pytest.approx((20 * 3 - 30) / math.sqrt(5 * 15 * 6 * 14))
    # Verdicts [[8, 3], [2, 7]]: margins 11/9 and 10/10; p_o = .75, p_e = .5.
    assert value["verdict_phi"] == pytest.approx((8 * 7 - 3 * 2) / math.sqrt(11 * 9 * 10 * 10))
    assert value["kappa"] == pytest.approx(0.5)


def test_a_constant_channel_defines_no_correlation_but_an_overlap() -> None:
    table = np.array([[[5, 3], [0, 0]], [[2, 6], [0, 0]]], dtype=np.float64)
    value = dict(zip(MEASURES, pair_measures(table).tolist(), strict=True))
    assert math.isnan(value["verdict_phi"])
    assert value["error_overlap"] == pytest.approx(2 / 16)
    assert value["mutual_information"] == 0.0


@pytest.mark.parametrize("clusters", [9, 60])
def test_replicates_equal_rows_gathered_by_cluster(clusters: int) -> None:
    # One row a cluster (60 of 60) is the row bootstrap; equal rows share a profile, which changes no draw.
    classes, replicates = 2, 25
    symbols, labels, owner = drawn(60, 4, classes, clusters)
    tables = pair_tables(symbols, labels, owner.astype(np.intp), classes)
    assert (len(tables.often) < clusters) == (clusters == 60)
    ours = resampled_measures(tables, rng=np.random.default_rng(4), replicates=replicates)
    picks = np.random.default_rng(4).integers(0, clusters, (replicates, clusters))
    for b, index in enumerate(picks):
        rows = np.concatenate([np.flatnonzero(owner == cluster) for cluster in index])
        expected = pair_measures(by_rows(symbols[rows], labels[rows], 0, 2, classes))
        np.testing.assert_allclose(ours[b, 1], expected, atol=1e-12)


def test_parts_of_the_pairs_see_the_same_resamples() -> None:
    symbols, labels, owner = drawn(60, 4, 2, 12)
    tables = pair_tables(symbols, labels, owner.astype(np.intp), 2)
    whole = resampled_measures(tables, rng=np.random.default_rng(4), replicates=30)
    part = resampled_measures(tables.some(slice(2, 5)), rng=np.random.default_rng(4), replicates=30)
    np.testing.assert_array_equal(part, whole[:, 2:5])


def test_counts_by_cluster_add_up() -> None:
    symbols, labels, owner = drawn(60, 4, 2, 12)
    tables = pair_tables(symbols, labels, owner.astype(np.intp), 2)
    assert np.array_equal(tables.per_cluster().sum(axis=0), tables.totals)
