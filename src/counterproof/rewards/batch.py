"""Units as arrays: one batch at a time, candidates along the axis M, trajectories along N, components along K."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterproof.core.outcomes import Failed, Outcome, Scored, TimedOut, unpack_scores
from counterproof.rewards.cells import Cell, Setup
from counterproof.rewards.units import Unit

FOOLED, RESISTED, ERRORED, UNSCORED = 0, 1, 2, 3
"""How a candidate or a unit ended; `UNSCORED` is a verifier that gave no verdict without failing."""
_FAR = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of units as arrays.

    Attributes:
        units: The units themselves, length N.
        owner: Index of the unit of each candidate, (M,), not falling.
        place: Index of each candidate within its unit, (M,).
        edit: Index of the edit, (M,).
        position: Where in the record it was made, (M,).
        strict: Whether strictly isolated, (M,).
        deltas: Detector of the edited record less that of the original, in {-1, 0, 1}, (M, number of detectors).
        state: `ERRORED` or `UNSCORED` where original or candidate has no score; else 0, (M,).
        margin: R(original) - R(edited) in reward units, (M,); 0 where `state` says that there is none.
        ranks: By generator, the rank of each candidate, (M,); a very large number where not proposed.
        stratum: Target bits of each candidate's edit on its unit, (M,).
        components: Names of components, those of all scored outcomes.
        payments: Component deltas, original less edited, (M, K); 0 where a component is absent.
        opaque: Part of the margin that no component explains, (M,).
    """

    units: Sequence[Unit]
    owner: NDArray[np.intp]
    place: NDArray[np.intp]
    edit: NDArray[np.intp]
    position: NDArray[np.intp]
    strict: NDArray[np.bool_]
    deltas: NDArray[np.int8]
    state: NDArray[np.int8]
    margin: NDArray[np.float64]
    ranks: dict[str, NDArray[np.int32]]
    stratum: NDArray[np.int64]
    components: tuple[str, ...]
    payments: NDArray[np.float64]
    opaque: NDArray[np.float64]

    def members(self, cell: Cell, *, strict: bool = False) -> NDArray[np.intp]:
        """Return the indices of the candidates that belong to a cell, grouped by unit."""
        ranks = self.ranks.get(cell.generator)
        if ranks is None:  # the generator proposed nothing in this batch
            return np.zeros(0, dtype=np.intp)
        inside = (self.edit == cell.edit) & (ranks < (_FAR if cell.budget is None else cell.budget))
        if cell.stratum is not None:
            inside &= self.stratum == cell.stratum
        if strict:
            inside &= self.strict
        return np.flatnonzero(inside)

    def rank(self, cell: Cell, chosen: NDArray[np.intp]) -> NDArray[np.int32]:
        """Return the rank of candidates under a cell's generator."""
        return self.ranks[cell.generator][chosen]


def batch_of(units: Sequence[Unit], setup: Setup) -> Batch:
    """Return a batch of units as arrays."""
    flat = [(n, m, unit, c) for n, unit in enumerate(units) for m, c in enumerate(unit.candidates)]
    size = len(flat)
    generators = sorted({name for _, _, _, c in flat for name, _ in c.ranks})
    ranks = {name: np.full(size, _FAR, dtype=np.int32) for name in generators}
    for row, (_, _, _, candidate) in enumerate(flat):
        for name, rank in candidate.ranks:
            ranks[name][row] = rank
    before = np.fromiter((unit.flags for _, _, unit, _ in flat), np.int64, size)
    after = np.fromiter((c.flags for _, _, _, c in flat), np.int64, size)
    bits = np.arange(len(setup.detectors))
    state, margin, names, payments = _scores(units, size)
    return Batch(
        units=units,
        owner=np.fromiter((n for n, _, _, _ in flat), np.intp, size),
        place=np.fromiter((m for _, m, _, _ in flat), np.intp, size),
        edit=np.fromiter((c.edit for _, _, _, c in flat), np.intp, size),
        position=np.fromiter((c.position for _, _, _, c in flat), np.intp, size),
        strict=np.fromiter((c.strict for _, _, _, c in flat), np.bool_, size),
        deltas=((after[:, None] >> bits & 1) - (before[:, None] >> bits & 1)).astype(np.int8),
        state=state,
        margin=margin,
        ranks=ranks,
        stratum=np.fromiter((unit.funnel[c.edit].targets for _, _, unit, c in flat), np.int64, size),
        components=names,
        payments=payments,
        opaque=margin - payments.sum(axis=1),
    )


def _scores(
    units: Sequence[Unit], size: int
) -> tuple[NDArray[np.int8], NDArray[np.float64], tuple[str, ...], NDArray[np.float64]]:
    state = np.zeros(size, dtype=np.int8)
    margin = np.zeros(size)
    columns: dict[str, int] = {}
    parts: list[tuple[int, int, list[int], NDArray[np.float64]]] = []
    row = 0
    for unit in units:
        end = row + len(unit.candidates)
        table = unpack_scores(unit.packed) if unit.candidates else None
        if table is not None:
            names, _, count, flat = table
            values = np.frombuffer(flat, dtype=np.float64).reshape(count, 1 + len(names))
            margin[row:end] = values[0, 0] - values[1:, 0]
            slots = [columns.setdefault(name, len(columns)) for name in names]
            parts.append((row, end, slots, values[0, 1:] - values[1:, 1:]))
        elif unit.candidates:
            parts += _mixed(unit.outcomes, row, state, margin, columns)
        row = end
    payments = np.zeros((size, len(columns)))
    for start, stop, slots, deltas in parts:
        payments[start:stop, slots] += deltas
    order = sorted(columns)
    return state, margin, tuple(order), payments[:, [columns[name] for name in order]]


def _mixed(
    outcomes: Sequence[Outcome],
    start: int,
    state: NDArray[np.int8],
    margin: NDArray[np.float64],
    columns: dict[str, int],
) -> list[tuple[int, int, list[int], NDArray[np.float64]]]:
    """Fill in the margins of a unit whose outcomes are not all scores of one layout; return its component deltas."""
    base = outcomes[0]
    parts = []
    for row, outcome in enumerate(outcomes[1:], start):
        if type(base) is Scored and type(outcome) is Scored:
            margin[row] = base.score - outcome.score
            for scored, sign in ((base, 1.0), (outcome, -1.0)):
                slots = [columns.setdefault(name, len(columns)) for name, _ in scored.components]
                parts.append((row, row + 1, slots, sign * np.array([[value for _, value in scored.components]])))
        else:
            failed = any(isinstance(one, (Failed, TimedOut)) for one in (base, outcome))
            state[row] = ERRORED if failed else UNSCORED
    return parts
