"""Detectors: named statements about one trajectory that are true when it breaks the contract.

*Contract* detectors (U, L, F) define what an edit must break and what it must leave alone to be isolated; *hygiene*
detectors must stay unchanged for an edit to be strictly isolated. Definitions are ours; weights marked `published` in
the documentation come from the HERALD paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from counterproof.core.errors import BoundaryError, InputError
from counterproof.core.records import Corpus, Trajectory
from counterproof.core.views import TRAJECTORY_ROLES, FieldView, Role
from counterproof.rewards.foreign import operator_error

OVER_RETRIEVAL = 5
"""More searches than this is over-retrieval."""
REPEAT_JACCARD = 0.8
"""Two queries whose token sets overlap at least this much are a repeat."""


@dataclass(frozen=True, slots=True)
class Detector:
    """A named statement about a trajectory; true means that the contract is broken.

    Attributes:
        name: Short and unique; findings name it.
        detect: The statement, of a record and the corpus.
        reads: Fields of the record that it reads; those of a label make it label-reading.
        needs: What a pool must be able to say at all (`corpus`, `citations`, ...); else it is not applicable.
        contract: Whether it is part of the contract (isolation) or of hygiene (strict isolation).
        weight: Penalty in reward units with which it enters the lattice of repairs; None keeps it out.
        title: What it means, in words.
        trusted: Built in: called with the record itself rather than through a field view.
    """

    name: str
    detect: Callable[[Any, Corpus], bool]
    reads: frozenset[str]
    needs: frozenset[str] = frozenset()
    contract: bool = False
    weight: float | None = None
    title: str = ""
    trusted: bool = False

    def __call__(self, record: Trajectory, corpus: Corpus) -> bool:
        """Return whether the contract is broken in this way.

        Raises:
            BoundaryError: It read a field that it did not declare.
            OperatorError: It is from outside and raised; the message names it, the trajectory and the line.
        """
        return self.callable(record, corpus)

    @property
    def callable(self) -> Callable[[Trajectory, Corpus], bool]:
        """The statement on whole records: through a field view of what it declares, unless it is built in."""
        if self.trusted:
            return self.detect
        return self._guarded

    def _guarded(self, record: Trajectory, corpus: Corpus) -> bool:
        owner = f"detector '{self.name}'"
        try:
            return bool(self.detect(FieldView(record, self.reads, owner), corpus))
        except BoundaryError:
            raise
        except (Exception, SystemExit) as error:
            raise operator_error(owner, self.detect, record, error) from error

    @property
    def reads_labels(self) -> bool:
        """Whether it reads a field that the judged party must not see."""
        return any(TRAJECTORY_ROLES[name] is not Role.VISIBLE for name in self.reads)


def detector(
    name: str,
    *,
    reads: Iterable[str],
    needs: Iterable[str] = (),
    contract: bool = False,
    weight: float | None = None,
    title: str = "",
) -> Callable[[Callable[[Any, Corpus], bool]], Detector]:
    """Return a decorator that makes a function `(view, corpus) -> bool` a detector.

    Raises:
        InputError: A field in `reads` does not exist.
    """
    fields = _known(reads, f"detector '{name}'")

    def decorate(function: Callable[[Any, Corpus], bool]) -> Detector:
        words = title or (function.__doc__ or name).strip().splitlines()[0]
        return Detector(name, function, fields, frozenset(needs), contract, weight, words)

    return decorate


def _known(names: Iterable[str], owner: str) -> frozenset[str]:
    from counterproof.core.errors import Problem, nearest

    fields = frozenset(names)
    unknown = sorted(fields - TRAJECTORY_ROLES.keys())
    if unknown:
        raise InputError(
            f"{owner} declares fields that a trajectory does not have",
            [Problem(name, "unknown field", nearest(name, TRAJECTORY_ROLES)) for name in unknown],
        )
    return fields


def under_retrieval(record: Trajectory, corpus: Corpus) -> bool:
    """U: a nonempty answer and no search."""
    return not record.steps.searches and bool(record.answer.strip())


def cited_not_retrieved(record: Trajectory, corpus: Corpus) -> bool:
    """L: some cited id is a real passage that was never retrieved."""
    retrieved, passages = record.steps.retrieved, corpus.passages
    for cited in record.citations:  # noqa: SIM110 - `any` over a generator takes three times as long here
        if cited not in retrieved and cited in passages:
            return True
    return False


def fake_citation(record: Trajectory, corpus: Corpus) -> bool:
    """F: some cited id is no passage of the corpus."""
    passages = corpus.passages
    for cited in record.citations:  # noqa: SIM110 - `any` over a generator takes three times as long here
        if cited not in passages:
            return True
    return False


def support_mismatch(record: Trajectory, corpus: Corpus) -> bool:
    """Some cited id is no support id (reads labels)."""
    return not record.support_ids.issuperset(record.citations)


def repeated_query(record: Trajectory, corpus: Corpus) -> bool:
    """Some pair of queries has token sets with Jaccard similarity of at least .8."""
    return record.steps.largest_query_overlap >= REPEAT_JACCARD


def over_retrieval(record: Trajectory, corpus: Corpus) -> bool:
    """More than five searches."""
    return len(record.steps.searches) > OVER_RETRIEVAL


def answer_without_citation(record: Trajectory, corpus: Corpus) -> bool:
    """A nonempty answer that cites nothing."""
    return not record.citations and bool(record.answer.strip())


def _built_in(
    name: str,
    function: Callable[[Any, Corpus], bool],
    reads: str,
    needs: str = "",
    *,
    contract: bool = False,
    weight: float | None = None,
) -> Detector:
    title = (function.__doc__ or "").strip().splitlines()[0]
    return Detector(
        name, function, frozenset(reads.split()), frozenset(needs.split()), contract, weight, title, trusted=True
    )


DETECTORS: tuple[Detector, ...] = (
    _built_in("U", under_retrieval, "answer steps", "answers", contract=True, weight=1.6),
    _built_in("L", cited_not_retrieved, "citations steps", "passages citations", contract=True, weight=1.2),
    _built_in("F", fake_citation, "citations", "corpus citations", contract=True, weight=1.0),
    _built_in("support_mismatch", support_mismatch, "citations support_ids", "citations support_ids"),
    _built_in("repeated_query", repeated_query, "steps"),
    _built_in("over_retrieval", over_retrieval, "steps"),
    _built_in("answer_without_citation", answer_without_citation, "answer citations", "citations"),
)
"""The built-in detectors, in the order of their bits."""

STRICT = frozenset({"repeated_query", "over_retrieval", "answer_without_citation"})
"""Hygiene detectors that a strictly isolated edit leaves unchanged, besides those that users add."""
