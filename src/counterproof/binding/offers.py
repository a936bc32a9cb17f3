"""What a verifier's parameters can be given: one offer per value, and the names that conventions have for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, TypeAlias

from counterproof.core.records import Corpus, Trajectory
from counterproof.core.views import TRAJECTORY_ROLES, UNTRACKED, Role

Render: TypeAlias = Callable[[Trajectory], str]
"""Writes a trajectory as the text that a reward would have seen; raises `CannotRender` where that is impossible."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A value that a parameter can be bound to.

    Attributes:
        name: Its own name.
        fields: Fields of the record that the value is made of; a bound parameter counts as reading them all.
        make: Makes the value from a record.
        note: What it is, for the printed signature.
        tracked: True when the value is the record itself, to be given through a proxy that notes what is read.
        lack: Why it cannot be had in this study; "" when it can.
        shy: True when a parameter of this name that has a default keeps it: `model="..."` names a judge's own model.
    """

    name: str
    fields: frozenset[str]
    make: Callable[[Any], Any] = field(repr=False, compare=False)
    note: str
    tracked: bool = False
    lack: str = ""
    shy: bool = False


@dataclass(frozen=True, slots=True)
class Convention:
    """The parameter names of one family of verifiers: parameter name to the name of the offer that it stands for."""

    name: str
    aliases: Mapping[str, str]


CONVENTIONS: tuple[Convention, ...] = (
    Convention(
        "counterproof",
        {
            "trajectory": "record",
            "prompt": "question",
            "prediction": "answer",
            "final_answer": "answer",
            "completion": "text",
            "response": "text",
            "solution_str": "text",
            "ground_truth": "gold_answers",
            "golds": "gold_answers",
            "target": "gold_answers",
            "retrieved_ids": "retrieved",
        },
    ),
)
"""Tables of parameter names; an earlier one wins, and wins over an offer's own name too."""


def trajectory_offers(
    render: Render | None = None,
    corpus: Corpus | None = None,
    conventions: tuple[Convention, ...] = CONVENTIONS,
) -> dict[str, Offer]:
    """Return the offers for `Trajectory` records by parameter name.

    Args:
        render: Writes a trajectory as text.
        corpus: All passages, for `passages` and `corpus`.
        conventions: Names besides the offers' own.
    """
    own = {offer.name: offer for offer in (*_fields(), *_derived(), _text(render), *_of_corpus(corpus))}
    offers = dict(own)
    for convention in reversed(conventions):
        offers.update({alias: own[name] for alias, name in convention.aliases.items()})
    return offers


_NOTES = {
    "trajectory_id": "id of the trajectory",
    "question_id": "id of the question",
    "question": "the question as asked",
    "steps": "the steps, in order",
    "answer": "the agent's final answer, not the gold: that is gold_answers",
    "citations": "list of cited passage ids, in order",
    "raw_final": "the final message as written",
    "gold_answers": "list of accepted answers",
    "support_ids": "set of supporting passage ids",
    "model": "name of the model, or None",
    "pool": "name of the pool, or None",
    "sample": "index of the sample, or None",
    "group_id": "id of the group, or None",
    "score": "the reward in the log, or None",
}
_SHY = frozenset({"trajectory_id", "question_id", "model", "pool", "sample", "group_id", "score"})
_PLAIN: Mapping[str, Callable[[Any], Any]] = {"citations": list, "gold_answers": list, "support_ids": set}


def _fields() -> list[Offer]:
    return [
        Offer(name, frozenset({name}), _reader(name, _PLAIN.get(name)), note, shy=name in _SHY)
        for name, note in _NOTES.items()
    ]


def _reader(name: str, plain: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
    read = attrgetter(name)
    return read if plain is None else lambda record: plain(read(record))


def _derived() -> list[Offer]:
    steps = frozenset({"steps"})
    return [
        Offer("record", frozenset(), lambda record: record, "the whole trajectory; what it reads is noted", True),
        Offer("retrieved", steps, lambda record: set(record.retrieved), "set of retrieved passage ids"),
        Offer("cited", frozenset({"citations"}), lambda record: set(record.cited), "set of cited passage ids"),
        Offer("searches", steps, _searches, "list of {'query', 'passages': ids}"),
        Offer("queries", steps, lambda r: [search.query for search in r.steps.searches], "list of queries, in order"),
        Offer("n_searches", steps, lambda record: len(record.steps.searches), "number of searches"),
    ]


def _searches(record: Trajectory) -> list[dict[str, Any]]:
    return [{"query": search.query, "passages": list(search.passages)} for search in record.steps.searches]


def _text(render: Render | None) -> Offer:
    fields = frozenset({"question", "steps", "answer", "citations", "raw_final"})
    offer = Offer("text", fields, render or _nothing, "the trajectory rendered as text")
    return offer if render is not None else replace(offer, lack="needs a log format that can be rendered as text")


def _of_corpus(corpus: Corpus | None) -> list[Offer]:
    steps = frozenset({"steps"})
    note = "list of retrieved {'id', 'title', 'text'}, in order of first retrieval"
    whole = "all passages by id, each with title and text"
    if corpus is None:
        lack = "needs a corpus; none was given"
        return [Offer("passages", steps, _nothing, note, lack=lack), Offer("corpus", steps, _nothing, whole, lack=lack)]

    def passages(record: Trajectory) -> list[dict[str, str]]:
        ids = dict.fromkeys(passage for search in record.steps.searches for passage in search.passages)
        found = [corpus[passage] for passage in ids if passage in corpus]
        return [{"id": passage.id, "title": passage.title, "text": passage.text} for passage in found]

    return [Offer("passages", steps, passages, note), Offer("corpus", frozenset(), lambda _: corpus, whole)]


def _nothing(record: object) -> None:
    """Stand in for what cannot be made; `bind` refuses it before it is called."""


def roles_of(fields: frozenset[str]) -> str:
    """Return the role of a value made of these fields, in words: the most restricted of theirs."""
    if UNTRACKED in fields:
        return "not tracked"
    roles = {TRAJECTORY_ROLES.get(name, Role.ORACLE) for name in fields}
    for role in (Role.ORACLE, Role.VERIFIER_ONLY):
        if role in roles:
            return str(role.value)
    return str(Role.VISIBLE.value)
