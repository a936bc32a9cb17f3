from __future__ import annotations

import numpy as np

from counterproof.core.analysis import ChartKind
from counterproof.equations.evidence import lab_evidence
from counterproof.equations.measured import measure_views
from counterproof.equations.planning import AuditSettings
from counterproof.equations.plots import MOST_STEPS, audit_charts, drawn, law_chart, map_chart, residual_chart
from tests.equations.evidence_tables import flipped
from tests.equations.laboratory import study


def test_points_are_error_and_coverage_of_each_policy() -> None:
    evidence = measure_views(flipped(3), AuditSettings({}, fixed="fine"), lambda: np.random.default_rng(0))
    policies, scores = audit_charts(evidence)
    points = {row["series"]: (row["x"], row["y"]) for row in policies.rows}
    assert points["score-max"] == (1.0, 1.0)
    assert points["view:fine"] == (0.75, 0.0)
    ends = {row["series"]: row["y"] for row in scores.rows}
    assert ends == {"right": 1.0, "wrong": 1.0, "left open": 1.0}


def test_distributions_are_thinned_and_rise() -> None:
    result = study()
    table = lab_evidence(result.permitted, result.truth, result.seed)
    evidence = measure_views(table, AuditSettings({}), lambda: np.random.default_rng(0))
    scores = audit_charts(evidence)[1]
    right = [(row["x"], row["y"]) for row in scores.rows if row["series"] == "right"]
    assert len(right) <= MOST_STEPS
    assert right == sorted(right)
    heat = map_chart(result.permitted.views, evidence)
    assert heat.kind is ChartKind.HEAT
    assert len(heat.rows) == 12
    assert max(heat.rows, key=lambda row: float(row["value"] or 0))["x"] == "7 samples"


def test_every_family_has_four_resolutions() -> None:
    chart = residual_chart(study())
    assert len(chart.rows) == 6 * 4
    assert {row["x"] for row in chart.rows} == {7, 13, 25, 49}


def test_empty_charts_are_left_out() -> None:
    assert drawn(law_chart((), "none")) == ()
    assert len(drawn(law_chart((("A00", "default", True),), "one"))) == 1
