from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from counterproof.core.analysis import Analysis
from counterproof.core.outcomes import unpack
from counterproof.store import EVENT, Ledger
from counterproof.study.pools import build_pool
from counterproof.study.publish import publish, verify
from tests.cli.conftest import Cli

SLOW = """
import time

def reward(answer, gold_answers, citations):
    time.sleep(0.002)
    with open("calls", "ab", buffering=0) as file:
        file.write(b".")
    return float(answer in gold_answers) + 0.1 * len(citations)
"""


def answered(folder: Path) -> int:
    """How many calls of the audited reward the ledger holds the outcomes of."""
    ledger = Ledger.open(folder)
    rows = (row for stage in ledger.stages() if stage != "controls" for row in ledger.rows(stage))
    return sum(len(unpack(row.payload)) for row in rows if row.kind == EVENT)


def findings(folder: Path) -> dict:
    return json.loads((folder / "findings.json").read_text(encoding="utf-8"))


def test_pool_audit_show_verify_and_replay_work_together(cli: Cli, tmp_path: Path) -> None:
    made = cli("rewards", "pool", "--limit", "6", "--samples", "2", "-o", "pool", code=0)
    assert "12 trajectories of 6 questions" in made.stdout
    audited = cli("rewards", "audit", "-r", "pool", "--reward", "reference", "-o", "run", code=1)
    assert audited.stderr == ""
    assert "reference can be fooled" in audited.stdout
    assert "report" in audited.stdout
    assert findings(tmp_path / "run")["exit_code"] == 1
    assert cli("show", "run", code=0).stdout == audited.stdout
    assert "every hash holds" in cli("verify", "run", code=0).stdout
    again = cli("replay", "run", "--fail-on", "asr>0.999", code=1)
    assert "identical to findings.json, byte for byte" in again.stdout
    assert "(added after the run)" in again.stdout
    assert cli("rewards", "audit", "-r", "pool", "--reward", "reference", "-o", "run", code=1).stdout == audited.stdout
    refused = cli("rewards", "audit", "-r", "pool", "--reward", "outcome", "-o", "run", code=3)
    assert "use another folder" in refused.stderr
    (segment,) = (tmp_path / "run" / "ledger" / "scores").glob("*.parquet")
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 1
    segment.write_bytes(data)
    broken = cli("verify", "run", code=3)
    assert segment.name in broken.stderr
    assert broken.stdout == ""
    assert segment.name in cli("replay", "run", code=3).stderr


def test_a_gate_of_ones_own_replaces_the_default(cli: Cli, pool: Path) -> None:
    cli("rewards", "audit", "-r", pool, "--reward", "outcome", "-o", "run", "--fail-on", "asr.upper>1.5", code=2)


def test_options_of_a_foreign_reward_reach_it(cli: Cli, pool: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def reward(answer):\n    return None\n", encoding="utf-8")
    audited = cli(
        *("rewards", "audit", "-r", pool, "--reward", "mine.py:reward", "-o", "run"),
        *("--engine", "processes", "--workers", "2", "--timeout", "5", "--seed", "3", "--allow-stateful"),
        code=3,
    )
    assert "reward(answer)" in audited.stdout
    plan = json.loads((tmp_path / "run" / "plan.json").read_text(encoding="utf-8"))
    assert (plan["seed"], plan["settings"]["allow_stateful"], plan["settings"]["seconds_per_call"]) == (3, True, 5.0)


def test_ctrl_c_says_how_to_go_on_and_the_same_command_does(
    cli: Cli, environment: dict[str, str], tmp_path: Path
) -> None:
    build_pool(None, tmp_path / "pool", limit=15, samples=2)  # about 1,300 calls: more than two batches
    (tmp_path / "mine.py").write_text(SLOW, encoding="utf-8")
    arguments = ["rewards", "audit", "-r", "pool", "--reward", "mine.py:reward", "-o", "run"]
    command = [sys.executable, "-m", "counterproof", *arguments]
    running = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    counter = tmp_path / "calls"
    deadline = time.monotonic() + 60
    while not (tmp_path / "run" / "ledger" / "scores" / "notes.jsonl").exists():  # the first batch is on the disk
        assert running.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.002)
    os.killpg(running.pid, signal.SIGINT)
    stdout, stderr = running.communicate(timeout=30)
    assert running.returncode == 3
    assert stdout == b""
    assert b"the same command goes on" in stderr
    assert b"Traceback" not in stderr
    assert not (tmp_path / "run" / "findings.json").exists()
    assert "not finished: run the same command again" in cli("show", "run", code=3).stderr
    kept, before = answered(tmp_path / "run"), counter.stat().st_size
    assert 3 * 30 < kept <= before
    cli(*arguments, code=1)
    assert counter.stat().st_size - before == answered(tmp_path / "run") - kept > 0
    assert verify(tmp_path / "run") == ()


@pytest.mark.parametrize(("command", "code"), [("audit", 1), ("show", 0), ("help", 0)])
def test_a_reader_that_leaves_early_changes_neither_exit_code_nor_files(
    environment: dict[str, str], pool: Path, tmp_path: Path, command: str, code: int
) -> None:
    if command == "show":
        (tmp_path / "run").mkdir()
        publish(tmp_path / "run", Analysis("rewards", "title", ("said",), ()))
    arguments = {
        "audit": ["rewards", "audit", "-r", str(pool), "--reward", "outcome", "-o", "run"],
        "show": ["show", "run"],
        "help": ["rewards", "audit", "--help"],
    }[command]
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer) as stdout:
        done = subprocess.run(
            [sys.executable, "-m", "counterproof", *arguments],
            cwd=tmp_path,
            env=environment,
            stdout=stdout,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.stderr == b""
    assert done.returncode == code
    if command == "audit":
        assert {"findings.json", "report.md", "report.html"} <= {entry.name for entry in (tmp_path / "run").iterdir()}


@pytest.mark.slow
def test_the_demo_finds_the_hole_and_closes_it_with_the_repair_that_it_named(cli: Cli, tmp_path: Path) -> None:
    done = cli("demo", "rewards", "-o", "demo", code=0)
    assert "reference can be fooled" in done.stdout
    runs = sorted(path.parent.name for path in (tmp_path / "demo").glob("*/findings.json"))
    assert len(runs) == 2
    assert runs[0] == "reference"
    assert findings(tmp_path / "demo" / "reference")["exit_code"] == 1
    repaired = findings(tmp_path / "demo" / runs[1])
    assert repaired["exit_code"] in (0, 2)
    rates = [one["estimate"] for one in repaired["findings"] if one["code"] in ("RW101", "RW102", "RW103")]
    assert {rate for rate in rates if isinstance(rate, float)} == {0.0}


@pytest.mark.shared_data
@pytest.mark.parametrize("log", ["trajectories/fireact_hotpotqa", "ecosystem/verl/rollout_data_em"])
def test_real_logs_without_citations_say_what_does_not_apply_and_outcome_only_pays_without_searches(
    cli: Cli, shared_data: Path, tmp_path: Path, log: str
) -> None:
    if not (shared_data / log).is_dir():
        pytest.skip(f"real data needed: {shared_data / log} is no folder")
    done = cli("rewards", "audit", "-r", shared_data / log, "--reward", "outcome", "-o", "run", code=1)
    assert "not applied" in done.stdout
    assert "the log has no citations" in done.stdout
    found = {one["subject"]: one for one in findings(tmp_path / "run")["findings"]}
    for name in ("detector L", "detector F", "edit fake_id", "edit launder"):
        assert found[name]["code"] == "RW150"
        assert not isinstance(found[name]["estimate"], float)
    assert "same_final{UL}/oracle_worst" not in found
    deleted = found["same_final{U}/oracle_worst"]
    assert deleted["estimate"] == 1.0
    assert deleted["counts"]["ties"] == deleted["counts"]["fooled"] == deleted["n"] > 0
