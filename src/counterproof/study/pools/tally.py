"""What a pool holds, counted while it is made: histograms, repeats, and how often each fault occurs by itself."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from counterproof.core.records import Corpus, Trajectory
from counterproof.rewards.detectors import DETECTORS, REPEAT_JACCARD
from counterproof.rewards.reference import LONGEST_ANSWER, normalise_answer
from counterproof.study.pools.config import AgentConfig
from counterproof.study.pools.retrieval import K1, METHOD, B


class PoolTally:
    """Counts over the trajectories of one pool; memory does not grow with them.

    Args:
        corpus: P, which decides whether a cited id exists.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._rows = 0
        self._questions: set[str] = set()
        self._searches: Counter[int] = Counter()
        self._cited: Counter[int] = Counter()
        self._support: Counter[int] = Counter()
        self._events: Counter[str] = Counter()

    def add(self, record: Trajectory) -> None:
        """Count one trajectory."""
        self._rows += 1
        self._questions.add(record.question_id)
        self._searches[len(record.steps.searches)] += 1
        self._cited[len(record.cited)] += 1
        self._support[len(record.support_ids)] += 1
        for name, happened in self._events_of(record):
            self._events[name] += happened

    def passing(self, records: Iterable[Trajectory]) -> Iterator[Trajectory]:
        """Return the trajectories unchanged, each counted as it passes."""
        for record in records:
            self.add(record)
            yield record

    def counts(self) -> dict[str, Any]:
        """Return the counts as plain data: histograms by their values, and trajectories per event."""
        return {
            "trajectories": self._rows,
            "questions": len(self._questions),
            "searches": _histogram(self._searches),
            "cited_passages": _histogram(self._cited),
            "support_passages": _histogram(self._support),
            "events": dict(sorted(self._events.items())),
            "rates": {name: self._events[name] / self._rows for name in sorted(self._events)},
        }

    def _events_of(self, record: Trajectory) -> Iterator[tuple[str, bool]]:
        steps, given = record.steps, normalise_answer(record.answer)
        golds = {normalise_answer(gold) for gold in record.gold_answers}
        for detector in DETECTORS:
            yield detector.name, detector(record, self._corpus)
        yield "exact_repeat", steps.exact_repeats > 0
        yield "invalid_action", steps.invalid_actions > 0
        yield "duplicate_citation", len(record.citations) > len(record.cited)
        yield "retrieved_but_no_support", bool((record.cited & record.retrieved) - record.support_ids)
        yield "all_support_retrieved", bool(record.support_ids) and record.support_ids <= record.retrieved
        yield "all_support_cited", bool(record.support_ids) and record.support_ids <= record.cited
        yield "abstained", not record.answer
        yield "long_answer", len(record.answer.split()) > LONGEST_ANSWER
        yield "exact_answer", bool(given) and given in golds


def pool_meta(
    tally: PoolTally, corpus: Corpus, config: AgentConfig, *, seed: int, samples: int, depth: int
) -> dict[str, Any]:
    """Return what `pool.json` says of a pool of the scripted agent, as plain data.

    `counts.rates` are shares of trajectories, with the events as `counts.events`. U, L, F and the others are the
    built-in detectors; `support_mismatch`, `retrieved_but_no_support`, `all_support_*` and `exact_answer` read labels.
    """
    return {
        "made_by": "counterproof scripted agent",
        "seed": seed,
        "samples": samples,
        "depth": depth,
        "agent": dataclasses.asdict(config),
        "retrieval": {"method": f"bm25 ({METHOD})", "k1": K1, "b": B},
        "repeat_jaccard": REPEAT_JACCARD,
        "corpus": {"passages": len(corpus), "complete": corpus.complete, "digest": corpus.digest()},
        "counts": tally.counts(),
    }


def _histogram(counter: Counter[int]) -> dict[str, int]:
    return {str(value): counter[value] for value in sorted(counter)}
