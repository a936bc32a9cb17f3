from pathlib import Path

import pytest

from counterproof.core.errors import CorruptLedgerError, LedgerError
from counterproof.store.journal import HEADER_SIZE, Journal, create_journal, read_journal
from counterproof.store.rows import DONE, EVENT, Row

FIRST = [Row("a", 0, EVENT, "r", b"one"), Row("b", 0, EVENT, "r", b"two")]
SECOND = [Row("a", 1, DONE, "", b"three")]


def journal_at(path: Path) -> Journal:
    return Journal(path, read_journal(path))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal of two acknowledged batches."""
    path = tmp_path / "journal-00000.bin"
    create_journal(path)
    journal = journal_at(path)
    journal.append(FIRST)
    journal.append(SECOND)
    journal.close()
    return path


@pytest.fixture
def unacknowledged(path: Path, tmp_path: Path) -> Path:
    """The same bytes as after a kill between the second batch's fsync and its acknowledgement."""
    other = tmp_path / "other.bin"
    create_journal(other)
    journal = journal_at(other)
    journal.append(FIRST)
    journal.close()
    header = other.read_bytes()[:HEADER_SIZE]
    path.write_bytes(header + path.read_bytes()[HEADER_SIZE:])
    return path


def test_rows_come_back_in_order(path: Path) -> None:
    content = read_journal(path)
    assert (content.rows, content.batches, content.torn) == ((*FIRST, *SECOND), 2, 0)


def test_whole_batch_that_nobody_was_told_of_is_kept(unacknowledged: Path) -> None:
    assert read_journal(unacknowledged).rows == (*FIRST, *SECOND)


def test_torn_batch_is_dropped_wherever_it_was_torn(unacknowledged: Path) -> None:
    data = unacknowledged.read_bytes()
    first_end = HEADER_SIZE + 24 + 2 * (21 + 1 + 1 + 3) + 32  # batch head, two frames, commit mark
    for cut in range(first_end, len(data)):
        unacknowledged.write_bytes(data[:cut])
        content = read_journal(unacknowledged)
        assert content.rows == tuple(FIRST)
        assert content.torn == cut - first_end


def test_append_goes_on_behind_a_torn_batch(unacknowledged: Path) -> None:
    unacknowledged.write_bytes(unacknowledged.read_bytes()[:-5])
    journal = journal_at(unacknowledged)
    journal.append(SECOND)
    journal.close()
    content = read_journal(unacknowledged)
    assert (content.rows, content.torn) == ((*FIRST, *SECOND), 0)


def test_acknowledged_batch_cut_anywhere_is_corruption(path: Path) -> None:
    data = path.read_bytes()
    for cut in range(len(data)):
        if cut < HEADER_SIZE and cut % 512:
            continue
        path.write_bytes(data[:cut])
        with pytest.raises(CorruptLedgerError, match=r"journal-00000\.bin: .* at offset \d+ is damaged or cut off"):
            read_journal(path)


def test_missing_journal_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorruptLedgerError, match="the journal is missing"):
        read_journal(tmp_path / "journal-00000.bin")


def test_bad_row_writes_nothing(path: Path) -> None:
    before = path.read_bytes()
    journal = journal_at(path)
    with pytest.raises(LedgerError, match="cannot be recorded"):
        journal.append([Row("a", 0, "strange", "", b"")])
    journal.close()
    journal.close()
    assert path.read_bytes() == before
