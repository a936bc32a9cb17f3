"""Any numerical verifier as a table: evidence views x verdict x score, with typed outcomes for missing verdicts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterproof.core.episodes import Call, Done, Event, Request, Verify
from counterproof.core.errors import InputError, Problem
from counterproof.core.outcomes import (
    Abstained,
    Failed,
    NotApplicable,
    NotQueried,
    Outcome,
    Scored,
    outcome_of,
    pack,
    unpack,
)
from counterproof.core.seeds import ItemSeed
from counterproof.equations.scores import scores
from counterproof.equations.verdicts import INCONCLUSIVE, OUTSIDE
from counterproof.equations.verifier import ViewTable

OPEN = -1
NO_VERDICT = -2
UNKNOWN = -3
"""Codes below 0 are categories: the verifier does not decide, it gave no verdict, the truth is not known."""

PROBLEMS_SHOWN = 20


NO_SCORE = NotApplicable("the verifier gives no score")


@dataclass(frozen=True, slots=True)
class Cell:
    """What a verifier said of one item on one evidence view.

    Attributes:
        item: The item's key.
        view: The view's name.
        verdict: A definitive verdict in words, or None where the verifier does not decide.
        score: The score as an outcome. `Failed`, `TimedOut` and `NotQueried` mean that there is no verdict either.
    """

    item: str
    view: str
    verdict: str | None
    score: Outcome = NO_SCORE

    @property
    def has_verdict(self) -> bool:
        """Whether the verifier answered at all, be it without deciding."""
        return isinstance(self.score, (Scored, Abstained, NotApplicable))


@dataclass(frozen=True, slots=True)
class EvidenceTable:
    """Verdicts and scores of I items on V permitted views.

    Attributes:
        items: Keys of the items.
        views: Names of the views.
        verdicts: The definitive verdicts that occur, or are true, in words.
        verdict: Position in `verdicts`, `OPEN` or `NO_VERDICT`, (I, V).
        score: Scores, (I, V); 0 where `scored` is false, to be read only where it is true.
        scored: Whether there is a score, (I, V).
        missing: Why a cell has no verdict.
        cluster: The sampling unit of each item, (I,), as positions; items of one cluster are not independent.
        truth: Position in `verdicts`, or `UNKNOWN`, (I,).
    """

    items: tuple[str, ...]
    views: tuple[str, ...]
    verdicts: tuple[str, ...]
    verdict: NDArray[np.int64]
    score: NDArray[np.float64]
    scored: NDArray[np.bool_]
    missing: Mapping[tuple[int, int], Outcome]
    cluster: NDArray[np.int64]
    truth: NDArray[np.int64]

    def reason(self, item: int, view: int) -> str:
        """Return why a cell has no verdict, in words; empty where it has one."""
        outcome = self.missing.get((item, view))
        return "" if outcome is None else f"{type(outcome).__name__}: {getattr(outcome, 'reason', 'no reply in time')}"


def build_evidence(
    cells: Iterable[Cell],
    *,
    clusters: Mapping[str, str] | None = None,
    truth: Mapping[str, str] | None = None,
) -> EvidenceTable:
    """Return the table of cells; items and views in the order of first appearance, absent cells `NotQueried`.

    Args:
        cells: What the verifier said.
        clusters: Sampling unit of items; an item that is not named is its own unit.
        truth: True verdict of items, for an analysis after the fact; others are unknown.

    Raises:
        InputError: There is no cell, a cell stands twice, or truth or clusters name an item that has none.
    """
    told = list(cells)
    items, views = list(dict.fromkeys(c.item for c in told)), list(dict.fromkeys(c.view for c in told))
    _check(told, items, (clusters or {}, truth or {}))
    words = {c.verdict for c in told if c.has_verdict and c.verdict is not None} | set((truth or {}).values())
    verdicts = tuple(sorted(words))
    code, row, column = ({name: i for i, name in enumerate(names)} for names in (verdicts, items, views))
    verdict = np.full((len(items), len(views)), NO_VERDICT, dtype=np.int64)
    score, scored = np.zeros(verdict.shape), np.zeros(verdict.shape, dtype=bool)
    missing: dict[tuple[int, int], Outcome] = {}
    for cell in told:
        at = row[cell.item], column[cell.view]
        if cell.has_verdict:
            verdict[at] = OPEN if cell.verdict is None else code[cell.verdict]
        else:
            missing[at] = cell.score
        if isinstance(cell.score, Scored):
            score[at], scored[at] = cell.score.score, True
    for i, v in np.argwhere(verdict == NO_VERDICT):
        missing.setdefault((int(i), int(v)), NotQueried("no cell for this item and view"))
    units = [(clusters or {}).get(item, item) for item in items]
    place = {unit: i for i, unit in enumerate(sorted(set(units)))}
    return EvidenceTable(
        *(tuple(items), tuple(views), verdicts, verdict, score, scored, missing),
        cluster=np.array([place[unit] for unit in units], dtype=np.int64),
        truth=np.array([code[(truth or {})[i]] if i in (truth or {}) else UNKNOWN for i in items], dtype=np.int64),
    )


def _check(told: Sequence[Cell], items: Sequence[str], named: tuple[Mapping[str, str], Mapping[str, str]]) -> None:
    if not told:
        raise InputError("there is no cell; an evidence table needs an item, a view and what the verifier said")
    seen: set[tuple[str, str]] = set()
    problems = []
    for cell in told:
        if (cell.item, cell.view) in seen:
            problems.append(Problem(f"item '{cell.item}', view '{cell.view}'", "stands twice"))
        seen.add((cell.item, cell.view))
    for kind, mapping in zip(("clusters", "truth"), named, strict=True):
        problems += [Problem(kind, f"names '{key}', which has no cell") for key in mapping if key not in set(items)]
    if problems:
        raise InputError("the evidence table cannot be built", problems[:PROBLEMS_SHOWN], len(problems))


def tabulate(
    verifier: Callable[[Any, Any], object], items: Mapping[str, Any], views: Mapping[str, Any]
) -> tuple[Cell, ...]:
    """Return the cells of a verifier that is called as verifier(record, view), items first.

    It may return a verdict in words, None (it does not decide), a pair of one of these and a score, or an outcome. What
    it raises becomes `Failed`; a score that is no finite number too.

    Args:
        verifier: The verifier, called once per cell in this process; use `EvidenceEpisode` for isolated calls.
        items: Records by key.
        views: Views by name, in whatever form the verifier takes them.
    """
    found = []
    for key, record in items.items():
        for name, view in views.items():
            try:
                found.append(_told(key, name, verifier(record, view)))
            except Exception as error:  # noqa: BLE001 - foreign code is called here
                found.append(Cell(key, name, None, Failed(f"raised {type(error).__name__}: {error}"[:200])))
    return tuple(found)


def _told(item: str, view: str, said: object) -> Cell:
    verdict, score = said if isinstance(said, tuple) and len(said) == 2 else (said, NO_SCORE)
    if isinstance(verdict, Outcome):
        return Cell(item, view, None, verdict)
    if verdict is not None and not isinstance(verdict, str):
        return Cell(item, view, None, Failed(f"returned a verdict of type {type(verdict).__name__}; give text or None"))
    return Cell(item, view, verdict, outcome_of(score))


def lab_evidence(
    table: ViewTable,
    truth: NDArray[np.int64],
    clusters: NDArray[np.int64],
    score: NDArray[np.float64] | None = None,
) -> EvidenceTable:
    """Return the equation lab's own table as an evidence table: its first client.

    Args:
        table: Verdicts on the permitted views.
        truth: True signatures, (E,).
        clusters: The sampling unit of each episode, (E,); here the seed within its family.
        score: Scores, (E, V); the public ones if not given.
    """
    known = sorted({*np.unique(table.signature), *np.unique(truth)} - {INCONCLUSIVE})
    names = tuple("outside" if s == OUTSIDE else " + ".join(table.support_names(int(s))) for s in known)
    code = np.searchsorted(known, table.signature)
    return EvidenceTable(
        items=tuple(str(e) for e in range(len(table))),
        views=tuple(view.name for view in table.views),
        verdicts=names,
        verdict=np.where(table.signature == INCONCLUSIVE, OPEN, code).astype(np.int64),
        score=scores(table) if score is None else score,
        scored=np.ones(table.signature.shape, dtype=bool),
        missing={},
        cluster=np.unique(clusters, return_inverse=True)[1].astype(np.int64),
        truth=np.searchsorted(known, truth).astype(np.int64),
    )


@dataclass(frozen=True, slots=True)
class EvidenceState:
    """An item whose views are being judged."""

    item: str
    request: Verify


@dataclass(frozen=True, slots=True)
class EvidenceEpisode:
    """Ask a verifier about one record on every permitted view in one request; the context holds the views by name.

    Each call's record is the pair (record, view). A reply's component `verdict` is the code of a definitive verdict,
    below 0 where it does not decide; its score is the score.
    """

    verifier: str = "verifier"

    def start(self, item: Any, context: Mapping[str, Any], seed: ItemSeed) -> EvidenceState:
        """Return the state with the request made."""
        calls = tuple(Call(name, (item, view)) for name, view in context.items())
        return EvidenceState(seed.key, Verify(calls, self.verifier))

    def step(self, state: EvidenceState, event: Event | None) -> tuple[EvidenceState, Request | Done[tuple[Cell, ...]]]:
        """Return the request, then the item's cells."""
        if event is None:
            return state, state.request
        calls = zip(state.request.calls, event.outcomes, strict=True)
        return state, Done(tuple(_answered(state.item, call.name, outcome) for call, outcome in calls))

    def encode(self, result: tuple[Cell, ...]) -> bytes:
        """Return the cells as bytes for the ledger."""
        head = json.dumps([[c.item, c.view, c.verdict] for c in result], separators=(",", ":")).encode()
        return len(head).to_bytes(4, "little") + head + pack([c.score for c in result])


def decode_cells(payload: bytes) -> tuple[Cell, ...]:
    """Return the cells that `EvidenceEpisode.encode` wrote.

    Raises:
        InputError: The bytes are not of that form.
    """
    size = int.from_bytes(payload[:4], "little")
    try:
        rows = json.loads(payload[4 : 4 + size])
        outcomes = unpack(payload[4 + size :])
        return tuple(
            Cell(item, view, verdict, score) for (item, view, verdict), score in zip(rows, outcomes, strict=True)
        )
    except (ValueError, TypeError) as error:
        raise InputError(f"not encoded cells of an evidence table: {error}") from None


def _answered(item: str, view: str, outcome: Outcome) -> Cell:
    if not isinstance(outcome, Scored):
        return Cell(item, view, None, outcome)
    code = dict(outcome.components).get("verdict")
    if code is None:
        return Cell(item, view, None, Failed("the reply has no component 'verdict'"))
    return Cell(item, view, None if code < 0 else f"{code:g}", outcome)
