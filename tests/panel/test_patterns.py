import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.panel.patterns import DENSE_CHANNELS, encode


def test_rows_come_once_with_their_counts_in_lexicographic_order() -> None:
    symbols = np.array([[1, 0], [-1, 2], [1, 0], [0, 1]], dtype=np.int8)
    found = encode(symbols)
    assert found.rows.tolist() == [[-1, 2], [0, 1], [1, 0]]
    assert found.counts.tolist() == [1, 1, 2]
    assert found.inverse.tolist() == [2, 0, 2, 1]


@pytest.mark.parametrize("channels", [1, 5, DENSE_CHANNELS, DENSE_CHANNELS + 1, 40, 130])
@pytest.mark.parametrize("high", [0, 2, 5])
def test_every_width_agrees_with_unique_rows(channels: int, high: int) -> None:
    rng = np.random.default_rng(channels)
    base = rng.integers(-1, high + 1, (30, channels), dtype=np.int8)
    symbols = base[rng.integers(0, 30, 200)]
    rows, inverse, counts = np.unique(symbols, axis=0, return_inverse=True, return_counts=True)
    found = encode(symbols)
    assert np.array_equal(found.rows, rows)
    assert np.array_equal(found.inverse, inverse.ravel())
    assert np.array_equal(found.counts, counts)


def test_values_spread_from_patterns_to_items() -> None:
    found = encode(np.array([[1], [0], [1]], dtype=np.int8))
    assert found.spread(np.array([10, 20])).tolist() == [20, 10, 20]
    assert len(found) == 2


def test_an_empty_table_has_no_pattern() -> None:
    found = encode(np.zeros((0, 3), dtype=np.int8))
    assert found.rows.shape == (0, 3)
    assert found.counts.size == found.inverse.size == 0


@pytest.mark.parametrize(
    "symbols", [np.zeros((3, 0), dtype=np.int8), np.zeros(3, dtype=np.int8), np.zeros((2, 2), dtype=np.int64)]
)
def test_what_is_no_matrix_of_codes_is_refused(symbols: np.ndarray) -> None:
    with pytest.raises(InputError, match="give int8 of"):
        encode(symbols)
