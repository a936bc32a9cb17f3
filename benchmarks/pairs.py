"""Diagnostics of all pairs against `scipy.stats.bootstrap` pair by pair: python benchmarks/pairs.py.

Seven channels on 419 items, one cluster each, 10,000 resamples. Ours: every pair and every one of the measures, from
rows to replicates and percentile intervals. scipy's: a loop over pairs and statistics, vectorised, in batches of 500,
on the sums per cluster that a statistic needs (indicators of the 8 cells of a pair's table), given to it ready-made.
Its time for all pairs is extrapolated from one, as every pair costs the same. Both draw from generators in the same
state, so the intervals printed side by side must agree. Medians over repeats. Aim: at least 20.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import bootstrap

from counterproof.panel.pairs import MEASURES, pair_measures, pair_tables, resampled_measures

ITEMS, CHANNELS, REPLICATES = 419, 7, 10_000
REPEATS = 3


def seconds(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def panel() -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, ITEMS).astype(np.int8)
    wrong = rng.random((ITEMS, CHANNELS)) < 0.3
    wrong[:, 1] = np.where(rng.random(ITEMS) < 0.6, wrong[:, 0], wrong[:, 1])
    return (labels[:, None] ^ wrong).astype(np.int8), labels


def ours(symbols: NDArray[np.int8], labels: NDArray[np.int8]) -> NDArray[np.float64]:
    tables = pair_tables(symbols, labels, np.arange(ITEMS, dtype=np.intp), 2)
    replicates = resampled_measures(tables, rng=np.random.default_rng(0), replicates=REPLICATES)
    return np.quantile(replicates, [0.025, 0.975], axis=0)


def phi_of(cells: list[NDArray[np.float64]]) -> Any:
    y00, y01, y10, y11 = cells  # both right, only b wrong, only a wrong, both wrong
    n, a, b = y00 + y01 + y10 + y11, y10 + y11, y01 + y11
    return (n * y11 - a * b) / np.sqrt(a * (n - a) * b * (n - b))


def statistic(name: str) -> Callable[..., Any]:
    """A statistic as a user of scipy would write it for the sums of the eight cells of one pair."""
    at = MEASURES.index(name)

    def of(*cells: NDArray[np.float64], axis: int = -1) -> Any:
        sums = [cell.sum(axis=axis) for cell in cells]
        if name == "error_phi":
            # Cells are (y, a, b): right together are 000 and 111.
            return phi_of([sums[0] + sums[7], sums[1] + sums[6], sums[2] + sums[5], sums[3] + sums[4]])
        if name == "error_overlap":
            return (sums[3] + sums[4]) / sum(sums)
        if name == "disagreement":
            return (sums[1] + sums[2] + sums[5] + sums[6]) / sum(sums)
        return pair_measures(np.stack(sums, axis=-1).reshape(*np.shape(sums[0]), 2, 2, 2))[..., at]

    return of


def theirs(cells: tuple[NDArray[np.float64], ...], name: str) -> Any:
    return bootstrap(
        cells,
        statistic(name),
        paired=True,
        vectorized=True,
        n_resamples=REPLICATES,
        batch=500,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval


def main() -> None:
    symbols, labels = panel()
    pairs = CHANNELS * (CHANNELS - 1) // 2
    cells = tuple(
        (labels == y) & (symbols[:, 0] == a) & (symbols[:, 1] == b) for y in (0, 1) for a in (0, 1) for b in (0, 1)
    )
    indicators = tuple(cell.astype(np.float64) for cell in cells)
    bounds = ours(symbols, labels)
    for name in ("error_phi", "disagreement", "gain_b_given_a"):
        his = theirs(indicators, name)
        lower, upper = bounds[:, 0, MEASURES.index(name)]
        print(f"{name}: [{lower:.10f}, {upper:.10f}], scipy [{his.low:.10f}, {his.high:.10f}]")
    cheap = ("error_overlap", "disagreement", "error_phi")
    mine, loops, simple = [], [], []
    for _ in range(REPEATS):
        mine.append(seconds(lambda: ours(symbols, labels)))
        times = {name: seconds(lambda name=name: theirs(indicators, name)) for name in MEASURES}  # type: ignore[misc]  # the name is bound now
        loops.append(pairs * sum(times.values()))
        simple.append(pairs * len(MEASURES) * min(times[name] for name in cheap))
    print(f"ours, {pairs} pairs x {len(MEASURES)} measures: median {statistics.median(mine):.2f} s")
    print(f"scipy loop, extrapolated from one pair: median {statistics.median(loops):.1f} s")
    print(f"median ratio {statistics.median(b / a for a, b in zip(mine, loops, strict=True)):.0f}")
    print(
        "median ratio if every statistic cost scipy what its cheapest does: "
        f"{statistics.median(b / a for a, b in zip(mine, simple, strict=True)):.0f}"
    )


if __name__ == "__main__":
    main()
