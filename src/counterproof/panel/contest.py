"""A contest of policies: all fitted on calibration items, judged on held-out ones, at the calls that each really makes.

The recommendation is made on calibration items alone, by cross-fitting: the cheapest policy whose loss is within one
standard error of the lowest. Its held-out figures are therefore not flattered by the choice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.core.outcomes import NotApplicable
from counterproof.panel.cmd import CmdSettings, Search, cmd_policy, freeze_operating_point
from counterproof.panel.compile import MAX_REACHABLE
from counterproof.panel.dawid_skene import dawid_skene
from counterproof.panel.dp import compile_optimal, plan_for_cost
from counterproof.panel.evaluate import PanelScores, evaluate
from counterproof.panel.joint import JointModel, check_size, choose_joint, cluster_folds
from counterproof.panel.likelihoods import Likelihoods, class_likelihoods
from counterproof.panel.loss import Loss
from counterproof.panel.policy import PolicyTable, Replay, replay
from counterproof.panel.rules import Keep, VoteRule, exact_stop_policy, majority_policy
from counterproof.panel.states import MAX_STATES, Budget, state_space
from counterproof.panel.static import static_policy
from counterproof.panel.table import NOT_QUERIED, Gold, Split, VerdictTable
from counterproof.panel.weighted import weighted_policy
from counterproof.stats import RatioEstimate, paired_differences

Array: TypeAlias = NDArray[np.float64]
LONGEST = 7
"""Longest fixed panel that enters."""
CURVE = (0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98)
"""Values of tau that draw the adaptive policies' frontier."""
FOLDS = 2


@dataclass(frozen=True, slots=True)
class Material:
    """What policies are fitted on.

    Attributes:
        table: Calibration verdicts.
        gold: Their labels.
        loss: The declared loss.
        budget: Most mean cost an item.
        seed: The run's seed.
    """

    table: VerdictTable
    gold: Gold
    loss: Loss
    budget: float
    seed: int


@dataclass(frozen=True, slots=True)
class Contestant:
    """One policy in the contest.

    Attributes:
        name: Unique.
        family: `single`, `majority`, `weighted`, `dawid-skene`, `exact-stop`, `static-cmd`, `cmd` or `dp`.
        policy: The policy, fitted on all calibration items.
        scores: On held-out items.
        crossfit_loss: Loss on calibration items by cross-fitting.
        crossfit_cost: Mean cost there.
    """

    name: str
    family: str
    policy: PolicyTable
    scores: PanelScores
    crossfit_loss: float
    crossfit_cost: float


@dataclass(frozen=True, slots=True, eq=False)
class Contest:
    """What a contest gave.

    Attributes:
        contestants: In the order entered.
        recommended: Index of the policy that calibration recommends.
        lowest: Index of the policy with the lowest cross-fitted loss within the budget.
        against: Held-out loss of the recommended policy less that of each contestant; negative is better.
        refused: Families that could not enter, and why.
    """

    contestants: tuple[Contestant, ...]
    recommended: int
    lowest: int
    against: tuple[RatioEstimate | NotApplicable, ...]
    refused: tuple[tuple[str, str], ...]


Named: TypeAlias = Iterator[tuple[str, PolicyTable]]
Maker: TypeAlias = Callable[["_Fitted"], Named]


def run_contest(
    table: VerdictTable, gold: Gold, split: Split, loss: Loss, *, budget: float, seed: int, rng: np.random.Generator
) -> Contest:
    """Return the contest of all policies on a split.

    Args:
        table: Verdicts on all items.
        gold: Labels; unlabelled items have no part.
        split: Calibration and held-out items.
        loss: The declared loss.
        budget: Most mean cost an item that a recommendation may have.
        seed: Keys folds and coins.
        rng: Source of the bootstrap's draws.

    Raises:
        InputError: The budget pays for no call, or calibration lacks a class.
    """
    if budget < min(channel.cost for channel in table.channels):
        raise InputError(f"a budget of {budget:g} pays for no call; the cheapest channel costs {table.costs.min():g}")
    calibration = Material(table.rows(split.calibration), gold.rows(split.calibration), loss, budget, seed)
    policies, refused = _policies(calibration)
    held, truth = table.rows(split.held_out), gold.rows(split.held_out)
    runs = {name: replay(policy, held) for name, (_, policy) in policies.items()}
    lost = {name for name, run in runs.items() if not ((run.leaf >= 0) & (truth.labels >= 0)).any()}
    refused += tuple((name, "no held-out item has every verdict that it asks for") for name in sorted(lost))
    policies = {name: entry for name, entry in policies.items() if name not in lost}
    fitted = _cross_fitted(calibration, policies)
    contestants = tuple(
        Contestant(
            name,
            family,
            policy,
            evaluate(runs[name], truth, len(table.classes), loss, ties="coin"),
            *fitted[name][:2],
        )
        for name, (family, policy) in policies.items()
    )
    recommended, lowest = _recommend(contestants, {name: one[2] for name, one in fitted.items()}, calibration)
    against = _differences(contestants, recommended, runs, held, truth, loss, rng)
    return Contest(contestants, recommended, lowest, against, refused)


@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    """Models fitted once for all policies of a material."""

    material: Material
    likelihoods: Likelihoods
    unsupervised: Likelihoods | None
    joint: JointModel | None
    best: tuple[int, ...]


def _joint(material: Material) -> JointModel:
    c, k = len(material.table.classes), len(material.table.channels)
    check_size(c, k)
    if (c + 2) ** k > MAX_STATES:
        raise InputError(f"{(c + 2) ** k:,} states are more than {MAX_STATES:,}")
    return choose_joint(material.table, material.gold, seed=material.seed).model


def _unsupervised(table: VerdictTable) -> Likelihoods | None:
    """Fit Dawid-Skene without labels, and read it as likelihoods; a symbol never said is no evidence."""
    if (table.symbols == NOT_QUERIED).all():
        return None
    model = dawid_skene(table).model
    confusion = model.confusion.transpose(0, 2, 1)
    silent = confusion.sum(axis=1, keepdims=True) == 0
    flat = np.where(silent, 1 / confusion.shape[2], np.maximum(confusion, 1e-12))
    prior = np.maximum(model.prior, 1e-12)
    return Likelihoods(prior / prior.sum(), flat / flat.sum(axis=2, keepdims=True))


def _by_accuracy(table: VerdictTable, gold: Gold) -> tuple[int, ...]:
    """Return channels by calibration balanced accuracy, the best first; a failure counts as wrong."""
    accuracy = []
    for j in range(len(table.channels)):
        asked = (table.symbols[:, j] != NOT_QUERIED) & (gold.labels >= 0)
        right = table.symbols[:, j] == gold.labels
        shares = [right[asked & (gold.labels == c)].mean() for c in np.unique(gold.labels[asked])]
        accuracy.append(float(np.mean(shares)) if shares else 0.0)
    return tuple(sorted(range(len(accuracy)), key=lambda j: (-round(accuracy[j], 12), table.channels[j].name)))


def _policies(material: Material) -> tuple[dict[str, tuple[str, PolicyTable]], tuple[tuple[str, str], ...]]:
    """Return every policy by name with its family, fitted on the material, and what cannot enter.

    A maker yields its smallest policies first; those before the one that it refuses have entered.
    """
    table, gold = material.table, material.gold
    refused: list[tuple[str, str]] = []
    likelihoods, joint = class_likelihoods(table, gold), None
    try:
        joint = _joint(material)
    except InputError as error:
        refused.append(("static-cmd, cmd, dp", str(error)))
    fitted = _Fitted(material, likelihoods, _unsupervised(table), joint, _by_accuracy(table, gold))
    longest = _sizes(fitted)[-1]
    if longest < min(len(fitted.best), LONGEST):
        reason = f"they reach more than {MAX_REACHABLE:,} states over {len(table.classes)} classes"
        refused.append((f"fixed panels of more than {longest} calls", reason))
    found: dict[str, tuple[str, PolicyTable]] = {}
    for family, maker in MAKERS.items():
        if fitted.joint is None and family in ("static-cmd", "cmd", "dp"):
            continue
        try:
            for name, policy in maker(fitted):
                found[name] = (family, replace(policy, name=name, loss=material.loss.text))
        except InputError as error:
            refused.append((family, str(error)))
    return found, tuple(refused)


def _sizes(fitted: _Fitted) -> range:
    """Return the sizes of fixed panels whose states fit a table; one call always does."""
    symbols, longest = len(fitted.material.table.classes) + 1, 1
    while longest < min(len(fitted.best), LONGEST) and symbols ** (longest + 2) <= MAX_REACHABLE * (symbols - 1):
        longest += 1
    return range(1, longest + 1)


def _singles(fitted: _Fitted) -> Named:
    channels, classes = fitted.material.table.channels, fitted.material.table.classes
    for j in fitted.best[:LONGEST]:
        yield f"one call of {channels[j].name}", majority_policy(channels, classes, VoteRule((j,), threshold=1.0))


def _majorities(fitted: _Fitted) -> Named:
    channels, classes = fitted.material.table.channels, fitted.material.table.classes
    for k in _sizes(fitted)[1:]:
        yield f"best-{k} majority", majority_policy(channels, classes, VoteRule(fitted.best[:k]))


def _exact_stops(fitted: _Fitted) -> Named:
    channels, classes = fitted.material.table.channels, fitted.material.table.classes
    for k in _sizes(fitted)[2:]:
        yield f"exact-stop of best-{k}", exact_stop_policy(channels, classes, VoteRule(fitted.best[:k]), Keep.LABEL)


def _weighted(fitted: _Fitted) -> Named:
    yield from _votes(fitted, "weighted", fitted.likelihoods)


def _dawid_skene(fitted: _Fitted) -> Named:
    if fitted.unsupervised is not None:
        yield from _votes(fitted, "Dawid-Skene", fitted.unsupervised)


def _votes(fitted: _Fitted, word: str, likelihoods: Likelihoods) -> Named:
    material = fitted.material
    channels, classes = material.table.channels, material.table.classes
    chow = material.loss.kind == "chow"
    tau = 1 - material.loss.kappa if chow else 0.0
    for k in _sizes(fitted)[1:]:
        order = fitted.best[:k]
        policy = weighted_policy(channels, classes, likelihoods, order, tau=tau, calibrated_prior=chow)
        yield f"best-{k} {word}", policy


def _statics(fitted: _Fitted) -> Named:
    assert fitted.joint is not None
    for k in _sizes(fitted):
        yield f"static-CMD-{k}", static_policy(fitted.joint, k, fitted.material.loss)


def _cmds(fitted: _Fitted) -> Named:
    assert fitted.joint is not None
    material = fitted.material
    chow = material.loss.kind == "chow"
    budget = Budget()
    for tau in CURVE:
        settings = CmdSettings(tau, budget=budget, selective=chow)
        yield f"CMD tau={tau:g}", cmd_policy(fitted.joint, material.loss, settings)
    search = Search(budget=budget, selective=chow, mean_cost=material.budget)
    point = freeze_operating_point(material.table, material.gold, material.loss, search, seed=material.seed)
    yield "CMD frozen", cmd_policy(fitted.joint, material.loss, point.settings)


def _optimal(fitted: _Fitted) -> Named:
    assert fitted.joint is not None
    material = fitted.material
    space = state_space(fitted.joint.for_loss(material.loss))
    cheapest = float(material.table.costs.min())
    targets = sorted({cheapest * k for k in _sizes(fitted)} | {material.budget})
    for target in targets:
        optimal = plan_for_cost(space, material.loss, target)
        yield f"DP at cost {target:g}", compile_optimal(optimal, material.loss)


MAKERS: dict[str, Maker] = {
    "single": _singles,
    "majority": _majorities,
    "exact-stop": _exact_stops,
    "weighted": _weighted,
    "dawid-skene": _dawid_skene,
    "static-cmd": _statics,
    "cmd": _cmds,
    "dp": _optimal,
}
"""Families of policies, simplest first; a new one is one line."""


def _cross_fitted(
    material: Material, policies: dict[str, tuple[str, PolicyTable]]
) -> dict[str, tuple[float, float, Array]]:
    """Return loss, mean cost and per-item losses of every policy on calibration items, each fitted on the other half.

    A policy that one half does not yield (a class is missing there) has infinite loss: the other half alone would judge
    it on the items that lack the class.
    """
    table, gold = material.table, material.gold
    fold = cluster_folds(table.clusters, FOLDS, material.seed)
    losses = {name: np.full(len(table), np.nan) for name in policies}
    costs = {name: np.full(len(table), np.nan) for name in policies}
    sides = dict.fromkeys(policies, 0)
    for side in range(FOLDS):
        fit, held = np.flatnonzero(fold != side), np.flatnonzero(fold == side)
        try:
            part, _ = _policies(replace(material, table=table.rows(fit), gold=gold.rows(fit)))
        except InputError:
            continue
        for name, (_, policy) in part.items():
            if name in losses:
                run = replay(policy, table.rows(held))
                sides[name] += 1
                losses[name][held] = item_losses(run, gold.rows(held), len(table.classes), material.loss)
                costs[name][held] = np.where(run.leaf >= 0, run.cost, np.nan)
    found = {}
    for name in policies:
        means = _means(losses[name], costs[name], material) if sides[name] == FOLDS else (math.inf, math.inf)
        found[name] = (*means, losses[name])
    return found


def _means(losses: Array, costs: Array, material: Material) -> tuple[float, float]:
    """Return loss and mean cost over the items with a known loss, infinite when these are less than half of them."""
    known, labels = ~np.isnan(losses), material.gold.labels
    if not known.any() or known.sum() < (labels >= 0).sum() / 2:
        return math.inf, math.inf
    weights = class_weights(Gold(np.where(known, labels, -1)), len(material.table.classes), material.loss)
    return float(np.average(losses[known], weights=weights[known])), float(costs[known].mean())


def item_losses(run: Replay, gold: Gold, classes: int, loss: Loss) -> Array:
    """Return each item's loss, (N): NaN without a label or where the replay lacks a verdict.

    For `ba` it is 1 for a wrong forced label (a fair coin's mean where there is none); weighted by `class_weights` its
    mean is 1 - balanced accuracy. For Chow's loss it is 1 for a wrong accept and kappa for an abstention.
    """
    wrong = np.where(run.label < 0, 1 - 1 / classes, run.label != gold.labels)
    value = wrong if loss.kind == "ba" else np.where(run.accepted, wrong, loss.kappa)
    return np.where((gold.labels >= 0) & (run.leaf >= 0), value, np.nan)


def class_weights(gold: Gold, classes: int, loss: Loss) -> Array:
    """Return the weight of each item, (N): classes weigh the same for `ba`, items for Chow's loss; 0 unlabelled."""
    labelled = gold.labels >= 0
    if loss.kind == "chow":
        return labelled.astype(np.float64)
    counts = np.bincount(gold.labels[labelled].astype(np.intp), minlength=classes)
    present = np.flatnonzero(counts)
    weights = np.zeros(len(gold.labels))
    for c in present:
        weights[gold.labels == c] = 1 / (len(present) * counts[c])
    return weights


def _recommend(contestants: Sequence[Contestant], losses: dict[str, Array], material: Material) -> tuple[int, int]:
    """Return the cheapest policy within one standard error of the lowest cross-fitted loss, and the lowest."""
    fitted = [i for i, one in enumerate(contestants) if math.isfinite(one.crossfit_loss)]
    if not fitted:
        raise InputError(
            "calibration items are too few to choose a policy by cross-fitting: each half needs items of every class"
        )
    allowed = [i for i in fitted if contestants[i].crossfit_cost <= material.budget + 1e-9]
    if not allowed:
        raise InputError(
            f"no policy keeps to a mean cost of {material.budget:g} on calibration items; raise the budget"
        )
    lowest = min(allowed, key=lambda i: (round(contestants[i].crossfit_loss, 12), contestants[i].crossfit_cost, i))
    weights = class_weights(material.gold, len(material.table.classes), material.loss)
    _, clusters = np.unique(np.array(material.table.clusters, dtype=object).astype(str), return_inverse=True)
    best = losses[contestants[lowest].name]

    def close(i: int) -> bool:
        gap = (losses[contestants[i].name] - best) * weights
        known = ~np.isnan(gap)
        sums = np.bincount(clusters[known], weights=gap[known])
        error = math.sqrt(len(sums) / max(1, len(sums) - 1) * float(((sums - sums.mean()) ** 2).sum()))
        return float(gap[known].sum()) <= error + 1e-12

    order = sorted(allowed, key=lambda i: (round(contestants[i].crossfit_cost, 9), contestants[i].crossfit_loss, i))
    return next(i for i in order if i == lowest or close(i)), lowest


def _differences(
    contestants: Sequence[Contestant],
    recommended: int,
    runs: dict[str, Replay],
    held: VerdictTable,
    truth: Gold,
    loss: Loss,
    rng: np.random.Generator,
) -> tuple[RatioEstimate | NotApplicable, ...]:
    """Return the held-out loss of the recommended policy less that of each, with paired intervals over clusters."""
    classes = len(held.classes) if loss.kind == "ba" else 1
    names, clusters = np.unique(np.array(held.clusters, dtype=object).astype(str), return_inverse=True)
    own = item_losses(runs[contestants[recommended].name], truth, len(held.classes), loss)
    group = truth.labels.astype(np.intp) if loss.kind == "ba" else np.zeros(len(held), dtype=np.intp)
    difference = np.zeros((len(names), len(contestants), classes))
    units = np.zeros_like(difference)
    for i, one in enumerate(contestants):
        gap = own - item_losses(runs[one.name], truth, len(held.classes), loss)
        known = ~np.isnan(gap)
        np.add.at(difference[:, i], (clusters[known], group[known]), gap[known])
        np.add.at(units[:, i], (clusters[known], group[known]), 1.0)
    return paired_differences(difference, units, rng=rng)
