"""Trajectories by centred second-order finite differences and classical Runge-Kutta steps."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.equations.draws import LAB_GRID, Draw, Grid, start_of
from counterproof.equations.families import Family
from counterproof.equations.spectral import one_family

REAL_LIMIT, IMAGINARY_LIMIT = 2.785, 2.828
"""How far classical RK4 is stable along the negative real and the imaginary axis."""
SAFETY = 0.9
LARGEST_FIELD = 3.0
"""No start of the lab exceeds it, and the laws do not amplify beyond it in the window; bounds the transport speed."""

STENCILS: dict[int, dict[int, float]] = {
    0: {0: 1.0},
    1: {-1: -0.5, 1: 0.5},
    2: {-1: 1.0, 0: -2.0, 1: 1.0},
    3: {-2: -0.5, -1: 1.0, 1: -1.0, 2: 0.5},
    4: {-2: 1.0, -1: -4.0, 0: 6.0, 1: -4.0, 2: 1.0},
}
"""Centred second-order weights by offset, per derivative; to be divided by h^derivative."""


def difference_fields(draws: Sequence[Draw], grid: Grid = LAB_GRID, *, points: int = 64) -> NDArray[np.float64]:
    """Return the trajectories of draws of one family, (E, T, N), computed on `points` and stored on the grid's points.

    Conservative form: a summand (d/dx)^d u^p is the centred difference of order d of u^p. Classical RK4 with .9 of the
    stable step of the family's largest coefficients, so that a trajectory does not depend on which others are computed
    with it. A fourth derivative makes that step useless; such laws must be linear and are solved exactly in time by
    the eigenvalues of the symmetric circulant difference matrix.

    Args:
        draws: Draws of one family.
        grid: Where to store.
        points: Computed points, a multiple of the stored ones.

    Raises:
        InputError: The draws are of several families, or `points` is no multiple of the stored points.
    """
    if points % grid.points:
        raise InputError(f"{points} computed points are no multiple of the {grid.points} stored ones")
    law = one_family(draws)
    start = start_of(draws, points)
    factors = np.array([one.factors() for one in draws])
    if law.is_linear and max(term.derivative for term in law.terms) > 3:
        stored = _exact(law, factors, start, grid.t)
    else:
        stored = _stepped(law, factors, start, grid)
    return stored[:, :, :: points // grid.points].copy()


def _exact(
    law: Family, factors: NDArray[np.float64], start: NDArray[np.float64], t: NDArray[np.float64]
) -> NDArray[np.float64]:
    points = start.shape[1]
    matrices = [_circulant(term.derivative, points) for term in law.terms]
    if any(not np.allclose(matrix, matrix.T) for matrix in matrices):
        raise InputError("only laws of even derivatives are solved by eigendecomposition")
    fields = np.empty((len(start), t.size, points))
    for e, (factor, u) in enumerate(zip(factors, start, strict=True)):
        values, vectors = np.linalg.eigh(sum(f * m for f, m in zip(factor, matrices, strict=True)))
        fields[e] = (np.exp(np.outer(t, values)) * (vectors.T @ u)) @ vectors.T
    return fields


def _circulant(derivative: int, points: int) -> NDArray[np.float64]:
    identity = np.eye(points)
    total = np.zeros_like(identity)
    for offset, weight in STENCILS[derivative].items():
        total += weight * np.roll(identity, offset, axis=1)
    return total / (2 * np.pi / points) ** derivative


def _stepped(law: Family, factors: NDArray[np.float64], start: NDArray[np.float64], grid: Grid) -> NDArray[np.float64]:
    h = 2 * np.pi / start.shape[1]
    interval = grid.window / grid.intervals
    substeps = max(1, math.ceil(interval / (SAFETY * _stable_step(law, h))))
    dt = interval / substeps
    fields = np.empty((len(start), grid.intervals + 1, start.shape[1]))
    fields[:, 0] = u = start
    for i in range(1, grid.intervals + 1):
        for _ in range(substeps):
            k1 = _slope(law, factors, u, h)
            k2 = _slope(law, factors, u + dt / 2 * k1, h)
            k3 = _slope(law, factors, u + dt / 2 * k2, h)
            k4 = _slope(law, factors, u + dt * k3, h)
            u = u + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        fields[:, i] = u
    return fields


def _slope(law: Family, factors: NDArray[np.float64], u: NDArray[np.float64], h: float) -> NDArray[np.float64]:
    total = np.zeros_like(u)
    for term, factor in zip(law.terms, factors.T, strict=True):
        power = u**term.power
        for offset, weight in STENCILS[term.derivative].items():
            shifted = np.roll(power, -offset, axis=1) if offset else power
            total += (factor[:, None] * (weight / h**term.derivative)) * shifted
    return total


def _stable_step(law: Family, h: float) -> float:
    """Return the largest stable step at the upper ends of the ranges: 1/dt = real/2.785 + imaginary/2.828."""
    angle = np.linspace(0.0, np.pi, 721)
    real, imaginary = 0.0, 0.0
    for term in law.terms:
        largest = abs(term.factor) * (1.0 if term.coefficient is None else law.ranges[term.coefficient][1])
        largest *= term.power * LARGEST_FIELD ** (term.power - 1)
        weights = STENCILS[term.derivative].items()
        symbol = sum(weight * np.exp(1j * offset * angle) for offset, weight in weights) / h**term.derivative
        real += largest * float(np.max(np.abs(np.real(symbol))))
        imaginary += largest * float(np.max(np.abs(np.imag(symbol))))
    return 1.0 / (real / REAL_LIMIT + imaginary / IMAGINARY_LIMIT)
