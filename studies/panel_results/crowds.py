"""Sparse crowds, where no joint table exists: aggregators that need no labels, on every labelled item."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterproof.core.outcomes import NotApplicable
from counterproof.panel.dawid_skene import dawid_skene
from counterproof.panel.majority import majority
from counterproof.panel.table import NOT_QUERIED
from counterproof.stats import RatioEstimate, paired_difference
from studies import panel_tables
from studies.panel_results.rivals import Job, answers
from studies.panel_results.sources import SEED
from studies.panel_tables import Labelled

Array: TypeAlias = NDArray[np.float64]
NAMES = (*panel_tables.CROWDS, "bluebirds")


@dataclass(frozen=True, slots=True)
class Crowd:
    """One crowd.

    Attributes:
        name: Of the table.
        items: Labelled items.
        workers: Channels.
        classes: C.
        calls: Mean calls an item.
        accuracy: By aggregator; a tie is worth its coin.
        against: Accuracy of ours less that of the others, paired over items.
        difference: Largest difference of crowd-kit's posterior and ours at its number of steps; None without it.
    """

    name: str
    items: int
    workers: int
    classes: int
    calls: float
    accuracy: dict[str, float]
    against: dict[str, RatioEstimate | NotApplicable]
    difference: float | None


def measure(folder: Path, name: str, python: Path | None) -> Crowd:
    """Return what aggregators make of one crowd."""
    table, gold = _load(folder, name)
    classes = len(table.classes)
    symbols = np.where(table.symbols < classes, table.symbols, np.int8(-1)).astype(np.int8)
    job: Job = (symbols, np.full(classes, 1 / classes))
    answer = answers([job], python)[0]
    rows = np.flatnonzero(gold.labels >= 0)
    truth = gold.labels[rows]
    scores = {"majority": majority(table).shares, "Dawid-Skene (ours)": dawid_skene(table).posterior}
    if python is not None:
        scores["Dawid-Skene (crowd-kit)"] = answer.dawid_skene
    if answer.label_model is not None:
        scores["LabelModel (Snorkel)"] = answer.label_model
    right = {label: _right(values[rows], truth) for label, values in scores.items()}
    own, units = right["Dawid-Skene (ours)"], np.ones(len(rows))
    return Crowd(
        name,
        len(rows),
        len(table.channels),
        classes,
        float((table.symbols != NOT_QUERIED).sum(axis=1).mean()),
        {label: float(values.mean()) for label, values in right.items()},
        {
            label: paired_difference(own, values, units, rng=np.random.default_rng(SEED), replicates=2000)
            for label, values in right.items()
            if values is not own
        },
        answer.difference,
    )


def _load(folder: Path, name: str) -> Labelled:
    return panel_tables.bluebirds(folder) if name == "bluebirds" else panel_tables.crowd(folder, name)


def _right(scores: Array, truth: NDArray[np.int8]) -> Array:
    leading = scores >= scores.max(axis=1, keepdims=True) - 1e-9
    hit = leading[np.arange(len(truth)), truth.astype(np.intp)]
    return np.asarray(hit / leading.sum(axis=1), dtype=np.float64)
