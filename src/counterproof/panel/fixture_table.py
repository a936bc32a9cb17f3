"""The fixture's table: each published figure beside its closed form and ours, with z against the closed form.

A published figure comes from one draw of 7 x 512 rows, so its fourth decimal says nothing: what both must agree with,
within sampling error, is the closed form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.core.outcomes import NotApplicable
from counterproof.panel import closed_forms as exact
from counterproof.panel import count_rules as rules
from counterproof.panel.fixture import ERROR, FIXTURES, PANEL, SEEDS, Draws, Errors, Family, errors, oracle
from counterproof.panel.majority import SLACK, THRESHOLD

PUBLISHED_DRAWS = len(SEEDS)
"""Replicates of 512 rows behind a published figure."""
PRIOR = 147 / 512
ADAPTIVE_PRIOR = 2 / 7
ADAPTIVE_TAU = 0.83
UNSTATED = NotApplicable("the paper states no figure")
Estimate = Callable[[Errors], float]
"""A figure of one replicate, from which views err on which records, (512, 5)."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """One row before it is measured.

    Attributes:
        name: What it is.
        family: How views err.
        closed_form: Its expectation.
        estimate: The figure of one replicate.
        published: What the paper states, or why there is nothing to compare.
    """

    name: str
    family: Family
    closed_form: float
    estimate: Estimate
    published: float | NotApplicable = UNSTATED


@dataclass(frozen=True, slots=True)
class FixtureRow:
    """One row of the table.

    Attributes:
        name: What it is.
        published: As `Quantity`.
        closed_form: As `Quantity`.
        ours: Mean over replicates.
        error: Its standard error, sd over sqrt(replicates).
        z: (ours - closed form)/error; 0 where both agree exactly, infinite where a certain figure is missed.
        published_z: (published - closed form) over the error of the paper's seven replicates.
    """

    name: str
    published: float | NotApplicable
    closed_form: float
    ours: float
    error: float
    z: float
    published_z: float | NotApplicable


def fixture_rows(
    quantities: Sequence[Quantity] | None = None,
    fixtures: Sequence[int] = FIXTURES,
    seeds: Sequence[int] = SEEDS,
) -> tuple[FixtureRow, ...]:
    """Return the table over fixtures x seeds; the published one is 1001 .. 1005 x 0 .. 6, 17,920 rows.

    Raises:
        InputError: Fewer than two replicates, which leave no standard error.
    """
    draws = [Draws(fixture, seed) for fixture in fixtures for seed in seeds]
    if len(draws) < 2:
        raise InputError(f"{len(draws)} replicates leave no standard error; give at least two fixtures or seeds")
    drawn: dict[Family, list[Errors]] = {}
    rows = []
    for quantity in published_quantities() if quantities is None else quantities:
        if quantity.family not in drawn:
            drawn[quantity.family] = [errors(draw, quantity.family) for draw in draws]
        rows.append(_measure(quantity, np.array([quantity.estimate(one) for one in drawn[quantity.family]])))
    return tuple(rows)


def _measure(quantity: Quantity, values: NDArray[np.float64]) -> FixtureRow:
    mean, spread = float(values.mean()), float(values.std(ddof=1))
    error = spread / sqrt(len(values))
    published: float | NotApplicable = UNSTATED
    if not isinstance(quantity.published, NotApplicable):
        published = _z(quantity.published - quantity.closed_form, spread / sqrt(PUBLISHED_DRAWS))
    return FixtureRow(
        name=quantity.name,
        published=quantity.published,
        closed_form=quantity.closed_form,
        ours=mean,
        error=error,
        z=_z(mean - quantity.closed_form, error),
        published_z=published,
    )


def _z(gap: float, error: float) -> float:
    if abs(gap) < 1e-12:
        return 0.0
    return gap / error if error > 1e-12 else inf * np.sign(gap)


def published_quantities() -> tuple[Quantity, ...]:
    """Return every figure of the fixture that has a closed form.

    The paper does not say by which rule its sequential figures were made: 4.6934 calls stand beside the two rules that
    come nearest, and 3.8641 calls at .9026 beside the nearest confidence rule. That proves neither to be the rule.
    """
    return (*_votes(), *_dependence(), *_sequential())


def _votes() -> list[Quantity]:
    plain, worse = Family(), Family(error=1 - ERROR)
    accepted = exact.majority_acceptance(ERROR)
    gain = exact.symmetric_gain(ERROR)
    return [
        Quantity("balanced accuracy of one view", plain, 1 - ERROR, _single, 0.6578),
        Quantity("balanced accuracy of majority-5", plain, exact.majority_accuracy(ERROR), _majority, 0.7739),
        Quantity("gain of majority-5", plain, gain, _gain, 0.1161),
        Quantity("gain, independent arm", plain, gain, _gain, 0.1102),
        Quantity("coverage at agreement .8", plain, accepted.coverage, _coverage, 0.4919),
        Quantity("selective accuracy at agreement .8", plain, accepted.accuracy, _selective, 0.8953),
        Quantity("gain at 65 % error", worse, exact.symmetric_gain(1 - ERROR), _gain, -0.1226),
    ]


def _dependence() -> list[Quantity]:
    rows = []
    for kind, form in (("common", exact.common_gain), ("copy-gate", exact.copy_gain)):
        for strength in (0.0, 0.25, 0.5, 0.75, 1.0):
            row = Quantity(f"gain, {kind} {strength:g}", Family(kind, strength), form(strength, ERROR), _gain)
            stated = {0.0: 0.1102, 1.0: 0.0}.get(strength)
            rows.append(row if stated is None else replace(row, published=stated))
    for kind, strength, closed in (
        ("false-positive", 0.75, exact.false_positive_gain(0.75, ERROR)),
        ("false-positive", 0.9, exact.false_positive_gain(0.9, ERROR)),
        ("block", 0.5, exact.block_gain(0.5, ERROR)),
        ("class-common", 0.5, exact.class_common_gain(0.5, ERROR)),
        ("beta-binomial", 0.1, exact.beta_binomial_gain(0.1, ERROR)),
        ("first-wrong", 0.9, exact.first_wrong_gain(0.9, ERROR)),
    ):
        rows.append(Quantity(f"gain, {kind} {strength:g}", Family(kind, strength), closed, _gain))
    adversarial = Family("adversarial", 0.9)
    rows.append(Quantity("gain, adversarial .9", adversarial, exact.adversarial_gain(0.9), _gain, -0.0125))
    return rows


def _sequential() -> list[Quantity]:
    plain = Family()
    rows = [
        _calls(rules.exact_stop_label(PANEL)),
        _calls(rules.exact_stop_outcome(PANEL)),
        _calls(rules.exact_stop_both(PANEL)),
        replace(_calls(rules.abstain_certain(PANEL)), published=4.6934),
        Quantity("calls, three unanimous and one more", plain, exact.confirmed_calls(ERROR), _confirmed_calls, 4.6934),
    ]
    adaptive = rules.adaptive_confidence(PANEL, ADAPTIVE_TAU, ERROR, ADAPTIVE_PRIOR)
    for rule, stated in ((rules.prefix_stop(PANEL, 3), None), (adaptive, (3.8641, 0.9026))):
        figures = rules.exact_figures(rule, ERROR, PRIOR)
        calls, accuracy = _calls(rule), _of_rule(rule, _accepted_accuracy)
        coverage = _of_rule(rule, lambda run, _: float(run.accepted.mean()))
        right = Quantity(f"selective accuracy, {rule.name}", plain, figures.accuracy, accuracy)
        rows += [
            calls if stated is None else replace(calls, published=stated[0]),
            right if stated is None else replace(right, published=stated[1]),
            Quantity(f"coverage, {rule.name}", plain, figures.coverage, coverage),
        ]
    return rows


def _balanced(wrong: NDArray[np.bool_]) -> float:
    y = oracle()
    return 1 - float(wrong[y == 0].mean() + wrong[y == 1].mean()) / 2


def _single(found: Errors) -> float:
    return _balanced(found[:, 0])


def _majority(found: Errors) -> float:
    return _balanced(found.sum(axis=1) > PANEL // 2)


def _gain(found: Errors) -> float:
    return _majority(found) - _single(found)


def _agreed(found: Errors) -> NDArray[np.bool_]:
    wrong = found.sum(axis=1)
    agreed: NDArray[np.bool_] = np.maximum(wrong, PANEL - wrong) >= THRESHOLD * PANEL - SLACK
    return agreed


def _coverage(found: Errors) -> float:
    return float(_agreed(found).mean())


def _selective(found: Errors) -> float:
    return float((found.sum(axis=1) <= PANEL // 2)[_agreed(found)].mean())


def _of_rule(rule: rules.CountRule, figure: Callable[[rules.RuleRun, NDArray[np.int8]], float]) -> Estimate:
    def estimate(found: Errors) -> float:
        y = oracle()
        return figure(rules.run_rule(rule, (y[:, None] ^ found).astype(np.int8)), y)

    return estimate


def _calls(rule: rules.CountRule) -> Quantity:
    closed = rules.exact_figures(rule, ERROR, PRIOR).calls
    return Quantity(f"calls, {rule.name}", Family(), closed, _of_rule(rule, lambda run, _: float(run.calls.mean())))


def _accepted_accuracy(run: rules.RuleRun, y: NDArray[np.int8]) -> float:
    return float((run.label == y)[run.accepted].mean())


def _confirmed_calls(found: Errors) -> float:
    first = found[:, :3].sum(axis=1)
    return PANEL - float(((first == 0) | (first == 3)).mean())
