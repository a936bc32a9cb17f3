from __future__ import annotations

import numpy as np

from counterproof.core.analysis import Cell, Table
from counterproof.equations.evidence import lab_evidence
from counterproof.equations.measured import measure_views
from counterproof.equations.planning import AuditSettings, view_groups
from counterproof.equations.tables import audit_tables, control_table, family_table, residual_table
from tests.equations.evidence_tables import flipped
from tests.equations.laboratory import study


def column(table: Table, name: str) -> list[Cell]:
    return [row[table.columns.index(name)] for row in table.rows]


def test_tables_hold_what_was_counted() -> None:
    evidence = measure_views(flipped(3), AuditSettings({}), lambda: np.random.default_rng(0))
    policies, views, scores = audit_tables(evidence)
    assert column(views, "wrong") == [12, 6, 0]
    assert column(views, "chosen by score-max") == [12, 0, 0]
    assert dict(zip(column(policies, "policy"), column(policies, "wrong"), strict=True))["score-max"] == 12
    assert column(scores, "cells") == [15, 18, 3]
    assert column(scores, "mean score") == [(6 * 11 + 9 * 10.5) / 15, (12 * 14 + 6 * 11) / 18, 0]


def test_every_row_is_as_long_as_its_headings() -> None:
    result = study()
    settings = AuditSettings(view_groups(result.permitted.views), fixed="A11")
    table = lab_evidence(result.permitted, result.truth, result.seed)
    evidence = measure_views(table, settings, lambda: np.random.default_rng(0))
    made = (
        *audit_tables(evidence),
        control_table(evidence.controls),
        family_table(result, evidence),
        residual_table(result),
    )
    assert all(len(row) == len(one.columns) for one in made for row in one.rows)
    families = made[-2]
    assert column(families, "score-max, wrong") == [30] * 5 + [0]
    assert column(families, "episodes") == [30] * 6


def test_residuals_stand_for_all_views_and_references() -> None:
    table = residual_table(study())
    assert len(table.rows) == 12 + 4
    coarse = dict(zip(column(table, "view"), column(table, "median residual, inside the library"), strict=True))["A03"]
    assert isinstance(coarse, float)
    assert 0.94 < coarse < 0.96  # the closed form of seven samples and five modes
