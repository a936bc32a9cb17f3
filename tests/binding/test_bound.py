from __future__ import annotations

import asyncio
import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import pytest

from counterproof.binding import Bound, Convention, Offer, bind, trajectory_offers
from counterproof.core.errors import BindingError, CannotRender
from counterproof.core.outcomes import Abstained, NotApplicable, Scored
from counterproof.core.records import Trajectory
from counterproof.core.views import UNTRACKED, reads_labels
from tests.binding.trajectories import CORPUS, MOON, RUSH, TRAJECTORY, passage

TEXT = frozenset({"question", "steps", "answer", "citations", "raw_final"})


def render(trajectory: Trajectory) -> str:
    return f"<answer>{trajectory.answer}</answer>"


def no_render(trajectory: Trajectory) -> str:
    raise CannotRender("a FireAct log has no such text")


def bound(function: Callable[..., Any]) -> Bound:
    return bind(function, trajectory_offers(render, CORPUS))


def seen(parameter: str) -> Any:
    """Return what a function gets for a parameter of this name."""
    caught: list[Any] = []
    scope: dict[str, Any] = {"caught": caught}
    exec(f"def reward({parameter}): caught.append({parameter})", scope)
    assert bound(scope["reward"]).call(TRAJECTORY) == Abstained()
    return caught[0]


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("answer", "Rush"),
        ("prediction", "Rush"),
        ("final_answer", "Rush"),
        ("question", "Who plays?"),
        ("prompt", "Who plays?"),
        ("text", "<answer>Rush</answer>"),
        ("completion", "<answer>Rush</answer>"),
        ("response", "<answer>Rush</answer>"),
        ("solution_str", "<answer>Rush</answer>"),
        ("gold_answers", ["Rush", "rush"]),
        ("ground_truth", ["Rush", "rush"]),
        ("golds", ["Rush", "rush"]),
        ("target", ["Rush", "rush"]),
        ("support_ids", {RUSH.id}),
        ("citations", [RUSH.id, RUSH.id]),
        ("cited", {RUSH.id}),
        ("retrieved", {RUSH.id, MOON.id}),
        ("retrieved_ids", {RUSH.id, MOON.id}),
        ("queries", ["who plays", "rush"]),
        ("n_searches", 2),
        (
            "searches",
            [{"query": "who plays", "passages": [MOON.id, RUSH.id]}, {"query": "rush", "passages": [RUSH.id]}],
        ),
        ("passages", [passage(MOON), passage(RUSH)]),
        ("corpus", CORPUS),
        ("model", "tiny"),
        ("score", 0.5),
        ("sample", None),
    ],
)
def test_parameters_are_bound_by_name(parameter: str, value: object) -> None:
    found = seen(parameter)
    assert found == value
    assert type(found) is type(value)


def test_every_field_is_on_offer_under_its_own_name() -> None:
    assert {field.name for field in dataclasses.fields(Trajectory)} <= set(trajectory_offers())


def test_named_parameters_count_as_read_even_if_unused() -> None:
    found = bound(lambda answer, ground_truth: 1.0)
    assert found.reads == {"answer", "gold_answers"}
    assert found.call(TRAJECTORY) == Scored(1.0, (), frozenset({"answer", "gold_answers"}))
    assert not found.tracked


def test_signature_says_what_each_parameter_gets() -> None:
    def reward(completion: str, answer: str, golds: list[str], *rest: object, limit: float = 0.5) -> float:
        return limit

    assert bound(reward).signature.splitlines() == [
        "reward(completion, answer, golds, *rest, limit)",
        "  completion <- text: the trajectory rendered as text [visible]",
        "  answer     <- the agent's final answer, not the gold: that is gold_answers [visible]",
        "  golds      <- gold_answers: list of accepted answers [verifier-only]",
        "  *rest      gets nothing",
        "  limit      keeps its default 0.5",
        "  reads labels: yes (gold_answers)",
    ]
    assert bound(reward).call(TRAJECTORY) == Scored(0.5, (), TEXT | {"gold_answers"})


def test_signature_without_labels_says_so() -> None:
    assert bound(lambda answer: 1).signature.endswith("reads labels: no")


def test_a_judges_own_model_keeps_its_default() -> None:
    def judge(answer: str, model: str = "big", golds: tuple[str, ...] = ()) -> float:
        return float(model == "big" and len(golds) == 2)

    found = bound(judge)
    assert found.call(TRAJECTORY) == Scored(1.0, (), frozenset({"answer", "gold_answers"}))
    assert "keeps its default 'big', not the record's model" in found.signature


def test_positional_only_and_keyword_only_parameters() -> None:
    def reward(answer: str, question: str, /, *, n_searches: int) -> float:
        return float((answer, question, n_searches) == ("Rush", "Who plays?", 2))

    assert bound(reward).call(TRAJECTORY) == Scored(1.0, (), frozenset({"answer", "question", "steps"}))


def test_the_whole_record_is_tracked() -> None:
    def reward(trajectory: Trajectory) -> float:
        assert isinstance(trajectory, Trajectory)
        return float(len(trajectory.retrieved)) if trajectory.answer else 0.0

    found = bound(reward)
    assert found.tracked
    assert found.reads == frozenset()
    assert found.signature.endswith("reads labels: as seen in its calls")
    assert found.call(TRAJECTORY) == Scored(2.0, (), frozenset({"answer", "steps"}))


@pytest.mark.parametrize(
    "peek",
    [
        lambda record: record.digest(),
        repr,
        lambda record: record == TRAJECTORY,
        hash,
        dataclasses.asdict,
        lambda record: dataclasses.replace(record, answer=""),
        lambda record: {record: 1},
    ],
)
def test_reading_past_the_tracker_counts_as_reading_labels(peek: Callable[[Any], object]) -> None:
    def reward(record: Any) -> float:
        peek(record)
        return 1.0

    outcome = bound(reward).call(TRAJECTORY)
    assert isinstance(outcome, Scored)
    assert reads_labels(outcome.reads)


def test_records_cannot_be_written() -> None:
    def reward(record: Any) -> float:
        record.answer = "x"
        return 1.0

    with pytest.raises(AttributeError, match="may not write 'answer'"):
        bound(reward).call(TRAJECTORY)


def test_a_lone_parameter_of_unknown_name_gets_the_record() -> None:
    found = bound(lambda t: float(t.answer == "Rush"))
    assert found.call(TRAJECTORY) == Scored(1.0, (), frozenset({"answer"}))
    assert "a guess: the only parameter, and its name is not known" in found.signature


def test_a_lone_parameter_annotated_as_text_gets_the_text() -> None:
    def reward(x: str) -> float:
        return float(x == "<answer>Rush</answer>")

    found = bound(reward)
    assert found.call(TRAJECTORY) == Scored(1.0, (), TEXT)
    assert "a guess: the only parameter, annotated as str" in found.signature


def test_a_parameter_annotated_as_trajectory_gets_the_record() -> None:
    def reward(t: Trajectory, answer: str) -> float:
        return float(t.question_id == "q1")

    assert bound(reward).call(TRAJECTORY) == Scored(1.0, (), frozenset({"answer", "question_id"}))


def test_all_bad_parameters_are_told_at_once() -> None:
    def reward(anwser: str, passages: object, xyzzy: object) -> float:
        return 1.0

    with pytest.raises(BindingError) as caught:
        bind(reward, trajectory_offers(render))
    lines = str(caught.value).splitlines()
    assert lines[:4] == [
        "reward cannot be called with what there is:",
        "  - anwser: is not on offer (did you mean 'answer'?)",
        "  - passages: needs a corpus; none was given",
        "  - xyzzy: is not on offer",
    ]
    assert lines[4].startswith("  on offer: answer, citations, cited, completion, ")
    assert "passages" not in lines[4]


def test_a_lone_misspelt_parameter_is_no_record() -> None:
    with pytest.raises(BindingError, match="did you mean 'completion'"):
        bound(lambda completon: 1.0)


def test_text_needs_a_format_that_has_one() -> None:
    with pytest.raises(BindingError, match="completion: needs a log format that can be rendered as text"):
        bind(lambda completion: 1.0, trajectory_offers())


def test_a_record_that_cannot_be_rendered_is_not_applicable() -> None:
    found = bind(lambda completion: 1.0, trajectory_offers(no_render))
    assert found.call(TRAJECTORY) == NotApplicable("a FireAct log has no such text")


def test_callables_without_a_signature_are_refused() -> None:
    with pytest.raises(BindingError, match="cannot be read"):
        bound(min)


def test_coroutines_are_awaited() -> None:
    async def reward(answer: str) -> float:
        await asyncio.sleep(0)
        return float(answer == "Rush")

    assert bound(reward).call(TRAJECTORY) == Scored(1.0, (), frozenset({"answer"}))


def test_keyword_arguments_note_what_is_read() -> None:
    def reward(answer: str, **kwargs: Any) -> float:
        assert type(kwargs).__mro__[1] is dict
        assert "gold_answers" in kwargs
        assert "answer" not in kwargs
        return float(kwargs["n_searches"] + kwargs.get("absent", 1) + len(kwargs.get("citations", ())))

    found = bound(reward)
    assert found.call(TRAJECTORY) == Scored(5.0, (), frozenset({"answer", "steps", "citations"}))
    assert "  **kwargs <- everything else by name [noted as it is read]" in found.signature


def spread(**others: object) -> None:
    """Take keyword arguments, as another function of the verifier would."""


@pytest.mark.parametrize(
    "peek",
    [
        lambda kwargs: kwargs.get("golds"),
        lambda kwargs: kwargs.pop("golds"),
        lambda kwargs: kwargs.setdefault("golds", 1),
        lambda kwargs: list(kwargs.values()),
        dict,
        lambda kwargs: {**kwargs},
        lambda kwargs: spread(**kwargs),
        lambda kwargs: kwargs | {},
        lambda kwargs: {} | kwargs,
        lambda kwargs: kwargs.copy(),
        repr,
        lambda kwargs: kwargs == {},
        lambda kwargs: [kwargs.popitem() for _ in list(kwargs)],
        "{golds}".format_map,
        lambda kwargs: [value for _, value in kwargs.items()],
    ],
)
def test_no_way_of_reading_keyword_arguments_goes_unseen(peek: Callable[[Any], object]) -> None:
    def reward(**kwargs: Any) -> float:
        peek(kwargs)
        return 1.0

    outcome = bound(reward).call(TRAJECTORY)
    assert isinstance(outcome, Scored)
    assert "gold_answers" in outcome.reads


def test_looking_at_keys_and_own_values_reads_nothing() -> None:
    def reward(**kwargs: Any) -> float:
        kwargs["golds"] = 3
        kwargs.update({"target": 4})
        kwargs |= {"score": 5}
        assert len(list(kwargs)) == len(kwargs.keys()) == len(kwargs)
        return float(kwargs["golds"] + kwargs["target"] + kwargs["score"])

    assert bound(reward).call(TRAJECTORY) == Scored(12.0)


def test_keyword_arguments_are_made_only_when_read() -> None:
    found = bind(lambda **kwargs: 1.0, trajectory_offers(no_render))
    assert found.call(TRAJECTORY) == Scored(1.0)
    found = bind(lambda **kwargs: kwargs["completion"], trajectory_offers(no_render))
    assert found.call(TRAJECTORY) == NotApplicable("a FireAct log has no such text")


def test_a_record_inside_keyword_arguments_is_tracked_too() -> None:
    found = bound(lambda **kwargs: float(kwargs["record"].answer == "Rush"))
    assert found.call(TRAJECTORY) == Scored(1.0, (), frozenset({"answer"}))


class Judge:
    strict = 2.0

    def __call__(self, answer: str, **kwargs: Any) -> float:
        return self.strict * kwargs["n_searches"]

    def method(self, *, answer: str, **kwargs: Any) -> float:
        def inner() -> float:  # makes kwargs a cell of the closure
            return self.strict * float(kwargs["n_searches"])

        return inner()


@pytest.mark.parametrize("judge", [Judge(), Judge().method])
def test_objects_and_methods_are_tracked_like_functions(judge: Callable[..., float]) -> None:
    assert bound(judge).call(TRAJECTORY) == Scored(4.0, (), frozenset({"answer", "steps"}))


def test_wrapped_functions_are_bound_by_the_inner_names() -> None:
    def logged(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return wrapper

    @logged
    def reward(answer: str) -> float:
        return float(answer == "Rush")

    assert bound(reward).call(TRAJECTORY) == Scored(1.0, (), frozenset({"answer"}))


def star(answer: str, *args: Any, **kwargs: Any) -> float:
    return float(kwargs["n_searches"])


@pytest.mark.parametrize("function", [star, functools.partial(Judge().method)])
def test_what_cannot_be_tracked_counts_as_reading_labels(function: Callable[..., float]) -> None:
    found = bound(function)
    assert found.reads == {"answer", UNTRACKED}
    assert found.signature.endswith("reads labels: yes (not tracked)")
    outcome = found.call(TRAJECTORY)
    assert isinstance(outcome, Scored)
    assert UNTRACKED in outcome.reads


def test_untracked_keyword_arguments_leave_out_what_cannot_be_rendered() -> None:
    def reward(*args: Any, **kwargs: Any) -> float:
        return float("completion" in kwargs)

    assert bind(reward, trajectory_offers(no_render)).call(TRAJECTORY) == Scored(0.0, (), frozenset({UNTRACKED}))


def test_a_verifier_cannot_hide_what_it_was_given() -> None:
    found = bound(lambda golds: Scored(1.0, (), frozenset({"answer"})))
    assert found.call(TRAJECTORY) == Scored(1.0, (), frozenset({"answer", "gold_answers"}))


def test_conventions_rename_and_the_first_wins() -> None:
    gold_first = (
        Convention("one", {"answer": "gold_answers", "completion": "answer"}),
        Convention("two", {"completion": "raw_final"}),
    )
    found = bind(lambda completion, answer: 1.0, trajectory_offers(conventions=gold_first))
    assert found.reads == {"answer", "gold_answers"}
    assert "  answer     <- gold_answers: list of accepted answers [verifier-only]" in found.signature


def test_offers_of_other_records() -> None:
    offers = {"x": Offer("x", frozenset({"x"}), lambda record: record["x"], "a number")}
    found = bind(lambda x: x + 1, offers, name="plus")
    assert found.call({"x": 1}) == Scored(2.0, (), frozenset({"x"}))
    assert found.signature.splitlines()[:2] == ["plus(x)", "  x <- a number [oracle]"]
    with pytest.raises(BindingError, match="y: is not on offer"):
        bind(lambda y: y, offers)
