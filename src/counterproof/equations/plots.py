"""Charts of this room's analyses, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from counterproof.core.analysis import Cell, Chart, ChartKind
from counterproof.core.outcomes import NotApplicable
from counterproof.equations.episodes1d import LabResult
from counterproof.equations.evidence import OPEN
from counterproof.equations.families import FAMILIES
from counterproof.equations.measured import ViewEvidence, wrong_of
from counterproof.equations.views import View

MOST_STEPS = 120
"""Most points of one empirical distribution; it is thinned to evenly spaced ranks."""


def drawn(*charts: Chart) -> tuple[Chart, ...]:
    """Return the charts that have anything to show."""
    return tuple(chart for chart in charts if chart.rows)


def audit_charts(evidence: ViewEvidence) -> tuple[Chart, ...]:
    """Return the charts that every audit of evidence views has."""
    return policy_chart(evidence), score_chart(evidence)


def policy_chart(evidence: ViewEvidence) -> Chart:
    """Return error against coverage, one point a policy."""
    rows: list[Mapping[str, Cell]] = []
    for one in evidence.audit.policies:
        if isinstance(one.wrong, NotApplicable) or isinstance(one.coverage, NotApplicable):
            continue
        single = one.name.startswith("view:")
        rows.append(
            {
                "x": one.coverage.estimate,
                "y": one.wrong.estimate,
                "series": "single views" if single and one is not evidence.fixed else one.name,
            }
        )
    rows.sort(key=lambda row: (str(row["series"]), float(row["x"] or 0), float(row["y"] or 0)))
    return Chart(
        "coverage and error",
        "Error against coverage of every policy",
        "Lower and further right is better. Score-max is where a fixed verifier ends when its evidence is chosen; "
        "agreement buys less error with less coverage.",
        ChartKind.LINES,
        tuple(rows),
        "coverage: share of items with a definitive verdict",
        "share of items with a wrong verdict",
    )


def score_chart(evidence: ViewEvidence) -> Chart:
    """Return the distribution of the score over cells with a right, a wrong and no definitive verdict."""
    table, right = evidence.table, evidence.right[:, None]
    permitted = [table.views.index(one.view) for one in evidence.audit.views]
    said, score = table.verdict[:, permitted], table.score[:, permitted]
    usable = table.scored[:, permitted] & (right >= 0)
    rows: list[Mapping[str, Cell]] = []
    for name, part in (
        ("right", (said >= 0) & (said == right)),
        ("wrong", wrong_of(said, right)),
        ("left open", said == OPEN),
    ):
        rows += [{"x": x, "y": y, "series": name} for x, y in _steps(score[part & usable])]
    return Chart(
        "score and truth",
        "Score against truth: cumulative share of cells by score",
        "A curve further right is paid more. Where the wrong verdicts' curve lies right of the right ones', the score "
        "pays for error.",
        ChartKind.STEPS,
        tuple(rows),
        "score",
        "cumulative share of cells",
    )


def _steps(values: NDArray[np.float64]) -> list[tuple[float, float]]:
    if not values.size:
        return []
    ordered = np.sort(values)
    ranks = np.unique(np.linspace(0, ordered.size - 1, min(ordered.size, MOST_STEPS)).round().astype(int))
    return [(float(ordered[r]), float((r + 1) / ordered.size)) for r in ranks]


def residual_chart(result: LabResult) -> Chart:
    """Return the median best residual by samples shown, at the most test functions, one line a family."""
    rows: list[Mapping[str, Cell]] = []
    most = max(view.modes for view in result.permitted.views)
    for index in np.unique(result.family):
        part = result.family == index
        for table in (result.permitted, result.reference):
            for v, view in enumerate(table.views):
                if view.modes == most:
                    best = table.best[part, v]
                    low, middle, high = (float(q) for q in np.quantile(best, (0.25, 0.5, 0.75)))
                    rows.append(
                        {"x": view.samples, "y": middle, "lower": low, "upper": high, "series": FAMILIES[index].name}
                    )
    return Chart(
        "residual by resolution",
        f"Smallest residual by temporal resolution, {most} test functions",
        "Medians with the middle half as a band. With the fewest samples every law is rejected, whether the library "
        "holds it or not.",
        ChartKind.LINES,
        tuple(rows),
        "samples in time",
        "smallest residual relative to the target",
    )


def map_chart(views: Sequence[View], evidence: ViewEvidence) -> Chart:
    """Return the share of wrong definitive verdicts by samples and test functions."""
    by_name = {one.view: one for one in evidence.audit.views}
    rows: list[Mapping[str, Cell]] = []
    for view in views:
        wrong = by_name[view.name].wrong
        if not isinstance(wrong, NotApplicable):
            rows.append({"x": f"{view.samples} samples", "y": f"{view.modes} test functions", "value": wrong.estimate})
    return Chart(
        "verdict map",
        "Share of wrong verdicts on each permitted view",
        "The same verifier, the same data: only the number of times and of test functions shown differs.",
        ChartKind.HEAT,
        tuple(rows),
        "times shown",
        "temporal test functions",
    )


def law_chart(laws: Sequence[tuple[str, str, bool]], title: str) -> Chart:
    """Return which views agree with the reference of their library.

    Args:
        laws: View, library, and whether the view's verdict is that of the reference.
        title: The chart's title.
    """
    rows: tuple[Mapping[str, Cell], ...] = tuple(
        {"x": view, "y": library, "value": 1.0 if same else 0.0} for view, library, same in laws
    )
    return Chart(
        "agreement with the reference",
        title,
        "1 where a view gives the verdict of all stored times, 0 where it gives another one or none.",
        ChartKind.HEAT,
        rows,
        "view",
        "library",
    )
