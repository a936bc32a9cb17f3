"""Holm by hand, and the permutation maximum by definition and by its error rate under the complete null."""

from __future__ import annotations

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.stats import holm, max_t


def test_holm_by_hand() -> None:
    # Sorted .005 .01 .03 .04 times 4 3 2 1: .02 .03 .06 .04, made monotone .02 .03 .06 .06.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]).tolist() == [1.0, 1.0]
    assert holm([]).tolist() == []


@pytest.mark.parametrize("bad", [[-0.1], [1.1], [np.nan], [[0.1]]])
def test_holm_takes_p_values_only(bad: object) -> None:
    with pytest.raises(InputError):
        holm(np.array(bad))


def test_max_t_by_hand() -> None:
    # Ranks: 5 (first), 3 (third), 1 (second). Maxima over all: 2 6 4; over the last two: 2 2 4; over the last: 2 1 0.
    # p: (1+1)/4, (1+1)/4, (1+2)/4.
    null = [[1, 2, 0], [6, 1, 2], [0, 0, 4]]
    assert max_t([5, 1, 3], null).tolist() == [0.5, 0.75, 0.5]


def test_max_t_of_one_hypothesis_is_the_permutation_p_value() -> None:
    draws = np.random.default_rng(0).normal(size=(99, 1))
    assert max_t([1.0], draws).tolist() == [(1 + int((draws >= 1).sum())) / 100]


def test_max_t_keeps_the_family_error_rate() -> None:
    # 10 equicorrelated statistics, all null, 19 draws: the rejection rate at .05 is exactly 1/20 by exchangeability.
    # Over 4,000 runs its standard deviation is .0034; four of them each way.
    rng = np.random.default_rng(1)
    runs = 4000
    false = 0
    for _ in range(runs):
        values = rng.normal(size=(20, 10)) + 2 * rng.normal(size=(20, 1))
        false += bool(max_t(values[0], values[1:]).min() <= 0.05)
    assert abs(false / runs - 0.05) < 4 * 0.0034


@pytest.mark.parametrize(("t", "null"), [([1.0], [[1.0, 2.0]]), ([1.0], np.empty((0, 1))), ([np.nan], [[1.0]])])
def test_statistics_that_do_not_fit_are_refused(t: object, null: object) -> None:
    with pytest.raises(InputError):
        max_t(np.array(t), np.array(null))
