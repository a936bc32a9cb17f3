"""Fields in long Parquet: rows in any order, and every cell of the grid exactly once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb
import numpy as np
import pytest

from counterproof.adapters import read_field
from counterproof.core.errors import InputError

T = np.arange(8) * 0.5
X = np.arange(10) * 0.25
U = np.sin(X - T[:, None])
ROWS = [(float(t), float(x), float(U[i, j])) for i, t in enumerate(T) for j, x in enumerate(X)]


def written(path: Path, rows: Sequence[tuple[object, ...]], columns: str = "t DOUBLE, x DOUBLE, u DOUBLE") -> Path:
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE field ({columns})")
        connection.executemany(f"INSERT INTO field VALUES ({', '.join('?' * len(rows[0]))})", rows)
        connection.execute(f"COPY field TO '{path}' (FORMAT parquet)")
    return path


def shuffled(rows: Sequence[tuple[object, ...]]) -> list[tuple[object, ...]]:
    return [rows[i] for i in np.random.default_rng(1).permutation(len(rows))]


def test_rows_in_any_order_give_the_field(tmp_path: Path) -> None:
    field = read_field(written(tmp_path / "a [1]*.parquet", shuffled(ROWS)))
    np.testing.assert_array_equal(field.t, T)
    np.testing.assert_array_equal(field.x, X)
    np.testing.assert_array_equal(field.values, U)
    np.savez(tmp_path / "same.npz", t=T, x=X, u=U.T)
    assert field.digest == read_field(tmp_path / "same.npz").digest


def test_two_dimensions_and_several_channels(tmp_path: Path) -> None:
    rows = [(t, x, y, t + x, x * y) for t in range(7) for x in range(9) for y in range(10)]
    path = written(tmp_path / "a.parquet", shuffled(rows), "time INT, x INT, y INT, a DOUBLE, b DOUBLE")
    field = read_field(path, {"u": ("a", "b")})
    assert field.values.shape == (7, 9, 10, 2)
    assert field.channel("b")[0, 3, 4] == 12
    assert field.channel("a")[2, 3, 4] == 5


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (ROWS[:42] + ROWS[43:], "t=2, x=0.5: has no row, as 1 of 80 cells"),
        ([*ROWS, ROWS[42], ROWS[43]], "t=2, x=0.5: has several rows, as 2 of 80 cells"),
        ([(t, t + x, u) for t, x, u in ROWS], "80 rows do not cover a grid of 8 x 24"),
        ([(i + t, x, u) for i, (t, x, u) in enumerate(ROWS)], "80 rows do not cover a grid of 80 x 10"),
        ([*ROWS[:42], (ROWS[42][0], ROWS[42][1], None), *ROWS[43:]], r"u\[t=4, x=2\]: is nan"),
        ([(None, 0.0, 0.0), *ROWS], "row 1, t: is nan"),
        ([(t, -(x**2), u) for t, x, u in ROWS], r"x\[\d\]: is a step"),
    ],
)
def test_defects_are_named(tmp_path: Path, rows: list[tuple[object, ...]], said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_field(written(tmp_path / "a.parquet", rows))


def test_columns_that_are_missing_or_no_numbers_are_named(tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet", ROWS, "t DOUBLE, place DOUBLE, u DOUBLE")
    with pytest.raises(InputError, match=r"x: no array holds the points .name one of: place"):
        read_field(path)
    np.testing.assert_array_equal(read_field(path, {"x": "place"}).values, U)
    text = written(tmp_path / "b.parquet", [(t, x, "a") for t, x, _ in ROWS], "t DOUBLE, x DOUBLE, u VARCHAR")
    with pytest.raises(InputError, match="u: holds object"):
        read_field(text)
    (tmp_path / "c.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(InputError, match=r"c.parquet cannot be read as Parquet"):
        read_field(tmp_path / "c.parquet")
