"""Opening pools: ids, traits, lacks, notes, digests, and rows that cannot be used."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from counterproof.adapters import TRAITS, PoolReader, open_pool, write_pool
from counterproof.core.errors import InputError
from counterproof.core.plan import Digest
from counterproof.core.records import Search, passage_id

ALPHA, BETA = passage_id("Alpha", "A text."), passage_id("Beta", "B text.")
CORPUS = [{"id": "c0", "title": "Alpha", "text": "A text."}, {"id": "c1", "title": "Beta", "sentences": ["B", "text."]}]


def row(**changes: Any) -> dict[str, Any]:
    base = {
        "trajectory_id": "t1",
        "question": "Who?",
        "steps": [{"kind": "search", "query": "who", "passages": ["c0"]}],
        "answer": "Rush",
        "citations": ["c0"],
        "raw_final": "Rush [c0] [sic]",
        "gold_answers": ["Rush"],
        "support_ids": ["c0"],
    }
    return {name: value for name, value in {**base, **changes}.items() if value is not ...}


def write(path: Path, rows: list[Any]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def opened(tmp_path: Path, rows: list[Any], corpus: list[Any] | None = None) -> PoolReader:
    given = write(tmp_path / "c.jsonl", corpus) if corpus else None
    return open_pool(write(tmp_path / "log.jsonl", rows), corpus=given)


def refused(tmp_path: Path, rows: list[Any], corpus: list[Any] | None = None) -> InputError:
    with pytest.raises(InputError) as caught:
        opened(tmp_path, rows, corpus)
    return caught.value


def test_source_ids_become_content_ids_everywhere(tmp_path: Path) -> None:
    pool = opened(tmp_path, [row()], CORPUS)
    (record,) = pool.trajectories()
    assert record.retrieved == {ALPHA}
    assert record.citations == (ALPHA,)
    assert record.support_ids == {ALPHA}
    assert record.raw_final == f"Rush [{ALPHA}] [sic]"
    assert pool.corpus[BETA].aliases == ("c1",)
    assert pool.corpus[BETA].text == "B text."


def test_equal_texts_are_one_passage_so_that_a_citation_of_either_is_of_a_retrieved_text(tmp_path: Path) -> None:
    twice = [*CORPUS, {"id": "c7", "title": "alpha", "text": "a  TEXT."}]
    pool = opened(tmp_path, [row(citations=["c7"], raw_final="Rush [c7]")], twice)
    (record,) = pool.trajectories()
    assert len(pool.corpus) == 2
    assert record.cited <= record.retrieved


def test_a_complete_corpus_and_all_fields_leave_nothing_lacking(tmp_path: Path) -> None:
    pool = opened(tmp_path, [row()], CORPUS)
    assert pool.corpus.complete
    assert pool.traits == TRAITS
    assert pool.lacks == ()
    assert (pool.count, pool.questions) == (1, 1)


def test_ids_that_repeat_per_question_are_told_apart_by_the_question(tmp_path: Path) -> None:
    questions = [
        {"id": "q1", "question": "Who?", "passages": [{"id": "p0", "title": "Alpha", "text": "A text."}]},
        {"id": "q2", "question": "When?", "passages": [{"id": "p0", "title": "Beta", "text": "B text."}]},
    ]
    steps = [{"kind": "search", "query": "x", "passages": ["p0"]}]
    changed = {"steps": steps, "citations": ["p0"], "raw_final": "Rush [p0]", "support_ids": ["p0"]}
    rows = [
        row(trajectory_id="a", question_id="q1", **changed),
        row(trajectory_id="b", question="When?", **changed),  # its question is found by its text
    ]
    one, two = opened(tmp_path, rows, questions).trajectories()
    assert (one.citations, two.citations) == ((ALPHA,), (BETA,))
    assert (set(one.retrieved), set(two.retrieved)) == ({ALPHA}, {BETA})


def test_an_id_of_several_passages_without_a_question_to_tell_is_a_problem(tmp_path: Path) -> None:
    corpus = [{"id": "p0", "title": "Alpha", "text": "A"}, {"id": "p0", "title": "Beta", "text": "B"}]
    error = refused(tmp_path, [row(citations=["p0"])], corpus)
    assert "'p0' names 2 different passages" in str(error)
    assert error.problems[0].where == "log.jsonl:1"


def test_passages_given_in_the_row_go_before_the_corpus(tmp_path: Path) -> None:
    steps = [{"query": "who", "passages": [{"id": "c0", "title": "Beta", "text": "B text."}]}]
    (record,) = opened(tmp_path, [row(steps=steps)], CORPUS).trajectories()
    assert record.citations == (BETA,)


def test_without_a_corpus_p_is_what_was_seen(tmp_path: Path) -> None:
    steps = [{"query": "who", "passages": [{"id": "x", "title": "Alpha", "text": "A text."}]}]
    pool = opened(tmp_path, [row(steps=steps, citations=["x"], raw_final="Rush [x]", support_ids=[])])
    assert list(pool.corpus.passages) == [ALPHA]
    assert not pool.corpus.complete
    assert "corpus" not in pool.traits
    assert [lack.field for lack in pool.lacks] == ["corpus", "support_ids"]
    assert "F" in pool.lacks[0].consequence


def test_bare_ids_without_a_corpus_are_known_but_have_no_text(tmp_path: Path) -> None:
    pool = opened(tmp_path, [row()])
    assert "c0" in pool.corpus
    assert "passages" in pool.traits
    assert "passage_texts" not in pool.traits
    assert [lack.field for lack in pool.lacks] == ["corpus", "passage_texts"]
    (record,) = pool.trajectories()
    assert record.citations == ("c0",)


def test_a_citation_of_no_passage_stays_as_it_is(tmp_path: Path) -> None:
    rows = [row(trajectory_id=f"t{i}") for i in range(3)]
    rows += [row(trajectory_id="x", citations=["nowhere"], raw_final="Rush [nowhere]")]
    pool = opened(tmp_path, rows, CORPUS)
    assert list(pool.trajectories())[-1].citations == ("nowhere",)
    assert not any("right corpus" in note for note in pool.notes)


def test_mostly_unknown_citations_raise_the_question_of_the_corpus(tmp_path: Path) -> None:
    pool = opened(tmp_path, [row(citations=["x1", "x2", "c0"])], CORPUS)
    assert "2 of 3 citations name no passage of the corpus: is it the right corpus?" in pool.notes


def test_passages_seen_outside_the_corpus_are_added_and_told(tmp_path: Path) -> None:
    steps = [{"query": "who", "passages": [{"title": "New", "text": "N text."}]}]
    pool = opened(tmp_path, [row(steps=steps)], CORPUS)
    assert passage_id("New", "N text.") in pool.corpus
    assert any(note.startswith("1 passages that searches returned are not in the corpus") for note in pool.notes)


def test_columns_that_are_not_read_are_told(tmp_path: Path) -> None:
    pool = opened(tmp_path, [row(citation=["c0"], temperature=1)], CORPUS)
    assert "columns that were not read: citation, temperature" in pool.notes


def test_a_missing_final_message_is_built_from_answer_and_citations(tmp_path: Path) -> None:
    pool = opened(tmp_path, [row(raw_final=...)], CORPUS)
    (record,) = pool.trajectories()
    assert record.raw_final == f"Rush [{ALPHA}]"
    assert any("raw_final" in note for note in pool.notes)


def test_question_clusters_go_by_normalised_text_when_there_is_no_id(tmp_path: Path) -> None:
    rows = [row(trajectory_id="a", question="Who  was it?"), row(trajectory_id="b", question="who was it?")]
    assert opened(tmp_path, rows, CORPUS).questions == 1


def test_digests_are_of_the_content_and_not_of_its_packing(tmp_path: Path) -> None:
    import gzip

    pool = opened(tmp_path, [row()], CORPUS)
    content = (tmp_path / "log.jsonl").read_bytes()
    assert pool.digests == (
        Digest("trajectories", hashlib.sha256(content).hexdigest()),
        Digest("corpus", hashlib.sha256((tmp_path / "c.jsonl").read_bytes()).hexdigest()),
    )
    packed = tmp_path / "other.jsonl.gz"
    packed.write_bytes(gzip.compress(content))
    assert open_pool(packed).digests[0] == pool.digests[0]


def test_a_log_that_changes_after_it_was_opened_is_noticed(tmp_path: Path) -> None:
    pool = opened(tmp_path, [row()], CORPUS)
    write(tmp_path / "log.jsonl", [row(answer="Other")])
    with pytest.raises(InputError, match="has changed since it was opened"):
        list(pool.trajectories())


def test_duplicate_ids_are_all_named_with_their_rows(tmp_path: Path) -> None:
    names = ["a", "b", "a", "c", "b", "a"]
    error = refused(tmp_path, [row(trajectory_id=name) for name in names], CORPUS)
    assert [problem.where for problem in error.problems] == ["trajectory 'a'", "trajectory 'b'"]
    assert error.problems[0].what == "stands in log.jsonl:1, log.jsonl:3, log.jsonl:6"
    assert error.problems[1].what == "stands in log.jsonl:2, log.jsonl:5"


def test_at_most_ten_duplicate_ids_are_named_and_all_are_counted(tmp_path: Path) -> None:
    rows = [row(trajectory_id=f"t{i % 12:02}") for i in range(24)]
    error = refused(tmp_path, rows, CORPUS)
    assert (len(error.problems), error.total) == (10, 12)


def test_every_bad_field_of_every_row_is_named_at_once(tmp_path: Path) -> None:
    rows = [
        row(answer=3, citations="c0", sample=1.5, score="high"),
        row(trajectory_id="t2", steps=[{"kind": "serch", "query": "x"}, 4, {"kind": "text"}]),
        row(trajectory_id="", gold_answers=["a", 2], support_ids=[True], steps="none"),
    ]
    places = [problem.where for problem in refused(tmp_path, rows, CORPUS).problems]
    assert places == [
        *(f"log.jsonl:1, {name}" for name in ("answer", "citations", "sample", "score")),
        *(f"log.jsonl:2, {name}" for name in ("steps[0].kind", "steps[1]", "steps[2].text")),
        *(f"log.jsonl:3, {name}" for name in ("steps", "trajectory_id", "gold_answers[1]", "support_ids[0]")),
    ]


def test_a_missing_column_is_answered_with_the_nearest_one(tmp_path: Path) -> None:
    error = refused(tmp_path, [row(answer=..., anser="Rush")], CORPUS)
    assert str(error.problems[0]) == "log.jsonl:1, answer: is missing (did you mean 'anser' or 'gold_answers'?)"


def test_wrong_columns_are_answered_with_what_each_format_needs(tmp_path: Path) -> None:
    error = refused(tmp_path, [{"a": 1, "b": 2}])
    assert "log.jsonl:1 has the columns a, b" in str(error)
    assert [problem.where for problem in error.problems] == ["jsonl", "search-r1", "fireact"]


def test_a_question_without_text_or_id_is_no_sampling_unit(tmp_path: Path) -> None:
    assert "question" in refused(tmp_path, [row(question=" ")], CORPUS).problems[0].where


def test_an_unknown_format_is_answered_with_the_nearest(tmp_path: Path) -> None:
    path = write(tmp_path / "log.jsonl", [row()])
    with pytest.raises(InputError, match=r"did you mean 'search-r1'\?"):
        open_pool(path, format="search_r1")


def test_a_bad_corpus_names_its_rows(tmp_path: Path) -> None:
    error = refused(tmp_path, [row()], [{"id": "c0", "title": "A"}, {"id": 1, "title": 2, "text": "x"}, 3])
    assert [problem.where for problem in error.problems] == ["c.jsonl:1, text", "c.jsonl:2, title", "c.jsonl:3"]


def test_an_empty_or_missing_corpus_is_refused(tmp_path: Path) -> None:
    log = write(tmp_path / "log.jsonl", [row()])
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(InputError, match="is empty; a corpus row has id, title"):
        open_pool(log, corpus=tmp_path / "empty.jsonl")
    with pytest.raises(InputError, match=r"did you mean 'empty\.jsonl'"):
        open_pool(log, corpus=tmp_path / "emty.jsonl")


def test_a_folder_without_trajectories_says_what_it_holds(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(InputError, match=r"holds no trajectories.*it holds notes\.txt"):
        open_pool(tmp_path)


def test_a_pool_folder_with_two_logs_is_ambiguous(tmp_path: Path) -> None:
    write(tmp_path / "trajectories.jsonl", [row()])
    (tmp_path / "trajectories.jsonl.gz").touch()
    with pytest.raises(InputError, match="keep one"):
        open_pool(tmp_path)


def test_a_folder_of_logs_is_read_in_natural_order(tmp_path: Path) -> None:
    for name in ("10", "9", "1"):
        write(tmp_path / f"{name}.jsonl", [row(trajectory_id=name)])
    assert [record.trajectory_id for record in open_pool(tmp_path).trajectories()] == ["1", "9", "10"]


def test_a_pool_is_not_written_over_something_else(tmp_path: Path) -> None:
    pool = opened(tmp_path, [row()], CORPUS)
    with pytest.raises(InputError, match="is not empty"):
        write_pool(tmp_path, pool.trajectories(), pool.corpus)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.jsonl", "log.jsonl"]


def test_a_pool_whose_rows_cannot_be_had_leaves_nothing_behind(tmp_path: Path) -> None:
    pool = opened(tmp_path, [row()], CORPUS)
    write(tmp_path / "log.jsonl", [])
    with pytest.raises(InputError, match="changed"):
        write_pool(tmp_path / "out", pool.trajectories(), pool.corpus)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.jsonl", "log.jsonl"]


def test_a_written_pool_is_opened_with_its_name_corpus_and_nothing_lacking(tmp_path: Path) -> None:
    pool = opened(tmp_path, [row()], CORPUS)
    write_pool(tmp_path / "mine", pool.trajectories(), pool.corpus, {"samples": 1})
    again = open_pool(tmp_path / "mine")
    assert (again.name, again.count, again.lacks, again.traits) == ("mine", 1, (), TRAITS)
    assert list(again.trajectories()) == list(pool.trajectories())
    assert json.loads((tmp_path / "mine" / "pool.json").read_text())["samples"] == 1


def test_a_written_pool_of_bare_ids_keeps_them(tmp_path: Path) -> None:
    pool = opened(tmp_path, [row()])
    write_pool(tmp_path / "mine", pool.trajectories(), pool.corpus)
    again = open_pool(tmp_path / "mine")
    assert again.corpus == pool.corpus
    assert list(again.trajectories()) == list(pool.trajectories())


def test_inline_and_bare_steps_keep_order_and_observation(tmp_path: Path) -> None:
    steps = [{"query": "a", "passages": ["c1", "c0"], "observation": "2 found"}]
    (record,) = opened(tmp_path, [row(steps=steps)], CORPUS).trajectories()
    assert record.steps == (Search("a", (BETA, ALPHA), "2 found"),)
