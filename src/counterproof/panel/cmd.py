"""The greedy controller (CMD, VSTRESS-CA): ask what surely adds most information per unit of cost, stop when clear."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.panel.compile import compile_plan
from counterproof.panel.information import state_information
from counterproof.panel.joint import JointModel, choose_joint, cluster_folds
from counterproof.panel.loss import Loss
from counterproof.panel.policy import PolicyTable
from counterproof.panel.states import SLACK, Budget, StatePlan, StateSpace, state_space, stopping
from counterproof.panel.table import NOT_QUERIED, Gold, VerdictTable

TAUS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.97, 0.98, 0.99, 0.995)
ETAS = (0.0, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
"""Nats per call of mean cost; the search divides them by that cost."""
ROUNDED = 12
"""Decimals to which utilities are compared: equal channels must tie whatever the order of their sums."""


@dataclass(frozen=True, slots=True)
class CmdSettings:
    """An operating point.

    Attributes:
        tau: Stop and accept when the most probable class reaches this, in [0, 1].
        eta: Least utility that is worth a call, nats per unit of cost, from 0; infinite to ask nothing.
        z: Standard errors taken off the information.
        budget: Limit per item.
        selective: Abstain where it stops below `tau`; else accept the most probable class there too.
    """

    tau: float
    eta: float = 0.0
    z: float = 1.0
    budget: Budget = field(default_factory=Budget)
    selective: bool = True

    def __post_init__(self) -> None:
        if not (0 <= self.tau <= 1 and self.eta >= 0 and 0 <= self.z < math.inf):
            raise InputError(f"tau {self.tau}, eta {self.eta}, z {self.z}: give tau in [0, 1], the others from 0")


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """The best affordable call in every state.

    Attributes:
        channel: Its channel, -1 where none is affordable, (S).
        utility: max(0, I - bias - z SE) / cost, nats per unit of cost, (S); minus infinity where there is none.
    """

    channel: NDArray[np.intp]
    utility: NDArray[np.float64]


def rank_calls(space: StateSpace, z: float, budget: Budget) -> Ranking:
    """Return the call of highest utility in every state; ties go to the higher point estimate per cost, then by name.

    Args:
        space: The states.
        z: Standard errors taken off.
        budget: Calls that do not fit are not considered.
    """
    information = state_information(space)
    costs = np.array([channel.cost for channel in space.model.channels])[:, None]
    utility = np.round(information.lower(z) / costs, ROUNDED)
    point = np.round(information.point / costs, ROUNDED)
    open_calls = space.affordable(budget)
    best = np.full(len(space), -1, dtype=np.intp)
    best_utility, best_point = (np.full(len(space), -np.inf) for _ in range(2))
    for j in sorted(range(len(costs)), key=lambda j: space.model.channels[j].name):
        level = utility[j] == best_utility
        better = open_calls[j] & ((utility[j] > best_utility) | (level & (point[j] > best_point)))
        best[better], best_utility[better], best_point[better] = j, utility[j, better], point[j, better]
    return Ranking(best, best_utility)


def cmd_plan(space: StateSpace, settings: CmdSettings, ranking: Ranking | None = None) -> StatePlan:
    """Return what the controller does in every state.

    Accept if the largest posterior is at least tau; else query the call of highest utility if that is at least eta and
    fits the budget; else abstain.

    Args:
        space: The states of a model weighted for the loss (`JointModel.for_loss`).
        settings: The operating point.
        ranking: `rank_calls` of the same space, z and budget, when it is at hand.
    """
    calls = rank_calls(space, settings.z, settings.budget) if ranking is None else ranking
    label, confidence = stopping(space)
    clear = confidence >= settings.tau - SLACK
    ask = ~clear & (calls.channel >= 0) & (calls.utility >= settings.eta)
    accept = ~ask & (clear | (not settings.selective))
    return StatePlan(space, np.where(ask, calls.channel, -1), accept, label, confidence)


def cmd_policy(model: JointModel, loss: Loss, settings: CmdSettings) -> PolicyTable:
    """Return the controller compiled over the states it can reach.

    Args:
        model: The joint model; its classes are weighted equally first when the loss is `ba`.
        loss: The declared loss.
        settings: The operating point.

    Raises:
        InputError: The model has too many states.
    """
    plan = cmd_plan(state_space(model.for_loss(loss)), settings)
    return compile_plan(f"cmd tau={settings.tau:g} eta={settings.eta:g}", plan, loss, _plain(settings))


@dataclass(frozen=True, slots=True)
class Search:
    """Which operating points are tried.

    Attributes:
        taus: Values of tau; None for `TAUS`, and 1 - kappa for Chow's loss.
        etas: Values of eta; None for `ETAS` over the mean cost of a call, and infinity (ask nothing) for Chow's loss.
        z: Standard errors taken off.
        budget: Limit per item.
        selective: As in `CmdSettings`.
        mean_cost: Only points whose cross-fitted mean cost is at most this are taken; None for no limit.
    """

    taus: tuple[float, ...] | None = None
    etas: tuple[float, ...] | None = None
    z: float = 1.0
    budget: Budget = field(default_factory=Budget)
    selective: bool = True
    mean_cost: float | None = None


@dataclass(frozen=True, slots=True)
class OperatingFigures:
    """One point of the search, on the half that did not fit its model.

    Attributes:
        tau: Threshold of the posterior.
        eta: Threshold of the utility.
        loss: The declared loss.
        coverage: Share accepted.
        calls: Mean calls an item.
        cost: Mean declared cost an item.
    """

    tau: float
    eta: float
    loss: float
    coverage: float
    calls: float
    cost: float


@dataclass(frozen=True, slots=True, eq=False)
class OperatingPoint:
    """The point that was frozen, and what it was chosen among.

    Attributes:
        settings: The operating point.
        model: The joint model fitted on all calibration rows.
        chosen: Its cross-fitted figures.
        points: All figures, in the order tried: they draw the frontier.
    """

    settings: CmdSettings
    model: JointModel
    chosen: OperatingFigures
    points: tuple[OperatingFigures, ...]


def freeze_operating_point(
    table: VerdictTable, gold: Gold, loss: Loss, search: Search | None = None, *, seed: int = 0
) -> OperatingPoint:
    """Return the (tau, eta) of lowest loss by 2-fold cross-fitting on calibration rows.

    Each half of the clusters is replayed under a model that the other half chose and fitted; both halves are pooled.
    Of equal losses the cheaper wins. With a few hundred rows the choice is itself noisy, and tends to be cautious.

    Args:
        table: Calibration verdicts; only labelled rows in which every channel was queried are used.
        gold: Their labels.
        loss: The declared loss.
        search: What is tried.
        seed: Keys both halves and the folds within.

    Raises:
        InputError: As `choose_joint` for either half, or no point keeps to the mean cost.
    """
    wanted = search or Search()
    complete = np.flatnonzero((table.symbols != NOT_QUERIED).all(axis=1) & (gold.labels >= 0))
    rows, labels = table.rows(complete), gold.rows(complete)
    half = cluster_folds(rows.clusters, 2, seed)
    grid = [
        CmdSettings(tau, eta, wanted.z, wanted.budget, wanted.selective)
        for tau in _taus(wanted, loss)
        for eta in _etas(wanted, loss, float(table.costs.mean()))
    ]
    ended = [np.empty((4, len(rows))) for _ in grid]
    for side in (0, 1):
        fit, held = np.flatnonzero(half != side), np.flatnonzero(half == side)
        model = choose_joint(rows.rows(fit), labels.rows(fit), seed=seed).model
        _replay_grid(state_space(model.for_loss(loss)), grid, rows.symbols[held], held, ended)
    truth = labels.labels.astype(np.int64)
    points = tuple(_figures(one, end, truth, loss) for one, end in zip(grid, ended, strict=True))
    best = _lowest(points, wanted.mean_cost)
    whole = choose_joint(table, gold, seed=seed).model
    return OperatingPoint(grid[best], whole, points[best], points)


def _replay_grid(
    space: StateSpace,
    grid: Sequence[CmdSettings],
    symbols: NDArray[np.int8],
    items: NDArray[np.intp],
    ended: list[NDArray[np.float64]],
) -> None:
    """Fill label, accepted, calls and cost of some items for every point of the grid."""
    ranking = rank_calls(space, grid[0].z, grid[0].budget)
    calls = space.asked.sum(axis=1)
    for settings, end in zip(grid, ended, strict=True):
        plan = cmd_plan(space, settings, ranking)
        leaf = plan.walk(symbols)
        end[:, items] = plan.label[leaf], plan.accept[leaf], calls[leaf], space.cost[leaf]


def _figures(settings: CmdSettings, end: NDArray[np.float64], truth: NDArray[np.int64], loss: Loss) -> OperatingFigures:
    wrong, accepted = end[0] != truth, end[1] > 0
    if loss.kind == "ba":
        value = float(np.mean([wrong[truth == c].mean() for c in np.unique(truth)]))
    else:
        value = float((wrong & accepted).mean() + loss.kappa * (~accepted).mean())
    calls, cost = float(end[2].mean()), float(end[3].mean())
    return OperatingFigures(settings.tau, settings.eta, value, float(accepted.mean()), calls, cost)


def _lowest(points: Sequence[OperatingFigures], mean_cost: float | None) -> int:
    limit = math.inf if mean_cost is None else mean_cost + SLACK
    allowed = [i for i, point in enumerate(points) if point.cost <= limit]
    if not allowed:
        least = min(point.cost for point in points)
        raise InputError(f"no operating point keeps to a mean cost of {mean_cost}; the cheapest tried costs {least:g}")
    return min(allowed, key=lambda i: (round(points[i].loss, ROUNDED), round(points[i].cost, ROUNDED), i))


def _taus(search: Search, loss: Loss) -> tuple[float, ...]:
    if search.taus is not None:
        return search.taus
    return tuple(sorted({*TAUS, 1 - loss.kappa})) if loss.kind == "chow" else TAUS


def _etas(search: Search, loss: Loss, mean_cost: float) -> tuple[float, ...]:
    if search.etas is not None:
        return search.etas
    scaled = tuple(eta / mean_cost for eta in ETAS)
    return (*scaled, math.inf) if loss.kind == "chow" else scaled


def _plain(settings: CmdSettings) -> dict[str, float | int | str | bool | None]:
    """Return the operating point in plain JSON values."""
    return {
        "policy": "cmd",
        "tau": settings.tau,
        "eta": "inf" if math.isinf(settings.eta) else settings.eta,
        "z": settings.z,
        "budget_calls": settings.budget.calls,
        "budget_cost": settings.budget.cost,
        "selective": settings.selective,
    }
