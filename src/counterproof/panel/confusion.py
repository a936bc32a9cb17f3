"""One prior and one confusion matrix a channel: the model that treats channels as independent given the class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterproof.panel.patterns import Patterns

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Failures: TypeAlias = Literal["symbol", "missing"]
"""What a failed call is to a model: one more thing that a channel can say, or a call never made."""


@dataclass(frozen=True, slots=True, eq=False)
class ConfusionModel:
    """P(y, v) = P(y) prod_j P(v_j | y) over K channels, C classes and A = C + 1 symbols (failure last).

    Attributes:
        prior: P(y), (C).
        confusion: P(v_j = a | y = c), (K, A, C); a channel that was never observed is all 0.
        failures: Whether a failure counts as a symbol; otherwise its row is 0 and it is left out like `NOT_QUERIED`.
    """

    prior: NDArray[np.float64]
    confusion: NDArray[np.float64]
    failures: Failures = "symbol"

    def posterior(self, patterns: Patterns) -> NDArray[np.float64]:
        """Return P(y | v) per pattern, (P, C); calls never made are left out.

        A row without any class verdict keeps the prior: a panel that is silent as a whole has one cause, which the
        product over channels would count K times. A symbol that a channel was never seen to say is left out too.
        """
        informed = has_verdict(patterns.rows, len(self.prior))
        found = np.repeat(self.prior[None, :], len(patterns), axis=0)
        possible = self.prior > 0
        calls = indicator(patterns.rows[informed], len(self.prior), self.failures)
        joint = log_joint(calls, self.prior[possible], self.confusion[:, :, possible])
        found[np.ix_(informed, possible)] = normalised(joint)[0]
        return found


def has_verdict(rows: NDArray[np.int8], classes: int) -> NDArray[np.bool_]:
    """Return whether any channel of a row named a class, (P)."""
    named: NDArray[np.bool_] = np.any((rows >= 0) & (rows < classes), axis=1)
    return named


def indicator(rows: NDArray[np.int8], classes: int, failures: Failures = "symbol") -> csr_array:
    """Return the calls made as a sparse 0/1 matrix, (P, K·A): column j·A + a says that channel j gave symbol a."""
    from scipy.sparse import csr_array

    p, k = rows.shape
    made = (rows >= 0) if failures == "symbol" else (rows >= 0) & (rows < classes)
    unit, channel = np.nonzero(made)
    column = channel * (classes + 1) + rows[unit, channel]
    starts = np.concatenate([[0], np.cumsum(made.sum(axis=1))])
    return csr_array((np.ones(len(unit)), column, starts), shape=(p, k * (classes + 1)))


def log_joint(calls: csr_array, prior: NDArray[np.float64], confusion: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log P(y) + sum over calls of log P(v_j | y), (P, C), for a positive prior; entries of 0 are left out."""
    logs = np.log(confusion, out=np.zeros_like(confusion), where=confusion > 0).reshape(-1, len(prior))
    joint: NDArray[np.float64] = np.log(prior) + calls @ logs
    return joint


def normalised(joint: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the posteriors (P, C) and the log-likelihood of each row (P) from the log of the joint."""
    top = joint.max(axis=1, keepdims=True)
    scaled = np.exp(joint - top)
    total = scaled.sum(axis=1, keepdims=True)
    return scaled / total, (top + np.log(total))[:, 0]
