"""Facts of steps by hand; ids of passages and questions; corpora that merge equal texts."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import pickle

import pytest

from counterproof.core import Corpus, InvalidAction, Passage, Search, Step, Steps, Text, Trajectory, build_corpus
from counterproof.core.hashing import digest
from counterproof.core.records import normalise_text, passage_id, question_id


def searches(*queries: str) -> Steps:
    return Steps(Search(query) for query in queries)


def trajectory(*steps: Step) -> Trajectory:
    return Trajectory(
        trajectory_id="t1",
        question_id="q1",
        question="Who?",
        steps=Steps(steps),
        answer="Rush",
        citations=("p2", "p1", "p2"),
        raw_final="Rush [p2][p1][p2]",
        support_ids=frozenset({"b", "a"}),
    )


MIXED = (Text("I will look."), Search("Rush", ("p1", "p2")), InvalidAction("<serch>"), Search("band", ("p2", "p3")))


def test_facts_of_steps() -> None:
    steps = Steps(MIXED)
    assert steps.searches == (Search("Rush", ("p1", "p2")), Search("band", ("p2", "p3")))
    assert steps.invalid_actions == 1
    assert steps.retrieved == {"p1", "p2", "p3"}
    assert steps.query_tokens == (frozenset({"rush"}), frozenset({"band"}))
    assert steps.exact_repeats == 0


def test_facts_of_no_steps() -> None:
    steps = Steps()
    assert (steps.searches, steps.retrieved, steps.query_tokens) == ((), frozenset(), ())
    assert (steps.invalid_actions, steps.exact_repeats, steps.largest_query_overlap) == (0, 0, 0.0)


def test_tokens_are_lower_case_runs_of_letters_and_digits() -> None:
    assert searches("Who's the 2nd-best FILM, ever?").query_tokens == (
        frozenset({"who", "s", "the", "2nd", "best", "film", "ever"}),
    )
    assert searches("Straße ÉTÉ").query_tokens == (frozenset({"straße", "été"}),)


def test_repeats_count_the_same_text_only() -> None:
    # "a" three times and "b" twice: three of the five searches repeat an earlier one; "A" is another text.
    assert searches("a", "b", "a", "a", "b", "A").exact_repeats == 3


@pytest.mark.parametrize(
    ("queries", "overlap"),
    [
        (("Jaws",), 0.0),
        # {who, directed, jaws} and {who, directed, et}: two of four.
        (("Who directed Jaws?", "who directed ET"), 0.5),
        (("a b c d", "e", "d c b a!"), 1.0),
        # Pairs: {a,b}-{b,c} 1/3, {a,b}-{a,b,c} 2/3, {b,c}-{a,b,c} 2/3.
        (("a b", "b c", "a b c"), 2 / 3),
        (("a", "b"), 0.0),
        (("???", "!!!"), 0.0),
        (("", "a"), 0.0),
        (("???", "???"), 1.0),
        (("", ""), 1.0),
    ],
)
def test_largest_overlap_is_the_largest_jaccard_similarity(queries: tuple[str, ...], overlap: float) -> None:
    assert searches(*queries).largest_query_overlap == overlap


def test_facts_are_computed_once() -> None:
    steps = Steps(MIXED)
    assert steps.retrieved is steps.retrieved
    assert dataclasses.replace(trajectory(), steps=steps).retrieved is steps.retrieved


def test_steps_equal_their_copies() -> None:
    steps = Steps(MIXED)
    assert steps.retrieved
    for again in (pickle.loads(pickle.dumps(steps)), copy.deepcopy(steps)):
        assert again == steps
        assert type(again) is Steps
        assert again.retrieved == steps.retrieved


def test_what_a_trajectory_retrieved_and_cited() -> None:
    one = trajectory(*MIXED)
    assert one.retrieved == {"p1", "p2", "p3"}
    assert one.cited == {"p1", "p2"}


def test_an_edited_record_is_what_replace_gives() -> None:
    one = trajectory(*MIXED)
    changes = {"answer": "Yes", "citations": ("p9",), "sample": 3}
    assert one.edited(changes) == dataclasses.replace(one, answer="Yes", citations=("p9",), sample=3)
    assert one.edited(changes).steps is one.steps
    assert one.edited({}) == one
    with pytest.raises(KeyError):
        one.edited({"anwser": "Yes"})


def test_digest_of_a_trajectory_is_sha256_of_its_fields_written_out() -> None:
    text = (
        '["t1","q1","Who?",[[1,"I will look."],[0,"Rush",["p1","p2"],""],[2,"<serch>"],[0,"band",["p2","p3"],""]],'
        '"Rush",["p2","p1","p2"],"Rush [p2][p1][p2]",[],["a","b"],null,null,null,null,null]'
    )
    assert trajectory(*MIXED).digest() == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Text("x"), InvalidAction("x")),
        (Text("x"), Search("x")),
        (Search("x", ("a",)), Search("x", (), "a")),
        (Search("x", ("a", "b")), Search("x", ("b", "a"))),
    ],
)
def test_steps_of_different_kinds_give_different_digests(one: Step, other: Step) -> None:
    assert trajectory(one).digest() != trajectory(other).digest()


def test_a_passage_id_is_the_head_of_sha256_over_normalised_title_and_text() -> None:
    # sha256sum of ["rush","a band."] begins b912a37e5ca2.
    assert passage_id("Rush", " A\tband. ") == "pb912a37e5ca2"


def test_a_question_id_is_the_head_of_sha256_over_the_normalised_question() -> None:
    # sha256sum of "who was it?", quotes included, begins 90ba36166b5f.
    assert question_id("Who  was it?\n") == "q90ba36166b5f"
    assert question_id("Who was it") != question_id("Who was it?")


@pytest.mark.parametrize(
    ("given", "normal"),
    [
        (" A \t b\n\nc ", "a b c"),
        ("ﬁlm", "film"),
        ("Ｒｕｓｈ", "rush"),
        ("e\u0301", "é"),
        ("Straße", "strasse"),
        ("a\u00a0b\u2003c", "a b c"),
        ("", ""),
    ],
)
def test_normal_text_is_nfkc_folded_and_collapsed(given: str, normal: str) -> None:
    assert normalise_text(given) == normal
    assert passage_id(given, given) == passage_id(normal, normal)
    assert question_id(given) == question_id(normal)


def test_title_and_text_do_not_run_together() -> None:
    assert passage_id("a b", "c") != passage_id("a", "b c")
    assert passage_id("a", "") != passage_id("", "a")


def test_a_corpus_merges_equal_texts_and_keeps_every_alias_once() -> None:
    corpus = build_corpus(
        [("d1", "Rush", "A band."), ("d2", "Jaws", "A film."), ("d3", "RUSH", "a  band."), ("d1", "Rush", "A band.")]
    )
    rush, jaws = passage_id("Rush", "A band."), passage_id("Jaws", "A film.")
    assert list(corpus.passages) == [rush, jaws]
    assert corpus[rush] == Passage(rush, "Rush", "A band.", ("d1", "d3"))
    assert corpus[jaws].aliases == ("d2",)
    assert len(corpus) == 2
    assert rush in corpus
    assert "d1" not in corpus
    assert corpus.complete


def test_a_passage_without_a_source_id_has_no_alias() -> None:
    corpus = build_corpus([("", "Rush", "A band.")], complete=False)
    assert [passage.aliases for passage in corpus.passages.values()] == [()]
    assert not corpus.complete


def test_a_corpus_digest_does_not_depend_on_order() -> None:
    rows = [("d1", "Rush", "A band."), ("d2", "Jaws", "A film.")]
    assert build_corpus(rows).digest() == build_corpus(rows[::-1]).digest()
    assert build_corpus(rows).digest() != build_corpus(rows[:1]).digest()
    assert build_corpus(rows).digest() != build_corpus(rows, complete=False).digest()


def test_a_corpus_digest_is_sha256_of_its_ids_written_out() -> None:
    corpus = Corpus({"b": Passage("b", "", ""), "a": Passage("a", "", "")})
    by_hand = hashlib.sha256(b'{"complete":true,"ids":["a","b"]}').hexdigest()
    assert [corpus.digest(), corpus.digest()] == [by_hand, by_hand]
    assert by_hand == digest({"ids": ["a", "b"], "complete": True})
