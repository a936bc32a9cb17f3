"""What `--help` costs in CPU seconds, beside an empty Python and one that only imports typer.

Run with `python benchmarks/help.py`. Medians of user and system time over rounds in which all are measured one after
the other. The aim is at most .35 CPU s for every command.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path

ROUNDS = 7
SOURCE = Path(__file__).resolve().parents[1] / "src"
CLI = [sys.executable, "-m", "counterproof"]
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import typer": [sys.executable, "-c", "import typer"],
    "--help": [*CLI, "--help"],
    "rewards audit --help": [*CLI, "rewards", "audit", "--help"],
    "rewards pool --help": [*CLI, "rewards", "pool", "--help"],
    "show --help": [*CLI, "show", "--help"],
    "--version": [*CLI, "--version"],
}


def cpu_seconds(command: list[str]) -> float:
    """Return user and system time of a command and its children."""
    before = os.times()
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system


if __name__ == "__main__":
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS):
        for name, command in COMMANDS.items():
            seconds[name].append(cpu_seconds(command))
    for name, found in seconds.items():
        print(f"{name:>22}  {statistics.median(found):.2f} CPU s")
