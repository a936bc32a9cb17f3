"""Our own format's text, by hand."""

from __future__ import annotations

import pytest

from counterproof.adapters import FORMATS, expressible
from counterproof.core.errors import CannotRender
from counterproof.core.records import InvalidAction, Search, Steps, Text, Trajectory, build_corpus

TAGGED = FORMATS["jsonl"]
CORPUS = build_corpus([("p0", "Rush (band)", "Rush is\na band.")])
(ID,) = CORPUS.passages
NONE = Steps()


def record(
    steps: Steps = NONE, answer: str = "Rush", citations: tuple[str, ...] = (), final: str = "Rush"
) -> Trajectory:
    return Trajectory("t", "q", "Who?", steps, answer, citations, final)


def test_a_record_is_rendered_as_tagged_text() -> None:
    steps = Steps([Text("I look."), Search("rush band", (ID,), "1 found"), InvalidAction("jump"), Search("x")])
    text = TAGGED.render(record(steps, citations=(ID,), final=f"It is Rush [{ID}]."), CORPUS)
    assert text == (
        "<think>I look.</think>\n"
        f"<search>rush band</search>\n\n<information>Doc 1 [{ID}](Title: Rush (band)) Rush is a band.\n\n1 found"
        "</information>\n\n"
        "<invalid>jump</invalid>\n"
        "<search>x</search>\n\n<information></information>\n\n"
        f"It is <answer>Rush</answer> [{ID}]."
    )


def test_tags_and_brackets_of_the_text_itself_are_escaped() -> None:
    text = TAGGED.render(record(Steps([Text("a <search> b")]), final="Rush [sic] <answer>"), CORPUS)
    assert text == "<think>a &lt;search> b</think>\n<answer>Rush</answer> &#91;sic] &lt;answer>"


def test_an_answer_inside_a_citation_is_not_cut_out_of_it() -> None:
    text = TAGGED.render(record(answer="7", citations=("7",), final="[7] says 7"), CORPUS)
    assert text == "[7] says <answer>7</answer>"


def test_a_retrieved_passage_without_known_text_is_shown_by_its_id() -> None:
    assert "<information>Doc 1 [elsewhere]</information>" in TAGGED.render(
        record(Steps([Search("q", ("elsewhere",))])), CORPUS
    )


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (record(final="nothing"), "does not hold the answer"),
        (record(citations=("p9",)), "does not hold the citations"),
        (record(Steps([Search("q", ("a b",))])), "brackets or white space"),
    ],
)
def test_what_the_text_cannot_say_is_refused_with_the_reason(given: Trajectory, reason: str) -> None:
    with pytest.raises(CannotRender, match=reason):
        TAGGED.render(given, CORPUS)
    assert reason in (expressible(TAGGED, given, CORPUS) or "")


def test_deleting_the_searches_shows_in_the_text() -> None:
    with_search = record(Steps([Search("q", (ID,))]))
    assert "<search>" in TAGGED.render(with_search, CORPUS)
    assert TAGGED.render(record(), CORPUS) == "<answer>Rush</answer>"
