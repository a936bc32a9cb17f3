"""Verdict files of every format become the same table, and what they lack is said."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from counterproof.adapters import ColumnMap, VerdictFile, read_verdicts
from counterproof.core.errors import InputError
from counterproof.panel.table import NOT_QUERIED, FailureKind

ROWS: list[dict[str, Any]] = [
    {"item": "i1", "judge": "a", "verdict": "yes", "gold": "yes"},
    {"item": "i1", "judge": "b", "verdict": "no", "gold": "yes"},
    {"item": "i2", "judge": "a", "verdict": "", "gold": "no"},
    {"item": "i2", "judge": "b", "verdict": "no", "gold": ""},
    {"item": "i3", "judge": "b", "verdict": "yes", "gold": ""},
]
# no = 0, yes = 1, failure = 2; i3 was never shown to a.
SYMBOLS = [[1, 0], [2, 0], [NOT_QUERIED, 1]]


def csv_text(rows: list[dict[str, Any]], separator: str = ",") -> str:
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    return "".join(separator.join(map(str, line)) + "\n" for line in lines)


def read_text(tmp_path: Path, text: str, *args: Any, name: str = "v.csv", **options: Any) -> VerdictFile:
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return read_verdicts(path, *args, **options)


def read_rows(tmp_path: Path, rows: list[dict[str, Any]], *args: Any, **options: Any) -> VerdictFile:
    return read_text(tmp_path, "\n".join(map(json.dumps, rows)), *args, name="v.jsonl", **options)


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    source = path.with_suffix(".json")
    source.write_text(json.dumps(rows))
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT * FROM read_json('{source}')) TO '{path}' (FORMAT parquet)")
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("v.csv", csv_text(ROWS)),
        ("v.csv.gz", csv_text(ROWS)),
        ("v.tsv", csv_text(ROWS, "\t")),
        ("v.csv", "\ufeff\r\n" + csv_text(ROWS, ";").replace("\n", "\r\n\r\n")),
        ("verdicts", csv_text(ROWS)),
        ("v.jsonl", "\n".join(map(json.dumps, ROWS))),
        ("v.jsonl.gz", "\n".join(map(json.dumps, ROWS))),
        ("v.json", json.dumps(ROWS)),
        ("verdicts", json.dumps(ROWS)),
    ],
)
def test_text_formats_read_alike(tmp_path: Path, name: str, text: str) -> None:
    read = read_text(tmp_path, text, name=name)
    assert read.table.symbols.tolist() == SYMBOLS
    assert read.table.items == read.table.clusters == ("i1", "i2", "i3")
    assert [channel.name for channel in read.table.channels] == ["a", "b"]
    assert read.table.classes == ("no", "yes")
    assert read.table.kinds[1, 0] == FailureKind.UNSTATED
    assert read.gold is not None
    assert read.gold.labels.tolist() == [1, 0, -1]


def test_parquet_reads_as_text_does(tmp_path: Path) -> None:
    read = read_verdicts(write_parquet(tmp_path / "a [1]*.parquet", ROWS))
    assert read.table.symbols.tolist() == SYMBOLS
    assert read.digests[0].role == "verdicts"


def test_numbers_booleans_and_times_of_parquet_are_understood(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"item": 1, "judge": 7, "verdict": True, "time": "2026-01-02 00:00:00"},
        {"item": 2, "judge": 7, "verdict": None, "time": "2026-01-01 00:00:00"},
    ]
    table = read_verdicts(write_parquet(tmp_path / "v.parquet", rows)).table
    assert table.items == ("1", "2")
    assert table.classes == ("false", "true")
    assert table.symbols.tolist() == [[1], [2]]
    assert table.order is not None
    assert table.order.tolist() == [1, 0]


def test_wide_format_is_the_long_one(tmp_path: Path) -> None:
    text = "item,gold,a,b\ni1,yes,yes,no\ni2,no,error,no\ni3,,not queried,yes\n"
    read = read_text(tmp_path, text, {"channels": ["a", "b"]})
    assert read.table.symbols.tolist() == SYMBOLS
    assert read.notes[0] == "columns: item = item, gold = gold, channels = a + b"


def test_an_empty_cell_can_be_declared_a_call_never_made(tmp_path: Path) -> None:
    text = "item,a,b\ni1,1,\ni2,,0\n"
    wide = ColumnMap(item="item", channels=("a", "b"))
    assert read_text(tmp_path, text, wide).table.symbols.tolist() == [[1, 2], [2, 0]]
    assert read_text(tmp_path, text, wide, failures={"": None}).table.symbols.tolist() == [[1, -1], [-1, 0]]


@pytest.mark.parametrize("values", [("1", "0"), ("true", "False"), ("1.0", "0.0"), (True, False), (1.0, 0)])
def test_truth_values_name_the_classes_of_a_pair(tmp_path: Path, values: tuple[object, object]) -> None:
    rows: list[dict[str, Any]] = [{"item": i, "judge": "a", "verdict": value} for i, value in enumerate(values)]
    assert read_rows(tmp_path, rows, classes=["bad", "good"]).table.symbols.tolist() == [[1], [0]]
    assert read_rows(tmp_path, rows).table.symbols.tolist() == [[1], [0]]


def test_positive_is_class_one(tmp_path: Path) -> None:
    table = read_rows(tmp_path, ROWS, positive="no").table
    assert table.classes == ("yes", "no")
    assert table.symbols.tolist() == [[0, 1], [2, 1], [-1, 0]]


def test_a_declared_threshold_makes_verdicts_of_scores(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"item": "i1", "judge": "a", "score": 0.5, "gold": "right"},
        {"item": "i1", "judge": "b", "score": 6, "gold": "right"},
        {"item": "i2", "judge": "a", "score": 0.499, "gold": "wrong"},
        {"item": "i2", "judge": "b", "score": None, "gold": "wrong"},
    ]
    one = read_rows(tmp_path, rows, threshold=0.5)
    each = read_rows(tmp_path, rows, threshold={"a": 0.4, "b": 7})
    assert one.table.classes == ("wrong", "right")
    assert one.table.symbols.tolist() == [[1, 1], [0, 2]]
    assert each.table.symbols.tolist() == [[1, 0], [1, 2]]


def test_failures_go_by_their_column_before_the_verdict(tmp_path: Path) -> None:
    kinds = {"timeout": 1, "parse_error": 2, "COMMON CAUSE": 4, "true": 5, "": -1, "no": -1}
    rows = [{"item": i, "judge": "a", "verdict": i % 2, "error": word} for i, word in enumerate(kinds)]
    read = read_rows(tmp_path, rows)
    assert read.table.kinds[:, 0].tolist() == list(kinds.values())
    assert read.table.symbols[:, 0].tolist() == [2, 2, 2, 2, 0, 1]
    assert "4 calls have a verdict and a failure; they count as failed" in read.notes


def test_failure_words_can_be_declared(tmp_path: Path) -> None:
    rows = [{"item": i, "judge": "a", "verdict": v} for i, v in enumerate(["yes", "no", "Refused", "error"])]
    declared = {"refused": FailureKind.MALFORMED, "error": FailureKind.UNAVAILABLE}
    assert read_rows(tmp_path, rows, failures=declared).table.kinds[:, 0].tolist() == [-1, -1, 2, 0]


def test_a_declared_class_goes_before_a_failure_of_its_name(tmp_path: Path) -> None:
    rows = [{"item": i, "judge": "a", "verdict": v} for i, v in enumerate(["none", "some"])]
    assert read_rows(tmp_path, rows, classes=["none", "some"]).table.symbols[:, 0].tolist() == [0, 1]


def test_repeated_calls_are_channels(tmp_path: Path) -> None:
    rows = [{"item": i, "judge": "a", "verdict": i % 2, "repeat": n} for i in range(2) for n in (1, 2, 10)]
    table = read_rows(tmp_path, rows).table
    assert [channel.name for channel in table.channels] == ["a#1", "a#2", "a#10"]


def test_costs_seconds_clusters_and_times_come_along(tmp_path: Path) -> None:
    rows = [
        {"item": "i1", "judge": "a", "verdict": 1, "cost": 2, "seconds": 0.5, "cluster": "q", "time": 30},
        {"item": "i1", "judge": "b", "verdict": 1, "cost": 1, "seconds": None, "cluster": "q", "time": 20},
        {"item": "i2", "judge": "a", "verdict": 0, "cost": 4, "seconds": 1.5, "cluster": "q", "time": 25},
        {"item": "i3", "judge": "b", "verdict": 0, "cost": 1, "seconds": 2.0, "cluster": "r", "time": 20},
    ]
    read = read_rows(tmp_path, rows)
    assert read.table.costs.tolist() == [3, 1]  # a: the mean of 2 and 4
    assert any("varies within a" in note for note in read.notes)
    assert read.table.clusters == ("q", "q", "r")
    assert read.table.seconds is not None
    np.testing.assert_array_equal(read.table.seconds, [[0.5, np.nan], [1.5, np.nan], [np.nan, 2.0]])
    assert read.table.order is not None
    assert read.table.order.tolist() == [0, 1, 0]  # an item's time is its first: 20, 25, 20
    assert [lack.field for lack in read.lacks] == ["gold"]


def test_what_a_file_lacks_is_listed(tmp_path: Path) -> None:
    rows = [{"item": i, "judge": "a", "verdict": i} for i in range(2)]
    assert [lack.field for lack in read_rows(tmp_path, rows).lacks] == ["gold", "cluster", "cost", "time", "seconds"]


def test_many_classes_sort_as_numbers_do(tmp_path: Path) -> None:
    rows = [{"item": i, "judge": "a", "verdict": i} for i in range(-1, 11)]
    assert read_rows(tmp_path, rows).table.classes == tuple(map(str, range(-1, 11)))


def test_columns_of_several_parts_are_joined(tmp_path: Path) -> None:
    text = "set,n,judge,prompt,label\ns,1,a,p,1\ns,2,a,p,0\n"
    columns = {"item": ("set", "n"), "channel": ("judge", "prompt")}
    table = read_text(tmp_path, text, columns).table
    assert table.items == ("s/1", "s/2")
    assert table.channels[0].name == "a/p"


def test_one_class_of_gold_is_no_problem_when_classes_are_declared(tmp_path: Path) -> None:
    read = read_rows(tmp_path, ROWS[:2], classes=["no", "yes"])
    assert "every gold label is 'yes'" in read.notes


def test_quoted_fields_keep_line_numbers_right(tmp_path: Path) -> None:
    text = 'item,judge,verdict\n"i\n1",a,1\ni2,a,0\ni2,a,1\n'
    with pytest.raises(InputError, match=r"v\.csv:5: is a second call .* after v\.csv:4"):
        read_text(tmp_path, text)
