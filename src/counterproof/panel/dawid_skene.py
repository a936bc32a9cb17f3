"""Dawid-Skene without labels: exact EM on distinct rows, for any number of classes, full panels and sparse crowds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.panel.confusion import ConfusionModel, Failures, has_verdict, indicator, log_joint, normalised
from counterproof.panel.patterns import Patterns, encode
from counterproof.panel.table import VerdictTable

if TYPE_CHECKING:
    from scipy.sparse import csr_array

ITERATIONS = 1000
TOLERANCE = 1e-8
FLOOR = 1e-10
"""Smallest expected count of a symbol that a channel did say, and smallest prior; crowd-kit's constant."""


@dataclass(frozen=True, slots=True, eq=False)
class DawidSkene:
    """A fit.

    Attributes:
        patterns: The distinct rows that it was fitted on.
        pattern_posterior: P(y | v) of each, (P, C).
        model: Prior and confusion matrices after the last M-step.
        informed: Whether a row holds a class verdict, (P); the others keep the prior and had no part in the fit.
        log_likelihood: Of the informed items, natural, before each M-step; it never falls.
        converged: Whether the rule of `fit_dawid_skene` stopped it, and not the number of iterations.
    """

    patterns: Patterns
    pattern_posterior: NDArray[np.float64]
    model: ConfusionModel
    informed: NDArray[np.bool_]
    log_likelihood: tuple[float, ...]
    converged: bool

    @property
    def posterior(self) -> NDArray[np.float64]:
        """P(y | v) of each item, (N, C): every item is there, those without a verdict with the prior."""
        return self.patterns.spread(self.pattern_posterior)


def dawid_skene(
    table: VerdictTable,
    *,
    failures: Failures = "symbol",
    iterations: int = ITERATIONS,
    tolerance: float = TOLERANCE,
) -> DawidSkene:
    """Return the Dawid-Skene fit of a verdict table, without labels; see `fit_dawid_skene`.

    Raises:
        InputError: As `fit_dawid_skene`.
    """
    patterns = encode(table.symbols)
    return fit_dawid_skene(patterns, len(table.classes), failures=failures, iterations=iterations, tolerance=tolerance)


def fit_dawid_skene(
    patterns: Patterns,
    classes: int,
    *,
    failures: Failures = "symbol",
    iterations: int = ITERATIONS,
    tolerance: float = TOLERANCE,
) -> DawidSkene:
    """Return the maximum-likelihood confusion model of unlabelled verdicts, by EM from vote shares.

    Items with the same row have the same posterior, so EM runs on P distinct rows weighted by their counts, exactly:

        E: q_pc proportional to pi_c prod_j theta_j[v_pj, c] over the calls made
        M: pi_c = sum_p w_p q_pc / sum_p w_p
           theta_j[a, c] = sum of w_p q_pc over rows with v_pj = a, normalised over a

    An iteration costs O(calls in distinct rows · C). Calls never made are left out of the product; a failure is one
    more symbol a, or is left out too. Rows without a class verdict have no part in the fit and keep the prior.

    It stops when the log-likelihood rises by less than `tolerance` per call made, or after `iterations` E-steps.
    Assumes that channels err independently given the class: near-copies make it certain where it is not. Classes
    are named by the start, vote shares, so a panel worse than chance is believed.

    Args:
        patterns: Distinct rows, from `encode`.
        classes: Number of classes C.
        failures: `symbol` lets failures that depend on the class be evidence; `missing` ignores them.
        iterations: Most E-steps, at least 1.
        tolerance: Least gain per call; 0 goes on until the likelihood stands still.

    Raises:
        InputError: No item has a class verdict, or `iterations` or `tolerance` is out of range.

    Source:
        Dawid and Skene 1979, doi:10.2307/2346806.
    """
    if iterations < 1 or not tolerance >= 0:
        raise InputError(f"{iterations} iterations at tolerance {tolerance}; give at least 1, and 0 or more")
    informed = has_verdict(patterns.rows, classes)
    if not informed.any():
        raise InputError("no channel gave a verdict on any item; without votes there is nothing to fit")
    rows, weights = patterns.rows[informed], patterns.counts[informed].astype(np.float64)
    shares = _vote_shares(rows, classes)
    voted = shares.any(axis=0)
    calls = indicator(rows, classes, failures)
    state = _em(calls, shares[:, voted], weights, (rows.shape[1], classes + 1), (iterations, tolerance))
    prior = np.zeros(classes)
    prior[voted] = state.prior / state.prior.sum()
    confusion = np.zeros((rows.shape[1], classes + 1, classes))
    confusion[:, :, voted] = state.confusion
    posterior = np.repeat(prior[None, :], len(patterns), axis=0)
    posterior[np.ix_(informed, voted)] = state.posterior
    posterior[np.ix_(informed, ~voted)] = 0.0
    model = ConfusionModel(prior, confusion, failures)
    return DawidSkene(patterns, posterior, model, informed, state.log_likelihood, state.converged)


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    posterior: NDArray[np.float64]
    prior: NDArray[np.float64]
    confusion: NDArray[np.float64]
    log_likelihood: tuple[float, ...]
    converged: bool


def _em(
    calls: csr_array,
    posterior: NDArray[np.float64],
    weights: NDArray[np.float64],
    shape: tuple[int, int],
    stop: tuple[int, float],
) -> _State:
    transposed = calls.T.tocsr()
    said = transposed @ weights > 0
    least_gain = stop[1] * float(weights @ calls.sum(axis=1))
    prior, confusion = _maximise(transposed, posterior * weights[:, None], said, shape)
    history: list[float] = []
    converged = False
    while len(history) < stop[0] and not converged:
        posterior, rows = normalised(log_joint(calls, prior, confusion))
        history.append(float(weights @ rows))
        converged = len(history) > 1 and history[-1] - history[-2] <= least_gain
        prior, confusion = _maximise(transposed, posterior * weights[:, None], said, shape)
    return _State(posterior, prior, confusion, tuple(history), converged)


def _maximise(
    transposed: csr_array, weighted: NDArray[np.float64], said: NDArray[np.bool_], shape: tuple[int, int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The M-step: prior (C) and confusion (K, A, C) from weighted posteriors (P, C)."""
    counts = transposed @ weighted
    counts[said] = np.maximum(counts[said], FLOOR)
    confusion = counts.reshape(*shape, -1)
    totals = confusion.sum(axis=1, keepdims=True)
    mass = weighted.sum(axis=0)
    return np.maximum(mass / mass.sum(), FLOOR), confusion / np.where(totals > 0, totals, 1.0)


def _vote_shares(rows: NDArray[np.int8], classes: int) -> NDArray[np.float64]:
    votes = np.stack([(rows == c).sum(axis=1) for c in range(classes)], axis=1).astype(np.float64)
    shares: NDArray[np.float64] = votes / votes.sum(axis=1, keepdims=True)
    return shares
