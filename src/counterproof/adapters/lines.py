"""Rows out of files: JSON lines or a JSON array, plain or gzip, with every broken line named and nothing skipped."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import Any

from counterproof.core.errors import InputError, Problem, nearest

SHOWN = 20
"""How many problems an error lists; the rest are counted."""
_BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_LONGEST_HINT = 500
_CHUNK = 1 << 17


@dataclass(frozen=True, slots=True)
class Row:
    """One JSON object and where it stands, for example `rollouts.jsonl:12`."""

    where: str
    values: Mapping[str, Any]


@dataclass(slots=True)
class ProblemList:
    """Problems of one file: the first of them kept, all of them counted."""

    shown: list[Problem] = field(default_factory=list)
    total: int = 0

    def add(self, *problems: Problem) -> None:
        """Take problems in."""
        self.total += len(problems)
        self.shown.extend(problems[: SHOWN - len(self.shown)])

    def raise_if_any(self, message: str) -> None:
        """Raise `InputError` with all problems when there are some."""
        if self.total:
            raise InputError(message, self.shown, self.total)


def existing(path: Path, what: str) -> Path:
    """Return `path` when it exists.

    Raises:
        InputError: It does not; the message names the nearest entries of the first folder above that does.
    """
    try:
        if path.exists():
            return path
        parent = path.parent
        while not parent.is_dir() and parent != parent.parent:
            parent = parent.parent
        missing = path.relative_to(parent).parts[0] if path.is_relative_to(parent) else path.name
        names = sorted(entry.name for entry in parent.iterdir())
    except (OSError, ValueError) as error:
        raise InputError(f"{what} {path} cannot be looked up: {error}") from None
    hint = nearest(missing, names) if names else "the folder is empty"
    if len(hint) > _LONGEST_HINT:
        hint = nearest(missing, names[:12]) + " ..."
    raise InputError(f"{what} {path} does not exist; in {parent}: {hint}")


def read_rows(path: Path, update: Callable[[bytes], object] = lambda _: None) -> Iterator[Row | Problem]:
    """Yield every row of a file, or the problem that stands in its place; blank lines are passed over.

    A file whose name ends in `.json`, or whose first character is `[`, is one JSON value: an array of objects, or one
    object. Any other file is read line by line, so that memory holds one line. gzip is told by its first two bytes. A
    byte-order mark and CRLF are allowed. `update` is fed the decompressed bytes, for a digest.

    Raises:
        InputError: The file cannot be read, or its gzip stream is truncated or damaged; says how many rows could be
            read before.
    """
    count = 0
    try:
        with path.open("rb") as raw:
            first, lines = _first_line(byte_lines(raw))
            if path.name.removesuffix(".gz").endswith(".json") or first.lstrip().startswith(b"["):
                rows = _array(path.name, b"".join(lines), update)
            else:
                rows = _lines(path.name, lines, update)
            for row in rows:
                count += isinstance(row, Row)
                yield row
    except (EOFError, zlib.error, OSError) as error:
        raise unreadable(path, error, count) from None


def unreadable(path: Path, error: Exception, count: int) -> InputError:
    """Return what to raise when a file could not be read on after `count` rows."""
    if isinstance(error, OSError):
        return InputError(f"{path} cannot be read: {error.strerror or error}")
    return InputError(
        f"{path.name} is a truncated or damaged gzip file ({error}); {count} rows were readable before that",
        [Problem(path.name, f"{count} rows were readable", "copy the file again, or write those rows out anew")],
    )


def byte_lines(raw: BufferedReader) -> Iterator[bytes]:
    """Yield the lines of a file; of a gzip stream that breaks off, every whole line before the error is raised."""
    if raw.peek(2)[:2] != _GZIP:
        yield from raw
        return
    pending: list[bytes] = []
    for chunk in _unpacked(raw):
        *whole, rest = chunk.split(b"\n")
        for part in whole:
            pending.append(part)
            yield b"".join(pending) + b"\n"
            pending.clear()
        if rest:
            pending.append(rest)
    if pending:
        yield b"".join(pending)


def _unpacked(raw: BufferedReader) -> Iterator[bytes]:
    """Yield what a gzip file of one or more members holds; zero bytes may pad its end."""
    data = raw.read(_CHUNK)
    while data:
        member = zlib.decompressobj(wbits=31)  # 31: a gzip header and its checksum
        while not member.eof:
            if not data and not (data := raw.read(_CHUNK)):
                raise EOFError("it ends in the middle")
            yield member.decompress(data, _CHUNK)
            data = member.unconsumed_tail
        data = member.unused_data
        while not data.lstrip(b"\0") and (data := raw.read(_CHUNK)):
            pass
        data = data.lstrip(b"\0")


def _first_line(stream: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """Return the first line that is not blank without a byte-order mark, and all lines from the start."""
    held: list[bytes] = []
    first = b""
    for line in stream:
        held.append(line)
        first = line.removeprefix(_BOM) if len(held) == 1 else line
        if first.strip():
            break

    def lines() -> Iterator[bytes]:
        yield from held
        held.clear()
        yield from stream

    return first, lines()


def _lines(name: str, lines: Iterator[bytes], update: Callable[[bytes], object]) -> Iterator[Row | Problem]:
    offset = 0
    for number, raw in enumerate(lines, 1):
        update(raw)
        line = raw.removeprefix(_BOM) if number == 1 else raw
        if line.strip():
            yield _row(f"{name}:{number}", line, offset + len(raw) - len(line))
        offset += len(raw)


def _array(name: str, content: bytes, update: Callable[[bytes], object]) -> Iterator[Row | Problem]:
    update(content)
    body = content.removeprefix(_BOM)
    if not body.strip():
        return
    value = _json(name, body, len(content) - len(body))
    if isinstance(value, Problem):
        yield value
    elif isinstance(value, list):
        for number, entry in enumerate(value, 1):
            yield _object(f"{name}, entry {number}", entry)
    else:
        yield _object(name, value)


def _row(where: str, line: bytes, offset: int) -> Row | Problem:
    value = _json(where, line, offset)
    return value if isinstance(value, Problem) else _object(where, value)


def _object(where: str, value: object) -> Row | Problem:
    if isinstance(value, dict):
        return Row(where, value)
    return Problem(where, f"is {kind_of(value)}", "each row must be a JSON object")


def _json(where: str, content: bytes, offset: int) -> Any:
    """Return the JSON value, or the problem; `offset` is where `content` starts in the file."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        at = offset + error.start
        return Problem(where, f"is not UTF-8 at byte {at} of the file ({error.reason})", "save the file as UTF-8")
    try:
        value = json.loads(text, parse_constant=_no_constant)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return Problem(where, "holds half of a surrogate pair (\\ud800 to \\udfff)", "write the whole character")
    except RecursionError:
        return Problem(where, "is nested too deeply", "write flat rows")
    except ValueError as error:
        return Problem(where, f"is not JSON: {error}", "write one JSON object a line")
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number; leave the field out or give null")


def kind_of(value: object) -> str:
    """Return what a JSON value is, in the words of JSON.

    >>> kind_of([1]), kind_of(True), kind_of(None)
    ('an array', 'true or false', 'null')
    """
    names: tuple[tuple[type, str], ...] = (
        (bool, "true or false"),
        (int, "a number"),
        (float, "a number"),
        (str, "text"),
        (list, "an array"),
        (dict, "an object"),
    )
    return next((name for cls, name in names if isinstance(value, cls)), "null")
