"""Rows out of tables: CSV, JSON lines and Parquet, the first two plain or gzip, all as the same rows."""

from __future__ import annotations

import csv
import zlib
from collections.abc import Callable, Iterator, Sequence
from io import BufferedReader
from itertools import chain
from pathlib import Path
from typing import Any

from counterproof.adapters.lines import Row, byte_lines, read_rows, unreadable
from counterproof.core.errors import InputError, Problem

_BOM = b"\xef\xbb\xbf"
_DELIMITERS = ",\t;"
_PARQUET = b"PAR1"
_BATCH = 4096


def read_table(path: Path, update: Callable[[bytes], object] = lambda _: None) -> Iterator[Row | Problem]:
    """Yield every row of a table, or the problem that stands in its place.

    Parquet is told by its first four bytes. Otherwise a file named `.csv` or `.tsv` is CSV, one named `.json`,
    `.jsonl` or `.ndjson` is JSON, and of any other name the first character decides. A CSV file is UTF-8 with a header
    line, separated by comma, tab or semicolon, whichever its header has most of. `update` is fed the decompressed
    bytes, for a digest.

    Raises:
        InputError: The file cannot be read, is a damaged gzip or Parquet file, or its header repeats a name.
    """
    try:
        with path.open("rb") as raw:
            if raw.peek(4)[:4] == _PARQUET:
                rows = _parquet_rows(path, update)
            elif _is_json(path.name, raw):
                rows = read_rows(path, update)
            else:
                rows = _csv_rows(path, update)
    except (EOFError, zlib.error, OSError) as error:
        raise unreadable(path, error, 0) from None
    return rows


def _is_json(name: str, raw: BufferedReader) -> bool:
    suffix = name.removesuffix(".gz").rpartition(".")[2].lower()
    if suffix in ("json", "jsonl", "ndjson"):
        return True
    if suffix in ("csv", "tsv"):
        return False
    first = next((line.removeprefix(_BOM).lstrip() for line in byte_lines(raw) if line.strip()), b"")
    return first[:1] in (b"{", b"[")


def _csv_rows(path: Path, update: Callable[[bytes], object]) -> Iterator[Row | Problem]:
    count, bad = 0, list[int]()
    try:
        with path.open("rb") as raw:
            lines = _decoded(byte_lines(raw), update, bad)
            first = list(_until_filled(lines))
            delimiter = max(_DELIMITERS, key="".join(first).count)
            reader = csv.reader(chain(first, lines), delimiter=delimiter, strict=True)
            header = next(filter(None, reader), [])
            yield from _header_problems(path.name, header, bad)
            start = reader.line_num
            while (cells := next(reader, None)) is not None:
                where, start = f"{path.name}:{start + 1}", reader.line_num
                row = _csv_row(where, header, cells, bad)
                if row is not None:
                    count += isinstance(row, Row)
                    yield row
    except csv.Error as error:
        yield Problem(f"{path.name}, after {count} rows", f"is not CSV: {error}", "quote fields that hold quotes")
    except (EOFError, zlib.error, OSError) as error:
        raise unreadable(path, error, count) from None


def _until_filled(lines: Iterator[str]) -> Iterator[str]:
    """Yield lines up to and with the first that is not blank; blank ones lose their spaces."""
    for line in lines:
        yield line if line.strip() else "\n"
        if line.strip():
            return


def _decoded(lines: Iterator[bytes], update: Callable[[bytes], object], bad: list[int]) -> Iterator[str]:
    """Yield lines as text; of one that is not UTF-8, its number goes into `bad`."""
    for number, raw in enumerate(lines, 1):
        update(raw)
        line = raw.removeprefix(_BOM) if number == 1 else raw
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError:
            bad.append(number)
            yield line.decode("utf-8", "replace")


def _header_problems(name: str, header: Sequence[str], bad: list[int]) -> Iterator[Problem]:
    if bad:
        bad.clear()
        yield Problem(f"{name}, header", "is not UTF-8", "save the file as UTF-8")
    repeated = sorted({column for column in header if header.count(column) > 1})
    if repeated:
        raise InputError(f"the header of {name} repeats {', '.join(map(repr, repeated))}; give columns unique names")


def _csv_row(where: str, header: Sequence[str], cells: Sequence[str], bad: list[int]) -> Row | Problem | None:
    if bad:
        bad.clear()
        return Problem(where, "is not UTF-8", "save the file as UTF-8")
    if not "".join(cells).strip() and len(cells) <= 1 < len(header):
        return None
    if len(cells) != len(header):
        return Problem(where, f"has {len(cells)} fields, the header {len(header)}", "give every row the same fields")
    return Row(where, dict(zip(header, cells, strict=True)))


def _parquet_rows(path: Path, update: Callable[[bytes], object]) -> Iterator[Row | Problem]:
    import duckdb

    settings: dict[str, Any] = {"threads": 1, "autoinstall_known_extensions": False}
    pattern = "".join(f"[{char}]" if char in "*?[" else char for char in str(path))
    try:
        with path.open("rb") as raw:
            while chunk := raw.read(1 << 20):
                update(chunk)
        with duckdb.connect(":memory:", config=settings) as connection:
            result = connection.execute("SELECT * FROM read_parquet(?)", [pattern])
            header = [column[0] for column in result.description or ()]
            number = 0
            while batch := result.fetchmany(_BATCH):
                for values in batch:
                    number += 1
                    yield Row(f"{path.name}, row {number}", dict(zip(header, values, strict=True)))
    except OSError as error:
        raise unreadable(path, error, 0) from None
    except (duckdb.Error, UnicodeDecodeError, OverflowError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path.name} cannot be read as Parquet: {reason}") from None
