import numpy as np
import pytest

from counterproof.panel.confusion import ConfusionModel, Failures
from counterproof.panel.patterns import Patterns, encode


def patterns(*rows: list[int]) -> Patterns:
    """Rows must be given in lexicographic order, so that posteriors come in the same one."""
    return encode(np.array(rows, dtype=np.int8))


def model(failures: Failures = "symbol") -> ConfusionModel:
    """Two channels; prior odds 3 for class 1; P(symbol | class) in columns."""
    confusion = np.array(
        [
            [[0.6, 0.1], [0.2, 0.6], [0.2, 0.3]],
            [[0.4, 0.2], [0.4, 0.2], [0.2, 0.6]],
        ]
    )
    return ConfusionModel(np.array([0.25, 0.75]), confusion, failures)


@pytest.mark.parametrize(
    ("row", "failures", "odds"),
    [
        ([1, 0], "symbol", 3 * (0.6 / 0.2) * (0.2 / 0.4)),
        ([1, -1], "symbol", 3 * (0.6 / 0.2)),
        ([1, 2], "symbol", 3 * (0.6 / 0.2) * (0.6 / 0.2)),
        ([1, 2], "missing", 3 * (0.6 / 0.2)),
    ],
)
def test_posterior_odds_are_prior_odds_times_the_ratio_of_each_call(
    row: list[int], failures: Failures, odds: float
) -> None:
    ((zero, one),) = model(failures).posterior(patterns(row))
    assert one / zero == pytest.approx(odds)


def test_a_silent_row_keeps_the_prior() -> None:
    found = model().posterior(patterns([-1, -1], [2, -1], [2, 2]))
    assert found.tolist() == [[0.25, 0.75]] * 3


def test_an_impossible_class_stays_impossible() -> None:
    certain = ConfusionModel(np.array([0.0, 1.0]), model().confusion)
    assert certain.posterior(patterns([0, 0])).tolist() == [[0.0, 1.0]]


def test_a_symbol_never_seen_of_a_channel_says_nothing() -> None:
    confusion = model().confusion.copy()
    confusion[1] = 0.0
    ((zero, one),) = ConfusionModel(np.array([0.25, 0.75]), confusion).posterior(patterns([1, 0]))
    assert one / zero == pytest.approx(9.0)
