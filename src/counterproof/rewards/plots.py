"""Charts of a rewards audit, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from counterproof.core.analysis import Cell, Chart, ChartKind
from counterproof.rewards.attacks import AttackRate
from counterproof.rewards.repair import Repair
from counterproof.rewards.selection import Selector
from counterproof.rewards.tally import Tally
from counterproof.stats.rates import RateEstimate

POINTS = 200
"""Points kept of an empirical distribution."""


def charts_of(rates: Sequence[AttackRate], repair: Repair, tally: Tally) -> tuple[Chart, ...]:
    """Return the charts that have anything to show."""
    charts = (attack_chart(rates), margin_chart(rates, tally), budget_chart(rates), lattice_chart(repair, tally))
    return tuple(chart for chart in charts if chart.rows)


def _plain(rates: Sequence[AttackRate]) -> list[tuple[AttackRate, RateEstimate]]:
    return [
        (one, one.rate)
        for one in rates
        if isinstance(one.rate, RateEstimate) and not one.column.strict and not one.column.common
    ]


def attack_chart(rates: Sequence[AttackRate]) -> Chart:
    """Return attack success with intervals, by cell and selector."""
    rows = tuple(
        {
            "label": one.column.cell.name,
            "estimate": rate.estimate,
            "lower": rate.row_interval.lower,
            "upper": rate.row_interval.upper,
            "series": one.column.selector.value,
        }
        for one, rate in _plain(rates)
        if one.column.selector is not Selector.LAST_POSITION
    )
    return Chart(
        "attack success",
        "Attack success by attack and selector",
        "Each point is the share of trajectories whose broken version the reward does not score lower; the line is its "
        "95 % interval over questions. Zero is what a sound reward shows.",
        ChartKind.INTERVALS,
        rows,
        "attack success rate (share of trajectories)",
        "attack",
    )


def margin_chart(rates: Sequence[AttackRate], tally: Tally) -> Chart:
    """Return the empirical distribution of the worst margins of each primary cell."""
    rows: list[Mapping[str, Cell]] = []
    for one, _ in _plain(rates):
        if one.column.selector is Selector.ORACLE_WORST and one.column.cell.primary:
            values = np.sort(np.asarray(tally.margins[one.index]))
            picks = np.unique(np.linspace(0, len(values) - 1, min(POINTS, len(values))).round().astype(int))
            rows += [
                {"x": float(values[i]), "y": (int(i) + 1) / len(values), "series": one.column.cell.name} for i in picks
            ]
    return Chart(
        "margins",
        "How far the reward keeps original and counterfactual apart",
        "The share of trajectories whose worst margin is at most x. What lies at or left of zero is fooled; a steep "
        "rise just right of zero is a reward that resists by a hair.",
        ChartKind.STEPS,
        tuple(rows),
        "worst margin (reward units)",
        "share of trajectories",
        (("tie", 0.0),),
    )


def budget_chart(rates: Sequence[AttackRate]) -> Chart:
    """Return attack success by the number of passages tried, where a generator has several budgets."""
    found = [(one, rate) for one, rate in _plain(rates) if one.column.cell.budget is not None]
    budgets: dict[tuple[int, str], set[int]] = {}
    for one, _ in found:
        budgets.setdefault((one.column.cell.edit, one.column.cell.generator), set()).add(one.column.cell.budget or 0)
    rows = tuple(
        {
            "x": one.column.cell.budget,
            "y": rate.estimate,
            "series": f"{one.column.cell.generator}, {one.column.selector.value}",
            "lower": rate.row_interval.lower,
            "upper": rate.row_interval.upper,
        }
        for one, rate in found
        if len(budgets[one.column.cell.edit, one.column.cell.generator]) > 1
        and one.column.selector is not Selector.LAST_POSITION
    )
    return Chart(
        "budget",
        "Attack success by the attacker's budget",
        "How much the attack gains when it may try more passages; the band is the 95 % interval over questions. Under "
        "oracle_worst it cannot fall.",
        ChartKind.LINES,
        rows,
        "passages tried, K",
        "attack success rate (share of trajectories)",
    )


def lattice_chart(repair: Repair, tally: Tally) -> Chart:
    """Return the share still fooled under every subset of detectors, by primary attack."""
    rows: tuple[Mapping[str, Cell], ...] = tuple(
        {"x": cell, "y": tally.lattice.label(subset), "value": counts[i] / repair.units[i]}
        for subset, counts in enumerate(repair.fooled)
        for i, cell in enumerate(repair.cells)
    )
    return Chart(
        "lattice",
        "Share of units still fooled under each set of added penalties",
        "Each row adds a set of detectors to the reward as penalties; a row without colour closes every attack.",
        ChartKind.HEAT,
        rows if len(repair.fooled) <= 32 else (),
        "attack",
        "penalties added",
    )
