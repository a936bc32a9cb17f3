"""Rankings of passages for a question and an answer: what the laundering attack takes its replacements from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError

DEPTH = 128
"""Passages ordered ahead when a query is first ranked: enough for most budgets plus what an agent has retrieved."""
REMEMBERED = 1024
"""Queries whose leaders an index keeps, the least recently used leaving first; one takes about 5 kB."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best passages that are not excluded, best first.

    Attributes:
        passages: Ids, at most as many as the budget; fewer when fewer have a positive score.
        scores: Their scores, positive and falling.
        tie_at_top: The two best passages score exactly the same, so that the order of ids chose the first. Looks past
            a budget of one.
        tie_at_edge: The last passage inside the budget and the first outside it score exactly the same, so that the
            order of ids decided what the budget holds.
    """

    passages: tuple[str, ...]
    scores: tuple[float, ...]
    tie_at_top: bool
    tie_at_edge: bool


class Ranker(Protocol):
    """Ranks the passages of one corpus P. It reads the question and the answer, and no label."""

    @property
    def name(self) -> str:
        """The name under which its candidates are reported."""
        ...

    def rank(self, question: str, answer: str, exclude: frozenset[str], k: int) -> Ranking:
        """Return the best `k` of P without E: `exclude` is dropped first, then the budget is taken.

        Only positive scores rank; equal scores stand in the order of `tie_key`.

        Args:
            question: As asked.
            answer: As given.
            exclude: E, ids of passages that the agent retrieved; ids outside P change nothing.
            k: The budget in passages, at least 1.
        """
        ...


@dataclass(frozen=True, slots=True)
class Leaders:
    """The best passages of P for one query, best first.

    Attributes:
        passages: Ids.
        scores: Their scores, positive and falling.
        complete: True when no other passage has a positive score.
    """

    passages: tuple[str, ...]
    scores: tuple[float, ...]
    complete: bool

    def reach(self, depth: int) -> bool:
        """Return whether the best `depth` passages are all here."""
        return self.complete or len(self.passages) >= depth

    def outside(self, exclude: frozenset[str], k: int) -> Ranking:
        """Return the ranking of what is not excluded; the leaders must reach `k` + 1 + the number excluded."""
        passages: list[str] = []
        scores: list[float] = []
        for passage, score in zip(self.passages, self.scores, strict=True):
            if passage not in exclude:
                passages.append(passage)
                scores.append(score)
                if len(scores) > k and len(scores) > 1:
                    break
        return Ranking(
            tuple(passages[:k]),
            tuple(scores[:k]),
            tie_at_top=len(scores) > 1 and scores[0] == scores[1],
            tie_at_edge=len(scores) > k and scores[k - 1] == scores[k],
        )


class RecentLeaders:
    """Rankings of P by query, with the leaders of the queries asked last kept: samples of one question often share it.

    A pure memory: it never changes what is returned, only when it is computed.

    Args:
        passages: The N ids of P, in the order that breaks ties.
        scores: Returns the scores of a query, (N,).
        limit: How many queries are remembered.
    """

    def __init__(
        self, passages: tuple[str, ...], scores: Callable[[str], NDArray[np.float64]], limit: int = REMEMBERED
    ) -> None:
        self._passages, self._scores, self._limit = passages, scores, limit
        self._kept: dict[str, Leaders] = {}

    def ranking(self, query: str, exclude: frozenset[str], k: int) -> Ranking:
        """Return the best `k` passages outside `exclude` for a query.

        Raises:
            InputError: `k` is less than 1.
        """
        if k < 1:
            raise InputError(f"a budget of {k} passages was given; it must be at least 1")
        depth = k + 1 + len(exclude)
        found = self._kept.pop(query, None)
        if found is None or not found.reach(depth):
            found = leaders(self._passages, self._scores(query), max(depth, DEPTH))
        self._kept[query] = found
        if len(self._kept) > self._limit:  # forget the query that was not asked for longest
            self._kept.pop(next(iter(self._kept)), None)
        return found.outside(exclude, k)


def tie_key(passage_id: str) -> str:
    """Return what orders passages with equal scores: SHA-256 of the id, so that no file's order counts."""
    return hashlib.sha256(passage_id.encode("utf-8", "surrogatepass")).hexdigest()


def tie_order(passage_ids: Iterable[str]) -> tuple[str, ...]:
    """Return ids in the order of `tie_key`.

    >>> tie_order(["a", "b", "c"]), tie_order(["c", "b", "a"])
    (('c', 'b', 'a'), ('c', 'b', 'a'))
    """
    return tuple(sorted(passage_ids, key=tie_key))


def leaders(passages: tuple[str, ...], scores: NDArray[np.float64], depth: int) -> Leaders:
    """Return the leaders at `depth` and whoever ties with the last of them.

    Args:
        passages: The N ids of P, in the order that breaks ties.
        scores: One score per id, (N,).
        depth: How many to order, at least 1.
    """
    positive = np.flatnonzero(scores > 0)
    found = scores[positive]
    complete = len(found) <= depth
    if not complete:
        # Everything from the depth-th largest score up: a tie across the cut stays whole, so ids still decide it.
        kept = found >= np.partition(found, len(found) - depth)[len(found) - depth]
        complete = bool(kept.all())
        positive, found = positive[kept], found[kept]
    order = np.argsort(-found, kind="stable")
    return Leaders(
        tuple(passages[i] for i in positive[order].tolist()), tuple(found[order].tolist()), complete=complete
    )
