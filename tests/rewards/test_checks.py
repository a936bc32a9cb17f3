from __future__ import annotations

import pytest

from counterproof.core.outcomes import Abstained, Failed, NotApplicable, Outcome, Scored, TimedOut
from counterproof.rewards.cells import set_up
from counterproof.rewards.checks import (
    Control,
    control_findings,
    control_of,
    obstacle,
    obstacle_summary,
    verdict_findings,
    without_unit,
)
from counterproof.rewards.episode import Statelessness
from counterproof.rewards.tally import Tally
from tests.rewards.records import ALL, SETUP, made, of_reward, plan_of, record, tally_of

PLAN = plan_of()  # over a log of three trajectories, so the sample is three
SILENT = (Control("constant", 0, 0, 0), Control("oracle", 0, 0, 0))


def asked_once(*outcomes: Outcome) -> Statelessness:
    return Statelessness(tuple(f"t{i}" for i in range(len(outcomes))), (outcomes,))


def test_control_needs_a_verdict_on_every_unit() -> None:
    assert Control("oracle", 0, 5, 0).holds
    assert not Control("oracle", 0, 5, 0, unjudged=1).holds
    assert not Control("oracle", 1, 5, 0).holds
    assert not Control("constant", 4, 5, 5).holds
    assert not Control("oracle", 0, 0, 0).holds
    tally = Tally(SETUP).add_all([made((Failed("no"), {}), (1.0, {}))])
    assert not control_of("oracle", tally).holds


def test_a_verifier_without_any_verdict_is_an_obstacle_even_where_state_is_allowed() -> None:
    mute = asked_once(Failed("no"), Abstained())
    moody = Statelessness(("t",), ((Scored(0.0),), (Scored(1.0),), (Scored(0.0),)))
    sound = Statelessness(("t",), ((Scored(0.0),),) * 3)
    assert [obstacle(one, stateful_allowed=False) for one in (mute, moody, sound)] == [
        "the verifier gave no verdict",
        "the verifier keeps state",
        "",
    ]
    assert [bool(obstacle(one, stateful_allowed=True)) for one in (mute, moody, sound)] == [True, False, False]


def test_no_verdict_is_a_finding_with_counts_and_reasons() -> None:
    mute = asked_once(Failed("b"), Failed("a"), Failed("b"))
    (found,) = verdict_findings(PLAN, mute)
    assert (found.code, found.estimate, found.n) == ("RW142", 1.0, 3)
    assert found.counts == {"failed": 3, "sample": 3}
    assert found.values["reasons"] == ("b", "a")
    assert verdict_findings(PLAN, asked_once(Failed("b"), Scored(0.0))) == ()
    assert verdict_findings(PLAN, Statelessness((), ())) == ()


@pytest.mark.parametrize(
    ("outcomes", "first"),
    [
        (
            (TimedOut(0.1), Failed("no")),
            "of 2 asked, 1 failed and 1 timed out; the other 1 of the sample were not asked.",
        ),
        ((NotApplicable("x"),) * 3, "of 3 asked, 3 were not applicable."),
    ],
)
def test_the_summary_says_how_many_were_asked_and_what_became_of_them(
    outcomes: tuple[Outcome, ...], first: str
) -> None:
    lines = obstacle_summary(PLAN, asked_once(*outcomes))
    assert lines[0] == f"The verifier gave no verdict on any original: {first}"
    assert lines[1].startswith("First reason given: ")
    assert ("--timeout" in lines[-1]) == any(isinstance(one, TimedOut) for one in outcomes)


def test_controls_without_a_unit_say_how_far_each_edit_comes() -> None:
    # c was never retrieved: L fires already, and replacing c by a fake id turns it off.
    tally = tally_of([record(citations="c")], of_reward("reference"))
    assert without_unit(SILENT, tally) == (
        "no attack can be made on this log (same_final, launder breaks nowhere what it targets and was whole; "
        "fake_id always breaks something else too)"
    )
    bare = set_up(ALL - {"citations"})
    assert without_unit(SILENT, tally_of([record((), citations="")], of_reward("reference"), bare)) == (
        "no attack can be made on this log (same_final can be made on no trajectory; "
        "fake_id, launder cannot be made, because the log has no citations)"
    )


def test_a_sample_without_a_unit_does_not_deny_those_of_the_rest_of_the_log() -> None:
    tally = tally_of([record(), record(citations="c")], of_reward("reference"))
    assert "could attack 1 of 2 trajectories, none of them in the sample" in without_unit(SILENT, tally)


def test_controls_that_misbehave_are_not_excused_by_those_without_a_unit() -> None:
    tally = tally_of([record()], of_reward("reference"))
    assert without_unit((SILENT[0], Control("oracle", 1, 5, 0)), tally) == ""
    assert without_unit((Control("oracle", 0, 5, 0),), tally) == ""
    assert without_unit((Control("constant", 5, 5, 5), SILENT[1]), tally).startswith("no built-in attack can be made")


def test_each_control_that_does_not_hold_is_a_finding() -> None:
    found = control_findings((Control("constant", 4, 5, 5), Control("oracle", 0, 0, 0), Control("other", 0, 5, 0)))
    assert [(one.code, one.subject) for one in found] == [("RW141", "constant"), ("RW141", "oracle")]
    assert found[0].title == "control 'constant' misbehaved: 4 of 5 fooled instead of 5"
    assert isinstance(found[1].estimate, NotApplicable)
