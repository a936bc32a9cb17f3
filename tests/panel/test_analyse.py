"""From measurements to words: what is found, what the plan says of it, and what a misbehaving control withholds."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from counterproof.core.analysis import Analysis, ChartKind
from counterproof.core.findings import Finding, Verdict
from counterproof.core.outcomes import NotApplicable
from counterproof.panel.analyse import analyse_panel, analyse_replay, conclude, measure
from counterproof.panel.loss import Loss
from counterproof.panel.rules import VoteRule, majority_policy
from counterproof.panel.table import Gold, Split, VerdictTable
from tests.panel.audits import copies, independent, labels_of, one_judge, plan_of, split_of
from tests.panel.judged import judged


def analysed(table: VerdictTable, gold: Gold, split: Split | None = None) -> Analysis:
    chosen = split_of(table, gold) if split is None else split
    return analyse_panel(plan_of(table, chosen), table, gold, chosen)


@cache
def honest() -> Analysis:
    return analysed(*independent())


def of_code(analysis: Analysis, code: str) -> list[Finding]:
    return [finding for finding in analysis.findings if finding.code == code]


def warned(analysis: Analysis) -> dict[str, bool]:
    return {warning.name: warning.blocking for finding in analysis.findings for warning in finding.warnings}


def test_an_independent_panel_is_said_to_be_one() -> None:
    analysis = honest()
    (dependence,) = of_code(analysis, "PN101")
    assert dependence.verdict is Verdict.INCONCLUSIVE
    assert dependence.counts == {"pairs tested": 10, "dependent": 0}
    (n_eff,) = of_code(analysis, "PN102")
    assert n_eff.estimate == pytest.approx(5, abs=0.6)  # mean phi of 10 pairs of 800 items: .011 off; 5/(1 + 4 phi)
    assert n_eff.interval is not None
    assert n_eff.interval.lower < 5
    (advice,) = of_code(analysis, "PN110")
    assert advice.verdict is Verdict.SUPPORTED
    assert advice.values["compared with"].startswith("one call of ")
    assert analysis.controls_hold
    assert not of_code(analysis, "PN141")


def test_copies_are_one_opinion() -> None:
    analysis = analysed(*copies())
    (dependence,) = of_code(analysis, "PN101")
    assert dependence.verdict is Verdict.REFUTED
    assert dependence.estimate == pytest.approx(1.0)
    assert of_code(analysis, "PN102")[0].estimate == pytest.approx(1.0)
    (bits,) = of_code(analysis, "PN112")
    assert bits.estimate == pytest.approx(1.0, abs=0.05)
    assert "Stop at one judge" in analysis.summary[0]


def test_one_judge_among_coins_is_named() -> None:
    analysis = analysed(*one_judge())
    assert "Stop at one judge" in analysis.summary[0]
    (advice,) = of_code(analysis, "PN110")
    assert (advice.values["mean calls"], advice.verdict) == (1.0, Verdict.SUPPORTED)
    assert set(of_code(analysis, "PN112")[0].values["channels that add less than 0.005 bits"]) <= {"c1", "c2", "c3"}


def test_charts_and_tables_of_a_whole_audit() -> None:
    analysis = honest()
    kinds = {chart.name: chart.kind for chart in analysis.charts}
    assert kinds == {
        "policy tree": ChartKind.TREE,
        "frontier": ChartKind.LINES,
        "information added": ChartKind.BARS,
        "error correlation": ChartKind.HEAT,
    }
    heat = next(chart for chart in analysis.charts if chart.name == "error correlation")
    values = {(row["x"], row["y"]): row["value"] for row in heat.rows}
    assert len(values) == 25
    assert all(values[a, b] == values[b, a] for a, b in values)
    tables = {table.name: table for table in analysis.tables}
    assert set(tables) >= {"policies", "recommended policy", "channels", "pairs", "tests", "information", "controls"}
    remarks = [row[-1] for row in tables["policies"].rows]
    assert remarks.count("recommended") == 1
    assert [row[0] for row in tables["classes"].rows] == ["class 0", "class 1"]
    for table in analysis.tables:
        assert all(len(row) == len(table.columns) for row in table.rows)


def test_the_summary_says_what_to_do_before_how() -> None:
    assert honest().summary[0].startswith("Recommended: ")
    assert "uncorrelated" in honest().summary[1]


def test_a_misbehaving_control_withholds_every_number() -> None:
    table, gold = independent()
    split = split_of(table, gold)
    plan = plan_of(table, split)
    evidence = measure(plan, table, gold, split)
    bad = replace(evidence.controls[1], value=0.25)
    analysis = conclude(
        replace(evidence, controls=(evidence.controls[0], bad, evidence.controls[2])), plan, table, gold, split
    )
    assert not analysis.controls_hold
    assert [(finding.code, finding.subject) for finding in analysis.findings] == [("PN141", "control copied")]
    assert [one.name for one in analysis.tables] == ["controls"]
    assert analysis.charts == ()


def test_a_channel_that_always_fails_blocks() -> None:
    table, gold = independent(400, (0.2, 0.3, 0.3))
    symbols, kinds = table.symbols.copy(), table.kinds.copy()
    symbols[:, 1], kinds[:, 1] = 2, 1
    analysis = analysed(replace(table, symbols=symbols, kinds=kinds), gold)
    (failures,) = of_code(analysis, "PN120")
    assert failures.subject == "failures of c1"
    assert (failures.estimate, failures.verdict) == (1.0, Verdict.REFUTED)
    assert failures.counts == {"timed out": 400}
    assert warned(analysis)["channel-always-fails"]
    assert "no-verdicts" in warned(analysis)


def test_constant_verdicts_are_warned_of() -> None:
    table, gold = independent(400, (0.2, 0.3, 0.3))
    symbols = table.symbols.copy()
    symbols[:, 1] = 1
    assert "constant-verdicts" in warned(analysed(replace(table, symbols=symbols), gold))


def test_fewer_than_twenty_calibration_rows_block() -> None:
    table, gold = independent()
    few = Split(np.arange(19), np.arange(19, 800), "time")
    enough = Split(np.arange(20), np.arange(20, 800), "time")
    assert warned(analysed(table, gold, few))["few-calibration-rows"]
    assert "few-calibration-rows" not in warned(analysed(table, gold, enough))


def test_without_a_contest_the_reason_stands_in_its_place() -> None:
    table, gold = independent()
    negatives = np.flatnonzero(gold.labels == 0)
    split = Split(negatives[:100], np.setdiff1d(np.arange(800), negatives[:100]), "time")
    analysis = analysed(table, gold, split)
    (advice,) = of_code(analysis, "PN110")
    assert isinstance(advice.estimate, NotApplicable)
    assert advice.verdict is Verdict.NOT_APPLICABLE
    assert analysis.summary[0].startswith("No policy can be recommended: ")


def test_one_channel_alone_is_audited() -> None:
    analysis = analysed(*independent(200, (0.2,)))
    assert of_code(analysis, "PN101")[0].verdict is Verdict.NOT_APPLICABLE
    assert "Stop at one judge" in analysis.summary[0]


def test_a_policy_that_is_beaten_at_no_more_cost_says_so() -> None:
    """Channel 0 is right on calibration items and wrong on held-out ones; channel 1 the other way round."""
    labels = labels_of(400)
    wrong = np.zeros((400, 2), dtype=np.bool_)
    rng = np.random.default_rng(1)
    wrong[:200, 0], wrong[200:, 0] = rng.random(200) < 0.05, rng.random(200) < 0.45
    wrong[:200, 1], wrong[200:, 1] = rng.random(200) < 0.45, rng.random(200) < 0.05
    table, gold = judged(labels, wrong)
    analysis = analysed(table, gold, Split(np.arange(200), np.arange(200, 400), "time"))
    assert "one call of c1" in {finding.subject for finding in of_code(analysis, "PN111")}
    assert not warned(analysis)["recommendation-beaten"]


MAJORITY = majority_policy(independent()[0].channels, independent()[0].classes, VoteRule((0, 1, 2), threshold=0.6))


def replayed(table: VerdictTable, gold: Gold) -> Analysis:
    plan = plan_of(table, Split(np.zeros(0, dtype=np.intp), np.arange(len(table)), "none"))
    return analyse_replay(plan, MAJORITY, table, gold, Loss("ba"))


def test_a_replay_reports_calls_and_loss() -> None:
    table, gold = independent()
    (finding,) = replayed(table, gold).findings
    assert finding.values == {"mean calls": 3.0, "mean cost": 3.0, "coverage": 1.0}
    # The majority of three channels of error .3 errs on .3^2(3 - 2 x .3) = .216; 800 items: four of .0145.
    assert finding.estimate == pytest.approx(0.216, abs=0.058)


def test_items_that_cannot_be_replayed_are_in_no_figure() -> None:
    table, gold = independent()
    symbols = table.symbols.copy()
    symbols[:100, 2] = -1
    (finding,) = replayed(replace(table, symbols=symbols), gold).findings
    assert finding.counts["not replayed"] == 100
    assert finding.values == {"mean calls": 3.0, "mean cost": 3.0, "coverage": 1.0}
    assert finding.n == 700
    assert [(warning.name, warning.blocking) for warning in finding.warnings] == [("items-not-replayed", True)]


def test_nothing_replayed_and_nothing_labelled_are_told_apart() -> None:
    table, gold = independent()
    symbols = table.symbols.copy()
    symbols[:, 2] = -1
    (lost,) = replayed(replace(table, symbols=symbols), gold).findings
    assert isinstance(lost.estimate, NotApplicable)
    assert "every verdict" in lost.estimate.reason
    assert lost.values == {}
    (unlabelled,) = replayed(table, Gold(np.full(800, -1, dtype=np.int8))).findings
    assert isinstance(unlabelled.estimate, NotApplicable)
    assert "no gold" in unlabelled.estimate.reason
    assert unlabelled.values["mean calls"] == 3.0
