"""Crowd-kit and Snorkel, called in an environment of their own."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterproof.panel.dawid_skene import fit_dawid_skene
from counterproof.panel.patterns import encode

Array: TypeAlias = NDArray[np.float64]
Job: TypeAlias = tuple[NDArray[np.int8], Array]
"""Verdicts (N, K) with all but classes below 0, and class shares (C)."""
SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "rivals" / "aggregate.py"
ITERATIONS = 50
CLIP = 1e-10
"""crowd-kit hands back no posterior below this."""


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """Posteriors (N, C) of one job.

    Attributes:
        dawid_skene: Crowd-kit's, or ours where the rivals' environment is absent.
        label_model: Snorkel's; None below three channels, or where the environment is absent.
        difference: Largest difference between crowd-kit's posterior and ours; None where it is absent.
    """

    dawid_skene: Array
    label_model: Array | None
    difference: float | None


def answers(jobs: Sequence[Job], python: Path | None) -> tuple[Answer, ...]:
    """Return the rivals' answers in the order of jobs.

    Args:
        jobs: Verdicts and class shares.
        python: The interpreter of the rivals' environment; None for ours alone.
    """
    if python is None:
        return tuple(Answer(_ours(symbols, shares, ITERATIONS), None, None) for symbols, shares in jobs)
    with tempfile.TemporaryDirectory(prefix="panel-rivals-") as folder:
        given, found = Path(folder, "jobs.npz"), Path(folder, "answers.npz")
        np.savez(
            given,
            allow_pickle=False,
            **{f"{i}/symbols": symbols for i, (symbols, _) in enumerate(jobs)},
            **{f"{i}/prior": shares for i, (_, shares) in enumerate(jobs)},
        )
        subprocess.run([str(python), str(SCRIPT), str(given), str(found)], check=True, capture_output=True)
        with np.load(found) as archive:
            read = {name: archive[name] for name in archive.files}
    complete = []
    for i, (symbols, shares) in enumerate(jobs):
        # As many steps as crowd-kit took, which stops where its likelihood stands still.
        mine = _ours(symbols, shares, int(read[f"{i}/steps"]))
        theirs = read[f"{i}/crowdkit"]
        complete.append(Answer(theirs, read.get(f"{i}/snorkel"), _difference(mine, theirs, symbols)))
    return tuple(complete)


def _ours(symbols: NDArray[np.int8], shares: Array, iterations: int) -> Array:
    fit = fit_dawid_skene(encode(symbols), len(shares), failures="missing", iterations=iterations, tolerance=0)
    posterior = fit.posterior.copy()
    posterior[symbols.max(axis=1) < 0] = shares
    return posterior


def _difference(mine: Array, theirs: Array, symbols: NDArray[np.int8]) -> float:
    heard = np.flatnonzero(symbols.max(axis=1) >= 0)
    return float(np.abs(np.maximum(mine[heard], CLIP) - np.maximum(theirs[heard], CLIP)).max())
