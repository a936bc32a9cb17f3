"""Panels with a planted flaw that an audit must name, and honest ones of which it must say that further calls pay."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from counterproof.core.analysis import Analysis
from counterproof.core.findings import Finding, Verdict
from counterproof.core.outcomes import NotApplicable
from counterproof.panel.analyse import conclude, measure
from counterproof.panel.evidence import PanelEvidence
from counterproof.panel.table import Channel, Gold, VerdictTable
from tests.panel.audits import independent, one_judge, plan_of, split_of


def planted(columns: dict[str, np.ndarray], gold: Gold, table: VerdictTable) -> VerdictTable:
    """The table with further channels."""
    symbols = np.c_[table.symbols, np.stack(list(columns.values()), axis=1)].astype(np.int8)
    kinds = np.where(symbols == 2, np.int8(1), np.int8(-1)).astype(np.int8)
    return replace(table, channels=(*table.channels, *map(Channel, columns)), symbols=symbols, kinds=kinds)


@cache
def base() -> tuple[VerdictTable, Gold]:
    return independent(800, (0.25, 0.3))


def audited(table: VerdictTable, gold: Gold, loss: str = "ba") -> tuple[Analysis, PanelEvidence]:
    split = split_of(table, gold)
    plan = plan_of(table, split, loss=loss)
    evidence = measure(plan, table, gold, split)
    return conclude(evidence, plan, table, gold, split), evidence


def of_code(analysis: Analysis, code: str) -> list[Finding]:
    return [finding for finding in analysis.findings if finding.code == code]


def warned(analysis: Analysis) -> set[str]:
    return {warning.name for finding in analysis.findings for warning in finding.warnings}


def calls(evidence: PanelEvidence) -> float:
    assert not isinstance(evidence.contest, NotApplicable)
    return evidence.contest.contestants[evidence.contest.recommended].scores.mean_calls


def test_a_copied_channel_is_found_and_adds_nothing() -> None:
    table, gold = base()
    analysis, evidence = audited(planted({"copy": table.symbols[:, 0]}, gold, table), gold)
    pair = next(one for one in evidence.diagnostics.pairs if (one.a, one.b) == ("c0", "copy"))
    assert pair.measures["error_phi"].estimate == pytest.approx(1.0)
    assert pair.measures["gain_b_given_a"].estimate == pytest.approx(0.0, abs=1e-12)
    dependence = of_code(analysis, "PN101")[0]
    assert dependence.verdict is Verdict.REFUTED
    assert dependence.counts["dependent"] == 1
    adds = {step.channel: step.adds for step in evidence.order}
    assert min(adds["c0"], adds["copy"]) < 0.005 < adds["c1"]


def test_a_channel_that_always_fails_is_blocking_and_never_asked() -> None:
    table, gold = base()
    analysis, evidence = audited(planted({"dead": np.full(800, 2)}, gold, table), gold)
    assert [one.estimate for one in of_code(analysis, "PN120")] == [1.0]
    assert "channel-always-fails" in warned(analysis)
    assert not isinstance(evidence.contest, NotApplicable)
    policy = evidence.contest.contestants[evidence.contest.recommended].policy
    assert policy.channels.index("dead") not in {action.channel for action in policy.actions.values()}


def test_constant_verdicts_are_named_and_tell_nothing() -> None:
    table, gold = base()
    analysis, evidence = audited(planted({"flatterer": np.ones(800)}, gold, table), gold)
    assert "constant-verdicts" in warned(analysis)
    assert {step.channel: step.adds for step in evidence.order}["flatterer"] == pytest.approx(0.0, abs=0.001)
    assert "flatterer" in of_code(analysis, "PN112")[0].values["channels that add less than 0.005 bits"]


def test_an_oracle_among_judges_is_the_one_call_to_make() -> None:
    table, gold = base()
    analysis, evidence = audited(planted({"oracle": gold.labels}, gold, table), gold)
    assert evidence.order[0].channel == "oracle"
    assert evidence.order[0].adds == pytest.approx(1.0, abs=0.05)  # smoothing leaves a little doubt
    assert calls(evidence) == 1.0
    assert "Stop at one judge" in analysis.summary[0]
    assert of_code(analysis, "PN110")[0].estimate == 0.0


def test_one_informative_judge_among_noise_says_stop_at_one() -> None:
    analysis, evidence = audited(*one_judge())
    assert calls(evidence) == 1.0
    assert "Stop at one judge" in analysis.summary[0]
    assert evidence.order[0].channel == "c0"


def test_judges_that_err_apart_are_worth_more_calls() -> None:
    analysis, evidence = audited(*independent())
    assert calls(evidence) > 2
    assert "Stop at one judge" not in analysis.summary[0]
    assert of_code(analysis, "PN101")[0].verdict is not Verdict.REFUTED
    assert of_code(analysis, "PN110")[0].verdict is Verdict.SUPPORTED


def test_coins_are_not_worth_asking_under_a_loss_that_lets_abstain() -> None:
    """Nobody knows anything: abstaining costs .1 an item, any accept .5."""
    analysis, evidence = audited(*independent(800, (0.5, 0.5, 0.5)), loss="chow:0.1")
    assert calls(evidence) <= 1.0
    assert of_code(analysis, "PN110")[0].estimate == pytest.approx(0.1, abs=0.01)


def test_hidden_agreement_is_not_taken_for_independence() -> None:
    """All channels agree because they are wrong together: alpha is high, and so is the correlation of errors."""
    rng = np.random.default_rng(4)
    gold = Gold((np.arange(800) % 2).astype(np.int8))
    common, own = rng.random((800, 1)) < 0.3, rng.random((800, 4)) < 0.03
    symbols = (gold.labels[:, None] ^ (common ^ own)).astype(np.int8)
    table = replace(independent(800, (0.3,) * 4)[0], symbols=symbols)
    analysis, evidence = audited(table, gold)
    agreement = evidence.diagnostics.agreement.estimate
    assert not isinstance(agreement, NotApplicable)
    assert agreement > 0.8
    n_eff = of_code(analysis, "PN102")[0].estimate
    assert not isinstance(n_eff, NotApplicable)
    assert n_eff < 1.3
    assert of_code(analysis, "PN101")[0].counts["dependent"] == 6
