import math
import pickle
from hashlib import sha256
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterproof.core.errors import InputError
from counterproof.core.records import Corpus, Passage, build_corpus
from counterproof.rewards.lexical import STOP_WORDS, LexicalIndex, content_tokens, tokens
from counterproof.rewards.ranking import Ranker, Ranking, RecentLeaders, leaders, tie_order

WORDS = st.sampled_from(["rush", "band", "Peart", "the", "of", "canal", "1975", "ash"])
TEXTS = st.lists(WORDS, max_size=6).map(" ".join)
CORPORA = st.lists(st.tuples(st.just(""), TEXTS, TEXTS), max_size=12).map(build_corpus)
IDS = ["a", "b", "c", "d", "e"]


def corpus_of(**texts: str) -> Corpus:
    return Corpus({name: Passage(name, "", text) for name, text in texts.items()})


def by_sha256(name: str) -> str:
    return sha256(name.encode()).hexdigest()


def slow_scores(corpus: Corpus, query: str) -> dict[str, float]:
    """The definition, passage by passage; terms from the largest down, as the definition says."""
    held = {p: set(content_tokens(f"{one.title} {one.text}")) for p, one in corpus.passages.items()}
    asked = set(content_tokens(query))
    scores = {}
    for passage, words in held.items():
        frequencies = sorted(sum(word in other for other in held.values()) for word in words & asked)
        total = 0.0
        for frequency in frequencies:
            total += math.log(1 + len(corpus) / frequency)
        scores[passage] = total
    return scores


def slow_rank(scores: dict[str, float], exclude: frozenset[str], k: int) -> Ranking:
    found = [(p, s) for p, s in scores.items() if s > 0 and p not in exclude]
    found.sort(key=lambda one: (-one[1], by_sha256(one[0])))
    return Ranking(
        tuple(p for p, _ in found[:k]),
        tuple(s for _, s in found[:k]),
        tie_at_top=len(found) > 1 and found[0][1] == found[1][1],
        tie_at_edge=len(found) > k and found[k - 1][1] == found[k][1],
    )


def test_tokens_are_lower_case_runs_of_letters_and_digits_of_any_script() -> None:
    assert tokens("Über-Größe_2, Zoë's Ωmega!") == ["über", "größe", "2", "zoë", "s", "ωmega"]


def test_content_tokens_leave_out_listed_stop_words_only() -> None:
    assert content_tokens("The band of which Neil was a member") == ["band", "neil", "member"]
    assert {"the", "of", "which", "was", "a"} <= STOP_WORDS
    assert all(tokens(word) == [word] for word in STOP_WORDS)


def test_score_is_the_sum_of_log_one_plus_n_over_df() -> None:
    corpus = corpus_of(a="rush band band", b="band", c="canal", d="ash")
    found = LexicalIndex(corpus).rank("Which band is Rush?", "the band", frozenset(), 8)
    # N = 4, df(band) = 2, df(rush) = 1: ln(1 + 4/1) + ln(1 + 4/2), and ln 3; a repeated word counts once.
    assert found.passages == ("a", "b")
    assert found.scores == pytest.approx((math.log(5) + math.log(3), math.log(3)), rel=1e-15)


def test_answer_counts_like_the_question() -> None:
    index = LexicalIndex(corpus_of(a="rush", b="canal"))
    assert index.rank("rush", "", frozenset(), 8).passages == ("a",)
    assert index.rank("", "rush", frozenset(), 8) == index.rank("rush", "", frozenset(), 8)


def test_retrieved_passages_leave_before_the_budget_is_taken() -> None:
    corpus = corpus_of(a="rush band canal", b="rush band", c="rush")
    found = LexicalIndex(corpus).rank("rush band canal", "", frozenset({"a"}), 1)
    assert found.passages == ("b",)


def test_passages_without_a_shared_content_token_never_rank() -> None:
    found = LexicalIndex(corpus_of(a="the of was", b="canal")).rank("the of was canal", "", frozenset(), 8)
    assert found.passages == ("b",)


def test_ties_stand_in_the_order_of_sha256_of_the_id() -> None:
    corpus = corpus_of(**dict.fromkeys(IDS, "rush"))
    found = LexicalIndex(corpus).rank("rush", "", frozenset(), 8)
    assert found.passages == tuple(sorted(IDS, key=by_sha256))


@pytest.mark.parametrize(("k", "edge"), [(1, False), (2, False), (3, True), (4, True), (5, False), (9, False)])
def test_tie_at_the_edge_is_between_the_last_inside_and_the_first_outside(k: int, edge: bool) -> None:
    corpus = corpus_of(a="rush band", b="rush", c="rush", d="rush", e="band ash band canal")
    # N = 5, df(rush) = 4, df(band) = 2: a scores ln(9/4) + ln(7/2), e ln(7/2) = 1.25, and b, c, d ln(9/4) = .81 each.
    found = LexicalIndex(corpus).rank("rush band", "", frozenset(), k)
    assert found.passages[:2] == ("a", "e")[:k]
    assert (found.tie_at_top, found.tie_at_edge) == (False, edge)


def test_tie_at_the_top_is_seen_with_a_budget_of_one() -> None:
    found = LexicalIndex(corpus_of(a="rush", b="rush")).rank("rush", "", frozenset(), 1)
    assert (len(found.passages), found.tie_at_top, found.tie_at_edge) == (1, True, True)


def test_equal_document_frequencies_tie_whatever_the_words_are() -> None:
    # Sums of the same three terms in another order may differ in the last bit; in the stated order they cannot.
    texts = {"a": "x1 y2 z3", "b": "z1 y1 x3"}
    fillers = {f"f{i}": text for i, text in enumerate(["y2", "y1", "z3 x3", "z3", "x3", "q"])}
    found = LexicalIndex(corpus_of(**texts, **fillers)).rank("x1 y2 z3 z1 y1 x3", "", frozenset(), 2)
    assert set(found.passages) == {"a", "b"}
    assert found.tie_at_top


@pytest.mark.parametrize("k", [0, -1])
def test_budget_below_one_is_refused(k: int) -> None:
    with pytest.raises(InputError, match="at least 1"):
        LexicalIndex(corpus_of(a="rush")).rank("rush", "", frozenset(), k)


def test_empty_corpus_ranks_nothing() -> None:
    assert LexicalIndex(Corpus({})).rank("rush", "", frozenset(), 8) == Ranking((), (), False, False)


@given(CORPORA, TEXTS, TEXTS, st.data())
def test_rank_equals_the_slow_definition(corpus: Corpus, question: str, answer: str, data: st.DataObject) -> None:
    ids = sorted(corpus.passages)
    exclude = data.draw(st.frozensets(st.sampled_from(ids))) if ids else frozenset()
    k = data.draw(st.integers(1, 6))
    expected = slow_rank(slow_scores(corpus, f"{question} {answer}"), exclude, k)
    assert LexicalIndex(corpus).rank(question, answer, exclude, k) == expected


@given(CORPORA, st.lists(TEXTS, max_size=5))
def test_what_was_asked_before_changes_nothing(corpus: Corpus, asked: list[str]) -> None:
    index = LexicalIndex(corpus)
    everything = frozenset(corpus.passages)
    for query in asked:
        index.rank(query, "", everything, 3)
        assert index.rank(query, "", frozenset(), 3) == LexicalIndex(corpus).rank(query, "", frozenset(), 3)


@given(CORPORA, TEXTS, st.integers(1, 6))
def test_order_of_the_corpus_changes_nothing(corpus: Corpus, query: str, k: int) -> None:
    turned = Corpus(dict(reversed(list(corpus.passages.items()))))
    assert LexicalIndex(corpus).rank(query, "", frozenset(), k) == LexicalIndex(turned).rank(query, "", frozenset(), k)


@given(CORPORA, TEXTS, st.integers(1, 6))
def test_a_larger_budget_extends_a_smaller_one(corpus: Corpus, query: str, k: int) -> None:
    index = LexicalIndex(corpus)
    less, more = index.rank(query, "", frozenset(), k), index.rank(query, "", frozenset(), k + 1)
    assert more.passages[:k] == less.passages
    assert all(one >= other for one, other in pairwise(more.scores))


def test_index_is_a_ranker_and_survives_a_process_boundary() -> None:
    index: Ranker = LexicalIndex(corpus_of(a="rush", b="canal"))
    index.rank("rush", "", frozenset(), 2)
    again: Ranker = pickle.loads(pickle.dumps(index))
    assert again.name == "lexical"
    assert again.rank("canal", "", frozenset(), 2).passages == ("b",)


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), max_size=30), st.integers(1, 12))
def test_leaders_are_the_best_in_order_with_ties_whole(values: list[float], depth: int) -> None:
    names = tuple(f"n{i:02d}" for i in range(len(values)))
    found = leaders(names, np.array(values), depth)
    positive = sorted(((-v, n) for n, v in zip(names, values, strict=True) if v > 0))
    expected = [n for i, (v, n) in enumerate(positive) if i < depth or v == positive[depth - 1][0]]
    assert list(found.passages) == expected
    assert found.complete == (len(expected) == len(positive))


def test_recent_leaders_forget_what_was_not_asked_for_longest() -> None:
    asked: list[str] = []

    def scores(query: str) -> np.ndarray:
        asked.append(query)
        return np.array([1.0])

    recent = RecentLeaders(("a",), scores, limit=2)
    for query in ("first", "second", "first", "third", "first", "third", "second"):
        assert recent.ranking(query, frozenset(), 1).passages == ("a",)
    assert asked == ["first", "second", "third", "second"]


def test_tie_order_is_that_of_sha256() -> None:
    assert tie_order(IDS) == tuple(sorted(IDS, key=by_sha256))
