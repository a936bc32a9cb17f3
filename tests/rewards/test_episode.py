from collections.abc import Callable
from itertools import pairwise

import pytest

from counterproof.core.episodes import Done, Event, Verify
from counterproof.core.outcomes import Abstained, Failed, Outcome, Scored, TimedOut
from counterproof.core.records import Trajectory
from counterproof.core.seeds import ItemSeed
from counterproof.rewards.episode import (
    AuditContext,
    AuditEpisode,
    StatelessEpisode,
    Statelessness,
    decode_statelessness,
)
from tests.rewards.records import SETUP, context, of_reward, record, unit_of

RECORDS = tuple(record(trajectory_id=f"t{i}") for i in range(8))
SEED = ItemSeed(0, "item")


def test_original_and_all_isolated_candidates_are_one_request() -> None:
    state = AuditEpisode("mine").start(record(), AuditContext(SETUP, context()), SEED)
    again, request = AuditEpisode("mine").step(state, None)
    assert isinstance(request, Verify)
    assert again == state
    assert request.verifier == "mine"
    assert request.calls[0].record == record()
    assert len(request.calls) == 1 + 4


def test_candidates_that_are_not_isolated_are_never_scored() -> None:
    # c was never retrieved: nothing about this record can be isolated.
    state = AuditEpisode().start(record(citations="c"), AuditContext(SETUP, context()), SEED)
    _, request = AuditEpisode().step(state, None)
    assert isinstance(request, Verify)
    assert [call.name for call in request.calls] == ["original"]


def test_outcomes_stand_in_the_order_of_the_calls() -> None:
    unit = unit_of(record(), lambda one: Scored(float(len(one.steps))))
    assert [one.score for one in unit.outcomes if isinstance(one, Scored)] == [1.0, 0.0, 1.0, 1.0, 1.0]
    assert unit_of(record(), of_reward("constant")).outcomes == (
        Scored(0.0, (("constant", 0.0),)),
        *[Scored(0.0, (("constant", 0.0),))] * 4,
    )


def stateless(
    score: Callable[[Trajectory], Outcome], seed: int = 0, records: tuple[Trajectory, ...] = RECORDS
) -> tuple[Statelessness, list[list[Trajectory]]]:
    """What the episode found, and the records of each request."""
    episode = StatelessEpisode()
    state = episode.start(records, None, ItemSeed(seed, "statelessness"))
    slices: list[list[Trajectory]] = []
    event: Event | None = None
    while True:
        state, answer = episode.step(state, event)
        if isinstance(answer, Done):
            assert decode_statelessness(episode.encode(answer.result)) == answer.result
            return answer.result, slices
        assert isinstance(answer, Verify)
        slices.append([call.record for call in answer.calls])
        event = Event(tuple(score(call.record) for call in answer.calls))


def test_same_records_are_scored_twice_in_order_and_once_shuffled() -> None:
    found, passes = stateless(lambda one: Scored(float(one.trajectory_id[1:])))
    assert passes[0] == passes[1] == list(RECORDS)
    assert passes[2] != list(RECORDS)
    assert {one.trajectory_id for one in passes[2]} == {one.trajectory_id for one in RECORDS}
    assert found.mismatches == ()
    assert found.passes[0] == found.passes[1] == found.passes[2]


def test_shuffle_depends_on_the_seed_only() -> None:
    def constant(one: Trajectory) -> Outcome:
        return Scored(0.0)

    assert stateless(constant)[1] == stateless(constant)[1]
    assert len({tuple(one.trajectory_id for one in stateless(constant, seed)[1][2]) for seed in range(8)}) > 1


def test_counter_is_caught_on_every_record() -> None:
    calls = iter(range(100))
    found, _ = stateless(lambda one: Scored(float(next(calls))))
    assert found.mismatches == tuple(one.trajectory_id for one in RECORDS)


def test_dependence_on_the_neighbour_is_caught_by_the_shuffled_pass_alone() -> None:
    before = [7]

    def follows(one: Trajectory) -> Outcome:
        last, before[0] = before[0], int(one.trajectory_id[1:])
        return Scored(float(last + 1 == before[0]))

    found, passes = stateless(follows)
    order = [7, *(int(one.trajectory_id[1:]) for one in passes[2])]
    still = {after for one, after in pairwise(order) if one + 1 == after}
    assert found.passes[0] == found.passes[1]
    assert found.mismatches == tuple(f"t{i}" for i in range(1, 8) if i not in still)
    assert found.mismatches


def test_failure_and_score_differ_but_what_was_read_does_not_count() -> None:
    turns = iter(range(100))

    def flaky(one: Trajectory) -> Outcome:
        return Failed("no") if next(turns) == 0 else Scored(0.0)

    assert stateless(flaky)[0].mismatches == ("t0",)
    turns = iter(range(100))
    found, _ = stateless(lambda one: Scored(1.0, (), frozenset({"answer"} if next(turns) % 2 else ())))
    assert found.mismatches == ()


MANY = tuple(record(trajectory_id=f"t{i}") for i in range(20))


def test_passes_are_asked_in_slices_of_eight_that_never_cross_into_the_next_pass() -> None:
    found, slices = stateless(lambda one: Scored(0.0), records=MANY)
    assert [len(one) for one in slices] == [8, 8, 4] * 3
    assert slices[:3] == slices[3:6]
    assert [one for part in slices[:3] for one in part] == list(MANY)
    assert sorted(one.trajectory_id for part in slices[6:] for one in part) == sorted(found.names)
    assert (len(found.names), [len(one) for one in found.passes]) == (20, [20, 20, 20])


@pytest.mark.parametrize("outcome", [TimedOut(0.1), Failed("no")])
def test_sixteen_failures_without_a_score_end_it_and_are_all_that_is_told(outcome: Outcome) -> None:
    found, slices = stateless(lambda one: outcome, records=MANY)
    assert [len(one) for one in slices] == [8, 8]
    assert found.names == tuple(f"t{i}" for i in range(16))
    assert found.passes == ((outcome,) * 16,)
    assert found.speechless
    assert found.mismatches == ()


def test_an_abstaining_verifier_is_asked_about_the_whole_sample_once() -> None:
    found, slices = stateless(lambda one: Abstained(), records=MANY)
    assert [len(one) for one in slices] == [8, 8, 4]
    assert found.speechless
    assert (len(found.names), len(found.passes)) == (20, 1)


def test_one_score_among_failures_is_enough_to_go_on() -> None:
    found, slices = stateless(lambda one: Scored(1.0) if one.trajectory_id == "t19" else Abstained(), records=MANY)
    assert len(slices) == 9
    assert not found.speechless


@pytest.mark.parametrize("reasons", [("no", "other")])
def test_two_failures_are_the_same_ending_whatever_their_words(reasons: tuple[str, ...]) -> None:
    turns = iter(range(100))

    def judge(one: Trajectory) -> Outcome:
        return Scored(0.0) if one.trajectory_id == "t0" else Failed(reasons[next(turns) % 2])

    assert stateless(judge)[0].mismatches == ()
