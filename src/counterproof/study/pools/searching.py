"""How the scripted agent searches: the question first, then spans of what it found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from counterproof.core.records import InvalidAction, Search, Step, Steps, Text
from counterproof.rewards.detectors import REPEAT_JACCARD
from counterproof.rewards.lexical import content_tokens, tokens
from counterproof.study.pools.config import AgentConfig
from counterproof.study.pools.reading import Reader, phrase, plain, salient_spans
from counterproof.study.pools.retrieval import Bm25Index

T = TypeVar("T")

_THOUGHTS = (
    "I need to find out more. Next query: {}",
    "Next I look for: {}",
    "The passages do not settle it. I follow this: {}",
    "It is not clear yet; I search again with: {}",
)
_INVALID = ("open page 2", "click next", "lookup", "search()", "scroll down")
_ONE_MORE = ("details", "facts", "information", "article")
_FOCUS_WORDS = 4
_READ_CLOSELY = 3
_SPANS_EACH = 6


@dataclass(frozen=True, slots=True)
class Toolbox:
    """What the agent works with: the search engine, its reading, its rates and the passages returned per search."""

    index: Bm25Index
    reader: Reader
    config: AgentConfig
    depth: int


def explore(question: str, box: Toolbox, rng: np.random.Generator) -> Steps:
    """Return the steps of one attempt: up to five searches with what they returned, thoughts and invalid actions.

    Reads the question and the passages that were returned, and nothing else.
    """
    config = box.config
    count = 0 if rng.random() < config.no_search else 1 + draw(config.searches, rng)
    steps: list[Step] = []
    searches: list[Search] = []
    for _ in range(count):
        query = _follow_up(question, searches, box, rng) if searches else _opening(question, config, rng)
        if rng.random() < config.thought:
            steps.append(Text(pick(_THOUGHTS, rng).format(plain(query))))
        if rng.random() < config.invalid_action:
            steps.append(InvalidAction(pick(_INVALID, rng)))
        found = Search(query, tuple(passage for passage, _ in box.index.search(query, box.depth)))
        steps.append(found)
        searches.append(found)
    return Steps(steps)


def draw(weights: Sequence[float], rng: np.random.Generator) -> int:
    """Return an index with probability proportional to its weight."""
    left = rng.random() * sum(weights)
    for index, weight in enumerate(weights):
        left -= weight
        if left < 0:
            return index
    return max(index for index, weight in enumerate(weights) if weight > 0)


def pick(options: Sequence[T], rng: np.random.Generator) -> T:
    """Return one of the options, each as likely."""
    return options[int(rng.integers(len(options)))]


def _opening(question: str, config: AgentConfig, rng: np.random.Generator) -> str:
    words = " ".join(content_tokens(question))
    return " ".join(question.split()) if rng.random() < config.question_as_query or not words else words


def _follow_up(question: str, searches: list[Search], box: Toolbox, rng: np.random.Generator) -> str:
    chance = rng.random()
    if chance < box.config.exact_repeat:
        return pick(searches, rng).query
    if chance < box.config.exact_repeat + box.config.near_repeat:
        return _reworded(pick(searches, rng).query, rng)
    asked = [frozenset(tokens(search.query)) for search in searches]
    for lead in _leads(question, searches, box, rng):
        query = _focused(lead, question, rng) if rng.random() < box.config.focus else lead
        wanted = frozenset(tokens(query))
        if all(len(wanted & one) < REPEAT_JACCARD * len(wanted | one) for one in asked):
            return query
    return _focused("", question, rng) or searches[0].query


def _reworded(query: str, rng: np.random.Generator) -> str:
    words = set(tokens(query))
    if len(words) < 4:
        return query
    return f"{query.rstrip('?')} {pick([word for word in _ONE_MORE if word not in words] or _ONE_MORE, rng)}"


def _focused(lead: str, question: str, rng: np.random.Generator) -> str:
    spare = [word for word in dict.fromkeys(content_tokens(question)) if word not in tokens(lead)]
    chosen = sorted(rng.permutation(len(spare))[:_FOCUS_WORDS].tolist())
    return " ".join(filter(None, [lead, *(spare[i] for i in chosen)]))


def _leads(question: str, searches: list[Search], box: Toolbox, rng: np.random.Generator) -> Iterator[str]:
    asked = [phrase(search.query) for search in searches[1:]]
    known = set(tokens(question))
    leads = dict.fromkeys(salient_spans(question))
    for search in reversed(searches):
        for passage in search.passages[:_READ_CLOSELY]:
            reading = box.reader.read(passage)
            spans = (reading.title, *reading.spans[:_SPANS_EACH])
            leads.update(dict.fromkeys(span for span in spans if not known.issuperset(tokens(span))))
    fresh = [lead for lead in leads if not any(phrase(lead) in query for query in asked)]
    # Early leads first, but not always: what is near the top moves by a few places.
    places = np.arange(len(fresh)) + rng.exponential(3.0, len(fresh))
    for place in np.argsort(places, kind="stable").tolist():
        yield fresh[place]
