"""From a question file, or the fact world, to a pool folder on disk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from counterproof.adapters.questions import Question, read_questions
from counterproof.adapters.writing import write_pool
from counterproof.core.errors import InputError
from counterproof.core.records import Corpus, Trajectory
from counterproof.study.pools.agent import DEPTH, make_pool
from counterproof.study.pools.config import AgentConfig
from counterproof.study.pools.tally import PoolTally, pool_meta
from counterproof.study.pools.world import QUESTIONS, fact_world

SAMPLES = 8
"""Trajectories per question unless told otherwise."""


@dataclass(frozen=True, slots=True)
class PoolSummary:
    """A pool that has been written.

    Attributes:
        folder: Where.
        trajectories: How many.
        questions: How many, the sampling units.
        passages: The size of P.
        meta: What `pool.json` says beside name and sizes: seed, rates, histograms, natural incidence.
    """

    folder: Path
    trajectories: int
    questions: int
    passages: int
    meta: Mapping[str, Any]


def build_pool(
    question_file: Path | None,
    out: Path,
    *,
    samples: int = SAMPLES,
    depth: int = DEPTH,
    seed: int = 0,
    limit: int | None = None,
    config: AgentConfig | None = None,
) -> PoolSummary:
    """Write a pool of the scripted agent's trajectories to a folder. The same arguments write the same bytes.

    Trajectories are streamed to disk. P holds the passages of all questions of the file, also of those beyond `limit`.

    Args:
        question_file: HotpotQA, 2WikiMultiHopQA or MuSiQue questions with their passages; None for the fact world.
        out: The folder; must not exist, or be empty.
        samples: Trajectories per question, at least 1.
        depth: Passages returned per search, at least 1.
        seed: The run's seed.
        limit: Only the first so many questions; for the fact world its size (60 unless given).
        config: The agent's rates.

    Raises:
        InputError: The file has bad rows, the folder is in use, or an argument is out of its range.
    """
    if limit is not None and limit < 1:
        raise InputError(f"a limit of {limit} questions was given; it must be at least 1")
    questions, corpus, source = _questions(question_file, seed, limit)
    rates, tally = config or AgentConfig(), PoolTally(corpus)
    rows = make_pool(questions, corpus, rates, seed=seed, samples=samples, depth=depth, pool=out.name)
    meta: dict[str, Any] = {}

    def counted() -> Iterator[Trajectory]:
        yield from tally.passing(rows)
        # The writer reads the meta data after the last row, so the counts of a streamed pool can stand in it.
        meta.update(pool_meta(tally, corpus, rates, seed=seed, samples=samples, depth=depth), source=source)

    count = write_pool(out, counted(), corpus, meta)
    return PoolSummary(out, count, len(questions), len(corpus), meta)


def _questions(
    question_file: Path | None, seed: int, limit: int | None
) -> tuple[tuple[Question, ...], Corpus, Mapping[str, Any]]:
    if question_file is None:
        asked, corpus = fact_world(seed, QUESTIONS if limit is None else limit)
        return asked, corpus, {"name": "fact world", "seed": seed}
    found = read_questions(question_file)
    source = {"name": found.name, "sha256": found.digest.sha256, "unsupported_questions": len(found.unsupported)}
    return found.questions[:limit], found.corpus, source
