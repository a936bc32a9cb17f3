"""All policies on all splits of a table at equal calls, pooled over splits, with paired intervals over clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterproof.core.outcomes import NotApplicable
from counterproof.core.seeds import ItemSeed
from counterproof.panel.contest import run_contest
from counterproof.panel.loss import Loss
from counterproof.panel.table import Gold, Split, VerdictTable
from counterproof.stats import RatioEstimate, paired_difference
from studies.panel_results import points
from studies.panel_results.points import BA, CHOW, FAMILIES, SHARE, Curves, Figures
from studies.panel_results.rivals import Answer, Job, answers
from studies.panel_results.sources import SEED, Source, splits

Array: TypeAlias = NDArray[np.float64]
CALLS = (1, 2, 3, 5, 7)
RIVAL_SIZES = (1, 2, 3, 4, 5, 7)
FOCUS = 3
METRICS = ("ba", "surest", "coverage", "selective", "chow")


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """One family at one number of calls, summed by cluster over splits.

    Attributes:
        calls: Mean calls an item, over splits.
        ba: Right and items by class, each (Q, C).
        top: Right among the surest 60 %, and 60 % of items, each (Q).
        chow: Chow loss of the policy made for it, and items, each (Q).
        accepted: Accepted under that policy, (Q).
        hit: Accepted and right, (Q).
    """

    calls: float
    ba: tuple[Array, Array]
    top: tuple[Array, Array]
    chow: tuple[Array, Array]
    accepted: Array
    hit: Array

    def value(self, metric: str) -> float | None:
        """Return the pooled figure; None for the accuracy of the accepted where nothing is accepted."""
        if metric == "ba":
            return float((self.ba[0].sum(axis=0) / self.ba[1].sum(axis=0)).mean())
        if metric == "surest":
            return float(self.top[0].sum() / self.top[1].sum())
        if metric == "coverage":
            return float(self.accepted.sum() / self.chow[1].sum())
        if metric == "selective":
            taken = float(self.accepted.sum())
            return float(self.hit.sum()) / taken if taken > 1e-9 else None
        return float(self.chow[0].sum() / self.chow[1].sum())

    def parts(self, metric: str) -> tuple[Array, Array]:
        """Return numerator and units of a metric that has a paired difference."""
        if metric == "coverage":
            return self.accepted, self.chow[1]
        return {"ba": self.ba, "surest": self.top, "chow": self.chow}[metric]


@dataclass(frozen=True, slots=True)
class Recommended:
    """What the tool recommends on one split, by calibration items alone.

    Attributes:
        name: The policy.
        family: Its family.
        calls: Mean calls on held-out items.
        loss: Held-out loss.
        single: Held-out loss of the best single call by calibration.
        against: Held-out loss less that of the single call; negative is better.
    """

    name: str
    family: str
    calls: float
    loss: float
    single: float
    against: RatioEstimate | NotApplicable


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """One table.

    Attributes:
        items: Labelled items.
        clusters: Their clusters.
        channels: K.
        sums: By family and calls, for the sizes that the table has; absent where a family has no policy.
        recommended: By loss (`ba`, `chow:0.1`), one a split.
        difference: Largest difference of crowd-kit's posteriors and ours; None without crowd-kit.
    """

    items: int
    clusters: int
    channels: int
    sums: Mapping[tuple[str, int], Sums]
    recommended: Mapping[str, tuple[Recommended, ...]]
    difference: float | None

    def difference_of(self, first: str, second: str, calls: int, metric: str) -> RatioEstimate | None:
        """Return the paired difference of two families at equal calls; None where there is none."""
        if (first, calls) not in self.sums or (second, calls) not in self.sums:
            return None
        (x, units), (y, _) = (self.sums[name, calls].parts(metric) for name in (first, second))
        rng = ItemSeed(SEED, f"{first}/{second}/{calls}/{metric}").generator()
        found = paired_difference(x, y, units, rng=rng, replicates=2000)
        return None if isinstance(found, NotApplicable) else found


def compare(source: Source, table: VerdictTable, gold: Gold, python: Path | None) -> Compared:
    """Return every family on every split of a table."""
    parts = splits(source, table, gold)
    fitted = [points.fit(table, gold, split) for split in parts]
    sizes = [k for k in RIVAL_SIZES if k <= len(table.channels)]
    jobs: list[Job] = [points.rival_job(one, k) for one in fitted for k in sizes]
    found = answers(jobs, python)
    by_loss: dict[str, list[Curves]] = {}
    for loss in (BA, CHOW):
        by_loss[loss.text] = [
            points.curves(one, loss, _posteriors(sizes, found[i * len(sizes) : (i + 1) * len(sizes)]))
            for i, one in enumerate(fitted)
        ]
    names, clusters = np.unique(np.array(table.clusters, dtype=object).astype(str), return_inverse=True)
    held = [clusters[split.held_out] for split in parts]
    truths = [gold.labels[split.held_out] for split in parts]
    shape = (len(names), len(table.classes))
    calls = [k for k in CALLS if k <= len(table.channels)]
    sums = {}
    for family in FAMILIES:
        for k in calls:
            both = [[points.at_calls(c[family], k) for c in by_loss[loss.text]] for loss in (BA, CHOW)]
            whole = [[one for one in side if one is not None] for side in both]
            if all(len(side) == len(parts) for side in whole):
                sums[family, k] = _summed(whole[0], whole[1], held, truths, shape)
    differences = [one.difference for one in found if one.difference is not None]
    return Compared(
        items=int((gold.labels >= 0).sum()),
        clusters=len(names),
        channels=len(table.channels),
        sums=sums,
        recommended={loss.text: _recommended(table, gold, parts, loss) for loss in (BA, CHOW)},
        difference=max(differences) if differences else None,
    )


def _posteriors(sizes: Sequence[int], found: Sequence[Answer]) -> dict[tuple[str, int], Array]:
    result = {}
    for k, answer in zip(sizes, found, strict=True):
        result["Dawid-Skene (crowd-kit)", k] = answer.dawid_skene
        if answer.label_model is not None:
            result["LabelModel (Snorkel)", k] = answer.label_model
    return result


def _summed(
    plain: Sequence[Figures],
    selective: Sequence[Figures],
    held: Sequence[NDArray[np.intp]],
    truths: Sequence[NDArray[np.int8]],
    shape: tuple[int, int],
) -> Sums:
    by_class, units = np.zeros(shape), np.zeros(shape)
    columns = np.zeros((5, shape[0]))
    for one, other, clusters, truth in zip(plain, selective, held, truths, strict=True):
        np.add.at(by_class, (clusters, truth.astype(np.intp)), one.right)
        np.add.at(units, (clusters, truth.astype(np.intp)), 1.0)
        each = (one.top, np.full(len(truth), SHARE), other.chow, other.accepted, other.hit)
        for column, values in zip(columns, each, strict=True):
            np.add.at(column, clusters, values)
    mean_calls = float(np.mean([one.mean_calls for one in plain]))
    items = units.sum(axis=1)
    return Sums(mean_calls, (by_class, units), (columns[0], columns[1]), (columns[2], items), columns[3], columns[4])


def _recommended(table: VerdictTable, gold: Gold, parts: Sequence[Split], loss: Loss) -> tuple[Recommended, ...]:
    budget = float(min(FOCUS, len(table.channels)))
    found = []
    for number, split in enumerate(parts):
        rng = ItemSeed(SEED, f"recommendation {number}").generator()
        contest = run_contest(table, gold, split, loss, budget=budget, seed=SEED, rng=rng)
        chosen = contest.contestants[contest.recommended]
        first = next(i for i, one in enumerate(contest.contestants) if one.family == "single")
        values = [one.scores.loss for one in (chosen, contest.contestants[first])]
        numbers = [value for value in values if not isinstance(value, NotApplicable)]
        found.append(
            Recommended(
                chosen.name, chosen.family, chosen.scores.mean_calls, numbers[0], numbers[1], contest.against[first]
            )
        )
    return tuple(found)
