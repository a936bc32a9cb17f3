"""Temporal test functions and the quadrature rules that integrate them on a view's own samples."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError, nearest

PANELS: Mapping[str, tuple[float, ...]] = {
    "trapezoid": (1 / 2, 1 / 2),
    "simpson": (1 / 3, 4 / 3, 1 / 3),
    "simpson38": (3 / 8, 9 / 8, 9 / 8, 3 / 8),
    "boole": (14 / 45, 64 / 45, 24 / 45, 64 / 45, 14 / 45),
}
"""Closed Newton-Cotes panels of 1 to 4 intervals, in units of the spacing; exact for degrees 1, 3, 3 and 5."""


def quadrature_weights(rule: str, count: int, spacing: float = 1.0) -> NDArray[np.float64]:
    """Return the weights of a composite rule on `count` equispaced samples, (count,); they sum to the length.

    Args:
        rule: `trapezoid`, `simpson`, `simpson38` or `boole`.
        count: Number of samples; the number of intervals must be a multiple of the rule's panel.
        spacing: Distance of neighbouring samples.

    Raises:
        InputError: There is no such rule, or the count does not fit it.

    >>> quadrature_weights("simpson", 5).round(3).tolist()
    [0.333, 1.333, 0.667, 1.333, 0.333]
    """
    if rule not in PANELS:
        raise InputError(f"no quadrature rule '{rule}'; {nearest(rule, PANELS)}")
    panel = PANELS[rule]
    width = len(panel) - 1
    if count < 2 or (count - 1) % width:
        raise InputError(f"{rule} needs a multiple of {width} intervals; {count} samples give {count - 1}")
    weights = np.zeros(count)
    for j, weight in enumerate(panel):
        weights[j : j + count - width : width] += weight
    return weights * spacing


def sine_tests(count: int, modes: int, length: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return phi_k(t) = sin(k pi t/length), k = 1..K, and phi_k', on `count` equispaced samples, each (K, count).

    They vanish at both ends, so that integrating u_t phi by parts leaves no boundary term; the ends are set to an
    exact zero.
    """
    k = np.arange(1.0, modes + 1)[:, None]
    angle = np.pi * k * (np.arange(count) / (count - 1))
    values: NDArray[np.float64] = np.sin(angle)
    values[:, [0, -1]] = 0.0
    slopes: NDArray[np.float64] = k * (np.pi / length) * np.cos(angle)
    return values, slopes
