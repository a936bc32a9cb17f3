"""Checks a ledger against itself: every file, every hash, every root."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from counterproof.core.errors import CounterproofError, Problem
from counterproof.store.journal import read_journal
from counterproof.store.layout import LEDGER, PLAN, foreign, foreign_to_ledger, journal_path, read_plan
from counterproof.store.manifest import MANIFEST, Manifest, Stage, read_manifest
from counterproof.store.notes import NOTES, read_notes
from counterproof.store.rows import distinct
from counterproof.store.segments import check_segment, read_segments
from counterproof.store.writer import root_of


def verify_ledger(folder: Path) -> tuple[Problem, ...]:
    """Return what does not hold about the ledger of a run, naming the file; nothing when it is sound.

    What an interrupted compaction left over is no problem: a resume removes it.
    """
    ledger = folder / LEDGER
    found: list[Problem] = []
    try:
        manifest = read_manifest(ledger)
    except CounterproofError as error:
        return (Problem(str(ledger / MANIFEST), str(error)),)
    _attempt(found, folder / PLAN, lambda: _check_plan(folder, manifest, found))
    for path in foreign_to_ledger(ledger, manifest):
        found.append(_stranger(path))
    for stage in manifest.stages:
        _verify_stage(ledger, manifest, stage, found)
    return tuple(found)


def _verify_stage(ledger: Path, manifest: Manifest, stage: Stage, found: list[Problem]) -> None:
    folder = ledger / stage.name
    if not folder.is_dir():
        found.append(Problem(str(folder), "the stage's folder is missing, although the manifest names it"))
        return
    found.extend(map(_stranger, foreign(folder, stage)))
    before = len(found)
    for segment in stage.segments:
        _attempt(found, folder / segment.name, partial(check_segment, folder, segment))
    if not stage.root:
        journal = journal_path(folder, stage.journal)
        _attempt(found, journal, lambda: read_journal(journal))
    _attempt(found, folder / NOTES, lambda: sum(1 for _ in read_notes(folder / NOTES)))
    if len(found) == before:
        _attempt(found, folder, lambda: _check_rows(folder, manifest, stage, found))


def _check_plan(folder: Path, manifest: Manifest, found: list[Problem]) -> None:
    digest = read_plan(folder / PLAN).digest()
    if digest != manifest.plan:
        found.append(Problem(str(folder / PLAN), f"has the hash {digest}, but the ledger belongs to {manifest.plan}"))


def _check_rows(folder: Path, manifest: Manifest, stage: Stage, found: list[Problem]) -> None:
    """Read all rows, which finds keys with two rows, and recompute the root of a frozen stage."""
    journaled = () if stage.root else read_journal(journal_path(folder, stage.journal)).rows
    root = root_of(manifest, stage, distinct(read_segments(folder, stage.segments, journaled), str(folder)))
    if stage.root and root != stage.root:
        found.append(Problem(str(folder), f"the rows have the root {root}, but the manifest states {stage.root}"))


def _stranger(path: Path) -> Problem:
    return Problem(str(path), "does not belong to this ledger", "move it away")


def _attempt(found: list[Problem], path: Path, check: Callable[[], object]) -> None:
    try:
        check()
    except CounterproofError as error:
        found.append(Problem(str(path), str(error).removeprefix(f"{path}: ")))
    except OSError as error:
        found.append(Problem(str(path), f"cannot be read: {error}"))
