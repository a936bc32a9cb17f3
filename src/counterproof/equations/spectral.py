"""Trajectories by the Fourier method: exact exponentials for linear laws, ETDRK4 for the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.equations.draws import LAB_GRID, Draw, Grid, start_of
from counterproof.equations.families import Family

CONTOUR = 32
"""Points on the circle over which the ETDRK4 weights are averaged."""
REFINEMENT = 2
"""Points computed for each one stored."""
SUBSTEPS = 8
"""Steps for each stored interval."""
LANES = 16
"""Modes carried are a multiple of it: then no processor's vector loop has a tail that rounds otherwise, and a
trajectory has the same bytes whichever others are computed with it."""


def spectral_fields(draws: Sequence[Draw], grid: Grid = LAB_GRID, *, substeps: int = SUBSTEPS) -> NDArray[np.float64]:
    """Return the trajectories of draws of one family, (E, T, N).

    u_t = L u + N(u) on twice the stored points. L holds all summands with power one. Linear laws are
    u_hat(t) = exp(L t) u_hat(0). Others take `substeps` steps of ETDRK4 for each stored interval; products are
    dealiased: modes above a third of the points are cut for quadratic laws, above a quarter for cubic ones.

    Args:
        draws: Draws of one family.
        grid: Where to store.
        substeps: Steps for each stored interval.

    Raises:
        InputError: The draws are of several families.

    Source:
        Kassam and Trefethen 2005, doi:10.1137/S1064827502410633.
    """
    law = one_family(draws)
    points = REFINEMENT * grid.points
    k = np.arange(_carried(law, points))
    factors = np.array([one.factors() for one in draws])
    linear = np.zeros((len(draws), k.size), dtype=np.complex128)
    for term, factor in zip(law.terms, factors.T, strict=True):
        if term.power == 1:
            linear += factor[:, None] * (1j * k) ** term.derivative
    start = np.fft.rfft(start_of(draws, points))[:, : k.size].copy()
    if law.is_linear:
        hat = np.exp(linear[:, None, :] * grid.t[:, None]) * start[:, None, :]
    else:
        nonlinear = _Nonlinear.of(law, factors, points)
        h = grid.window / grid.intervals / substeps
        # Row by row: numpy may swap the factors of a large complex product, which rounds otherwise.
        weights = tuple(np.stack(one) for one in zip(*(_weights(row, h) for row in linear), strict=True))
        hat = np.empty((len(draws), grid.intervals + 1, k.size), dtype=np.complex128)
        hat[:, 0] = state = start
        for i in range(1, grid.intervals + 1):
            for _ in range(substeps):
                state = _step(state, nonlinear, weights)
            hat[:, i] = state
    return np.fft.irfft(hat, points)[:, :, ::REFINEMENT].copy()


def one_family(draws: Sequence[Draw]) -> Family:
    """Return the family that all draws share.

    Raises:
        InputError: There is no draw, or they are of several families.
    """
    if len({one.family for one in draws}) != 1:
        raise InputError("trajectories are computed for one or more draws of one family; group the draws by family")
    return draws[0].law


def _carried(law: Family, points: int) -> int:
    """Return how many modes to carry: those that dealiasing keeps (all others stay zero), rounded up to `LANES`."""
    return min(points // 2, -(-points // (law.highest_power + 1) // LANES) * LANES)


@dataclass(frozen=True, slots=True)
class _Nonlinear:
    """N(u) in Fourier space: for each power above one, a multiplier on the transform of u^p, (E, modes)."""

    points: int
    multipliers: tuple[tuple[int, NDArray[np.complex128]], ...]

    @classmethod
    def of(cls, law: Family, factors: NDArray[np.float64], points: int) -> _Nonlinear:
        k = np.arange(_carried(law, points))
        kept = k * (law.highest_power + 1) < points
        return cls(
            points,
            tuple(
                (term.power, factor[:, None] * (1j * k) ** term.derivative * kept)
                for term, factor in zip(law.terms, factors.T, strict=True)
                if term.power > 1
            ),
        )

    def __call__(self, hat: NDArray[np.complex128]) -> NDArray[np.complex128]:
        u = np.fft.irfft(hat, self.points)
        total = np.zeros_like(hat)
        for power, multiplier in self.multipliers:
            total += multiplier * np.fft.rfft(np.prod([u] * power, axis=0))[:, : hat.shape[1]]
        return total


def _weights(linear: NDArray[np.complex128], h: float) -> tuple[NDArray[np.complex128], ...]:
    """Return exp(hL), exp(hL/2), Q, f1, f2, f3 of ETDRK4, each (modes,), by means over a circle around hL."""
    circle = np.exp(2j * np.pi * (np.arange(CONTOUR) + 0.5) / CONTOUR)
    z = h * linear[..., None] + circle
    e = np.exp(z)
    return (
        np.exp(h * linear),
        np.exp(h * linear / 2),
        h * np.mean((np.exp(z / 2) - 1) / z, axis=-1),
        h * np.mean((-4 - z + e * (4 - 3 * z + z**2)) / z**3, axis=-1),
        h * np.mean((2 + z + e * (z - 2)) / z**3, axis=-1),
        h * np.mean((-4 - 3 * z - z**2 + e * (4 - z)) / z**3, axis=-1),
    )


def _step(
    v: NDArray[np.complex128], nonlinear: _Nonlinear, weights: tuple[NDArray[np.complex128], ...]
) -> NDArray[np.complex128]:
    whole, half, q, f1, f2, f3 = weights
    n_v = nonlinear(v)
    a = half * v + q * n_v
    n_a = nonlinear(a)
    n_b = nonlinear(half * v + q * n_a)
    n_c = nonlinear(half * a + q * (2 * n_b - n_v))
    after: NDArray[np.complex128] = whole * v + n_v * f1 + 2 * (n_a + n_b) * f2 + n_c * f3
    return after
