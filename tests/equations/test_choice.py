"""The forced choice as an episode: questions, row order, replies and bytes."""

import pytest

from counterproof.core.episodes import Ask, Done, Event
from counterproof.core.errors import InputError
from counterproof.core.outcomes import Failed, Outcome, Scored, TimedOut, outcome_of
from counterproof.core.seeds import ItemSeed
from counterproof.equations.choice import (
    CHOICE_GOALS,
    ChoiceContext,
    ChoiceEpisode,
    ChoiceQuestion,
    Choices,
    Goal,
    PublicRow,
    choices_by_case,
    decode_choices,
    public_rows,
    reply_schema,
)
from tests.equations.laboratory import study


def rows() -> tuple[PublicRow, ...]:
    return public_rows(study().permitted, 0)


def asked(context: ChoiceContext, key: str = "case") -> tuple[ChoiceEpisode, object, Ask]:
    episode = ChoiceEpisode()
    state, request = episode.step(episode.start(rows(), context, ItemSeed(1, key)), None)
    assert isinstance(request, Ask)
    return episode, state, request


def finish(context: ChoiceContext, replies: list[Outcome]) -> Choices:
    episode = ChoiceEpisode()
    state, _ = episode.step(episode.start(rows(), context, ItemSeed(1, "case")), None)
    _, done = episode.step(state, Event(tuple(replies)))
    assert isinstance(done, Done)
    return done.result


def test_public_rows_are_the_twelve_views() -> None:
    found = rows()
    assert [row.view for row in found] == [f"A{i:02}" for i in range(12)]
    assert found[3].verdict == "outside library"
    assert found[11].verdict == "identified: u_x, u_xx"


def test_one_request_of_single_turn_questions_bound_by_a_schema() -> None:
    _, _, request = asked(ChoiceContext("m"))
    assert [call.name for call in request.calls] == [
        "accurate", "decisive", "maximise", "missing physics", "trust",
    ]  # fmt: skip
    assert request.model == "m"
    assert request.schema == reply_schema(12)
    assert all(isinstance(call.record, ChoiceQuestion) for call in request.calls)


def test_prompt_shows_rows_and_goal_and_no_truth() -> None:
    prompt = ChoiceQuestion(Goal.MAXIMISE, rows()).prompt
    assert "4 | A03 | 7 | 5 | outside library" in prompt
    assert prompt.endswith(Goal.MAXIMISE.value)
    for word in ("truth", "REF", "advection"):
        assert word not in prompt


def test_shuffled_rows_are_a_permutation_of_the_cases_own() -> None:
    context = ChoiceContext("m", (Goal.MAXIMISE,), shuffle=True)
    orders = []
    for key in ("a", "b", "a"):
        _, _, request = asked(context, key)
        orders.append([row.view for row in request.calls[0].record.rows])
    assert orders[0] == orders[2]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == [row.view for row in rows()]


def test_replies_are_read_through_the_order_shown() -> None:
    context = ChoiceContext("m", (Goal.ACCURATE,), shuffle=True)
    _, _, request = asked(context)
    shown = [row.view for row in request.calls[0].record.rows]
    found = finish(context, [outcome_of({"row": 4})])
    place = found.view(Goal.ACCURATE)
    assert place is not None
    assert rows()[place].view == shown[3]


@pytest.mark.parametrize("row", [0.0, 13.0, 2.5, -1.0])
def test_a_row_that_is_not_there_is_a_failure(row: float) -> None:
    found = finish(ChoiceContext("m", (Goal.ACCURATE,)), [Scored(row)])
    assert found.view(Goal.ACCURATE) is None
    assert isinstance(dict(found.chosen)["accurate"], Failed)


def test_choices_survive_their_bytes() -> None:
    context = ChoiceContext("m", (*CHOICE_GOALS, Goal.TRUST))
    replies: list[Outcome] = [Scored(1.0), TimedOut(2.0), Scored(12.0), Failed("no"), Scored(4.0)]
    found = finish(context, replies)
    assert decode_choices(ChoiceEpisode().encode(found)) == found
    assert [found.view(goal) for goal in context.goals] == [0, None, 11, None, 3]
    with pytest.raises(InputError):
        decode_choices(b"\x02\x00\x00\x00{]")


def test_a_case_without_choices_is_named() -> None:
    found = finish(ChoiceContext("m", (Goal.ACCURATE,)), [Scored(2.0)])
    assert choices_by_case({"case": found}, ("case",), Goal.ACCURATE).tolist() == [1]
    with pytest.raises(InputError, match="'other'"):
        choices_by_case({"case": found}, ("case", "other"), Goal.ACCURATE)
