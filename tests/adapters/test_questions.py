"""Multi-hop QA files of three shapes, by hand and on the real samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from counterproof.adapters import read_questions
from counterproof.core.errors import InputError
from counterproof.core.records import passage_id


def written(tmp_path: Path, *rows: Any) -> Path:
    path = tmp_path / "qa.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


HOTPOT = {
    "id": "h1",
    "question": "Who?",
    "answer": "Rush",
    "supporting_facts": [["Rush", 1], ["Neil", 0]],
    "passages": [
        {"id": "p0", "title": "Rush", "sentences": ["A hurry."]},
        {"id": "p1", "title": "Rush", "sentences": ["Rush is a band.", " It is Canadian."]},
        {"id": "p2", "title": "Neil", "sentences": ["Neil drums."]},
        {"id": "p3", "title": "Other", "sentences": []},
    ],
}
MUSIQUE = {
    "id": "m1",
    "question": "Where?",
    "answer": "Stanley",
    "answer_aliases": ["Stanley, ND", "Stanley"],
    "passages": [
        {"id": "p0", "title": "Port", "text": "A port.", "is_supporting": False},
        {"id": "p1", "title": "Neil", "text": "Neil drums.", "is_supporting": True},
    ],
}


def test_titles_mean_the_passages_of_their_own_question_that_have_the_sentence(tmp_path: Path) -> None:
    (question,) = read_questions(written(tmp_path, HOTPOT)).questions
    # Two passages are called Rush; only the second has a sentence 1.
    assert question.support_ids == {
        passage_id("Rush", "Rush is a band. It is Canadian."),
        passage_id("Neil", "Neil drums."),
    }
    assert len(question.passages) == 4


def test_flags_and_aliases_are_read(tmp_path: Path) -> None:
    (question,) = read_questions(written(tmp_path, MUSIQUE)).questions
    assert question.gold_answers == ("Stanley", "Stanley, ND")
    assert question.support_ids == {passage_id("Neil", "Neil drums.")}


def test_passages_of_all_questions_are_merged_by_content(tmp_path: Path) -> None:
    questions = read_questions(written(tmp_path, HOTPOT, MUSIQUE))
    assert len(questions.corpus) == 5  # Neil stands in both
    assert questions.corpus[passage_id("Neil", "Neil drums.")].aliases == ("p2", "p1")
    assert questions.corpus.complete


def test_a_support_that_is_nowhere_is_told(tmp_path: Path) -> None:
    questions = read_questions(written(tmp_path, {**HOTPOT, "supporting_facts": [["Rush", 0], ["Gone", 0]]}))
    assert questions.unsupported == ("h1",)


def test_bad_rows_are_all_named_and_the_accepted_shapes_listed(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {"id": "a", "query": "Who?"},
        {**HOTPOT, "supporting_facts": [["Rush"], "x"]},
        {**MUSIQUE, "passages": [{"id": "p0", "title": "T", "text": "x"}]},
        {**MUSIQUE, "passages": [3, {"title": "T"}], "answer_aliases": 4},
        MUSIQUE,
        MUSIQUE,
    )
    with pytest.raises(InputError, match=r"HotpotQA, 2WikiMultiHopQA.*MuSiQue") as caught:
        read_questions(path)
    assert [problem.where.removeprefix("qa.jsonl:") for problem in caught.value.problems] == [
        *("1, question", "1, answer", "1, passages"),
        *("2, supporting_facts[0]", "2, supporting_facts[1]"),
        "3, supporting_facts",
        *("4, passages[0]", "4, passages[1].text", "4, answer_aliases"),
        "6",
    ]
    assert "repeats the id 'm1' of qa.jsonl:5" in str(caught.value)


def test_an_empty_question_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is empty; accepted rows"):
        read_questions(written(tmp_path))


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "file", "count", "fewest"),
    [("hotpotqa", "dev200", 200, 2), ("2wikimultihopqa", "dev164", 164, 2), ("musique", "dev200", 200, 2)],
)
def test_the_real_samples_have_supports_for_every_question(
    shared_data: Path, name: str, file: str, count: int, fewest: int
) -> None:
    questions = read_questions(shared_data / "retrieval_qa" / name / f"{file}.jsonl.gz")
    assert len(questions.questions) == count
    assert questions.unsupported == ()
    for question in questions.questions:
        assert fewest <= len(question.support_ids)
        assert question.support_ids <= set(question.passages) <= set(questions.corpus.passages)
