"""What an audit holds in memory as the log grows: 500 questions of the fact world, samples varied.

    python benchmarks/memory.py [--questions 500] [--samples 2 20]

Each audit runs whole (all stages, analysis and reports) in a process of its own, whose peak resident memory is read
when it ends. Corpus and questions are the same, so what grows is what a trajectory costs. Aim: flat but for 8 bytes a
margin and 16 bytes an ended item.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from counterproof.study.pools import build_pool

AUDIT = """
import json, resource, sys
from pathlib import Path
from counterproof.study.publish import publish
from counterproof.study.rewards import AuditConfig, audit

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

run = Path(sys.argv[2])
peaks = [peak()]
analysis = audit(AuditConfig(rollouts=Path(sys.argv[1]), reward="reference", out=run))
peaks.append(peak())
publish(run, analysis)
print(json.dumps([*peaks, peak()]))
"""


def peaks(pool: Path, run: Path) -> list[int]:
    """Return the bytes that an audit's process held at most: up to its beginning, its end, and that of the reports."""
    command = [sys.executable, "-c", AUDIT, str(pool), str(run)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    measured: list[int] = json.loads(done.stdout.splitlines()[-1])
    return measured


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--samples", type=int, nargs="+", default=[2, 20])
    options = parser.parse_args()
    measured: list[tuple[int, int]] = []
    with tempfile.TemporaryDirectory() as name:
        for samples in options.samples:
            pool = Path(name) / f"pool-{samples}"
            count = build_pool(None, pool, samples=samples, seed=1, limit=options.questions).trajectories
            begin = time.perf_counter()
            imports, audit, reports = peaks(pool, Path(name) / f"run-{samples}")
            took = time.perf_counter() - begin
            print(
                f"{count:7,} trajectories: audit {audit / 1e6:.1f} MB at most, {imports / 1e6:.1f} of it imports; "
                f"with reports {reports / 1e6:.1f} MB; {took:.0f} s"
            )
            measured.append((count, audit))
    for (few, small), (many, large) in itertools.pairwise(measured):
        each = (large - small) / (many - few)
        print(f"from {few:,} to {many:,}: {(large - small) / 1e6:+.1f} MB, {each:,.0f} bytes a trajectory")


if __name__ == "__main__":
    main()
