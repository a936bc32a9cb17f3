"""Every policy on one split of a table, as per-item arrays on its held-out items.

Letters: N held-out items, C classes, K channels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterproof.panel.cmd import CmdSettings, cmd_plan, rank_calls
from counterproof.panel.compile import compile_plan
from counterproof.panel.dp import compile_optimal, plan_for_cost
from counterproof.panel.joint import JointModel, choose_joint, fit_joint
from counterproof.panel.likelihoods import Likelihoods, class_likelihoods
from counterproof.panel.loss import Loss
from counterproof.panel.policy import PolicyTable, Replay, replay
from counterproof.panel.rules import Keep, VoteRule, exact_stop_policy, majority_policy
from counterproof.panel.states import Budget, state_space
from counterproof.panel.static import static_policy
from counterproof.panel.table import Gold, Split, VerdictTable
from counterproof.panel.weighted import weighted_policy

Array: TypeAlias = NDArray[np.float64]
BA = Loss("ba")
CHOW = Loss("chow", 0.1)
TAUS = (0.0, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.97, 0.98, 0.99, 0.995)
ETAS = (0.0, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
AGREEMENTS = (0.0, 0.6, 0.7, 0.8, 0.9, 1.0, 2.0)
"""Agreements from which votes are accepted; the last is out of reach and abstains on everything."""
SHARE = 0.6
FIXED = ("majority", "weighted", "Dawid-Skene (crowd-kit)", "LabelModel (Snorkel)")
"""Best-k panels of fixed size, from outside the dependence model."""
OURS = ("static-CMD", "CMD", "DP")
FAMILIES = (*FIXED, "exact-stop", "NB-sequential", *OURS)


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """What enters the page of one policy, per held-out item, linear in policies so that mixtures average.

    Attributes:
        calls: (N).
        right: (N).
        accepted: (N).
        hit: Accepted and right, (N).
        top: Right among the surest 60 %, (N).
    """

    calls: Array
    right: Array
    accepted: Array
    hit: Array
    top: Array

    @property
    def mean_calls(self) -> float:
        """Calls an item."""
        return float(self.calls.mean())

    @property
    def chow(self) -> Array:
        """Chow loss at kappa .1, (N)."""
        return self.accepted - self.hit + CHOW.kappa * (1 - self.accepted)

    def mixed(self, other: Figures, weight: float) -> Figures:
        """Return the policy that follows `other` with probability `weight`, in expectation."""
        pairs = ((getattr(self, name), getattr(other, name)) for name in Figures.__slots__)
        return Figures(*((1 - weight) * a + weight * b for a, b in pairs))


Curves: TypeAlias = Mapping[str, Sequence[Figures]]
"""By family, its policies by rising mean calls."""


def figures(
    label: NDArray[np.int8], accepted: NDArray[np.bool_], confidence: Array, calls: Array, gold: Gold, classes: int
) -> Figures:
    """Return what labels, acceptance and confidence of N items amount to; no label is worth a fair coin."""
    right = np.where(label < 0, 1 / classes, label == gold.labels).astype(np.float64)
    taken = accepted.astype(np.float64)
    return Figures(calls.astype(np.float64), right, taken, taken * right, _surest(confidence) * right)


def at_calls(points: Sequence[Figures], calls: float) -> Figures | None:
    """Return a family at `calls` mean calls: the mixture of its two neighbours, or its dearest policy if cheaper.

    None where even its cheapest policy takes more.
    """
    below = [one for one in points if one.mean_calls <= calls + 1e-9]
    above = [one for one in points if one.mean_calls > calls + 1e-9]
    if not below:
        return None
    low = max(below, key=lambda one: one.mean_calls)
    if not above or abs(low.mean_calls - calls) < 1e-9:
        return low
    high = min(above, key=lambda one: one.mean_calls)
    return low.mixed(high, (calls - low.mean_calls) / (high.mean_calls - low.mean_calls))


def best_order(table: VerdictTable, gold: Gold) -> tuple[int, ...]:
    """Return channels by balanced accuracy on calibration items, the best first; a failure is wrong."""
    right = table.symbols == gold.labels[:, None]
    accuracy = np.mean([right[gold.labels == c].mean(axis=0) for c in np.unique(gold.labels)], axis=0)
    return tuple(sorted(range(len(accuracy)), key=lambda j: (-round(float(accuracy[j]), 12), table.channels[j].name)))


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """What policies of one split rest on."""

    calibration: VerdictTable
    labels: Gold
    held: VerdictTable
    truth: Gold
    order: tuple[int, ...]
    likelihoods: Likelihoods
    joint: JointModel
    naive: JointModel

    @property
    def sizes(self) -> range:
        """Sizes of fixed panels."""
        return range(1, len(self.order) + 1)


def fit(table: VerdictTable, gold: Gold, split: Split) -> Fitted:
    """Return the models of one split, fitted on its calibration items."""
    rows, labels = table.rows(split.calibration), gold.rows(split.calibration)
    return Fitted(
        rows,
        labels,
        table.rows(split.held_out),
        gold.rows(split.held_out),
        best_order(rows, labels),
        class_likelihoods(rows, labels),
        choose_joint(rows, labels).model,
        fit_joint(rows, labels, base="naive", alpha=float("inf")),
    )


def rival_job(fitted: Fitted, k: int) -> tuple[NDArray[np.int8], Array]:
    """Return what rivals are given: held-out verdicts of best-k, all but classes below 0, and calibration's shares."""
    symbols = fitted.held.symbols[:, list(fitted.order[:k])]
    shares = np.bincount(fitted.labels.labels, minlength=len(fitted.held.classes)) + 1.0
    return np.where(symbols < len(fitted.held.classes), symbols, np.int8(-1)).astype(np.int8), shares / shares.sum()


def curves(fitted: Fitted, loss: Loss, rivals: Mapping[tuple[str, int], Array]) -> Curves:
    """Return every family on the held-out items, made for a loss.

    Args:
        fitted: The split.
        loss: `BA` or `CHOW`.
        rivals: Posteriors of the rivals by family and size, (N, C).
    """
    found: dict[str, list[Figures]] = {name: [] for name in FAMILIES}
    for name, policy in _policies(fitted, loss):
        run = replay(policy, fitted.held)
        accepted = run.accepted
        if loss is CHOW and name in ("majority", "exact-stop"):
            accepted = run.confidence >= _agreement(replay(policy, fitted.calibration), fitted.labels)
        found[name].append(_of(run, accepted, fitted))
    for (name, k), posterior in rivals.items():
        top = posterior.max(axis=1)
        ties = (posterior > top[:, None] - 1e-9).sum(axis=1) > 1
        label = np.where(ties, -1, posterior.argmax(axis=1)).astype(np.int8)
        accepted = np.ones(len(top), dtype=np.bool_) if loss is BA else top >= 1 - loss.kappa - 1e-9
        calls = np.full(len(top), float(k))
        found[name].append(figures(label, accepted, top, calls, fitted.truth, len(fitted.held.classes)))
    return {name: sorted(points, key=lambda one: one.mean_calls) for name, points in found.items()}


def _policies(fitted: Fitted, loss: Loss) -> Iterator[tuple[str, PolicyTable]]:
    yield from _fixed(fitted, loss)
    for name, model in (("NB-sequential", fitted.naive), ("CMD", fitted.joint)):
        space = state_space(model.for_loss(loss))
        ranking = rank_calls(space, 1.0, Budget())
        for settings in _operating_points(loss):
            yield name, compile_plan(name, cmd_plan(space, settings, ranking), loss)
        if name == "CMD":
            for k in fitted.sizes:
                yield "DP", compile_optimal(plan_for_cost(space, loss, float(k)), loss)


def _fixed(fitted: Fitted, loss: Loss) -> Iterator[tuple[str, PolicyTable]]:
    channels, classes = fitted.held.channels, fitted.held.classes
    tau = 0.0 if loss is BA else 1 - loss.kappa
    for k in fitted.sizes:
        chosen = fitted.order[:k]
        vote = VoteRule(chosen)
        yield "majority", majority_policy(channels, classes, vote)
        yield "exact-stop", exact_stop_policy(channels, classes, vote, Keep.LABEL)
        weighted = weighted_policy(
            channels, classes, fitted.likelihoods, chosen, tau=tau, calibrated_prior=loss is CHOW
        )
        yield "weighted", weighted
        yield "static-CMD", static_policy(fitted.joint, k, loss)


def _operating_points(loss: Loss) -> Iterator[CmdSettings]:
    if loss is BA:
        yield from (CmdSettings(tau, selective=False) for tau in TAUS)
    else:
        yield from (CmdSettings(1 - loss.kappa, eta=eta) for eta in ETAS)


def _of(run: Replay, accepted: NDArray[np.bool_], fitted: Fitted) -> Figures:
    return figures(
        run.label, accepted, run.confidence, run.calls.astype(np.float64), fitted.truth, len(fitted.held.classes)
    )


def _agreement(run: Replay, gold: Gold) -> float:
    """Return the agreement from which to accept that has the lowest Chow loss on calibration items."""
    wrong = (run.label != gold.labels).astype(np.float64)

    def risk(least: float) -> float:
        taken = run.confidence >= least
        return float(np.where(taken, wrong, CHOW.kappa).mean())

    return min(AGREEMENTS, key=lambda least: (round(risk(least), 12), least))


def _surest(confidence: Array) -> Array:
    """Return how far each item belongs to the surest share: 1 above the border, 0 below, tied items in proportion."""
    rounded = np.round(confidence, 12)
    wanted = SHARE * len(rounded)
    border = np.sort(rounded)[::-1][max(0, int(np.ceil(wanted)) - 1)]
    above, tied = rounded > border, rounded == border
    return np.where(above, 1.0, np.where(tied, (wanted - above.sum()) / tied.sum(), 0.0))
