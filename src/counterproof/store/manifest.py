"""The manifest: what a ledger consists of, replaced as a whole and sealed with a digest of its own."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from counterproof.core.errors import CorruptLedgerError, LedgerError
from counterproof.core.hashing import digest
from counterproof.store.files import write_atomically

SCHEMA = 1
MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Segment:
    """A Parquet file of a stage: its name (which holds the SHA-256), its rows and its SHA-256."""

    name: str
    rows: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage.

    Attributes:
        name: As in the plan.
        after: Roots of the stages that it builds on.
        segments: Its segments, in order.
        journal: Number of the journal that is open, or of the next one once the stage is frozen.
        pending: The segment that a compaction was about to put in place; it counts for nothing until it is listed.
        root: The root hash once frozen, else "".
    """

    name: str
    after: tuple[str, ...] = ()
    segments: tuple[Segment, ...] = ()
    journal: int = 0
    pending: str = ""
    root: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """A ledger's table of contents.

    Attributes:
        plan: Hash of the plan.
        source: Name and SHA-256 of the sources that rows come from.
        environments: Versions of Python and libraries, one mapping for each environment that wrote.
        stages: The stages that were begun, in order.
    """

    plan: str
    source: Mapping[str, str]
    environments: tuple[Mapping[str, str], ...] = ()
    stages: tuple[Stage, ...] = ()

    def stage(self, name: str) -> Stage | None:
        """Return the stage of that name, or None when it was not begun."""
        return next((stage for stage in self.stages if stage.name == name), None)

    def with_stage(self, stage: Stage) -> Manifest:
        """Return a manifest in which `stage` replaces the one of its name, or comes last."""
        if self.stage(stage.name) is None:
            return dataclasses.replace(self, stages=(*self.stages, stage))
        stages = tuple(stage if entry.name == stage.name else entry for entry in self.stages)
        return dataclasses.replace(self, stages=stages)

    @property
    def source_digest(self) -> str:
        """One hash for all sources."""
        return digest(dict(self.source))


def read_manifest(ledger: Path) -> Manifest:
    """Return the manifest in the folder `ledger`.

    Raises:
        LedgerError: There is none, or it cannot be read.
        CorruptLedgerError: It is not what was written: its own digest differs, or its form.
    """
    path = ledger / MANIFEST
    try:
        data = json.loads(path.read_bytes())
        sealed = data.pop("sha256")
        if data["schema"] != SCHEMA:
            raise LedgerError(f"{path}: schema {data['schema']!r}; this version reads schema {SCHEMA}")
        if digest(data) != sealed:
            raise CorruptLedgerError(f"{path}: was edited or damaged: its content does not have the digest it states")
        return Manifest(data["plan"], data["source"], tuple(data["environments"]), tuple(map(_stage, data["stages"])))
    except FileNotFoundError:
        raise LedgerError(f"{path}: there is no ledger here") from None
    except OSError as error:
        raise LedgerError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorruptLedgerError(f"{path}: is no manifest: {type(error).__name__}: {error}") from None


def write_manifest(ledger: Path, manifest: Manifest) -> None:
    """Replace the manifest, durably.

    Raises:
        OSError: The file system refused; the old one stands.
    """
    data: dict[str, Any] = {"schema": SCHEMA, **dataclasses.asdict(manifest)}
    data = {**data, "sha256": digest(data)}
    write_atomically(ledger / MANIFEST, (json.dumps(data, indent=1, sort_keys=True) + "\n").encode())


def _stage(data: Mapping[str, Any]) -> Stage:
    fields = {**data, "after": tuple(data["after"]), "segments": tuple(Segment(**entry) for entry in data["segments"])}
    return Stage(**fields)
