"""Verdicts: the rule that turns residuals of all supports into a selected support, its diagnostics and a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.equations.library import Supports


@dataclass(frozen=True, slots=True)
class Identified:
    """The law is said to consist of these terms."""

    support: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OutsideLibrary:
    """The law is said to need a term that the library lacks."""


@dataclass(frozen=True, slots=True)
class Inconclusive:
    """The verifier does not decide."""


EquationVerdict: TypeAlias = Identified | OutsideLibrary | Inconclusive

OUTSIDE = -1
INCONCLUSIVE = -2
"""Signatures are support indices from 0 (identified), or one of these two: categories, not quantities."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Thresholds of the verifier.

    Attributes:
        tau: Residual cut, relative to the target.
        gamma: Smallest gap of an identification.
        largest_condition: Largest condition number of an identification.
        ratio: A smaller support is preferred while its residual is at most max(ratio * best, best + slack).
        slack: See `ratio`.

    Raises:
        InputError: A threshold is out of its range.
    """

    tau: float = 0.115
    gamma: float = 0.06
    largest_condition: float = 100.0
    ratio: float = 1.15
    slack: float = 0.005

    def __post_init__(self) -> None:
        if not (0 < self.tau <= 1 and self.gamma >= 0 and self.largest_condition >= 1):
            raise InputError(f"{self}: tau in (0, 1], gamma at least 0, largest_condition at least 1")
        if self.ratio < 1 or self.slack < 0:
            raise InputError(f"{self}: ratio at least 1, slack at least 0")


DEFAULT_RULE = Rule()


@dataclass(frozen=True, slots=True)
class Selection:
    """The support that parsimony selects in each of B systems.

    Attributes:
        best: Smallest residual of all supports, (B,).
        support: The selected support S*, (B,).
        residual: Its residual, (B,).
        gap: Smallest residual of the other supports with at most as many terms, minus that of S*, (B,); the empty
            support (residual 1) stands in where there is no other.
    """

    best: NDArray[np.float64]
    support: NDArray[np.int64]
    residual: NDArray[np.float64]
    gap: NDArray[np.float64]


def select(squares: NDArray[np.float64], supports: Supports, rule: Rule) -> Selection:
    """Return the selected support of each system: the best of the smallest size that is nearly as good as the best.

    Args:
        squares: Squared residuals, (S, B).
        supports: The supports, by size.
        rule: Thresholds.
    """
    batch = np.arange(squares.shape[1])
    edges = np.searchsorted(supports.sizes, np.arange(1, int(supports.sizes[-1]) + 2))
    firsts = np.stack([a + squares[a:b].argmin(axis=0) for a, b in pairwise(edges)])
    residuals = np.sqrt(squares[firsts, batch])
    best = residuals.min(axis=0)
    size = (residuals <= np.maximum(rule.ratio * best, best + rule.slack)).argmax(axis=0)
    chosen, residual = firsts[size, batch], residuals[size, batch]
    rival = np.full(squares.shape[1], 1.0)
    for s in range(edges.size - 1):
        group = squares[edges[s] : edges[s + 1]]
        lowest = squares[firsts[s], batch]
        is_chosen = size == s
        if is_chosen.any() and len(group) > 1:
            lowest[is_chosen] = np.partition(group[:, is_chosen], 1, axis=0)[1]
        elif len(group) == 1:
            lowest[is_chosen] = 1.0
        rival = np.where(size >= s, np.minimum(rival, lowest), rival)
    return Selection(best, chosen, residual, np.sqrt(rival) - residual)


def signatures(selection: Selection, condition: NDArray[np.float64], rule: Rule) -> NDArray[np.int64]:
    """Return the signature of each system: a support index, `OUTSIDE` or `INCONCLUSIVE`.

    Outside where the best residual reaches tau; identified where that of S* is at most tau, its gap at least gamma and
    its condition number small enough. Where both hold it is identified.
    """
    found = np.where(selection.best >= rule.tau, OUTSIDE, INCONCLUSIVE)
    sure = (selection.residual <= rule.tau) & (selection.gap >= rule.gamma) & (condition <= rule.largest_condition)
    return np.where(sure, selection.support, found)
