"""Downstream: what a learner makes of the pseudo-labels that a panel accepted, when only the aggregator differs.

Letters: N pool items, M test items, D features, C classes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.core.hashing import digest
from counterproof.core.outcomes import NotApplicable
from counterproof.panel.policy import PolicyTable, Replay, replay
from counterproof.panel.table import Gold, VerdictTable
from counterproof.stats import RatioEstimate, paired_difference

Array: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[np.int8]
Predict: TypeAlias = Callable[[Array], Labels]
"""From features (M, D) to class codes (M)."""
Unit: TypeAlias = Literal["calls", "cost"]
EVALUATOR = "share of test items whose predicted class is the gold one"


class Learner(Protocol):
    """What is trained on accepted labels; the same for every aggregator."""

    def describe(self) -> str:
        """Return kind and settings in one line; it enters the contract's hash."""
        ...

    def fit(self, features: Array, labels: Labels, seed: int) -> Predict:
        """Return a predictor trained on features (n, D) and labels (n) of at least two classes."""
        ...


@dataclass(frozen=True, slots=True)
class LogisticLearner:
    """Logistic regression by averaged stochastic gradient descent (scikit-learn's `SGDClassifier`); extra `ml`.

    Attributes:
        alpha: Weight of the squared norm, positive.
        passes: Passes over the training items, at least 1; there is no early stop, so that arms train alike.
    """

    alpha: float = 1e-4
    passes: int = 20

    def describe(self) -> str:
        """Return kind and settings in one line."""
        return f"SGDClassifier log_loss alpha={self.alpha:g} passes={self.passes} averaged"

    def fit(self, features: Array, labels: Labels, seed: int) -> Predict:
        """Return a predictor; the seed orders the items of each pass.

        Raises:
            InputError: scikit-learn is not installed.
        """
        try:
            from sklearn.linear_model import SGDClassifier
        except ImportError:
            raise InputError("this learner needs scikit-learn; install counterproof[ml]") from None
        model = SGDClassifier(
            loss="log_loss", alpha=self.alpha, max_iter=self.passes, tol=None, average=True, random_state=seed
        )
        model.fit(features, labels)

        def predict(rows: Array) -> Labels:
            return np.asarray(model.predict(rows), dtype=np.int8)

        return predict


@dataclass(frozen=True, slots=True, eq=False)
class CandidateCache:
    """What every arm shares.

    Attributes:
        table: Logged verdicts on the pool, in the order in which items are verified.
        gold: Labels of the pool; they say which accepted labels are right and reach no aggregator and no learner.
        features: Of the pool, (N, D).
        test_features: (M, D).
        test_labels: Class codes, (M).
        test_clusters: Sampling unit of each test item, (M).

    Raises:
        InputError: Lengths differ, or a test item has no label of the table's classes.
    """

    table: VerdictTable
    gold: Gold
    features: Array
    test_features: Array
    test_labels: Labels
    test_clusters: tuple[str, ...]

    def __post_init__(self) -> None:
        n, m = len(self.table), len(self.test_labels)
        if not (len(self.gold.labels) == len(self.features) == n and len(self.test_features) == m):
            raise InputError(f"{n} pool and {m} test items need as many labels and rows of features")
        if len(self.test_clusters) != m or self.features.shape[1:] != self.test_features.shape[1:]:
            raise InputError("give each test item a cluster, and pool and test the same features")
        if not m or self.test_labels.min() < 0 or self.test_labels.max() >= len(self.table.classes):
            raise InputError("every test item needs a label, and there must be one; leave the unlabelled out")

    def digest(self) -> str:
        """Return the content digest of all that the arms share."""
        arrays = (self.features, self.test_features, self.test_labels)
        parts = [hashlib.sha256(np.ascontiguousarray(each).tobytes()).hexdigest() for each in arrays]
        return digest([self.table.digest(), self.gold.digest(), *parts, list(self.test_clusters)])


@dataclass(frozen=True, slots=True)
class Contract:
    """What is the same for every arm.

    Attributes:
        cache: Digest of the candidate cache: items, verdicts, features, split and test labels.
        learner: Its kind and settings.
        seeds: Seeds of the learner; every arm uses them all.
        evaluator: What is measured.
        unit: What is equal between arms, `calls` or declared `cost`.
        budget: How much of it each arm may spend.
    """

    cache: str
    learner: str
    seeds: tuple[int, ...]
    evaluator: str
    unit: Unit
    budget: float

    def digest(self) -> str:
        """Return the digest; two comparisons with the same one differ in their aggregators only."""
        return digest(self)


@dataclass(frozen=True, slots=True)
class AcceptedLabels:
    """Accepted labels of one class, before any learner saw them.

    Attributes:
        name: The class.
        right: Accepted as this class and of it.
        wrong: Accepted as this class and of another.
        unknown: Accepted as this class, without a gold label.
    """

    name: str
    right: int
    wrong: int
    unknown: int


@dataclass(frozen=True, slots=True, eq=False)
class Arm:
    """One aggregator.

    Attributes:
        name: The aggregator.
        policy: Digest of its policy.
        verified: Pool items that its budget paid for.
        calls: Calls made on them.
        cost: Declared cost of these.
        accepted: Accepted labels by class.
        accuracy: Accuracy of the learner for each seed, or why it could not train.
        correct: Share of seeds whose prediction is right for each test item, (M); zeros where it could not train.
    """

    name: str
    policy: str
    verified: int
    calls: int
    cost: float
    accepted: tuple[AcceptedLabels, ...]
    accuracy: tuple[float, ...] | NotApplicable
    correct: Array

    @property
    def wrong_share(self) -> float | NotApplicable:
        """Share wrong of the accepted labels whose gold is known."""
        right, wrong = (sum(getattr(one, word) for one in self.accepted) for word in ("right", "wrong"))
        return wrong / (right + wrong) if right + wrong else NotApplicable("nothing with a gold label was accepted")


@dataclass(frozen=True, slots=True, eq=False)
class Downstream:
    """A matched comparison.

    Attributes:
        contract: What is the same.
        arms: In the order given.
        against: Test accuracy of each arm less that of the first, over test clusters; positive is better.
    """

    contract: Contract
    arms: tuple[Arm, ...]
    against: tuple[RatioEstimate | NotApplicable, ...]


def compare_downstream(
    cache: CandidateCache,
    aggregators: Mapping[str, PolicyTable],
    learner: Learner,
    seeds: Sequence[int],
    *,
    budget: float,
    unit: Unit = "calls",
    rng: np.random.Generator,
) -> Downstream:
    """Return what a learner makes of the labels that each aggregator accepts for the same budget.

    Each arm verifies pool items in the order of the cache until the next one would pass the budget, and trains the
    learner on the labels that it accepted: fewer calls an item buy more items. Nothing else differs between arms.

    Args:
        cache: What every arm shares.
        aggregators: Policies by name; the first is the one that others are compared with.
        learner: Trained once per arm and seed.
        seeds: Of the learner; at least one.
        budget: Calls, or declared cost, that each arm may spend; positive.
        unit: Whether calls or cost are equal.
        rng: Source of the bootstrap's draws.

    Raises:
        InputError: There is no aggregator or seed, the budget is not positive, or the table lacks a channel.
    """
    if not aggregators or not seeds or not budget > 0 or unit not in ("calls", "cost"):
        raise InputError("give at least one aggregator and one seed, a positive budget, and calls or cost as its unit")
    contract = Contract(cache.digest(), learner.describe(), tuple(seeds), EVALUATOR, unit, float(budget))
    arms = tuple(_arm(cache, name, policy, learner, contract) for name, policy in aggregators.items())
    names, clusters = np.unique(np.array(cache.test_clusters, dtype=object).astype(str), return_inverse=True)
    sums: list[Array] = [_sums(arm.correct, clusters, len(names)) for arm in arms]
    units = np.bincount(clusters, minlength=len(names))
    against = tuple(_difference(arm, arms[0], own, sums[0], units, rng) for arm, own in zip(arms, sums, strict=True))
    return Downstream(contract, arms, against)


def _sums(values: Array, clusters: NDArray[np.intp], size: int) -> Array:
    return np.bincount(clusters, weights=values, minlength=size).astype(np.float64)


def paid_for(run: Replay, budget: float, unit: Unit) -> int:
    """Return how many of the first items a budget pays for in full; the first that does not fit ends the run."""
    spent = np.cumsum(run.calls if unit == "calls" else run.cost)
    return int((spent <= budget + 1e-9).sum())


def _arm(cache: CandidateCache, name: str, policy: PolicyTable, learner: Learner, contract: Contract) -> Arm:
    run = replay(policy, cache.table)
    verified = paid_for(run, contract.budget, contract.unit)
    taken = np.flatnonzero(run.accepted[:verified] & (run.label[:verified] >= 0))
    labels = run.label[taken]
    accepted = _split_by_class(cache, taken, labels)
    accuracy, correct = _trained(cache, cache.features[taken], labels, learner, contract.seeds)
    return Arm(
        name=name,
        policy=policy.digest(),
        verified=verified,
        calls=int(run.calls[:verified].sum()),
        cost=float(run.cost[:verified].sum()),
        accepted=accepted,
        accuracy=accuracy,
        correct=correct,
    )


def _split_by_class(cache: CandidateCache, taken: NDArray[np.intp], labels: Labels) -> tuple[AcceptedLabels, ...]:
    truth = cache.gold.labels[taken]
    return tuple(
        AcceptedLabels(
            name,
            right=int(((labels == c) & (truth == c)).sum()),
            wrong=int(((labels == c) & (truth != c) & (truth >= 0)).sum()),
            unknown=int(((labels == c) & (truth < 0)).sum()),
        )
        for c, name in enumerate(cache.table.classes)
    )


def _trained(
    cache: CandidateCache, features: Array, labels: Labels, learner: Learner, seeds: tuple[int, ...]
) -> tuple[tuple[float, ...] | NotApplicable, Array]:
    if len(np.unique(labels)) < 2:
        reason = f"one-class: {len(labels)} labels of fewer than two classes were accepted, which train no learner"
        return NotApplicable(reason), np.zeros(len(cache.test_labels))
    right = np.stack(
        [learner.fit(features, labels, seed)(cache.test_features) == cache.test_labels for seed in seeds]
    ).astype(np.float64)
    return tuple(right.mean(axis=1).tolist()), right.mean(axis=0)


def _difference(
    arm: Arm, first: Arm, own: Array, other: Array, units: NDArray[np.int64], rng: np.random.Generator
) -> RatioEstimate | NotApplicable:
    for one in (arm, first):
        if isinstance(one.accuracy, NotApplicable):
            return NotApplicable(f"{one.name}: {one.accuracy.reason}")
    return paired_difference(own, other, units, rng=rng)
