"""Laws of sums by cluster: order, batching and the tree of merges do not matter."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from counterproof.stats import ClusterSums, clustered_rate

rows = st.lists(
    st.tuples(st.sampled_from([f"q{number}" for number in range(20)]), st.integers(0, 1), st.just(1)), max_size=60
)
Rows = list[tuple[str, int, int]]


def sums_of(part: Rows) -> ClusterSums:
    sums = ClusterSums(2)
    sums.add([row[0] for row in part], np.array([row[1:] for row in part], dtype=np.int64).reshape(-1, 2))
    return sums


@given(rows, rows, rows)
def test_merge_is_associative_and_commutative(a: Rows, b: Rows, c: Rows) -> None:
    first, second, third = sums_of(a), sums_of(b), sums_of(c)
    assert first.merge(second) == second.merge(first)
    assert first.merge(second).merge(third) == first.merge(second.merge(third))


@given(rows)
def test_empty_sums_are_neutral(a: Rows) -> None:
    assert sums_of(a).merge(ClusterSums(2)) == sums_of(a) == ClusterSums(2).merge(sums_of(a))


@given(rows, rows)
def test_merging_parts_equals_adding_all_rows(a: Rows, b: Rows) -> None:
    assert sums_of(a).merge(sums_of(b)) == sums_of(a + b)


@given(rows.flatmap(lambda part: st.tuples(st.just(part), st.permutations(part))))
def test_table_equals_a_loop_in_any_order_of_rows(both: tuple[Rows, Rows]) -> None:
    part, shuffled = both
    expected: dict[str, list[int]] = {}
    for key, event, unit in part:
        entry = expected.setdefault(key, [0, 0])
        entry[0] += event
        entry[1] += unit
    sums = sums_of(shuffled)
    assert sums.keys() == tuple(sorted(expected))
    assert sums.table().tolist() == [expected[key] for key in sums.keys()]  # noqa: SIM118  # not a mapping


@given(rows.filter(bool).flatmap(lambda part: st.tuples(st.just(part), st.permutations(part))))
def test_rate_does_not_depend_on_the_order_of_rows(both: tuple[Rows, Rows]) -> None:
    # Keys come sorted, so even the bootstrap, which draws by position, sees the same clusters in the same places.
    one, other = (sums_of(part).table() for part in both)
    assert clustered_rate(one[:, 0], one[:, 1], rng=np.random.default_rng(1), replicates=50) == clustered_rate(
        other[:, 0], other[:, 1], rng=np.random.default_rng(1), replicates=50
    )
