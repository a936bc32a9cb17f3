"""The detector lattice: what every subset of detectors, added to the reward as penalties, would resist.

margin_S(c) = m0(c) + sum over d in S of lambda_d (d(c) - d(o)): the reward is called once a record, and all 2^n subsets
follow from one matrix product. `oracle_worst` is maximised anew in every cell.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.rewards.batch import Batch
from counterproof.rewards.cells import TOLERANCE, Cell, Setup

MOST = 12
"""Detectors that a lattice takes: 4,096 subsets."""
DELTA = 1e-6
"""By how much a least sufficient weight must clear zero, in reward units."""


@dataclass(frozen=True, slots=True)
class Lattice:
    """All subsets of the detectors that have a weight.

    Attributes:
        names: Detector names, length n.
        bits: Their bits among the audit's detectors, (n,).
        weights: lambda, in reward units, (n,).
        subsets: Membership, (2^n, n); row s holds the binary digits of s, so row 0 is the reward as it is.
    """

    names: tuple[str, ...]
    bits: NDArray[np.intp]
    weights: NDArray[np.float64]
    subsets: NDArray[np.float64]

    def label(self, subset: int) -> str:
        """Return the name of a subset, for example `{U,L}` or `{}`."""
        return "{" + ",".join(name for i, name in enumerate(self.names) if subset >> i & 1) + "}"


def lattice_of(setup: Setup) -> Lattice:
    """Return the lattice over the detectors of an audit that have a weight.

    Raises:
        InputError: More than `MOST` have one.
    """
    bits = setup.lattice
    if len(bits) > MOST:
        raise InputError(
            f"{len(bits)} detectors have a weight, so the lattice would have 2^{len(bits)} cells; "
            f"at most {MOST} may have one: give weight=None to the others"
        )
    chosen = [setup.detectors[bit] for bit in bits]
    subsets = np.array([[s >> i & 1 for i in range(len(bits))] for s in range(1 << len(bits))], dtype=float)
    return Lattice(
        tuple(one.name for one in chosen),
        np.array(bits, dtype=np.intp),
        np.array([one.weight or 0.0 for one in chosen]),
        subsets.reshape(1 << len(bits), len(bits)),
    )


def endings(
    batch: Batch, cell: Cell, lattice: Lattice
) -> tuple[NDArray[np.intp], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return, for units U with a candidate in the cell and subsets S: unit index (U,), fooled (U, S), resisted (U, S).

    A unit is fooled where any scored candidate has a margin of at most the tolerance; resisted where none has and none
    failed; a unit with a failed candidate is neither unless fooled.
    """
    members = batch.members(cell)
    owner = batch.owner[members]
    if not owner.size:
        empty = np.zeros((0, len(lattice.subsets)), dtype=np.bool_)
        return owner, empty, empty
    starts = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
    penalties = batch.deltas[np.ix_(members, lattice.bits)] * lattice.weights
    margins = batch.margin[members, None] + penalties @ lattice.subsets.T
    scored = batch.state[members] == 0
    margins[~scored] = np.inf
    fooled = np.minimum.reduceat(margins, starts, axis=0) <= TOLERANCE
    clean = np.logical_and.reduceat(scored, starts)
    return owner[starts], fooled, ~fooled & clean[:, None]


def minimal_subsets(sufficient: Sequence[bool]) -> tuple[int, ...]:
    """Return the inclusion-minimal sufficient subsets, by enumeration and without assuming monotonicity.

    Args:
        sufficient: Whether subset s suffices, for s in 0 .. 2^n - 1 as bit masks.

    Returns:
        Those that suffice and have no sufficient proper subset, smallest first.

    >>> minimal_subsets([False, False, True, True])
    (2,)
    """
    good = [s for s, one in enumerate(sufficient) if one]
    minimal = [s for s in good if not any(t != s and t & s == t for t in good)]
    return tuple(sorted(minimal, key=lambda s: (s.bit_count(), s)))


Delta = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Need:
    """The least weight with which one detector alone closes every success, or why none does.

    Attributes:
        detector: Its name.
        weight: lambda, in reward units; None when no weight suffices.
        binding: The attack that sets it, or that it cannot close.
    """

    detector: str
    weight: float | None
    binding: str


def least_weights(groups: Mapping[tuple[str, Delta], float], names: Sequence[str]) -> tuple[Need, ...]:
    """Return, for each detector alone, the least lambda >= 0 that lifts every success to a margin of delta or more.

    Candidates that resist already (margin above the tolerance) must go on resisting: a detector that falls under an
    edit (Delta_d = -1) sets a ceiling, and there is no weight where the ceiling is not above the need.

    Args:
        groups: Smallest base margin m0 by (attack, detector deltas over `names`), isolated candidates only.
        names: Detector names, in the order of the deltas.
    """
    return tuple(_least_weight(groups, index, name) for index, name in enumerate(names))


def _least_weight(groups: Mapping[tuple[str, Delta], float], index: int, name: str) -> Need:
    weight, binding, ceiling = 0.0, "", math.inf
    for (attack, delta), worst in sorted(groups.items()):
        slope = delta[index]
        if worst <= TOLERANCE:
            if slope <= 0:
                return Need(name, None, attack)
            if (DELTA - worst) / slope > weight:
                weight, binding = (DELTA - worst) / slope, attack
        elif slope < 0:
            ceiling = min(ceiling, (worst - TOLERANCE) / -slope)
    return Need(name, weight if weight < ceiling else None, binding)
