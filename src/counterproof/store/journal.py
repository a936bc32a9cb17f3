"""The journal: batches of rows that are on the disk when `append` returns.

A file is a header block of 4096 bytes, then batches. A batch is magic, number, count of rows, length of the body, the
body (frames, see `rows.encode`) and, as its commit mark, the SHA-256 of all that.

What was acknowledged must be told from what a crash tore. The header holds the *mark*: the offset up to which batches
were acknowledged. It is overwritten in place (20 bytes of one sector: whole or not at all) after the batch's fsync and
before `append` returns, so

- below the mark every byte must be right; anything else is corruption and is named with its offset;
- above it lies at most a batch that nobody was told of: whole, it is kept (its calls were paid for), else dropped.

After SIGKILL the mark is exact, because the operating system keeps what was written. It is forced onto the disk by the
next batch's fsync and on closing, so after a power cut it may be one batch behind; only then would damage to the very
last acknowledged batch read as torn.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from counterproof.core.errors import CorruptLedgerError, LedgerError
from counterproof.store.files import write_atomically
from counterproof.store.rows import Row, decode, encode

HEADER_SIZE = 4096
_MAGIC = b"cpjrnl1\n"
_HEADER = struct.Struct("<8sQ")
_CHECK = struct.Struct("<I")
_BATCH = struct.Struct("<4sQIQ")
_BATCH_MAGIC = b"CPB1"
_COMMIT_SIZE = 32


@dataclass(frozen=True, slots=True)
class JournalContent:
    """What a journal holds.

    Attributes:
        rows: All rows of whole batches, in the order of writing.
        batches: Number of whole batches.
        end: Offset behind the last whole batch.
        torn: Bytes behind `end`, never acknowledged.
    """

    rows: tuple[Row, ...]
    batches: int
    end: int
    torn: int


def create_journal(path: Path) -> None:
    """Make an empty journal, durably.

    Raises:
        OSError: The file system refused.
    """
    write_atomically(path, _header(HEADER_SIZE))


def read_journal(path: Path) -> JournalContent:
    """Return what a journal holds, every batch checked.

    Raises:
        CorruptLedgerError: The file is missing, or an acknowledged byte is not what was written; names the offset.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise CorruptLedgerError(f"{path}: the journal is missing, although the manifest names it") from None
    mark = _mark(path, data)
    rows: list[Row] = []
    end, batches = HEADER_SIZE, 0
    for batch, behind in _whole_batches(data):
        rows += batch
        end, batches = behind, batches + 1
    if end < mark:
        raise CorruptLedgerError(
            f"{path}: the batch at offset {end} is damaged or cut off, although all before {mark} was acknowledged; "
            "restore the file from a copy"
        )
    return JournalContent(tuple(rows), batches, end, len(data) - end)


class Journal:
    """A journal open for appending; what was torn is cut off first.

    Raises:
        CorruptLedgerError: As for `read_journal`.
        OSError: The file cannot be written.
    """

    __slots__ = ("_batches", "_descriptor", "_path", "_sound", "end", "rows")

    def __init__(self, path: Path, content: JournalContent) -> None:
        self._path = path
        self._sound = True
        self._batches = content.batches
        self.end = content.end
        self.rows = len(content.rows)
        self._descriptor = os.open(path, os.O_RDWR)
        try:
            os.ftruncate(self._descriptor, self.end)
            os.fsync(self._descriptor)
            _write_at(self._descriptor, _mark_bytes(self.end), 0)
            os.fsync(self._descriptor)
        except OSError:
            os.close(self._descriptor)
            raise

    @property
    def size(self) -> int:
        """Bytes of batches held."""
        return self.end - HEADER_SIZE

    def append(self, rows: Sequence[Row]) -> None:
        """Write one batch and force it onto the disk; it is durable when this returns.

        Raises:
            LedgerError: A row cannot be recorded, or the disk refused (it is full, say). This batch is not
                acknowledged, all before are safe. The journal must then be closed and opened again, which shows
                whether the batch became whole all the same.
        """
        body = encode(rows)
        data = _BATCH.pack(_BATCH_MAGIC, self._batches, len(rows), len(body)) + body
        data += hashlib.sha256(data).digest()
        self._sound = False
        try:
            _write_at(self._descriptor, data, self.end)
            os.fsync(self._descriptor)
            _write_at(self._descriptor, _mark_bytes(self.end + len(data)), 0)
        except OSError as error:
            raise LedgerError(
                f"{self._path}: a batch of {len(rows)} rows could not be recorded: {error.strerror}; every row "
                "acknowledged before is safe; make room and resume"
            ) from error
        self.end += len(data)
        self._batches += 1
        self.rows += len(rows)
        self._sound = True

    def close(self) -> None:
        """Force the mark onto the disk and close; again is harmless."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor < 0:
            return
        try:
            if self._sound:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _write_at(descriptor: int, data: bytes, offset: int) -> None:
    rest = memoryview(data)
    while rest:
        written = os.pwrite(descriptor, rest, offset)
        rest, offset = rest[written:], offset + written


def _mark_bytes(mark: int) -> bytes:
    head = _HEADER.pack(_MAGIC, mark)
    return head + _CHECK.pack(zlib.crc32(head))


def _header(mark: int) -> bytes:
    return _mark_bytes(mark).ljust(HEADER_SIZE, b"\0")


def _mark(path: Path, data: bytes) -> int:
    mark = HEADER_SIZE
    if len(data) >= HEADER_SIZE:
        mark = int(_HEADER.unpack_from(data)[1])
    if data[:HEADER_SIZE] != _header(mark):
        raise CorruptLedgerError(f"{path}: the header at offset 0 is damaged or cut off; restore the file from a copy")
    return mark


def _whole_batches(data: bytes) -> Iterator[tuple[list[Row], int]]:
    """Yield the rows of each batch and the offset behind it, up to the first that is not whole."""
    position, number = HEADER_SIZE, 0
    while position + _BATCH.size <= len(data):
        magic, stated, count, size = _BATCH.unpack_from(data, position)
        start = position + _BATCH.size
        behind = start + size + _COMMIT_SIZE
        if magic != _BATCH_MAGIC or stated != number or behind > len(data):
            return
        if hashlib.sha256(data[position : start + size]).digest() != data[start + size : behind]:
            return
        try:
            rows = decode(data[start : start + size])
        except ValueError:
            return
        if len(rows) != count:
            return
        yield rows, behind
        position, number = behind, number + 1
