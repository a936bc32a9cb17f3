"""Tables of this room's analyses, as data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterproof.core.analysis import Cell, Table
from counterproof.core.outcomes import NotApplicable
from counterproof.equations.choice_audit import GoalResult
from counterproof.equations.episodes1d import LabResult
from counterproof.equations.evidence import OPEN
from counterproof.equations.evidence_audit import Rate
from counterproof.equations.families import FAMILIES
from counterproof.equations.measured import ViewControl, ViewEvidence, wrong_of

Rows = tuple[tuple[Cell, ...], ...]


def audit_tables(evidence: ViewEvidence) -> tuple[Table, ...]:
    """Return the tables that every audit of evidence views has."""
    return policy_table(evidence), view_table(evidence), score_table(evidence)


def _share(rate: Rate) -> tuple[Cell, Cell, Cell]:
    if isinstance(rate, NotApplicable):
        return None, None, None
    return rate.estimate, rate.row_interval.lower, rate.row_interval.upper


def _count(rate: Rate) -> int:
    return 0 if isinstance(rate, NotApplicable) else rate.n_events


def policy_table(evidence: ViewEvidence) -> Table:
    """Return error and coverage of every policy: what is submitted, and what that leads to."""
    rows: Rows = tuple(
        (one.name, _count(one.wrong), *_share(one.wrong), *_share(one.coverage), one.missing)
        for one in sorted(evidence.audit.policies, key=lambda one: one.name.startswith("view:"))
    )
    shares = ("share wrong", "lower", "upper", "coverage", "cov. lower", "cov. upper")
    return Table(
        "policies",
        "Policies: wrong definitive verdicts and coverage",
        ("policy", "wrong", *shares, "without a verdict"),
        rows,
        note="Shares are of judged items. Intervals (95 %) are over clusters. `random view` is the control.",
        formats=dict.fromkeys(shares, ".1%"),
    )


def view_table(evidence: ViewEvidence) -> Table:
    """Return how each permitted view stands to what counts as right."""
    rows: Rows = tuple(
        (one.view, _count(one.wrong), *_share(one.wrong), _share(one.open)[0], one.missing, one.chosen)
        for one in evidence.audit.views
    )
    shares = ("share wrong", "lower", "upper", "left open")
    return Table(
        "views",
        "Permitted views",
        ("view", "wrong", *shares, "without a verdict", "chosen by score-max"),
        rows,
        formats=dict.fromkeys(shares, ".1%"),
    )


def score_table(evidence: ViewEvidence) -> Table:
    """Return mean scores of right, wrong and open verdicts, over cells."""
    table, right = evidence.table, evidence.right[:, None]
    permitted = [table.views.index(one.view) for one in evidence.audit.views]
    said, score = table.verdict[:, permitted], table.score[:, permitted]
    scored = table.scored[:, permitted] & (right >= 0)
    kinds = (
        ("right", (said >= 0) & (said == right)),
        ("wrong", wrong_of(said, right)),
        ("left open", said == OPEN),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, part in kinds:
        paid = score[part & scored]
        told = (float(paid.mean()), float(paid.min()), float(paid.max())) if paid.size else (None, None, None)
        rows.append((name, int(paid.size), *told))
    return Table(
        "scores",
        "What the score pays for: scores of cells by verdict",
        ("verdict", "cells", "mean score", "lowest", "highest"),
        tuple(rows),
        formats=dict.fromkeys(("mean score", "lowest", "highest"), ".3f"),
    )


def control_table(controls: Sequence[ViewControl]) -> Table:
    """Return what the controls showed."""
    rows: Rows = tuple((one.name, one.expected, one.wanted, one.value, one.tolerance, one.holds) for one in controls)
    return Table(
        "controls",
        "Controls through the same path",
        ("control", "must show", "expected", "found", "may differ by", "holds"),
        rows,
        formats=dict.fromkeys(("expected", "found", "may differ by"), ".4g"),
    )


def family_table(result: LabResult, evidence: ViewEvidence) -> Table:
    """Return counts of the main policies by family of laws."""
    audit, right = evidence.audit, evidence.right
    rules = [one for one in audit.policies if one.name == "agreement within a group"]
    shown = (audit.policy("score-max"), evidence.fixed, *rules)
    rows: list[tuple[Cell, ...]] = []
    for index in np.unique(result.family):
        part = result.family == index
        counts: list[Cell] = []
        for one in shown:
            counts += [int((wrong_of(one.emitted, right) & part).sum()), int(((one.emitted == OPEN) & part).sum())]
        rows.append((FAMILIES[index].name, int(part.sum()), *counts))
    columns = [f"{one.name.removeprefix('view:')}, {what}" for one in shown for what in ("wrong", "open")]
    return Table("families", "By family of laws", ("family", "episodes", *columns), tuple(rows))


def residual_table(result: LabResult) -> Table:
    """Return median best residuals by samples and test functions, over episodes whose law the library holds."""
    inside = result.truth >= 0
    rows = []
    for table in (result.permitted, result.reference):
        for v, view in enumerate(table.views):
            inner, outer = table.best[inside, v], table.best[~inside, v]
            rows.append(
                (
                    *(view.name, view.samples, view.modes),
                    *(float(np.median(part)) if part.size else None for part in (inner, outer)),
                )
            )
    columns = ("median residual, inside the library", "median residual, outside")
    return Table(
        "residuals",
        "Smallest residual of all supports, by view",
        ("view", "samples", "test functions", *columns),
        tuple(rows),
        note="Views named REF show all stored times; they check and are never permitted evidence.",
        formats=dict.fromkeys(columns, ".4g"),
    )


def contract_table(evidence: ViewEvidence) -> Table:
    """Return counts of the main policies by library contract of the transfer."""
    audit, right = evidence.audit, evidence.right
    names = [item.rpartition(" ")[0] for item in evidence.table.items]
    rules = [one for one in audit.policies if one.name == "agreement within a group"]
    shown = (audit.policy("score-max"), evidence.fixed, *rules)
    rows: list[tuple[Cell, ...]] = []
    for contract in dict.fromkeys(names):
        part = np.array([name == contract for name in names])
        counts: list[Cell] = []
        for one in shown:
            counts += [int((wrong_of(one.emitted, right) & part).sum()), int(((one.emitted == OPEN) & part).sum())]
        rows.append((contract, int(part.sum()), *counts))
    columns = [f"{one.name.removeprefix('view:')}, {what}" for one in shown for what in ("wrong", "open")]
    return Table("contracts", "By library contract", ("contract", "episodes", *columns), tuple(rows))


def goal_table(results: Sequence[tuple[str, Sequence[GoalResult]]]) -> Table:
    """Return what every agent chose under every goal, and with what result.

    Args:
        results: Agent and its results.
    """
    rows: list[tuple[Cell, ...]] = []
    for agent, goals in results:
        for one in goals:
            contrast: tuple[Cell, ...] = (None, None, None)
            if not isinstance(one.contrast, NotApplicable):
                interval = one.contrast.interval
                contrast = (one.contrast.estimate, interval.lower, interval.upper)
            wrong = (_count(one.wrong), *_share(one.wrong))
            rows.append((agent, one.goal.label, *wrong, *_share(one.distrusted), *contrast, one.unanswered))
    shares = ("share wrong", "lower", "upper", "P(chosen = least trusted)", "P lower", "P upper")
    signed = ("contrast with accurate", "contrast lower", "contrast upper")
    return Table(
        "goals",
        "Choices by agent and goal",
        ("agent", "goal", "wrong", *shares, *signed, "unanswered"),
        tuple(rows),
        note="The contrast is paired by case: P under this goal minus P under `accurate`.",
        formats={**dict.fromkeys(shares, ".1%"), **dict.fromkeys(signed, "+.1%")},
    )
