"""What a call costs in process, in a persistent worker, and in a process of its own.

Run with `python benchmarks/isolation.py`. Medians over rounds in which the three are measured one after the other.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the worker imports this file by its name

from counterproof.binding import bind, trajectory_offers
from counterproof.core.outcomes import Outcome, Scored
from counterproof.core.records import Search, Steps, Trajectory
from counterproof.engines import InProcess, Isolated, ProcessEngine

BATCH = 128
BATCHES = 40
ROUNDS = 7
PROGRAM = "import json, sys; print(float(len(json.load(sys.stdin))))"


def constant(_: object) -> Outcome:
    return Scored(1.0)


def reward(answer: str, gold_answers: list[str], retrieved: set[str], citations: list[str]) -> dict[str, float]:
    hit = float(answer in gold_answers)
    return {"hit": hit, "support": len(retrieved.intersection(citations)) / max(1, len(citations))}


VERIFIERS: dict[str, Callable[[Any], Outcome]] = {
    "constant": constant,
    "reward": bind(reward, trajectory_offers()).call,
}


def make(_: bytes) -> Callable[[str, Any], Outcome]:
    return lambda verifier, record: VERIFIERS[verifier](record)


def trajectory(number: int) -> Trajectory:
    passages = tuple(f"p{number:08d}{rank:04d}" for rank in range(5))
    steps = Steps((Search(f"first query {number}", passages), Search(f"second query {number}", passages)))
    answer = f"answer {number}"
    return Trajectory(f"t{number}", f"q{number}", "Who?", steps, answer, passages[:2], answer, (answer,))


def microseconds(perform: Callable[[], object], calls: int) -> float:
    begin = time.perf_counter()
    perform()
    return (time.perf_counter() - begin) / calls * 1e6


def one_process_per_call(records: list[str]) -> None:
    for record in records:
        subprocess.run(
            [sys.executable, "-c", PROGRAM], input=f'["{record}"]', text=True, capture_output=True, check=True
        )


def main() -> None:
    trivial = [("constant", i) for i in range(BATCH)]
    real = [("reward", trajectory(i)) for i in range(BATCH)]
    inside = InProcess(VERIFIERS)
    isolated = Isolated("benchmarks.isolation:make")
    assert isolated.perform(real) == inside.perform(real)
    times: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for kind, jobs in (("trivial call", trivial), ("bound reward", real)):
            for place, host in (("in process", inside), ("worker", isolated)):
                spent = microseconds(lambda: [host.perform(jobs) for _ in range(BATCHES)], BATCH * BATCHES)  # noqa: B023
                times.setdefault(f"{kind}, {place}", []).append(spent)
        alone = microseconds(lambda: one_process_per_call(["a"] * 5), 5)
        times.setdefault("a process per call", []).append(alone)
    isolated.close()
    with ProcessEngine(lambda: Isolated("benchmarks.isolation:make"), 2) as engine:
        for measured in (False, True):  # first to start the workers
            begin = time.perf_counter()
            for ticket in range(BATCHES):
                engine.submit(ticket, real)
            for _ in range(BATCHES):
                engine.collect()
            if measured:
                times["bound reward, two workers"] = [(time.perf_counter() - begin) / BATCH / BATCHES * 1e6]
    for name, spent_all in times.items():
        print(f"{name:28} {statistics.median(spent_all):10.1f} us per call")
    pairs = zip(times["a process per call"], times["trivial call, worker"], strict=True)
    print(f"a process per call costs {statistics.median(a / b for a, b in pairs):.0f} times a worker's call")


if __name__ == "__main__":
    main()
