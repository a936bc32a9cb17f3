from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from counterproof.core.errors import InputError, LedgerError
from counterproof.report import analysis_from_json, findings_json
from counterproof.study.publish import load, publish, replay, verify
from counterproof.study.rewards import AuditConfig, audit


@pytest.fixture(scope="module")
def finished(pool: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("finished") / "run"
    publish(out, audit(AuditConfig(pool, "reference", out)))
    return out


@pytest.fixture
def copied(finished: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished, tmp_path / "run")
    return tmp_path / "run"


def flip(path: Path, at: float = 0.5) -> None:
    data = bytearray(path.read_bytes())
    data[int(len(data) * at)] ^= 1
    path.write_bytes(bytes(data))


def named(folder: Path) -> str:
    return "\n".join(map(str, verify(folder)))


def test_a_run_folder_holds_plan_ledger_findings_and_reports(finished: Path) -> None:
    assert sorted(entry.name for entry in finished.iterdir()) == [
        "findings.json",
        "ledger",
        "plan.json",
        "report.html",
        "report.md",
    ]
    stages = {entry.name for entry in (finished / "ledger").iterdir() if entry.is_dir()}
    assert stages == {"stateless", "controls", "scores", "evidence"}


def test_nothing_in_a_run_names_a_folder_of_this_machine(finished: Path, pool: Path) -> None:
    for path in finished.rglob("*"):
        if path.is_file() and path.suffix != ".parquet":
            assert str(pool.parent).encode() not in path.read_bytes(), path.name


def test_replay_gives_the_findings_byte_for_byte(finished: Path) -> None:
    replayed = replay(finished)
    assert replayed.identical
    assert findings_json(replayed.analysis) == (finished / "findings.json").read_bytes()
    assert replayed.analysis == load(finished)


def test_a_gate_added_later_is_labelled_and_changes_nothing_on_the_disk(finished: Path) -> None:
    before = (finished / "findings.json").read_bytes()
    replayed = replay(finished, ("asr>0.99",))
    assert replayed.identical
    assert [gate.expression for gate in replayed.analysis.gates] == ["asr>0", "asr>0.99 (added after the run)"]
    assert (finished / "findings.json").read_bytes() == before
    with pytest.raises(InputError, match="there is no attack 'lunder'"):
        replay(finished, ("asr[lunder]>0",))


def test_an_undamaged_run_verifies(finished: Path) -> None:
    assert verify(finished) == ()


@pytest.mark.parametrize("name", ["findings.json", "report.html", "report.md", "plan.json", "ledger/manifest.json"])
@pytest.mark.parametrize("at", [0.0, 0.5])
def test_a_flipped_bit_is_named(copied: Path, name: str, at: float) -> None:
    flip(copied / name, at)
    assert name in named(copied)


@pytest.mark.parametrize("stage", ["stateless", "controls", "scores", "evidence"])
def test_a_flipped_bit_in_a_segment_is_named(copied: Path, stage: str) -> None:
    (segment,) = (copied / "ledger" / stage).glob("*.parquet")
    flip(segment)
    assert segment.name in named(copied)
    with pytest.raises(LedgerError, match=segment.name):
        replay(copied)


def test_a_missing_segment_or_report_is_named(copied: Path) -> None:
    (copied / "report.md").unlink()
    assert "report.md: is missing" in named(copied)
    (segment,) = (copied / "ledger" / "scores").glob("*.parquet")
    segment.unlink()
    assert segment.name in named(copied)


def test_a_number_edited_in_the_findings_is_found_although_the_file_can_be_read(copied: Path) -> None:
    path = copied / "findings.json"
    text = path.read_text(encoding="utf-8")
    edited = re.sub(r'"exit_code": \d', '"exit_code": 0', text)
    assert edited != text
    path.write_text(edited, encoding="utf-8")
    assert analysis_from_json(path.read_bytes()).exit_code == 0
    assert "findings.json: is not what the ledger gives" in named(copied)


def test_publishing_again_writes_the_same_bytes(copied: Path) -> None:
    before = {path.name: path.read_bytes() for path in copied.iterdir() if path.is_file()}
    publish(copied, load(copied))
    assert {path.name: path.read_bytes() for path in copied.iterdir() if path.is_file()} == before


def test_folders_that_are_no_finished_run_are_refused_with_a_hint(finished: Path, pool: Path, tmp_path: Path) -> None:
    for use in (load, replay, verify):
        with pytest.raises(InputError, match="did you mean 'run'"):
            use(finished.with_name("rum"))
        with pytest.raises(InputError, match=r"no findings\.json; it is no run folder"):
            use(pool)
    shutil.copytree(finished, tmp_path / "run")
    (tmp_path / "run" / "findings.json").unlink()
    with pytest.raises(InputError, match="not finished: run the same command again"):
        load(tmp_path / "run")


@pytest.mark.browser
def test_the_page_of_a_real_run_renders_without_errors(chromium: str, finished: Path, tmp_path: Path) -> None:
    command = [
        *(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
        *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions"),
        *("--enable-logging=stderr", "--v=0", "--virtual-time-budget=20000", f"--user-data-dir={tmp_path}"),
        *("--dump-dom", (finished / "report.html").as_uri()),
    ]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120, check=True)
    root = re.findall(r"<html[^>]*>", done.stdout)[0]
    assert 'data-ready="true"' in root
    assert 'data-errors=""' in root
    assert not [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert "launder/lexical@8/oracle_worst" in done.stdout
