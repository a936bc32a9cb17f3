"""Measured times and costs: a stream beside the rows, outside every root."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from counterproof.core.errors import CorruptLedgerError
from counterproof.store.rows import Note

NOTES = "notes.jsonl"


class NoteFile:
    """A file of JSON lines, one batch of notes a line. Not forced onto the disk: a crash may cost the last lines.

    Raises:
        OSError: The file cannot be opened for writing.
    """

    __slots__ = ("_descriptor", "_end")

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            self._end = _whole_lines(self._descriptor)
            os.ftruncate(self._descriptor, self._end)
        except OSError:
            os.close(self._descriptor)
            raise

    def append(self, notes: Sequence[Note]) -> None:
        """Write one line; a failed write leaves none of it behind that would be read.

        Raises:
            OSError: The disk refused.
        """
        line = json.dumps([[note.item, note.seq, note.name, note.value] for note in notes]).encode() + b"\n"
        if os.pwrite(self._descriptor, line, self._end) < len(line):
            os.ftruncate(self._descriptor, self._end)
            raise OSError(None, "the disk is full")
        self._end += len(line)

    def close(self) -> None:
        """Close; again is harmless."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def read_notes(path: Path) -> Iterator[Note]:
    """Yield the notes in the order of writing; a last line that a crash cut off is left out.

    Raises:
        CorruptLedgerError: Another line is none of ours; names its number.
    """
    if not path.exists():
        return
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                batch = [Note(item, seq, name, value) for item, seq, name, value in json.loads(line)]
            except (ValueError, TypeError) as error:
                raise CorruptLedgerError(f"{path}:{number}: is no line of notes: {error}") from None
            yield from batch


def _whole_lines(descriptor: int, block: int = 65536) -> int:
    """Return the offset behind the last line end."""
    position = os.fstat(descriptor).st_size
    while position:
        start = max(0, position - block)
        found = os.pread(descriptor, position - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        position = start
    return 0
