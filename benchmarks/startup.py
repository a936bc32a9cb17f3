"""What starting costs: bare Python, the import, help, and the first result of the demo.

    python benchmarks/startup.py [--rounds 9]

CPU seconds of child processes, by `resource.getrusage`: medians of rounds in which all are run one after the other.
Aim: help at most .35 CPU s.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import counterproof": ["-c", "import counterproof"],
    "counterproof --help": ["-m", "counterproof", "--help"],
    "counterproof rewards audit --help": ["-m", "counterproof", "rewards", "audit", "--help"],
}
DEMO = ["-m", "counterproof", "demo", "rewards", "--out"]


def cpu_seconds(arguments: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def demo(folder: Path) -> tuple[float, float]:
    """Return the seconds after which the demo's first findings are on the disk, and after which it has ended."""
    begin = time.perf_counter()
    first = 0.0
    command = [sys.executable, *DEMO, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        while run.poll() is None:
            if not first and any(folder.glob("*/findings.json")):
                first = time.perf_counter() - begin
            time.sleep(0.02)
    assert run.returncode == 0
    assert first
    return first, time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    spent: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(options.rounds):
        for name, arguments in COMMANDS.items():
            spent[name].append(cpu_seconds(arguments))
    for name, all_of_them in spent.items():
        print(f"{name:34} {statistics.median(all_of_them):.3f} CPU s")
    with tempfile.TemporaryDirectory() as name:
        first, whole = demo(Path(name) / "demo")
    print(f"counterproof demo rewards          first findings after {first:.1f} s, both audits after {whole:.1f} s")


if __name__ == "__main__":
    main()
