"""The lexical generator: passages that share rare words with the question and the answer."""

from __future__ import annotations

import math
import re

import numpy as np
from numpy.typing import NDArray

from counterproof.core.records import Corpus
from counterproof.rewards.ranking import Ranking, RecentLeaders, tie_order

_FUNCTION_WORDS = """
    a about after all also an and another any are as at be because been before being between both but by can could
    did do does during each for from had has have he her hers him his how i if in into is it its itself just may me
    might more most must my no nor not of off on once one only or other our out over own s same shall she should so
    some such t than that the their theirs them then there these they this those through to too under until up upon
    us very was we were what when where which while who whom whose why will with would you your
"""
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())
"""Function words of English; they carry no content for either generator. `s` and `t` are what an apostrophe leaves."""

_RUN = re.compile(r"[^\W_]+")


def tokens(text: str) -> list[str]:
    """Return the lower-case runs of letters and digits (of any script), in order; everything else separates.

    >>> tokens("Rush's 2nd L.P. (1975)")
    ['rush', 's', '2nd', 'l', 'p', '1975']
    """
    return _RUN.findall(text.lower())


def content_tokens(text: str) -> list[str]:
    """Return `tokens` without the stop words, in order and with repeats.

    >>> content_tokens("Who was the drummer of the band Rush?")
    ['drummer', 'band', 'rush']
    """
    return [token for token in tokens(text) if token not in STOP_WORDS]


class LexicalIndex:
    """An inverted index of a corpus for the lexical score.

        score(p) = sum over distinct content tokens w in (question + answer) and in (title + text of p)
                   of log(1 + N / df(w))

    N is the number of passages and df(w) the number that hold w; natural logarithm; higher is better. The terms are
    added from the largest down, so that two passages whose shared tokens have the same document frequencies score
    exactly the same: a tie is a tie on every machine. Reads no label. Definition ours.

    Args:
        corpus: P; only its passages count, not their order.
        name: How the generator is reported.
    """

    def __init__(self, corpus: Corpus, name: str = "lexical") -> None:
        self._name = name
        self._passages = tie_order(corpus.passages)
        found: dict[str, list[int]] = {}
        for number, passage in enumerate(self._passages):
            held = corpus[passage]
            for token in set(content_tokens(f"{held.title} {held.text}")):
                found.setdefault(token, []).append(number)
        self._postings: dict[str, NDArray[np.int32]] = {
            token: np.array(numbers, dtype=np.int32) for token, numbers in found.items()
        }
        self._recent = RecentLeaders(self._passages, self._scores)

    @property
    def name(self) -> str:
        """The name under which its candidates are reported."""
        return self._name

    def rank(self, question: str, answer: str, exclude: frozenset[str], k: int) -> Ranking:
        """Return the best `k` passages outside `exclude` for question and answer (see `Ranker.rank`).

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
        shared = [self._postings[token] for token in set(content_tokens(query)) if token in self._postings]
        scores = np.zeros(len(self._passages))
        for numbers in sorted(shared, key=len):
            scores[numbers] += math.log(1 + len(self._passages) / len(numbers))
        return scores
