"""Spatial test functions with their derivatives: Fourier modes and bumps on a circle, compact bumps on an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from counterproof.core.errors import InputError

BUMP_SHARPNESS = 4.0


@dataclass(frozen=True, slots=True)
class SpatialTests:
    """Spatial test functions on N points.

    Attributes:
        name: Which set.
        values: psi_r and its derivatives, (D + 1, R, N); entry d holds the d-th derivative.
        spacing: Distance of neighbouring points. The integral is the trapezoid rule: exact to rounding on a circle and
            for functions that vanish smoothly at both ends.
    """

    name: str
    values: NDArray[np.float64]
    spacing: float


def fourier_tests(
    points: int, length: float = 2 * np.pi, *, modes: tuple[int, ...] = (1, 2, 3, 4), derivatives: int = 4
) -> SpatialTests:
    """Return set F: 1, cos(m q x), sin(m q x) for the modes m, with q = 2 pi/length; 9 functions by default.

    Raises:
        InputError: A mode is not below half the number of points, so that the points cannot tell it from another.
    """
    if not modes or min(modes) < 1 or 2 * max(modes) >= points:
        raise InputError(f"modes {modes} on {points} points: give whole numbers from 1 to below half the points")
    x = np.arange(points) * (2 * np.pi / points)
    m = np.array(modes, dtype=np.float64)
    q = 2 * np.pi / length
    values = np.zeros((derivatives + 1, 1 + 2 * len(modes), points))
    values[0, 0] = 1.0
    for d in range(derivatives + 1):
        wave = (1j * q * m[:, None]) ** d * np.exp(1j * m[:, None] * x)
        values[d, 1::2], values[d, 2::2] = wave.real, wave.imag
    return SpatialTests("F", values, length / points)


def bump_tests(
    points: int, length: float = 2 * np.pi, *, count: int = 9, sharpness: float = BUMP_SHARPNESS, derivatives: int = 4
) -> SpatialTests:
    """Return set B: exp(sharpness (cos(q(x - x_j)) - 1)) with x_j = j length/count; derivatives by FFT.

    Raises:
        InputError: There is no bump, or it is too sharp for the points.
    """
    if count < 1 or not 0 < sharpness <= (points / 16) ** 2:
        raise InputError(f"{count} bumps of sharpness {sharpness} on {points} points; at most {(points / 16) ** 2:g}")
    x = np.arange(points) * (2 * np.pi / points)
    centres = np.arange(count)[:, None] * (2 * np.pi / count)
    hat = np.fft.rfft(np.exp(sharpness * (np.cos(x - centres) - 1)))
    k = np.arange(hat.shape[1]) * (2 * np.pi / length)
    k[-1] = 0.0 if points % 2 == 0 else k[-1]
    values = np.stack([np.fft.irfft(hat * (1j * k) ** d, points) for d in range(derivatives + 1)])
    return SpatialTests("B", values, length / points)


def compact_tests(
    points: int, length: float, *, count: int = 9, share: float = 0.3, derivatives: int = 4
) -> SpatialTests:
    """Return bumps (1 - s^2)^p, s = (x - x_j)/H, on points from 0 to `length`, ends included; for intervals.

    p = derivatives + 2, so the function and all its derivatives vanish at the ends of its support and no boundary term
    is left. H = share * length/2; centres are equispaced from H to length - H.

    Args:
        points: Number N of points, both ends included.
        length: Distance of first and last point.
        count: Number of bumps.
        share: Width of a bump as a share of the length, in (0, 1].
        derivatives: Highest derivative.

    Raises:
        InputError: A bump would hold fewer points than its degree needs, or an argument is out of its range.
    """
    degree = derivatives + 2
    if count < 1 or not 0 < share <= 1 or share * (points - 1) < 2 * degree:
        raise InputError(
            f"{count} bumps over {share:g} of {points} points: each needs a width in (0, 1] and {2 * degree} points"
        )
    half = share * length / 2
    x = np.linspace(0.0, length, points)
    s = (x - np.linspace(half, length - half, count)[:, None]) / half
    polynomial = Polynomial([1.0, 0.0, -1.0]) ** degree
    values = np.stack(
        [
            np.where(np.abs(s) < 1, polynomial.deriv(d)(s) if d else polynomial(s), 0.0) / half**d
            for d in range(derivatives + 1)
        ]
    )
    return SpatialTests("compact", values, length / (points - 1))
