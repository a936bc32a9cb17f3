"""Fields out of numpy's npz."""

from __future__ import annotations

import math
import struct
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from counterproof.adapters.spacetime.field import RawField
from counterproof.adapters.spacetime.naming import Names, find_roles
from counterproof.core.errors import InputError, Problem

_DAMAGED = (
    *(ValueError, EOFError, KeyError, TypeError, SyntaxError, MemoryError, OverflowError, NotImplementedError),
    *(RuntimeError, tokenize.TokenError, zipfile.BadZipFile, zlib.error, struct.error, OSError),
)
"""What numpy, zipfile and zlib raise on files that are damaged or encrypted."""
_ENDING = ".npy"


def read_npz(path: Path, names: Names | None) -> RawField:
    """Return what an npz file holds. Python objects in it are refused, never unpickled.

    Raises:
        InputError: The file is damaged, or holds one array only.
    """
    try:
        with path.open("rb") as raw:
            if raw.read(6) == b"\x93NUMPY":
                raise InputError(f"{path.name} holds one array; save times, points and values with numpy.savez")
            with zipfile.ZipFile(raw) as archive:
                shapes, objects = _shapes(archive)
                roles = find_roles(path.name, shapes, names)
                axes = {role: _read(archive, name) for role, name in roles.axes.items()}
                channels = {name: _read(archive, name) for name in roles.channels}
    except _DAMAGED as error:
        raise InputError(f"{path.name} cannot be read as npz: {str(error) or type(error).__name__}") from None
    refused = [Problem(f"{path.name}, {name}", "holds Python objects", "save numbers") for name in objects]
    return RawField(path.stem, path.name, axes, channels, notes=roles.notes, problems=(*roles.problems, *refused))


def _read(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with archive.open(name + _ENDING) as stream:
        found: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
        return found


def _shapes(archive: zipfile.ZipFile) -> tuple[dict[str, tuple[int, ...]], list[str]]:
    """Return shapes from the headers alone, and the names of arrays of Python objects, which are not read.

    Raises:
        ValueError: A header promises more bytes than its member holds; numpy would reserve them all.
    """
    shapes: dict[str, tuple[int, ...]] = {}
    objects = []
    for member in archive.infolist():
        if not member.filename.endswith(_ENDING):
            continue
        name = member.filename.removesuffix(_ENDING)
        with archive.open(member) as stream:
            shape, dtype = _header(stream)
        promised = dtype.itemsize * math.prod(shape)
        if dtype.hasobject:
            objects.append(name)
        elif min(shape, default=0) < 0 or promised > member.file_size:
            raise ValueError(f"array {name!r} is cut off: its header promises {promised} bytes")
        else:
            shapes[name] = shape
    return shapes, objects


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    old = np.lib.format.read_magic(stream) == (1, 0)
    read = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    return shape, dtype
