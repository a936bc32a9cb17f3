import logging
import math
import pickle
from collections import Counter
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterproof.core.errors import InputError
from counterproof.core.records import Corpus, Passage, build_corpus
from counterproof.rewards.lexical import content_tokens
from counterproof.rewards.ranking import Ranker, Ranking
from counterproof.study.pools.retrieval import Bm25Index

WORDS = st.sampled_from(["rush", "band", "Peart", "the", "of", "canal", "1975", "ash"])
TEXTS = st.lists(WORDS, max_size=6).map(" ".join)
CORPORA = st.lists(st.tuples(st.just(""), TEXTS, TEXTS), max_size=12).map(build_corpus)


def corpus_of(**texts: str) -> Corpus:
    return Corpus({name: Passage(name, "", text) for name, text in texts.items()})


def slow_scores(corpus: Corpus, query: str) -> dict[str, float]:
    """The formula, with k1 = 1.5 and b = .75, passage by passage."""
    bags = {p: Counter(content_tokens(f"{one.title} {one.text}")) for p, one in corpus.passages.items()}
    mean = sum(bag.total() for bag in bags.values()) / len(bags) if bags else 0.0
    scores = {}
    for passage, bag in bags.items():
        total = 0.0
        for word in content_tokens(query):
            if bag[word]:
                df = sum(word in other for other in bags.values())
                idf = math.log(1 + (len(bags) - df + 0.5) / (df + 0.5))
                total += idf * bag[word] / (bag[word] + 1.5 * (0.25 + 0.75 * bag.total() / mean))
        scores[passage] = total
    return scores


def test_score_is_bm25_with_the_stated_constants() -> None:
    corpus = corpus_of(a="rush rush band", b="canal")
    # N = 2, df = 1, mean length 2: idf = ln(1 + 1.5/1.5) = ln 2; tf 2 of 3 words: 2 / (2 + 1.5(.25 + .75 · 3/2)).
    [(passage, score)] = Bm25Index(corpus).search("rush", 5)
    assert passage == "a"
    assert score == pytest.approx(math.log(2) * 2 / 4.0625, rel=1e-15)


def test_repeated_query_word_counts_each_time() -> None:
    index = Bm25Index(corpus_of(a="rush band", b="canal"))
    once, twice = index.search("rush", 1)[0][1], index.search("rush Rush", 1)[0][1]
    assert twice == pytest.approx(2 * once, rel=1e-15)


def test_query_is_question_and_answer() -> None:
    index = Bm25Index(corpus_of(a="rush band", b="canal", c="ash"))
    assert index.rank("rush", "canal", frozenset(), 8) == index.rank_excluding("rush canal", frozenset(), 8)


@given(CORPORA, TEXTS, TEXTS, st.data())
def test_rank_equals_the_slow_formula(corpus: Corpus, question: str, answer: str, data: st.DataObject) -> None:
    ids = sorted(corpus.passages)
    exclude = data.draw(st.frozensets(st.sampled_from(ids))) if ids else frozenset()
    k = data.draw(st.integers(1, 6))
    scores = slow_scores(corpus, f"{question} {answer}")
    found = Bm25Index(corpus).rank(question, answer, exclude, k)
    assert found.scores == pytest.approx([scores[passage] for passage in found.passages], rel=1e-12)
    assert exclude.isdisjoint(found.passages)
    open_to_it = sorted((s for p, s in scores.items() if s > 0 and p not in exclude), reverse=True)
    assert found.scores == pytest.approx(open_to_it[:k], rel=1e-12)


@given(CORPORA, TEXTS, st.integers(1, 6))
def test_equal_scores_stand_in_the_order_of_sha256(corpus: Corpus, query: str, k: int) -> None:
    found = Bm25Index(corpus).rank(query, "", frozenset(), k)
    keys = [(-score, sha256(passage.encode()).hexdigest()) for passage, score in zip(*flat(found), strict=True)]
    assert keys == sorted(keys)


def flat(found: Ranking) -> tuple[tuple[str, ...], tuple[float, ...]]:
    return found.passages, found.scores


@given(CORPORA, TEXTS)
def test_neither_word_order_nor_corpus_order_changes_anything(corpus: Corpus, query: str) -> None:
    turned = Corpus(dict(reversed(list(corpus.passages.items()))))
    words = sorted(query.split())
    found = Bm25Index(corpus).rank(query, "", frozenset(), 4)
    assert Bm25Index(turned).rank(" ".join(words), "", frozenset(), 4) == found


def test_ties_are_seen_at_the_top_and_at_the_edge() -> None:
    index = Bm25Index(corpus_of(a="rush band", b="rush ash", c="rush canal", d="x"))
    found = index.rank("rush", "", frozenset(), 2)
    assert (len(found.passages), found.tie_at_top, found.tie_at_edge) == (2, True, True)
    assert not index.rank("rush", "", frozenset(), 3).tie_at_edge


def test_retrieved_passages_leave_before_the_budget_is_taken() -> None:
    index = Bm25Index(corpus_of(a="rush band", b="rush band canal", c="ash"))
    assert index.rank("rush band", "", frozenset({"a", "elsewhere"}), 1).passages == ("b",)


@pytest.mark.parametrize("query", ["", "who was it", "unseen"])
def test_query_without_a_known_content_word_finds_nothing(query: str) -> None:
    assert Bm25Index(corpus_of(a="rush who was it")).search(query, 5) == []


@pytest.mark.parametrize("corpus", [Corpus({}), corpus_of(a="", b="the of")])
def test_corpus_without_content_words_finds_nothing(corpus: Corpus) -> None:
    assert Bm25Index(corpus).search("rush", 5) == []


def test_empty_passage_beside_others_is_no_obstacle() -> None:
    assert [passage for passage, _ in Bm25Index(corpus_of(a="", b="rush")).search("rush", 5)] == ["b"]


@pytest.mark.parametrize("k", [0, -3])
def test_budget_below_one_is_refused(k: int) -> None:
    with pytest.raises(InputError, match="at least 1"):
        Bm25Index(corpus_of(a="rush")).search("rush", k)


def test_library_prints_and_logs_nothing(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        Bm25Index(corpus_of(a="rush", b="canal")).search("rush", 1)
    assert capfd.readouterr() == ("", "")
    assert not [record for record in caplog.records if record.name.startswith("bm25s")]


def test_index_is_a_ranker_and_survives_a_process_boundary() -> None:
    index: Ranker = Bm25Index(corpus_of(a="rush", b="canal"))
    again: Ranker = pickle.loads(pickle.dumps(index))
    assert again.name == "bm25"
    assert again.rank("canal", "", frozenset(), 2) == index.rank("canal", "", frozenset(), 2)
