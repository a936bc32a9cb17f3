import dataclasses
import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import pytest

from counterproof.core.errors import InputError
from counterproof.core.records import Corpus, InvalidAction, Search, Text, Trajectory, build_corpus
from counterproof.rewards.reference import normalise_answer
from counterproof.study.pools.agent import ScriptedAgent, make_pool
from counterproof.study.pools.config import AgentConfig
from counterproof.study.pools.tally import PoolTally, pool_meta

MARKER = re.compile(r"\[([^\[\]\s]+)\]")
HONEST = AgentConfig(
    no_search=0.0,
    exact_repeat=0.0,
    near_repeat=0.0,
    invalid_action=0.0,
    abstain=0.0,
    long_answer=0.0,
    stray_citation=0.0,
    no_citation=0.0,
    unretrieved_citation=0.0,
    fake_citation=0.0,
    duplicate_citation=0.0,
)


@dataclass(frozen=True)
class Asked:
    question_id: str
    question: str
    gold_answers: tuple[str, ...]
    support_ids: frozenset[str]


def a_world(size: int = 40) -> tuple[list[Asked], Corpus]:
    """Smiths with their towns, and towns with their rivers: two passages a question, and every passage findable."""
    texts: list[tuple[str, str, str]] = []
    for i in range(size):
        texts.append((f"s{i}", f"Smith{i} Vane", f"Smith{i} Vane was born in Town{i % 7}burg and plays the Horn{i}."))
        texts.append(
            (f"t{i}", f"Town{i}burg", f"Town{i}burg lies on River{i} Water. Barges reached Town{i}burg in 1{i:03d}.")
        )
    corpus = build_corpus(texts)
    ids = {alias: passage.id for passage in corpus.passages.values() for alias in passage.aliases}
    questions = [
        Asked(
            f"q{i}",
            f"Which river flows through the town where Smith{i} Vane was born?",
            (f"River{i % 7} Water",),
            frozenset({ids[f"s{i}"], ids[f"t{i % 7}"]}),
        )
        for i in range(size)
    ]
    return questions, corpus


def pool(config: AgentConfig | None = None, *, samples: int = 50, seed: int = 11, depth: int = 5) -> list[Trajectory]:
    questions, corpus = a_world()
    return list(make_pool(questions, corpus, config, seed=seed, samples=samples, depth=depth))


QUESTIONS, CORPUS = a_world()
ROWS = pool()


def citing(rows: Iterable[Trajectory]) -> list[Trajectory]:
    return [row for row in rows if row.citations]


def assert_binomial(events: int, n: int, rate: float) -> None:
    """Four standard deviations, so that one of 15,000 right agents fails; the seed is fixed."""
    assert n > 500
    assert abs(events - n * rate) <= 4 * math.sqrt(n * rate * (1 - rate)) + 1e-9


def test_same_seed_gives_the_same_pool_and_another_seed_another() -> None:
    digests = [row.digest() for row in pool(samples=3)]
    assert digests == [row.digest() for row in pool(samples=3)]
    assert digests != [row.digest() for row in pool(samples=3, seed=12)]


def test_attempt_depends_neither_on_other_questions_nor_on_order_nor_on_the_number_of_samples() -> None:
    agent = ScriptedAgent(CORPUS)
    expected = {row.trajectory_id: row.digest() for row in ROWS if (row.sample or 0) < 3}
    for question in reversed(QUESTIONS):
        for sample in (2, 0, 1):
            row = agent.attempt(question, sample, 11)
            assert row.digest() == expected[row.trajectory_id]


def test_order_of_the_corpus_changes_nothing() -> None:
    turned = Corpus(dict(reversed(list(CORPUS.passages.items()))))
    rows = make_pool(QUESTIONS[:10], turned, seed=11, samples=20)
    assert [row.digest() for row in rows] == [
        row.digest() for row in ROWS if int(row.question_id[1:]) < 10 and (row.sample or 0) < 20
    ]


def test_support_ids_are_copied_and_never_read() -> None:
    blind = [dataclasses.replace(question, support_ids=frozenset()) for question in QUESTIONS]
    rows = list(make_pool(blind, CORPUS, seed=11, samples=2))
    for row in rows:
        expected = next(one for one in ROWS if one.trajectory_id == row.trajectory_id)
        assert dataclasses.replace(expected, support_ids=frozenset()) == row
        assert expected.support_ids == QUESTIONS[int(row.question_id[1:])].support_ids


def test_gold_answers_change_answers_but_no_step() -> None:
    other = [dataclasses.replace(question, gold_answers=("nowhere",)) for question in QUESTIONS]
    rows = list(make_pool(other, CORPUS, seed=11, samples=2))
    steps = {row.trajectory_id: row.steps for row in ROWS}
    assert all(row.steps == steps[row.trajectory_id] for row in rows)


def test_records_are_complete() -> None:
    assert len({row.trajectory_id for row in ROWS}) == len(ROWS) == 40 * 50
    one = next(iter(make_pool(QUESTIONS, CORPUS, seed=11, pool="ours")))
    assert (one.question_id, one.sample, one.group_id, one.model, one.pool) == ("q0", 0, "q0", "scripted", "ours")
    assert one.gold_answers == ("River0 Water",)


def test_searches_really_search_the_corpus_at_the_depth() -> None:
    agent = ScriptedAgent(CORPUS, depth=3)
    from counterproof.study.pools.retrieval import Bm25Index

    index = Bm25Index(CORPUS)
    for question in QUESTIONS[:20]:
        for search in agent.attempt(question, 0, 11).steps.searches:
            assert list(search.passages) == [passage for passage, _ in index.search(search.query, 3)]


def test_markers_of_the_final_message_are_the_citations_in_order() -> None:
    assert all(tuple(MARKER.findall(row.raw_final)) == row.citations for row in ROWS)


def test_answer_stands_in_the_final_message() -> None:
    assert all(row.answer in row.raw_final for row in ROWS)


def test_searches_run_from_none_to_five_at_their_weights() -> None:
    counts = Counter(len(row.steps.searches) for row in ROWS)
    assert set(counts) == {0, 1, 2, 3, 4, 5}
    assert_binomial(counts[0], len(ROWS), 0.02)
    for searches, weight in enumerate((0.18, 0.27, 0.25, 0.18, 0.12), start=1):
        assert_binomial(counts[searches], len(ROWS), 0.98 * weight)


def test_one_to_four_passages_are_cited() -> None:
    assert {len(row.cited) for row in citing(ROWS)} == {1, 2, 3, 4}


def test_planted_faults_of_citations_come_at_their_rates() -> None:
    rows = citing(ROWS)
    assert_binomial(sum(any(c not in CORPUS for c in row.citations) for row in rows), len(rows), 0.015)
    unretrieved = [row for row in rows if any(c in CORPUS and c not in row.retrieved for c in row.citations)]
    assert_binomial(len(unretrieved), len(rows), 0.02)
    assert_binomial(sum(len(row.citations) > len(row.cited) for row in rows), len(rows), 0.02)


def test_planted_abstentions_invalid_actions_and_missing_citations_come_at_their_rates() -> None:
    assert_binomial(sum(not row.answer for row in ROWS), len(ROWS), 0.04)
    answered = [row for row in ROWS if row.answer and row.retrieved]
    assert_binomial(sum(not row.citations for row in answered), len(answered), 0.03)
    assert_binomial(sum(len(row.answer.split()) > 30 for row in answered), len(answered), 0.04)
    searches = sum(len(row.steps.searches) for row in ROWS)
    assert_binomial(sum(row.steps.invalid_actions for row in ROWS), searches, 0.05)


def test_correct_answers_come_at_the_stated_accuracy_where_they_can_be_read() -> None:
    passages = {p: f"{one.title} {one.text}" for p, one in CORPUS.passages.items()}
    config = dataclasses.replace(HONEST, accuracy=0.6)
    rows = [row for row in pool(config) if any(row.gold_answers[0] in passages[p] for p in row.retrieved)]
    right = sum(normalise_answer(row.answer) == normalise_answer(row.gold_answers[0]) for row in rows)
    assert_binomial(right, len(rows), 0.6)


def test_gold_answer_that_was_not_retrieved_is_never_given() -> None:
    other = [dataclasses.replace(question, gold_answers=("Nowhere Falls",)) for question in QUESTIONS]
    rows = make_pool(other, CORPUS, dataclasses.replace(HONEST, accuracy=1.0), seed=3, samples=10)
    assert all("Nowhere" not in row.answer for row in rows)


def test_yes_or_no_is_answered_with_yes_or_no() -> None:
    asked = [dataclasses.replace(question, gold_answers=("yes",)) for question in QUESTIONS]
    answers = Counter(row.answer for row in make_pool(asked, CORPUS, HONEST, seed=3, samples=20))
    assert set(answers) == {"yes", "no"}
    assert_binomial(answers["yes"], 800, 0.75)


def test_honest_agent_breaks_nothing() -> None:
    for row in pool(HONEST, samples=5):
        assert row.answer
        assert row.citations
        assert row.cited <= row.retrieved
        assert len(row.citations) == len(row.cited)
        assert not row.steps.invalid_actions
        assert all(type(step) in (Search, Text, InvalidAction) for step in row.steps)


def test_follow_ups_repeat_only_where_repeats_are_planted() -> None:
    longer = dataclasses.replace(HONEST, searches=(0.0, 0.0, 0.0, 0.0, 1.0))
    assert all(row.steps.largest_query_overlap < 0.8 for row in pool(longer, samples=5))
    exact = dataclasses.replace(longer, exact_repeat=1.0)
    assert all(row.steps.exact_repeats == 4 for row in pool(exact, samples=2))
    near = dataclasses.replace(longer, near_repeat=1.0)
    assert all(row.steps.largest_query_overlap >= 0.8 for row in pool(near, samples=2))


def test_every_fault_at_once_leaves_each_in_its_own_citation() -> None:
    config = dataclasses.replace(
        HONEST, unretrieved_citation=1.0, fake_citation=1.0, duplicate_citation=1.0, stray_citation=1.0
    )
    for row in pool(config, samples=5):
        assert sum(c not in CORPUS for c in row.cited) == 1
        assert sum(c in CORPUS and c not in row.retrieved for c in row.cited) == 1
        assert len(row.citations) == len(row.cited) + 1
        assert tuple(MARKER.findall(row.raw_final)) == row.citations


def test_samples_of_a_question_differ() -> None:
    by_question: dict[str, set[tuple[object, ...]]] = {}
    for row in ROWS:
        by_question.setdefault(row.question_id, set()).add((row.steps, row.answer, row.citations))
    assert min(len(kinds) for kinds in by_question.values()) > 25


def test_long_runs_with_a_repeated_query_exist() -> None:
    assert any(len(row.steps.searches) >= 4 and row.steps.largest_query_overlap >= 0.8 for row in ROWS)


@pytest.mark.parametrize(("samples", "depth"), [(0, 5), (8, 0), (-1, 5)])
def test_samples_and_depth_below_one_are_refused(samples: int, depth: int) -> None:
    with pytest.raises(InputError, match="at least"):
        make_pool(QUESTIONS, CORPUS, seed=0, samples=samples, depth=depth)


def test_empty_corpus_gives_trajectories_without_evidence() -> None:
    rows = list(make_pool(QUESTIONS[:5], Corpus({}), HONEST, seed=0))
    assert all(row.steps.searches and not row.retrieved and not row.citations for row in rows)


def test_tally_counts_by_hand() -> None:
    corpus = CORPUS
    real = next(iter(corpus.passages))
    row = dataclasses.replace(ROWS[0], steps=ROWS[0].steps.__class__(), answer="x", citations=("gone", real, real))
    tally = PoolTally(corpus)
    assert list(tally.passing([row])) == [row]
    counts = tally.counts()
    assert counts["searches"] == {"0": 1}
    assert counts["cited_passages"] == {"2": 1}
    for event in ("U", "L", "F", "duplicate_citation"):
        assert counts["events"][event] == 1
        assert counts["rates"][event] == 1.0
    assert counts["events"]["answer_without_citation"] == counts["events"]["abstained"] == 0


def test_meta_is_plain_data_with_every_rate_of_the_agent() -> None:
    import json

    tally = PoolTally(CORPUS)
    for row in ROWS[:20]:
        tally.add(row)
    meta = pool_meta(tally, CORPUS, AgentConfig(), seed=11, samples=1, depth=5)
    again = json.loads(json.dumps(meta, allow_nan=False))
    assert set(again["agent"]) == {field.name for field in dataclasses.fields(AgentConfig)}
    assert again["corpus"]["passages"] == len(CORPUS)
    assert (again["seed"], again["samples"], again["depth"]) == (11, 1, 5)
