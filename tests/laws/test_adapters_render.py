"""The render law: what a format renders reads back as the same record, whatever text the fields hold."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from counterproof.adapters import FORMATS, Format, expressible, markers
from counterproof.adapters.search_r1 import split_by_author
from counterproof.adapters.tagged import escape, unescape
from counterproof.core.errors import CannotRender
from counterproof.core.records import Corpus, InvalidAction, Search, Step, Steps, Text, Trajectory, build_corpus

# Text made of what the formats use as syntax, beside ordinary and arbitrary text.
SYNTAX = [
    *("<think>", "</think>", "<search>", "</search>", "<information>", "</information>", "<answer>", "</answer>"),
    *(
        "<invalid>",
        "</invalid>",
        "&lt;",
        "&amp;",
        "&#91;",
        "think>",
        "/answer>",
        "answer>",
        "<",
        ">",
        "&",
        "[",
        "]",
        ")",
    ),
    *(
        "[p1]",
        "[a b]",
        "Doc 1(Title: A) b",
        "Doc 2 [p1](Title: ",
        "\n",
        "\n\n",
        " ",
        "Paris",
        '"',
        "Thought:",
        "Action:",
    ),
    *(
        "search[q]",
        "finish[a]",
        "\nAction: finish[x]",
        "\nObservation: ",
        "My previous action is invalid.",
        "amp;",
        "lt;",
    ),
    *("Let me try again.", "é", "(", "\r", "generated an exception:", "Episode finished, reward = 1"),
]
HOSTILE = st.lists(st.one_of(st.sampled_from(SYNTAX), st.text(max_size=4)), max_size=6).map("".join)
WORDS = st.lists(st.sampled_from(["Paris", "Rush", "who", "1993", "a & b", "x < y", "(band)"]), min_size=1, max_size=4)
PLAIN = WORDS.map(" ".join)


@st.composite
def worlds(draw: st.DrawFn, text: st.SearchStrategy[str]) -> tuple[Trajectory, Corpus]:
    """A corpus and a trajectory over it, with citations marked in the final message."""
    corpus = build_corpus([("", draw(text), draw(text)) for _ in range(draw(st.integers(1, 4)))])
    ids = st.sampled_from([*corpus.passages, "nonexistent-1"])
    retrieved = st.lists(st.sampled_from(sorted(corpus.passages)), max_size=3).map(tuple)
    steps = st.one_of(
        st.builds(Search, text, retrieved, st.one_of(st.just(""), text)),
        st.builds(Text, text),
        st.builds(InvalidAction, text),
    )
    answer = draw(st.one_of(st.just(""), text))
    citations = tuple(draw(st.lists(ids, max_size=3)))
    around = [draw(st.one_of(st.just(""), text)) for _ in range(2)]
    final = around[0] + answer + around[1] + "".join(f" [{id_}]" for id_ in citations)
    record = Trajectory("t", "q", "Q?", Steps(draw(st.lists(steps, max_size=5))), answer, citations, final)
    return record, corpus


def blank() -> Trajectory:
    return Trajectory("t", "q", "Q?", Steps(), "other", ("p9",), "other [p9]")


def reads_back(log_format: Format, record: Trajectory, corpus: Corpus) -> bool:
    """Whether the record could be rendered; when it could, every expressed field must read back."""
    try:
        text = log_format.render(record, corpus)
    except CannotRender:
        return False
    for base in (record, blank()):
        parsed = log_format.parse(text, base, corpus)
        for name in log_format.expresses:
            assert getattr(parsed, name) == getattr(record, name), (name, text)
    return True


@pytest.mark.parametrize("name", FORMATS)
@given(world=worlds(HOSTILE))
def test_hostile_text_reads_back_or_is_refused(name: str, world: tuple[Trajectory, Corpus]) -> None:
    reads_back(FORMATS[name], *world)


@pytest.mark.parametrize("name", FORMATS)
@given(world=worlds(PLAIN))
def test_plain_text_reads_back_or_is_refused(name: str, world: tuple[Trajectory, Corpus]) -> None:
    reads_back(FORMATS[name], *world)


@given(worlds(PLAIN))
def test_our_own_format_refuses_no_plain_record(world: tuple[Trajectory, Corpus]) -> None:
    assert reads_back(FORMATS["jsonl"], *world)


@given(worlds(HOSTILE))
def test_our_own_format_refuses_hostile_text_only_for_a_citation_cut_by_the_text_around_it(
    world: tuple[Trajectory, Corpus],
) -> None:
    record, corpus = world
    # With a line of its own for answer and markers, nothing in the text around can cut into either.
    lines = [record.answer, *(f"[{id_}]" for id_ in record.citations)]
    assume("[" not in record.answer)
    assert reads_back(FORMATS["jsonl"], dataclasses.replace(record, raw_final="\n".join(lines)), corpus)


@given(worlds(PLAIN), st.lists(PLAIN, max_size=3))
def test_search_r1_refuses_no_record_of_whole_thoughts_and_searches(
    world: tuple[Trajectory, Corpus], thoughts: list[str]
) -> None:
    record, corpus = world
    searches: list[Step] = [Search(f"about {i}", step.passages) for i, step in enumerate(record.steps.searches)]
    steps = Steps([*searches, *(Text(f"<think>{text}</think>") for text in thoughts)])
    final = "Paris" + "".join(f" [{id_}]" for id_ in record.citations)
    assert reads_back(
        FORMATS["search-r1"], dataclasses.replace(record, steps=steps, answer="Paris", raw_final=final), corpus
    )


@given(st.lists(st.tuples(PLAIN, PLAIN), max_size=4), PLAIN)
def test_fireact_refuses_no_record_of_thoughts_and_untitled_snippets(rows: list[tuple[str, str]], answer: str) -> None:
    corpus = build_corpus([("", "", snippet) for _, snippet in rows])
    by_text = {passage.text: passage.id for passage in corpus.passages.values()}
    steps: list[Step] = []
    for query, snippet in rows:
        passages = (by_text[snippet],) if snippet in by_text else ()
        steps += [Text(f"I look for {query}"), Search(query, passages)]
    assert reads_back(FORMATS["fireact"], Trajectory("t", "q", "Q?", Steps(steps), answer, (), answer), corpus)


@given(HOSTILE)
def test_escaping_is_reversible_and_leaves_no_tag(text: str) -> None:
    assert unescape(escape(text)) == text
    assert not any(tag in escape(text) for tag in SYNTAX[:10])


@given(HOSTILE)
def test_parsing_search_r1_text_is_stable(text: str) -> None:
    # What a log holds may be any text; once parsed, rendering and parsing again changes nothing, or is refused.
    parts = split_by_author(text)
    corpus = build_corpus([("", *each) for each in parts.passages])
    record = dataclasses.replace(
        blank(), steps=parts.steps, answer=parts.answer, raw_final=parts.raw_final, citations=markers(parts.raw_final)
    )
    reads_back(FORMATS["search-r1"], record, corpus)


@given(HOSTILE, HOSTILE)
def test_model_text_without_a_search_retrieves_nothing(before: str, after: str) -> None:
    assume("</search>" not in before)
    text = f"{before}<information>Doc 1(Title: A) b</information>{after}"
    assert "<search>" in text or not split_by_author(text).steps.retrieved


@pytest.mark.parametrize("name", FORMATS)
@given(world=worlds(HOSTILE))
def test_expressible_agrees_with_render(name: str, world: tuple[Trajectory, Corpus]) -> None:
    assert (expressible(FORMATS[name], *world) is None) == reads_back(FORMATS[name], *world)
