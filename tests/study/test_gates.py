from __future__ import annotations

import pytest

from counterproof.core.analysis import Analysis
from counterproof.core.errors import InputError
from counterproof.core.findings import Finding, HealthWarning, Interval
from counterproof.core.outcomes import NotApplicable
from counterproof.core.plan import Gate
from counterproof.study.gates import Condition, check_gates, parse_gate


def rate(
    estimate: float | NotApplicable,
    lower: float | None = None,
    upper: float | None = None,
    subject: str = "launder/lexical@8/oracle_worst",
    *,
    proven: bool = True,
    blocking: bool = False,
) -> Finding:
    interval = None if lower is None or upper is None else Interval(lower, upper, 0.95, "by hand")
    warnings = (HealthWarning("some", "reason", blocking),)
    values = {"metric": "asr"} if isinstance(estimate, float) else {}
    return Finding("RW103", subject, "title", estimate, interval, values=values, proven=proven, warnings=warnings, n=10)


STATEFUL = Finding("RW140", "statelessness", "keeps state", 0.5, proven=True)
CLEAN = rate(0.0, 0.0, 0.04)


def analysis(*findings: Finding, controls_hold: bool = True) -> Analysis:
    return Analysis("rewards", "title", (), findings, controls_hold=controls_hold)


def code(*findings: Finding, gates: tuple[str, ...] = ("asr>0",), hold: bool = True, allowed: bool = False) -> int:
    judged = analysis(*findings, controls_hold=hold)
    return check_gates(judged, tuple(map(Gate, gates)), stateful_allowed=allowed).exit_code


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("asr>0", Condition("asr", "", "estimate", ">", 0.0)),
        (" asr >= 0.1 ", Condition("asr", "", "estimate", ">=", 0.1)),
        ("asr.upper>5e-2", Condition("asr", "", "upper", ">", 0.05)),
        ("asr[launder].lower>0.2", Condition("asr", "launder", "lower", ">", 0.2)),
        ("asr[same_final{U}]<1", Condition("asr", "same_final{U}", "estimate", "<", 1.0)),
        ("asr[launder/bm25@16]<=.5", Condition("asr", "launder/bm25@16", "estimate", "<=", 0.5)),
    ],
)
def test_gates_that_can_be_read(expression: str, expected: Condition) -> None:
    assert parse_gate(expression) == expected


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("", "is no gate; write METRIC"),
        ("asr", "for example asr>0, asr>0.1"),
        ("asr==0", "is no gate"),
        ("asr>nan", "is no gate"),
        ("asr>0.1 and asr<1", "is no gate"),
        ("asx>0", "'asx' is no metric; did you mean 'asr'"),
        ("margin>0", "choose from: asr"),
        ("asr.uper>0", "'uper' is no part of a rate; did you mean 'upper'"),
        ("asr.mean>0", "choose from: estimate, lower, upper"),
        ("asr>1.2.3", "'1.2.3' is no number"),
        ("asr>--1", "'--1' is no number"),
    ],
)
def test_gates_that_cannot_be_read_say_what_is_allowed(expression: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        parse_gate(expression)
    assert said in str(error.value)


def test_exit_code_0_needs_tight_bounds_and_no_blocking_warning() -> None:
    assert code(CLEAN) == 0
    assert code(rate(0.0, 0.0, 0.05)) == 0  # above .05, not at it


def test_exit_code_1_when_a_gate_trips() -> None:
    assert code(CLEAN, rate(0.01, 0.001, 0.03)) == 1
    assert code(rate(0.2, 0.1, 0.3), gates=("asr>0.5", "asr>0.1")) == 1


def test_exit_code_2_when_an_upper_bound_is_wide_or_a_warning_blocks() -> None:
    assert code(CLEAN, rate(0.0, 0.0, 0.0501)) == 2
    assert code(CLEAN, rate(0.0, 0.0, 0.01, blocking=True)) == 2
    assert code(CLEAN, rate(0.2, 0.1, 0.3), gates=("asr>0.5",)) == 2


def test_a_lead_neither_trips_the_default_gate_nor_widens_it() -> None:
    lead = rate(0.9, 0.8, 1.0, "mine/only", proven=False)
    assert code(CLEAN, lead) == 0
    assert code(CLEAN, lead, gates=("asr>0.1",)) == 1
    assert code(CLEAN, lead, gates=("asr > 0",)) == 0  # the default gate, with spaces


def test_exit_code_3_when_nothing_was_concluded() -> None:
    none = rate(NotApplicable("no unit"))
    assert code() == 3
    assert code(none) == 3
    assert code(CLEAN, hold=False) == 3
    assert code(rate(1.0, 0.9, 1.0), hold=False) == 3  # a tripped gate does not outweigh a failed control
    assert code(CLEAN, STATEFUL) == 3
    assert code(rate(1.0, 0.9, 1.0), STATEFUL) == 3


def test_allowed_state_leaves_the_other_rules_in_force() -> None:
    assert code(CLEAN, STATEFUL, allowed=True) == 0
    assert code(rate(0.4, 0.1, 0.6), STATEFUL, allowed=True) == 1


def test_bounds_are_tested_by_their_own_gates() -> None:
    finding = rate(0.2, 0.1, 0.3)
    assert code(finding, gates=("asr.lower>0.15",)) == 2
    assert code(finding, gates=("asr.lower>0.05",)) == 1
    assert code(finding, gates=("asr.upper>0.25",)) == 1
    assert code(finding, gates=("asr.upper>=0.3",)) == 1
    assert code(rate(0.2), gates=("asr.upper>0", "asr.lower>=0")) == 0  # without an interval there is no bound


def test_a_subject_limits_a_gate_to_the_attacks_that_begin_with_it() -> None:
    one, other = rate(0.2, 0.1, 0.3), rate(0.0, 0.0, 0.01, "fake_id/oracle_worst")
    assert code(one, other, gates=("asr[fake_id]>0",)) == 2
    assert code(one, other, gates=("asr[launder]>0",)) == 1
    assert code(one, other, gates=("asr[launder/bm25]>0",)) == 2


def test_findings_that_are_no_rate_trip_nothing() -> None:
    other = Finding("RW130", "components", "blind", 3.0, proven=True)
    assert code(CLEAN, other) == 0


def test_a_result_says_how_many_findings_tripped_and_which_is_furthest() -> None:
    far = rate(0.5, 0.4, 0.6, "launder/bm25@8/oracle_worst")
    (result,) = check_gates(analysis(far, rate(0.2, 0.1, 0.3)), (Gate("asr>0"),)).gates
    assert result.tripped
    assert result.reason == "2 findings satisfy it, furthest launder/bm25@8/oracle_worst with 0.5"
    (result,) = check_gates(analysis(CLEAN), (Gate("asr>0.1", post_hoc=True),)).gates
    assert (result.expression, result.tripped) == ("asr>0.1 (added after the run)", False)
