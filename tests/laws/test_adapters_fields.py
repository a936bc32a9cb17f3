"""Any bytes, and any arrays in a whole file, give a field or an InputError; a field that reads is fit to be used."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import duckdb
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from counterproof.adapters import Field, read_field
from counterproof.core.errors import InputError

T, X = np.arange(8) * 0.5, np.arange(10) * 0.25
HDF5 = b"\x89HDF\r\n\x1a\n"


def npz_bytes(content: dict[str, NDArray], compressed: bool = False) -> bytes:
    stream = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(stream, **content)  # type: ignore[arg-type]  # names are any text
    return stream.getvalue()


def parquet_bytes() -> bytes:
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        table = "SELECT i // 10 AS t, i % 10 AS x, i AS u FROM range(80) r(i)"
        connection.execute(f"COPY ({table}) TO '{folder}/a' (FORMAT parquet)")
        return Path(folder, "a").read_bytes()


WHOLE = [npz_bytes({"t": T, "x": X, "u": np.ones((8, 10))}, compressed) for compressed in (False, True)]
WHOLE.append(parquet_bytes())


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A whole file that was cut off or has a few bytes changed."""
    content = bytearray(draw(st.sampled_from(WHOLE)))
    for _ in range(draw(st.integers(0, 3))):
        content[draw(st.integers(0, len(content) - 1))] = draw(st.integers(0, 255))
    return bytes(content[: draw(st.integers(0, len(content)))] if draw(st.booleans()) else content)


CONTENT = st.one_of(
    st.binary(max_size=200),
    st.tuples(st.sampled_from([HDF5, b"PK\x03\x04", b"PAR1", b"\x93NUMPY\x01\x00"]), st.binary(max_size=200)).map(
        b"".join
    ),
    damaged(),
)


def tried(content: bytes, name: str) -> Field | None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        try:
            field = read_field(path)
        except InputError:
            return None
    assert field.values.shape[: 1 + len(field.space)] == (field.t.size, *(line.size for line in field.space))
    assert np.isfinite(field.values).all()
    for line in (field.t, *field.space):
        assert (np.diff(line) > 0).all()
    return field


@given(CONTENT, st.sampled_from(["a", "a.npz", "a.h5"]))
def test_any_bytes_give_a_field_or_an_input_error(content: bytes, name: str) -> None:
    tried(content, name)


DTYPES = st.sampled_from(["f8", "f4", "f2", "i8", "?", "c16", "U2", "M8[s]", ">f8"])
NAMES = st.sampled_from(["t", "T", "x", "y", "u", "usol", "a/b", ""])
SHAPES = st.one_of(st.sampled_from([(8,), (10,), (8, 10), (10, 8), (9, 9, 9), ()]), arrays.array_shapes(max_side=12))


@given(st.dictionaries(NAMES, st.tuples(DTYPES, SHAPES).flatmap(lambda one: arrays.arrays(*one)), max_size=4))
def test_any_arrays_give_a_field_or_an_input_error(content: dict[str, NDArray]) -> None:
    tried(npz_bytes({"t": T, "x": X, **content}), "a.npz")


@given(
    arrays.arrays("f8", (8, 10), elements=st.floats(-1e300, 1e300)),
    st.booleans(),
    st.permutations(["t", "x", "u"]),
)
def test_a_field_reads_back_in_either_orientation(values: NDArray, turned: bool, order: list[str]) -> None:
    content = {"t": T, "x": X, "u": values.T if turned else values}
    field = tried(npz_bytes({name: content[name] for name in order}), "a.npz")
    assert field is not None
    np.testing.assert_array_equal(field.values, values)
