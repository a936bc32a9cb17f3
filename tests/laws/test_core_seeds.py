"""Laws of keyed seeds: a function of run, key and purposes, and of nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from counterproof.core import ItemSeed

# The separators of the derivation itself are left out: a key that holds one can be taken for a child of another.
keys = st.text(st.characters(exclude_characters="\x1e\x1f", codec=None))
runs = st.integers(0, 2**64)
paths = st.tuples(runs, st.lists(keys, min_size=1, max_size=4))


def seed_of(path: tuple[int, list[str]]) -> ItemSeed:
    run, (key, *purposes) = path
    seed = ItemSeed(run, key)
    for purpose in purposes:
        seed = seed.child(purpose)
    return seed


@given(paths, paths)
def test_seeds_are_equal_only_for_the_same_run_key_and_purposes(
    one: tuple[int, list[str]], other: tuple[int, list[str]]
) -> None:
    assert (seed_of(one).integer() == seed_of(other).integer()) == (one == other)


@given(paths)
def test_fraction_lies_in_the_unit_interval_and_integer_in_128_bits(path: tuple[int, list[str]]) -> None:
    seed = seed_of(path)
    assert 0.0 <= seed.fraction() < 1.0
    assert 0 <= seed.integer() < 2**128


@given(st.lists(keys, min_size=1, max_size=6, unique=True).flatmap(lambda a: st.tuples(st.just(a), st.permutations(a))))
def test_order_of_items_does_not_matter(both: tuple[list[str], list[str]]) -> None:
    one, other = ({key: ItemSeed(5, key).generator().integers(2**62) for key in order} for order in both)
    assert one == other
