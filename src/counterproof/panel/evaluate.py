"""What a policy achieved: accuracy, coverage, declared loss, calls and cost, overall and by class.

Letters: C classes, N items.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.core.outcomes import NotApplicable
from counterproof.panel.loss import Loss
from counterproof.panel.majority import Ties
from counterproof.panel.policy import Move, PolicyTable, Replay
from counterproof.panel.states import StateSpace
from counterproof.panel.table import NOT_QUERIED, Gold

SHARE = 0.6


@dataclass(frozen=True, slots=True)
class ClassScores:
    """Figures over the items of one class.

    Attributes:
        items: How many, or their weight.
        accuracy: Share right, by forced label.
        coverage: Share accepted.
        selective_accuracy: Share right of those accepted.
        wrong_accepts: Share accepted with a wrong label.
    """

    items: float
    accuracy: float
    coverage: float
    selective_accuracy: float | NotApplicable
    wrong_accepts: float


@dataclass(frozen=True, slots=True)
class PanelScores:
    """Figures of one policy on labelled items.

    Attributes:
        items: Items scored, or their weight.
        unlabelled: Items left out because their label is unknown.
        unreplayed: Labelled items left out because the table lacks a verdict that the policy asked for.
        accuracy: Share right, by forced label on every item, abstained ones too.
        balanced_accuracy: Mean over classes of the share right; not applicable when a class has no item.
        coverage: Accepted over all items scored.
        selective_accuracy: Right over accepted; not applicable when nothing was accepted.
        wrong_accepts: P(accepted and wrong).
        loss: The declared loss, lower is better: 1 - balanced accuracy, or P(accepted and wrong) + kappa P(abstain).
        mean_calls: Calls an item, failures included.
        mean_cost: Declared cost an item, failures included.
        accuracy_at_share: Accuracy on the stated share of items with the highest confidence; items tied at the border
            count with their mean.
        by_class: One for each class, not applicable where it has no item.
    """

    items: float
    unlabelled: int
    unreplayed: int
    accuracy: float
    balanced_accuracy: float | NotApplicable
    coverage: float
    selective_accuracy: float | NotApplicable
    wrong_accepts: float
    loss: float | NotApplicable
    mean_calls: float
    mean_cost: float
    accuracy_at_share: float
    by_class: tuple[ClassScores | NotApplicable, ...]


def evaluate(
    replay: Replay,
    gold: Gold,
    n_classes: int,
    loss: Loss,
    *,
    share: float = SHARE,
    ties: Ties = "reject",
    weights: NDArray[np.float64] | None = None,
) -> PanelScores:
    """Return the figures of a replay.

    Args:
        replay: What the policy did.
        gold: Labels of the same items; those below 0 are left out.
        n_classes: C.
        loss: The declared loss.
        share: Share of items for `accuracy_at_share`, in (0, 1].
        ties: What an item without a label is worth: `reject` 0, `coin` 1/C, the mean of a fair coin over the classes.
        weights: Weight of each item, (N); 1 by default.

    Raises:
        InputError: Labels or weights are of another length, the share is out of range, or no item can be scored.
    """
    labels = gold.labels.astype(np.int64)
    weight = np.ones(len(labels)) if weights is None else np.asarray(weights, dtype=np.float64)
    if labels.shape != replay.label.shape or weight.shape != labels.shape:
        raise InputError(f"{len(replay.label)} replayed items, {labels.shape} labels and {weight.shape} weights")
    if not 0 < share <= 1:
        raise InputError(f"a share of {share}: give a number above 0 and at most 1")
    scored = (labels >= 0) & (replay.leaf >= 0)
    w = np.where(scored, weight, 0.0)
    if not w.sum() > 0:
        raise InputError("no item has both a known label and every verdict that the policy asked for")
    right = np.where(replay.label < 0, 1 / n_classes if ties == "coin" else 0.0, replay.label == labels)
    taken = replay.accepted.astype(np.float64)
    by_class = tuple(_class_scores(w * (labels == c), right, taken, c) for c in range(n_classes))
    total = w.sum()
    balanced = _balanced(by_class)
    wrong_accepts = float(w @ (taken * (1 - right)) / total)
    coverage = float(w @ taken / total)
    chow = wrong_accepts + loss.kappa * (1 - coverage)
    return PanelScores(
        items=float(total),
        unlabelled=int((labels < 0).sum()),
        unreplayed=int(((labels >= 0) & (replay.leaf < 0)).sum()),
        accuracy=float(w @ right / total),
        balanced_accuracy=balanced,
        coverage=coverage,
        selective_accuracy=_share(w * taken, right, "nothing was accepted"),
        wrong_accepts=wrong_accepts,
        loss=chow if loss.kind == "chow" else balanced if isinstance(balanced, NotApplicable) else 1 - balanced,
        mean_calls=float(w @ replay.calls / total),
        mean_cost=float(w @ replay.cost / total),
        accuracy_at_share=_most_confident(w, right, replay.confidence, share),
        by_class=by_class,
    )


@dataclass(frozen=True, slots=True)
class Expected:
    """What a policy achieves under a joint model, exactly.

    Attributes:
        error: P(forced label is wrong).
        wrong_accepts: P(accepted and wrong).
        coverage: P(accepted).
        loss: `error` for `ba`, else P(accepted and wrong) + kappa P(abstain).
        calls: Mean calls.
        cost: Mean declared cost.
    """

    error: float
    wrong_accepts: float
    coverage: float
    loss: float
    calls: float
    cost: float


def expected_scores(policy: PolicyTable, space: StateSpace, loss: Loss) -> Expected:
    """Return a policy's figures under a model, by summing over its leaves.

    For `ba` hand over the states of a model with equal classes (`JointModel.for_loss`): its error is then the loss.

    Raises:
        InputError: Policy and model have other channels or classes, or in another order.
    """
    names = tuple(channel.name for channel in space.model.channels)
    if policy.channels != names or policy.classes != space.model.classes:
        raise InputError(f"the policy is over {policy.channels} {policy.classes}, not {names} {space.model.classes}")
    leaves = [(state, action) for state, action in policy.actions.items() if action.move is not Move.QUERY]
    at = np.array([space.number(state) for state, _ in leaves])
    label = np.array([action.label for _, action in leaves])
    taken = np.array([action.move is Move.ACCEPT for _, action in leaves])
    asked = np.array([[symbol != NOT_QUERIED for symbol in state] for state, _ in leaves])
    mass = space.mass[:, at]
    reach = mass.sum(axis=0)
    wrong = reach - np.where(label >= 0, mass[label, np.arange(len(at))], 0.0)
    error, wrong_accepts, coverage = float(wrong.sum()), float(wrong @ taken), float(reach @ taken)
    return Expected(
        error=error,
        wrong_accepts=wrong_accepts,
        coverage=coverage,
        loss=error if loss.kind == "ba" else wrong_accepts + loss.kappa * float(reach @ ~taken),
        calls=float(reach @ asked.sum(axis=1)),
        cost=float(reach @ (asked @ np.array(policy.costs))),
    )


def _class_scores(
    w: NDArray[np.float64], right: NDArray[np.float64], taken: NDArray[np.float64], code: int
) -> ClassScores | NotApplicable:
    total = w.sum()
    if not total > 0:
        return NotApplicable(f"no item of class {code}")
    return ClassScores(
        items=float(total),
        accuracy=float(w @ right / total),
        coverage=float(w @ taken / total),
        selective_accuracy=_share(w * taken, right, f"nothing of class {code} was accepted"),
        wrong_accepts=float(w @ (taken * (1 - right)) / total),
    )


def _balanced(by_class: tuple[ClassScores | NotApplicable, ...]) -> float | NotApplicable:
    total = 0.0
    for one in by_class:
        if isinstance(one, NotApplicable):
            return one
        total += one.accuracy
    return total / len(by_class)


def _share(w: NDArray[np.float64], right: NDArray[np.float64], reason: str) -> float | NotApplicable:
    total = w.sum()
    return float(w @ right / total) if total > 0 else NotApplicable(reason)


def _most_confident(
    w: NDArray[np.float64], right: NDArray[np.float64], confidence: NDArray[np.float64], share: float
) -> float:
    """Return the mean of `right` over the top share of weight; a group tied at the border enters in proportion."""
    _, group = np.unique(-np.round(confidence, 12), return_inverse=True)
    weight = np.bincount(group, weights=w)
    hits = np.bincount(group, weights=w * right)
    wanted = share * w.sum()
    before = np.cumsum(weight) - weight
    part = np.clip((wanted - before) / np.where(weight > 0, weight, 1.0), 0.0, 1.0)
    return float(part @ hits / wanted)
