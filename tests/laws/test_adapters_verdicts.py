"""Any bytes give a verdict file or an InputError; the order of rows and the file format do not matter."""

from __future__ import annotations

import csv
import gzip
import io
import json
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from counterproof.adapters import VerdictFile, read_inspect, read_verdicts
from counterproof.core.errors import InputError

ROLES = ["item", "judge", "verdict", "gold", "cluster", "score", "cost", "seconds", "time", "failure", "order", "epoch"]
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.floats(),
    st.sampled_from(["", "0", "1", "yes", "no", "nan", "timeout", "2026-01-01", "1e999", "i", "\x00", "\ud800"]),
    st.text(max_size=3),
)
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=2), max_leaves=3)
ROWS = st.dictionaries(st.sampled_from(ROLES), JSON, min_size=3).map(lambda row: json.dumps(row).encode())
LINES = st.lists(st.one_of(ROWS, st.binary(max_size=10)), max_size=6).map(b"\n".join)
CELLS = st.text(alphabet='01,;"\n\tyesno é', max_size=4).map(str.encode)
TABLES = st.lists(st.lists(CELLS, min_size=3, max_size=4).map(b",".join), max_size=6).map(
    lambda rows: b"\n".join([b"item,judge,verdict,gold", *rows])
)
CONTENT = st.one_of(st.binary(max_size=200), LINES, TABLES, st.binary(max_size=60).map(lambda b: b"PAR1" + b + b"PAR1"))
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "threshold": st.sampled_from([0.5, {"a": 0.5}]),
        "classes": st.just(["no", "yes"]),
        "failures": st.just({"": None}),
        "orders": st.just("consistent"),
        "columns": st.just({"item": "item", "channels": ["judge", "verdict"]}),
    },
)


def sound(read: VerdictFile) -> None:
    assert len(read.table) > 0
    assert read.gold is None or len(read.gold.labels) == len(read.table)


@given(CONTENT, st.sampled_from(["v.csv", "v.jsonl", "v.json", "v.parquet", "v"]), OPTIONS, st.booleans())
def test_any_bytes_give_verdicts_or_an_input_error(
    content: bytes, name: str, options: dict[str, Any], packed: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(gzip.compress(content, mtime=0) if packed else content)
        try:
            read = read_verdicts(path, **options)
        except InputError:
            return
    sound(read)


SAMPLES = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "id": JSON,
            "epoch": JSON,
            "scores": st.one_of(JSON, st.dictionaries(st.sampled_from("ab"), st.fixed_dictionaries({"value": JSON}))),
            "error": JSON,
            "output": JSON,
            "metadata": st.one_of(JSON, st.fixed_dictionaries({"t": JSON})),
            "started_at": JSON,
        },
    ),
    max_size=4,
)


def archived(samples: list[Any], cut: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, values in enumerate(samples):
            archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(values))
    content = bytearray(buffer.getvalue())
    if cut and content:
        content[cut % len(content)] ^= 0x55
    return bytes(content)


LOGS = st.one_of(
    st.binary(max_size=100),
    SAMPLES.map(lambda samples: json.dumps({"eval": {}, "samples": samples}).encode()),
    st.tuples(SAMPLES, st.integers(0, 500)).map(lambda pair: archived(*pair)),
)


@given(
    LOGS, st.sampled_from([None, "a", "metadata.t"]), st.sampled_from([None, 0.5]), st.sampled_from(["calls", "items"])
)
def test_any_bytes_give_an_inspect_log_or_an_input_error(
    content: bytes, gold: str | None, threshold: float | None, epochs: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log.eval")
        path.write_bytes(content)
        try:
            read = read_inspect(path, gold=gold, threshold=threshold, epochs=epochs)
        except InputError:
            return
    sound(read)


CALLS = st.dictionaries(
    st.tuples(st.integers(0, 4), st.integers(0, 3)), st.sampled_from(["yes", "no", "", "timeout"]), min_size=1
)


@given(CALLS, st.randoms(use_true_random=False))
def test_row_order_and_format_do_not_matter(calls: dict[tuple[int, int], str], random: Any) -> None:
    rows = [{"item": f"i{i}", "judge": f"j{j}", "verdict": verdict} for (i, j), verdict in calls.items()]
    shuffled = random.sample(rows, len(rows))
    with tempfile.TemporaryDirectory() as folder:
        one, two = Path(folder, "v.jsonl"), Path(folder, "v.csv")
        one.write_text("\n".join(map(json.dumps, rows)))
        with two.open("w", newline="") as file:
            writer = csv.DictWriter(file, ["verdict", "judge", "item"])
            writer.writeheader()
            writer.writerows(shuffled)
        left, right = (read_verdicts(path, classes=["no", "yes"]).table for path in (one, two))
    assert left.channels == right.channels
    place = [right.items.index(item) for item in left.items]
    np.testing.assert_array_equal(left.symbols, right.symbols[place])
    np.testing.assert_array_equal(left.kinds, right.kinds[place])
    made = {
        (item, c.name)
        for i, item in enumerate(left.items)
        for j, c in enumerate(left.channels)
        if left.symbols[i, j] >= 0
    }
    assert made == {(f"i{i}", f"j{j}") for i, j in calls}
