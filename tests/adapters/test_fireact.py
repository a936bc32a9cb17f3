"""FireAct logs, by hand and on the 1,464 real runs."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from counterproof.adapters import FORMATS, open_pool
from counterproof.adapters.fireact import read_react
from counterproof.core.errors import CannotRender, InputError
from counterproof.core.records import InvalidAction, Search, Steps, Text, Trajectory, build_corpus, passage_id

SNIPPET = passage_id("", "Rush is a band.")
LOG = """Who?
Thought: I look.
Action: search[rush]
Observation: Rush is a band.
Action: search[again]
Observation: ('click', 'x') generated an exception: Unknown tool name: click
Action:  reflect[how]
Observation: Unknown tool name:  reflect
Action: finish[early]
Action: search[open
Observation: something
Action:  finish[Rush]
Observation: Episode finished, reward = True
"""


def test_lines_become_steps() -> None:
    read = read_react(LOG)
    assert read.steps == (
        Text("I look."),
        Search("rush", (SNIPPET,)),
        Search("again", (), "('click', 'x') generated an exception: Unknown tool name: click"),
        InvalidAction("Action: reflect[how]\nObservation: Unknown tool name:  reflect"),
        InvalidAction("Action: finish[early]"),
        InvalidAction("Action: search[open\nObservation: something"),
    )
    assert (read.final, read.snippets) == ("Rush", ("Rush is a band.",))


def test_the_closing_line_is_no_part_of_the_completion() -> None:
    corpus = build_corpus([("", "", "Rush is a band.")])
    read = read_react(LOG)
    record = Trajectory("t", "q", "Who?", read.steps, read.final, (), read.final)
    text = FORMATS["fireact"].render(record, corpus)
    assert text == "\n".join(re.sub(r"^Action:\s+", "Action: ", line) for line in LOG.splitlines()[1:-1])
    assert "reward" not in text


@pytest.mark.parametrize(
    ("steps", "citations", "final", "reason"),
    [
        ([], ("p1",), "a", "no citations"),
        ([], (), "a, I think", "the answer alone"),
        ([Text("one\nAction: finish[x]")], (), "a", "another record"),
        ([Search("q", ("unknown",))], (), "a", "unknown"),
        ([Search("q", ("p1", "p2"))], (), "a", "one snippet"),
    ],
)
def test_what_the_lines_cannot_say_is_refused(steps: list, citations: tuple, final: str, reason: str) -> None:
    record = Trajectory("t", "q", "Who?", Steps(steps), "a", citations, final)
    with pytest.raises(CannotRender, match=reason):
        FORMATS["fireact"].render(record, build_corpus([]))


def test_a_titled_passage_is_refused() -> None:
    corpus = build_corpus([("", "Rush", "A band.")])
    (name,) = corpus.passages
    with pytest.raises(CannotRender, match="no title"):
        FORMATS["fireact"].render(Trajectory("t", "q", "?", Steps([Search("q", (name,))]), "a", (), "a"), corpus)


def test_mixed_types_are_named(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"question": 1, "log": ["x"], "reward": "yes", "index": 1.5}))
    with pytest.raises(InputError) as caught:
        open_pool(path)
    names = [problem.where.removeprefix("log.jsonl:1, ") for problem in caught.value.problems]
    assert names == ["log", "question", "index", "reward"]


@pytest.mark.shared_data
def test_the_real_runs_are_read_as_their_columns_say(shared_data: Path) -> None:
    path = shared_data / "trajectories" / "fireact_hotpotqa" / "trajectories.jsonl.gz"
    pool = open_pool(path)
    with gzip.open(path, "rt") as stream:
        logged = [json.loads(line) for line in stream]
    records = list(pool.trajectories())
    counts = Counter(record.model for record in records)
    assert counts == {"gpt-3.5-turbo-ft": 465, "llama-2-13b-lora": 499, "llama-2-7b-lora": 500}
    assert (pool.count, pool.questions) == (1464, 500)
    assert pool.traits == {"answers", "gold_answers", "passages", "passage_texts"}
    assert {lack.field for lack in pool.lacks} == {"corpus", "citations", "support_ids"}
    faithful = 0
    for row, record in zip(logged, records, strict=True):
        assert [search.query for search in record.steps.searches] == row["searches"]
        assert record.score == float(row["reward"])
        text = pool.format.render(record, pool.corpus)
        assert "Episode finished" not in text
        assert pool.format.parse(text, record, pool.corpus) == record
        completion = row["log"][re.search("^(Thought|Action):", row["log"], re.MULTILINE).start() :]  # type: ignore[union-attr]
        faithful += text.split() == completion.rpartition("\nObservation: Episode finished")[0].split()
    # All but the rows that go on after a finish, whose order a record cannot keep.
    assert faithful >= 1464 - 5
