"""What each symbol of each channel is worth on its own: class-conditional probabilities from calibration rows.

Letters: C classes, K channels, A = C + 1 symbols (the classes, then failure), N items.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.panel.table import Gold, VerdictTable


@dataclass(frozen=True, slots=True, eq=False)
class Likelihoods:
    """Calibrated class-conditional symbol probabilities, one channel at a time.

    Attributes:
        prior: P(y), Laplace 1, (C).
        table: P(v_j | y), (K, C, A); see `smoothed`.
    """

    prior: NDArray[np.float64]
    table: NDArray[np.float64]


def smoothed(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return P(v | y) with Laplace 1 over the symbols that were shown at all, (C, A); rows sum to 1.

    (n(v, y) + 1) / (n(y) + number of symbols shown). A symbol that calibration never showed under any class is no
    evidence: it gets 1 / (n + A) under every class, and the others share the rest.

    Args:
        counts: Rows by class and symbol, weights allowed, (C, A).
    """
    alphabet = counts.shape[1]
    shown = counts.sum(axis=0) > 0
    if not shown.any():
        return np.full(counts.shape, 1 / alphabet)
    rest = 1 / (counts.sum() + alphabet)
    share = 1 - rest * (alphabet - shown.sum())
    seen = share * (counts + 1) / (counts.sum(axis=1, keepdims=True) + shown.sum())
    return np.asarray(np.where(shown, seen, rest), dtype=np.float64)


def class_likelihoods(table: VerdictTable, gold: Gold, weights: NDArray[np.float64] | None = None) -> Likelihoods:
    """Return the likelihoods of every channel from the labelled rows in which it was queried.

    Args:
        table: Calibration verdicts.
        gold: Their labels.
        weights: Weight of each row, (N); 1 by default.

    Raises:
        InputError: Labels or weights are of another length, or a class has no labelled row.
    """
    labels, weight = labelled_rows(table, gold, weights)
    n_classes, alphabet = len(table.classes), len(table.classes) + 1
    out = np.empty((len(table.channels), n_classes, alphabet))
    for j in range(len(table.channels)):
        asked = (table.symbols[:, j] >= 0) & (labels >= 0)
        cell = labels[asked] * alphabet + table.symbols[asked, j]
        counts = np.bincount(cell, weights=weight[asked], minlength=n_classes * alphabet)
        out[j] = smoothed(counts.reshape(n_classes, alphabet).astype(np.float64))
    known = labels >= 0
    shares = np.bincount(labels[known], weights=weight[known], minlength=n_classes).astype(np.float64)
    return Likelihoods(smoothed_prior(shares), out)


def smoothed_prior(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return P(y) with Laplace 1, (C).

    Args:
        counts: Rows by class, (C).
    """
    return np.asarray((counts + 1) / (counts.sum() + len(counts)))


def labelled_rows(
    table: VerdictTable, gold: Gold, weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return labels and weights of all rows, (N) each, after checking that a model can be calibrated on them.

    Raises:
        InputError: Labels or weights are of another length, weights are negative, or a class has no labelled row.
    """
    n = len(table)
    weight = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    if gold.labels.shape != (n,) or weight.shape != (n,):
        raise InputError(
            f"{n} items, {gold.labels.shape} labels and {weight.shape} weights: give one label and one weight an item"
        )
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise InputError("row weights must be finite and not negative")
    labels = gold.labels.astype(np.int64)
    present = np.bincount(labels[(labels >= 0) & (weight > 0)], minlength=len(table.classes))
    absent = [name for name, count in zip(table.classes, present, strict=True) if not count]
    if absent:
        raise InputError(
            f"calibration has no labelled row of class {', '.join(absent)}: nothing can be learnt about it; "
            "label some, or leave the class out of the table"
        )
    return labels, weight
