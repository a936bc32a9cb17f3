"""Cluster bootstrap of a ratio of sums against `scipy.stats.bootstrap`: python benchmarks/bootstrap.py.

Same statistic, 5,000 replicates, percentile interval, generators in the same state, so the same resamples. scipy runs
vectorised on the same sums per cluster, once as it comes (one batch) and once in batches of 100 replicates, which suits
its cache best here. Runs alternate; what is printed is the median of the ratios of adjacent runs. Aim: at least 2.5.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import bootstrap

from counterproof.stats import cluster_ratio_interval, cluster_ratio_intervals

REPLICATES = 5000
PAIRS = 25


def seconds(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def ratio_of_sums(y: NDArray[np.float64], n: NDArray[np.float64], axis: int = -1) -> Any:
    return y.sum(axis=axis) / n.sum(axis=axis)


def compare(clusters: int) -> None:
    data = np.random.default_rng(1)
    units = data.integers(1, 9, clusters)
    events = data.binomial(units, 0.3)
    sums = (events.astype(float), units.astype(float))

    def ours() -> Any:
        return cluster_ratio_interval(events, units, rng=np.random.default_rng(0), replicates=REPLICATES).interval

    def theirs(batch: int | None) -> Any:
        return bootstrap(
            sums,
            ratio_of_sums,
            paired=True,
            vectorized=True,
            n_resamples=REPLICATES,
            batch=batch,
            method="percentile",
            rng=np.random.default_rng(0),
        ).confidence_interval

    mine, his = ours(), theirs(None)
    print(f"Q={clusters}: [{mine.lower:.12f}, {mine.upper:.12f}], scipy [{his.low:.12f}, {his.high:.12f}]")
    for label, batch in (("one batch", None), ("batches of 100", 100)):
        pairs = [(seconds(ours), seconds(partial(theirs, batch))) for _ in range(PAIRS)]
        print(
            f"  scipy in {label}: {statistics.median(b for _, b in pairs) * 1e3:.2f} ms, "
            f"ours {statistics.median(a for a, _ in pairs) * 1e3:.2f} ms, "
            f"median ratio {statistics.median(b / a for a, b in pairs):.2f}"
        )
    wide_units = np.repeat(units[:, None], 24, axis=1)
    wide_events = data.binomial(wide_units, 0.3)
    wide = statistics.median(
        seconds(
            lambda: cluster_ratio_intervals(
                wide_events, wide_units, rng=np.random.default_rng(0), replicates=REPLICATES
            )
        )
        for _ in range(5)
    )
    print(f"  24 columns on the same resamples: {wide * 1e3:.2f} ms, {wide / 24 * 1e3:.2f} ms each")


if __name__ == "__main__":
    for size in (200, 500):
        compare(size)
