"""What a run's rows depend on besides its plan: the source of this package and of plug-ins."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path


@cache
def package_digest() -> str:
    """Return the SHA-256 over all Python files of this package, by name and content."""
    whole = hashlib.sha256()
    for name, content in sorted(_sources(files("counterproof"), "")):
        whole.update(f"{name}\0{len(content)}\0".encode())
        whole.update(content)
    return whole.hexdigest()


def source_digest(function: Callable[..., object]) -> str:
    """Return the SHA-256 of the file that defines a function; "" where there is none to read."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    try:
        return hashlib.sha256(Path(code.co_filename).read_bytes()).hexdigest() if code is not None else ""
    except OSError:
        return ""


def _sources(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found += _sources(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".py"):
            found.append((prefix + entry.name, entry.read_bytes()))
    return found
