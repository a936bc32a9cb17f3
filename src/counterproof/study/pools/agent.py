"""The scripted search agent: seeded trajectories that really search a corpus, with faults at known rates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from counterproof.core.errors import InputError
from counterproof.core.records import Corpus, Trajectory
from counterproof.core.seeds import ItemSeed
from counterproof.study.pools.answering import conclude
from counterproof.study.pools.config import AgentConfig
from counterproof.study.pools.reading import Reader
from counterproof.study.pools.retrieval import Bm25Index
from counterproof.study.pools.searching import Toolbox, explore

MODEL = "scripted"
"""The model named in trajectories of this agent."""
DEPTH = 5
"""Passages returned per search unless told otherwise."""


class QuestionLike(Protocol):
    """What the agent needs of a question; its support ids are copied into the record and never read."""

    @property
    def question_id(self) -> str:
        """Unique in a question set."""
        ...

    @property
    def question(self) -> str:
        """As asked."""
        ...

    @property
    def gold_answers(self) -> tuple[str, ...]:
        """Accepted answers."""
        ...

    @property
    def support_ids(self) -> frozenset[str]:
        """Ids of supporting passages."""
        ...


class ScriptedAgent:
    """A simulator of a multi-hop search agent over one corpus.

    It searches with BM25, follows spans of what it finds, answers and cites. One attempt depends on the run's seed, the
    question, the sample's number, the corpus, the depth and the rates, and on nothing else: neither on other questions
    nor on the order of attempts. What it reads: the question and retrieved passages; gold answers only to plant correct
    answers at the stated rates; support ids never.

    Args:
        corpus: What it can search.
        config: Its rates.
        depth: Passages returned per search, at least 1.

    Raises:
        InputError: The depth is less than 1.
    """

    def __init__(self, corpus: Corpus, config: AgentConfig | None = None, depth: int = DEPTH) -> None:
        if depth < 1:
            raise InputError(f"a depth of {depth} passages per search was given; it must be at least 1")
        self._box = Toolbox(Bm25Index(corpus), Reader(corpus), config or AgentConfig(), depth)

    def attempt(self, question: QuestionLike, sample: int, seed: int, pool: str | None = None) -> Trajectory:
        """Return the trajectory of one sample of a question."""
        rng = ItemSeed(seed, question.question_id).child(f"sample {sample}").generator()
        golds = tuple(question.gold_answers)
        steps = explore(question.question, self._box, rng)
        end = conclude(question.question, golds, steps, self._box, rng)
        return Trajectory(
            trajectory_id=f"{question.question_id}-{sample}",
            question_id=question.question_id,
            question=question.question,
            steps=steps,
            answer=end.answer,
            citations=end.citations,
            raw_final=end.raw_final,
            gold_answers=golds,
            support_ids=frozenset(question.support_ids),
            model=MODEL,
            pool=pool,
            sample=sample,
            group_id=question.question_id,
        )


def make_pool(
    questions: Iterable[QuestionLike],
    corpus: Corpus,
    config: AgentConfig | None = None,
    *,
    seed: int,
    samples: int = 8,
    depth: int = DEPTH,
    pool: str | None = None,
) -> Iterator[Trajectory]:
    """Return the trajectories of a best-of-n pool, question by question and sample by sample, made as they are taken.

    Args:
        questions: Each with its own id.
        corpus: What the agent can search.
        config: Its rates.
        seed: The run's seed.
        samples: Trajectories per question, at least 1.
        depth: Passages returned per search (5; 8 suits MuSiQue).
        pool: The name that the records carry.

    Raises:
        InputError: `samples` or `depth` is less than 1.
    """
    if samples < 1:
        raise InputError(f"{samples} samples per question were asked for; make at least 1")
    agent = ScriptedAgent(corpus, config, depth)
    return (agent.attempt(question, sample, seed, pool) for question in questions for sample in range(samples))
