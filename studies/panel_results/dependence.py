"""Who errs with whom on real tables, and which measure foretells what a second channel will add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterproof.core.outcomes import NotApplicable
from counterproof.core.seeds import ItemSeed
from counterproof.panel.diagnostics import Diagnostics, PairDiagnostics, diagnose
from counterproof.panel.effective import EffectiveNumber, effective_channels, panel_equivalent
from counterproof.panel.gains import realised_gains
from counterproof.panel.pairs import MEASURES, pair_measures, pair_tables
from counterproof.panel.table import Gold, Split, VerdictTable
from studies.panel_results.sources import SEED

Array: TypeAlias = NDArray[np.float64]
PREDICTORS: Mapping[str, tuple[str, int]] = {
    "conditional gain": ("gain_b_given_a", 1),
    "-error phi": ("error_phi", -1),
    "-error overlap": ("error_overlap", -1),
    "-kappa": ("kappa", -1),
    "disagreement": ("disagreement", 1),
}
"""By the page's name: measure of `pairs.MEASURES` and the sign with which it should foretell a gain."""
REPLICATES = 2000
LIKE = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Dependence:
    """One table.

    Attributes:
        diagnostics: Of all labelled items.
        correlations: n_eff.
        equivalent: The majority-equivalent number.
        spearman: Rank correlation with the realised held-out gain over ordered pairs, mean over splits; by predictor,
            `b's own accuracy` beside the measures. None where a table has fewer than four channels.
    """

    diagnostics: Diagnostics
    correlations: EffectiveNumber
    equivalent: EffectiveNumber
    spearman: Mapping[str, float] | None

    @property
    def dependent(self) -> tuple[PairDiagnostics, ...]:
        """Pairs whose test of independence within classes is below .05 after Holm."""
        return tuple(
            pair
            for pair in self.diagnostics.pairs
            if not isinstance(pair.independence.holm, NotApplicable) and pair.independence.holm < LIKE
        )

    @property
    def closest(self) -> PairDiagnostics:
        """The pair of highest error correlation."""
        return max(self.diagnostics.pairs, key=lambda pair: _number(pair.measures["error_phi"].estimate))


def measure(name: str, table: VerdictTable, gold: Gold, parts: Sequence[Split]) -> Dependence:
    """Return the diagnostics of a table; measures foretell from calibration items what held-out items then show."""
    seed = ItemSeed(SEED, f"dependence {name}")
    found = diagnose(table, gold, rng=seed.generator(), replicates=REPLICATES, permutations=0)
    return Dependence(
        found,
        effective_channels(found.mean_error_phi, len(table.channels)),
        panel_equivalent(table, gold, rng=seed.child("equivalent").generator(), replicates=REPLICATES),
        _spearman(table, gold, parts) if len(table.channels) > 3 else None,
    )


def _spearman(table: VerdictTable, gold: Gold, parts: Sequence[Split]) -> Mapping[str, float]:
    from scipy.stats import spearmanr

    k = len(table.channels)
    ordered = list(permutations(range(k), 2))
    found: dict[str, list[float]] = {name: [] for name in (*PREDICTORS, "b's own accuracy")}
    for split in parts:
        rows, labels = table.symbols[split.calibration], gold.labels[split.calibration]
        tables = pair_tables(rows, labels, np.arange(len(rows)), len(table.classes))
        measures = dict(zip(map(tuple, tables.pairs.tolist()), pair_measures(tables.totals), strict=True))
        own = [np.mean([(rows[labels == c, j] == c).mean() for c in np.unique(labels)]) for j in range(k)]
        gains = realised_gains(table, gold, split, ordered, rng=np.random.default_rng(SEED), replicates=50)
        known = [i for i, gain in enumerate(gains) if not isinstance(gain, NotApplicable)]
        realised = [gain.estimate for gain in gains if not isinstance(gain, NotApplicable)]
        for name, (column, sign) in PREDICTORS.items():
            values = [sign * _of_pair(measures, ordered[i], column) for i in known]
            found[name].append(float(spearmanr(values, realised).statistic))
        found["b's own accuracy"].append(float(spearmanr([own[ordered[i][1]] for i in known], realised).statistic))
    return {name: float(np.mean(values)) for name, values in found.items()}


def _of_pair(measures: Mapping[tuple[int, ...], Array], pair: tuple[int, int], column: str) -> float:
    a, b = pair
    if a > b:
        # A table's pair is (lower, higher): what b adds to a there is what the first adds to the second.
        column = "gain_a_given_b" if column == "gain_b_given_a" else column
    return float(measures[min(a, b), max(a, b)][MEASURES.index(column)])


def _number(value: float | NotApplicable) -> float:
    return -1.0 if isinstance(value, NotApplicable) else value
