"""Control channels: a constant, a copy and an oracle, measured through the same path as the panel's own channels."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from counterproof.core.errors import InputError
from counterproof.panel.pairs import MEASURES, pair_measures, pair_tables
from counterproof.panel.table import Channel, Gold, VerdictTable

TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class PanelControl:
    """What one control channel was expected to show beside a channel of the panel, and what it showed.

    Attributes:
        name: `constant`, `copied` or `oracle`.
        expected: In words.
        value: The measured number, bits.
        wanted: The number that it must be, bits.
    """

    name: str
    expected: str
    value: float
    wanted: float

    @property
    def holds(self) -> bool:
        """Whether the control behaved."""
        return abs(self.value - self.wanted) <= TOLERANCE


def panel_controls(table: VerdictTable, gold: Gold) -> tuple[PanelControl, ...]:
    """Return the controls beside the first channel that both has verdicts and errs.

    A constant channel tells nothing (I(Y; constant | A) = 0), a copy of a channel tells nothing once that is known
    (I(Y; copy | A) = 0), and an oracle tells all that is left (I(Y; oracle | A) = H(Y | A)).

    Raises:
        InputError: No channel gives a class on a labelled item.
    """
    classes = len(table.classes)
    known = [
        np.flatnonzero((gold.labels >= 0) & (table.symbols[:, j] >= 0) & (table.symbols[:, j] < classes))
        for j in range(len(table.channels))
    ]
    first = max(range(len(known)), key=lambda j: (len(known[j]), -j))
    rows = known[first]
    if not rows.size:
        raise InputError("no channel gives a class on a labelled item, so no control can be measured")
    own, truth = table.symbols[rows, first], gold.labels[rows]
    symbols = np.stack([own, np.zeros_like(own), own, truth], axis=1)
    tables = pair_tables(symbols, truth, np.arange(len(rows)), classes)
    gains = pair_measures(tables.totals)[:, MEASURES.index("gain_b_given_a")]
    joint = np.zeros((classes, classes))
    np.add.at(joint, (truth.astype(np.intp), own.astype(np.intp)), 1.0)
    left = _entropy(joint) - _entropy(joint.sum(axis=0))
    beside = table.channels[first].name
    return (
        PanelControl("constant", f"no information given {beside}", float(gains[0]), 0.0),
        PanelControl("copied", f"no information given {beside}", float(gains[1]), 0.0),
        PanelControl("oracle", f"all information that {beside} leaves", float(gains[2]), left),
    )


def with_controls(table: VerdictTable, gold: Gold) -> VerdictTable:
    """Return the table with three channels more: a constant, a copy of the first channel and the oracle."""
    constant = np.zeros(len(table), dtype=np.int8)
    truth = np.where(gold.labels >= 0, gold.labels, table.failure).astype(np.int8)
    added = np.stack([constant, table.symbols[:, 0], truth], axis=1)
    kinds = np.where(added == table.failure, np.int8(5), np.int8(-1)).astype(np.int8)
    names = ("control: constant", f"control: copy of {table.channels[0].name}", "control: oracle")
    return replace(
        table,
        channels=(*table.channels, *(Channel(name) for name in names)),
        symbols=np.concatenate([table.symbols, added], axis=1).astype(np.int8),
        kinds=np.concatenate([table.kinds, kinds], axis=1).astype(np.int8),
        seconds=None,
    )


def _entropy(counts: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    flat = counts.ravel()
    shares = flat[flat > 0] / flat.sum()
    return float(-(shares * np.log2(shares)).sum())
