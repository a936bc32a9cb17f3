"""What the benchmarks of an audit share: a pool made on the spot, one stage driven into a ledger, and paired timing."""

from __future__ import annotations

import gc
import itertools
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from counterproof.adapters import PoolReader, open_pool
from counterproof.core.outcomes import Outcome
from counterproof.core.plan import Plan
from counterproof.core.records import Trajectory
from counterproof.engines import Engine, InProcess, SerialEngine
from counterproof.rewards.cells import Setup, set_up
from counterproof.rewards.edits import EDITS, Edit
from counterproof.rewards.episode import AuditContext, AuditEpisode
from counterproof.store import Ledger
from counterproof.study.driver import Means, drive
from counterproof.study.pools import build_pool

QUESTIONS = Path(__file__).resolve().parents[2] / "shared/data/retrieval_qa/hotpotqa/dev200.jsonl.gz"
BUDGET = 8
T = TypeVar("T")


def make_pool(out: Path, questions: int, samples: int) -> PoolReader:
    """Return a pool of the scripted agent over HotpotQA where it is at hand and large enough, else the fact world."""
    file = QUESTIONS if QUESTIONS.is_file() and questions <= 200 else None
    summary = build_pool(file, out, samples=samples, seed=1, limit=questions)
    name = "HotpotQA" if file else "the fact world"
    print(f"{summary.trajectories:,} trajectories of {summary.questions} questions over {name}")
    return open_pool(out)


def lexical_only(edits: tuple[Edit, ...] = EDITS, most: int | None = None) -> tuple[Edit, ...]:
    """Return the edits with laundering cut to the lexical generator at K = 8, and to `most` candidates if given."""
    cut = []
    for one in edits:
        if one.name != "launder":
            cut.append(one)
            continue
        make = partial(_first, one.make, most) if most is not None else one.make
        cut.append(replace(one, generators=(("lexical", (BUDGET,)),), make=make))
    return tuple(cut)


def _first(make: Callable[..., Any], most: int, view: Any, context: Any) -> Any:
    return itertools.islice(make(view, context), most)


def audit_setup(pool: PoolReader, most: int | None = None) -> Setup:
    return set_up(pool.traits, lexical_only(most=most))


@dataclass(frozen=True)
class Stage:
    """One stage of scores that can be driven again and again, each time into a new ledger."""

    records: list[Trajectory]
    context: AuditContext
    plan: Plan
    folder: Path

    def run(self, engine: Engine) -> tuple[Ledger, int]:
        """Drive all records with the ledger on, freeze it, and return it with the calls that the driver counted."""
        folder = self.folder / f"run-{time.monotonic_ns()}"
        ledger = Ledger.create(folder, self.plan, {})
        items = ((record.digest(), record) for record in self.records)
        with engine, ledger.writer("scores") as writer:  # type: ignore[attr-defined]
            driven = drive(AuditEpisode(), items, self.context, Means(0, engine, writer))
            writer.freeze()
        return ledger, driven.calls


def in_process(verifiers: Mapping[str, Callable[[Any], Outcome]]) -> SerialEngine:
    return SerialEngine(InProcess(verifiers))


@dataclass(frozen=True)
class Spent:
    """Seconds of wall time, and of CPU time of this process."""

    wall: float
    cpu: float


def spend(run: Callable[[], T]) -> tuple[T, Spent]:
    """Return what a run gives and takes. What earlier runs left is collected first, so that none pays for another."""
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    given = run()
    return given, Spent(time.perf_counter() - wall, time.process_time() - cpu)


def ratio(pairs: Sequence[tuple[Spent, ...]]) -> str:
    """Return the medians of the ratios first / second of adjacent runs, by wall and by CPU time."""
    wall = statistics.median(a.wall / b.wall for a, b in pairs)
    cpu = statistics.median(a.cpu / b.cpu for a, b in pairs)
    return f"{wall:.2f} by wall time, {cpu:.2f} by CPU time"


def microseconds(spent: list[Spent], calls: int) -> str:
    wall, cpu = (statistics.median(getattr(one, kind) for one in spent) / calls * 1e6 for kind in ("wall", "cpu"))
    return f"{wall:.1f} us a call ({cpu:.1f} CPU)"
