"""The one entry: which format a file has, told by its first bytes, and the field in it."""

from __future__ import annotations

from pathlib import Path

from counterproof.adapters.lines import existing
from counterproof.adapters.spacetime.checking import build_field
from counterproof.adapters.spacetime.field import Field
from counterproof.adapters.spacetime.hdf5 import read_hdf5
from counterproof.adapters.spacetime.naming import Names
from counterproof.adapters.spacetime.npz import read_npz
from counterproof.adapters.spacetime.parquet import read_parquet
from counterproof.core.errors import InputError

_HDF5 = b"\x89HDF\r\n\x1a\n"


def read_field(path: Path, names: Names | None = None, *, axes: str | None = None, sample: int | str = 0) -> Field:
    """Return the space-time field in an npz, HDF5 or Parquet file.

    Which array holds what is guessed from common names unless it is given, and said in the field's notes. Values may be
    stored time first or time last; where the sizes do not tell which, `axes` must.

    Args:
        path: The file. Its format is told by its first bytes, not its name.
        names: Array, dataset or column name by role `t`, `x`, `y`, `z`, `u`; several names for `u` give channels.
        axes: Order of the stored values' axes, for example `xt`; not for Parquet and PDEBench, whose order is fixed.
        sample: Which sample of an HDF5 file that holds several: its position or its group's name.

    Raises:
        InputError: The file cannot be read, or has defects: missing arrays, shapes that do not fit, values that are not
            finite or are complex, grids that are not ascending and equispaced, too few samples, or no way to tell which
            axis is time. All are listed with their place and what to do.
    """
    path = existing(Path(path), "field file")
    try:
        with path.open("rb") as stream:
            first = stream.read(8)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    if first == _HDF5 or path.suffix.lower() in (".h5", ".hdf5"):
        return build_field(read_hdf5(path, names, sample), axes)
    if first[:2] == b"PK" or first[:6] == b"\x93NUMPY":
        return build_field(read_npz(path, names), axes)
    if first[:4] == b"PAR1":
        return build_field(read_parquet(path, names), axes)
    hint = "convert it with scipy.io.loadmat and numpy.savez" if first[:6] == b"MATLAB" else "save it as one of these"
    raise InputError(f"{path.name} is neither npz nor HDF5 nor Parquet; {hint}")
