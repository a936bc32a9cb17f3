"""Majority of a panel's verdicts, for any number of classes, with failures in the denominator and ties declared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.core.seeds import ItemSeed
from counterproof.panel.patterns import encode
from counterproof.panel.table import NOT_QUERIED, VerdictTable

Ties: TypeAlias = Literal["coin", "reject"]
"""What a tie, or an item without any verdict, is given: a class by a seeded coin, or none."""
THRESHOLD = 0.8
SLACK = 1e-9
"""4/5 >= .8 must hold, and equal scores summed in another order must tie."""


@dataclass(frozen=True, slots=True, eq=False)
class Majority:
    """The vote on each of N items.

    Attributes:
        label: Forced label, whether accepted or not, (N), int8; -1 where a tie or silence is rejected.
        accepted: Whether one class has the threshold's share of the calls, (N).
        agreement: Votes for the leading class over calls made, failures included, in [0, 1], (N); 0 where none was.
        shares: Votes for each class over class verdicts, (N, C); uniform where there is none. No probability.
        tied: Whether the label is not settled by votes, (N).
    """

    label: NDArray[np.int8]
    accepted: NDArray[np.bool_]
    agreement: NDArray[np.float64]
    shares: NDArray[np.float64]
    tied: NDArray[np.bool_]


def majority(table: VerdictTable, *, threshold: float = THRESHOLD, ties: Ties = "coin", seed: int = 0) -> Majority:
    """Return the majority of each item's verdicts.

    agreement = max_c n_c / calls made. Failed calls stay in the denominator, so they never raise coverage (fail
    closed); calls never made are in neither. An item is accepted when agreement >= `threshold` and one class leads.

    Args:
        table: Verdicts, full or sparse.
        threshold: Least agreement, in (0, 1].
        ties: `coin` draws among the leading classes, keyed by `seed` and the item's key; `reject` gives no label.
        seed: The run's seed.

    Raises:
        InputError: The threshold is out of range.
    """
    if not 0 < threshold <= 1:
        raise InputError(f"an agreement threshold of {threshold}; give one above 0 and at most 1")
    classes = len(table.classes)
    patterns = encode(table.symbols)
    votes = np.stack([(patterns.rows == c).sum(axis=1) for c in range(classes)], axis=1)
    valid, made = votes.sum(axis=1), (patterns.rows != NOT_QUERIED).sum(axis=1)
    agreement = votes.max(axis=1) / np.maximum(made, 1)
    tied = _leaders(votes.astype(np.float64)).sum(axis=1) > 1
    shares = np.where(valid[:, None] > 0, votes / np.maximum(valid, 1)[:, None], 1 / classes)
    spread = patterns.spread(shares)
    return Majority(
        label=forced_labels(spread, table.items, ties=ties, seed=seed),
        accepted=patterns.spread((agreement >= threshold - SLACK) & ~tied),
        agreement=patterns.spread(agreement),
        shares=spread,
        tied=patterns.spread(tied),
    )


def forced_labels(
    scores: NDArray[np.float64], items: Sequence[str], *, ties: Ties = "coin", seed: int = 0
) -> NDArray[np.int8]:
    """Return the class with the highest score of each item, (N), int8: of vote shares, or of a posterior.

    Scores within 1e-9 tie. A coin depends on the seed and the item's key only, so neither order nor batches matter.

    Args:
        scores: (N, C).
        items: Keys, (N).
        ties: `coin` or `reject` (label -1).
        seed: The run's seed.

    Raises:
        InputError: The rule for ties is unknown, or there is not one key an item.
    """
    if ties not in ("coin", "reject"):
        raise InputError(f"ties is {ties!r}; allowed are 'coin' and 'reject'")
    if len(items) != len(scores):
        raise InputError(f"{len(items)} item keys for {len(scores)} rows of scores")
    labels: NDArray[np.int8] = scores.argmax(axis=1).astype(np.int8)
    leaders = _leaders(scores)
    for i in np.flatnonzero(leaders.sum(axis=1) > 1).tolist():
        labels[i] = -1 if ties == "reject" else _toss(np.flatnonzero(leaders[i]), ItemSeed(seed, items[i]))
    return labels


def _leaders(scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    leading: NDArray[np.bool_] = scores >= scores.max(axis=1, keepdims=True) - SLACK
    return leading


def _toss(choices: NDArray[np.intp], item: ItemSeed) -> int:
    return int(choices[int(item.child("panel.tie").fraction() * len(choices))])
