"""A user's own field u(x, t): what must hold before it is tested, and the verifier's table of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError, Problem
from counterproof.core.outcomes import NotApplicable
from counterproof.equations.fits import correlations
from counterproof.equations.library import DEFAULT_LIBRARY, Library
from counterproof.equations.spatial import SpatialTests, compact_tests, fourier_tests
from counterproof.equations.verdicts import DEFAULT_RULE, EquationVerdict, Rule
from counterproof.equations.verifier import Verifier, ViewTable
from counterproof.equations.views import MODE_COUNTS, View, lab_views, reference_views
from counterproof.equations.weakform import build_weakform

FEWEST_TIMES, FEWEST_POINTS = 33, 16
COARSENINGS = (8, 4, 2)
"""Permitted grids show every 8th, 4th or 2nd stored time; intervals are cut to a multiple of 16 to suit Simpson."""
UNIFORM = 1e-4
"""Largest deviation of a spacing from the mean one, as a share of it."""
SEAM = 4.0
"""A field is periodic if the step over the seam is at most so many times the usual step between neighbours."""
COLLINEAR = 1e-6
"""Two library columns are collinear if their correlation misses 1 by at most this, on every view of all times."""
ENERGY = 0.99
MOST_MODES = 8


@dataclass(frozen=True, slots=True)
class ObservedField:
    """A field that can be tested.

    Attributes:
        x: Points, equispaced, (N,).
        t: Times, equispaced, (T,).
        u: Values, finite, (T, N).
        periodic: Whether the points are one period, without the repeated end.
        noted: What was changed on reading, in words.
    """

    x: NDArray[np.float64]
    t: NDArray[np.float64]
    u: NDArray[np.float64]
    periodic: bool
    noted: tuple[str, ...] = ()

    @property
    def length(self) -> float:
        """Length of the domain: one period, or the distance of the ends."""
        span = float(self.x[-1] - self.x[0])
        return span * len(self.x) / (len(self.x) - 1) if self.periodic else span


def check_field(
    x: NDArray[np.float64], t: NDArray[np.float64], u: NDArray[np.float64], *, periodic: bool | None = None
) -> ObservedField | NotApplicable:
    """Return the field if a law can be tested on it.

    Args:
        x: Points, ascending and equispaced, (N,); at least 16.
        t: Times, ascending and equispaced, (T,); at least 33.
        u: Values, (T, N).
        periodic: Whether the domain is a circle; None decides from the step over the seam. A last point that repeats
            the first one is dropped.

    Returns:
        The field, or `NotApplicable`: it is constant, or does not change in time (`steady`).

    Raises:
        InputError: A shape does not fit, a value is not finite, a grid is not uniform, there are too few samples, or
            the field is said to be periodic and is not. All problems are named at once.
    """
    x, t, u = (np.asarray(one, dtype=np.float64) for one in (x, t, u))
    problems = _axis("x", x, FEWEST_POINTS, "points") + _axis("t", t, FEWEST_TIMES, "times")
    if u.shape != (t.size, x.size):
        turned = "; it seems transposed" if u.shape == (x.size, t.size) else ""
        problems.append(Problem("u", f"has shape {u.shape}, expected (times, points) = ({t.size}, {x.size}){turned}"))
    elif not np.isfinite(u).all():
        i, j = np.argwhere(~np.isfinite(u))[0]
        count = int((~np.isfinite(u)).sum())
        problems.append(
            Problem("u", f"{count} values are not finite, first at time {i}, point {j}", "cut or repair them")
        )
    if problems:
        raise InputError("the field cannot be tested", problems)
    if np.ptp(u) <= 1e-12 * max(1.0, float(np.abs(u).max())):
        return NotApplicable("constant: the field has one value everywhere, so every law without source holds")
    if np.abs(u - u[0]).max() <= 1e-12 * float(np.abs(u).max()):
        return NotApplicable("steady: the field does not change in time, so u_t has no term to explain")
    return _seamed(x, t, u, periodic)


def _axis(name: str, values: NDArray[np.float64], fewest: int, unit: str) -> list[Problem]:
    if values.ndim != 1:
        return [Problem(name, f"has shape {values.shape}", "give one axis")]
    if values.size < fewest:
        return [Problem(name, f"has {values.size} {unit}", f"at least {fewest} are needed")]
    if not np.isfinite(values).all():
        return [Problem(name, "has values that are not finite")]
    steps = np.diff(values)
    mean = float(steps.mean())
    if mean <= 0 or not np.allclose(steps, mean, rtol=0, atol=UNIFORM * abs(mean)):
        at = int(np.abs(steps - mean).argmax())
        what = f"is not uniform: the step after position {at} is {steps[at]:.6g}, the mean one {mean:.6g}"
        return [Problem(name, what, "interpolate it to ascending equispaced values")]
    return []


def _seamed(
    x: NDArray[np.float64], t: NDArray[np.float64], u: NDArray[np.float64], periodic: bool | None
) -> ObservedField:
    scale = float(np.sqrt(np.mean((u - u.mean()) ** 2)))
    repeats = bool(np.abs(u[:, 0] - u[:, -1]).max() <= 1e-9 * scale) and bool(
        np.ptp(u[:, :3], axis=1).max() > 1e-6 * scale
    )
    if repeats and periodic is not False:
        return ObservedField(x[:-1], t, u[:, :-1], True, ("the last point repeats the first and was dropped",))
    usual = float(np.sqrt(np.mean(np.diff(u, axis=1) ** 2)))
    seam = float(np.sqrt(np.mean((u[:, 0] - u[:, -1]) ** 2)))
    fits = seam <= SEAM * usual
    if periodic and not fits:
        what = f"the step over the seam is {seam:.3g}, the usual one between neighbours {usual:.3g}"
        raise InputError("the field is not periodic", [Problem("u", what, "give periodic=False")])
    return ObservedField(x, t, u, fits if periodic is None else periodic)


def field_tests(field: ObservedField, derivatives: int) -> SpatialTests:
    """Return spatial tests that suit a field: Fourier modes on a circle, compact bumps on an interval.

    The modes are at most eight, spread evenly from 1 to the mode below which 99 % of the variance lies: modes that the
    field does not hold carry noise only.
    """
    points = field.u.shape[1]
    if not field.periodic:
        return compact_tests(points, field.length, derivatives=derivatives)
    power = np.mean(np.abs(np.fft.rfft(field.u - field.u.mean(axis=1, keepdims=True), axis=1)) ** 2, axis=0)[1:]
    top = 1 + int(np.searchsorted(np.cumsum(power) / power.sum(), ENERGY))
    top = min(max(top, 4), (points - 1) // 2 - 1)
    modes = np.unique(np.linspace(1, top, min(top, MOST_MODES)).round().astype(int))
    return fourier_tests(points, field.length, modes=tuple(map(int, modes)), derivatives=derivatives)


@dataclass(frozen=True, slots=True)
class ObservedResult:
    """What the verifier says of one observed field.

    Attributes:
        permitted: Table of the permitted views, one episode.
        reference: Table of all times used, one view per number of modes.
        coefficients: Coefficients of the selected supports on permitted and then reference views, (V, J).
        times_used: Stored times used, from the first.
    """

    permitted: ViewTable
    reference: ViewTable
    coefficients: NDArray[np.float64]
    times_used: int

    @property
    def verdicts(self) -> tuple[tuple[str, EquationVerdict], ...]:
        """The verdict on each permitted view, by its name."""
        return tuple((view.name, self.permitted.verdict(0, v)) for v, view in enumerate(self.permitted.views))


def assess_field(
    field: ObservedField,
    library: Library = DEFAULT_LIBRARY,
    rule: Rule = DEFAULT_RULE,
    *,
    tests: SpatialTests | None = None,
    modes: Sequence[int] = MODE_COUNTS,
) -> ObservedResult:
    """Return what a verifier says of a field on views of every 8th, 4th and 2nd time, and on all of them.

    Args:
        field: A field that `check_field` returned.
        library: Candidate terms; `EXTENDED_LIBRARY` adds the fourth derivative.
        rule: Thresholds.
        tests: Spatial tests; those of `field_tests` if not given.
        modes: Numbers of temporal test functions.

    Raises:
        InputError: Two terms of the library are collinear on this field, or the tests do not fit it.
    """
    intervals = (len(field.t) - 1) // 16 * 16
    counts = tuple(intervals // coarse + 1 for coarse in COARSENINGS)
    views: tuple[View, ...] = (*lab_views(intervals, counts, modes), *reference_views(intervals, modes))
    tests = tests or field_tests(field, max(term.derivative for term in library.terms))
    verifier = Verifier(build_weakform(field.t[: intervals + 1], library, tests, views), rule)
    u = field.u[None, : intervals + 1]
    _refuse_collinear(verifier, u)
    table = verifier.assess(u)
    permitted = len(views) - len(modes)
    return ObservedResult(
        permitted=table.shown(range(permitted)),
        reference=table.shown(range(permitted, len(views))),
        coefficients=verifier.coefficients(u, table)[0],
        times_used=intervals + 1,
    )


def collinear_pairs(verifier: Verifier, fields: NDArray[np.float64]) -> tuple[tuple[str, str], ...]:
    """Return the pairs of library terms whose columns are proportional on the last view of every trajectory."""
    weakform = verifier.weakform
    c = np.abs(correlations(weakform.grams(weakform.rows(fields))[:, -1]).columns).min(axis=2)
    names = weakform.library.names
    return tuple((names[i], names[j]) for i, j in np.argwhere(np.triu(c >= 1 - COLLINEAR, 1)))


def _refuse_collinear(verifier: Verifier, fields: NDArray[np.float64]) -> None:
    pairs = collinear_pairs(verifier, fields)
    if pairs:
        problems = [Problem(f"'{a}' and '{b}'", "are proportional on this field", "leave one out") for a, b in pairs]
        raise InputError("no fit can tell some terms of the library apart", problems)
