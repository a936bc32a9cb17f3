"""Parquet segments, written and read through duckdb, which is imported here and only when it is needed."""

from __future__ import annotations

import contextlib
import itertools
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterproof.core.errors import CorruptLedgerError, LedgerError
from counterproof.store.files import TEMPORARY, sha256_file, sync_file
from counterproof.store.manifest import Segment
from counterproof.store.rows import DONE, Row

if TYPE_CHECKING:
    import duckdb

_MEMORY = "512MB"  # what sorting may hold before it goes to disk; smaller makes duckdb give up on wide rows
_FETCH = 1024
_GROUP = 2048  # rows a row group, so that a range of keys needs few of them
_SLICE = 8 << 20  # bytes of rows sorted at a time
_SLICES = 16  # more would read every file too often; so a slice of a very large stage is larger
_COLUMNS = "item, seq, kind, request, payload"


def write_segment(folder: Path, number: int, rows: Sequence[Row]) -> tuple[Path, Segment]:
    """Write rows to a temporary file, forced onto the disk; return it and the segment that it becomes when renamed.

    Raises:
        LedgerError: The disk refused; nothing but a temporary file may be left.
    """
    import duckdb

    temporary = folder / f".segment-{number:05d}.{os.getpid()}{TEMPORARY}"
    try:
        with _connection() as connection:
            connection.register("batch", _arrays(rows))
            connection.execute(
                f"COPY (SELECT item::VARCHAR AS item, seq, kind::VARCHAR AS kind, request::VARCHAR AS request, "
                f"payload::BLOB AS payload FROM batch) TO {_literal(temporary)} "
                f"(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {_GROUP})"
            )
        sync_file(temporary)
        sha256 = sha256_file(temporary)
    except (duckdb.Error, OSError) as error:
        temporary.unlink(missing_ok=True)
        raise LedgerError(f"{folder}: a segment of {len(rows)} rows could not be written: {error}") from error
    return temporary, Segment(f"segment-{number:05d}-{sha256}.parquet", len(rows), sha256)


def check_segment(folder: Path, segment: Segment) -> None:
    """Compare a segment with its SHA-256.

    Raises:
        CorruptLedgerError: It is missing, or its content is not what its name and the manifest state.
    """
    path = folder / segment.name
    try:
        found = sha256_file(path)
    except FileNotFoundError:
        raise CorruptLedgerError(f"{path}: the segment is missing, although the manifest names it") from None
    except OSError as error:
        raise LedgerError(f"{path}: cannot be read: {error.strerror}") from error
    if found != segment.sha256:
        raise CorruptLedgerError(
            f"{path}: the content has SHA-256 {found}, not {segment.sha256}; restore the file from a copy"
        )


def read_segments(folder: Path, segments: Sequence[Segment], more: Sequence[Row] = ()) -> Iterator[Row]:
    """Yield the rows of segments and of `more` in canonical order, in bounded memory; each file is checked first.

    Raises:
        CorruptLedgerError: As for `check_segment`.
        LedgerError: Sorting ran out of disk.
    """
    yield from (Row(*row) for row in _select(folder, segments, more, _COLUMNS, "true"))


def read_results(folder: Path, segments: Sequence[Segment], more: Sequence[Row] = ()) -> Iterator[tuple[str, bytes]]:
    """Yield key and payload of the done rows, by key; else as `read_segments`."""
    yield from _select(folder, segments, more, "item, payload", f"kind = '{DONE}'")


def read_finished(folder: Path, segments: Sequence[Segment]) -> Iterator[str]:
    """Yield the keys of items with a done row; each file is checked first."""
    yield from (row[0] for row in _select(folder, segments, (), "item", f"kind = '{DONE}'", ordered=False))


def read_unfinished(folder: Path, segments: Sequence[Segment]) -> Iterator[Row]:
    """Yield the rows of items that have none as done in these segments; the files were checked before."""
    unfinished = f"item NOT IN (SELECT item FROM source WHERE kind = '{DONE}')"
    rows = _select(folder, segments, (), _COLUMNS, unfinished, ordered=False, checked=True)
    yield from (Row(*row) for row in rows)


def _select(
    folder: Path,
    segments: Sequence[Segment],
    more: Sequence[Row],
    columns: str,
    where: str,
    ordered: bool = True,
    checked: bool = False,
) -> Iterator[Any]:
    """Yield rows; ordered ones slice by slice of the range of keys, so that no more than a slice is ever sorted."""
    import duckdb

    if not checked:
        for segment in segments:
            check_segment(folder, segment)
    sources, files = [], ""
    if segments:
        files = ", ".join(_literal(_unglobbed(folder / segment.name)) for segment in segments)
        sources.append(f"SELECT {_COLUMNS} FROM read_parquet([{files}])")
    if more or not segments:
        sources.append(
            "SELECT item::VARCHAR AS item, seq, kind::VARCHAR AS kind, request::VARCHAR AS request, "
            "payload::BLOB AS payload FROM more"
        )
    try:
        with _connection() as connection:
            connection.register("more", _arrays(more))
            source = f"WITH source AS NOT MATERIALIZED ({' UNION ALL '.join(sources)})"
            query = f"{source} SELECT {columns} FROM source WHERE {where}"
            cuts = ["", *(_cuts(connection, files) if ordered and segments else ()), None]
            for low, high in itertools.pairwise(cuts):
                cursor = connection.execute(*_sliced(query, low, high) if ordered else (query,))
                while rows := cursor.fetchmany(_FETCH):
                    yield from rows
    except duckdb.Error as error:
        raise LedgerError(f"{folder}: the segments cannot be read: {error}") from error


def _cuts(connection: duckdb.DuckDBPyConnection, files: str) -> list[str]:
    """Return keys, rising, between which lie about as many bytes of rows as a slice takes.

    Each segment is sorted, so every 64th key is an even sample. The cuts are a matter of memory alone: whatever they
    are, the slices together hold every row once.
    """
    size = connection.execute(f"SELECT sum(total_uncompressed_size) FROM parquet_metadata([{files}])").fetchall()
    slices = min(_SLICES, size[0][0] // _SLICE)
    if slices < 2:
        return []
    sample = f"SELECT item FROM read_parquet([{files}], file_row_number=true) WHERE file_row_number % 64 = 0"
    keys = sorted(key for (key,) in connection.execute(sample).fetchall())
    return sorted({keys[len(keys) * place // slices] for place in range(1, slices)})


def _sliced(query: str, low: str | None, high: str | None) -> tuple[str, list[str]]:
    bounds = [(f"item {sign} ?", key) for sign, key in ((">=", low), ("<", high)) if key]
    where = "".join(f" AND {bound}" for bound, _ in bounds)
    return f"{query}{where} ORDER BY item, kind DESC, seq", [key for _, key in bounds]


@contextlib.contextmanager
def _connection() -> Iterator[duckdb.DuckDBPyConnection]:
    import duckdb

    with tempfile.TemporaryDirectory(prefix="counterproof-sort-") as spill:
        settings: dict[str, Any] = {
            "threads": 1,
            "memory_limit": _MEMORY,
            "temp_directory": spill,
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,
        }
        with contextlib.closing(duckdb.connect(":memory:", config=settings)) as connection:
            yield connection


def _arrays(rows: Sequence[Row]) -> dict[str, Any]:
    """Return rows as one array a column: duckdb reads these far faster than it takes single rows."""
    import numpy as np

    arrays: dict[str, Any] = {"seq": np.fromiter((row.seq for row in rows), np.int64, len(rows))}
    for name in ("item", "kind", "request", "payload"):
        column = np.empty(len(rows), object)
        column[:] = [getattr(row, name) for row in rows]
        arrays[name] = column
    return arrays


def _literal(path: Path | str) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def _unglobbed(path: Path) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in str(path))
