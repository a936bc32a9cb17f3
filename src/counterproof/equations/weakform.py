"""The weak form on every evidence view at once: projections shared by all views, then one product per time grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.equations.library import Library, Term
from counterproof.equations.quadrature import quadrature_weights, sine_tests
from counterproof.equations.spatial import SpatialTests
from counterproof.equations.views import View


@dataclass(frozen=True, slots=True)
class WeakForm:
    """What turns trajectories into linear systems, prepared once for all of them.

    With phi_k sines on a view's own window and psi_r spatial tests,

        b[k, r] = -sum_i w_i phi_k'(t_i) <psi_r, u(t_i)>
        A[k, r, j] = sum_i w_i phi_k(t_i) <psi_r, f_j(u(t_i))>,   <psi, (d/dx)^d g> = (-1)^d <psi^(d), g>.

    Attributes:
        library: The J candidate terms.
        tests: The R spatial tests.
        views: The V views.
        shape: Stored times and points that trajectories must have.
        groups: For each distinct g(u): the term that computes it, its columns, and the stacked spatial tests of those
            columns with sign, factor and spacing, (N, columns * R).
        target: Spatial tests of u itself, with the spacing, (N, R).
        integrals: w phi_k on the stored times for each grid, zeros off the grid, (G * K, T).
        slopes: -w phi_k', likewise.
        grid_of: Position of each view's time grid, (V,).
        mode_count: The largest K.
        quadrature: The rule in time.
    """

    library: Library
    tests: SpatialTests = field(repr=False)
    views: tuple[View, ...]
    shape: tuple[int, int]
    groups: tuple[tuple[Term, tuple[int, ...], NDArray[np.float64]], ...] = field(repr=False)
    target: NDArray[np.float64] = field(repr=False)
    integrals: NDArray[np.float64] = field(repr=False)
    slopes: NDArray[np.float64] = field(repr=False)
    grid_of: NDArray[np.int64] = field(repr=False)
    mode_count: int
    quadrature: str

    def rows(self, fields: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the linear systems of trajectories, (E, G, K, J + 1, R): columns A, then b, per grid and mode.

        Args:
            fields: Trajectories, (E, T, N).

        Raises:
            InputError: The trajectories have another shape.
        """
        u = np.ascontiguousarray(fields, dtype=np.float64)
        if u.ndim != 3 or u.shape[1:] != self.shape:
            raise InputError(f"trajectories have shape {u.shape}, expected (E, {self.shape[0]}, {self.shape[1]})")
        tests, terms = self.target.shape[1], len(self.library.terms)
        grids = self.integrals.shape[0] // self.mode_count
        found = np.empty((len(u), grids * self.mode_count, terms + 1, tests))
        for term, columns, matrix in self.groups:
            if term.power == 0 and term.function is None:
                shown = (self.integrals.sum(axis=1)[:, None] * matrix.sum(axis=0))[None]
            else:
                shown = self.integrals @ (term.of(u) @ matrix)
            found[:, :, list(columns)] = shown.reshape(-1, shown.shape[1], len(columns), tests)
        found[:, :, terms] = self.slopes @ (u @ self.target)
        return found.reshape(len(u), grids, self.mode_count, terms + 1, tests)

    def grams(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the Gram matrix of [A b] for every view, (E, V, J + 1, J + 1): a running sum over modes."""
        each = rows @ np.swapaxes(rows, -1, -2)
        running = np.cumsum(each, axis=2)
        found: NDArray[np.float64] = running[:, self.grid_of, [view.modes - 1 for view in self.views]]
        return found

    def system(self, rows: NDArray[np.float64], view: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return A (E, K * R, J) and b (E, K * R) of one view."""
        part = rows[:, self.grid_of[view], : self.views[view].modes]
        flat = np.moveaxis(part, 2, 3).reshape(len(rows), -1, part.shape[2])
        return flat[:, :, :-1], flat[:, :, -1]


def build_weakform(
    times: NDArray[np.float64],
    library: Library,
    tests: SpatialTests,
    views: Sequence[View],
    quadrature: str = "simpson",
) -> WeakForm:
    """Return the weak form of a library on views of trajectories stored at these times.

    Args:
        times: Stored times, equispaced, (T,).
        library: Candidate terms.
        tests: Spatial tests on the stored points.
        views: Views, each within the stored times.
        quadrature: The rule in time.

    Raises:
        InputError: A view reaches beyond the stored times or has no mode, the rule does not fit its samples, or the
            tests lack a derivative that the library needs.
    """
    if not views or any(view.grid.places[-1] >= len(times) or view.grid.start < 0 for view in views):
        raise InputError(f"there is no view, or one reaches beyond the {len(times)} stored times")
    if any(view.modes < 1 or view.grid.stride < 1 for view in views):
        raise InputError("a view needs at least one temporal mode and a stride of at least one")
    highest = max(term.derivative for term in library.terms)
    if highest >= len(tests.values):
        raise InputError(f"the library needs derivative {highest}; the tests have {len(tests.values) - 1}")
    grids = list(dict.fromkeys(view.grid for view in views))
    modes = max(view.modes for view in views)
    integrals = np.zeros((len(grids), modes, len(times)))
    slopes = np.zeros_like(integrals)
    step = (times[-1] - times[0]) / (len(times) - 1)
    for g, grid in enumerate(grids):
        spacing = step * grid.stride
        weights = quadrature_weights(quadrature, grid.count, spacing)
        values, derivatives = sine_tests(grid.count, modes, spacing * (grid.count - 1))
        integrals[g][:, grid.places] = weights * values
        slopes[g][:, grid.places] = -weights * derivatives
    return WeakForm(
        library,
        tests,
        tuple(views),
        (len(times), tests.values.shape[2]),
        _grouped(library, tests),
        np.ascontiguousarray(tests.values[0].T * tests.spacing),
        integrals.reshape(-1, len(times)),
        slopes.reshape(-1, len(times)),
        np.array([grids.index(view.grid) for view in views], dtype=np.int64),
        modes,
        quadrature,
    )


def _grouped(library: Library, tests: SpatialTests) -> tuple[tuple[Term, tuple[int, ...], NDArray[np.float64]], ...]:
    by_function: dict[object, list[int]] = {}
    for j, term in enumerate(library.terms):
        by_function.setdefault(term.power if term.function is None else term.function, []).append(j)
    groups = []
    for columns in by_function.values():
        stack = [
            (-1.0) ** (d := library.terms[j].derivative) * library.terms[j].factor * tests.spacing * tests.values[d].T
            for j in columns
        ]
        groups.append((library.terms[columns[0]], tuple(columns), np.ascontiguousarray(np.concatenate(stack, axis=1))))
    return tuple(groups)
