"""Verdict tables: everything that is wrong is said at once, and splits never cut a cluster."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterproof.core.errors import InputError
from counterproof.panel.table import Channel, FailureKind, Gold, VerdictTable, split_items
from tests.panel.verdicts import table_of


def test_all_problems_of_a_table_are_named_at_once() -> None:
    with pytest.raises(InputError) as caught:
        VerdictTable(
            items=("a", "a"),
            clusters=("a",),
            channels=(Channel("j", -1.0), Channel("j")),
            classes=("only",),
            symbols=np.zeros((2, 2), dtype=np.int64),
            kinds=np.full((2, 3), -1, dtype=np.int8),
        )
    assert [problem.where for problem in caught.value.problems] == [
        *("classes", "items", "channels", "channel j", "clusters", "symbols", "kinds")
    ]


@pytest.mark.parametrize("cost", [0.0, -1.0, float("nan"), float("inf")])
def test_a_cost_is_a_positive_number(cost: float) -> None:
    with pytest.raises(InputError, match="positive cost"):
        replace(table_of([[0], [1]]), channels=(Channel("j", cost),))


def test_codes_beyond_failure_and_failures_without_a_kind_are_refused() -> None:
    with pytest.raises(InputError, match=r"outside -1 \.\. 2"):
        replace(table_of([[0], [1]]), symbols=np.array([[3], [1]], dtype=np.int8))
    with pytest.raises(InputError, match="exactly where a call failed"):
        replace(table_of([[0], [1]]), symbols=np.array([[2], [1]], dtype=np.int8))


def test_failures_and_calls_never_made_are_told_apart() -> None:
    table = table_of([[0, 2], [-1, 1]])
    assert table.failure == 2
    assert table.kinds.tolist() == [[-1, FailureKind.UNSTATED], [-1, -1]]


def test_rows_and_columns_keep_the_order_asked_for() -> None:
    table = replace(table_of([[0, 1], [1, 2], [-1, 0]]), order=np.array([5, 6, 7]), seconds=np.ones((3, 2)))
    part = table.rows(np.array([2, 0])).columns([1, 0])
    assert (part.items, part.clusters) == (("i2", "i0"), ("i2", "i0"))
    assert [channel.name for channel in part.channels] == ["c1", "c0"]
    assert part.symbols.tolist() == [[0, -1], [1, 0]]
    assert part.order is not None
    assert part.order.tolist() == [7, 5]


def test_the_digest_sees_every_part_and_no_label() -> None:
    table = table_of([[0, 2], [1, 1]])
    others = (
        replace(table, items=("x", "i1")),
        replace(table, clusters=("x", "i1")),
        replace(table, channels=(Channel("c0", 2.0), Channel("c1"))),
        replace(table, classes=("a", "b")),
        replace(table, order=np.array([0, 1])),
        replace(table, kinds=np.array([[-1, 0], [-1, -1]], dtype=np.int8)),
        table.rows(np.array([1, 0])),
    )
    assert len({table.digest(), *(other.digest() for other in others)}) == 1 + len(others)
    assert table.digest() == table_of([[0, 2], [1, 1]]).digest()


def clustered(n: int, clusters: int, order: bool = True) -> VerdictTable:
    table = table_of(np.zeros((n, 1), dtype=np.int8))
    times = np.arange(n) if order else None
    return replace(table, clusters=tuple(f"q{i % clusters}" for i in range(n)), order=times)


@settings(max_examples=60, deadline=None)
@given(st.integers(4, 60), st.integers(2, 12), st.floats(0.2, 0.8), st.integers(0, 2**32 - 1), st.booleans())
def test_no_cluster_is_ever_on_both_sides(n: int, clusters: int, share: float, seed: int, by_time: bool) -> None:
    table = clustered(n, clusters)
    rng = None if by_time else np.random.default_rng(seed)
    try:
        split = split_items(table, share, rng)
    except InputError:
        return  # a share that leaves one side of so few clusters empty
    both = np.concatenate([split.calibration, split.held_out])
    assert sorted(both.tolist()) == list(range(n))
    names = [{table.clusters[i] for i in side.tolist()} for side in (split.calibration, split.held_out)]
    assert not names[0] & names[1]
    assert len(names[0]) == round(share * len(set(table.clusters)))


def test_a_split_by_time_calibrates_on_clusters_that_ended_first() -> None:
    # Clusters a: times 0 and 9; b: 1 and 2; c: 3; d: 8. By their last item: b, c, d, a.
    table = replace(table_of(np.zeros((6, 1), dtype=np.int8)), clusters=("a", "b", "b", "c", "d", "a"))
    table = replace(table, order=np.array([0, 1, 2, 3, 8, 9]))
    split = split_items(table, 0.5)
    assert (split.calibration.tolist(), split.held_out.tolist(), split.kind) == ([1, 2, 3], [0, 4, 5], "time")


def test_unlabelled_items_are_on_neither_side() -> None:
    gold = Gold(np.array([0, -1, 1, -1, 0, 1], dtype=np.int8))
    split = split_items(clustered(6, 6), 0.5, labelled=gold)
    assert (split.calibration.tolist(), split.held_out.tolist()) == ([0, 2], [4, 5])


@pytest.mark.parametrize("share", [0.0, 1.0, -0.5, float("nan")])
def test_a_share_that_leaves_a_side_empty_is_refused(share: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        split_items(clustered(6, 6), share)


def test_one_cluster_and_unknown_times_are_refused() -> None:
    with pytest.raises(InputError, match="both sides need some"):
        split_items(clustered(6, 1), 0.5)
    with pytest.raises(InputError, match="time column"):
        split_items(clustered(6, 6, order=False), 0.5)


def test_the_seal_changes_with_any_index_and_with_the_kind() -> None:
    split = split_items(clustered(8, 8), 0.5)
    moved = replace(split, held_out=split.held_out[1:])
    assert len({split.digest(), moved.digest(), replace(split, kind="random").digest()}) == 3
