"""The permutation test of errors within classes."""

from __future__ import annotations

import math

import numpy as np

from counterproof.core.outcomes import NotApplicable
from counterproof.panel.permutation import PermutationTest, permutation_test


def run(
    errors: np.ndarray, labels: np.ndarray, clusters: np.ndarray | None = None, seed: int = 0, draws: int = 199
) -> PermutationTest | NotApplicable:
    known = np.ones(errors.shape, dtype=np.bool_)
    owner = np.arange(len(labels)) if clusters is None else clusters
    return permutation_test(
        errors.astype(float),
        known,
        labels.astype(np.int8),
        owner.astype(np.intp),
        rng=np.random.default_rng(seed),
        permutations=draws,
    )


def test_score_by_hand() -> None:
    # Class 0: n = 4, errors of both 2, together 2: 2 - 1, variance 2*2*2*2/(16*3) = 1/3. Class 1: n = 3, one each,
    # apart: 0 - 1/3, variance 1*1*2*2/(9*2) = 2/9.
    errors = np.array([[1, 1], [1, 1], [0, 0], [0, 0], [1, 0], [0, 1], [0, 0]])
    test = run(errors, np.array([0, 0, 0, 0, 1, 1, 1]))
    assert isinstance(test, PermutationTest)
    np.testing.assert_allclose(test.z, [(2 / 3) / math.sqrt(5 / 9)])


def test_a_copied_channel_is_found_and_others_are_not() -> None:
    rng = np.random.default_rng(1)
    errors = rng.random((300, 4)) < 0.3
    errors[:, 1] = np.where(rng.random(300) < 0.5, errors[:, 0], errors[:, 1])
    test = run(errors, rng.integers(0, 2, 300))
    assert isinstance(test, PermutationTest)
    assert test.p_value[0] == 1 / 200
    assert (test.p_value[1:] > 0.05).all()
    assert test.movable == 1.0


def test_errors_that_only_share_their_class_are_no_dependence() -> None:
    # Both err on 10 % of one class and 60 % of the other: marginally correlated, independent within classes. The
    # p-value is uniform; below .05 it would be in 5 % of runs. Of 60 runs more than 10 has probability 2.6e-4.
    rng = np.random.default_rng(2)
    small = 0
    for seed in range(60):
        labels = rng.integers(0, 2, 200)
        errors = rng.random((200, 2)) < np.where(labels, 0.6, 0.1)[:, None]
        test = run(errors, labels, seed=seed, draws=39)
        assert isinstance(test, PermutationTest)
        small += bool(test.p_value[0] <= 0.05)
    assert small <= 10


def test_clusters_change_places_whole() -> None:
    # Ten items a cluster and errors that are the same within a cluster: 40 clusters, not 400 items. As independent
    # items two such channels reject all the time; by cluster in 5 % of runs (more than 9 of 50: 1e-4).
    rng = np.random.default_rng(3)
    clusters, labels = np.repeat(np.arange(40), 10), np.tile([0, 1], 200)
    rejected = as_items = 0
    for seed in range(50):
        errors = np.repeat(rng.random((40, 2)) < 0.4, 10, axis=0)
        whole, single = run(errors, labels, clusters, seed, 39), run(errors, labels, None, seed, 39)
        assert isinstance(whole, PermutationTest)
        assert isinstance(single, PermutationTest)
        rejected += bool(whole.p_value[0] <= 0.05)
        as_items += bool(single.p_value[0] <= 0.05)
    assert rejected <= 9
    assert as_items >= 20


def test_reasons_why_the_test_is_left_out() -> None:
    errors, labels = np.ones((4, 2)), np.array([0, 1, 0, 1])
    assert isinstance(run(errors, labels, draws=0), NotApplicable)
    alone = run(errors, labels, np.array([0, 0, 0, 1]))
    assert isinstance(alone, NotApplicable)
    assert alone.reason.startswith("no-exchange")
    large = run(errors, labels, draws=10**8)
    assert isinstance(large, NotApplicable)
    assert large.reason.startswith("too-large")
