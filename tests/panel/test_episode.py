"""The live panel as a state machine: symbols of outcomes, costs of failures, allotments, and what it writes down."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterproof.core.episodes import Done, Event, Verify
from counterproof.core.errors import InputError
from counterproof.core.outcomes import Abstained, Failed, Outcome, Scored, TimedOut
from counterproof.core.seeds import ItemSeed
from counterproof.panel.episode import (
    LiveContext,
    LivePanelEpisode,
    LiveVerdict,
    Reading,
    allot,
    dearest_path,
    decode_verdict,
)
from counterproof.panel.policy import PolicyTable
from counterproof.panel.rules import Keep, VoteRule, exact_stop_policy, majority_policy
from counterproof.panel.table import Channel, FailureKind

CHANNELS = (Channel("a", 1.0), Channel("b", 2.0), Channel("c", 4.0))
STOP = exact_stop_policy(CHANNELS, ("no", "yes"), VoteRule((0, 1, 2)), Keep.LABEL)
EPISODE = LivePanelEpisode()


def lived(
    policy: PolicyTable, answers: dict[str, Outcome], allotment: float | None = None
) -> tuple[LiveVerdict, list[str]]:
    """One item's life: how it ended, and whom it asked."""
    context = LiveContext(policy, allotment={} if allotment is None else {"k": allotment})
    state = EPISODE.start("record", context, ItemSeed(0, "k"))
    state, answer = EPISODE.step(state, None)
    asked = []
    while not isinstance(answer, Done):
        assert isinstance(answer, Verify)
        assert [call.record for call in answer.calls] == ["record"]
        asked.append(answer.verifier)
        state, answer = EPISODE.step(state, Event((answers[answer.verifier],)))
    return answer.result, asked


@pytest.mark.parametrize(
    ("outcome", "classes", "threshold", "expected"),
    [
        (Scored(0.5), 2, 0.5, (1, None)),
        (Scored(0.49), 2, 0.5, (0, None)),
        (Scored(1.0), 2, None, (1, None)),
        (Scored(0.5), 2, None, (2, FailureKind.MALFORMED)),
        (Scored(2.0), 3, 0.5, (2, None)),
        (Scored(3.0), 3, None, (3, FailureKind.MALFORMED)),
        (Scored(-1.0), 3, None, (3, FailureKind.MALFORMED)),
        (TimedOut(1.0), 2, 0.5, (2, FailureKind.TIMED_OUT)),
        (Failed("down"), 2, 0.5, (2, FailureKind.UNAVAILABLE)),
        (Abstained(), 2, 0.5, (2, FailureKind.UNSTATED)),
    ],
)
def test_outcomes_become_symbols(
    outcome: Outcome, classes: int, threshold: float | None, expected: tuple[int, FailureKind | None]
) -> None:
    assert Reading(threshold).symbol(outcome, classes) == expected


def test_two_votes_settle_three_and_the_third_is_not_called() -> None:
    ended, asked = lived(STOP, {"a": Scored(1.0), "b": Scored(1.0)})
    assert asked == ["a", "b"]
    assert (ended.symbols, ended.label, ended.cost, ended.stopped) == ((1, 1, -1), 1, 3.0, "policy")


def test_failed_calls_cost_what_others_cost_and_are_no_votes() -> None:
    majority = majority_policy(CHANNELS, ("no", "yes"), VoteRule((0, 1, 2), threshold=0.6))
    ended, asked = lived(majority, {"a": Failed("down"), "b": TimedOut(9.0), "c": Scored(0.0)})
    assert asked == ["a", "b", "c"]
    assert ended.kinds == (FailureKind.UNAVAILABLE, FailureKind.TIMED_OUT, -1)
    assert (ended.label, ended.cost) == (0, 7.0)
    assert not ended.accepted  # one vote of three budgeted is no agreement of .6: fail-closed


def test_an_allotment_stops_before_the_call_that_it_does_not_cover() -> None:
    answers: dict[str, Outcome] = {"a": Scored(1.0), "b": Scored(0.0), "c": Scored(1.0)}
    ended, asked = lived(STOP, answers, 3.0)
    assert asked == ["a", "b"]
    assert (ended.label, ended.accepted, ended.cost, ended.stopped) == (-1, False, 3.0, "budget")
    assert lived(STOP, answers, 7.0)[0].stopped == "policy"
    assert lived(STOP, answers, 0.0)[1] == []


def test_the_dearest_path_of_a_policy() -> None:
    assert dearest_path(STOP) == 7.0
    assert dearest_path(majority_policy(CHANNELS, ("no", "yes"), VoteRule((1,), threshold=1.0))) == 2.0


def test_budgets_are_allotted_in_plan_order() -> None:
    assert allot(["a", "b", "c", "d"], 5.0, 2.0) == {"a": 2.0, "b": 2.0, "c": 1.0, "d": 0.0}
    assert allot(["a"], 1.0, 0.0) == {"a": 0.0}
    for total in (0.0, -1.0, float("nan")):
        with pytest.raises(InputError, match="positive budget"):
            allot(["a"], total, 1.0)


@given(st.integers(1, 30), st.integers(1, 60), st.integers(1, 9))
def test_allotments_spend_the_budget_and_no_more(n: int, total: int, most: int) -> None:
    allotted = list(allot([f"{i}" for i in range(n)], float(total), float(most)).values())
    assert sum(allotted) == min(total, n * most)
    assert max(allotted) <= most
    assert allotted == sorted(allotted, reverse=True)


@settings(max_examples=40)
@given(
    st.lists(st.integers(-1, 2), min_size=1, max_size=5),
    st.integers(-1, 1),
    st.booleans(),
    st.floats(0, 1),
    st.floats(0, 99),
)
def test_what_is_written_down_reads_back(
    symbols: list[int], label: int, accepted: bool, sure: float, cost: float
) -> None:
    ended = LiveVerdict(tuple(symbols), (-1,) * len(symbols), label, accepted, sure, cost, "policy")
    assert decode_verdict(EPISODE.encode(ended)) == ended


@pytest.mark.parametrize("payload", [b"", b"[]", b"{}", b"[1,2]", b"\xff"])
def test_other_bytes_are_refused(payload: bytes) -> None:
    with pytest.raises(InputError, match="not an encoded verdict"):
        decode_verdict(payload)
