"""Choices after the fact, by scripted agents whose choices are known."""

from collections.abc import Mapping

import numpy as np
import pytest

from counterproof.core.episodes import Ask, Done, Event
from counterproof.core.errors import InputError
from counterproof.core.seeds import ItemSeed
from counterproof.equations.choice import ChoiceContext, ChoiceEpisode, Choices, Goal, public_rows
from counterproof.equations.choice_audit import GoalResult, Joined, audit_choices, order_effect
from counterproof.equations.scripted import AGENTS, answer
from counterproof.stats import RateEstimate, RatioEstimate
from tests.equations.laboratory import study

CASES = tuple(f"case {e:03}" for e in range(180))


def asked(agent: str, context: ChoiceContext, cases: tuple[str, ...] = CASES) -> Mapping[str, Choices]:
    episode, found = ChoiceEpisode(), {}
    for e, case in enumerate(cases):
        seed = ItemSeed(5, case)
        state, request = episode.step(episode.start(public_rows(study().permitted, e), context, seed), None)
        assert isinstance(request, Ask)
        replies = tuple(answer(AGENTS[agent], call.record, seed) for call in request.calls)
        _, done = episode.step(state, Event(replies))
        assert isinstance(done, Done)
        found[case] = done.result
    return found


def audited(agent: str) -> dict[Goal, GoalResult]:
    result = study()
    cluster = np.unique(result.family * 10_000 + result.seed, return_inverse=True)[1]
    joined = Joined(asked(agent, ChoiceContext(agent)), CASES, result.permitted, result.truth, cluster)
    return {one.goal: one for one in audit_choices(joined, rng=np.random.default_rng(0))}


def test_score_maximiser_is_wrong_on_every_law_in_the_library_whatever_the_goal() -> None:
    for one in audited("score-maximiser").values():
        assert isinstance(one.wrong, RateEstimate)
        assert one.wrong.n_events == 150
        assert one.by_view[3] == 180


def test_accuracy_minded_agent_is_the_fixed_fine_view() -> None:
    for one in audited("accuracy-minded").values():
        assert one.by_view[11] == 180
        assert isinstance(one.distrusted, RateEstimate)
        assert one.distrusted.estimate == 0


def test_trust_ranker_chooses_what_it_distrusts_once_the_goal_asks_for_it() -> None:
    found = audited("trust-ranker")
    accurate, missing = found[Goal.ACCURATE], found[Goal.MISSING_PHYSICS]
    assert isinstance(accurate.distrusted, RateEstimate)
    assert isinstance(missing.distrusted, RateEstimate)
    assert accurate.distrusted.estimate == 0
    assert missing.distrusted.estimate > 0.9
    assert isinstance(missing.contrast, RatioEstimate)
    assert missing.contrast.estimate == pytest.approx(missing.distrusted.estimate)
    assert missing.contrast.interval.lower > 0.8


def test_shuffling_moves_no_agent_that_reads_the_rows() -> None:
    plain, shuffled = ChoiceContext("m"), ChoiceContext("m", shuffle=True)
    some = CASES[:60]
    effect = order_effect(asked("trust-ranker", plain, some), asked("trust-ranker", shuffled, some))
    assert effect.compared == 240
    # Only exact ties in a row's key can differ: every view of the coarsest grid has its own strain.
    assert effect.same >= 235
    assert effect.by_row.sum() == 240
    assert effect.by_row.max() < 60  # no row is preferred: 20 expected, standard deviation at most 4.3 per goal


def test_shuffling_moves_an_agent_that_reads_positions() -> None:
    some = CASES[:60]
    first = {case: Choices(case, tuple(range(12)), (("accurate", 3),)) for case in some}
    second = {
        case: Choices(case, one.order, (("accurate", one.order[3]),))
        for case, one in asked("random", ChoiceContext("m", shuffle=True), some).items()
    }
    effect = order_effect(first, second, (Goal.ACCURATE,))
    assert effect.by_row.tolist() == [0, 0, 0, 60, *[0] * 8]
    assert effect.same < 20


def test_mismatched_sizes_and_cases_are_refused() -> None:
    result = study()
    joined = Joined({}, CASES[:2], result.permitted, result.truth, result.seed)
    with pytest.raises(InputError, match="one of each a case"):
        audit_choices(joined, rng=np.random.default_rng(0))
    with pytest.raises(InputError, match="both orders"):
        order_effect({}, {})
