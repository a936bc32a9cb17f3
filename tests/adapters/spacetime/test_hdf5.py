"""Fields in HDF5: PDEBench's two layouts, datasets found by name, one sample read, and the extra named when missing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterproof.adapters import read_field
from counterproof.core.errors import InputError

h5py = pytest.importorskip("h5py")

T = np.linspace(0.0, 1.0, 11)
X = (np.arange(16) + 0.5) / 16
Y = (np.arange(12) + 0.5) / 12
SAMPLES = np.random.default_rng(1).random((3, 11, 16))


def written(path: Path, **datasets: Any) -> Path:
    with h5py.File(path, "w") as file:
        for name, values in datasets.items():
            file[name.replace("__", "/").replace("_coordinate", "-coordinate")] = values
    return path


def test_one_sample_of_a_tensor_is_read_and_the_extra_time_left_out(tmp_path: Path) -> None:
    longer = np.linspace(0.0, 1.1, 12)
    path = written(tmp_path / "burgers.hdf5", tensor=SAMPLES, t_coordinate=longer, x_coordinate=X)
    field = read_field(path, sample=2)
    np.testing.assert_array_equal(field.values, SAMPLES[2])
    np.testing.assert_allclose(field.t, T, rtol=1e-15)
    assert field.name == "burgers/2"
    assert field.notes[1:] == (
        "PDEBench's layout: sample 2 of 3, order (t, x)",
        "t has 12 values for 11 stored times; the last 1 are left out",
    )


def test_channels_of_a_flow_are_read_in_two_dimensions(tmp_path: Path) -> None:
    flow = np.random.default_rng(2).random((2, 11, 16, 12)).astype(np.float32)
    path = written(
        tmp_path / "flow.h5", Vx=flow, Vy=flow + 1, density=flow + 2, t_coordinate=T, x_coordinate=X, y_coordinate=Y
    )
    field = read_field(path, sample=1)
    assert field.channels == ("Vx", "Vy", "density")
    assert field.values.shape == (11, 16, 12, 3)
    np.testing.assert_array_equal(field.channel("Vy"), (flow + 1)[1])
    assert [line.size for line in field.space] == [16, 12]


def test_a_group_for_each_sample_holds_its_channels_last(tmp_path: Path) -> None:
    data = np.random.default_rng(3).random((11, 16, 16, 2)).astype(np.float32)
    single = {
        f"000{i}__grid__{role}": line.astype(np.float32)
        for i in (0, 1)
        for role, line in (("t", T), ("x", X), ("y", X))
    }
    path = written(tmp_path / "react.h5", **single, **{"0000__data": data, "0001__data": data + 1})
    field = read_field(path, sample="0001")
    assert field.channels == ("data.0", "data.1")
    np.testing.assert_array_equal(field.channel("data.1"), (data + 1)[..., 1])
    assert field.notes[0] == "PDEBench's layout: sample '0001' of 2, order (t, x, y, channel)"
    assert read_field(path).name == "react/0000"


def test_a_single_channel_has_no_axis_of_its_own(tmp_path: Path) -> None:
    path = written(
        tmp_path / "sorp.h5", **{"0000__data": SAMPLES[0][..., None], "0000__grid__t": T, "0000__grid__x": X}
    )
    field = read_field(path)
    assert field.channels == ("data",)
    np.testing.assert_array_equal(field.values, SAMPLES[0])


def test_datasets_are_found_by_name_and_turned(tmp_path: Path) -> None:
    path = written(tmp_path / "own.h5", run__time=T, run__x=X, run__u=SAMPLES[0].T)
    with pytest.raises(InputError, match="t: no array holds the times"):
        read_field(path)
    field = read_field(path, {"t": "run/time", "x": "run/x", "u": "run/u"})
    np.testing.assert_array_equal(field.values, SAMPLES[0])
    flat = written(tmp_path / "flat.h5", t=T, x=X, usol=SAMPLES[0].T)
    assert read_field(flat).digest.sha256 != field.digest.sha256  # the channel has another name
    np.testing.assert_array_equal(read_field(flat).values, SAMPLES[0])


def test_the_order_of_a_layout_is_not_guessed(tmp_path: Path) -> None:
    turned = written(tmp_path / "a.h5", tensor=SAMPLES.transpose(0, 2, 1), t_coordinate=T, x_coordinate=X)
    with pytest.raises(InputError, match=r"has shape \(16, 11\), the axes ask for \(t 11, x 16\)"):
        read_field(turned)
    square = written(
        tmp_path / "b.h5", tensor=np.tile(SAMPLES, (1, 2, 1))[:, :16], t_coordinate=np.arange(16), x_coordinate=X
    )
    np.testing.assert_array_equal(read_field(square).values[:11], SAMPLES[0])
    with pytest.raises(InputError, match="the layout fixes it"):
        read_field(square, axes="xt")


def test_defects_of_the_layout_are_named(tmp_path: Path) -> None:
    path = written(tmp_path / "a.h5", **{"0000__data": SAMPLES[0][..., None], "0000__grid__x": X})
    with pytest.raises(InputError, match=r"a.h5, 0000/grid/t: is missing"):
        read_field(path)
    path = written(tmp_path / "b.h5", tensor=SAMPLES, t_coordinate=T, x_coordinate=X)
    for sample in (3, -1, "x"):
        with pytest.raises(InputError, match=r"3 samples, asked for .*; give a position from 0 to 2"):
            read_field(path, sample=sample)
    groups = written(tmp_path / "c.h5", **{"0000__data": SAMPLES[0][..., None], "0000__grid__x": X, "0000__grid__t": T})
    with pytest.raises(InputError, match="no sample '0002'; did you mean '0000'"):
        read_field(groups, sample="0002")
    mixed = written(tmp_path / "d.h5", a=SAMPLES, b=SAMPLES, t_coordinate=np.linspace(0, 1.1, 12), x_coordinate=X)
    assert read_field(mixed).channels == ("a", "b")
    path = written(tmp_path / "e.h5", a=SAMPLES, b=SAMPLES[:, 1:], t_coordinate=T, x_coordinate=X)
    with pytest.raises(InputError, match="channels a, b differ in shape"):
        read_field(path, {"u": ("a", "b")})


def test_links_to_other_files_are_not_followed(tmp_path: Path) -> None:
    written(tmp_path / "secret.h5", u=SAMPLES[0])
    path = written(tmp_path / "a.h5", t=T, x=X)
    with h5py.File(path, "a") as file:
        file["u"] = h5py.ExternalLink("secret.h5", "/u")
    with pytest.raises(InputError, match="u: no array holds the values"):
        read_field(path)


def test_a_file_without_the_extra_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "a.h5", t=T, x=X, u=SAMPLES[0])
    monkeypatch.setitem(sys.modules, "h5py", None)  # as if it were not installed
    with pytest.raises(InputError, match=r"a.h5 is HDF5, which needs h5py: pip install 'counterproof\[hdf5\]'"):
        read_field(path)


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "a.h5", t=T, x=X, u=SAMPLES[0])
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(InputError, match=r"a.h5 cannot be read as HDF5"):
        read_field(path)
