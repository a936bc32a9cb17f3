"""Frozen records of logged search-agent trajectories and of the corpus that they searched."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from operator import attrgetter
from typing import Any, TypeAlias

from counterproof.core.hashing import digest


@dataclass(frozen=True, slots=True)
class Passage:
    """A text that can be retrieved and cited.

    Attributes:
        id: Content digest of normalised title and text, so equal texts are one passage.
        title: Title as given; many texts may share one.
        text: Body as given.
        aliases: The ids that the source files used.
    """

    id: str
    title: str
    text: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Search:
    """A search step: the query, and the ids of the passages that the environment returned, in rank order.

    `observation` is what the environment returned besides passages (a snippet without an id, say).
    """

    query: str
    passages: tuple[str, ...] = ()
    observation: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """Free text that the agent wrote between its actions."""

    text: str


@dataclass(frozen=True, slots=True)
class InvalidAction:
    """Something the agent wrote that its environment could not carry out."""

    text: str


Step: TypeAlias = Search | Text | InvalidAction
_JSON = json.JSONEncoder(separators=(",", ":"))
_STEP_KIND: dict[type, int] = {Text: 1, InvalidAction: 2}


class Steps(tuple[Step, ...]):
    """An immutable sequence of steps that computes what is derived from it once.

    Edited records that keep the steps share this object, so a set like the retrieved ids is built once a trajectory.
    """

    def __reduce__(self) -> tuple[type[Steps], tuple[tuple[Step, ...]]]:
        """Pickle the steps alone: what is derived from them is derived again."""
        return Steps, (tuple(self),)

    @cached_property
    def searches(self) -> tuple[Search, ...]:
        """The search steps, in order."""
        return tuple(step for step in self if type(step) is Search)

    @cached_property
    def invalid_actions(self) -> int:
        """The number of invalid actions."""
        return sum(type(step) is InvalidAction for step in self)

    @cached_property
    def retrieved(self) -> frozenset[str]:
        """E(t): ids of all passages that the environment returned."""
        return frozenset(passage for search in self.searches for passage in search.passages)

    @cached_property
    def query_tokens(self) -> tuple[frozenset[str], ...]:
        """The lower-case alphanumeric token set of each query, in order."""
        return tuple(frozenset(_tokens(search.query)) for search in self.searches)

    @cached_property
    def exact_repeats(self) -> int:
        """How many searches repeat the text of an earlier query exactly."""
        return len(self.searches) - len({search.query for search in self.searches})

    @cached_property
    def largest_query_overlap(self) -> float:
        """The largest Jaccard similarity of any pair of query token sets; 0 with fewer than two searches.

        Two empty token sets count as equal only when the queries are the same text.
        """
        best = 1.0 if self.exact_repeats else 0.0
        sets = self.query_tokens
        for i, one in enumerate(sets):
            for other in sets[:i]:
                if one and other:
                    best = max(best, len(one & other) / len(one | other))
        return best


def _tokens(text: str) -> Iterator[str]:
    word = ""
    for char in text.lower():
        if char.isalnum():
            word += char
        elif word:
            yield word
            word = ""
    if word:
        yield word


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One logged answer of a search agent.

    Visible to the judged party: everything but the verifier-only fields `gold_answers` and `support_ids`.

    Attributes:
        trajectory_id: Unique within a pool.
        question_id: The sampling unit; from the log, or a hash of the normalised question.
        question: The question as asked.
        steps: What the agent did, in order.
        answer: The final answer ("" when none was given).
        citations: Ids of cited passages, in order; a repeated id stays repeated.
        raw_final: The final message as written, with citations as `[id]`.
        gold_answers: Accepted answers (verifier-only).
        support_ids: Ids of the passages that support the answer (verifier-only).
        model: Which model produced it, if known.
        pool: Which pool it belongs to, if any.
        sample: Index among the samples of its question, if known.
        group_id: The group it was sampled in, if any.
        score: The reward that the log recorded, if any (verifier-only).
    """

    trajectory_id: str
    question_id: str
    question: str
    steps: Steps
    answer: str
    citations: tuple[str, ...]
    raw_final: str
    gold_answers: tuple[str, ...] = ()
    support_ids: frozenset[str] = frozenset()
    model: str | None = None
    pool: str | None = None
    sample: int | None = None
    group_id: str | None = None
    score: float | None = None

    @property
    def retrieved(self) -> frozenset[str]:
        """E(t): ids of all passages that the environment returned."""
        return self.steps.retrieved

    @property
    def cited(self) -> frozenset[str]:
        """C(t): the set of cited ids."""
        return frozenset(self.citations)

    def edited(self, changes: Mapping[str, Any]) -> Trajectory:
        """Return this record with some fields changed; what `dataclasses.replace` does, in less than half the time."""
        record = object.__new__(Trajectory)
        for write, value in zip(_WRITERS.values(), _FIELDS(self), strict=True):
            write(record, value)
        for name, value in changes.items():
            _WRITERS[name](record, value)
        return record

    def digest(self) -> str:
        """Return the content digest of the whole record: SHA-256 over its fields as one JSON array."""
        steps = [
            [0, step.query, step.passages, step.observation]
            if type(step) is Search
            else [_STEP_KIND[type(step)], step.text]  # type: ignore[union-attr]
            for step in self.steps
        ]
        values = (
            *(self.trajectory_id, self.question_id, self.question, steps, self.answer, self.citations, self.raw_final),
            *(
                self.gold_answers,
                sorted(self.support_ids),
                self.model,
                self.pool,
                self.sample,
                self.group_id,
                self.score,
            ),
        )
        return hashlib.sha256(_JSON.encode(values).encode()).hexdigest()


_NAMES = tuple(entry.name for entry in fields(Trajectory))
_FIELDS = attrgetter(*_NAMES)
_WRITERS: Mapping[str, Callable[[Trajectory, Any], None]] = {name: vars(Trajectory)[name].__set__ for name in _NAMES}
"""What fills the slot of each field of a new record; nothing else may write a frozen one."""

FIELD_OF_DERIVED: Mapping[str, str] = {"retrieved": "steps", "cited": "citations"}
"""Which field each derived property reads."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """P: all passages of a pool.

    Attributes:
        passages: By id, in the order in which they were first seen.
        complete: True when this is the whole corpus that the agent could search; False when a log had none and these
            are merely the passages seen, so that "not in P" cannot be established.
    """

    passages: Mapping[str, Passage]
    complete: bool = True
    _digest: list[str] = field(default_factory=list, init=False, repr=False, compare=False)

    def __contains__(self, passage_id: object) -> bool:
        return passage_id in self.passages

    def __len__(self) -> int:
        return len(self.passages)

    def __getitem__(self, passage_id: str) -> Passage:
        return self.passages[passage_id]

    def digest(self) -> str:
        """Return a content digest that does not depend on the order of the passages."""
        if not self._digest:
            self._digest.append(digest({"complete": self.complete, "ids": sorted(self.passages)}))
        return self._digest[0]


def passage_id(title: str, text: str) -> str:
    """Return the id of a passage: `p` and 12 hexadecimal digits of SHA-256 over normalised title and text.

    Normalised means NFKC, case-folded, white space collapsed.

    >>> passage_id("Rush", "A  band.") == passage_id("rush", "a band. ")
    True
    """
    return "p" + digest([normalise_text(title), normalise_text(text)])[:12]


def question_id(question: str) -> str:
    """Return the id of a question that came without one: `q` and 12 hexadecimal digits of its normalised text.

    >>> question_id("Who  was it?") == question_id("who was it?")
    True
    """
    return "q" + digest(normalise_text(question))[:12]


def normalise_text(text: str) -> str:
    """Return text in NFKC, case-folded, with runs of white space as one space and none at the ends."""
    import unicodedata

    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def build_corpus(passages: Iterable[tuple[str, str, str]], *, complete: bool = True) -> Corpus:
    """Return the corpus of (source id, title, text) triples: equal texts merged, source ids kept as aliases."""
    found: dict[str, Passage] = {}
    aliases: dict[str, dict[str, None]] = {}
    for alias, title, text in passages:
        key = passage_id(title, text)
        if key not in found:
            found[key] = Passage(key, title, text)
            aliases[key] = {}
        if alias:
            aliases[key][alias] = None
    return Corpus(
        {key: Passage(key, p.title, p.text, tuple(aliases[key])) for key, p in found.items()},
        complete=complete,
    )
