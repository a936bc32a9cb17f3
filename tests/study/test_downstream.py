from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.core.outcomes import NotApplicable
from counterproof.panel.policy import PolicyTable
from counterproof.panel.rules import VoteRule, exact_stop_policy, majority_policy
from counterproof.panel.table import Channel, Gold, VerdictTable
from counterproof.stats import RatioEstimate
from counterproof.study.downstream import (
    AcceptedLabels,
    CandidateCache,
    Downstream,
    LogisticLearner,
    Predict,
    compare_downstream,
)

CHANNELS = (Channel("a"), Channel("b", 2.0), Channel("c"))
CLASSES = ("no", "yes")
VERDICTS = np.array([[0, 0, 0], [1, 1, 0], [1, 0, 1], [0, 0, 1], [1, 1, 1], [0, 1, 1]], dtype=np.int8)
TRUTH = np.array([0, 1, 0, 0, 1, 1], dtype=np.int8)


@dataclass(frozen=True, slots=True)
class NearestMean:
    """A learner that can be followed by hand: the class whose mean of the first feature is nearer."""

    shift: float = 0.0

    def describe(self) -> str:
        return f"nearest mean, shift {self.shift:g}"

    def fit(self, features: NDArray[np.float64], labels: NDArray[np.int8], seed: int) -> Predict:
        means = [features[labels == c, 0].mean() + self.shift for c in (0, 1)]

        def predict(rows: NDArray[np.float64]) -> NDArray[np.int8]:
            return (np.abs(rows[:, 0] - means[1]) < np.abs(rows[:, 0] - means[0])).astype(np.int8)

        return predict


def cache() -> CandidateCache:
    table = VerdictTable(
        tuple("uvwxyz"), tuple("uvwxyz"), CHANNELS, CLASSES, VERDICTS, np.full(VERDICTS.shape, -1, dtype=np.int8)
    )
    features = np.array([[0.0], [2.0], [1.0], [0.0], [2.0], [2.0]])
    tests = np.array([[0.0], [1.0], [1.2], [2.0]])
    return CandidateCache(table, Gold(TRUTH), features, tests, np.array([0, 0, 1, 1], dtype=np.int8), tuple("pqrs"))


def single() -> PolicyTable:
    return majority_policy(CHANNELS, CLASSES, VoteRule((0,), threshold=1.0))


def all_three() -> PolicyTable:
    return majority_policy(CHANNELS, CLASSES, VoteRule((0, 1, 2), threshold=0.6))


def compared(budget: float, unit: str = "calls") -> Downstream:
    arms = {"single": single(), "majority": all_three()}
    return compare_downstream(
        cache(),
        arms,
        NearestMean(),
        (0, 1),
        budget=budget,
        unit="cost" if unit == "cost" else "calls",
        rng=np.random.default_rng(0),
    )


def test_equal_calls_buy_fewer_items_at_more_calls_each() -> None:
    one, three = compared(7).arms
    assert (one.verified, one.calls, one.cost) == (6, 6, 6.0)
    assert (three.verified, three.calls, three.cost) == (2, 6, 8.0)  # a third item would take 9 calls


def test_equal_cost_counts_what_channels_cost() -> None:
    one, three = compared(8.5, "cost").arms
    assert (one.verified, three.verified, three.cost) == (6, 2, 8.0)


def test_accepted_labels_are_right_or_wrong_by_the_class_accepted() -> None:
    one = compared(6).arms[0]
    # a says no, yes, yes, no, yes, no; the truth is no, yes, no, no, yes, yes.
    assert one.accepted == (AcceptedLabels("no", 2, 1, 0), AcceptedLabels("yes", 2, 1, 0))
    assert one.wrong_share == pytest.approx(1 / 3)


def test_unknown_gold_is_neither_right_nor_wrong() -> None:
    hidden = replace(cache(), gold=Gold(np.full(6, -1, dtype=np.int8)))
    found = compare_downstream(
        hidden, {"single": single()}, NearestMean(), (0,), budget=6, rng=np.random.default_rng(0)
    )
    assert [one.unknown for one in found.arms[0].accepted] == [3, 3]
    assert isinstance(found.arms[0].wrong_share, NotApplicable)


def test_learner_sees_accepted_labels_only() -> None:
    one, three = compared(18).arms
    # single: no from items at 0, 0, 2 (mean 2/3), yes from 2, 1, 2 (mean 5/3); the middle is 7/6, so 0, 0, 1, 1.
    assert one.accuracy == (1.0, 1.0)
    # majority: no from 0, 0 (mean 0), yes from 2, 1, 2, 2 (mean 7/4); the middle is 7/8: 1.0 is called yes.
    assert three.accuracy == (0.75, 0.75)
    assert three.correct.tolist() == [1, 0, 1, 1]


def test_difference_is_paired_with_the_first_arm_over_test_clusters() -> None:
    against = compared(18).against
    assert isinstance(against[0], RatioEstimate)
    assert isinstance(against[1], RatioEstimate)
    assert against[0].estimate == 0
    assert against[1].estimate == pytest.approx(-0.25)
    assert against[1].n_clusters == 4


def test_labels_of_one_class_train_no_learner() -> None:
    found = compared(1)
    assert isinstance(found.arms[0].accuracy, NotApplicable)
    assert isinstance(found.arms[1].accuracy, NotApplicable)  # no item is paid for
    assert isinstance(found.against[1], NotApplicable)
    assert not found.arms[0].correct.any()


def test_contract_changes_with_whatever_arms_share_and_not_with_the_aggregators() -> None:
    rng = np.random.default_rng(0)
    base = compared(6)
    other = compare_downstream(
        cache(), {"exact": exact_stop_policy(CHANNELS, CLASSES, VoteRule((0, 1, 2)))}, NearestMean(), (0, 1),
        budget=6, rng=rng,
    )  # fmt: skip
    assert other.contract.digest() == base.contract.digest()
    changed = [
        compare_downstream(each, {"single": single()}, learner, seeds, budget=budget, rng=rng).contract.digest()
        for each, learner, seeds, budget in (
            (replace(cache(), features=cache().features + 1), NearestMean(), (0, 1), 6),
            (replace(cache(), test_clusters=tuple("pprs")), NearestMean(), (0, 1), 6),
            (cache(), NearestMean(0.5), (0, 1), 6),
            (cache(), NearestMean(), (0, 2), 6),
            (cache(), NearestMean(), (0, 1), 5),
        )
    ]
    assert len({base.contract.digest(), *changed}) == 6


def test_shapes_and_arguments_are_checked() -> None:
    with pytest.raises(InputError, match="as many labels"):
        replace(cache(), features=np.zeros((5, 1)))
    with pytest.raises(InputError, match="the same features"):
        replace(cache(), test_features=np.zeros((4, 2)))
    with pytest.raises(InputError, match="every test item needs a label"):
        replace(cache(), test_labels=np.array([0, 0, 1, -1], dtype=np.int8))
    with pytest.raises(InputError, match="a positive budget"):
        compared(0)


def test_logistic_learner_separates_what_a_line_separates() -> None:
    pytest.importorskip("sklearn")
    features = np.array([[-1.0, 0.0], [-2.0, 1.0], [1.0, 0.0], [2.0, 1.0]])
    labels = np.array([0, 0, 1, 1], dtype=np.int8)
    learner = LogisticLearner()
    assert learner.fit(features, labels, 3)(features).tolist() == labels.tolist()
    assert "log_loss" in learner.describe()
