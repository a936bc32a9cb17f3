"""Control channels: a constant, a copy and an oracle, measured as the panel's own channels are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterproof.core.errors import InputError
from counterproof.panel.pairs import MEASURES, pair_measures, pair_tables
from counterproof.panel.table import Gold, VerdictTable

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
    """Return the controls beside the channel with the most verdicts on labelled items, the first of equals.

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


def _entropy(counts: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    flat = counts.ravel()
    shares = flat[flat > 0] / flat.sum()
    return float(-(shares * np.log2(shares)).sum())
