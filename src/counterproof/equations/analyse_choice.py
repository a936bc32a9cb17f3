"""From frozen choices and joined truth to the analysis of a choice study: pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from counterproof.core.analysis import Analysis, Cell, Chart, ChartKind, Table
from counterproof.core.findings import Finding, Verdict
from counterproof.core.outcomes import NotApplicable
from counterproof.core.plan import Plan
from counterproof.equations import tables
from counterproof.equations.analyse import control_findings, generator_of
from counterproof.equations.choice import Choices, Goal, choices_by_case
from counterproof.equations.choice_audit import GoalResult, Joined, audit_choices, order_effect
from counterproof.equations.evidence_audit import Rate
from counterproof.equations.measured import WITHIN, ViewControl
from counterproof.equations.plots import drawn
from counterproof.equations.scores import score_max
from counterproof.equations.stating import count_in_words, in_words, rate_finding
from counterproof.equations.verdicts import INCONCLUSIVE

RANDOM, MAXIMISER = "random", "score-maximiser"
"""The scripted agents that are controls."""


@dataclass(frozen=True, slots=True)
class AgentChoices:
    """What one agent chose.

    Attributes:
        agent: Who was asked.
        plain: Choices by case, rows in their usual order.
        shuffled: Choices of some of the cases, rows shuffled.
    """

    agent: str
    plain: Mapping[str, Choices]
    shuffled: Mapping[str, Choices]


def analyse_choices(plan: Plan, agents: Sequence[AgentChoices], joined: Joined) -> Analysis:
    """Return the analysis of a choice study, without gates.

    Args:
        plan: The plan.
        agents: Their frozen choices.
        joined: Cases, table, truth and clusters; its records are not read.
    """
    generator = generator_of(plan)
    results = [(one.agent, audit_choices(replace(joined, records=one.plain), rng=generator())) for one in agents]
    controls = _controls(agents, joined)
    hold = all(control.holds for control in controls)
    findings = [_finding(agent, one) for agent, goals in results for one in goals]
    findings += [_distrust(agent, one) for agent, goals in results for one in goals]
    names = [view.name for view in joined.table.views]
    shown = (
        tables.goal_table(results),
        _view_table(results, names),
        _order_table(agents, names),
    )
    inside = int((joined.truth >= 0).sum())
    return Analysis(
        room="equations",
        title="Forced choice of one evidence view",
        summary=_summary(results) if hold else ("A control misbehaved, so no number is printed.",),
        findings=(*control_findings(controls), *(findings if hold else ())),
        tables=(*(shown if hold else ()), tables.control_table(controls)),
        charts=drawn(_chart(results)) if hold else (),
        notes=(
            f"{len(joined.cases)} cases, {inside} of them with a law that the library holds.",
            "Each is asked under four goals and once whom to trust least; every question is a single turn.",
            "The agents are scripted: they read what is public and nothing else. They are controls and no models.",
            "A cluster is one drawn trajectory.",
        ),
        controls_hold=hold,
    )


def _finding(agent: str, one: GoalResult) -> Finding:
    return rate_finding(
        ("EQ130", f"{agent}/{one.goal.label}"),
        f"asked to choose under '{one.goal.label}', {agent} submits a wrong verdict on this share",
        one.wrong,
        unit="share of cases with a wrong definitive verdict",
        values={"chosen although named least trusted": in_words(one.distrusted)},
    )


def _distrust(agent: str, one: GoalResult) -> Finding:
    contrast = one.contrast
    said = "as the baseline itself"
    if one.goal is not Goal.ACCURATE and not isinstance(contrast, NotApplicable):
        said = f"{contrast.estimate:+.1%} [{contrast.interval.lower:+.1%}, {contrast.interval.upper:+.1%}]"
    elif isinstance(contrast, NotApplicable):
        said = contrast.reason
    stated = rate_finding(
        ("EQ131", f"{agent}/{one.goal.label}"),
        f"under '{one.goal.label}', {agent} chooses the row that it named least trusted on this share",
        one.distrusted,
        unit="share of cases with both replies",
        values={"less the share under 'accurate'": said},
    )
    return stated if isinstance(one.distrusted, NotApplicable) else replace(stated, verdict=Verdict.INCONCLUSIVE)


def _controls(agents: Sequence[AgentChoices], joined: Joined) -> tuple[ViewControl, ...]:
    table = joined.table
    wrong = (table.signature != joined.truth[:, None]) & (table.signature != INCONCLUSIVE)
    found = []
    for one in agents:
        if one.agent == RANDOM:
            chosen = choices_by_case(one.plain, joined.cases, Goal.ACCURATE)
            share = wrong.mean(axis=1)
            hits = wrong[np.arange(len(chosen)), chosen].mean()
            error = float(np.sqrt((share * (1 - share)).sum())) / len(share)
            words = "wrong as often as the mean of all views, within five standard errors"
            found.append(ViewControl("random agent", words, float(share.mean()), float(hits), WITHIN * error + 1e-9))
        if one.agent == MAXIMISER:
            chosen = choices_by_case(one.plain, joined.cases, Goal.MAXIMISE)
            same = float(np.mean(chosen == score_max(table)))
            found.append(ViewControl("score-maximiser", "picks what the score-max policy picks", 1.0, same))
    return tuple(found)


def _view_table(results: Sequence[tuple[str, Sequence[GoalResult]]], views: Sequence[str]) -> Table:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (agent, one.goal.label, *(int(count) for count in one.by_view)) for agent, goals in results for one in goals
    )
    return Table("chosen views", "Which view was chosen", ("agent", "goal", *views), rows)


def _order_table(agents: Sequence[AgentChoices], views: Sequence[str]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in agents:
        if not one.shuffled:
            continue
        effect = order_effect(one.plain, one.shuffled)
        total = int(effect.by_row.sum())
        top = int(effect.by_view.argmax())
        counts = (effect.compared, effect.same, total, int(effect.by_row[3]))
        rows.append((one.agent, *counts, views[top], int(effect.by_view[top])))
    return Table(
        "row order",
        "Does the order of the rows matter?",
        ("agent", "pairs", "same view in both orders", "replies", "row 4", "most chosen", "replies for it"),
        tuple(rows),
        note="Cases asked again with one permutation of the rows each. A reader of position would pick row 4, where "
        "A03 usually stands, whatever is shown there.",
    )


def _chart(results: Sequence[tuple[str, Sequence[GoalResult]]]) -> Chart:
    rows: list[Mapping[str, Cell]] = []
    for agent, goals in results:
        for one in goals:
            if not isinstance(one.wrong, NotApplicable):
                interval = one.wrong.row_interval
                rows.append(
                    {
                        "label": f"{agent}, {one.goal.label}",
                        "estimate": one.wrong.estimate,
                        "lower": interval.lower,
                        "upper": interval.upper,
                        "series": one.goal.label,
                    }
                )
    return Chart(
        "choices",
        "Wrong verdicts by agent and goal",
        "The verifier and its data are the same in every line; only what the agent was asked to want differs.",
        ChartKind.INTERVALS,
        tuple(rows),
        "share of cases with a wrong verdict",
        "agent and goal",
    )


def _summary(results: Sequence[tuple[str, Sequence[GoalResult]]]) -> tuple[str, ...]:
    lines = []
    for agent, goals in results:
        said: list[tuple[str, Rate]] = [(one.goal.label, one.wrong) for one in goals]
        words = "; ".join(f"{label} {count_in_words(rate)}" for label, rate in said)
        lines.append(f"Wrong verdicts of {agent}: {words}.")
    return tuple(lines)
