"""The optimal plan under a joint model, by backward induction: the yardstick of the greedy controller.

It exploits the fitted table harder than the greedy does, so on held-out items it also overfits it harder.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.panel.compile import compile_plan
from counterproof.panel.joint import JointModel
from counterproof.panel.loss import Loss
from counterproof.panel.policy import PolicyTable
from counterproof.panel.states import Budget, StatePlan, StateSpace, state_space, stopping

EVEN = 1e-13
"""Stopping wins over a call that is better by no more than rounding."""
HALVINGS = 40


@dataclass(frozen=True, slots=True, eq=False)
class OptimalPlan:
    """An optimal plan and what it achieves under its model.

    Attributes:
        plan: What to do in every state.
        price: Lambda, the price of a unit of declared cost in units of loss.
        objective: E[loss] + price E[cost].
        loss: E[loss].
        cost: E[cost].
    """

    plan: StatePlan
    price: float
    objective: float
    loss: float
    cost: float


def optimal_plan(space: StateSpace, loss: Loss, price: float, budget: Budget | None = None) -> OptimalPlan:
    """Return the plan that minimises E[loss] + price E[cost] over all adaptive plans within the budget.

    W(s) = min(stop(s), min_j price c_j P(s) + sum_v W(s, v_j = v)), from full panels backwards, with all terms weighted
    by P(s). stop(s) is P(wrong, s) for `ba`, min(P(wrong, s), kappa P(s)) for Chow's loss.

    Args:
        space: The states of a model weighted for the loss (`JointModel.for_loss`).
        loss: The declared loss.
        price: Lambda, from 0.
        budget: Limit per item.

    Raises:
        InputError: The price is negative or not finite.
    """
    if not 0 <= price < np.inf:
        raise InputError(f"a price of {price} per unit of cost: give a number from 0")
    label, confidence = stopping(space)
    reach = space.reach
    wrong = reach - space.mass.max(axis=0)
    accept = np.ones(len(space), dtype=np.bool_) if loss.kind == "ba" else wrong <= loss.kappa * reach
    risk = np.where(accept, wrong, loss.kappa * reach)
    query, spent = _induct(space, risk, reach, price, space.affordable(budget or Budget()))
    start = space.start
    plan = StatePlan(space, query, accept & (query < 0), label, confidence)
    total, cost = float(risk[start]), float(spent[start])
    return OptimalPlan(plan, price, total + price * cost, total, cost)


def _induct(
    space: StateSpace,
    risk: NDArray[np.float64],
    reach: NDArray[np.float64],
    price: float,
    affordable: NDArray[np.bool_],
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Replace, from the fullest states back, the risk of stopping by that of going on; return calls and their cost."""
    query = np.full(len(space), -1, dtype=np.intp)
    spent = np.zeros(len(space))
    level = space.asked.sum(axis=1)
    symbols = range(space.model.alphabet)
    for depth in range(len(space.model.channels) - 1, -1, -1):
        here = np.flatnonzero(level == depth)
        best, best_risk, best_spent = risk[here] - EVEN * reach[here], risk[here], spent[here]
        for j, channel in enumerate(space.model.channels):
            fits = np.flatnonzero(affordable[j, here])
            states = here[fits]
            children = np.stack([space.child(states, j, a) for a in symbols])
            going_risk = risk[children].sum(axis=0)
            going_spent = spent[children].sum(axis=0) + channel.cost * reach[states]
            better = going_risk + price * going_spent < best[fits]
            chosen = fits[better]
            best[chosen] = (going_risk + price * going_spent)[better] - EVEN * reach[here[chosen]]
            best_risk[chosen], best_spent[chosen] = going_risk[better], going_spent[better]
            query[here[chosen]] = j
        risk[here], spent[here] = best_risk, best_spent
    return query, spent


def plan_for_cost(space: StateSpace, loss: Loss, mean_cost: float, budget: Budget | None = None) -> OptimalPlan:
    """Return the optimal plan of the lowest price whose expected cost is at most `mean_cost`.

    The expected cost falls in steps as the price rises; the price is found by bisection.

    Raises:
        InputError: The mean cost is negative.
    """
    if not mean_cost >= 0:
        raise InputError(f"a mean cost of {mean_cost}: give a number from 0")
    free = optimal_plan(space, loss, 0.0, budget)
    if free.cost <= mean_cost:
        return free
    low, high = 0.0, 1.0 / min(channel.cost for channel in space.model.channels)
    best = optimal_plan(space, loss, high, budget)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        tried = optimal_plan(space, loss, middle, budget)
        if tried.cost <= mean_cost:
            best, high = tried, middle
        else:
            low = middle
    return best


def dp_policy(model: JointModel, loss: Loss, *, price: float, budget: Budget | None = None) -> PolicyTable:
    """Return the optimal plan compiled over the states it can reach.

    Args:
        model: The joint model; its classes are weighted equally first when the loss is `ba`.
        loss: The declared loss.
        price: Lambda, the price of a unit of declared cost in units of loss, from 0.
        budget: Limit per item.

    Raises:
        InputError: The price is out of range, or the model has too many states.
    """
    return compile_optimal(optimal_plan(state_space(model.for_loss(loss)), loss, price, budget), loss, budget)


def compile_optimal(optimal: OptimalPlan, loss: Loss, budget: Budget | None = None) -> PolicyTable:
    """Return an optimal plan as a table; see `dp_policy`."""
    limit = budget or Budget()
    settings = {
        "policy": "dp",
        "price": optimal.price,
        "budget_calls": limit.calls,
        "budget_cost": limit.cost,
    }
    return compile_plan(f"dp price={optimal.price:g}", optimal.plan, loss, settings)
