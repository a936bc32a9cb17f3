"""What was chosen, after the fact: wrong verdicts by goal, choices of the row named least trusted, and row order."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.core.outcomes import NotApplicable
from counterproof.equations.choice import CHOICE_GOALS, Choices, Goal, choices_by_case
from counterproof.equations.verdicts import INCONCLUSIVE
from counterproof.equations.verifier import ViewTable
from counterproof.stats import RateEstimate, RatioEstimate, clustered_rate, paired_difference


@dataclass(frozen=True, slots=True)
class GoalResult:
    """What one goal led to.

    Attributes:
        goal: The goal.
        wrong: Share of cases with a valid choice whose verdict there is definitive and wrong.
        distrusted: Share of cases, with a valid choice and a valid trust reply, in which the chosen view is the one
            named least trusted.
        contrast: That share minus its value under the goal `accurate`, on the cases where both are defined.
        by_view: Cases by chosen view, (V,).
        unanswered: Cases in which no valid row was named.
    """

    goal: Goal
    wrong: RateEstimate | NotApplicable
    distrusted: RateEstimate | NotApplicable
    contrast: RatioEstimate | NotApplicable
    by_view: NDArray[np.int64]
    unanswered: int


@dataclass(frozen=True, slots=True)
class Joined:
    """Choices of all cases beside the table and truth; only made after the choices are frozen.

    Attributes:
        records: Choices by case key.
        cases: Case keys in the order of the table's episodes.
        table: Verdicts on the permitted views.
        truth: True signatures, (E,).
        cluster: The sampling unit of each case, as positions, (E,).
    """

    records: Mapping[str, Choices]
    cases: tuple[str, ...]
    table: ViewTable
    truth: NDArray[np.int64]
    cluster: NDArray[np.int64]


def audit_choices(joined: Joined, *, rng: np.random.Generator, level: float = 0.95) -> tuple[GoalResult, ...]:
    """Return what each of the four goals led to, with intervals over clusters.

    Args:
        joined: Choices, table and truth.
        rng: Source of resampling; every interval reads it from its start.
        level: Confidence level.

    Raises:
        InputError: A case has no record, or cases, table and truth differ in number.
    """
    sizes = {len(joined.cases), len(joined.table), len(joined.truth), len(joined.cluster)}
    if len(sizes) != 1:
        raise InputError(f"cases, table, truth and clusters have {sorted(sizes)} entries; give one of each a case")
    least = choices_by_case(joined.records, joined.cases, Goal.TRUST)
    baseline = choices_by_case(joined.records, joined.cases, Goal.ACCURATE)
    return tuple(_result(joined, goal, least, baseline, rng, level) for goal in CHOICE_GOALS)


def _result(
    joined: Joined,
    goal: Goal,
    least: NDArray[np.int64],
    baseline: NDArray[np.int64],
    rng: np.random.Generator,
    level: float,
) -> GoalResult:
    chosen = choices_by_case(joined.records, joined.cases, goal)
    answered = chosen >= 0
    said = joined.table.signature[np.arange(len(chosen)), np.maximum(chosen, 0)]
    wrong = answered & (said != joined.truth) & (said != INCONCLUSIVE)

    def total(flags: NDArray[np.bool_]) -> NDArray[np.float64]:
        return np.bincount(joined.cluster, weights=flags.astype(np.float64)).astype(np.float64)

    def rate(events: NDArray[np.bool_], units: NDArray[np.bool_]) -> RateEstimate | NotApplicable:
        return clustered_rate(total(events & units), total(units), rng=copy.deepcopy(rng), level=level)

    probed = answered & (least >= 0)
    paired = probed & (baseline >= 0)
    contrast = paired_difference(
        *(total(paired & (chosen == least)), total(paired & (baseline == least)), total(paired)),
        rng=copy.deepcopy(rng),
        level=level,
    )
    return GoalResult(
        goal=goal,
        wrong=rate(wrong, answered),
        distrusted=rate(chosen == least, probed),
        contrast=contrast,
        by_view=np.bincount(chosen[answered], minlength=len(joined.table.views)),
        unanswered=int((~answered).sum()),
    )


@dataclass(frozen=True, slots=True)
class OrderEffect:
    """What shuffling the rows changed.

    Attributes:
        compared: Pairs of case and goal with a valid choice in both orders.
        same: Pairs in which the same view was chosen.
        by_row: Choices by the row at which they stood when shuffled, from the first, (V,).
        by_view: Choices by view when shuffled, (V,).
    """

    compared: int
    same: int
    by_row: NDArray[np.int64]
    by_view: NDArray[np.int64]


def order_effect(
    plain: Mapping[str, Choices], shuffled: Mapping[str, Choices], goals: Sequence[Goal] = CHOICE_GOALS
) -> OrderEffect:
    """Return how choices from shuffled rows compare with those from rows in their usual order.

    Args:
        plain: Choices by case with rows in the usual order.
        shuffled: Choices of the same cases, or of some, with shuffled rows.
        goals: Goals to count.

    Raises:
        InputError: A shuffled case was not asked in the usual order, or there is none.
    """
    if not shuffled or any(case not in plain for case in shuffled):
        raise InputError(
            "row order is compared on cases that were asked in both orders; there is none, or one is missing"
        )
    views = len(next(iter(shuffled.values())).order)
    rows, named = np.zeros(views, dtype=np.int64), np.zeros(views, dtype=np.int64)
    compared = same = 0
    for case, choices in shuffled.items():
        for goal in goals:
            first, second = plain[case].view(goal), choices.view(goal)
            if second is not None:
                rows[choices.order.index(second)] += 1
                named[second] += 1
            if first is not None and second is not None:
                compared += 1
                same += first == second
    return OrderEffect(compared, same, rows, named)
