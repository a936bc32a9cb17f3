"""Charts of a panel audit, as data."""

from __future__ import annotations

from collections.abc import Mapping

from counterproof.core.analysis import Cell, Chart, ChartKind
from counterproof.core.outcomes import NotApplicable
from counterproof.panel.contest import Contest
from counterproof.panel.evidence import PanelEvidence
from counterproof.panel.table import VerdictTable
from counterproof.panel.tree import tree_rows

MOST = 16
"""Channels up to which a heat map is drawn."""


def all_charts(evidence: PanelEvidence, table: VerdictTable) -> tuple[Chart, ...]:
    """Return the charts that have anything to show."""
    contest = evidence.contest
    made = [
        *((tree_chart(contest), frontier_chart(contest)) if isinstance(contest, Contest) else ()),
        order_chart(evidence),
        heat_chart(evidence, table),
    ]
    return tuple(chart for chart in made if chart.rows)


def heat_chart(evidence: PanelEvidence, table: VerdictTable) -> Chart:
    """Return the error correlations of all pairs as a symmetric heat map."""
    rows: list[Mapping[str, Cell]] = []
    if len(table.channels) <= MOST:
        found: dict[tuple[str, str], float] = {}
        for pair in evidence.diagnostics.pairs:
            value = pair.measures["error_phi"].estimate
            if not isinstance(value, NotApplicable):
                found[pair.a, pair.b] = found[pair.b, pair.a] = float(value)
        names = [channel.name for channel in table.channels]
        rows = [
            {"x": one, "y": other, "value": 1.0 if one == other else found[one, other]}
            for other in names
            for one in names
            if one == other or (one, other) in found
        ]
    return Chart(
        "error correlation",
        "Error correlation (phi) of every pair of channels",
        "How often two channels are wrong together, beyond chance. One is a copy, zero is what independent channels "
        "show; a bright block is one opinion that is paid for several times.",
        ChartKind.HEAT,
        tuple(rows),
        "channel",
        "channel",
    )


def order_chart(evidence: PanelEvidence) -> Chart:
    """Return what each further call adds, in buying order."""
    rows: tuple[Mapping[str, Cell], ...] = tuple(
        {"label": f"{i}. {one.channel}", "value": one.adds, "series": "adds"} for i, one in enumerate(evidence.order, 1)
    )
    return Chart(
        "information added",
        "What each further call adds",
        f"The information about the label that a call adds to those before it, of {evidence.entropy:.2f} bits in all. "
        "Where the bars become short, further calls buy repetition.",
        ChartKind.BARS,
        rows,
        "information added (bits)",
        "call",
    )


def frontier_chart(contest: Contest) -> Chart:
    """Return loss against mean cost for every family of policies."""
    rows: list[Mapping[str, Cell]] = []
    for one in sorted(contest.contestants, key=lambda one: (one.family, one.scores.mean_cost)):
        if not isinstance(one.scores.loss, NotApplicable):
            rows.append({"x": one.scores.mean_cost, "y": float(one.scores.loss), "series": one.family})
    chosen = contest.contestants[contest.recommended]
    return Chart(
        "frontier",
        "Loss against cost on held-out items, by family of policies",
        "Lower and further left is better. The dashed line is the recommended policy's mean cost.",
        ChartKind.LINES,
        tuple(rows),
        "mean declared cost an item",
        "declared loss",
        ((f"recommended: {chosen.name}", chosen.scores.mean_cost),),
    )


def tree_chart(contest: Contest) -> Chart:
    """Return the recommended policy as a tree."""
    policy = contest.contestants[contest.recommended].policy
    return Chart(
        "policy tree",
        f"The recommended policy: {policy.name}",
        "From left to right: which channel is asked, what it says, and where the policy stops. Numbers are the "
        "probability of the label under the policy's model.",
        ChartKind.TREE,
        tree_rows(policy),
        "calls made",
        "",
    )
