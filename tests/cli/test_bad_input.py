"""Logs that cannot be used: a clear message on standard error, exit code 3, and nothing written."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli


def row(**changes: Any) -> dict[str, Any]:
    good = {
        "trajectory_id": "t1",
        "question": "Where is Rush from?",
        "steps": [{"kind": "search", "query": "Rush", "passages": ["d1"]}],
        "answer": "Toronto",
        "citations": ["d1"],
        "raw_final": "Toronto [d1]",
        "gold_answers": ["Toronto"],
    }
    return {**good, **changes}


def lines(*rows: object) -> bytes:
    return "".join(json.dumps(one) + "\n" for one in rows).encode()


BAD: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "an empty file": (b"", ("log.jsonl is empty", "no trajectory to audit")),
    "blank lines": (b"\n\n  \n", ("is empty",)),
    "wrong columns": (
        lines({"colour": "a", "size": 3}),
        ("log.jsonl:1 has the columns colour, size", "jsonl: needs", "fireact: needs"),
    ),
    "duplicate ids": (lines(row(), row(answer="x")), ("same trajectory id", "'t1'", "log.jsonl:1, log.jsonl:2")),
    "mixed types": (
        lines(row(), row(trajectory_id="t2", citations="d1", answer=5)),
        ("log.jsonl:2", "citations", "answer"),
    ),
    "not JSON": (lines(row()) + b"{oops\n", ("log.jsonl:2", "is not JSON")),
    "rows that are no objects": (b"[1, 2]\n", ("entry 1", "must be a JSON object")),
    "broken UTF-8": (lines(row()) + b'{"answer": "\xff"}\n', ("log.jsonl:2", "is not UTF-8", "save the file as UTF-8")),
    "NaN": (lines(row()).replace(b'"Toronto"]', b"NaN]"), ("log.jsonl:1", "NaN")),
    "a truncated gzip file": (
        gzip.compress(lines(*(row(trajectory_id=f"t{i}", question=f"{i * 7919}?") for i in range(400))), mtime=0)[
            :-900
        ],
        ("truncated or damaged gzip", "rows were readable"),
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_log_is_explained_and_nothing_is_written(cli: Cli, tmp_path: Path, what: str) -> None:
    content, said = BAD[what]
    (tmp_path / "log.jsonl").write_bytes(content)
    done = cli("rewards", "audit", "-r", "log.jsonl", "--reward", "outcome", "-o", "run", code=3)
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    for words in said:
        assert words in done.stderr
    assert [entry.name for entry in tmp_path.iterdir()] == ["log.jsonl"]


def test_all_bad_rows_are_named_at_once(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(lines(row(), row(trajectory_id=[]), row(trajectory_id="t3", steps=3)))
    said = cli("rewards", "audit", "-r", "log.jsonl", "--reward", "outcome", "-o", "run", code=3).stderr
    assert "log.jsonl:2" in said
    assert "log.jsonl:3" in said


def test_citations_of_unknown_passages_are_noted_and_audited(cli: Cli, tmp_path: Path) -> None:
    corpus = lines({"id": "d1", "title": "Rush", "text": "A band."}, {"id": "d2", "title": "Yes", "text": "Another."})
    (tmp_path / "corpus.jsonl").write_bytes(corpus)
    unknown = [row(trajectory_id=f"u{i}", citations=["zz"], raw_final="Toronto [zz]") for i in range(3)]
    (tmp_path / "log.jsonl").write_bytes(lines(row(), *unknown))
    cli("rewards", "audit", "-r", "log.jsonl", "--corpus", "corpus.jsonl", "--reward", "outcome", "-o", "run", code=1)
    notes = json.loads((tmp_path / "run" / "findings.json").read_text(encoding="utf-8"))["notes"]
    assert "3 of 4 citations name no passage of the corpus: is it the right corpus?" in notes


def test_a_pool_without_its_corpus_cannot_be_asked_about_it(cli: Cli, pool: Path, tmp_path: Path) -> None:
    shutil.copytree(pool, tmp_path / "pool")
    next((tmp_path / "pool").glob("corpus.jsonl*")).unlink()
    done = cli("rewards", "audit", "-r", "pool", "--reward", "outcome", "-o", "run", code=1)
    assert "log lacks" in done.stdout
    assert "edit fake_id" in (tmp_path / "run" / "report.md").read_text(encoding="utf-8")


def test_a_reward_that_needs_a_corpus_is_refused_without_one(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(lines(row()))
    (tmp_path / "mine.py").write_text("def reward(answer, wether):\n    return 1.0\n", encoding="utf-8")
    done = cli("rewards", "audit", "-r", "log.jsonl", "--reward", "mine.py:reward", "-o", "run", code=3)
    assert "wether: is not on offer" in done.stderr
    assert "on offer: " in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b'{"a": 1}\n', "qa.jsonl:1"),
        (b"\xff\xfe\n", "UTF-8"),
    ],
)
def test_bad_questions_leave_no_pool(cli: Cli, tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "qa.jsonl").write_bytes(content)
    done = cli("rewards", "pool", "qa.jsonl", "-o", "pool", code=3)
    assert said in done.stderr
    assert [entry.name for entry in tmp_path.iterdir()] == ["qa.jsonl"]


def test_missing_questions_and_a_pool_in_the_way_are_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").write_bytes(b"")
    said = cli("rewards", "pool", "qestions.jsonl", "-o", "pool", code=3).stderr
    assert "did you mean 'questions.jsonl'?" in said
    (tmp_path / "pool").mkdir()
    (tmp_path / "pool" / "mine").write_text("kept", encoding="utf-8")
    assert "is not empty" in cli("rewards", "pool", "--limit", "2", "-o", "pool", code=3).stderr
    assert (tmp_path / "pool" / "mine").read_text(encoding="utf-8") == "kept"


def test_a_run_folder_that_is_a_file_is_refused(cli: Cli, pool: Path, tmp_path: Path) -> None:
    (tmp_path / "run").write_text("mine", encoding="utf-8")
    done = cli("rewards", "audit", "-r", pool, "--reward", "outcome", "-o", "run", code=3)
    assert "no ledger can be kept here" in done.stderr
    assert (tmp_path / "run").read_text(encoding="utf-8") == "mine"


def test_a_plug_in_that_raises_while_auditing_is_no_tripped_gate(
    environment: dict[str, str], pool: Path, tmp_path: Path
) -> None:
    """A defect in an edit shows its traceback, and exits with 3 rather than Python's own 1."""
    (tmp_path / "mine.py").write_text(
        "from counterproof.rewards.edits import edit\n"
        "@edit('broken', reads=['answer'], writes=['answer'], targets=['U'])\n"
        "def broken(view, context):\n    raise ZeroDivisionError('mine')\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "counterproof", "rewards", "audit", "-r", str(pool), "--reward", "outcome"]
    done = subprocess.run(
        [*command, "-o", "run", "--plugin", "mine.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert "mine.py" in done.stderr
    assert "ZeroDivisionError: mine" in done.stderr
