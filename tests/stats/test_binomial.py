"""Exact intervals against closed forms, published limits and their own definition."""

from __future__ import annotations

import math

import pytest

from counterproof.core.errors import InputError
from counterproof.core.findings import Interval
from counterproof.stats import exact_interval


def upper_tail(events: int, trials: int, p: float) -> float:
    """P(X >= events), X ~ Bin(trials, p), summed term by term."""
    return math.fsum(math.comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(events, trials + 1))


@pytest.mark.parametrize(("trials", "bound"), [(12, 0.2209), (60, 0.0487)])
def test_zero_events_give_the_one_sided_bound_in_closed_form(trials: int, bound: float) -> None:
    # 1 - .05^(1/n): the figures of the specification for 0 of 60 rows in 12 questions.
    interval = exact_interval(0, trials, sided="upper")
    assert interval == Interval(0.0, interval.upper, 0.95, "Clopper-Pearson exact", "upper")
    assert round(interval.upper, 4) == bound
    assert interval.upper == pytest.approx(1 - 0.05 ** (1 / trials), rel=1e-13)


def test_all_events_give_the_mirror_image() -> None:
    interval = exact_interval(12, 12, sided="lower")
    assert interval.upper == 1.0
    assert interval.lower == pytest.approx(0.05 ** (1 / 12), rel=1e-13)
    assert interval.lower == pytest.approx(1 - exact_interval(0, 12, sided="upper").upper, rel=1e-13)


def test_two_sided_zero_events_halve_the_tail() -> None:
    interval = exact_interval(0, 10)
    assert interval.lower == 0.0
    assert interval.upper == pytest.approx(1 - 0.025 ** (1 / 10), rel=1e-13)  # .3085 in every table


def test_rule_of_three_approximates_the_zero_event_bound() -> None:
    # -ln(.05) = 2.9957, and 1 - exp(-x) < x with relative error below x/2.
    trials = 1000
    upper = exact_interval(0, trials, sided="upper").upper
    assert upper < 3 / trials
    assert upper == pytest.approx(3 / trials, rel=(3 - 2.9957) / 3 + 1.5 / trials + 1e-6)


def test_a_tiny_bound_keeps_its_digits() -> None:
    trials = 10**15
    assert exact_interval(0, trials, sided="upper").upper == pytest.approx(-math.log(0.05) / trials, rel=1e-12)


@pytest.mark.parametrize(("events", "trials"), [(1, 10), (4, 12), (5, 10), (9, 10), (3, 60)])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_ends_cut_the_stated_tail(events: int, trials: int, level: float) -> None:
    # The definition: at the lower end P(X >= k) = t, at the upper end P(X <= k) = t.
    for sided, tail in (("two", (1 - level) / 2), ("lower", 1 - level), ("upper", 1 - level)):
        interval = exact_interval(events, trials, level=level, sided=sided)  # type: ignore[arg-type]  # loop over literals
        if sided != "upper":
            assert upper_tail(events, trials, interval.lower) == pytest.approx(tail, rel=1e-9)
        else:
            assert interval.lower == 0.0
        if sided != "lower":
            assert 1 - upper_tail(events + 1, trials, interval.upper) == pytest.approx(tail, rel=1e-9)
        else:
            assert interval.upper == 1.0


def test_one_of_one_and_none_of_one() -> None:
    # One trial: the beta quantile is linear, so the ends are the tail itself.
    assert exact_interval(1, 1).lower == pytest.approx(0.025)
    assert exact_interval(0, 1).upper == pytest.approx(0.975)


@pytest.mark.parametrize(("events", "trials"), [(-1, 3), (4, 3), (0, 0)])
def test_impossible_counts_are_refused(events: int, trials: int) -> None:
    with pytest.raises(InputError, match="trial"):
        exact_interval(events, trials)


def test_a_level_in_percent_is_refused_with_the_cure() -> None:
    with pytest.raises(InputError, match=r"write 0\.95"):
        exact_interval(1, 2, level=95)


def test_an_unknown_side_is_refused() -> None:
    with pytest.raises(InputError, match="'two', 'upper' and 'lower'"):
        exact_interval(1, 2, sided="both")  # type: ignore[arg-type]  # the point of the test
