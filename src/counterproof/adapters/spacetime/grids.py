"""Coordinates out of stored arrays: one axis, real, finite, ascending and equispaced, with every defect named."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import Problem

FEWEST_TIMES, FEWEST_POINTS = 7, 9
"""The smallest evidence view shows seven times; four Fourier modes need nine points."""
UNIFORM = 1e-4
"""Largest deviation of a step from the mean one, as a share of it; rounding of single precision comes on top."""
IMAGINARY = 1e-6
"""Complex values whose imaginary part is at most this share of the largest value are real but for rounding."""


def real_part(where: str, stored: NDArray[Any]) -> tuple[NDArray[np.float64], str, Problem | None]:
    """Return stored numbers as real ones, a note on what was dropped, and what is wrong with them."""
    kind = stored.dtype.kind
    if kind not in "biufc":
        return np.empty(0), "", Problem(where, f"holds {stored.dtype}", "give numbers")
    if kind != "c":
        return np.asarray(stored, dtype=np.float64), "", None
    real, imaginary = stored.real.astype(np.float64), np.abs(stored.imag)
    with np.errstate(invalid="ignore"):
        largest, scale = (float(part.max(initial=0.0)) for part in (imaginary, np.abs(stored)))
    if largest > IMAGINARY * scale:
        return real, "", Problem(where, f"is complex, with imaginary parts up to {largest:.3g}", "give real values")
    return real, f"{where} is stored as complex; imaginary parts of at most {largest:.1e} were dropped", None


def read_axis(where: str, role: str, stored: NDArray[Any]) -> tuple[NDArray[np.float64], list[str], list[Problem]]:
    """Return one coordinate axis, notes and problems; the axis is empty where it cannot be told.

    A mesh, constant along all of its axes but one, is reduced to that one. Single and half precision are recomputed as
    equispaced values between the ends, since their rounding is not small beside a step.

    Args:
        where: File and array, for messages.
        role: `t`, `x`, `y` or `z`.
        stored: The array.
    """
    values, dropped, problem = real_part(where, stored)
    if problem is not None:
        return np.empty(0), [], [problem]
    notes = [dropped] if dropped else []
    line = _line(values)
    if line is None:
        return np.empty(0), notes, [Problem(where, f"of shape {stored.shape} varies along several axes", "give one")]
    if values.squeeze().ndim > 1:
        notes.append(f"{where} is a mesh of shape {stored.shape}; read along the axis on which it varies")
    fewest, unit = (FEWEST_TIMES, "times") if role == "t" else (FEWEST_POINTS, "points")
    if line.size < fewest:
        return line, notes, [Problem(where, f"has {line.size} {unit}", f"give at least {fewest}")]
    bad = np.flatnonzero(~np.isfinite(line))
    if bad.size:
        what = f"is {line[bad[0]]}" + (f", as are {bad.size - 1} more" if bad.size > 1 else "")
        return line, notes, [Problem(f"{where}[{bad[0]}]", what, "give finite coordinates")]
    coarse = stored.dtype.kind == "f" and stored.dtype.itemsize < 8
    rounding = 2 * float(np.finfo(stored.dtype).eps) * float(np.abs(line).max()) if coarse else 0.0
    problem = _uneven(where, line, rounding)
    if problem is not None:
        return line, notes, [problem]
    if coarse:
        notes.append(f"{where} is stored as {stored.dtype}; equispaced values between its ends are used")
        line = np.linspace(line[0], line[-1], line.size)
    return line, notes, []


def _line(values: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return the one axis along which values vary, or None."""
    small = values.squeeze()
    if small.ndim <= 1:
        return small.reshape(-1)
    if not small.size:
        return None
    varying = [axis for axis in range(small.ndim) if not (small == small.take([0], axis=axis)).all()]
    if len(varying) != 1:
        return None
    return np.moveaxis(small, varying[0], 0).reshape(small.shape[varying[0]], -1)[:, 0]


def _uneven(where: str, line: NDArray[np.float64], rounding: float) -> Problem | None:
    with np.errstate(over="ignore"):
        steps = np.diff(line)
        mean = float(line[-1] / steps.size - line[0] / steps.size)
    if not steps.min() > 0:
        at = int(np.argmin(steps > 0))
        return Problem(f"{where}[{at + 1}]", f"is {line[at + 1]:.6g} after {line[at]:.6g}", "sort the axis ascending")
    off = np.abs(steps - mean)
    if off.max() <= UNIFORM * mean + rounding:
        return None
    at = int(np.argmax(off >= 0.999 * off.max()))  # the first of several that tie but for rounding
    what = f"is a step of {steps[at]:.6g} from the one before, where the mean step is {mean:.6g}"
    return Problem(f"{where}[{at + 1}]", what, "interpolate to equispaced values")
