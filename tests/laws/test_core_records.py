"""Laws of records: a digest that sees every field, facts that follow definitions, corpora that ignore order."""

from __future__ import annotations

import dataclasses
import pickle
from itertools import combinations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from counterproof.core import InvalidAction, Search, Steps, Text, Trajectory, build_corpus
from counterproof.core.records import normalise_text, passage_id, question_id

texts = st.text(max_size=8)
ids = st.lists(texts, max_size=3).map(tuple)
steps = st.lists(
    st.builds(Search, texts, ids, texts) | st.builds(Text, texts) | st.builds(InvalidAction, texts), max_size=4
).map(Steps)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "trajectory_id": texts,
    "question_id": texts,
    "question": texts,
    "steps": steps,
    "answer": texts,
    "citations": ids,
    "raw_final": texts,
    "gold_answers": ids,
    "support_ids": st.frozensets(texts, max_size=3),
    "model": st.none() | texts,
    "pool": st.none() | texts,
    "sample": st.none() | st.integers(),
    "group_id": st.none() | texts,
    "score": st.none() | st.floats(allow_nan=False),
}
trajectories = st.builds(Trajectory, **FIELDS)
queries = st.lists(st.text("ab ?", max_size=5), max_size=5)
passages = st.lists(st.tuples(st.text("xy", max_size=2), st.text("aA ", max_size=3), st.text("aA ", max_size=3)))


def test_the_strategies_cover_every_field() -> None:
    assert [field.name for field in dataclasses.fields(Trajectory)] == list(FIELDS)


@given(trajectories, st.sampled_from(sorted(FIELDS)), st.data())
def test_the_digest_changes_with_every_field(record: Trajectory, name: str, data: st.DataObject) -> None:
    value = data.draw(FIELDS[name].filter(lambda value: value != getattr(record, name)))
    assert record.edited({name: value}).digest() != record.digest()


@given(trajectories, trajectories)
def test_different_records_have_different_digests(one: Trajectory, other: Trajectory) -> None:
    if one != other:
        assert one.digest() != other.digest()


@given(trajectories)
def test_a_copy_has_the_same_digest(record: Trajectory) -> None:
    again = pickle.loads(pickle.dumps(record))
    assert again == record
    assert again.digest() == record.digest()
    shuffled = dataclasses.replace(record, support_ids=frozenset(sorted(record.support_ids, reverse=True)))
    assert shuffled.digest() == record.digest()


@given(trajectories, st.data())
def test_edited_equals_replace(record: Trajectory, data: st.DataObject) -> None:
    names = data.draw(st.sets(st.sampled_from(sorted(FIELDS)), max_size=4))
    changes = {name: data.draw(FIELDS[name]) for name in sorted(names)}
    assert record.edited(changes) == dataclasses.replace(record, **changes)


@given(queries)
def test_facts_of_queries_follow_their_definitions(texts: list[str]) -> None:
    found = Steps(Search(text) for text in texts)
    repeats = sum(text in texts[:i] for i, text in enumerate(texts))
    assert found.exact_repeats == repeats
    overlaps = [1.0 if a == b else 0.0 for a, b in combinations(texts, 2)]
    for a, b in combinations([set(text.replace("?", " ").split()) for text in texts], 2):
        overlaps.append(len(a & b) / len(a | b) if a and b else 0.0)
    assert found.largest_query_overlap == max(overlaps, default=0.0)


@given(steps)
def test_retrieved_is_the_union_over_searches(found: Steps) -> None:
    expected: set[str] = set()
    for step in found:
        if isinstance(step, Search):
            expected.update(step.passages)
    assert found.retrieved == expected


@given(passages.flatmap(lambda rows: st.tuples(st.just(rows), st.permutations(rows))))
def test_a_corpus_does_not_depend_on_order(both: tuple[list[tuple[str, str, str]], list[tuple[str, str, str]]]) -> None:
    one, other = map(build_corpus, both)
    assert one.digest() == other.digest()
    assert {key: set(found.aliases) for key, found in one.passages.items()} == {
        key: set(found.aliases) for key, found in other.passages.items()
    }


@given(passages)
def test_a_corpus_has_one_passage_for_each_normalised_text(rows: list[tuple[str, str, str]]) -> None:
    corpus = build_corpus(rows)
    distinct = {(normalise_text(title), normalise_text(text)) for _, title, text in rows}
    assert len(corpus) == len(distinct)
    for alias, title, text in rows:
        found = corpus[passage_id(title, text)]
        assert found.id in corpus
        assert not alias or alias in found.aliases


@given(st.text(st.characters(max_codepoint=0x7F)), st.text(" \t\n\u2003", max_size=3))
def test_ids_ignore_case_and_white_space(text: str, space: str) -> None:
    other = space + text.upper().replace(" ", "  ") + space
    assert question_id(other) == question_id(text)
    assert passage_id(text, other) == passage_id(other, text)
