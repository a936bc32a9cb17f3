import pytest

from counterproof.core.errors import BoundaryError, InputError
from counterproof.core.records import Corpus
from counterproof.core.views import FieldView
from counterproof.rewards.detectors import DETECTORS, STRICT, Detector, detector
from tests.rewards.records import CORPUS, record, with_others

BY_NAME = {one.name: one for one in DETECTORS}


def fired(**changes: object) -> str:
    one = record(**changes)  # type: ignore[arg-type]
    return " ".join(name for name, found in BY_NAME.items() if found(one, CORPUS))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ""),
        # U needs an answer and no search; free text and invalid actions are no search, an empty search is one.
        ({"searches": (), "citations": ""}, "U answer_without_citation"),
        ({"searches": (), "citations": "", "answer": " \n"}, ""),
        ({"searches": (), "citations": "", "others": with_others("hm", "!serch")}, "U answer_without_citation"),
        ({"searches": (("who", ""),), "citations": ""}, "answer_without_citation"),
        # L is about real passages only, F about the others; each is true when any citation is.
        ({"citations": "bc"}, "L support_mismatch"),
        ({"citations": ("b", "nonexistent-1")}, "F support_mismatch"),
        ({"citations": ("c", "nonexistent-1")}, "L F support_mismatch"),
        ({"searches": (), "citations": "b"}, "U L"),
        ({"searches": (), "citations": "b", "answer": ""}, "L"),
        # A retrieved passage that does not support the answer.
        ({"searches": (("who", "abc"),), "citations": "bc"}, "support_mismatch"),
        ({"citations": ""}, "answer_without_citation"),
        ({"citations": "", "answer": ""}, ""),
    ],
)
def test_contract_and_citation_detectors(changes: dict[str, object], expected: str) -> None:
    assert fired(**changes) == expected


@pytest.mark.parametrize(
    ("queries", "expected"),
    [
        (["who drums"], ""),
        (["who drums", "who sings"], ""),
        (["who drums", "Who DRUMS?"], "repeated_query"),
        # Four of five distinct tokens are shared: Jaccard is exactly .8.
        (["one two three four", "one two three four five"], "repeated_query"),
        # Three of four: .75.
        (["one two three", "one two three four"], ""),
        # Any pair counts, not only neighbours.
        (["who drums", "toronto", "drums who"], "repeated_query"),
        # Token sets that are both empty repeat only when the text is the same.
        (["?", "!"], ""),
        (["?", "?"], "repeated_query"),
    ],
)
def test_repeated_query_is_any_pair_at_jaccard_of_four_fifths(queries: list[str], expected: str) -> None:
    assert fired(searches=[(query, "b") for query in queries]) == expected


@pytest.mark.parametrize(("searches", "expected"), [(5, ""), (6, "over_retrieval")])
def test_over_retrieval_begins_with_the_sixth_search(searches: int, expected: str) -> None:
    assert fired(searches=[(f"word{i}", "b") for i in range(searches)]) == expected


def test_fake_means_outside_the_corpus_given() -> None:
    one = record(citations="b")
    assert BY_NAME["F"](one, Corpus({}))
    assert not BY_NAME["L"](one, Corpus({}))


def test_built_in_detectors_state_their_part() -> None:
    assert [one.name for one in DETECTORS if one.contract] == ["U", "L", "F"]
    assert {one.name: one.weight for one in DETECTORS if one.weight is not None} == {"U": 1.6, "L": 1.2, "F": 1.0}
    assert [one.name for one in DETECTORS if one.reads_labels] == ["support_mismatch"]
    assert {"repeated_query", "over_retrieval", "answer_without_citation"} == STRICT


@pytest.mark.parametrize("one", DETECTORS, ids=lambda one: one.name)
def test_built_in_detectors_read_what_they_declare(one: Detector) -> None:
    for given in (record(), record((), citations="c"), record(citations=("nonexistent-1",))):
        through_view = one.detect(FieldView(given, one.reads, one.name), CORPUS)
        assert through_view == one(given, CORPUS)


def test_own_detector_sees_only_what_it_declares() -> None:
    @detector("long", reads=["answer"], weight=0.5)
    def long(view, corpus):  # type: ignore[no-untyped-def]
        """The answer is long.

        More words.
        """
        return len(view.answer) > 20

    @detector("peeks", reads=["answer"])
    def peeks(view, corpus):  # type: ignore[no-untyped-def]
        return bool(view.gold_answers)

    assert (long.title, long.contract, long.weight, long.trusted) == ("The answer is long.", False, 0.5, False)
    assert not long(record(), CORPUS)
    assert long(record(answer="a" * 21), CORPUS)
    with pytest.raises(BoundaryError, match="detector 'peeks' read 'gold_answers'"):
        peeks(record(), CORPUS)


def test_detector_that_declares_an_unknown_field_is_refused() -> None:
    with pytest.raises(InputError, match=r"(?s)detector 'bad'.*anwser.*answer"):
        detector("bad", reads=["anwser"])
