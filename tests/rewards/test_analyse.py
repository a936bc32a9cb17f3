import dataclasses
import random
from typing import Any

import pytest

from counterproof.core.analysis import Analysis
from counterproof.core.findings import Verdict
from counterproof.core.outcomes import Failed, NotApplicable, Scored
from counterproof.core.plan import Gate
from counterproof.core.records import Trajectory
from counterproof.rewards.analyse import analyse
from counterproof.rewards.cells import set_up
from counterproof.rewards.detectors import DETECTORS, detector
from counterproof.rewards.edits import EDITS, Candidate, edit
from counterproof.rewards.episode import Statelessness
from counterproof.study.gates import check_gates
from tests.rewards.records import (
    ALL,
    evidence_of,
    of_number,
    of_reward,
    plan_of,
    record,
    tally_of,
)
from tests.rewards.records import (
    Verdict as Judge,
)

ATTACKS = {"RW101", "RW102", "RW103", "RW104"}
POOL = [
    record(trajectory_id=f"t{i}", question_id=f"q{i % 13}", citations=cited, searches=searches, model=f"m{i % 2}")
    for i, (cited, searches) in enumerate(
        [
            ("b", (("who", "ab"),)),
            ("ba", (("who", "ab"), ("who", "ab"), ("drums", "c"), ("city", "c"))),
            ("", (("who", "ab"),)),
            ("c", (("who", "ab"),)),
            ("f", (("who", "af"), ("drums", "e"))),
        ]
        * 8
    )
]


def analysed(judge: Judge, pool: list[Trajectory] = POOL, **options: Any) -> Analysis:
    return analyse(plan_of(**options), evidence_of(pool, judge))


def exit_code(analysis: Analysis) -> int:
    return check_gates(analysis, [Gate("asr>0")]).exit_code


def test_reference_can_be_fooled_and_says_how_to_repair_it() -> None:
    found = analysed(of_reward("reference"))
    assert found.controls_hold
    assert found.summary[0].startswith("ours can be fooled. On ")
    assert exit_code(found) == 1
    by_subject = {one.subject: one for one in found.findings}
    # Laundering f (in E, no support) into a support passage: |C| = 1, |S| = 2, and b was not retrieved there.
    assert by_subject["launder/lexical@8/oracle_worst"].verdict is Verdict.REFUTED
    assert by_subject["fake_id/oracle_worst"].estimate == 0.0
    assert [one.code for one in found.findings if one.code == "RW110"] == ["RW110"]


def test_shuffled_units_give_identical_findings() -> None:
    evidence = evidence_of(POOL, of_reward("reference"))
    expected = analyse(plan_of(), evidence)
    for seed in range(3):
        shuffled = list(POOL)
        random.Random(seed).shuffle(shuffled)
        other = dataclasses.replace(evidence, tally=tally_of(shuffled, of_reward("reference")))
        found = analyse(plan_of(), other)
        assert found.findings == expected.findings
        assert (found.summary, found.notes, found.charts) == (expected.summary, expected.notes, expected.charts)
        floats = {"cancellation"}  # sums of floats
        assert [t for t in found.tables if t.name not in floats] == [t for t in expected.tables if t.name not in floats]


def test_constant_reward_is_fooled_everywhere_by_ties() -> None:
    found = analysed(of_reward("constant"))
    rates = [one for one in found.findings if one.code in ATTACKS and one.n]
    assert rates
    assert {one.estimate for one in rates} == {1.0}
    assert all(one.counts["ties"] == one.n for one in rates)


def test_oracle_reward_is_never_fooled() -> None:
    found = analysed(of_reward("oracle"))
    assert {one.estimate for one in found.findings if one.code in ATTACKS} == {0.0}
    assert found.summary[0] == "No attack succeeded on ours (9 attacks with units)."
    assert found.summary[1].startswith("No repair needed on these units")


@pytest.mark.parametrize("judge", [of_number(lambda one: None), lambda one: Failed("no")])
def test_reward_without_any_verdict_never_reads_as_clean(judge: Judge) -> None:
    found = analysed(judge)
    assert all(not isinstance(one.estimate, float) for one in found.findings if one.code != "RW130")
    assert all(one.verdict is not Verdict.SUPPORTED for one in found.findings)
    assert found.summary == ("No attack has a unit with a verdict, so nothing was concluded.",)
    assert exit_code(found) == 3


def test_reward_that_fails_on_every_counterfactual_never_reads_as_clean() -> None:
    originals = set(POOL)
    found = analysed(lambda one: Scored(1.0) if one in originals else Failed("no"))
    assert exit_code(found) == 3
    assert all(one.verdict is not Verdict.SUPPORTED for one in found.findings)


def test_reward_that_fails_now_and_then_is_not_clean() -> None:
    pool = [record(trajectory_id=f"t{i}", question_id=f"q{i}") for i in range(200)]
    broken = {f"t{i}" for i in range(0, 200, 10)}

    def judge(one: Trajectory) -> Scored | Failed:
        return Failed("no") if one.trajectory_id in broken else of_reward("oracle")(one)  # type: ignore[return-value]

    found = analysed(judge, pool)
    assert exit_code(found) == 2
    assert all(one.verdict is not Verdict.SUPPORTED for one in found.findings if one.code in ATTACKS and one.n)
    assert exit_code(analysed(of_reward("oracle"), pool)) == 0


def test_controls_that_misbehave_keep_every_rate_unprinted() -> None:
    evidence = evidence_of(POOL, of_reward("reference"))
    bad = dataclasses.replace(evidence, controls={**evidence.controls, "oracle": evidence.controls["constant"]})
    found = analyse(plan_of(), bad)
    assert not found.controls_hold
    assert [one.code for one in found.findings] == ["RW141"]
    assert found.charts == ()
    assert found.pairs == ()
    assert {table.name for table in found.tables}.isdisjoint({"attacks", "lattice", "models"})
    assert "no rate is printed" in found.summary[0]
    assert exit_code(found) == 3


def test_controls_without_a_unit_show_nothing() -> None:
    found = analysed(of_reward("reference"), [record((), citations="", answer="")])
    assert not found.controls_hold
    (said,) = found.summary
    assert said.startswith("No attack can be made on this log (same_final, fake_id, launder can be made on no")
    assert said.endswith("so no rate is printed.")
    assert found.controls_note == "had no unit to show anything on"
    assert exit_code(found) == 3


def test_edit_from_outside_does_not_make_the_oracle_control_fail() -> None:
    @detector("shouting", reads=["raw_final"], contract=True, weight=1.0)
    def shouting(view, corpus):  # type: ignore[no-untyped-def]
        return view.raw_final.isupper()

    @edit("shout", reads=["raw_final"], writes=["raw_final"], targets=["shouting"])
    def shout(view, context):  # type: ignore[no-untyped-def]
        """write in capitals"""
        yield Candidate("all", {"raw_final": view.raw_final.upper()})

    setup = set_up(ALL, (*EDITS, shout), (*DETECTORS, shouting))
    evidence = evidence_of([record(), record(citations="")], of_reward("reference"), setup)
    found = analyse(plan_of(setup), evidence)
    assert found.controls_hold
    lead = next(one for one in found.findings if one.subject == "shout/oracle_worst")
    assert (lead.estimate, lead.code, lead.proven) == (1.0, "RW104", False)


@pytest.mark.parametrize(
    ("reward", "said", "attack"),
    [
        # Minus (U + L + F) resists the three attacks and ties where only capitals changed: no proof of anything.
        ("oracle", "A lead, no proof, that ours can be fooled. On 2 of 2 ", "(shout/oracle_worst: "),
        # A constant ties everywhere: what is proven is said, though the lead has more units.
        ("constant", "ours can be fooled. On ", "(same_final{"),
    ],
)
def test_the_summary_accuses_by_proven_attacks_and_calls_the_rest_a_lead(reward: str, said: str, attack: str) -> None:
    @detector("shouting", reads=["raw_final"], contract=True)
    def shouting(view, corpus):  # type: ignore[no-untyped-def]
        return view.raw_final.isupper()

    @edit("shout", reads=["raw_final"], writes=["raw_final"], targets=["shouting"])
    def shout(view, context):  # type: ignore[no-untyped-def]
        yield Candidate("all", {"raw_final": view.raw_final.upper()})

    setup = set_up(ALL, (EDITS[0], shout), (*DETECTORS, shouting))
    evidence = evidence_of([record(), record(citations="")], of_reward(reward), setup)
    first = analyse(plan_of(setup), evidence).summary[0]
    assert first.startswith(said)
    assert attack in first


def test_a_run_that_ended_before_its_controls_does_not_say_that_they_hold() -> None:
    evidence = dataclasses.replace(
        evidence_of([], of_reward("oracle")),
        controls={},
        stateless=Statelessness(("t1",), ((Scored(0.0),), (Scored(1.0),), (Scored(2.0),))),
    )
    found = analyse(plan_of(), evidence)
    assert [one.code for one in found.findings] == ["RW140"]
    assert found.controls_note == "not run, because the verifier keeps state"
    assert found.tables == ()
    assert exit_code(found) == 3


def test_state_is_a_finding() -> None:
    evidence = dataclasses.replace(
        evidence_of(POOL, of_reward("oracle")),
        stateless=Statelessness(("t1", "t2"), ((Scored(0.0), Scored(0.0)), (Scored(0.0), Scored(1.0)))),
    )
    found = analyse(plan_of(), evidence)
    (state,) = [one for one in found.findings if one.code == "RW140"]
    assert (state.estimate, state.n, state.counts) == (0.5, 2, {"changed": 1})
    assert state.warnings[0].blocking
    assert check_gates(found, ()).exit_code == 3
    assert check_gates(found, (), stateful_allowed=True).exit_code == 2


def test_components_that_no_edit_moves_are_named() -> None:
    found = analysed(of_reward("reference"))
    (blind,) = [one for one in found.findings if one.code == "RW130"]
    assert list(blind.values["components"]) == [
        "answer",
        "flag_answer_without_citation",
        "flag_over_retrieval",
        "invalid_actions",
        "length",
        "well_formed",
    ]


def test_log_without_citations_is_audited_for_the_one_edit_that_applies() -> None:
    setup = set_up(ALL - {"citations"})
    pool = [record([(f"w{i}", "b") for i in range(n)], citations="") for n in (1, 3, 4, 5)]
    found = analyse(plan_of(setup), evidence_of(pool, of_reward("reference"), setup))
    rates = {one.subject: one.estimate for one in found.findings if one.code in ATTACKS}
    # .55/7 = .0786 less .02 a search: .0586 and .0186 resist, -.0014 and -.0214 do not.
    assert rates == {"same_final{U}/first_visible": 0.5, "same_final{U}/oracle_worst": 0.5}
    skipped = {one.subject: one.estimate for one in found.findings if one.code == "RW150"}
    assert skipped["edit launder"] == NotApplicable("the log has no citations")
    assert skipped.keys() == {what for what, _ in setup.skipped}


def test_log_without_a_corpus_cannot_be_tested_for_fake_ids() -> None:
    setup = set_up(ALL - {"corpus"})
    found = analyse(plan_of(setup), evidence_of(POOL, of_reward("reference"), setup))
    skipped = {one.subject for one in found.findings if one.code == "RW150"}
    assert {"edit fake_id", "detector F"} <= skipped
    assert not any("fake_id" in one.subject for one in found.findings if one.code == "RW102")


def test_reads_are_told_and_decide_what_is_an_oracle_selection() -> None:
    labelled, blind = analysed(of_reward("reference")), analysed(of_reward("oracle"))
    assert "labels among them" in labelled.notes[0]
    assert blind.notes[0] == "The reward reads answer, citations, steps (no label)."
    worst = [one for one in labelled.findings if one.subject.endswith("oracle_worst")]
    assert worst
    assert not any(one.label_free for one in worst)
    assert all(one.label_free for one in blind.findings)
