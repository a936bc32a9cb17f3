"""The ledger of a run: one folder, a plan, several stages."""

from __future__ import annotations

import contextlib
import dataclasses
import platform
import re
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path

from counterproof.core.errors import CounterproofError, FrozenLedgerError, LedgerError, PlanError, Problem, nearest
from counterproof.core.hashing import digest
from counterproof.core.plan import Plan
from counterproof.store.files import write_atomically
from counterproof.store.journal import read_journal
from counterproof.store.layout import LEDGER, LOCK, PLAN, journal_path, read_plan
from counterproof.store.locks import WriterLock
from counterproof.store.manifest import MANIFEST, Manifest, Stage, read_manifest, write_manifest
from counterproof.store.notes import NOTES, read_notes
from counterproof.store.rows import Note, Row, distinct
from counterproof.store.segments import read_results, read_segments
from counterproof.store.verification import verify_ledger
from counterproof.store.writer import COMPACT_AT, StageWriter

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
_ROOT = re.compile(r"[0-9a-f]{64}")
_LIBRARIES = ("counterproof", "duckdb", "numpy", "scipy")


class Ledger:
    """What a run recorded, in `RUN/plan.json` and `RUN/ledger`. Make one with `create` or `open`.

    The manifest is read anew by each method, so one object sees what a writer did meanwhile.
    """

    __slots__ = ("_ledger", "folder")

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ledger = folder / LEDGER

    @staticmethod
    def create(folder: Path, plan: Plan, source: Mapping[str, str]) -> Ledger:
        """Begin a ledger in `folder`, or reopen the one there when plan and source are the same.

        Args:
            folder: The run's folder; made when absent.
            plan: The plan; written to `plan.json`.
            source: Name and SHA-256 of every source that the rows depend on.

        Raises:
            PlanError: The folder belongs to another plan or another source, or a stage's name cannot name a folder.
            LockedLedgerError: Somebody else is beginning or writing it.
            LedgerError: The folder cannot be written.
        """
        ledger = Ledger(folder)
        for name in plan.stages:
            if not _NAME.fullmatch(name):
                raise PlanError(f"stage {name!r}: use lower-case letters, digits, '-' and '_'")
        try:
            ledger._create(plan, source)
        except OSError as error:
            raise LedgerError(f"{folder}: no ledger can be kept here: {error.strerror or error}") from error
        return ledger

    @staticmethod
    def open(folder: Path) -> Ledger:
        """Return the ledger in `folder`, for reading; nothing is written and no segment is read yet.

        Raises:
            LedgerError: There is none.
            CorruptLedgerError: Its manifest was edited or damaged.
        """
        ledger = Ledger(folder)
        read_manifest(ledger._ledger)
        return ledger

    @property
    def plan(self) -> Plan:
        """The plan in `plan.json`.

        Raises:
            LedgerError: It cannot be read.
            PlanError: It is no plan, or not the one that this ledger was begun with.
        """
        path = self.folder / PLAN
        try:
            plan = read_plan(path)
        except OSError as error:
            raise LedgerError(f"{path}: cannot be read: {error.strerror}") from error
        stated = read_manifest(self._ledger).plan
        if plan.digest() != stated:
            raise PlanError(f"{path}: has the hash {plan.digest()}, but the ledger was begun with plan {stated}")
        return plan

    @property
    def manifest(self) -> Manifest:
        """The table of contents: plan hash, sources, environments, stages with segments and roots."""
        return read_manifest(self._ledger)

    @contextlib.contextmanager
    def writer(self, stage: str, *, after: tuple[str, ...] = (), compact_at: int = COMPACT_AT) -> Iterator[StageWriter]:
        """Open a stage for writing, begun or resumed; only one writer at a time, in any process.

        Args:
            stage: One of the plan's stages.
            after: Roots of the stages that it builds on; part of its own root.
            compact_at: Bytes of journal from which rows are moved into a segment.

        Raises:
            PlanError: The plan has no such stage, or it was begun after other roots.
            LockedLedgerError: Another writer is at work; names its process.
            FrozenLedgerError: The stage is frozen.
            CorruptLedgerError: A file is not what it should be; names it.
            LedgerError: The folder cannot be written.
        """
        if stage not in self.plan.stages:
            raise PlanError(f"the plan has no stage '{stage}'; {nearest(stage, self.plan.stages)}")
        if bad := [root for root in after if not _ROOT.fullmatch(root)]:
            raise PlanError(f"stage '{stage}' cannot come after {bad[0]!r}: that is no root")
        with self._locked():
            manifest = self.manifest
            entry = manifest.stage(stage) or Stage(stage, after)
            if entry.after != after:
                raise PlanError(
                    f"stage '{stage}' was begun after {', '.join(entry.after) or 'nothing'}, "
                    f"not after {', '.join(after) or 'nothing'}; use another folder"
                )
            if entry.root:
                raise FrozenLedgerError(f"stage '{stage}' is frozen with root {entry.root}")
            environment = _environment()
            if environment not in manifest.environments:
                manifest = dataclasses.replace(manifest, environments=(*manifest.environments, environment))
            with StageWriter(self._ledger, manifest, entry, compact_at) as writer:
                yield writer

    def stages(self) -> tuple[str, ...]:
        """Return the names of the stages that were begun, in order."""
        return tuple(stage.name for stage in self.manifest.stages)

    def is_frozen(self, stage: str) -> bool:
        """Return whether a stage is frozen; one that was not begun is not."""
        entry = self.manifest.stage(stage)
        return entry is not None and bool(entry.root)

    def root(self, stage: str) -> str:
        """Return the root hash of a frozen stage, as the manifest states it.

        Raises:
            LedgerError: The stage is not frozen.
        """
        root = self._stage(stage).root
        if not root:
            raise LedgerError(f"{self.folder}: stage '{stage}' is not frozen, so it has no root yet")
        return root

    def results(self, stage: str) -> Iterator[tuple[str, bytes]]:
        """Yield key and encoded result of every item that ended, by key, in bounded memory.

        Each segment's SHA-256 is checked before it is read. The order does not depend on how the run went.

        Raises:
            CorruptLedgerError: A file is not what was written; names it.
        """
        entry = self._stage(stage)
        yield from read_results(self._ledger / stage, entry.segments, self._journaled(entry))

    def rows(self, stage: str) -> Iterator[Row]:
        """Yield all rows in canonical order: by item, events by number, then done; else as `results`."""
        entry, folder = self._stage(stage), self._ledger / stage
        yield from distinct(read_segments(folder, entry.segments, self._journaled(entry)), str(folder))

    def notes(self, stage: str) -> Iterator[Note]:
        """Yield the measured times and costs of a stage, in the order of writing."""
        yield from read_notes(self._ledger / self._stage(stage).name / NOTES)

    def verify(self) -> tuple[Problem, ...]:
        """Recompute every hash and root; return what does not hold, naming the file, or nothing."""
        return verify_ledger(self.folder)

    def _create(self, plan: Plan, source: Mapping[str, str]) -> None:
        self._ledger.mkdir(parents=True, exist_ok=True)
        path, text = self.folder / PLAN, plan.to_json()
        if (self._ledger / MANIFEST).exists():
            self._same(self.manifest, plan, source)
            if path.exists() and path.read_bytes() == text.encode():
                return
        with self._locked():
            if (self._ledger / MANIFEST).exists():
                self._same(self.manifest, plan, source)
            elif path.exists() and (found := read_plan(path)).digest() != plan.digest():
                raise PlanError(f"{path}: holds {_another(found, plan)}")
            write_atomically(path, text.encode())
            if not (self._ledger / MANIFEST).exists():
                write_manifest(self._ledger, Manifest(plan.digest(), dict(source)))

    def _same(self, manifest: Manifest, plan: Plan, source: Mapping[str, str]) -> None:
        if manifest.plan != plan.digest():
            try:
                found = self.plan
            except CounterproofError:  # the plan's file is gone or edited: the hashes are all that is known
                raise PlanError(
                    f"{self.folder}: was begun with plan {manifest.plan}, not {plan.digest()}; use another folder"
                ) from None
            raise PlanError(f"{self.folder}: was begun with {_another(found, plan)}")
        if manifest.source != source:
            names = sorted(
                name for name in {*manifest.source, *source} if manifest.source.get(name) != source.get(name)
            )
            raise PlanError(
                f"{self.folder}: was begun with source {manifest.source_digest}, not {digest(dict(source))} (changed: "
                f"{', '.join(names)}); its rows would not belong together, use another folder"
            )

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            lock = WriterLock(self._ledger / LOCK)
        except OSError as error:
            raise LedgerError(f"{self._ledger}: cannot be written: {error.strerror or error}") from error
        try:
            yield
        finally:
            lock.release()

    def _stage(self, name: str) -> Stage:
        manifest = self.manifest
        stage = manifest.stage(name)
        if stage is None:
            known = [entry.name for entry in manifest.stages]
            raise LedgerError(
                f"{self.folder}: stage '{name}' was not begun; " + (nearest(name, known) if known else "none was")
            )
        return stage

    def _journaled(self, stage: Stage) -> tuple[Row, ...]:
        if stage.root:
            return ()
        return read_journal(journal_path(self._ledger / stage.name, stage.journal)).rows


def _another(found: Plan, plan: Plan) -> str:
    """Return the words that tell two plans apart: what differs, and their hashes."""
    changed = "; ".join(found.differences(plan))
    return (
        f"another plan ({changed}); use another folder, or give what the plan there says "
        f"(plan {found.digest()}, not {plan.digest()})"
    )


def _environment() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for library in _LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[library] = metadata.version(library)
    return versions
