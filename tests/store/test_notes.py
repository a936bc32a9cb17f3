from pathlib import Path

import pytest

from counterproof.core.errors import CorruptLedgerError
from counterproof.store.notes import NoteFile, read_notes
from counterproof.store.rows import Note

FIRST, SECOND = Note("a", 0, "seconds", 0.25), Note("b", 1, "cost", 3.0)


def test_notes_come_back_and_a_torn_line_is_cut_off_on_reopening(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    notes = NoteFile(path)
    notes.append([FIRST])
    notes.append([SECOND])
    notes.close()
    path.write_bytes(path.read_bytes()[:-3])
    assert list(read_notes(path)) == [FIRST]
    notes = NoteFile(path)
    notes.append([SECOND])
    notes.close()
    assert list(read_notes(path)) == [FIRST, SECOND]


def test_no_file_is_no_notes(tmp_path: Path) -> None:
    assert list(read_notes(tmp_path / "notes.jsonl")) == []


def test_strange_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_bytes(b'[["a", 0, "seconds", 1.0]]\n{}}\n')
    with pytest.raises(CorruptLedgerError, match=r"notes\.jsonl:2"):
        list(read_notes(path))
