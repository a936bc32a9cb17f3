"""Fields out of Parquet in long form: one row for each time and point."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterproof.adapters.spacetime.field import RawField
from counterproof.adapters.spacetime.naming import Names, find_roles
from counterproof.core.errors import InputError, Problem


def read_parquet(path: Path, names: Names | None) -> RawField:
    """Return what a Parquet file holds: columns t, x[, y[, z]] and one for each channel; rows in any order.

    Raises:
        InputError: The file is damaged, or a column is missing or holds no numbers.
    """
    import duckdb

    settings: dict[str, Any] = {"threads": 1, "autoinstall_known_extensions": False}
    pattern = "".join(f"[{char}]" if char in "*?[" else char for char in str(path))
    try:
        with duckdb.connect(":memory:", config=settings) as connection:
            result = connection.execute("SELECT * FROM read_parquet(?) LIMIT 0", [pattern])
            present = [column[0] for column in result.description or ()]
            roles = find_roles(path.name, dict.fromkeys(present, (0, 0)), names)
            wanted = [*roles.axes.values(), *roles.channels]
            if roles.problems or not wanted:
                raise InputError(f"{path.name} cannot be used as a field", roles.problems)
            listed = ", ".join('"' + name.replace('"', '""') + '"' for name in wanted)
            columns = connection.execute(f"SELECT {listed} FROM read_parquet(?)", [pattern]).fetchnumpy()
    except (duckdb.Error, UnicodeDecodeError, OverflowError, ValueError, MemoryError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path.name} cannot be read as Parquet: {reason}") from None
    numbers = _numbers(path.name, columns)
    axes = {role: numbers[name] for role, name in roles.axes.items()}
    grid, channels = _gridded(path.name, axes, {name: numbers[name] for name in roles.channels})
    return RawField(path.stem, path.name, grid, channels, ordered=True, notes=roles.notes)


def _numbers(file: str, columns: Mapping[str, Any]) -> dict[str, NDArray[np.float64]]:
    """Return columns as numbers; a null reads as NaN, which the checks name.

    Raises:
        InputError: A column holds no numbers.
    """
    problems, found = [], {}
    for name, column in columns.items():
        if column.dtype.kind not in "biuf":
            problems.append(Problem(f"{file}, {name}", f"holds {column.dtype}", "give numbers"))
            continue
        filled = column.astype(np.float64)
        found[name] = filled.filled(np.nan) if isinstance(filled, np.ma.MaskedArray) else filled
    if problems:
        raise InputError(f"{file} cannot be used as a field", problems)
    return found


def _gridded(
    file: str, axes: Mapping[str, NDArray[np.float64]], channels: Mapping[str, NDArray[np.float64]]
) -> tuple[dict[str, NDArray[np.float64]], dict[str, NDArray[np.float64]]]:
    """Return the distinct coordinates of each axis and the values on their grid.

    Raises:
        InputError: A coordinate is null or not finite, or some cell of the grid has no row or several.
    """
    problems = []
    for role, column in axes.items():
        bad = np.flatnonzero(~np.isfinite(column))
        if bad.size:
            problems.append(Problem(f"{file}, row {bad[0] + 1}, {role}", f"is {column[bad[0]]}", "give a number"))
    if problems:
        raise InputError(f"{file} cannot be used as a field", problems)
    pairs = {role: np.unique(column, return_inverse=True) for role, column in axes.items()}
    grid = {role: values for role, (values, _) in pairs.items()}
    sizes = tuple(values.size for values in grid.values())
    rows = len(next(iter(axes.values())))
    cells = 1
    for size in sizes:
        cells *= size
    if cells > 2 * max(rows, 1):
        what = f"{rows} rows do not cover a grid of {' x '.join(map(str, sizes))}"
        raise InputError(
            f"{file} cannot be used as a field", [Problem(file, what, "give a row for each time and point")]
        )
    at = np.ravel_multi_index(tuple(inverse for _, inverse in pairs.values()), sizes)
    counts = np.bincount(at, minlength=cells)
    for wrong, what in ((counts == 0, "has no row"), (counts > 1, "has several rows")):
        if wrong.any():
            place = np.unravel_index(int(np.argmax(wrong)), sizes)
            cell = ", ".join(f"{role}={grid[role][i]:g}" for role, i in zip(grid, place, strict=True))
            problems.append(
                Problem(f"{file}, {cell}", f"{what}, as {wrong.sum()} of {cells} cells", "give one row each")
            )
    if problems:
        raise InputError(f"{file} cannot be used as a field", problems)
    order = np.argsort(at)
    return grid, {name: column[order].reshape(sizes) for name, column in channels.items()}
