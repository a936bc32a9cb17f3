"""Least squares on every support at once, from Gram matrices of unit-norm columns, without a loop over supports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.equations.library import Supports

VANISHING = 1e-14
"""A column whose norm is at most this share of the largest column's is a zero column and cannot help."""
DEPENDENT = 1e-13
"""A column of which elimination leaves at most this share is dependent on those before it and explains no more."""
TINY = 1e-6
"""Below this residual a Gram matrix has lost its digits; the support is recomputed by QR."""


@dataclass(frozen=True, slots=True)
class Correlations:
    """Gram matrices of unit-norm columns, B systems last so that every entry is contiguous.

    Attributes:
        columns: Inner products of the columns, (J, J, B); zero for zero columns.
        target: Inner products of columns and target, (J, B).
        norms: Norms of columns and, last, the target, (J + 1, B); infinite for zero columns.
    """

    columns: NDArray[np.float64]
    target: NDArray[np.float64]
    norms: NDArray[np.float64]


def correlations(grams: NDArray[np.float64]) -> Correlations:
    """Return Gram matrices of [A b], (B, J + 1, J + 1), with columns and target scaled to unit norm.

    Raises:
        InputError: A target is zero, so that no residual can be stated relative to it.
    """
    norms = np.sqrt(np.einsum("bjj->jb", grams))
    if not (norms[-1] > 0).all():
        raise InputError("the target of a view is zero: nothing changes in time there, so there is no law to test")
    norms[:-1][norms[:-1] <= VANISHING * norms[:-1].max(axis=0)] = np.inf
    scaled = np.moveaxis(grams, 0, 2) / (norms[:, None] * norms)
    return Correlations(np.ascontiguousarray(scaled[:-1, :-1]), np.ascontiguousarray(scaled[:-1, -1]), norms)


def squared_residuals(c: Correlations, supports: Supports) -> NDArray[np.float64]:
    """Return r_S^2 = min over coefficients of ||A_S c - b||^2/||b||^2 for every support, (S, B), in [0, 1].

    Sizes one to three by elimination in closed form; larger ones by the general recursion.
    """
    largest = int(supports.sizes[-1])
    if largest > 3:
        return _by_recursion(c, supports)
    index = np.array([(*one, *(0,) * (3 - len(one))) for one in supports.members]).T
    explained = np.empty((len(supports), c.target.shape[1]))
    for size in range(1, largest + 1):
        part = supports.sizes == size
        explained[part] = _CLOSED[size - 1](c, *index[:size, part])
    return _clipped(explained)


def _clipped(explained: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.clip(1.0 - explained, 0.0, 1.0)


def _one(c: Correlations, i: NDArray[np.int64]) -> NDArray[np.float64]:
    return c.target[i] ** 2


def _two(c: Correlations, i: NDArray[np.int64], j: NDArray[np.int64]) -> NDArray[np.float64]:
    c_ij, y_i = c.columns[i, j], c.target[i]
    return y_i**2 + _gain(c.target[j] - c_ij * y_i, 1.0 - c_ij**2)


def _three(c: Correlations, i: NDArray[np.int64], j: NDArray[np.int64], k: NDArray[np.int64]) -> NDArray[np.float64]:
    c_ij, c_ik, y_i = c.columns[i, j], c.columns[i, k], c.target[i]
    left_j = 1.0 - c_ij**2
    y_j, y_k = c.target[j] - c_ij * y_i, c.target[k] - c_ik * y_i
    c_jk = c.columns[j, k] - c_ij * c_ik
    ratio = np.divide(c_jk, left_j, out=np.zeros_like(c_jk), where=left_j > DEPENDENT)
    left_k = 1.0 - c_ik**2 - ratio * c_jk
    return y_i**2 + _gain(y_j, left_j) + _gain(y_k - ratio * y_j, left_k)


_CLOSED = (_one, _two, _three)


def _gain(y: NDArray[np.float64], left: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return y^2/left, what a column adds once earlier ones are eliminated; zero for a dependent column."""
    return np.divide(y * y, left, out=np.zeros_like(y), where=left > DEPENDENT)


def _by_recursion(c: Correlations, supports: Supports) -> NDArray[np.float64]:
    """Return the residuals of supports of any size: each extends a shorter one by its last column.

    The state of a support is the Schur complement of its columns in the Gram matrix of [A b]; its last row is what is
    left of the target.
    """
    terms, batch = c.target.shape
    base = np.empty((1, terms + 1, terms + 1, batch))
    base[0, :-1, :-1], base[0, :-1, -1], base[0, -1, :-1], base[0, -1, -1] = c.columns, c.target, c.target, 1.0
    left = np.empty((len(supports), batch))
    states = base
    where: dict[tuple[int, ...], int] = {(): 0}
    for size in range(1, int(supports.sizes[-1]) + 1):
        chosen = [s for s, one in enumerate(supports.members) if len(one) == size]
        parents = np.array([where[supports.members[s][:-1]] for s in chosen])
        last = np.array([supports.members[s][-1] for s in chosen])
        pivot = states[parents, last, last]
        row = states[parents, last]
        scaled = np.divide(row, pivot[:, None], out=np.zeros_like(row), where=pivot[:, None] > DEPENDENT)
        left[chosen] = states[parents, -1, -1] - scaled[:, -1] * row[:, -1]
        if size < int(supports.sizes[-1]):
            states = states[parents] - scaled[:, :, None] * row[:, None]
            where = {supports.members[s]: i for i, s in enumerate(chosen)}
    return np.clip(left, 0.0, 1.0)


def condition_numbers(c: Correlations, supports: Supports, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the 2-norm condition number of the unit-norm columns of each system's support, (B,); at least 1.

    It is the square root of the ratio of the extreme eigenvalues of their Gram matrix. Smaller supports are padded with
    the identity: a Gram matrix with unit diagonal has eigenvalues on both sides of one, so its extremes stay.

    Args:
        c: The systems' correlations.
        supports: All supports.
        chosen: Position of each system's support, (B,).
    """
    largest, batch = int(supports.sizes[-1]), np.arange(chosen.size)
    padded = np.array([(*one, *(-1,) * (largest - len(one))) for one in supports.members])[chosen]
    grams = np.tile(np.eye(largest), (chosen.size, 1, 1))
    for a in range(largest):
        for b in range(a):
            inside = padded[:, a] >= 0
            value = np.where(inside, c.columns[padded[:, a], padded[:, b], batch], 0.0)
            grams[:, a, b] = grams[:, b, a] = value
    values = np.linalg.eigvalsh(grams)
    with np.errstate(divide="ignore"):
        ratio: NDArray[np.float64] = np.sqrt(values[:, -1] / np.maximum(values[:, 0], 0.0))
    return ratio


def qr_residual(A: NDArray[np.float64], b: NDArray[np.float64], members: Sequence[int]) -> float:
    """Return ||A_S c - b||/||b|| of one support by QR on the rows themselves; keeps digits where the Gram loses them.

    Args:
        A: Rows by J columns.
        b: Rows.
        members: The support's columns.
    """
    part = A[:, list(members)]
    norms = np.linalg.norm(part, axis=0)
    used = norms > VANISHING * np.linalg.norm(A, axis=0).max()
    q, _ = np.linalg.qr(part[:, used] / norms[used])
    left = b - q @ (q.T @ b)
    left -= q @ (q.T @ left)
    return float(np.linalg.norm(left) / np.linalg.norm(b))


def support_coefficients(
    grams: NDArray[np.float64], supports: Supports, chosen: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the least-squares coefficients of each system's support, in the terms' own units, (B, J); zero elsewhere.

    Args:
        grams: Gram matrices of [A b], (B, J + 1, J + 1).
        supports: All supports.
        chosen: Position of each system's support, (B,).
    """
    found = np.zeros((len(grams), supports.columns))
    for b, (gram, s) in enumerate(zip(grams, chosen, strict=True)):
        members = list(supports.members[s])
        scale = np.sqrt(gram[members, members])
        scaled = gram[np.ix_(members, members)] / np.outer(scale, scale)
        found[b, members] = np.linalg.lstsq(scaled, gram[members, -1] / scale, rcond=None)[0] / scale
    return found
