"""The page's tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterproof.core.outcomes import NotApplicable
from counterproof.panel.effective import EffectiveNumber
from counterproof.panel.fixture_table import FixtureRow
from counterproof.report.numbers import count, number
from counterproof.stats import RatioEstimate
from studies.panel_results import shifts
from studies.panel_results.contests import Compared
from studies.panel_results.crowds import Crowd
from studies.panel_results.points import CHOW, FAMILIES, SHARE
from studies.panel_results.results import BREADTH_K, Results, TableResult
from studies.panel_results.sentiment import PooledArm
from studies.rewards_results.wording import NONE, grid

TITLES = {
    "ba": "balanced accuracy",
    "surest": f"accuracy on the surest {SHARE:.0%}".replace("%", " %"),
    "coverage": "coverage",
    "selective": "selective accuracy",
    "chow": f"Chow loss ({CHOW.kappa:g})",
}


def difference(found: RatioEstimate | NotApplicable | None) -> str:
    """Return a paired difference with its interval."""
    if found is None or isinstance(found, NotApplicable):
        return NONE
    return f"{found.estimate:+.3f} [{found.interval.lower:+.3f}, {found.interval.upper:+.3f}]"


def three(value: float | None) -> str:
    """Return a share with three decimals."""
    return NONE if value is None else f"{value:.3f}"


def fixture_table(rows: Sequence[FixtureRow]) -> str:
    """Return the fixture's table."""
    columns = ["figure", "published", "closed form", "ours", "standard error", "z of ours", "z of the published"]
    body = [
        [
            row.name,
            NONE if isinstance(row.published, NotApplicable) else f"{row.published:.4f}",
            f"{row.closed_form:.4f}",
            f"{row.ours:.4f}",
            f"{row.error:.4f}",
            f"{row.z:+.1f}",
            NONE if isinstance(row.published_z, NotApplicable) else f"{row.published_z:+.1f}",
        ]
        for row in rows
    ]
    return grid(columns, body)


def curve_table(compared: Compared, calls: Sequence[int], metric: str) -> str:
    """Return a metric of every family by mean calls."""
    body = [
        [name, *(three(compared.sums[name, k].value(metric)) if (name, k) in compared.sums else NONE for k in calls)]
        for name in FAMILIES
    ]
    return grid(["policy", *(f"{k} call{'s' if k > 1 else ''}" for k in calls)], body)


def focus_table(compared: Compared, calls: int) -> str:
    """Return every metric of every family at one number of calls."""
    body = [
        [
            name,
            f"{compared.sums[name, calls].calls:.2f}",
            *(three(compared.sums[name, calls].value(metric)) for metric in TITLES),
        ]
        for name in FAMILIES
        if (name, calls) in compared.sums
    ]
    return grid(["policy", "calls", *TITLES.values()], body)


def against_table(compared: Compared, calls: int) -> str:
    """Return CMD less every other family, with paired intervals."""
    metrics = ("ba", "surest", "coverage", "chow")
    body = [
        [name, *(difference(compared.difference_of("CMD", name, calls, metric)) for metric in metrics)]
        for name in FAMILIES
        if name != "CMD" and (name, calls) in compared.sums
    ]
    return grid(["CMD less", *(TITLES[metric] for metric in metrics)], body)


def recommended_table(compared: Compared) -> str:
    """Return what the tool recommends on each split, for both losses."""
    body = []
    for loss, found in compared.recommended.items():
        for split, one in enumerate(found, 1):
            name = f"stop at one judge: {one.name}" if one.family == "single" else one.name
            name = f"abstain on everything: {one.name}" if not one.calls else name
            body.append(
                [loss, str(split), name, f"{one.calls:.2f}", three(one.loss), three(one.single),
                 NONE if one.family == "single" else difference(one.against)]
            )  # fmt: skip
    columns = ["loss", "split", "recommended", "calls", "held-out loss", "loss of the best single call", "difference"]
    return grid(columns, body)


def crowd_table(crowds: Sequence[Crowd]) -> str:
    """Return accuracies on sparse crowds, with what ours gains over the vote."""
    names = list(dict.fromkeys(name for one in crowds for name in one.accuracy))
    body = [
        [
            one.name,
            count(one.items),
            str(one.workers),
            str(one.classes),
            f"{one.calls:.1f}",
            *(three(one.accuracy.get(name)) for name in names),
            difference(one.against["majority"]),
            difference(one.against.get("LabelModel (Snorkel)")),
        ]
        for one in crowds
    ]
    columns = ["table", "items", "workers", "classes", "calls an item", *names, "ours less vote", "ours less Snorkel"]
    return grid(columns, body)


def dependence_table(tables: Sequence[TableResult]) -> str:
    """Return dependence by table."""
    body = []
    for one in tables:
        found = one.dependence
        phi = found.diagnostics.mean_error_phi.estimate
        alpha = found.diagnostics.agreement.estimate
        closest = found.closest
        top = closest.measures["error_phi"]
        value = NONE if isinstance(top.estimate, NotApplicable) else f"{top.estimate:.2f}"
        bounds = "" if top.interval is None else f" [{top.interval.lower:.2f}, {top.interval.upper:.2f}]"
        body.append(
            [
                one.source,
                str(one.compared.channels),
                f"{len(found.dependent)} of {len(found.diagnostics.pairs)}",
                NONE if isinstance(phi, NotApplicable) else f"{phi:.2f}",
                f"{closest.a} x {closest.b}: {value}{bounds}",
                _effective(found.correlations),
                _effective(found.equivalent),
                NONE if isinstance(alpha, NotApplicable) else f"{alpha:.2f}",
            ]
        )
    columns = [
        "table",
        "K",
        "dependent pairs",
        "mean error phi",
        "closest pair",
        "n_eff",
        "majority-equivalent",
        "alpha",
    ]
    return grid(columns, body)


def _effective(one: EffectiveNumber) -> str:
    if isinstance(one.value, NotApplicable):
        return NONE
    bounds = "" if one.interval is None else f" [{one.interval.lower:.1f}, {one.interval.upper:.1f}]"
    return f"{one.value:.1f}{bounds}"


def spearman_table(tables: Sequence[TableResult]) -> str:
    """Return how well each measure foretells realised gains."""
    found = [(one.source, one.dependence.spearman) for one in tables if one.dependence.spearman is not None]
    names = list(found[0][1])
    return grid(["table", *names], [[name, *(f"{values[each]:+.2f}" for each in names)] for name, values in found])


def alarm_table(rows: Sequence[shifts.Operating]) -> str:
    """Return the alarm's operating table."""
    names = list(shifts.REGIMES)
    body = [
        [count(row.rows), str(row.window), f"{row.alpha:g}", *(_fired(row, name) for name in names)] for row in rows
    ]
    return grid(["calibration rows", "window", "alpha a window", *names], body)


def _fired(row: shifts.Operating, name: str) -> str:
    share = row.fired[name]
    return f"{share:.2f}" if not share else f"{share:.2f}, window {number(row.median[name])}"


def ways_table(ways: Sequence[shifts.Way]) -> str:
    """Return what going on, falling back and calibrating anew achieve."""
    return grid(
        ["stream", "policy", "balanced accuracy", "calls"],
        [[one.regime, one.name, f"{one.accuracy:.3f}", f"{one.calls:.2f}"] for one in ways],
    )


def closed_table(results: Results) -> str:
    """Return break-even costs in closed form."""
    body = [
        [str(k), f"{gate:g}", NONE if isinstance(value, NotApplicable) else f"{value:.3f}"]
        for k, gate, value in results.closed
    ]
    return grid(["k", "copy gate", "break-even at error .35"], body)


def breadth_table(tables: Sequence[TableResult]) -> str:
    """Return breadth against redundancy on real tables."""
    body = []
    for one in tables:
        if one.breadth is None:
            continue
        single, many, _ = one.breadth.ways
        even = one.breadth.break_even
        value = NONE if isinstance(even.estimate, NotApplicable) else f"{even.estimate:.2f}"
        bounds = "" if even.interval is None else f" [{even.interval.lower:.2f}, {even.interval.upper:.2f}]"
        body.append(
            [one.source]
            + [f"{count(round(way.accepted))}, {count(round(way.wrong))} wrong" for way in (single, many)]
            + [value + bounds, f"{single.pool_ba:.3f}", f"{many.pool_ba:.3f}"]
        )
    columns = ["table", "breadth accepts", f"majority-{BREADTH_K} accepts", "break-even", "pool BA, breadth",
               f"pool BA, majority-{BREADTH_K}"]  # fmt: skip
    return grid(columns, body)


def arm_table(arms: Sequence[PooledArm]) -> str:
    """Return the arms of the downstream comparison."""
    body = [
        [
            arm.name,
            count(round(arm.verified)),
            count(round(arm.spent[0])),
            count(round(arm.spent[1])),
            *(f"{count(round(arm.right[c]))} / {count(round(arm.wrong[c]))}" for c in (0, 1)),
            f"{sum(arm.wrong) / max(1e-9, sum(arm.wrong) + sum(arm.right)):.3f}",
            f"{arm.accuracy:.3f}",
            NONE if place == 0 else difference(arm.against),
        ]
        for place, arm in enumerate(arms)
    ]
    columns = ["aggregator", "verified", "calls", "cost", "negative right / wrong", "positive right / wrong",
               "wrong share", "test accuracy", "less the first"]  # fmt: skip
    return grid(columns, body)


def cell(text: str, heading: str, row: str, column: str, table: int = 0) -> str:
    """Return one cell of the page.

    Args:
        text: The page.
        heading: For example `### LLMBar`.
        row: First cell of the row.
        column: The column's name.
        table: Which table below the heading.
    """
    lines = text.split(f"\n{heading}\n", 1)[1].split("\n#", 1)[0].splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith("|") and not lines[i - 1].startswith("|")]
    part = lines[starts[table] :]
    rows = [[one.strip() for one in line.strip("|").split("|")] for line in part[: _length(part)]]
    return next(each for each in rows if each[0] == row)[rows[0].index(column)]


def _length(lines: Sequence[str]) -> int:
    ends = np.flatnonzero([not line.startswith("|") for line in lines])
    return int(ends[0]) if ends.size else len(lines)
