"""Segments: rows in canonical order, slice by slice of the range of keys."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from counterproof.store import segments
from counterproof.store.manifest import Segment
from counterproof.store.rows import DONE, EVENT, Row, rank


def rows_of(keys: range) -> list[Row]:
    rows = [Row(f"k{key:05d}ä", seq, EVENT, "r", b"%d" % key) for key in keys for seq in (0, 1)]
    return sorted([*rows, *(Row(f"k{key:05d}ä", 2, DONE, "", b"") for key in keys)], key=rank)


def written(folder: Path, number: int, rows: list[Row]) -> Segment:
    temporary, segment = segments.write_segment(folder, number, rows)
    os.replace(temporary, folder / segment.name)
    return segment


@pytest.mark.parametrize("slice_bytes", [1, 20_000, 1 << 30])
def test_rows_come_once_and_in_order_whatever_a_slice_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slice_bytes: int
) -> None:
    monkeypatch.setattr(segments, "_SLICE", slice_bytes)
    parts = [rows_of(range(start, 3000, 3)) for start in range(3)]
    found = [written(tmp_path, number, part) for number, part in enumerate(parts[:2])]
    whole = sorted([row for part in parts for row in part], key=rank)
    assert list(segments.read_segments(tmp_path, found, parts[2])) == whole
    assert list(segments.read_results(tmp_path, found, parts[2])) == [
        (row.item, row.payload) for row in whole if row.kind == DONE
    ]


def test_one_key_in_every_row_is_one_slice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "_SLICE", 1)
    rows = [Row("same", seq, EVENT, "r", b"x") for seq in range(5000)]
    assert list(segments.read_segments(tmp_path, [written(tmp_path, 0, rows)])) == rows
