"""The pools and logs of this study, and their audits under every reward."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from counterproof.adapters import open_pool
from counterproof.core.analysis import Analysis, Cell
from counterproof.study.pools import build_pool
from counterproof.study.rewards import AuditConfig, audit
from studies.rewards_results.margins import Candidates, read_candidates

SAMPLES = 8
DEPTH = 5
SEED = 0
REWARDS = ("reference", "reference+L", "reference+full", "outcome", "outcome+cost", "constant", "oracle")
READ_MARGINS = ("reference", "reference+L", "reference+full")
"""Rewards whose margins are read candidate by candidate."""


@dataclass(frozen=True, slots=True)
class Source:
    """A question file from which a pool is made, or a log as it is.

    Attributes:
        name: As the page shows it.
        file: Below the folder of real data.
        pooled: Whether the scripted agent answers its questions.
    """

    name: str
    file: str
    pooled: bool = True


POOLS = (
    Source("HotpotQA", "retrieval_qa/hotpotqa/dev200.jsonl.gz"),
    Source("2WikiMultiHopQA", "retrieval_qa/2wikimultihopqa/dev164.jsonl.gz"),
    Source("MuSiQue", "retrieval_qa/musique/dev200.jsonl.gz"),
)
FIREACT = Source("FireAct", "trajectories/fireact_hotpotqa/trajectories.jsonl.gz", pooled=False)
SOURCES = (*POOLS, FIREACT)


@dataclass(frozen=True, slots=True)
class Audited:
    """One source under every reward.

    Attributes:
        source: Which.
        meta: What `pool.json` says of it, or the same counts of a log.
        citations: Citations in all trajectories.
        analyses: By reward.
        candidates: By reward, for those whose margins are read.
    """

    source: Source
    meta: Mapping[str, Any]
    citations: int
    analyses: Mapping[str, Analysis]
    candidates: Mapping[str, Candidates]

    @property
    def name(self) -> str:
        """As the page shows it."""
        return self.source.name

    def rows(self, reward: str, table: str) -> list[dict[str, Cell]]:
        """Return the rows of a table of a reward's analysis, each by column; none where there is no such table."""
        return [
            dict(zip(one.columns, row, strict=True))
            for one in self.analyses[reward].tables
            if one.name == table
            for row in one.rows
        ]


def run(source: Source, data: Path, work: Path, rewards: Sequence[str] = REWARDS) -> Audited:
    """Make the pool, audit it under each reward in folders below `work`, and return all that the page needs."""
    folder = work / source.name
    rollouts = data / source.file
    if source.pooled:
        rollouts = folder / "pool"
        folder.mkdir(parents=True)
        meta = build_pool(data / source.file, rollouts, samples=SAMPLES, depth=DEPTH, seed=SEED).meta
    else:
        meta = _log_meta(rollouts)
    analyses, candidates = {}, {}
    for reward in rewards:
        out = folder / reward
        analyses[reward] = audit(AuditConfig(rollouts, reward, out, seed=SEED))
        if reward in READ_MARGINS:
            candidates[reward] = read_candidates(out, open_pool(rollouts).trajectories())
    citations = sum(len(record.citations) for record in open_pool(rollouts).trajectories())
    return Audited(source, json.loads(json.dumps(meta)), citations, analyses, candidates)


def run_all(data: Path, work: Path, processes: int = 2) -> tuple[Audited, ...]:
    """Return every source under every reward."""
    with ProcessPoolExecutor(processes) as pool:
        return tuple(pool.map(partial(run, data=data, work=work), SOURCES))


def _log_meta(path: Path) -> dict[str, Any]:
    reader = open_pool(path)
    searches: dict[int, int] = {}
    repeats = {"exact_repeat": 0, "repeated_query": 0}
    for record in reader.trajectories():
        count = len(record.steps.searches)
        searches[count] = searches.get(count, 0) + 1
        repeats["exact_repeat"] += record.steps.exact_repeats > 0
        repeats["repeated_query"] += record.steps.largest_query_overlap >= 0.8
    counts = {
        "trajectories": reader.count,
        "questions": reader.questions,
        "searches": {str(key): searches[key] for key in sorted(searches)},
        "events": repeats,
    }
    return {"counts": counts}
