"""Fields in npz: names are guessed and said, either orientation reads, and every defect is named at once."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterproof.adapters import read_field
from counterproof.core.errors import InputError

T = np.linspace(0.0, 1.0, 11)
X = np.arange(16) * 0.25
U = np.sin(X - T[:, None])
UNEVEN = "from the one before, where the mean step is 0.1 (interpolate to equispaced values)"


def saved(tmp_path: Path, **arrays: Any) -> Path:
    path = tmp_path / "wave.npz"
    np.savez(path, **arrays)
    return path


def problems(path: Path, *args: Any, **options: Any) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_field(path, *args, **options)
    return [str(problem) for problem in caught.value.problems]


def test_arrays_with_common_names_are_found_and_said(tmp_path: Path) -> None:
    field = read_field(saved(tmp_path, tt=T[None], X_star=X[:, None], usol=U, viscosity=0.1))
    np.testing.assert_array_equal(field.t, T)
    np.testing.assert_array_equal(field.x, X)
    np.testing.assert_array_equal(field.values, U)
    assert (field.name, field.channels, field.digest.role) == ("wave", ("usol",), "field")
    assert field.notes == ("arrays: t from 'tt', x from 'X_star', u from 'usol'", "not read: viscosity")


def test_of_two_arrays_that_differ_in_case_the_plain_one_is_taken(tmp_path: Path) -> None:
    mesh_t, mesh_x = np.meshgrid(T, X, indexing="ij")
    field = read_field(saved(tmp_path, T=mesh_t, X=mesh_x, t=T, x=X, u=U))
    assert field.notes == ("arrays: t from 't', x from 'x', u from 'u'", "not read: T, X")


def test_a_mesh_is_read_along_the_axis_on_which_it_varies(tmp_path: Path) -> None:
    mesh_t, mesh_x = np.meshgrid(T, X, indexing="ij")
    field = read_field(saved(tmp_path, T=mesh_t, X=mesh_x, u=U))
    np.testing.assert_array_equal(field.t, T)
    np.testing.assert_array_equal(field.x, X)
    assert "x is a mesh of shape (11, 16)" in " ".join(field.notes)


def test_names_given_are_taken(tmp_path: Path) -> None:
    path = saved(tmp_path, t=X, s=T, x=X, a=U, b=2 * U)
    field = read_field(path, {"t": "s", "u": ("a", "b")})
    assert field.channels == ("a", "b")
    assert field.values.shape == (11, 16, 2)
    np.testing.assert_array_equal(field.channel("b"), 2 * U)
    with pytest.raises(InputError, match="2 channels, asked for None; choose from: a, b"):
        field.channel()


def test_arrays_of_one_shape_are_channels_where_no_name_tells(tmp_path: Path) -> None:
    field = read_field(saved(tmp_path, t=T, x=X, density=U, pressure=U + 1))
    assert field.channels == ("density", "pressure")


def test_values_stored_with_time_last_are_turned_and_it_is_noted(tmp_path: Path) -> None:
    field = read_field(saved(tmp_path, t=T, x=X, u=U.T))
    np.testing.assert_array_equal(field.values, U)
    assert field.notes[-1] == "wave.npz, u is stored as (x, t) and was turned to time first"


def test_a_square_field_asks_which_axis_is_time(tmp_path: Path) -> None:
    square = np.sin(X - X[:, None] ** 2)
    path = saved(tmp_path, t=X, x=X, u=square)
    assert problems(path) == [
        "wave.npz, u: of shape (16, 16) does not tell which axis is time (give axes='tx' or 'xt')"
    ]
    np.testing.assert_array_equal(read_field(path, axes="tx").values, square)
    np.testing.assert_array_equal(read_field(path, axes="xt").values, square.T)
    assert problems(path, axes="ty")[0] == "axes: is 'ty' (an order of 'tx')"


def test_two_space_axes_of_one_size_keep_their_stored_order(tmp_path: Path) -> None:
    plane = np.random.default_rng(1).random((16, 16, 11))
    field = read_field(saved(tmp_path, t=T, x=X, y=X + 1, u=plane))
    np.testing.assert_array_equal(field.values, plane.transpose(2, 0, 1))
    assert [line[0] for line in field.space] == [0.0, 1.0]
    assert field.notes[-1] == "wave.npz, u has space axes of one size; (x, y, t) is assumed"


def test_the_digest_is_of_the_content_whatever_the_file(tmp_path: Path) -> None:
    one = read_field(saved(tmp_path, t=T, x=X, u=U)).digest
    np.savez_compressed(tmp_path / "other.npz", time=T, space=X, u=np.asfortranarray(U.T))
    assert read_field(tmp_path / "other.npz").digest == one
    changed = U.copy()
    changed[3, 4] += 1e-15
    assert read_field(saved(tmp_path, t=T, x=X, u=changed)).digest != one


def test_a_field_cannot_be_written_to(tmp_path: Path) -> None:
    field = read_field(saved(tmp_path, t=T, x=X, u=U))
    with pytest.raises(ValueError, match="read-only"):
        field.values[0, 0] = 1.0


def test_imaginary_rounding_is_dropped_and_noted(tmp_path: Path) -> None:
    field = read_field(saved(tmp_path, t=T, x=X, u=U + 1e-9j))
    np.testing.assert_array_equal(field.values, U)
    assert field.notes[-1] == "wave.npz, u is stored as complex; imaginary parts of at most 1.0e-09 were dropped"


def test_single_precision_axes_become_equispaced(tmp_path: Path) -> None:
    fine = (np.arange(1024) / 1024 + 5).astype(np.float32)  # rounds to 2^-21, a share of 5e-4 of the step
    coarse = (np.arange(11) * 0.1).astype(np.float32)
    field = read_field(saved(tmp_path, t=coarse, x=fine, u=np.zeros((11, 1024), np.float32)))
    steps = np.diff(field.t)
    assert steps.max() - steps.min() < 1e-15
    assert "t is stored as float32; equispaced values" in " ".join(field.notes)


def test_all_defects_are_named_at_once(tmp_path: Path) -> None:
    t, x, u = T.copy(), X.copy(), U.copy()
    t[4] += 0.01
    x[2] = np.nan
    u[3, 12], u[5, 1] = np.inf, np.nan
    found = problems(saved(tmp_path, t=t, x=x, u=u))
    assert found == [
        f"wave.npz, t[4]: is a step of 0.11 {UNEVEN}",
        "wave.npz, x[2]: is nan (give finite coordinates)",
        "wave.npz, u[t=3, x=12]: is inf (cut, repair or drop it)",
        "wave.npz, u[t=5, x=1]: is nan (cut, repair or drop it)",
    ]


def test_values_that_are_not_finite_are_counted(tmp_path: Path) -> None:
    u = U.copy()
    u[2, :5] = np.nan
    assert problems(saved(tmp_path, t=T, x=X, u=u))[-1].startswith(
        "wave.npz, u[t=2, x=2]: is nan; 2 more are not finite"
    )


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"t": T, "u": U}, "x: no array holds the points"),
        ({"x": X, "u": U}, "t: no array holds the times"),
        ({"t": T, "x": X}, "u: no array holds the values"),
        ({}, "t: no array holds the times"),
        ({"t": T, "x": X, "u": U[:, 1:]}, "u: has shape (11, 15), the axes ask for (t 11, x 16)"),
        ({"t": T, "x": X, "u": U[0]}, "u: has shape (16,), the axes ask for (t 11, x 16)"),
        ({"t": T[:5], "x": X, "u": U[:5]}, "t: has 5 times (give at least 7)"),
        ({"t": T, "x": X[:8], "u": U[:, :8]}, "x: has 8 points (give at least 9)"),
        ({"t": T[::-1], "x": X, "u": U}, "t[1]: is 0.9 after 1 (sort the axis ascending)"),
        ({"t": T, "x": X * 0, "u": U}, "x[1]: is 0 after 0 (sort the axis ascending)"),
        ({"t": T, "x": X, "u": U * 1j}, "u: is complex, with imaginary parts up to"),
        ({"t": T, "x": X, "u": U.astype(str)}, "u: holds <U"),
        ({"t": T, "x": U, "u": U}, "x: of shape (11, 16) varies along several axes"),
        ({"t": T, "x": X, "u": U.astype(object)}, "u: holds Python objects"),
        ({"t": T, "x": X, "u": U[:, :, None, None] * np.ones(2)}, "u: has shape (11, 16, 1, 2)"),
    ],
)
def test_a_defect_says_where_and_what(tmp_path: Path, arrays: dict[str, Any], said: str) -> None:
    assert f"wave.npz, {said}" in "\n".join(problems(saved(tmp_path, **arrays)))


def test_names_that_are_not_there_get_the_nearest(tmp_path: Path) -> None:
    found = problems(saved(tmp_path, time=T, x=X, usol=U), {"t": "tim", "v": "usol", "x": ("x", "y")})
    assert "wave.npz, tim: is not in the file (did you mean 'time'?)" in found
    assert "names, 'v': is no role (choose from: t, u, x, y, z)" in found
    assert "names, 'x': names 2 arrays (give one name)" in found


def test_an_array_cut_off_in_the_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "wave.npz"
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("u.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    with pytest.raises(InputError, match="its header promises 8000000000000 bytes"):
        read_field(path)


def test_other_files_are_refused_with_what_to_do(tmp_path: Path) -> None:
    np.save(tmp_path / "u.npy", U)
    (tmp_path / "u.mat").write_bytes(b"MATLAB 5.0 MAT-file")
    (tmp_path / "u.txt").write_text("1 2 3")
    for name, said in (("u.npy", "numpy.savez"), ("u.mat", "scipy.io.loadmat"), ("u.txt", "neither npz nor HDF5")):
        with pytest.raises(InputError, match=said):
            read_field(tmp_path / name)
    with pytest.raises(InputError, match=r"did you mean 'u.npy'"):
        read_field(tmp_path / "u.npz")
    with pytest.raises(InputError, match="cannot be read"):
        read_field(tmp_path)
