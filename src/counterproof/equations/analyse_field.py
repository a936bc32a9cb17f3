"""From the tables of one observed field under several libraries to its analysis: a pure function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterproof.core.analysis import Analysis, Cell, Table
from counterproof.core.findings import Finding, Verdict
from counterproof.core.outcomes import NotApplicable
from counterproof.core.plan import Plan
from counterproof.equations.plots import drawn, law_chart
from counterproof.equations.verdicts import Identified, Inconclusive
from counterproof.equations.verifier import ViewTable


@dataclass(frozen=True, slots=True)
class FieldEvidence:
    """What the verifier says of a field under one library.

    Attributes:
        library: The library's name.
        table: Permitted views, then views of all stored times, one episode.
        permitted: How many of the views are permitted.
        coefficients: Coefficients of the selected supports, (V, J).
    """

    library: str
    table: ViewTable
    permitted: int
    coefficients: NDArray[np.float64]

    def law(self, view: int) -> str:
        """Return the verdict of a view in words, with coefficients where it identifies a law."""
        verdict = self.table.verdict(0, view)
        if isinstance(verdict, Identified):
            places = [self.table.terms.index(name) for name in verdict.support]
            return "u_t = " + " ".join(f"{self.coefficients[view, j]:+.4g} {self.table.terms[j]}" for j in places)
        return "inconclusive" if isinstance(verdict, Inconclusive) else "outside the library"


def analyse_field(plan: Plan, evidence: Sequence[FieldEvidence]) -> Analysis:
    """Return which laws are identified at which views of one field, without gates."""
    findings = tuple(_finding(one) for one in evidence)
    laws = [
        (one.table.views[v].name, one.library, bool(one.table.signature[0, v] == one.table.signature[0, -1]))
        for one in evidence
        for v in range(one.permitted)
    ]
    return Analysis(
        room="equations",
        title=f"Laws of an observed field: {plan.settings['field']}",
        summary=tuple(f"{one.library} library, all stored times: {one.law(-1)}." for one in evidence),
        findings=findings,
        tables=tuple(_table(one) for one in evidence),
        charts=drawn(law_chart(laws, "Which views give the verdict of all stored times?")),
        notes=tuple(map(str, plan.settings["notes"])),
    )


def _finding(one: FieldEvidence) -> Finding:
    last = len(one.table.views) - 1
    reference = int(one.table.signature[0, last])
    permitted = one.table.signature[0, : one.permitted]
    title = f"views whose definitive verdict is not that of all stored times ({one.law(last)})"
    subject, unit = f"{one.library} library", "share of permitted views"
    if isinstance(one.table.verdict(0, last), Inconclusive):
        reason = NotApplicable("the view of all stored times is inconclusive")
        return Finding("EQ150", subject, title, reason, unit=unit, verdict=Verdict.NOT_APPLICABLE)
    definitive = np.array([not isinstance(one.table.verdict(0, v), Inconclusive) for v in range(one.permitted)])
    other = int((definitive & (permitted != reference)).sum())
    return Finding(
        "EQ150",
        subject,
        title,
        other / one.permitted,
        method="one field, so no interval: every permitted view was tried",
        unit=unit,
        n=one.permitted,
        counts={"other verdict": other, "left open": int((~definitive).sum())},
        verdict=Verdict.REFUTED if other else Verdict.INCONCLUSIVE,
    )


def _table(one: FieldEvidence) -> Table:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            *(view.name, view.samples, view.modes, one.law(v)),
            *(float(array[0, v]) for array in (one.table.best, one.table.gap, one.table.condition)),
        )
        for v, view in enumerate(one.table.views)
    )
    return Table(
        f"laws {one.library}",
        f"Verdicts with the {one.library} library ({', '.join(one.table.terms)})",
        ("view", "samples", "test functions", "verdict", "residual", "gap", "condition"),
        rows,
        note="Views named REF show all stored times; they check and are never permitted evidence.",
        formats=dict.fromkeys(("residual", "gap", "condition"), ".4g"),
    )
