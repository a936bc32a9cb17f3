from math import isclose

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.panel.confusion import calibrate, weighted_vote
from counterproof.panel.patterns import encode
from counterproof.panel.table import Gold
from tests.panel.verdicts import table_of


def gold(*labels: int) -> Gold:
    return Gold(np.array(labels, dtype=np.int8))


def test_weights_are_laplace_counts_per_class() -> None:
    # Class 1: the channel says 1, 1 and fails once; class 0: it says 0 once. One pseudo-count for each of 3 symbols.
    model = calibrate(table_of([[1], [1], [2], [0]]), gold(1, 1, 1, 0))
    assert np.allclose(model.confusion[0, :, 1], [1 / 6, 3 / 6, 2 / 6])
    assert np.allclose(model.confusion[0, :, 0], [2 / 4, 1 / 4, 1 / 4])
    assert model.prior.tolist() == [0.25, 0.75]


def test_vote_is_the_sum_of_log_ratios_and_the_prior() -> None:
    table = table_of([[1, 0], [1, 1], [0, 0], [0, 1], [2, -1]])
    labels = gold(1, 1, 0, 0, -1)
    model = calibrate(table, labels)
    first = 3 / 1  # (2 + 1)/(2 + 3) over (0 + 1)/(2 + 3)
    second = 1.0  # says 1 once in each class
    posterior = weighted_vote(table, model)
    assert isclose(posterior[1, 1] / posterior[1, 0], first * second, rel_tol=1e-12)
    assert isclose(posterior[0, 1] / posterior[0, 0], first, rel_tol=1e-12)


def test_a_failure_is_evidence_only_as_a_symbol() -> None:
    table = table_of([[1, 2], [1, 2], [0, 0], [0, 1]])
    labels = gold(1, 1, 0, 0)
    as_symbol = weighted_vote(table, calibrate(table, labels))
    left_out = weighted_vote(table, calibrate(table, labels, failures="missing"))
    # As symbol: (3/5)/(1/5) from c0 and (3/5)/(1/5) from c1. Left out: (3/4)/(1/4) from c0 alone.
    assert isclose(as_symbol[0, 1] / as_symbol[0, 0], 9.0)
    assert isclose(left_out[0, 1] / left_out[0, 0], 3.0)


def test_a_silent_row_keeps_the_prior() -> None:
    table = table_of([[1, 1], [0, 1], [0, 0]])
    model = calibrate(table, gold(1, 1, 0), balanced=True)
    silent = encode(np.array([[2, 2], [2, -1], [-1, -1]], dtype=np.int8))
    assert model.posterior(silent).tolist() == [[0.5, 0.5]] * 3


def test_calibration_needs_every_class_and_a_positive_pseudo_count() -> None:
    with pytest.raises(InputError, match="labelled class 0"):
        calibrate(table_of([[1]]), gold(1))
    with pytest.raises(InputError, match="pseudo-count"):
        calibrate(table_of([[1], [0]]), gold(1, 0), laplace=0.0)
