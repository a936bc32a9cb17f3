"""The corpus of a pool, and the translation of the ids that source files used into content ids."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from counterproof.adapters.fields import Fields
from counterproof.adapters.formats import MARKER
from counterproof.adapters.lines import ProblemList, Row, existing, read_rows
from counterproof.core.errors import InputError, Problem
from counterproof.core.records import Corpus, Search, Steps, Trajectory, build_corpus, passage_id, question_id

Triple: TypeAlias = tuple[str, str, str]
"""Source id, title, text."""
SHAPES = (
    "a corpus row has id, title, and text or sentences; a question row has id, question and passages "
    "[{id, title, text or sentences}]"
)


class AmbiguousId(Exception):  # noqa: N818 - caught in this room and turned into a problem of a row
    """A source id names several passages, and nothing says which."""


@dataclass(frozen=True, slots=True)
class Names:
    """What source ids mean.

    Attributes:
        shared: Content ids by source id, over the whole corpus.
        scoped: The same within one question, for files that number passages per question.
    """

    shared: Mapping[str, frozenset[str]]
    scoped: Mapping[str, Mapping[str, str]]

    def resolve(self, name: str, own: Mapping[str, str], question: str, corpus: Corpus) -> str:
        """Return the content id that a name stands for: in the row itself, as a content id, in its question, overall.

        A name that is none of these stays as it is.

        Raises:
            AmbiguousId: It names several passages of the corpus.
        """
        if name in own:
            return own[name]
        if name in corpus:
            return name
        here = self.scoped.get(question, {})
        if name in here:
            return here[name]
        found = self.shared.get(name, frozenset())
        if len(found) > 1:
            raise AmbiguousId(f"{name!r} names {len(found)} different passages of the corpus")
        return next(iter(found), name)


def names_of(corpus: Corpus, scoped: Mapping[str, Mapping[str, str]] | None = None) -> Names:
    """Return the names that a corpus keeps as aliases."""
    shared: dict[str, frozenset[str]] = {}
    for passage in corpus.passages.values():
        for alias in passage.aliases:
            shared[alias] = shared.get(alias, frozenset()) | {passage.id}
    return Names(shared, scoped or {})


def translate(record: Trajectory, own: Mapping[str, str], names: Names, corpus: Corpus) -> Trajectory:
    """Return a record whose passage ids are content ids, in steps, citations, markers and support ids alike.

    Raises:
        AmbiguousId: A name in it stands for several passages.
    """
    known: dict[str, str] = {}

    def to(name: str) -> str:
        if name not in known:
            known[name] = names.resolve(name, own, record.question_id, corpus)
        return known[name]

    steps = Steps(
        dataclasses.replace(step, passages=tuple(map(to, step.passages))) if isinstance(step, Search) else step
        for step in record.steps
    )
    citations = tuple(map(to, record.citations))
    support_ids = frozenset(map(to, record.support_ids))
    if all(old == new for old, new in known.items()):
        return record
    cited = set(record.citations)

    def marker(match: re.Match[str]) -> str:
        return f"[{to(match[1])}]" if match[1] in cited else match[0]

    return dataclasses.replace(
        record,
        steps=steps,
        citations=citations,
        support_ids=support_ids,
        raw_final=MARKER.sub(marker, record.raw_final),
        answer=MARKER.sub(marker, record.answer),
    )


def read_corpus(
    path: Path, update: Callable[[bytes], object], *, complete: bool = True
) -> tuple[Corpus, dict[str, dict[str, str]]]:
    """Return the corpus of a file, equal texts merged, and per question the content ids by source id.

    Args:
        path: JSON lines of passages, or of questions that hold their passages.
        update: Is fed the file's content, for a digest.
        complete: Whether this is all that the agent could search.

    Raises:
        InputError: The file has bad rows (all are named) or none.
    """
    problems = ProblemList()
    scoped: dict[str, dict[str, str]] = {}
    triples: dict[Triple, None] = {}
    rows = 0
    for row in read_rows(existing(path, "corpus"), update):
        rows += 1
        if isinstance(row, Problem):
            problems.add(row)
            continue
        found, scopes, bad = _passages(row)
        problems.add(*bad)
        for source_id, title, text in found:
            triples[source_id, title, text] = None
            for scope in scopes:
                scoped.setdefault(scope, {})[source_id] = passage_id(title, text)
    problems.raise_if_any(f"{path} cannot be used as a corpus; {SHAPES}")
    if not rows:
        raise InputError(f"{path} is empty; {SHAPES}")
    return build_corpus(_without_own_ids(triples), complete=complete), scoped


def _without_own_ids(triples: Iterable[Triple]) -> Iterable[Triple]:
    for source_id, title, text in triples:
        yield ("" if source_id == passage_id(title, text) else source_id), title, text


def _passages(row: Row) -> tuple[list[Triple], tuple[str, ...], list[Problem]]:
    fields = Fields(row)
    if fields.has("passages"):
        question = fields.text("question")
        names = (fields.identifier("question_id"), fields.identifier("id"), question_id(question) if question else None)
        scopes = tuple(name for name in names if name is not None)
        found = [
            passage
            for i, entry in enumerate(fields.array("passages"))
            if (inner := fields.nested(f"passages[{i}]", entry)) and (passage := read_passage(inner))
        ]
        return found, scopes, fields.problems
    passage = read_passage(fields)
    scope = fields.identifier("question_id")
    found = [passage] if passage else []
    found += [(alias, *found[0][1:]) for alias in fields.identifiers("aliases") if found]
    return found, (scope,) if scope else (), fields.problems


def read_passage(fields: Fields) -> Triple | None:
    """Return source id, title and text of a passage; sentences are joined by one space. None when it is bad."""
    before = len(fields.problems)
    name = next((name for name in ("text", "paragraph_text", "sentences") if fields.has(name)), None)
    if name is None:
        fields.note("text", "is missing", "give text, or sentences")
        return None
    text = " ".join(map(str.strip, fields.texts(name))) if name == "sentences" else fields.text(name)
    source_id = fields.identifier("id" if fields.has("id") else "idx") or ""
    title = fields.text("title")
    if len(fields.problems) > before:
        return None
    return source_id, title, text
