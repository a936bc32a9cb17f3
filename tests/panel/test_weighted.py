"""Likelihoods and weighted policies, by hand on a few rows."""

import math

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.panel.likelihoods import Likelihoods, class_likelihoods, smoothed
from counterproof.panel.policy import PolicyTable, check_policy, replay
from counterproof.panel.table import Gold
from counterproof.panel.weighted import adaptive_confidence_policy, weighted_policy, weighted_scores
from tests.panel.panels import CLASSES, channels, table_of

SYMMETRIC = Likelihoods(np.array([0.75, 0.25]), np.tile([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2]], (3, 1, 1)))
"""A verdict is worth ln 3, a failure nothing, and the prior ln 3 for class 0."""


def test_laplace_counts_the_symbols_that_were_shown() -> None:
    # Class 0: 3, 1; class 1: 0, 2; no failure was shown: it gets 1/(6 + 3) under both, the others 8/9 of the rest.
    found = smoothed(np.array([[3.0, 1.0, 0.0], [0.0, 2.0, 0.0]]))
    rest, share = 1 / 9, 8 / 9
    assert found == pytest.approx(
        np.array([[share * 4 / 6, share * 2 / 6, rest], [share * 1 / 4, share * 3 / 4, rest]]), abs=1e-15
    )


def test_laplace_is_plain_where_all_symbols_were_shown() -> None:
    found = smoothed(np.array([[3.0, 1.0, 0.0], [0.0, 2.0, 1.0]]))
    assert found == pytest.approx(np.array([[4 / 7, 2 / 7, 1 / 7], [1 / 6, 3 / 6, 2 / 6]]), abs=1e-15)


def test_likelihoods_use_the_rows_in_which_a_channel_was_queried() -> None:
    table = table_of(np.array([[0, -1], [0, 1], [1, 2], [1, -1]], dtype=np.int8))
    found = class_likelihoods(table, Gold(np.array([0, 0, 1, -1], dtype=np.int8)))
    assert found.prior == pytest.approx([3 / 5, 2 / 5])
    # Channel 1 has one row a class: 1 under class 0, a failure under class 1; class code 0 was never shown.
    assert found.table[1] == pytest.approx(
        np.array([[1 / 5, 4 / 5 * 2 / 3, 4 / 5 / 3], [1 / 5, 4 / 5 / 3, 4 / 5 * 2 / 3]])
    )


def test_scores_are_sums_of_logs_over_the_verdicts_queried() -> None:
    found = weighted_scores(SYMMETRIC, np.array([[1, 1, 0], [1, 2, -1]], dtype=np.int8))
    assert found[:, 1] - found[:, 0] == pytest.approx([math.log(3), math.log(3)])


def test_weighted_control_asks_all_and_starts_from_equal_classes() -> None:
    policy = weighted_policy(channels(3), CLASSES, SYMMETRIC, (0, 1, 2), tau=0.9)
    check_policy(policy)
    found = replay(policy, table_of(np.array([[1, 1, 1], [1, 1, 0], [0, 2, 2]], dtype=np.int8)))
    assert found.calls.tolist() == [3, 3, 3]
    assert found.label.tolist() == [1, 1, 0]
    # Odds 27, 3 and 3.
    assert found.confidence == pytest.approx([27 / 28, 3 / 4, 3 / 4])
    assert found.accepted.tolist() == [True, False, False]


def test_adaptive_confidence_stops_at_tau_and_abstains_at_the_end() -> None:
    policy = adaptive_confidence_policy(channels(3), CLASSES, SYMMETRIC, (2, 0, 1), tau=0.9)
    found = replay(policy, table_of(np.array([[0, 0, 0], [1, 1, 1], [1, 1, 0], [0, 2, 2]], dtype=np.int8)))
    # From odds 3 for class 0: one vote for it makes 9 (.9, reached); three against make 9 for class 1.
    assert found.calls.tolist() == [1, 3, 1, 2]
    assert found.label.tolist() == [0, 1, 0, 0]
    assert found.accepted.tolist() == [True, True, True, True]
    unsure = adaptive_confidence_policy(channels(3), CLASSES, SYMMETRIC, (0, 1), tau=0.95)
    tied = replay(unsure, table_of(np.array([[1, 2, 0]], dtype=np.int8)))
    assert (tied.accepted.tolist(), tied.calls.tolist()) == ([False], [2])


def test_policies_survive_their_file() -> None:
    for policy in (
        weighted_policy(channels(3), CLASSES, SYMMETRIC, (0, 2)),
        adaptive_confidence_policy(channels(3), CLASSES, SYMMETRIC, (0, 1), tau=0.9),
    ):
        assert PolicyTable.from_json(policy.to_json()) == policy


def test_one_class_only_is_refused() -> None:
    table = table_of(np.zeros((4, 2), dtype=np.int8))
    with pytest.raises(InputError, match="no labelled row of class yes"):
        class_likelihoods(table, Gold(np.zeros(4, dtype=np.int8)))


def test_labels_of_another_length_are_refused() -> None:
    with pytest.raises(InputError, match="one label"):
        class_likelihoods(table_of(np.zeros((4, 2), dtype=np.int8)), Gold(np.zeros(3, dtype=np.int8)))


def test_orders_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="each once"):
        weighted_policy(channels(3), CLASSES, SYMMETRIC, (0, 3))
    with pytest.raises(InputError, match="3 channels for a panel of 2"):
        weighted_policy(channels(2), CLASSES, SYMMETRIC, (0,))
