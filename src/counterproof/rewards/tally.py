"""Sufficient statistics of an audit: all that is kept of the units seen, by cluster, so that memory stays flat."""

from __future__ import annotations

import heapq
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from counterproof.core.outcomes import Abstained, Failed, Outcome, Scored, TimedOut, unpack_scores
from counterproof.rewards.batch import FOOLED, RESISTED, UNSCORED, Batch, batch_of
from counterproof.rewards.cells import TOLERANCE, Cell, Setup, cells_of
from counterproof.rewards.lattice import Delta, Lattice, endings, lattice_of
from counterproof.rewards.selection import Selected, Selector, select
from counterproof.rewards.units import Unit
from counterproof.stats.sums import ClusterSums

BATCH = 512
"""Units turned into arrays at a time."""
EXAMPLES = 3
"""Worst units kept as evidence for each attack."""


@dataclass(frozen=True, slots=True)
class Column:
    """One rate that is counted: a cell under a selector, over isolated or strictly isolated candidates.

    `common` counts only units that have an isolated candidate for every edit.
    """

    cell: Cell
    selector: Selector
    strict: bool = False
    common: bool = False


@dataclass
class Cancellation:
    """Sums over the worst candidates of a cell: what the edit cost and what paid it back.

    Attributes:
        penalty: Sum of positive component deltas, in reward units.
        payback: Minus the sum of negative ones.
        payers: Payback by component.
        penalties: Penalty by component.
        unpenalised: Units in which no component fell, nor what no component explains.
        opaque: Largest absolute part of a margin that no component explains.
        units: Units summed over.
    """

    penalty: float = 0.0
    payback: float = 0.0
    payers: Counter[str] = field(default_factory=Counter)
    penalties: Counter[str] = field(default_factory=Counter)
    unpenalised: int = 0
    opaque: float = 0.0
    units: int = 0


@dataclass(frozen=True, slots=True, order=True)
class Example:
    """A unit kept as evidence: ordered by margin, then by names so that ties do not depend on order.

    `outcomes` are those of the original and of the edited record.
    """

    margin: float
    trajectory_id: str
    key: str
    edit: int
    outcomes: tuple[Outcome, Outcome] = field(compare=False)


class Tally:
    """Counts of an audit, by question.

    Attributes:
        columns: What is counted, in order; `fooled` and `units` have one column each.
        fooled: Units fooled, by cluster.
        units: Units fooled or resisted, by cluster.
        lattice_fooled: Units fooled, by cluster, for each cell and subset (cell-major).
        lattice_units: Units fooled or resisted, likewise.
        incidence: Originals on which each detector fires, then all originals, by cluster.
    """

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.cells = cells_of(setup)
        self.lattice: Lattice = lattice_of(setup)
        self.columns = tuple(
            Column(cell, selector, strict, common)
            for cell in self.cells
            for selector, strict, common in (
                (Selector.FIRST_VISIBLE, False, False),
                (Selector.LAST_POSITION, False, False),
                (Selector.ORACLE_WORST, False, False),
                (Selector.ORACLE_WORST, True, False),
                (Selector.ORACLE_WORST, False, True),
            )
        )
        width, subsets = max(1, len(self.columns)), len(self.lattice.subsets)
        self.fooled, self.units = ClusterSums(width), ClusterSums(width)
        self.lattice_fooled = ClusterSums(max(1, len(self.cells) * subsets))
        self.lattice_units = ClusterSums(max(1, len(self.cells) * subsets))
        self.incidence = ClusterSums(len(setup.detectors) + 1)
        self.funnel: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
        self.edge_ties: dict[tuple[int, str], Counter[str]] = defaultdict(Counter)
        self.ties: Counter[int] = Counter()
        self.endings: dict[int, Counter[int]] = defaultdict(Counter)
        self.margins: dict[int, array[float]] = defaultdict(lambda: array("d"))
        self.cancellation: dict[int, Cancellation] = defaultdict(Cancellation)
        self.movement: dict[str, float] = {}
        self.groups: dict[tuple[str, Delta], float] = {}
        self.examples: dict[int, list[Example]] = defaultdict(list)
        self.calls = self.failures = self.trajectories = 0
        self.reasons: Counter[str] = Counter()
        self.reads: frozenset[str] = frozenset()

    def add_all(self, units: Iterable[Unit], size: int = BATCH) -> Tally:
        """Add units, a batch at a time, and return the tally."""
        stream: Iterator[Unit] = iter(units)
        while batch := list(islice(stream, size)):
            self.add(batch)
        return self

    def add(self, units: list[Unit]) -> None:
        """Add a batch of units."""
        batch = batch_of(units, self.setup)
        self._count_outcomes(units)
        self._count_funnel(units)
        complete = self._complete(units)
        for index, column in enumerate(self.columns):
            chosen = select(batch, column.cell, column.selector, strict=column.strict)
            self._count_column(batch, index, column, _only(chosen, complete) if column.common else chosen)
        self._count_lattice(batch)
        self._count_groups(batch)

    def _count_outcomes(self, units: list[Unit]) -> None:
        clusters = [unit.cluster for unit in units]
        flags = np.fromiter((unit.flags for unit in units), np.int64, len(units))
        fired = (flags[:, None] >> np.arange(len(self.setup.detectors)) & 1).astype(np.int64)
        self.incidence.add(clusters, np.c_[fired, np.ones(len(units), dtype=np.int64)])
        self.trajectories += len(units)
        for unit in units:
            table = unpack_scores(unit.packed)
            if table is not None:
                self.calls += table[2]
                self.reads |= table[1]
                continue
            for outcome in unit.outcomes:
                self._count_outcome(outcome)

    def _count_outcome(self, outcome: Outcome) -> None:
        self.calls += 1
        if isinstance(outcome, Scored):
            self.reads |= outcome.reads
            return
        self.failures += isinstance(outcome, (Failed, TimedOut))
        reason = outcome.reason if isinstance(outcome, (Failed, Abstained)) else ""
        self.reasons[f"{type(outcome).__name__}: {reason}"[:200].rstrip(": ")] += 1

    def _count_funnel(self, units: list[Unit]) -> None:
        for unit in units:
            for index, one in enumerate(unit.funnel):
                counts = self.funnel[index, one.targets if self.setup.edits[index].strata else 0]
                counts["units"] += 1
                for name in ("constructed", "eligible", "isolated", "strict"):
                    value = getattr(one, name)
                    counts[f"{name} units"] += value > 0
                    counts[f"{name} candidates"] += value
                for generator, top, edge in one.ties:
                    self.edge_ties[index, generator].update({"units": 1, "top": int(top), "edge": int(edge)})

    def _complete(self, units: list[Unit]) -> NDArray[np.bool_]:
        return np.array([all(one.isolated for one in unit.funnel) for unit in units], dtype=np.bool_)

    def _count_column(self, batch: Batch, index: int, column: Column, chosen: Selected) -> None:
        counted = (chosen.ending == FOOLED) | (chosen.ending == RESISTED)
        owners = [batch.units[n].cluster for n in chosen.units[counted]]
        one_hot = np.zeros((len(owners), self.fooled.width), dtype=np.int64)
        one_hot[:, index] = 1
        self.units.add(owners, one_hot)
        one_hot[:, index] = chosen.ending[counted] == FOOLED
        self.fooled.add(owners, one_hot)
        self.ties[index] += int(chosen.tied.sum())
        self.endings[index].update(dict(enumerate(np.bincount(chosen.ending, minlength=UNSCORED + 1).tolist())))
        self.margins[index].extend(chosen.margin[counted].tolist())
        if column.selector is Selector.ORACLE_WORST and not column.strict and not column.common:
            self._count_cancellation(batch, index, chosen.chosen[counted])
            self._keep_examples(batch, index, chosen, counted)

    def _count_cancellation(self, batch: Batch, index: int, chosen: NDArray[np.intp]) -> None:
        payments = batch.payments[chosen]
        gains = np.where(payments > TOLERANCE, payments, 0.0)
        losses = np.where(payments < -TOLERANCE, -payments, 0.0)
        total = self.cancellation[index]
        total.units += len(chosen)
        total.penalty += float(gains.sum())
        total.payback += float(losses.sum())
        opaque = batch.opaque[chosen]
        total.unpenalised += int(((gains.sum(axis=1) == 0) & (opaque <= TOLERANCE)).sum())
        total.opaque = max(total.opaque, float(np.abs(opaque).max(initial=0.0)))
        for name, gain, loss in zip(batch.components, gains.sum(axis=0), losses.sum(axis=0), strict=True):
            total.penalties[name] += float(gain)  # type: ignore[assignment]  # a Counter of reward units
            total.payers[name] += float(loss)  # type: ignore[assignment]

    def _keep_examples(self, batch: Batch, index: int, chosen: Selected, counted: NDArray[np.bool_]) -> None:
        worst = np.flatnonzero(counted)
        cut = np.sort(chosen.margin[worst])[min(EXAMPLES, len(worst)) - 1] if len(worst) else 0.0
        found = []
        for n, c, margin in zip(chosen.units[worst], chosen.chosen[worst], chosen.margin[worst].tolist(), strict=True):
            if margin <= cut:
                unit, place = batch.units[n], int(batch.place[c])
                outcomes = unit.outcomes
                one = unit.candidates[place]
                pair = (outcomes[0], outcomes[1 + place])
                found.append(Example(margin, unit.trajectory_id, one.key, one.edit, pair))
        self.examples[index] = heapq.nsmallest(EXAMPLES, [*self.examples[index], *found])

    def _count_lattice(self, batch: Batch) -> None:
        subsets = len(self.lattice.subsets)
        for index, cell in enumerate(self.cells):
            units, fooled, resisted = endings(batch, cell, self.lattice)
            owners = [batch.units[n].cluster for n in units]
            wide = np.zeros((len(owners), self.lattice_fooled.width), dtype=np.int64)
            block = slice(index * subsets, (index + 1) * subsets)
            wide[:, block] = fooled
            self.lattice_fooled.add(owners, wide)
            wide[:, block] |= resisted
            self.lattice_units.add(owners, wide)

    def _count_groups(self, batch: Batch) -> None:
        scored = batch.state == 0
        for name, largest in zip(
            batch.components, np.abs(batch.payments[scored]).max(axis=0, initial=0.0).tolist(), strict=True
        ):
            self.movement[name] = max(self.movement.get(name, 0.0), largest)
        keys = np.c_[batch.edit[scored], batch.deltas[np.ix_(np.flatnonzero(scored), self.lattice.bits)]]
        if not keys.size:
            return
        found, inverse = np.unique(keys, axis=0, return_inverse=True)
        worst = np.full(len(found), np.inf)
        np.minimum.at(worst, inverse.reshape(-1), batch.margin[scored])
        for row, margin in zip(found.tolist(), worst.tolist(), strict=True):
            key = (self.setup.edits[row[0]].name, tuple(row[1:]))
            self.groups[key] = min(margin, self.groups.get(key, np.inf))


def _only(chosen: Selected, keep: NDArray[np.bool_]) -> Selected:
    kept = keep[chosen.units]
    return Selected(chosen.units[kept], chosen.chosen[kept], chosen.ending[kept], chosen.margin[kept])
