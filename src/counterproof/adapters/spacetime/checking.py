"""From what a file holds to a field: axes and values checked together, every defect named at once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterproof.adapters.lines import SHOWN
from counterproof.adapters.spacetime.field import Field, RawField
from counterproof.adapters.spacetime.grids import read_axis, real_part
from counterproof.core.errors import InputError, Problem
from counterproof.core.plan import Digest

_NAMED = 3
"""How many values that are not finite are named; the others are counted."""


def build_field(raw: RawField, axes: str | None = None) -> Field:
    """Return the field, if it has no defect.

    Args:
        raw: What the file holds.
        axes: Order of the values' axes as stored, for example `xt`; guessed from the sizes if not given.

    Raises:
        InputError: An axis is missing, too short, not finite, not ascending or not equispaced; values are missing,
            complex, not finite or of another shape; or it cannot be told which axis is time. All are listed.
    """
    problems, notes = list(raw.problems), list(raw.notes)
    grid: dict[str, NDArray[np.float64]] = {}
    for role, stored in raw.axes.items():
        grid[role], said, wrong = read_axis(f"{raw.file}, {role}", role, stored)
        notes += said
        problems += wrong
    wanted = tuple(grid)
    if axes is not None and (raw.ordered or sorted(axes) != sorted(wanted)):
        allowed = "the layout fixes it; leave axes out" if raw.ordered else f"an order of {''.join(wanted)!r}"
        problems.append(Problem("axes", f"is {axes!r}", allowed))
        axes = None
    complete = {"t", "x"} <= grid.keys() and all(line.size for line in grid.values())
    found: dict[str, NDArray[np.float64]] = {}
    for name, stored in raw.channels.items():
        values, dropped, problem = real_part(f"{raw.file}, {name}", stored)
        notes += [dropped] if dropped else []
        if problem is not None:
            problems.append(problem)
            continue
        for channel, part in _unstacked(name, values, raw.stacked):
            if not complete:
                problems += _not_finite(f"{raw.file}, {channel}", "", part)
                continue
            placed = _placed(f"{raw.file}, {channel}", part, grid, axes, raw.ordered)
            if isinstance(placed, Problem):
                problems += [placed, *_not_finite(f"{raw.file}, {channel}", "", part)]
                continue
            found[channel], said = placed
            notes += said
            problems += _not_finite(f"{raw.file}, {channel}", "".join(wanted), found[channel])
    if len({part.shape for part in found.values()}) > 1:
        problems.append(Problem(raw.file, f"channels {', '.join(found)} differ in shape", "store them on one grid"))
    if not found and not problems:
        problems.append(Problem(raw.file, "holds no values", "store u on the grid"))
    if problems:
        raise InputError(f"{raw.file} cannot be used as a field", problems[:SHOWN], len(problems))
    return _finished(raw.name, grid, found, notes)


def _finished(
    name: str, grid: Mapping[str, NDArray[np.float64]], found: Mapping[str, NDArray[np.float64]], notes: Sequence[str]
) -> Field:
    t = grid["t"]
    times = next(iter(found.values())).shape[0]
    if times < t.size:
        notes = (*notes, f"t has {t.size} values for {times} stored times; the last {t.size - times} are left out")
        t = t[:times]
    space = tuple(line for role, line in grid.items() if role != "t")
    values = next(iter(found.values())) if len(found) == 1 else np.stack(list(found.values()), axis=-1)
    values = np.ascontiguousarray(values)
    hasher = hashlib.sha256(repr(tuple(found)).encode())
    for part in (t, *space, values):
        hasher.update(repr(part.shape).encode())
        hasher.update(np.ascontiguousarray(part, dtype="<f8").data)
    for part in (t, *space, values):
        part.flags.writeable = False
    return Field(name, t, space, tuple(found), values, Digest("field", hasher.hexdigest()), tuple(dict.fromkeys(notes)))


def _unstacked(name: str, values: NDArray[np.float64], stacked: bool) -> list[tuple[str, NDArray[np.float64]]]:
    if not stacked or not values.ndim:
        return [(name, values)]
    count = values.shape[-1]
    return [(name if count == 1 else f"{name}.{c}", values[..., c]) for c in range(count)]


def _placed(
    where: str, values: NDArray[np.float64], grid: Mapping[str, NDArray[np.float64]], axes: str | None, ordered: bool
) -> tuple[NDArray[np.float64], list[str]] | Problem:
    """Return values as (t, x, ...) and notes on what was turned, or why that cannot be done."""
    roles = "".join(grid)
    sizes = tuple(line.size for line in grid.values())
    shape = values.shape
    if ordered and len(shape) == len(sizes) and shape[0] == sizes[0] - 1 and shape[1:] == sizes[1:]:
        return values, []  # PDEBench stores one time more than it stores values for
    if values.ndim != len(sizes) and values.squeeze().ndim == len(sizes):
        values = values.squeeze()
    orders = [order for order in permutations(range(len(sizes))) if _fits(values, order, sizes)]
    if ordered:
        orders = [order for order in orders if order == tuple(range(len(sizes)))]
    if axes is not None:
        stated = tuple(axes.index(role) for role in roles)
        orders = [order for order in orders if order == stated]
    if not orders:
        expected = f"({', '.join(f'{role} {size}' for role, size in zip(roles, sizes, strict=True))})"
        return Problem(where, f"has shape {shape}, the axes ask for {expected}", "store them on the same grid")
    if len({order[0] for order in orders}) > 1:
        choices = " or ".join(repr(_written(order, roles)) for order in orders)
        return Problem(where, f"of shape {shape} does not tell which axis is time", f"give axes={choices}")
    order = orders[0]
    notes = []
    if order != tuple(range(len(order))):
        notes.append(f"{where} is stored as ({', '.join(_written(order, roles))}) and was turned to time first")
    if len(orders) > 1:
        notes.append(f"{where} has space axes of one size; ({', '.join(_written(order, roles))}) is assumed")
    return values.transpose(order), notes


def _fits(values: NDArray[Any], order: Sequence[int], sizes: tuple[int, ...]) -> bool:
    return values.ndim == len(sizes) and tuple(values.shape[axis] for axis in order) == sizes


def _written(order: Sequence[int], roles: str) -> str:
    """Return the roles in stored order, when `order` says on which stored axis each role lies."""
    return "".join(role for _, role in sorted(zip(order, roles, strict=True)))


def _not_finite(where: str, roles: str, values: NDArray[np.float64]) -> list[Problem]:
    bad = np.argwhere(~np.isfinite(values))
    problems = []
    for number, place in enumerate(bad[:_NAMED], 1):
        at = [f"{role}={i}" for role, i in zip(roles, place, strict=True)] if roles else [str(i) for i in place]
        more = f"; {len(bad) - _NAMED} more are not finite" if number == _NAMED < len(bad) else ""
        what = f"is {values[tuple(place)]}{more}"
        problems.append(Problem(f"{where}[{', '.join(at)}]", what, "cut, repair or drop it"))
    return problems
