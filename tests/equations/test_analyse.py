from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from counterproof.core.analysis import Analysis
from counterproof.core.findings import Finding, Verdict
from counterproof.core.outcomes import NotApplicable
from counterproof.core.plan import Digest, Plan
from counterproof.equations.analyse import analyse_lab, analyse_transfer, analyse_views, conclude, trajectory_of
from counterproof.equations.diffusion2d import Admission
from counterproof.equations.joining import join_evidence, with_truth
from counterproof.equations.measured import ViewControl, measure_views
from counterproof.equations.planning import AuditSettings, audit_plan, lab_plan, transfer_plan
from tests.equations.evidence_tables import flipped
from tests.equations.laboratory import study

GROUPS = AuditSettings({"all": ("coarse", "middle", "fine")}, fixed="fine")


def plan_of(settings: AuditSettings = GROUPS) -> Plan:
    return audit_plan((Digest("views", "0" * 64),), ("coarse", "middle", "fine"), settings, ())


def found(analysis: Analysis, code: str, subject: str = "") -> Finding:
    return next(one for one in analysis.findings if one.code == code and one.subject.startswith(subject))


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return analyse_views(plan_of(), flipped(10))


def test_rates_are_those_counted_by_hand(analysis: Analysis) -> None:
    # i0, i1, i2 differ between views, i3 is `no` twice and open once; coarse is wrong on all, fine on none.
    assert found(analysis, "EQ101").estimate == pytest.approx(3 / 4)
    assert found(analysis, "EQ102").estimate == 1.0
    assert found(analysis, "EQ103").estimate == 0.0
    assert found(analysis, "EQ104", "agreement of all views").estimate == pytest.approx(0)
    assert found(analysis, "EQ105").estimate == 1.0


def test_majority_agreement_is_wrong_where_two_views_err(analysis: Analysis) -> None:
    assert found(analysis, "EQ104", "agreement of most views").estimate == pytest.approx(2 / 4)


def test_a_rule_is_recommended_with_its_cost_in_coverage(analysis: Analysis) -> None:
    # Agreement of all never decides, so its loss is .1 an item; the majority's is .5.
    rule = found(analysis, "EQ110")
    assert rule.subject.startswith("agreement")
    assert rule.estimate == pytest.approx(-1.0)
    assert rule.verdict is Verdict.SUPPORTED
    assert "-1.000" in rule.values["coverage minus that of score-max"]


def test_only_a_truth_proves(analysis: Analysis) -> None:
    assert found(analysis, "EQ102").proven
    settings = AuditSettings({}, reference="fine")
    lead = analyse_views(plan_of(settings), replace(flipped(10), truth=np.full(40, -3)))
    assert not found(lead, "EQ102").proven
    assert found(lead, "EQ102").n == 30


def test_a_view_chosen_afterwards_reads_labels() -> None:
    analysis = analyse_views(plan_of(AuditSettings({})), flipped(4))
    assert found(analysis, "EQ103").subject == "view:fine"
    assert not found(analysis, "EQ103").label_free


def test_no_number_is_printed_when_a_control_misbehaves() -> None:
    evidence = measure_views(flipped(), GROUPS, lambda: np.random.default_rng(0))
    assert all(control.holds for control in evidence.controls)
    broken = replace(evidence, controls=(ViewControl("random view", "so", 0.1, 0.9),))
    analysis = conclude("t", broken, notes=())
    assert not analysis.controls_hold
    assert [one.code for one in analysis.findings] == ["EQ141"]
    assert [one.name for one in analysis.tables] == ["controls"]
    assert analysis.charts == ()


def test_a_verifier_that_no_view_moves_passes() -> None:
    table = flipped(20)
    steady = replace(table, verdict=np.full(table.verdict.shape, table.verdicts.index("yes")))
    analysis = analyse_views(plan_of(), steady)
    assert found(analysis, "EQ101").estimate == 0.0
    assert found(analysis, "EQ102").verdict is Verdict.SUPPORTED
    assert isinstance(found(analysis, "EQ110").estimate, NotApplicable)
    assert isinstance(found(analysis, "EQ105").estimate, NotApplicable)


def test_score_max_is_wrong_on_every_law_that_the_library_holds() -> None:
    result = study()
    error = np.zeros(result.permitted.best.shape)
    analysis = analyse_lab(lab_plan("mechanism", seeds=5), result, error)
    assert found(analysis, "EQ102").counts == {"events": 150}
    assert found(analysis, "EQ106").counts == {"events": 150}  # without an error the guarded score is the public one
    assert {chart.name for chart in analysis.charts} == {
        "residual by resolution",
        "verdict map",
        "coverage and error",
        "score and truth",
    }


def test_a_cluster_is_a_drawn_trajectory() -> None:
    result = study()
    assert len(np.unique(trajectory_of(result))) == 6 * 5


def test_no_policy_is_scored_on_a_transfer_that_is_not_admitted() -> None:
    bad = Admission(0.9, 0, (("without u", 1.0),))
    analysis = analyse_transfer(transfer_plan(), flipped(), bad, AuditSettings({}))
    assert [one.code for one in analysis.findings] == ["EQ120"]
    assert analysis.findings[0].verdict is Verdict.REFUTED


def test_truth_joins_by_word_and_unknown_stays_unknown() -> None:
    bare = replace(flipped(), truth=np.full(4, -3))
    joined = with_truth(bare, ["yes", "", "maybe", "no"])
    assert joined.verdicts == ("maybe", "no", "yes")
    assert joined.truth.tolist() == [2, -3, 0, 1]
    assert joined.verdict[0].tolist() == [1, 2, 2]
    assert joined.verdict[3].tolist() == [1, 1, -1]


def test_tables_join_under_their_words() -> None:
    one, other = flipped(), with_truth(flipped(), ["a"] * 4)
    both = join_evidence([one, other], ["first", "second"])
    assert both.verdicts == ("a", "no", "yes")
    assert both.items[4] == "second i0"
    assert [both.verdicts[code] for code in both.truth] == ["yes"] * 4 + ["a"] * 4
    assert [both.verdicts[code] for code in both.verdict[4]] == ["no", "yes", "yes"]
