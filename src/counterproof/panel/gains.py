"""What a second channel really added: the pair's calibrated rule against the first channel's own, on held-out items."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from counterproof.core.outcomes import NotApplicable
from counterproof.panel.table import Gold, Split, VerdictTable
from counterproof.stats import RatioEstimate, paired_differences

Array = NDArray[np.float64]
Pair = tuple[int, int]


def realised_gains(
    table: VerdictTable,
    gold: Gold,
    split: Split,
    pairs: Sequence[Pair],
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    replicates: int = 10_000,
) -> tuple[RatioEstimate | NotApplicable, ...]:
    """Return the realised gain of b over a for ordered pairs (a, b): held-out BA of the pair's rule less that of a's.

    Both rules come from the calibration items on which both channels gave a class. The rule of a pair decides for the
    class with the highest (n_y(v_a, v_b) + 1)/(n_y + C^2), that of a alone for the highest (n_y(v_a) + 1)/(n_y + C):
    classes weigh the same, as balanced accuracy wants. A tie, and verdicts that calibration never saw together, are
    decided as a alone decides; a tie there, as a says. Positive is better for buying b.

    The rules are held fixed; the interval is over clusters of held-out items.

    Returns:
        One gain a pair; `NotApplicable` where calibration or held-out items lack a class.
    """
    classes = len(table.classes)
    _, numbers = np.unique(np.array(table.clusters, dtype=object).astype(str), return_inverse=True)
    held = split.held_out[gold.labels[split.held_out] >= 0]
    used, clusters = np.unique(numbers[held], return_inverse=True)
    truth = gold.labels[held].astype(np.intp)
    difference = np.zeros((len(used), len(pairs), classes))
    units = np.zeros_like(difference)
    calibrated = []
    for p, (a, b) in enumerate(pairs):
        rules = _rules(table.symbols[split.calibration][:, [a, b]], gold.labels[split.calibration], classes)
        calibrated.append(rules is not None)
        if rules is None:
            continue
        both, alone = rules
        va, vb = (table.symbols[held, j].astype(np.intp) for j in (a, b))
        known = _given(va, classes) & _given(vb, classes)
        va, vb, y, q = va[known], vb[known], truth[known], clusters[known]
        gain = (both[va, vb] == y).astype(np.float64) - (alone[va] == y)
        np.add.at(difference[:, p], (q, y), gain)
        np.add.at(units[:, p], (q, y), 1.0)
    gains = paired_differences(difference, units, rng=rng, level=level, replicates=replicates)
    missing = NotApplicable("no-calibration: some class has no calibration item with both verdicts")
    return tuple(gain if ready else missing for gain, ready in zip(gains, calibrated, strict=True))


def _rules(
    symbols: NDArray[np.int8], labels: NDArray[np.int8], classes: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    known = _given(symbols[:, 0], classes) & _given(symbols[:, 1], classes) & (labels >= 0)
    counts = np.zeros((classes, classes, classes))
    rows = symbols[known].astype(np.intp)
    np.add.at(counts, (labels[known].astype(np.intp), rows[:, 0], rows[:, 1]), 1.0)
    size = counts.sum((1, 2))
    if not size.all():
        return None
    single = (counts.sum(2) + 1) / (size[:, None] + classes)
    alone = _decided(single, np.arange(classes))
    score = (counts + 1) / (size[:, None, None] + classes**2)
    fallback = np.repeat(alone[:, None], classes, axis=1)
    both = np.where(counts.any(axis=0), _decided(score, fallback), fallback)
    return both, alone


def _decided(score: Array, fallback: NDArray[np.intp]) -> NDArray[np.intp]:
    best = score.max(axis=0)
    tied = (score >= best - 1e-12).sum(axis=0) > 1
    decided: NDArray[np.intp] = np.where(tied, fallback, score.argmax(axis=0))
    return decided


def _given(symbols: NDArray[np.integer], classes: int) -> NDArray[np.bool_]:
    given: NDArray[np.bool_] = (symbols >= 0) & (symbols < classes)
    return given
