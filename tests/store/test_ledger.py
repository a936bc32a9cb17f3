import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from counterproof.core.errors import CorruptLedgerError, FrozenLedgerError, LedgerError, PlanError
from counterproof.core.hashing import digest
from counterproof.core.plan import Gate, Plan
from counterproof.store import DONE, EVENT, Ledger, Note, Row

PLAN = Plan("rewards", "question", ("edit",), (), 7, ("audit", "confirm"))
SOURCE = {"reward": "ab" * 32}


def item_rows(item: str) -> list[Row]:
    return [Row(item, 0, EVENT, "r0", b"one\0"), Row(item, 1, EVENT, "r1", b""), Row(item, 2, DONE, "", item.encode())]


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.create(tmp_path / "run", PLAN, SOURCE)


@pytest.fixture
def frozen(ledger: Ledger) -> Ledger:
    """Two segments, frozen."""
    with ledger.writer("audit") as writer:
        writer.append(item_rows("b"))
        writer.compact()
        writer.append(item_rows("a"))
        writer.note([Note("a", 0, "seconds", 0.5)])
        writer.freeze()
    return ledger


def stage_folder(ledger: Ledger) -> Path:
    return ledger.folder / "ledger" / "audit"


def segments(ledger: Ledger) -> list[Path]:
    return sorted(stage_folder(ledger).glob("*.parquet"))


def test_frozen_stage_gives_rows_and_results_in_canonical_order(frozen: Ledger) -> None:
    assert list(frozen.rows("audit")) == item_rows("a") + item_rows("b")
    assert list(frozen.results("audit")) == [("a", b"a"), ("b", b"b")]
    assert list(frozen.notes("audit")) == [Note("a", 0, "seconds", 0.5)]
    assert frozen.is_frozen("audit")
    assert frozen.verify() == ()


def test_open_stage_can_be_read_from_journal_and_segments(ledger: Ledger) -> None:
    with ledger.writer("audit") as writer:
        writer.append(item_rows("b"))
        writer.compact()
        writer.append([*item_rows("a"), item_rows("c")[0]])
        assert list(ledger.results("audit")) == [("a", b"a"), ("b", b"b")]
        assert len(list(ledger.rows("audit"))) == 7
    assert not ledger.is_frozen("audit")
    assert ledger.verify() == ()
    with pytest.raises(LedgerError, match="'audit' is not frozen"):
        ledger.root("audit")


def test_paths_with_signs_that_sql_and_globs_know_work(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "run'[1] *?", PLAN, SOURCE)
    with ledger.writer("audit") as writer:
        writer.append(item_rows("a"))
        writer.freeze()
    assert list(ledger.results("audit")) == [("a", b"a")]


def test_resume_knows_what_ended_and_what_the_others_recorded(ledger: Ledger) -> None:
    with ledger.writer("audit") as writer:
        writer.append([*item_rows("a"), item_rows("b")[0]])
        writer.compact()
        writer.append([item_rows("b")[1], item_rows("c")[0]])
    with Ledger.open(ledger.folder).writer("audit") as writer:
        assert "a" in writer.finished
        assert "b" not in writer.finished
        assert writer.unfinished == ("b", "c")
        assert writer.events("b") == tuple(item_rows("b")[:2])
        assert writer.events("a") == writer.events("new") == ()


def test_segments_are_written_when_the_journal_is_full(ledger: Ledger) -> None:
    with ledger.writer("audit", compact_at=1) as writer:
        for item in "abc":
            writer.append(item_rows(item))
        assert len(segments(ledger)) == 2  # the third batch is still in the journal
        writer.freeze()
    assert len(segments(ledger)) == 3
    assert len(list(ledger.rows("audit"))) == 9


def test_failed_compaction_loses_nothing_and_closes_the_writer(ledger: Ledger) -> None:
    with ledger.writer("audit") as writer:
        writer.append(item_rows("a"))
        obstacle = stage_folder(ledger) / f".segment-00000.{os.getpid()}.tmp"
        obstacle.mkdir()
        with pytest.raises(LedgerError, match="could not be compacted; every acknowledged row is safe"):
            writer.compact()
        with pytest.raises(LedgerError, match="the writer is closed"):
            writer.append(item_rows("b"))
        obstacle.rmdir()
    with ledger.writer("audit") as writer:
        assert "a" in writer.finished
        writer.freeze()
    assert list(ledger.rows("audit")) == item_rows("a")


def test_repeated_row_is_left_out_and_another_one_refused(ledger: Ledger) -> None:
    with ledger.writer("audit") as writer:
        first = item_rows("a")[0]
        writer.append([first, first])
        writer.append([first])
        with pytest.raises(LedgerError, match="item 'a' already has another row as event 0"):
            writer.append([dataclasses.replace(first, payload=b"other")])
        writer.append(item_rows("a")[1:])
        with pytest.raises(LedgerError, match="item 'a' has ended and takes no event 7"):
            writer.append([Row("a", 7, EVENT, "", b"")])
        with pytest.raises(LedgerError, match="item 'z' has ended"):
            writer.append([Row("z", 0, DONE, "", b""), Row("z", 0, EVENT, "", b"")])
    assert list(ledger.rows("audit")) == item_rows("a")


def test_unfinished_items_cannot_be_frozen(ledger: Ledger) -> None:
    with ledger.writer("audit") as writer:
        writer.append([item_rows("half")[0]])
        with pytest.raises(LedgerError, match=r"1 items have not ended \(half\)"):
            writer.freeze()


def test_frozen_stage_takes_no_row(ledger: Ledger) -> None:
    with ledger.writer("audit") as writer:
        root = writer.freeze()
        with pytest.raises(FrozenLedgerError, match=root):
            writer.append(item_rows("a"))
    with pytest.raises(FrozenLedgerError, match=root), ledger.writer("audit"):
        pass


def test_closed_writer_takes_no_row(ledger: Ledger) -> None:
    with ledger.writer("audit") as writer:
        pass
    with pytest.raises(LedgerError, match="the writer is closed"):
        writer.append(item_rows("a"))


def test_earlier_root_is_part_of_the_next_stage(frozen: Ledger, tmp_path: Path) -> None:
    after = (frozen.root("audit"),)
    roots = []
    for ledger, earlier in ((frozen, after), (Ledger.create(tmp_path / "other", PLAN, SOURCE), ())):
        with ledger.writer("confirm", after=earlier) as writer:
            writer.append(item_rows("a"))
            roots.append(writer.freeze())
    assert roots[0] != roots[1]
    assert frozen.stages() == ("audit", "confirm")
    assert frozen.verify() == ()


def test_stage_cannot_be_resumed_after_other_roots(ledger: Ledger) -> None:
    with ledger.writer("confirm", after=("0" * 64,)):
        pass
    with pytest.raises(PlanError, match=r"was begun after 0{64}, not after nothing"), ledger.writer("confirm"):
        pass
    with pytest.raises(PlanError, match="that is no root"), ledger.writer("audit", after=("x",)):
        pass


def test_unknown_stage_gets_the_nearest_name(ledger: Ledger) -> None:
    with pytest.raises(PlanError, match="did you mean 'audit'"), ledger.writer("audti"):
        pass
    with pytest.raises(LedgerError, match="stage 'audit' was not begun; none was"):
        list(ledger.rows("audit"))


def test_folder_of_another_plan_is_refused_with_what_differs_and_both_hashes(ledger: Ledger) -> None:
    other = dataclasses.replace(PLAN, seed=8, settings={"depth": 3})
    said = rf"another plan \(seed: {PLAN.seed}, now 8; setting depth: nothing, now 3\); use another folder"
    with pytest.raises(PlanError, match=rf"{said}.*{PLAN.digest()}, not {other.digest()}"):
        Ledger.create(ledger.folder, other, SOURCE)
    (ledger.folder / "plan.json").unlink()
    with pytest.raises(PlanError, match=f"{PLAN.digest()}, not {other.digest()}"):
        Ledger.create(ledger.folder, other, SOURCE)


def test_folder_of_another_source_is_refused_with_both_hashes(ledger: Ledger) -> None:
    other = {"reward": "cd" * 32}
    with pytest.raises(PlanError, match=rf"{digest(SOURCE)}, not {digest(other)} \(changed: reward\)"):
        Ledger.create(ledger.folder, PLAN, other)


def test_gate_added_afterwards_belongs_to_the_same_ledger(ledger: Ledger) -> None:
    later = dataclasses.replace(PLAN, gates=(Gate("asr>0.1", post_hoc=True),))
    assert Ledger.create(ledger.folder, later, SOURCE).plan == later


def test_stage_name_must_name_a_folder(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"stage '\.\./x'"):
        Ledger.create(tmp_path, dataclasses.replace(PLAN, stages=("../x",)), SOURCE)


def test_place_that_cannot_be_written_is_a_ledger_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(LedgerError, match="no ledger can be kept here: Not a directory"):
        Ledger.create(tmp_path / "file" / "run", PLAN, SOURCE)
    with pytest.raises(LedgerError, match="there is no ledger here"):
        Ledger.open(tmp_path)


def test_flipped_byte_truncated_and_missing_segment_are_named(frozen: Ledger) -> None:
    path = segments(frozen)[0]
    data = path.read_bytes()
    for damaged in (data[:100] + bytes([data[100] ^ 1]) + data[101:], data[:-1], b""):
        path.write_bytes(damaged)
        with pytest.raises(CorruptLedgerError, match=path.name):
            list(frozen.results("audit"))
        assert [problem.where for problem in frozen.verify()] == [str(path)]
    path.unlink()
    with pytest.raises(CorruptLedgerError, match=f"{path.name}: the segment is missing"):
        list(frozen.rows("audit"))
    assert [problem.where for problem in frozen.verify()] == [str(path)]


def test_foreign_files_are_named(frozen: Ledger) -> None:
    extra = stage_folder(frozen) / f"segment-00002-{'0' * 64}.parquet"
    extra.write_bytes(b"")
    stray = frozen.folder / "ledger" / "stray"
    stray.mkdir()
    (stray / "file").write_bytes(b"")
    assert [problem.where for problem in frozen.verify()] == [str(stray), str(extra)]


def test_foreign_segment_keeps_a_stage_from_being_resumed(ledger: Ledger) -> None:
    with ledger.writer("audit") as writer:
        writer.append(item_rows("a"))
    extra = stage_folder(ledger) / f"segment-00000-{'0' * 64}.parquet"
    extra.write_bytes(b"")
    with pytest.raises(CorruptLedgerError, match=f"{extra.name}: does not belong"), ledger.writer("audit"):
        pass


def test_edited_manifest_is_named(frozen: Ledger) -> None:
    path = frozen.folder / "ledger" / "manifest.json"
    path.write_text(path.read_text().replace('"rows": 3', '"rows": 4', 1))
    with pytest.raises(CorruptLedgerError, match=r"manifest\.json: was edited or damaged"):
        Ledger.open(frozen.folder)
    assert [problem.where for problem in frozen.verify()] == [str(path)]


def test_manifest_sealed_again_after_an_edit_still_has_another_root(frozen: Ledger) -> None:
    path = frozen.folder / "ledger" / "manifest.json"
    data = json.loads(path.read_text())
    del data["sha256"]
    data["source"]["reward"] = "cd" * 32
    path.write_text(json.dumps({**data, "sha256": digest(data)}))
    (problem,) = frozen.verify()
    assert frozen.root("audit") in problem.what


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 1, "sha256": ""}'])
def test_what_is_no_manifest_is_named(frozen: Ledger, text: str) -> None:
    (frozen.folder / "ledger" / "manifest.json").write_text(text)
    with pytest.raises(CorruptLedgerError, match=r"manifest\.json"):
        Ledger.open(frozen.folder)


def test_manifest_of_another_version_is_no_corruption(frozen: Ledger) -> None:
    (frozen.folder / "ledger" / "manifest.json").write_text('{"schema": 99, "sha256": ""}')
    with pytest.raises(LedgerError, match="schema 99; this version reads schema 1"):
        Ledger.open(frozen.folder)


def test_edited_plan_is_named(frozen: Ledger) -> None:
    path = frozen.folder / "plan.json"
    path.write_text(path.read_text().replace('"seed": 7', '"seed": 9'))
    assert [problem.where for problem in frozen.verify()] == [str(path)]
    with pytest.raises(PlanError, match=PLAN.digest()):
        _ = frozen.plan
    path.write_bytes(b"\xff")
    with pytest.raises(PlanError, match=r"plan\.json"):
        _ = frozen.plan
    path.unlink()
    assert [problem.where for problem in frozen.verify()] == [str(path)]


def test_missing_stage_folder_is_named(frozen: Ledger) -> None:
    stage_folder(frozen).rename(frozen.folder / "elsewhere")
    assert [problem.where for problem in frozen.verify()] == [str(stage_folder(frozen))]


def test_damaged_journal_is_named_by_verify_and_resume(ledger: Ledger) -> None:
    with ledger.writer("audit") as writer:
        writer.append(item_rows("a"))
    path = stage_folder(ledger) / "journal-00000.bin"
    data = path.read_bytes()
    path.write_bytes(data[:4200] + bytes([data[4200] ^ 1]) + data[4201:])
    assert [problem.where for problem in ledger.verify()] == [str(path)]
    with pytest.raises(CorruptLedgerError, match=path.name), ledger.writer("audit"):
        pass


def test_manifest_names_plan_source_and_versions(frozen: Ledger) -> None:
    manifest = frozen.manifest
    assert (manifest.plan, manifest.source) == (PLAN.digest(), SOURCE)
    (environment,) = manifest.environments
    assert {"python", "duckdb", "numpy"} <= set(environment)


def test_importing_and_opening_loads_neither_duckdb_nor_numpy(frozen: Ledger) -> None:
    code = (
        "import sys; from pathlib import Path; from counterproof.store import Ledger\n"
        "assert Ledger.open(Path(sys.argv[1])).root('audit')\n"
        "assert not {'duckdb', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, str(frozen.folder)], check=True)
