"""Edits: counterfactual operators that break the contract in one named way and change nothing else.

An edit is deterministic. It sees a trajectory through a field view of what it declares to read, and returns changes to
the fields that it declares to write; everything else is kept by construction.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

from counterproof.core.errors import BoundaryError, InputError, OperatorError
from counterproof.core.records import Corpus, Search, Steps, Trajectory
from counterproof.core.views import FieldView
from counterproof.rewards.detectors import _known
from counterproof.rewards.foreign import operator_error
from counterproof.rewards.ranking import Ranker

SINGLE = "only"
"""The generator's name where an edit has one list of candidates."""


@dataclass(frozen=True, slots=True)
class EditContext:
    """What edits may use besides the record.

    Attributes:
        corpus: P, the pool's corpus.
        rankers: Ranked candidate passages outside E, by generator name.
        depths: The largest K that is asked of each generator.
    """

    corpus: Corpus
    rankers: Mapping[str, Ranker] = field(default_factory=dict)
    depths: Mapping[str, int] = field(default_factory=dict)


class Candidate(NamedTuple):
    """One edited version of a trajectory. A named tuple, because an audit makes one for nearly every call.

    Attributes:
        key: Unique within the edit and the trajectory; stable over runs.
        changes: New values of the written fields.
        position: Where in the record it was made; orders candidates of one rank.
        ranks: Generator name and rank from 0, for each generator that proposed it.
        ties: Generator name, whether its two best passages tie, and whether its budget's edge falls in a tie.
    """

    key: str
    changes: Mapping[str, Any]
    position: int = 0
    ranks: tuple[tuple[str, int], ...] = ((SINGLE, 0),)
    ties: tuple[tuple[str, bool, bool], ...] = ()


Make = Callable[[Any, EditContext], Iterable[Candidate]]
Targets = Callable[[Any, EditContext], frozenset[str]]


@dataclass(frozen=True, slots=True)
class Edit:
    """A counterfactual operator.

    Attributes:
        name: Short and unique; findings name it.
        make: Candidates for a view, in order; none when the edit is not constructible.
        targets: D, the detectors that it must turn from 0 to 1.
        reads: Fields that it reads.
        writes: Fields that it changes.
        needs: What a pool must be able to say (`passages`, `citations`, ...); else it is not applicable.
        generators: The budgets K reported for each generator of candidates, smallest first.
        strata: Sets of targets whose units are reported apart; empty where there is one set.
        code: Code of its finding.
        proven: Whether the edited record is wrong by construction; else its findings are leads.
        title: What it does, in words.
        aims: Every detector that `targets` may name, to be checked before anything runs; empty where it is not known.
    """

    name: str
    make: Make
    targets: Targets
    reads: frozenset[str]
    writes: frozenset[str]
    needs: frozenset[str] = frozenset()
    generators: tuple[tuple[str, tuple[int, ...]], ...] = ((SINGLE, (1,)),)
    strata: tuple[frozenset[str], ...] = ()
    code: str = "RW104"
    proven: bool = False
    title: str = ""
    aims: frozenset[str] = frozenset()

    def view(self, record: Trajectory) -> Any:
        """Return the field view through which this edit sees a record."""
        return FieldView(record, self.reads, f"edit '{self.name}'")

    def apply(self, record: Trajectory, candidate: Candidate) -> Trajectory:
        """Return the edited record.

        Raises:
            BoundaryError: The candidate changes a field that the edit did not declare to write.
        """
        if not self.writes.issuperset(candidate.changes):
            wrong = ", ".join(sorted(candidate.changes.keys() - self.writes))
            raise BoundaryError(f"edit '{self.name}' changed {wrong}, which it did not declare to write")
        return record.edited(candidate.changes)

    def blame(self, record: Trajectory, error: BaseException) -> NoReturn:
        """Raise an error that came up under this edit: as it is, or, when the edit is from outside, one that names it.

        Raises:
            OperatorError: The edit is from outside, and nothing below it was blamed already.
        """
        if self in EDITS or isinstance(error, (BoundaryError, OperatorError)):
            raise error
        raise operator_error(f"edit '{self.name}'", self.make, record, error) from error


def edit(
    name: str,
    *,
    reads: Iterable[str],
    writes: Iterable[str],
    targets: Iterable[str],
    needs: Iterable[str] = (),
    generators: Mapping[str, Iterable[int]] | None = None,
    proven: bool = False,
) -> Callable[[Make], Edit]:
    """Return a decorator that makes a function `(view, context) -> candidates` an edit.

    Args:
        name: Short and unique.
        reads: Fields that the function reads; reading another raises `BoundaryError`.
        writes: Fields that its candidates change.
        targets: Detectors that it must turn from 0 to 1.
        needs: What the pool must be able to say.
        generators: Budgets K by generator; by default one list of candidates.
        proven: True only when every candidate is wrong by construction.

    The first line of the function's docstring is the edit's title.

    Raises:
        InputError: A field does not exist, or no target is named.
    """
    wanted = frozenset(targets)
    if not wanted:
        raise InputError(f"edit '{name}' names no target; name the detectors that it must turn from 0 to 1")
    budgets = tuple((key, tuple(sorted(ks))) for key, ks in (generators or {SINGLE: (1,)}).items())

    def decorate(function: Make) -> Edit:
        return Edit(
            name=name,
            make=function,
            targets=lambda view, context: wanted,
            reads=_known(reads, f"edit '{name}'"),
            writes=_known(writes, f"edit '{name}'"),
            needs=frozenset(needs),
            generators=budgets,
            proven=proven,
            title=(function.__doc__ or name).strip().splitlines()[0],
            aims=wanted,
        )

    return decorate


def _delete_searches(view: Any, context: EditContext) -> Iterator[Candidate]:
    if view.steps.searches:
        yield Candidate("all", {"steps": Steps(step for step in view.steps if type(step) is not Search)})


def _deletion_targets(view: Any, context: EditContext) -> frozenset[str]:
    passages = context.corpus.passages
    cites_real = any(cited in passages for cited in view.citations)
    return frozenset("UL") if cites_real else frozenset("U")


def _fabricate(view: Any, context: EditContext) -> Iterator[Candidate]:
    name = view.trajectory_id
    for position, slot in citation_slots(view):
        fake = _nonexistent(f"{name}/{position}", context.corpus)
        yield Candidate(str(position), slot.replaced(fake), position)


def _nonexistent(key: str, corpus: Corpus) -> str:
    attempt = 0
    while True:
        fake = "nonexistent-" + hashlib.sha256(f"{key}/{attempt}".encode()).hexdigest()[:12]
        if fake not in corpus:
            return fake
        attempt += 1


def _launder(view: Any, context: EditContext) -> Iterator[Candidate]:
    citations = view.citations
    if not citations:
        return
    exclude = view.retrieved
    ranks: dict[str, list[tuple[str, int]]] = {}
    ties: list[tuple[str, bool, bool]] = []
    for name, ranker in context.rankers.items():
        ranking = ranker.rank(view.question, view.answer, exclude, context.depths[name])
        ties.append((name, ranking.tie_at_top, ranking.tie_at_edge))
        for rank, passage in enumerate(ranking.passages):
            ranks.setdefault(passage, []).append((name, rank))
    slots = tuple(citation_slots(view))
    tied = tuple(ties)
    for passage, found in ranks.items():
        ranked = tuple(found)
        for position, slot in slots:
            yield Candidate(f"{position}:{passage}", slot.replaced(passage), position, ranked, tied)


class CitationSlot(NamedTuple):
    """The place of one citation: what stands around it in the list, and around its marker in the final message.

    `text` is None where the message has no marker for it.
    """

    head: tuple[str, ...]
    tail: tuple[str, ...]
    text: tuple[str, str] | None

    def replaced(self, new: str) -> dict[str, Any]:
        """Return the changes that put another id here; an id without white space keeps the number of tokens."""
        citations = (*self.head, new, *self.tail)
        if self.text is None:
            return {"citations": citations}
        return {"citations": citations, "raw_final": f"{self.text[0]}[{new}]{self.text[1]}"}


def citation_slots(view: Any) -> Iterator[tuple[int, CitationSlot]]:
    """Yield position and slot of every citation. The second citation of an id belongs to its second marker `[id]`.

    An id with white space whose marker stands in the message has no slot: replacing it would change the length too.
    """
    citations, text = view.citations, view.raw_final
    after: dict[str, int] = {}
    for position, old in enumerate(citations):
        marker = f"[{old}]"
        start = text.find(marker, after.get(old, 0)) if after.get(old, 0) >= 0 else -1
        after[old] = start + len(marker) if start >= 0 else -1
        around = (text[:start], text[start + len(marker) :]) if start >= 0 else None
        if around is None or len(old.split()) == 1:
            yield position, CitationSlot(citations[:position], citations[position + 1 :], around)


LEXICAL_BUDGETS = (8,)
BM25_BUDGETS = (1, 2, 4, 8, 16)

EDITS: tuple[Edit, ...] = (
    Edit(
        name="same_final",
        make=_delete_searches,
        targets=_deletion_targets,
        reads=frozenset({"steps", "citations"}),
        writes=frozenset({"steps"}),
        strata=(frozenset("U"), frozenset("UL")),
        code="RW101",
        proven=True,
        title="delete all searches and what they returned; keep the final answer",
    ),
    Edit(
        name="fake_id",
        make=_fabricate,
        targets=lambda view, context: frozenset("F"),
        reads=frozenset({"trajectory_id", "citations", "raw_final"}),
        writes=frozenset({"citations", "raw_final"}),
        needs=frozenset({"corpus", "citations"}),
        code="RW102",
        proven=True,
        title="replace one citation by an id that no passage has",
    ),
    Edit(
        name="launder",
        make=_launder,
        targets=lambda view, context: frozenset("L"),
        reads=frozenset({"question", "answer", "steps", "citations", "raw_final"}),
        writes=frozenset({"citations", "raw_final"}),
        needs=frozenset({"passages", "passage_texts", "citations"}),
        generators=(("lexical", LEXICAL_BUDGETS), ("bm25", BM25_BUDGETS)),
        code="RW103",
        proven=True,
        title="replace one citation by a real passage that was never retrieved",
    ),
)
"""The built-in edits."""
