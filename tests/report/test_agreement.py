from dataclasses import replace

from counterproof.report import disagreements
from tests.report.example import rewards_audit


def test_a_consistent_analysis_has_none() -> None:
    assert disagreements(rewards_audit()) == ()


def test_a_title_that_rounds_to_another_figure_is_named() -> None:
    analysis = rewards_audit()
    first = replace(analysis.findings[0], title="12.6 % of answers keep their reward")
    found = disagreements(replace(analysis, findings=(first, *analysis.findings[1:])))
    assert len(found) == 1
    assert "says 12.6 %" in found[0]
    assert first.subject in found[0]


def test_a_summary_may_use_fewer_decimals_but_no_other_number() -> None:
    analysis = rewards_audit()
    assert disagreements(replace(analysis, summary=("About 3 % fall.",))) == ()
    assert len(disagreements(replace(analysis, summary=("About 44 % fall.",)))) == 1
