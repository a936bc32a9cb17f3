"""Plain results: what is derived, and that they cannot be changed."""

from __future__ import annotations

import dataclasses
import pickle

import pytest

from counterproof.core import (
    Analysis,
    Chart,
    ChartKind,
    Finding,
    GateResult,
    HealthWarning,
    Interval,
    Lack,
    NotApplicable,
    Pair,
    PairField,
    Table,
    Verdict,
)


@pytest.mark.parametrize(
    ("before", "after", "changed"), [("a", "a", False), ("a", "A", True), ("", "x", True), ("", "", False)]
)
def test_a_field_changed_where_its_texts_differ(before: str, after: str, changed: bool) -> None:
    assert PairField("answer", before, after).changed is changed


def test_a_finding_claims_nothing_by_default() -> None:
    finding = Finding("CP001", "reference", "no attack", NotApplicable("no candidates"))
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert not finding.proven
    assert (finding.n, finding.clusters, finding.interval, finding.warnings) == (0, 0, None, ())
    assert not HealthWarning("few-clusters", "only 3").blocking
    assert Interval(0.0, 0.2, 0.95, "exact").sided == "two"


def test_results_are_frozen_and_travel_between_processes() -> None:
    finding = Finding("CP001", "reference", "an attack", 0.5, Interval(0.1, 0.9, 0.95, "exact"), counts={"fooled": 1})
    analysis = Analysis(
        room="rewards",
        title="Audit",
        summary=("One attack.",),
        findings=(finding,),
        tables=(Table("rates", "Rates", ("arm", "ASR"), (("reference", 0.5),), formats={"ASR": ".1%"}),),
        charts=(Chart("asr", "ASR", "One bar.", ChartKind.BARS, ({"label": "a", "value": 0.5},), "arm", "share"),),
        pairs=(Pair("k", "swap", (PairField("answer", "a", "b"),), (("margin", 0.5),)),),
        lacks=(Lack("citations", "no L", "log them"),),
        gates=(GateResult("asr>0", True, "0.5 > 0"),),
        exit_code=1,
    )
    assert pickle.loads(pickle.dumps(analysis)) == analysis
    with pytest.raises(dataclasses.FrozenInstanceError):
        analysis.exit_code = 0  # type: ignore[misc]
    assert analysis.controls_hold
