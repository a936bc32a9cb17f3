"""The one-dimensional studies: which episodes there are, their noisy trajectories, truth and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterproof.equations.draws import LAB_CONSTANT, LAB_GRID, Draw, Grid, add_noise, draw
from counterproof.equations.families import FAMILIES
from counterproof.equations.library import DEFAULT_LIBRARY, Library
from counterproof.equations.spatial import SpatialTests, bump_tests, fourier_tests
from counterproof.equations.trajectories import trajectories
from counterproof.equations.verdicts import DEFAULT_RULE, Rule
from counterproof.equations.verifier import Verifier, ViewTable, true_signature
from counterproof.equations.views import View, lab_views, reference_views
from counterproof.equations.weakform import build_weakform

NOISE_LEVELS = (0.0, 0.001, 0.005)
SETS = ("F", "B")


@dataclass(frozen=True, slots=True)
class Lab:
    """A one-dimensional study; its episodes are every seed of every family, spatial set and noise level.

    Attributes:
        seeds: Seeds of each family.
        families: Family indices.
        sets: Spatial sets, `F`, `B` or both.
        noise: Noise levels.
        implementation: `spectral`, `fd64` or `fd192`.
        library: Candidate terms.
        rule: Thresholds of the verifier.
        views: Permitted views.
        quadrature: The rule in time.
        grid: Where trajectories are stored.
        constant: The lab constant.
    """

    seeds: tuple[int, ...]
    families: tuple[int, ...] = tuple(range(len(FAMILIES)))
    sets: tuple[str, ...] = SETS
    noise: tuple[float, ...] = NOISE_LEVELS
    implementation: str = "spectral"
    library: Library = DEFAULT_LIBRARY
    rule: Rule = DEFAULT_RULE
    views: tuple[View, ...] = lab_views()
    quadrature: str = "simpson"
    grid: Grid = LAB_GRID
    constant: int = LAB_CONSTANT

    def draws(self) -> tuple[Draw, ...]:
        """Return the draws, families first."""
        return tuple(draw(family, seed, lab=self.constant) for family in self.families for seed in self.seeds)

    def verifier(self, spatial: str) -> Verifier:
        """Return the verifier with one spatial set, on the permitted views and then the reference views."""
        derivatives = max(term.derivative for term in self.library.terms)
        tests = spatial_set(spatial, self.grid, derivatives)
        modes = tuple(sorted({view.modes for view in self.views}))
        views = (*self.views, *reference_views(self.grid.intervals, modes))
        return Verifier(build_weakform(self.grid.t, self.library, tests, views, self.quadrature), self.rule)


def spatial_set(name: str, grid: Grid = LAB_GRID, derivatives: int = 4) -> SpatialTests:
    """Return spatial set `F` or `B` on a grid's points."""
    build = fourier_tests if name == "F" else bump_tests
    return build(grid.points, derivatives=derivatives)


@dataclass(frozen=True, slots=True)
class LabResult:
    """What a study gave. Episodes are ordered by spatial set, noise level, family and seed; the seed is the cluster.

    Attributes:
        permitted: Table of the permitted views.
        reference: Table of all stored times, one view per number of modes.
        truth: True signatures, (E,).
        family: Family indices, (E,).
        seed: Seeds, (E,).
        noise: Noise levels, (E,).
        spatial: Positions in the study's spatial sets, (E,).
    """

    permitted: ViewTable
    reference: ViewTable
    truth: NDArray[np.int64]
    family: NDArray[np.int64]
    seed: NDArray[np.int64]
    noise: NDArray[np.float64]
    spatial: NDArray[np.int64]


def run_lab(lab: Lab) -> LabResult:
    """Return the tables of all episodes of a study."""
    draws = lab.draws()
    clean = trajectories(draws, lab.implementation, lab.grid)
    noisy = [add_noise(clean, draws, level, lab=lab.constant) for level in lab.noise]
    parts = [lab.verifier(spatial).assess(fields) for spatial in lab.sets for fields in noisy]
    table = join_tables(parts)
    permitted = range(len(lab.views))
    repeats, count = len(parts), len(draws)
    signature = {f: true_signature(lab.library, lab.library.law_support(FAMILIES[f].terms)) for f in lab.families}
    return LabResult(
        permitted=table.shown(permitted),
        reference=table.shown(range(len(lab.views), len(table.views))),
        truth=np.array([signature[one.family] for one in draws] * repeats, dtype=np.int64),
        family=np.array([one.family for one in draws] * repeats, dtype=np.int64),
        seed=np.array([one.seed for one in draws] * repeats, dtype=np.int64),
        noise=np.tile(np.repeat(np.asarray(lab.noise, dtype=np.float64), count), len(lab.sets)),
        spatial=np.repeat(np.arange(len(lab.sets)), count * len(lab.noise)),
    )


def join_tables(parts: Sequence[ViewTable]) -> ViewTable:
    """Return tables with the same views and library as one, episodes in order."""
    first = parts[0]
    names = ("best", "residual", "support", "gap", "condition", "signature")
    arrays = (np.concatenate([getattr(part, name) for part in parts]) for name in names)
    return ViewTable(first.views, first.terms, first.supports, *arrays)
