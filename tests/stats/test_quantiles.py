"""Median, 5 % tail and worst by hand."""

from __future__ import annotations

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.core.outcomes import NotApplicable
from counterproof.stats import TailSummary, tail_summary


def test_tail_is_the_order_statistic_of_rank_n_over_twenty() -> None:
    assert tail_summary(range(1, 21)) == TailSummary(median=10.5, q05=1.0, worst=1.0, n=20)
    assert tail_summary(range(1, 22)) == TailSummary(median=11.0, q05=2.0, worst=1.0, n=21)
    assert tail_summary(range(1, 41)) == TailSummary(median=20.5, q05=2.0, worst=1.0, n=40)


def test_rank_is_counted_in_whole_numbers() -> None:
    # .05 * 140 = 7.000000000000001 in floating point; the rank is 7.
    summary = tail_summary(range(1, 141))
    assert isinstance(summary, TailSummary)
    assert summary.q05 == 7.0


def test_a_single_value_is_all_three() -> None:
    assert tail_summary([-0.0786]) == TailSummary(-0.0786, -0.0786, -0.0786, 1)


def test_order_and_shape_do_not_matter() -> None:
    assert tail_summary(np.array([[3.0, -1.0], [2.0, 0.0]])) == tail_summary([0.0, 2.0, -1.0, 3.0])


def test_the_median_of_huge_values_does_not_overflow() -> None:
    summary = tail_summary([1.6e308, 1.7e308])
    assert isinstance(summary, TailSummary)
    assert summary.median == pytest.approx(1.65e308)


def test_nothing_to_summarise_is_not_applicable() -> None:
    assert isinstance(tail_summary([]), NotApplicable)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_failure_coded_as_a_number_is_refused(bad: float) -> None:
    with pytest.raises(InputError, match="NaN or infinity"):
        tail_summary([0.0, bad])
