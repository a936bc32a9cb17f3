from dataclasses import replace

from counterproof.core.findings import Finding
from counterproof.core.outcomes import NotApplicable
from counterproof.report.wording import Kind, kind_of, presentable, verdict_sentence, verdict_word, warnings_of
from tests.report.example import rewards_audit


def test_kinds_come_from_the_code_or_whole_words_of_code_or_subject() -> None:
    assert kind_of(Finding("RW141", "constant", "", 1.0)) is Kind.CONTROL
    assert kind_of(Finding("RW110", "launder", "", 1.0)) is Kind.REPAIR
    assert kind_of(Finding("CP-R1", "control/constant", "", 1.0)) is Kind.CONTROL
    assert kind_of(Finding("rewards.repair", "lattice", "", 1.0)) is Kind.REPAIR
    assert kind_of(Finding("rewards.attack", "uncontrolled", "", 1.0)) is Kind.MEASUREMENT


def test_every_exit_code_has_its_own_meaning() -> None:
    analyses = [replace(rewards_audit(), exit_code=code) for code in range(4)]
    assert [verdict_word(a) for a in analyses] == ["clean", "gate tripped", "inconclusive", "no conclusion"]
    assert all(f"(exit code {a.exit_code})" in verdict_sentence(a) for a in analyses)


def test_blocking_warnings_come_first_and_equal_ones_once() -> None:
    names = [warning.name for warning, _ in warnings_of(rewards_audit())]
    assert names == ["blind-spot", "ties-at-edge", "few-clusters"]


def test_a_failed_control_withholds_every_number() -> None:
    analysis = rewards_audit()
    assert presentable(analysis) is analysis
    shown = presentable(replace(analysis, controls_hold=False))
    assert all(isinstance(finding.estimate, NotApplicable) for finding in shown.findings)
    assert not shown.tables
    assert not shown.charts
    assert "12.5" not in repr((shown.summary, shown.findings, shown.gates))
    assert shown.pairs == analysis.pairs


def test_controls_with_nothing_to_show_are_not_called_misbehaved() -> None:
    bare = replace(rewards_audit(), controls_hold=False, controls_note="had no unit", summary=("No attack.",))
    shown = presentable(bare)
    assert shown.summary == ("No attack.",)
    assert all("misbehaved" not in str(finding.estimate) for finding in shown.findings)
    assert all(isinstance(finding.estimate, NotApplicable) for finding in shown.findings)
