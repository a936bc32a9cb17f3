"""Realised held-out gains of a second channel."""

from __future__ import annotations

import numpy as np
import pytest

from counterproof.core.outcomes import NotApplicable
from counterproof.panel.gains import realised_gains
from counterproof.panel.table import Split
from counterproof.stats import RatioEstimate
from tests.panel.judged import judged, of_symbols


def halves(n: int) -> Split:
    return Split(np.arange(n), np.arange(n, 2 * n), "time")


def test_gain_by_hand() -> None:
    # Y = A on 3 of 4, and B is always right; both halves are alike. The pair's rule follows B: BA 1 against .75.
    labels = np.tile([0, 0, 0, 0, 1, 1, 1, 1], 12)
    errors = np.stack([np.tile([1, 0, 0, 0], 24), np.zeros(96)], axis=1)
    table, gold = judged(labels, errors)
    gains = realised_gains(table, gold, halves(48), [(0, 1), (1, 0)], rng=np.random.default_rng(0), replicates=200)
    assert isinstance(gains[0], RatioEstimate)
    assert isinstance(gains[1], RatioEstimate)
    assert gains[0].estimate == pytest.approx(0.25)
    assert gains[1].estimate == 0.0


def test_a_judge_that_is_mostly_wrong_is_read_the_other_way() -> None:
    # a alone is wrong on 3 of 4; its calibrated rule flips it. A copy of it adds nothing.
    labels = np.tile([0, 0, 0, 0, 1, 1, 1, 1], 12)
    wrong = np.tile([0, 1, 1, 1], 24)
    table, gold = judged(labels, np.stack([wrong, wrong], axis=1))
    (gain,) = realised_gains(table, gold, halves(48), [(0, 1)], rng=np.random.default_rng(0), replicates=50)
    assert isinstance(gain, RatioEstimate)
    assert (gain.estimate, gain.interval.lower, gain.interval.upper) == (0.0, 0.0, 0.0)


def test_a_combination_never_seen_is_decided_as_a_alone_decides() -> None:
    # In calibration b copies a, which is always right; held out, b differs on every item.
    labels = np.tile([0, 1], 40)
    table, gold = judged(labels, np.c_[np.zeros(80), np.repeat([0, 1], 40)])
    (gain,) = realised_gains(table, gold, halves(40), [(0, 1)], rng=np.random.default_rng(0), replicates=50)
    assert isinstance(gain, RatioEstimate)
    assert gain.estimate == 0.0


def test_items_with_a_failure_of_either_leave_the_pair() -> None:
    labels = np.tile([0, 0, 0, 0, 1, 1, 1, 1], 12)
    errors = np.stack([np.tile([1, 0, 0, 0], 24), np.zeros(96)], axis=1)
    failed = np.zeros((96, 2))
    failed[::4, 0] = 1  # exactly where a errs
    table, gold = judged(labels, errors, failed=failed)
    (gain,) = realised_gains(table, gold, halves(48), [(0, 1)], rng=np.random.default_rng(0), replicates=50)
    assert isinstance(gain, RatioEstimate)
    assert gain.estimate == 0.0
    assert gain.n_clusters == 36


def test_a_class_without_calibration_rows_leaves_no_rule() -> None:
    labels = np.r_[np.zeros(40), np.ones(20), np.zeros(20)]
    table, gold = judged(labels, np.zeros((80, 2)))
    (gain,) = realised_gains(table, gold, halves(40), [(0, 1)], rng=np.random.default_rng(0), replicates=50)
    assert isinstance(gain, NotApplicable)
    assert gain.reason.startswith("no-calibration")


def test_three_classes() -> None:
    # a tells class 0 from the others, b tells 1 from 2: together they are right, a alone at most on two of three.
    labels = np.tile([0, 1, 2], 40).astype(np.int8)
    symbols = np.stack([np.where(labels == 0, 0, 1), np.where(labels == 2, 2, 1)], axis=1).astype(np.int8)
    from counterproof.panel.table import Gold

    (gain,) = realised_gains(
        of_symbols(symbols, classes=3), Gold(labels), halves(60), [(0, 1)], rng=np.random.default_rng(0), replicates=50
    )
    assert isinstance(gain, RatioEstimate)
    assert gain.estimate == pytest.approx(1 / 3)
