"""Files that are either whole or absent, whatever happens while they are written."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

TEMPORARY = ".tmp"
"""Suffix of a file that is not whole yet; such a file may be removed when nobody writes."""


def write_atomically(path: Path, data: bytes) -> None:
    """Write `data` so that `path` holds either its old content or all of the new one, and survives a power cut.

    Temporary file beside it, fsync, rename, fsync of the folder.

    Raises:
        OSError: The file system refused; `path` is as it was.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}{TEMPORARY}")
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    fsync_folder(path.parent)


def sync_file(path: Path) -> None:
    """Force what was written to `path` onto the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def fsync_folder(folder: Path) -> None:
    """Force the names in `folder` onto the disk: a new or renamed file is only then sure to be found again."""
    sync_file(folder)


def sha256_file(path: Path) -> str:
    """Return the SHA-256 of a file's content in hexadecimal; memory does not grow with the file.

    Raises:
        OSError: The file cannot be read.
    """
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
