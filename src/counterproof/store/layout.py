"""Which files belong to a stage, which ones an interrupted step left over, and which are foreign."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from counterproof.core.errors import PlanError
from counterproof.core.plan import Plan
from counterproof.store.files import TEMPORARY
from counterproof.store.journal import HEADER_SIZE
from counterproof.store.manifest import MANIFEST, Manifest, Stage
from counterproof.store.notes import NOTES

LEDGER = "ledger"
PLAN = "plan.json"
LOCK = "lock"
_JOURNAL = re.compile(r"journal-(\d{5,})\.bin")


def read_plan(path: Path) -> Plan:
    """Return the plan in a file.

    Raises:
        PlanError: It is no plan.
        OSError: It cannot be read.
    """
    try:
        return Plan.from_json(path.read_bytes().decode())
    except (UnicodeDecodeError, PlanError) as error:
        raise PlanError(f"{path}: {error}") from None


def journal_path(folder: Path, number: int) -> Path:
    """Return the path of a stage's journal of that number."""
    return folder / f"journal-{number:05d}.bin"


def leftovers(folder: Path, stage: Stage) -> Iterator[Path]:
    """Yield files that an interrupted step left over and that hold nothing the ledger needs.

    Temporary files, the segment whose compaction did not get listed, journals whose rows are in segments by now, and
    the empty next journal.
    """
    for path in sorted(folder.iterdir()):
        match = _JOURNAL.fullmatch(path.name)
        if (
            path.suffix == TEMPORARY
            or path.name == stage.pending
            or (match and int(match[1]) < stage.journal)
            or (match and int(match[1]) == stage.journal + 1 and path.stat().st_size == HEADER_SIZE)
        ):
            yield path


def foreign(folder: Path, stage: Stage) -> Iterator[Path]:
    """Yield files that neither belong to the stage nor were left over."""
    known = {NOTES, *(segment.name for segment in stage.segments), *(path.name for path in leftovers(folder, stage))}
    if not stage.root:
        known.add(journal_path(folder, stage.journal).name)
    for path in sorted(folder.iterdir()):
        if path.name not in known:
            yield path


def foreign_to_ledger(ledger: Path, manifest: Manifest) -> Iterator[Path]:
    """Yield entries of the ledger's folder that belong to no stage; an empty stage just being begun is none."""
    stages = {stage.name for stage in manifest.stages}
    for path in sorted(ledger.iterdir()):
        if path.name in stages or path.name in {MANIFEST, LOCK} or path.suffix == TEMPORARY:
            continue
        if not path.is_dir() or any(foreign(path, Stage(path.name, journal=-1))):
            yield path
