"""Fields out of HDF5: PDEBench's two layouts, or datasets named like the arrays of an npz. Needs the `hdf5` extra."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from counterproof.adapters.spacetime.field import RawField
from counterproof.adapters.spacetime.naming import AXES, Names, find_roles
from counterproof.core.errors import InputError, Problem, nearest

_DAMAGED = (OSError, KeyError, RuntimeError, ValueError, TypeError, MemoryError, OverflowError, AttributeError)
_DEEPEST = 4


def read_hdf5(path: Path, names: Names | None, sample: int | str) -> RawField:
    """Return one sample of what an HDF5 file holds; the others are not read.

    PDEBench stores either a group for each sample, `0000/data` (t, x[, y], channel) with `0000/grid/t`, or datasets
    over all samples, `tensor` or one for each channel (sample, t, x[, y[, z]]), with `t-coordinate` and so on; there t
    may have one value more than the data. In any other file datasets are found by name, as in an npz, and nothing is
    assumed of their order.

    Args:
        path: The file.
        names: Dataset name by role.
        sample: Which sample: its position or, where samples are groups, its name.

    Raises:
        InputError: h5py is not installed, the file is damaged, or there is no such sample.
    """
    try:
        import h5py
    except ImportError:
        raise InputError(f"{path.name} is HDF5, which needs h5py: pip install 'counterproof[hdf5]'") from None
    try:
        with h5py.File(path, "r") as file:
            groups = sorted(name for name in file if f"{name}/data" in file and f"{name}/grid" in file)
            if groups and names is None:
                return _of_group(path, file, groups, sample)
            return _of_datasets(path, file, names, sample)
    except _DAMAGED as error:
        raise InputError(f"{path.name} cannot be read as HDF5: {str(error) or type(error).__name__}") from None


def _of_group(path: Path, file: Any, groups: Sequence[str], sample: int | str) -> RawField:
    chosen = sample if isinstance(sample, str) else _at(path.name, groups, sample)
    if chosen not in groups:
        raise InputError(f"{path.name} has no sample {chosen!r}; {nearest(chosen, groups)}")
    group = file[chosen]
    grid = {role: group[f"grid/{role}"][()] for role in AXES if f"grid/{role}" in group}
    problems = [
        Problem(f"{path.name}, {chosen}/grid/{role}", "is missing", "PDEBench stores it")
        for role in ("t", "x")
        if role not in grid
    ]
    note = f"PDEBench's layout: sample {chosen!r} of {len(groups)}, order (t, {', '.join(list(grid)[1:])}, channel)"
    return RawField(
        f"{path.stem}/{chosen}",
        path.name,
        grid,
        {"data": group["data"][()]},
        ordered=True,
        stacked=True,
        notes=(note,),
        problems=tuple(problems),
    )


def _of_datasets(path: Path, file: Any, names: Names | None, sample: int | str) -> RawField:
    shapes = _shapes(file)
    roles = find_roles(path.name, shapes, names)
    axes = {role: file[name][()] for role, name in roles.axes.items()}
    pdebench = any(name.endswith("-coordinate") for name in roles.axes.values())
    if not pdebench:
        whole = {name: file[name][()] for name in roles.channels}
        return RawField(path.stem, path.name, axes, whole, notes=roles.notes, problems=roles.problems)
    counts = {shapes[name][0] for name in roles.channels if shapes[name]}
    position = _position(path.name, sample, min(counts, default=0)) if counts else 0
    channels = {name: file[name][position] for name in roles.channels if shapes[name]}
    stacked = {len(shapes[name]) for name in channels} == {len(axes) + 2}
    note = f"PDEBench's layout: sample {position} of {min(counts, default=0)}, order ({', '.join(axes)})"
    return RawField(
        f"{path.stem}/{position}",
        path.name,
        axes,
        channels,
        ordered=True,
        stacked=stacked,
        notes=(*roles.notes, note),
        problems=roles.problems,
    )


def _shapes(file: Any) -> Mapping[str, tuple[int, ...]]:
    """Return the shape of every dataset, by its path, down to four groups deep."""
    import h5py

    shapes: dict[str, tuple[int, ...]] = {}
    pending = [("", file)]
    while pending:
        prefix, group = pending.pop()
        for name in group:
            if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                continue  # a link may lead to another file
            entry = group.get(name)
            if isinstance(entry, h5py.Dataset) and isinstance(entry.dtype, np.dtype) and entry.shape is not None:
                shapes[prefix + name] = tuple(entry.shape)
            elif isinstance(entry, h5py.Group) and prefix.count("/") < _DEEPEST:
                pending.append((f"{prefix}{name}/", entry))
    return shapes


def _at(file: str, groups: Sequence[str], sample: int) -> str:
    return groups[_position(file, sample, len(groups))]


def _position(file: str, sample: int | str, count: int) -> int:
    if not isinstance(sample, int) or not 0 <= sample < count:
        raise InputError(f"{file} holds {count} samples, asked for {sample!r}; give a position from 0 to {count - 1}")
    return sample
