"""How far a view's quadrature is from the reference, and how much of that can be seen from within the view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.equations.library import Supports
from counterproof.equations.quadrature import quadrature_weights, sine_tests
from counterproof.equations.verifier import ViewTable
from counterproof.equations.views import View
from counterproof.equations.weakform import WeakForm


@dataclass(frozen=True, slots=True)
class Discrepancies:
    """Normalised errors of a view's linear system, (E, V) each, at least 0.

    Attributes:
        target: ||b_view - b_other||/||b_other||.
        design: ||A_view - A_other||/||A_other|| (Frobenius) over the columns of a support.
    """

    target: NDArray[np.float64]
    design: NDArray[np.float64]


def reference_discrepancies(
    weakform: WeakForm, rows: NDArray[np.float64], supports: Sequence[Sequence[int]]
) -> Discrepancies:
    """Return the discrepancies of every view from the last grid of the weak form, with the same number of modes.

    With r the reported residual, the triangle inequality bounds the residual of the same coefficients on the reference
    by the target discrepancy, the design discrepancy (times the coefficients) and r; of the three only r is visible
    from within a view.

    Args:
        weakform: A weak form whose last view has the reference grid.
        rows: Rows, as `WeakForm.rows` gives them.
        supports: Columns to compare, one support for each episode.
    """
    reference = rows[:, int(weakform.grid_of[-1])]
    pairs = [
        (rows[:, g, : v.modes], reference[:, : v.modes]) for g, v in zip(weakform.grid_of, weakform.views, strict=True)
    ]
    used = np.zeros((len(supports), len(pairs), rows.shape[3] - 1))
    for e, members in enumerate(supports):
        used[e, :, list(members)] = 1.0
    return _compare(pairs, used)


def nominal_discrepancies(views: Sequence[View], quadrature: str = "simpson") -> Discrepancies:
    """Return what the rule does to the two plainest integrands, in closed form and without data, (1, V) each.

    Design: a column constant in time, whose exact entries are I_k = integral of sin(k pi t) = (1 - cos k pi)/(k pi) on
    the unit window. Target: u linear in time, -integral of phi_k' t = I_k too. With seven samples and five modes
    Simpson's rule is off by .183 and 1.43: mode 5 folds onto mode 1.

    Args:
        views: The V views.
        quadrature: The rule in time.
    """
    found = np.empty((2, 1, len(views)))
    for v, view in enumerate(views):
        k = np.arange(1, view.modes + 1)
        exact = (1 - np.cos(np.pi * k)) / (np.pi * k)
        weights = quadrature_weights(quadrature, view.samples, 1 / (view.samples - 1))
        values, slopes = sine_tests(view.samples, view.modes, 1.0)
        shown = -(slopes * weights) @ np.linspace(0, 1, view.samples), values @ weights
        found[:, 0, v] = [np.linalg.norm(one - exact) / np.linalg.norm(exact) for one in shown]
    return Discrepancies(found[0], found[1])


def own_discrepancies(
    weakform: WeakForm, other: WeakForm, fields: NDArray[np.float64], table: ViewTable
) -> Discrepancies:
    """Return how far two quadrature rules differ on the same samples: an error estimate visible from within a view.

    Args:
        weakform: The verifier's weak form.
        other: The same views with another rule, for example the trapezoid rule beside Simpson's.
        fields: Trajectories, (E, T, N).
        table: The verifier's table; the design discrepancy is over each cell's selected support.

    Raises:
        InputError: The two have different views.
    """
    if weakform.views != other.views or weakform.library != other.library or table.views != weakform.views:
        raise InputError("two quadrature rules are compared on the same views and library")
    first, second = weakform.rows(fields), other.rows(fields)
    pairs = [
        (second[:, g, : v.modes], first[:, g, : v.modes]) for g, v in zip(weakform.grid_of, weakform.views, strict=True)
    ]
    return _compare(pairs, _used(table.supports)[table.support])


def _used(supports: Supports) -> NDArray[np.float64]:
    """Return which columns each support has, (S, J), as ones and zeros."""
    used = np.zeros((len(supports), supports.columns))
    for s, members in enumerate(supports.members):
        used[s, list(members)] = 1.0
    return used


def _compare(
    pairs: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]], used: NDArray[np.float64]
) -> Discrepancies:
    target = np.empty(used.shape[:2])
    design = np.empty_like(target)
    for v, (shown, against) in enumerate(pairs):
        gap, columns = shown - against, used[:, v, None, :, None]
        target[:, v] = _norm(gap[:, :, -1]) / _norm(against[:, :, -1])
        design[:, v] = _norm(gap[:, :, :-1] * columns) / _norm(against[:, :, :-1] * columns)
    return Discrepancies(target, design)


def _norm(values: NDArray[np.float64]) -> NDArray[np.float64]:
    norm: NDArray[np.float64] = np.sqrt(np.sum(values**2, axis=tuple(range(1, values.ndim))))
    return norm
