"""Writing a pool folder: the same records give the same bytes, and a folder appears whole or not at all."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from counterproof.adapters.tagged import to_row
from counterproof.core.errors import InputError
from counterproof.core.records import Corpus, Passage, Trajectory

SCHEMA = 1
"""Version of the folder's form."""


def write_pool(
    folder: Path, trajectories: Iterable[Trajectory], corpus: Corpus, meta: Mapping[str, Any] | None = None
) -> int:
    """Write a pool folder that `open_pool` reads back to the same records, and return the number of trajectories.

    Trajectories are streamed. gzip headers carry no time and no name. Everything is written beside the folder,
    flushed to disk, and renamed into place.

    Args:
        folder: Must not exist, or be empty.
        trajectories: With content ids, as a reader gives them.
        corpus: P. Passages of which only the id is known are left out: the steps name them.
        meta: Plain JSON values that go into `pool.json` beside name, completeness and counts.

    Raises:
        InputError: The folder is in use, or cannot be written.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if folder.exists():
            if not folder.is_dir() or any(folder.iterdir()):
                raise InputError(f"{folder} exists and is not empty; choose another folder, or remove it")
            folder.rmdir()
        partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}") from None
    try:
        known = [passage for passage in corpus.passages.values() if passage.title or passage.text]
        count = _write_rows(partial / "trajectories.jsonl.gz", map(to_row, trajectories))
        if known:
            _write_rows(partial / "corpus.jsonl.gz", map(_passage_row, known))
        about = {
            "schema": SCHEMA,
            "name": folder.name,
            "complete": corpus.complete,
            "trajectories": count,
            "passages": len(known),
            **(meta or {}),
        }
        _write(partial / "pool.json", (json.dumps(about, indent=2, sort_keys=True) + "\n").encode())
        partial.chmod(0o755)
        partial.rename(folder)
        _sync(folder.parent)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return count


def _passage_row(passage: Passage) -> dict[str, object]:
    return {"id": passage.id, "title": passage.title, "text": passage.text, "aliases": list(passage.aliases)}


def _write_rows(path: Path, rows: Iterable[Mapping[str, object]]) -> int:
    count = 0
    with path.open("wb") as raw:
        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as stream:
            for row in rows:
                stream.write(json.dumps(row, separators=(",", ":")).encode() + b"\n")
                count += 1
        raw.flush()
        os.fsync(raw.fileno())
    return count


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
