"""What the ledger costs: a segment from arrays against row-wise inserts, a batch in the journal, a whole stage.

    python benchmarks/ledger.py [--rows 100000] [--payload 300]

CPU time is of this process, duckdb's threads included. Medians of adjacent runs; the row-wise insert gets fewer rows.
"""

import argparse
import hashlib
import os
import statistics
import tempfile
import time
from pathlib import Path

import duckdb

from counterproof.core.plan import Plan
from counterproof.store import DONE, EVENT, Ledger, Row
from counterproof.store.segments import write_segment

PLAN = Plan("rewards", "question", ("edit",), (), 7, ("audit",))
REPEATS = 3
BATCH = 128


def rows_of(count: int, payload: int) -> list[Row]:
    request = hashlib.sha256(b"request").hexdigest()
    rows = []
    for item in range(count // 2):
        key = hashlib.sha256(str(item).encode()).hexdigest()
        rows.append(Row(key, 0, EVENT, request, os.urandom(payload)))
        rows.append(Row(key, 1, DONE, "", os.urandom(payload)))
    return rows


def by_arrays(folder: Path, rows: list[Row]) -> float:
    started = time.process_time()
    write_segment(folder, 0, rows)
    return len(rows) / (time.process_time() - started)


def by_row(folder: Path, rows: list[Row]) -> float:
    started = time.process_time()
    with duckdb.connect(":memory:") as connection:
        connection.execute("CREATE TABLE t (item VARCHAR, seq BIGINT, kind VARCHAR, request VARCHAR, payload BLOB)")
        values = [(row.item, row.seq, row.kind, row.request, row.payload) for row in rows]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", values)
        connection.execute(f"COPY t TO '{folder / 'rows.parquet'}' (FORMAT parquet)")
    return len(rows) / (time.process_time() - started)


def stage(folder: Path, rows: list[Row]) -> dict[str, float]:
    """Return microseconds of CPU a row of each step, and milliseconds of wall time a batch."""
    ledger = Ledger.create(folder, PLAN, {})
    with ledger.writer("audit", compact_at=1 << 40) as writer:
        cpu, wall = time.process_time(), time.perf_counter()
        for start in range(0, len(rows), BATCH):
            writer.append(rows[start : start + BATCH])
        batches = -(-len(rows) // BATCH)
        wall_ms = (time.perf_counter() - wall) / batches * 1e3
        append = time.process_time() - cpu
        cpu = time.process_time()
        writer.freeze()
        freeze = time.process_time() - cpu
    cpu = time.process_time()
    assert sum(1 for _ in ledger.results("audit")) == len(rows) // 2
    results = time.process_time() - cpu
    each = 1e6 / len(rows)
    return {"append": append * each, "freeze": freeze * each, "results": results * each, "wall ms a batch": wall_ms}


def fsync_ms(folder: Path, payload: int) -> float:
    descriptor = os.open(folder / "fsync", os.O_WRONLY | os.O_CREAT)
    times = []
    for _ in range(200):
        os.write(descriptor, os.urandom(BATCH * payload))
        started = time.perf_counter()
        os.fsync(descriptor)
        times.append(time.perf_counter() - started)
    os.close(descriptor)
    return statistics.median(times) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--payload", type=int, default=300, help="bytes a row")
    options = parser.parse_args()
    rows = rows_of(options.rows, options.payload)
    fast, slow, stages = [], [], []
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            fast.append(by_arrays(folder, rows))
            slow.append(by_row(folder, rows[: max(1000, len(rows) // 20)]))
            stages.append(stage(folder / "run", rows))
            sync = fsync_ms(folder, options.payload)
    print(f"segment from arrays  {statistics.median(fast):12,.0f} rows per CPU s")
    print(f"row-wise executemany {statistics.median(slow):12,.0f} rows per CPU s")
    print(f"ratio                {statistics.median(f / s for f, s in zip(fast, slow, strict=True)):12.1f}")
    for name in ("append", "freeze", "results"):
        print(f"{name:20} {statistics.median(entry[name] for entry in stages):12.2f} CPU µs per row")
    wall = statistics.median(entry["wall ms a batch"] for entry in stages)
    print(f"batch of {BATCH}         {wall:12.2f} ms wall, fsync included")
    print(f"fsync alone          {sync:12.2f} ms")


if __name__ == "__main__":
    main()
