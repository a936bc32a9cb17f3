"""The writer of one stage: append, compact, freeze."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import Path

from counterproof.core.errors import CorruptLedgerError, FrozenLedgerError, LedgerError
from counterproof.store.files import TEMPORARY, fsync_folder
from counterproof.store.journal import Journal, create_journal, read_journal
from counterproof.store.layout import foreign, journal_path, leftovers
from counterproof.store.manifest import Manifest, Stage, write_manifest
from counterproof.store.notes import NOTES, NoteFile
from counterproof.store.rows import DONE, Note, Row, distinct, rank, stage_root
from counterproof.store.segments import read_finished, read_segments, read_unfinished, write_segment

COMPACT_AT = 8 << 20
"""Bytes of journal from which `append` compacts first; this bounds what a resume and a compaction hold in memory."""


class Keys:
    """A set of item keys that holds 16 bytes of a hash for each, however long the key is."""

    __slots__ = ("_hashes",)

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._hashes = set(map(_short, keys))

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and _short(key) in self._hashes

    def __len__(self) -> int:
        return len(self._hashes)

    def add(self, key: str) -> None:
        """Put a key in."""
        self._hashes.add(_short(key))


class StageWriter:
    """Writes one stage; made by `Ledger.writer`, which holds the lock. A context manager.

    Opening it finishes or undoes what a crash interrupted. In memory it holds 16 bytes an ended item, and the rows of
    items that have begun and not ended. When a write fails the writer closes; opening another one resumes.
    """

    __slots__ = ("_finished", "_folder", "_journal", "_ledger", "_manifest", "_notes", "_open", "_stage", "compact_at")

    def __init__(self, ledger: Path, manifest: Manifest, stage: Stage, compact_at: int = COMPACT_AT) -> None:
        self._ledger, self._manifest, self._stage = ledger, manifest, stage
        self._folder = ledger / stage.name
        self.compact_at = compact_at
        self._journal: Journal | None = None
        self._notes: NoteFile | None = None
        self._finished = Keys()
        self._open: dict[str, dict[tuple[str, int], Row]] = {}
        try:
            with self._clear_errors("could not be opened for writing"):
                self._recover()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> StageWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def finished(self) -> Container[str]:
        """Keys of the items that have ended."""
        return self._finished

    @property
    def unfinished(self) -> tuple[str, ...]:
        """Keys of the items that have begun and not ended."""
        return tuple(self._open)

    def events(self, item: str) -> tuple[Row, ...]:
        """Return the recorded events of an item that has not ended, by number: what its state is rebuilt from."""
        return tuple(sorted(self._open.get(item, {}).values(), key=rank))

    def append(self, rows: Sequence[Row]) -> None:
        """Record rows as one batch, all or none; it is on the disk when this returns.

        A row that an unfinished item already has is left out.

        Raises:
            LedgerError: An item has ended, or its row of that kind and number is another one; nothing was written.
                Or the disk refused: none of these rows is acknowledged, all earlier ones are safe.
            FrozenLedgerError: The stage is frozen.
        """
        journal = self._ready()
        fresh = self._fresh(rows)
        if not fresh:
            return
        if journal.size >= self.compact_at:
            self.compact()
            journal = self._ready()
        with self._closed_on_failure():
            journal.append(fresh)
            self._remember(fresh)

    def note(self, notes: Sequence[Note]) -> None:
        """Write measured times and costs, which are no part of the root; a crash may cost the last of them.

        Raises:
            LedgerError: The disk refused.
        """
        self._ready()
        with self._clear_errors("notes could not be written"):
            if self._notes is None:
                self._notes = NoteFile(self._folder / NOTES)
            self._notes.append(notes)

    def compact(self) -> None:
        """Move the journal's rows into a Parquet segment.

        Each step is durable before the next: write the segment under a temporary name; announce its name in the
        manifest; rename it; begin a new journal; list the segment and the new journal in the manifest; remove the old
        journal. Up to the listing the old journal counts, from there on the segment.

        Raises:
            LedgerError: The disk refused; every row is safe in the journal.
        """
        journal = self._ready()
        if journal.rows:
            self._compact(journal, freeze=False)

    def freeze(self) -> str:
        """Compact, compute the root over what is on the disk, and take no more rows. Returns the root.

        Raises:
            LedgerError: Some item has not ended, or the disk refused.
        """
        journal = self._ready()
        if self._open:
            shown = ", ".join(sorted(self._open)[:3])
            raise LedgerError(
                f"stage '{self._stage.name}': {len(self._open)} items have not ended ({shown}); finish them first"
            )
        self._compact(journal, freeze=True)
        self.close()
        return self._stage.root

    def close(self) -> None:
        """Close the files; again is harmless. What was acknowledged stays."""
        journal, self._journal = self._journal, None
        notes, self._notes = self._notes, None
        with self._clear_errors("could not be closed"):
            if notes is not None:
                notes.close()
            if journal is not None:
                journal.close()

    def _ready(self) -> Journal:
        if self._stage.root:
            raise FrozenLedgerError(f"stage '{self._stage.name}' is frozen with root {self._stage.root}")
        if self._journal is None:
            raise LedgerError(f"stage '{self._stage.name}': the writer is closed")
        return self._journal

    def _fresh(self, rows: Sequence[Row]) -> list[Row]:
        fresh: dict[tuple[str, str, int], Row] = {}
        ended: set[str] = set()
        for row in rows:
            place, held = (row.item, row.kind, row.seq), self._open.get(row.item)
            known = fresh.get(place) or (held and held.get(place[1:]))
            if known == row:
                continue
            if known:
                raise LedgerError(f"item {row.item!r} already has another row as {row.kind} {row.seq}")
            if row.item in ended or (held is None and row.item in self._finished):
                raise LedgerError(f"item {row.item!r} has ended and takes no {row.kind} {row.seq}")
            if row.kind == DONE:
                ended.add(row.item)
            fresh[place] = row
        return list(fresh.values())

    def _remember(self, rows: Iterable[Row]) -> None:
        for row in rows:
            if row.kind == DONE:
                self._finished.add(row.item)
                self._open.pop(row.item, None)
            else:
                self._open.setdefault(row.item, {})[row.kind, row.seq] = row

    def _recover(self) -> None:
        self._folder.mkdir(exist_ok=True)
        fsync_folder(self._ledger)
        path = journal_path(self._folder, self._stage.journal)
        if self._manifest.stage(self._stage.name) is None:
            _refuse(foreign(self._folder, dataclasses.replace(self._stage, journal=-1)))
            create_journal(path)
        else:
            _refuse(foreign(self._folder, self._stage))
        for left in (*leftovers(self._folder, self._stage), *self._ledger.glob(f"*{TEMPORARY}")):
            left.unlink()
        self._publish(dataclasses.replace(self._stage, pending=""))
        content = read_journal(path)
        if self._stage.segments:
            self._finished = Keys(read_finished(self._folder, self._stage.segments))
            self._remember(read_unfinished(self._folder, self._stage.segments))
        ordered = distinct(sorted(content.rows, key=rank), str(path))
        self._remember(row for row in ordered if row.kind == DONE or row.item not in self._finished)
        self._journal = Journal(path, content)

    def _compact(self, journal: Journal, *, freeze: bool) -> None:
        old, stage = self._stage.journal, self._stage
        with self._closed_on_failure(), self._clear_errors("could not be compacted; every acknowledged row is safe"):
            if journal.rows:
                path = journal_path(self._folder, old)
                rows = list(distinct(sorted(read_journal(path).rows, key=rank), str(path)))
                temporary, segment = write_segment(self._folder, len(stage.segments), rows)
                self._publish(dataclasses.replace(stage, pending=segment.name))
                os.replace(temporary, self._folder / segment.name)
                fsync_folder(self._folder)
                stage = dataclasses.replace(stage, segments=(*stage.segments, segment))
            stage = dataclasses.replace(stage, journal=old + 1)
            if freeze:
                ordered = distinct(read_segments(self._folder, stage.segments), str(self._folder))
                stage = dataclasses.replace(stage, root=root_of(self._manifest, stage, ordered))
            else:
                create_journal(journal_path(self._folder, stage.journal))
            self._publish(stage)
            journal.close()
            self._journal = None
            if not freeze:
                path = journal_path(self._folder, stage.journal)
                self._journal = Journal(path, read_journal(path))
            journal_path(self._folder, old).unlink()

    def _publish(self, stage: Stage) -> None:
        """Make `stage` what the manifest says."""
        manifest = self._manifest.with_stage(stage)
        write_manifest(self._ledger, manifest)
        self._manifest, self._stage = manifest, stage

    @contextlib.contextmanager
    def _closed_on_failure(self) -> Iterator[None]:
        """Close when a step fails or is interrupted: what is on the disk may then be ahead of what is in memory."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    @contextlib.contextmanager
    def _clear_errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise LedgerError(f"{self._folder}: {what}: {error.strerror or error}") from error


def root_of(manifest: Manifest, stage: Stage, ordered: Iterable[Row]) -> str:
    """Return the root of a stage of this ledger over its rows in canonical order (see `stage_root`)."""
    return stage_root(stage.name, manifest.plan, manifest.source_digest, stage.after, ordered)


def _refuse(paths: Iterable[Path]) -> None:
    for path in paths:
        raise CorruptLedgerError(f"{path}: does not belong to this ledger; move it away")


def _short(key: str) -> bytes:
    return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest()
