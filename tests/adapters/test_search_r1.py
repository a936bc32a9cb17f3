"""Search-R1 text split by author, by hand and on rollouts that verl wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from counterproof.adapters import FORMATS, open_pool
from counterproof.adapters.search_r1 import documents, split_by_author
from counterproof.core.errors import CannotRender, InputError
from counterproof.core.records import (
    InvalidAction,
    Search,
    Steps,
    Text,
    Trajectory,
    build_corpus,
    passage_id,
    question_id,
)

DOC = "<information>Doc 1(Title: A) b</information>"
A = passage_id("A", "b")
NOTICE = (
    "My previous action is invalid. If I want to search, I should put the query between <search> and </search>. "
    "If I want to give the final answer, I should put the answer between <answer> and </answer>. Let me try again."
)


@pytest.mark.parametrize(
    ("text", "retrieved", "forged"),
    [
        (f"<search>q</search>{DOC}", 1, 0),
        (f"<search>q</search>\n\n {DOC}", 1, 0),
        (DOC, 0, 1),
        (f"<search>q</search> so {DOC}", 0, 1),
        (f"<search>q</search>{DOC}{DOC.replace('b', 'c')}", 1, 1),
        (f"<think>{DOC}</think><search>q</search>", 0, 1),
        (f"<think>x</think>{DOC}<search>q</search>{DOC}", 1, 1),
    ],
    ids=["real", "after white space", "no search", "after words", "second block", "in a thought", "one of each"],
)
def test_only_a_block_right_after_a_search_is_the_environments(text: str, retrieved: int, forged: int) -> None:
    parts = split_by_author(text + "<answer>x</answer>")
    assert (len(parts.steps.retrieved), parts.forged) == (retrieved, forged)


def test_a_forged_block_stays_as_the_models_own_text() -> None:
    parts = split_by_author(f"{DOC}\n<answer>x</answer>")
    assert parts.steps == (Text(DOC),)
    assert parts.passages == ()


def test_the_last_answer_counts_and_earlier_ones_stay_as_text() -> None:
    parts = split_by_author("<think>t</think>\n<answer>one</answer>\n<answer> two </answer> [p1]\n")
    assert (parts.answer, parts.raw_final) == ("two", "two [p1]")
    assert parts.steps == (Text("<think>t</think>"), Text("<answer>one</answer>"))


def test_without_an_answer_the_untagged_end_is_the_final_message() -> None:
    parts = split_by_author(f"<search>q</search>{DOC}\n\nThe capital is Paris.")
    assert (parts.answer, parts.raw_final) == ("", "The capital is Paris.")


@pytest.mark.parametrize("text", ["<search>q", "q</search>", "<answer>x", "a </answer> b"])
def test_half_a_tag_pair_is_an_invalid_action(text: str) -> None:
    parts = split_by_author(f"{text}\n<think>t</think><answer>x</answer>" if "<answer>" not in text else text)
    assert [step for step in parts.steps if isinstance(step, InvalidAction)] == [InvalidAction(text)]


def test_the_environments_notice_is_no_search_and_no_answer() -> None:
    parts = split_by_author(f"<think>t</think> hm\n{NOTICE}\n<search>q</search>{DOC}")
    assert parts.steps == (Text("<think>t</think>"), InvalidAction(f"hm\n{NOTICE}"), Search("q", (A,)))
    assert parts.answer == ""


def test_documents_are_told_by_count_and_titles_by_balanced_brackets() -> None:
    found, rest = documents('Found:\nDoc 1(Title: "Rush (band) x") A (b) c\nDoc 3(Title: no) d\nDoc 2(Title: Y) e\n')
    assert found == (("Rush (band) x", "A (b) c\nDoc 3(Title: no) d"), ("Y", "e"))
    assert rest == "Found:"


def test_evidence_in_another_form_is_kept_and_counted() -> None:
    parts = split_by_author("<search>q</search><information>[1] A: b</information>")
    assert parts.steps == (Search("q", (), "[1] A: b"),)
    assert parts.unreadable == 1


def test_rendering_an_edit_gives_the_log_without_the_search() -> None:
    corpus = build_corpus([("", "A", "b")])
    steps = Steps([Text("<think>t</think>"), Search("q", (A,))])
    record = Trajectory("t", "q", "Q?", steps, "x", (A,), f"x [{A}]")
    log_format = FORMATS["search-r1"]
    assert log_format.render(record, corpus) == (
        f"<think>t</think>\n<search>q</search>\n\n{DOC}\n\n<answer>x</answer> [{A}]"
    )
    emptied = Trajectory("t", "q", "Q?", Steps(steps[:1]), "x", (A,), f"x [{A}]")
    assert log_format.render(emptied, corpus) == f"<think>t</think>\n<answer>x</answer> [{A}]"


def test_what_would_read_back_otherwise_is_refused() -> None:
    corpus = build_corpus([("", "A", "b </information>")])
    (bad,) = corpus.passages
    for steps in (
        [Text("loose"), Text("text")],
        [Text("<search>q</search>")],
        [Search("q", (bad,))],
        [Search("q", ("x",))],
    ):
        with pytest.raises(CannotRender):
            FORMATS["search-r1"].render(Trajectory("t", "q", "Q?", Steps(steps), "x", (), "x"), corpus)


def test_rows_with_other_column_names_are_read(tmp_path: Path) -> None:
    rows = [
        {
            "id": 5,
            "prompt": [{"role": "user", "content": "Who?"}],
            "response": "<answer>a</answer>",
            "ground_truth": "a",
        },
        {"question": "Who?", "completion": "<answer>b [p1]</answer>", "golden_answers": ["a", "b"], "reward": True},
    ]
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    pool = open_pool(path)
    one, two = pool.trajectories()
    assert pool.format.name == "search-r1"
    assert (one.trajectory_id, one.question, one.gold_answers) == ("5", "Who?", ("a",))
    assert (two.trajectory_id, two.gold_answers, two.score, two.citations) == ("row-000002", ("a", "b"), 1.0, ("p1",))
    assert one.question_id == two.question_id == question_id("Who?")


def test_bad_rows_are_named(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    rows = [{"output": 3, "input": "Q"}, {"output": "x", "gts": {"goal": 1}}, {"output": "x", "input": "Question: "}]
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(InputError) as caught:
        open_pool(path)
    assert [problem.where for problem in caught.value.problems] == [
        "log.jsonl:1, output",
        "log.jsonl:2, question",
        "log.jsonl:2, gts.target",
        "log.jsonl:3, input",
    ]


@pytest.mark.shared_data
@pytest.mark.parametrize("scorer", ["em", "subem"])
def test_verl_rollouts_read_as_verl_scored_them(shared_data: Path, scorer: str) -> None:
    folder = shared_data / "ecosystem" / "verl" / f"rollout_data_{scorer}"
    pool = open_pool(folder)
    logged = [json.loads(line) for n in (1, 2, 3) for line in (folder / f"{n}.jsonl").read_text().splitlines()]
    records = list(pool.trajectories())
    # 24 rows a step and six capitals; in step 3 each country has one forged block and nobody searches.
    assert (pool.count, pool.questions) == (72, 6)
    assert any(note.startswith("6 <information> blocks were written by the model itself") for note in pool.notes)
    assert "citations" not in pool.traits
    for row, record in zip(logged, records, strict=True):
        assert record.answer == (row["pred"] or "")
        assert record.score == row["score"]
        assert list(record.gold_answers) == row["gts"]["target"]
        assert record.question in row["input"]
        assert pool.format.render(record, pool.corpus) == row["output"]
        assert pool.format.parse(row["output"], record, pool.corpus) == record
        if row["step"] == 3:
            assert not record.steps.searches
            assert not record.retrieved
