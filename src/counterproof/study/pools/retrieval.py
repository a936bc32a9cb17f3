"""BM25 over a corpus: what the scripted agent searches with, and the second generator of the laundering attack."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from counterproof.core.records import Corpus
from counterproof.rewards.lexical import content_tokens
from counterproof.rewards.ranking import Ranking, RecentLeaders, tie_order

if TYPE_CHECKING:
    import bm25s

K1 = 1.5
"""Saturation of the term frequency."""
B = 0.75
"""Strength of the length normalisation."""
METHOD = "lucene"
"""The variant, in the naming of bm25s: idf = ln(1 + (N - df + .5) / (df + .5)), without the constant factor k1 + 1."""


class Bm25Index:
    """BM25 (library `bm25s`) over title and text of a corpus.

        score(p) = sum over tokens w of the query, repeats counted, of
                   ln(1 + (N - df + .5)/(df + .5)) · tf / (tf + k1·(1 - b + b·|p|/mean |p|)),   k1 = 1.5, b = .75

    Tokens are `rewards.lexical.content_tokens`: lower-case runs of letters and digits, its listed stop words out, no
    stemming. Higher is better. Double precision, one thread, and the terms are added from the rarest token down, so a
    score depends on the bag of query tokens only, and passages with equal counts and lengths tie exactly. Equal scores
    stand in the order of SHA-256 of the id. Reads no label.

    Args:
        corpus: P; only its passages count, not their order.
        name: How the generator is reported.

    Source:
        Robertson and Zaragoza 2009, Foundations and Trends in Information Retrieval 3(4); the variant: Kamphuis et al.
        2020, doi:10.1007/978-3-030-45442-5_4.
    """

    def __init__(self, corpus: Corpus, name: str = "bm25") -> None:
        self._name = name
        self._passages = tie_order(corpus.passages)
        held = (corpus[passage] for passage in self._passages)
        bags = [content_tokens(f"{passage.title} {passage.text}") for passage in held]
        found = Counter(token for bag in bags for token in set(bag))
        # Numbered from the rarest token up: sorting a query's numbers fixes the order of summation.
        self._numbers = {token: i for i, token in enumerate(sorted(found, key=lambda token: (found[token], token)))}
        self._index = _build([[self._numbers[token] for token in bag] for bag in bags], self._numbers)
        self._recent = RecentLeaders(self._passages, self._scores)

    @property
    def name(self) -> str:
        """The name under which its candidates are reported."""
        return self._name

    @property
    def passages(self) -> tuple[str, ...]:
        """The ids of P, in the order that breaks ties."""
        return self._passages

    def search(self, query: str, k: int) -> list[tuple[str, float]]:
        """Return at most `k` passages and their scores, best first; none when no content token of the query occurs.

        Raises:
            InputError: `k` is less than 1.
        """
        found = self.rank_excluding(query, frozenset(), k)
        return list(zip(found.passages, found.scores, strict=True))

    def rank(self, question: str, answer: str, exclude: frozenset[str], k: int) -> Ranking:
        """Return the best `k` passages outside `exclude`; the query is question and answer (see `Ranker.rank`).

        Raises:
            InputError: `k` is less than 1.
        """
        return self.rank_excluding(f"{question} {answer}", exclude, k)

    def rank_excluding(self, query: str, exclude: frozenset[str], k: int) -> Ranking:
        """Return the best `k` passages outside `exclude` for a query.

        Raises:
            InputError: `k` is less than 1.
        """
        return self._recent.ranking(query, exclude, k)

    def _scores(self, query: str) -> NDArray[np.float64]:
        numbers = sorted(self._numbers[token] for token in content_tokens(query) if token in self._numbers)
        if self._index is None or not numbers:
            return np.zeros(len(self._passages))
        return cast("NDArray[np.float64]", self._index.get_scores_from_ids(numbers))


def _build(bags: list[list[int]], numbers: dict[str, int]) -> bm25s.BM25 | None:
    if not numbers:
        return None
    import logging

    import bm25s

    # Importing the library sets its logger to DEBUG; an application that logs everything would hear every query.
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    index = bm25s.BM25(k1=K1, b=B, method=METHOD, dtype="float64", backend="numpy", csc_backend="numpy")
    index.index((bags, numbers), create_empty_token=False, show_progress=False)
    return index
