"""Dawid-Skene on distinct rows against crowd-kit, in an environment of its own.

    bash benchmarks/rivals/build.sh && .venv-rivals/bin/python benchmarks/dawid_skene.py

The same verdicts of five channels, 5 % of the calls failed and left out by both, the same start, as many iterations.
Ours is timed from the int8 matrix to the posterior of every item, encoding included (median of five); crowd-kit from
its finished long table (one run). Each runs in a process of its own, which reports its peak memory before and after.
Aims at 1M x 5: at least 100 times as fast, posteriors equal to 1e-10, at most a quarter of the memory.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

CHANNELS = 5
ITERATIONS = 20
SIZES = (10_000, 100_000, 1_000_000)
AIMS = {"speed": 100.0, "difference": 1e-10, "memory": 0.25}


def verdicts(items: int) -> NDArray[np.int8]:
    rng = np.random.default_rng(1)
    truth = rng.random(items) < 0.4
    wrong = np.stack([rng.random(items) < rate for rate in np.linspace(0.2, 0.4, CHANNELS)], axis=1)
    symbols = (truth[:, None] ^ wrong).astype(np.int8)
    for column in symbols.T:
        column[rng.random(items) < 0.05] = 2
    return symbols


def peak_megabytes() -> float:
    """High-water mark of this process's own memory; unlike getrusage it does not start at the parent's."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def ours(items: int, out: Path) -> dict[str, Any]:
    from counterproof.panel.dawid_skene import fit_dawid_skene
    from counterproof.panel.patterns import encode

    symbols = verdicts(items)
    before, seconds = peak_megabytes(), []
    for _ in range(6):
        start = time.perf_counter()
        fit = fit_dawid_skene(encode(symbols), 2, failures="missing", iterations=ITERATIONS, tolerance=0)
        posterior = fit.posterior
        seconds.append(time.perf_counter() - start)
    after = peak_megabytes()
    np.save(out, posterior)
    return {
        "seconds": statistics.median(seconds[1:]),
        "iterations": len(fit.log_likelihood),
        "before": before,
        "after": after,
    }


def crowdkit(items: int, out: Path) -> dict[str, Any]:
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    symbols = verdicts(items)
    task, worker = np.nonzero(symbols < 2)
    table = pd.DataFrame({"task": task, "worker": worker, "label": symbols[task, worker]})
    before, start = peak_megabytes(), time.perf_counter()
    model = DawidSkene(n_iter=ITERATIONS, tol=0).fit(table)
    seconds, after = time.perf_counter() - start, peak_megabytes()
    found = model.probas_
    assert found is not None
    posterior = np.full((items, 2), np.nan)  # items without a verdict are not in its answer
    posterior[found.index.to_numpy()] = found[[0, 1]].to_numpy()
    np.save(out, posterior)
    return {"seconds": seconds, "iterations": len(model.loss_history_), "before": before, "after": after}


SYSTEMS = {"ours": ours, "crowdkit": crowdkit}


def in_own_process(system: str, items: int, out: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, __file__, system, str(items), str(out)], capture_output=True, text=True, check=True
    )
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def compare(items: int, folder: Path) -> dict[str, float]:
    mine, rival = (in_own_process(name, items, folder / f"{name}.npy") for name in SYSTEMS)
    posterior, theirs = (np.load(folder / f"{name}.npy") for name in SYSTEMS)
    shared = ~np.isnan(theirs[:, 0])
    figures = {
        "speed": rival["seconds"] / mine["seconds"],
        "difference": float(np.abs(posterior[shared] - theirs[shared]).max()),
        "memory": mine["after"] / rival["after"],
    }
    print(f"{items:,} x {CHANNELS}:")
    for name, figure, answered in (("ours", mine, len(posterior)), ("crowd-kit", rival, int(shared.sum()))):
        print(
            f"  {name:9} {figure['seconds']:9.4f} s, {figure['iterations']} iterations, peak {figure['after']:.0f} MB "
            f"({figure['before']:.0f} before), {answered:,} items"
        )
    print(
        f"  {figures['speed']:,.0f} times as fast; largest difference of a posterior {figures['difference']:.1e}; "
        f"{figures['memory']:.2f} of its memory"
    )
    return figures


def compare_sparse() -> float:
    """Print and return the largest difference on a sparse crowd: 2,000 items, 150 workers, 10 classes, 3 % asked."""
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    from counterproof.panel.dawid_skene import fit_dawid_skene
    from counterproof.panel.patterns import encode

    rng = np.random.default_rng(2)
    truth = rng.integers(0, 10, 2000)
    symbols = np.where(rng.random((2000, 150)) < 0.35, rng.integers(0, 10, (2000, 150)), truth[:, None])
    symbols[rng.random(symbols.shape) >= 0.03] = -1
    symbols = symbols[(symbols >= 0).any(axis=1)].astype(np.int8)
    task, worker = np.nonzero(symbols >= 0)
    table = pd.DataFrame({"task": task, "worker": worker, "label": symbols[task, worker]})
    model = DawidSkene(n_iter=ITERATIONS, tol=0).fit(table)
    assert model.probas_ is not None
    theirs = model.probas_.sort_index().sort_index(axis=1).to_numpy()
    steps = len(model.loss_history_)
    fit = fit_dawid_skene(encode(symbols), 10, failures="missing", iterations=steps, tolerance=0)
    # crowd-kit hands back no posterior below 1e-10: it clips them in place after the last step.
    difference = float(np.abs(np.maximum(fit.posterior, 1e-10) - theirs).max())
    print(f"sparse crowd, 10 classes: {steps} and {len(fit.log_likelihood)} iterations, difference {difference:.1e}")
    return difference


def main() -> int:
    sizes = [int(size) for size in sys.argv[1:]] or list(SIZES)
    with tempfile.TemporaryDirectory() as folder:
        figures = [compare(size, Path(folder)) for size in sizes][-1]
    figures["difference"] = max(figures["difference"], compare_sparse())
    met = {
        "speed": figures["speed"] >= AIMS["speed"],
        "difference": figures["difference"] <= AIMS["difference"],
        "memory": figures["memory"] <= AIMS["memory"],
    }
    print("aims at the largest size: " + ", ".join(f"{name} {'met' if ok else 'MISSED'}" for name, ok in met.items()))
    return 0 if all(met.values()) else 1


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] in SYSTEMS:
        print(json.dumps(SYSTEMS[sys.argv[1]](int(sys.argv[2]), Path(sys.argv[3]))))
    else:
        sys.exit(main())
