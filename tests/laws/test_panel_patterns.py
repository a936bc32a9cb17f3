"""Laws of encoding rows and of the vote on them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from counterproof.panel.majority import majority
from counterproof.panel.patterns import encode
from tests.panel.verdicts import table_of

CODES = arrays(np.int8, array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=14), elements=st.integers(-1, 2))


@given(CODES)
def test_encoding_loses_nothing(symbols: np.ndarray) -> None:
    found = encode(symbols)
    assert np.array_equal(found.rows[found.inverse], symbols)
    assert found.counts.sum() == len(symbols)
    assert np.array_equal(np.bincount(found.inverse, minlength=len(found)), found.counts)
    assert len(np.unique(found.rows, axis=0)) == len(found)


@given(CODES, st.randoms(use_true_random=False))
def test_order_of_items_changes_neither_rows_nor_counts(symbols: np.ndarray, random: object) -> None:
    order = np.random.default_rng(random.randrange(2**32)).permutation(len(symbols))  # type: ignore[attr-defined]  # a Random
    straight, shuffled = encode(symbols), encode(symbols[order])
    assert np.array_equal(straight.rows, shuffled.rows)
    assert np.array_equal(straight.counts, shuffled.counts)
    assert np.array_equal(straight.inverse[order], shuffled.inverse)


@given(CODES)
def test_majority_does_not_know_channels_apart(symbols: np.ndarray) -> None:
    table, mirrored = table_of(symbols), table_of(symbols[:, ::-1])
    one, other = majority(table, seed=5), majority(mirrored, seed=5)
    assert np.array_equal(one.label, other.label)
    assert np.array_equal(one.accepted, other.accepted)


@given(CODES)
def test_flipping_verdicts_flips_labels_and_keeps_acceptance(symbols: np.ndarray) -> None:
    flipped = np.where(symbols == 0, 1, np.where(symbols == 1, 0, symbols)).astype(np.int8)
    one, other = majority(table_of(symbols), ties="reject"), majority(table_of(flipped), ties="reject")
    assert np.array_equal(np.where(one.label >= 0, 1 - one.label, -1), other.label)
    assert np.array_equal(one.accepted, other.accepted)
    assert np.array_equal(one.agreement, other.agreement)


@given(CODES)
def test_a_failure_in_place_of_a_verdict_never_accepts_a_label_that_was_not(symbols: np.ndarray) -> None:
    before = majority(table_of(symbols), ties="reject")
    failing = symbols.copy()
    failing[:, 0] = np.where(symbols[:, 0] == -1, -1, 2)
    after = majority(table_of(failing), threshold=0.8, ties="reject")
    assert (before.accepted >= after.accepted).all()
