"""One shared draw per (lab constant, family index, seed): coefficients, start and noise, read by every implementation.

Axis letters of the room: E episodes, T stored times, N points, V views, G time grids, K temporal modes, R spatial
tests, J library terms, S supports.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.equations.families import FAMILIES, Family

LAB_CONSTANT = 20_417
"""First word of every seed of the lab; another one gives another laboratory."""

MODES = 4


@dataclass(frozen=True, slots=True)
class Grid:
    """Where trajectories are stored: `points` on [0, 2 pi), periodic, and `intervals` + 1 times on [0, window].

    Attributes:
        points: Stored points.
        intervals: Stored intervals in time.
        window: Length of the time window.
    """

    points: int = 64
    intervals: int = 48
    window: float = 0.2

    @property
    def x(self) -> NDArray[np.float64]:
        """Stored points, (N,)."""
        return np.arange(self.points, dtype=np.float64) * (2 * np.pi / self.points)

    @property
    def t(self) -> NDArray[np.float64]:
        """Stored times, (T,)."""
        return np.arange(self.intervals + 1, dtype=np.float64) * (self.window / self.intervals)


LAB_GRID = Grid()


@dataclass(frozen=True, slots=True)
class Draw:
    """What one seed of one family draws.

    Attributes:
        family: Family index.
        seed: The seed.
        coefficients: The law's coefficients.
        mean: Mean of the start.
        amplitudes: Amplitudes of its modes 1..4, the family's amplitude included.
        phases: Phases of its modes.
    """

    family: int
    seed: int
    coefficients: tuple[float, ...]
    mean: float
    amplitudes: tuple[float, ...]
    phases: tuple[float, ...]

    @property
    def law(self) -> Family:
        """The family that was drawn from."""
        return FAMILIES[self.family]

    def factors(self) -> tuple[float, ...]:
        """Return the number that multiplies each of the law's summands (d/dx)^d u^p."""
        return tuple(
            term.factor * (1.0 if term.coefficient is None else self.coefficients[term.coefficient])
            for term in self.law.terms
        )


def draw(family: int, seed: int, *, lab: int = LAB_CONSTANT) -> Draw:
    """Return the draw of a family and seed; the same arguments give the same draw everywhere.

    Raises:
        InputError: There is no such family index, or the seed is negative.
    """
    if not 0 <= family < len(FAMILIES) or seed < 0:
        raise InputError(f"family index {family}, seed {seed}: give an index below {len(FAMILIES)} and a seed >= 0")
    law, rng = FAMILIES[family], _generator(lab, family, seed, 0)
    coefficients = tuple(float(rng.uniform(low, high)) for low, high in law.ranges)
    mean = float(rng.uniform(*law.mean))
    raw = rng.uniform(0.5, 1.0, MODES) * np.arange(1, MODES + 1) ** -law.decay
    phases = rng.uniform(0.0, 2 * np.pi, MODES)
    scaled = law.amplitude * raw / np.sqrt(np.sum(raw**2) / 2)
    return Draw(family, seed, coefficients, mean, tuple(map(float, scaled)), tuple(map(float, phases)))


def start_of(draws: Sequence[Draw], points: int) -> NDArray[np.float64]:
    """Return u(x, 0) of each draw on `points` equispaced points of [0, 2 pi), (E, N)."""
    x = np.arange(points) * (2 * np.pi / points)
    modes = np.arange(1, MODES + 1)[:, None] * x
    return np.stack(
        [one.mean + np.asarray(one.amplitudes) @ np.cos(modes + np.asarray(one.phases)[:, None]) for one in draws]
    )


def add_noise(
    fields: NDArray[np.float64], draws: Sequence[Draw], level: float, *, lab: int = LAB_CONSTANT
) -> NDArray[np.float64]:
    """Return u + level * rms(u) * N(0, 1), independent at every stored point; rms over the whole trajectory.

    The normal numbers belong to (lab, family, seed, level), so both implementations and all views see the same ones.

    Args:
        fields: Trajectories, (E, T, N).
        draws: Which draw each trajectory came from.
        level: Share of the root mean square, at least 0; .005 is half a percent.
        lab: The lab constant.

    Raises:
        InputError: The level is negative, or there are not as many draws as trajectories.
    """
    if level < 0 or len(draws) != len(fields):
        raise InputError(f"noise level {level}, {len(draws)} draws for {len(fields)} trajectories")
    if level == 0:
        return fields.copy()
    word = 1 + round(level * 1e6)
    normal = np.stack([_generator(lab, one.family, one.seed, word).standard_normal(fields.shape[1:]) for one in draws])
    rms = np.sqrt(np.mean(fields**2, axis=(1, 2), keepdims=True))
    noisy: NDArray[np.float64] = fields + level * rms * normal
    return noisy


def _generator(lab: int, family: int, seed: int, purpose: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64([lab, family, seed, purpose]))
