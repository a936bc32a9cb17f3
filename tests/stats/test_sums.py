"""Sums by cluster: by hand, growth and refusals (laws of merging: tests/laws)."""

from __future__ import annotations

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.stats import ClusterSums


def test_rows_of_one_key_add_up_and_keys_come_sorted() -> None:
    sums = ClusterSums(2)
    sums.add(["b", "a", "b"], [[1, 2], [0, 5], [1, 3]])
    sums.add(["a"], [[1, 1]])
    assert sums.keys() == ("a", "b")
    assert sums.table().tolist() == [[1, 6], [2, 5]]
    assert len(sums) == 2
    assert sums.width == 2


def test_merge_leaves_both_parts_alone() -> None:
    left, right = ClusterSums(1), ClusterSums(1)
    left.add(["a"], [[1]])
    right.add(["a", "b"], [[2], [3]])
    merged = left.merge(right)
    assert merged.table().tolist() == [[3], [3]]
    assert left.table().tolist() == [[1]]
    assert right.table().tolist() == [[2], [3]]


def test_memory_follows_clusters_not_rows() -> None:
    sums = ClusterSums(3)
    for start in range(0, 5000, 500):
        sums.add([f"q{row % 40:02d}" for row in range(start, start + 500)], np.ones((500, 3), dtype=bool))
    assert len(sums) == 40
    assert sums.table().sum(axis=0).tolist() == [5000, 5000, 5000]
    assert sums._sums.shape[0] <= 80  # doubling never more than twice what is needed


def test_an_empty_batch_changes_nothing() -> None:
    sums = ClusterSums(2)
    sums.add([], np.empty((0, 2)))
    assert sums.table().shape == (0, 2)
    assert sums == ClusterSums(2)


def test_the_table_is_a_copy() -> None:
    sums = ClusterSums(1)
    sums.add(["a"], [[1]])
    sums.table()[0, 0] = 99
    assert sums.table().tolist() == [[1]]


def test_other_types_are_unequal() -> None:
    assert ClusterSums(1) != 3


def test_fractions_are_refused_because_their_sum_depends_on_order() -> None:
    with pytest.raises(InputError, match="whole numbers"):
        ClusterSums(1).add(["a"], [[0.5]])


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(InputError, match=r"need \(1, 2\)"):
        ClusterSums(2).add(["a"], [[1]])
    with pytest.raises(InputError, match="at least one column"):
        ClusterSums(0)
    with pytest.raises(InputError):
        ClusterSums(1).merge(filled(2))


def filled(width: int) -> ClusterSums:
    sums = ClusterSums(width)
    sums.add(["a"], [[1] * width])
    return sums
