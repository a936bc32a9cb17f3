import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest

from counterproof.core.errors import BoundaryError, InputError
from counterproof.core.records import Corpus, Passage, Trajectory
from counterproof.rewards.edits import EDITS, Candidate, EditContext, edit
from tests.rewards.records import CORPUS, calls_of, context, record, with_others

BY_NAME = {one.name: one for one in EDITS}
SAME, FAKE, LAUNDER = (BY_NAME[name] for name in ("same_final", "fake_id", "launder"))


def candidates(name: str, one: Trajectory, using: EditContext | None = None) -> list[Candidate]:
    return list(BY_NAME[name].make(BY_NAME[name].view(one), using or context()))


def edited(name: str, one: Trajectory, using: EditContext | None = None) -> list[Trajectory]:
    return [BY_NAME[name].apply(one, candidate) for candidate in candidates(name, one, using)]


def test_same_final_deletes_searches_and_keeps_everything_else() -> None:
    one = record((("who", "ab"), ("drums", "c")), others=with_others("hm", "!serch"), citations="bc")
    (after,) = edited("same_final", one)
    assert tuple(after.steps) == with_others("hm", "!serch")
    assert after.retrieved == frozenset()
    assert dataclasses.replace(after, steps=one.steps) == one
    assert candidates("same_final", one)[0].key == "all"


def test_same_final_cannot_be_made_without_a_search_and_so_not_twice() -> None:
    assert candidates("same_final", record((), others=with_others("hm"))) == []
    (after,) = edited("same_final", record())
    assert candidates("same_final", after) == []


@pytest.mark.parametrize(
    ("citations", "expected"),
    [
        ("b", "UL"),
        ("", "U"),
        (("nonexistent-1",), "U"),
        (("nonexistent-1", "c"), "UL"),
    ],
)
def test_same_final_targets_depend_on_whether_a_real_passage_is_cited(citations: str, expected: str) -> None:
    view = SAME.view(record(citations=citations))
    assert SAME.targets(view, context()) == frozenset(expected)


def test_fake_id_tries_every_position_with_ids_that_no_passage_has() -> None:
    found = candidates("fake_id", record(citations="bab"))
    assert [one.position for one in found] == [0, 1, 2]
    for position, one in enumerate(edited("fake_id", record(citations="bab"))):
        fake = one.citations[position]
        assert fake.startswith("nonexistent-")
        assert fake not in CORPUS
        assert one.citations == tuple(fake if i == position else cited for i, cited in enumerate("bab"))


def test_fake_id_that_a_passage_has_is_not_used() -> None:
    (first,) = edited("fake_id", record())
    taken = first.citations[0]
    corpus = Corpus({**CORPUS.passages, taken: Passage(taken, "t", "x")})
    (other,) = edited("fake_id", record(), context(corpus=corpus))
    assert other.citations[0] != taken
    assert other.citations[0].startswith("nonexistent-")
    assert other.citations[0] not in corpus


def test_fake_ids_are_the_same_every_time_and_differ_between_trajectories() -> None:
    assert edited("fake_id", record()) == edited("fake_id", record())
    assert edited("fake_id", record())[0].citations != edited("fake_id", record(trajectory_id="t2"))[0].citations


def test_citation_edits_need_a_citation() -> None:
    assert candidates("fake_id", record(citations="")) == []
    assert candidates("launder", record(citations="")) == []


@pytest.mark.parametrize(
    ("message", "citations", "expected"),
    [
        ("Peart [b]", "b", ["Peart [X]"]),
        # The marker of the same occurrence: the second [b] for the second citation of b.
        ("[b] of [a] [b].", "bab", ["[X] of [a] [b].", "[b] of [X] [b].", "[b] of [a] [X]."]),
        # Punctuation and brackets that are no citation stay.
        ("[sic] Peart[b], [ b ]", "b", ["[sic] Peart[X], [ b ]"]),
        # Without a marker the message stays as it is, also for a repeat with one marker only.
        ("Peart", "b", ["Peart"]),
        ("Peart [b]", "bb", ["Peart [X]", "Peart [b]"]),
        # An id that is part of another one is another marker.
        ("Peart [bb] [b]", "b", ["Peart [bb] [X]"]),
    ],
)
def test_marker_of_the_replaced_citation_is_rewritten(message: str, citations: str, expected: list[str]) -> None:
    one = record(citations=citations, raw_final=message)
    for position, (after, text) in enumerate(zip(edited("fake_id", one), expected, strict=True)):
        assert after.raw_final == text.replace("X", after.citations[position])
        assert len(after.raw_final.split()) == len(message.split())


def test_launder_takes_the_best_passages_never_retrieved_at_every_position() -> None:
    # Question and answer share: with d "band rush", with e "drums band", with c and f nothing; a and b were retrieved.
    # d: ln(1 + 6/4) + ln(1 + 6/3); e: ln(1 + 6/4) + ln(1 + 6/1), the larger: e comes first.
    one = record(citations="ba")
    found = candidates("launder", one, EditContext(CORPUS, {"lexical": context().rankers["lexical"]}, {"lexical": 8}))
    assert [(c.ranks, c.position) for c in found] == [
        ((("lexical", 0),), 0),
        ((("lexical", 0),), 1),
        ((("lexical", 1),), 0),
        ((("lexical", 1),), 1),
    ]
    assert [LAUNDER.apply(one, c).citations for c in found] == [("e", "a"), ("b", "e"), ("d", "a"), ("b", "d")]


def test_launder_never_proposes_a_retrieved_passage_and_takes_the_budget_after_dropping_them() -> None:
    using = context({"lexical": 1, "bm25": 1})
    one = record((("who", "bae"),))
    assert {after.citations for after in edited("launder", one, using)} == {("d",)}
    everything = record((("who", "abcdef"),))
    assert edited("launder", everything) == []


def test_candidates_of_two_generators_are_one_with_both_ranks() -> None:
    found = candidates("launder", record())
    assert [one.ranks for one in found] == [(("lexical", 0), ("bm25", 0)), (("lexical", 1), ("bm25", 1))]
    assert len({one.key for one in found}) == len(found)
    assert found[0].ties == (("lexical", False, False), ("bm25", False, False))


def test_ties_of_the_rankings_are_handed_on() -> None:
    same = {name: Passage(name, "Rush", "band") for name in "bxy"}
    found = candidates("launder", record(), context({"lexical": 1, "bm25": 8}, Corpus(same)))
    assert found[0].ties == (("lexical", True, True), ("bm25", True, False))


@pytest.mark.parametrize("one", EDITS, ids=lambda one: one.name)
def test_edits_read_only_what_they_declare_and_no_label(one: Any) -> None:
    base = record(citations="ba")
    relabelled = dataclasses.replace(base, gold_answers=("x",), support_ids=frozenset("cf"), score=3.0)
    assert list(one.make(one.view(base), context())) == list(one.make(one.view(relabelled), context()))
    assert one.reads.isdisjoint({"gold_answers", "support_ids", "score"})


def test_calls_are_named_by_edit_and_candidate() -> None:
    assert list(calls_of(record())) == ["original", "same_final/all", "fake_id/0", "launder/0:e", "launder/0:d"]


def own(**options: Any) -> Any:
    @edit("shout", reads=["raw_final"], writes=["raw_final"], targets=["U"], **options)
    def shout(view: Any, using: EditContext) -> Iterator[Candidate]:
        """Write in capitals.

        And nothing else.
        """
        yield Candidate("all", {"raw_final": view.raw_final.upper()})

    return shout


def test_own_edit_is_a_lead_unless_it_says_that_it_is_proven() -> None:
    one = own()
    assert (one.name, one.title, one.code, one.proven) == ("shout", "Write in capitals.", "RW104", False)
    assert one.targets(one.view(record()), context()) == frozenset("U")
    assert own(proven=True).proven
    assert own(generators={"lexical": (4, 1)}).generators == (("lexical", (1, 4)),)


def test_edit_that_writes_or_reads_what_it_did_not_declare_is_stopped() -> None:
    one = own()
    with pytest.raises(BoundaryError, match="changed answer, which it did not declare"):
        one.apply(record(), Candidate("x", {"answer": "y", "raw_final": "z"}))
    with pytest.raises(BoundaryError, match="edit 'shout' read 'answer'"):
        _ = one.view(record()).answer


def test_edit_without_a_target_or_with_an_unknown_field_is_refused() -> None:
    with pytest.raises(InputError, match="names no target"):
        edit("x", reads=[], writes=[], targets=[])
    with pytest.raises(InputError, match=r"(?s)edit 'x'.*raw_finl"):
        edit("x", reads=["raw_finl"], writes=[], targets=["U"])(lambda view, using: [])
    with pytest.raises(InputError, match=r"(?s)edit 'x'.*stepz"):
        edit("x", reads=[], writes=["stepz"], targets=["U"])(lambda view, using: [])
