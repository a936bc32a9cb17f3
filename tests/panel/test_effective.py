"""Effective numbers of channels: closed forms and both corner cases."""

from __future__ import annotations

import math

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.core.findings import Interval
from counterproof.core.outcomes import NotApplicable
from counterproof.panel.diagnostics import diagnose
from counterproof.panel.effective import (
    EffectiveNumber,
    effective_channels,
    majority_accuracy,
    majority_equivalent,
    panel_equivalent,
)
from counterproof.panel.measured import Measured
from counterproof.panel.table import Gold
from tests.panel.judged import copy_gate, judged, of_symbols


def vote(n: int, p: float) -> float:
    return sum(math.comb(n, w) * (1 - p) ** w * p ** (n - w) for w in range(n // 2 + 1))


def value(number: EffectiveNumber) -> float:
    assert not isinstance(number.value, NotApplicable)
    return number.value


@pytest.mark.parametrize(("phi", "expected"), [(0.0, 5.0), (1.0, 1.0), (0.25, 2.5), (0.5, 5 / 3)])
def test_number_from_the_mean_correlation(phi: float, expected: float) -> None:
    number = effective_channels(Measured(phi, Interval(phi / 2, phi, 0.95, "stated")), 5)
    assert value(number) == pytest.approx(expected)
    assert not number.capped
    assert number.interval is not None
    assert number.interval.lower == pytest.approx(expected)
    assert number.interval.upper == pytest.approx(5 / (1 + 2 * phi))


def test_a_negative_mean_is_flagged_and_capped() -> None:
    number = effective_channels(Measured(-0.1, Interval(-0.2, 0.1, 0.95, "stated")), 4)
    assert (number.value, number.capped) == (4.0, True)
    assert "negative" in number.note
    assert number.interval is not None
    assert number.interval.upper == 4.0
    assert number.interval.lower == pytest.approx(4 / 1.3)


def test_one_channel_counts_one_and_none_is_refused() -> None:
    nothing = Measured(NotApplicable("no-pair"))
    assert effective_channels(nothing, 1).value == 1.0
    assert isinstance(effective_channels(nothing, 3).value, NotApplicable)
    with pytest.raises(InputError):
        effective_channels(nothing, 0)


@pytest.mark.parametrize("n", [1, 3, 5, 7, 21])
@pytest.mark.parametrize("p", [0.3, 0.55, 0.65, 0.9])
def test_majority_accuracy_is_the_binomial_sum_at_odd_n(n: int, p: float) -> None:
    assert float(majority_accuracy(n, p)) == pytest.approx(vote(n, p))
    assert float(majority_equivalent(vote(n, p), p)) == pytest.approx(n, rel=1e-6)


def test_between_odd_numbers_it_lies_between() -> None:
    n = float(majority_equivalent((vote(3, 0.65) + vote(5, 0.65)) / 2, 0.65))
    assert 3 < n < 5


def test_where_no_number_fits() -> None:
    assert np.isinf(majority_equivalent(1.0, 0.7))
    assert np.isnan(majority_equivalent(0.6, 0.5))
    assert np.isnan(majority_equivalent(1.0, 1.0))
    assert float(majority_equivalent(0.4, 0.65)) == 0.0


@pytest.mark.parametrize("s", [0.0, 0.5, 1.0])
def test_a_copy_gate_is_worth_what_its_closed_form_says(s: float) -> None:
    # Accuracy (1 - s) M(5, .65) + s .65 at mean .65. At 20,000 items the accuracy's standard deviation is .003, that of
    # the difference from the mean channel less; the number's slope there is below 40 a unit, hence half a channel.
    rng = np.random.default_rng(1)
    table, gold = judged(rng.random(20_000) < 0.5, copy_gate(rng, 20_000, 5, 0.35, s))
    expected = float(majority_equivalent((1 - s) * vote(5, 0.65) + s * 0.65, 0.65))
    number = panel_equivalent(table, gold, rng=np.random.default_rng(0), replicates=100)
    assert value(number) == pytest.approx(expected, abs=0.5)
    assert number.interval is not None
    assert number.interval.lower <= value(number) <= number.interval.upper
    if s == 1.0:
        assert value(number) == pytest.approx(1.0, abs=1e-6)


def exactly(symbols: list[list[int]], labels: list[int]) -> EffectiveNumber:
    table = of_symbols(np.array(symbols, dtype=np.int8))
    return panel_equivalent(table, Gold(np.array(labels, dtype=np.int8)), rng=np.random.default_rng(0), replicates=50)


def test_one_perfect_channel() -> None:
    # All four patterns of two channels of accuracy 1/2 beside a perfect one: the majority errs on one of four, the mean
    # accuracy is 2/3. n solves M(n, 2/3) = 3/4, between 3 (.7407) and 5 (.7901); the perfect channel alone would do.
    labels = [0, 0, 0, 0, 1, 1, 1, 1]
    patterns = [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]]
    number = exactly(patterns * 10, labels * 10)
    assert 3 < value(number) < 5
    assert float(majority_accuracy(value(number), 2 / 3)) == pytest.approx(0.75, abs=1e-6)
    # Its pairs define no error correlation: the other number is that of the two others, which are independent.
    table, gold = of_symbols(np.array(patterns * 10, dtype=np.int8)), Gold(np.array(labels * 10, dtype=np.int8))
    found = diagnose(table, gold, rng=np.random.default_rng(0), replicates=50, permutations=0)
    assert value(effective_channels(found.mean_error_phi, 3)) == pytest.approx(3.0)


def test_one_constant_channel() -> None:
    # Two channels of accuracy 3/4 in either class, independent, and one that always says 1. Class 1: wrong only if both
    # are (1/16); class 0: right only if both are (9/16). Accuracy 3/4 at mean (3/4 + 3/4 + 1/2)/3 = 2/3.
    labels, rows = [], []
    for y in (0, 1):
        for first in (0, 0, 0, 1):
            for second in (0, 0, 0, 1):
                labels.append(y)
                rows.append([y ^ first, y ^ second, 1])
    number = exactly(rows * 5, labels * 5)
    # Worth more than three by this yardstick, although without it two calls would be exactly as good.
    assert float(majority_accuracy(value(number), 2 / 3)) == pytest.approx(0.75, abs=1e-6)
    assert value(number) > 3


def test_only_perfect_channels_leave_no_room() -> None:
    number = exactly([[0, 0, 0], [1, 1, 1]] * 20, [0, 1] * 20)
    assert isinstance(number.value, NotApplicable)
    assert "always right" in number.value.reason


def test_a_majority_that_is_never_wrong_has_no_finite_number() -> None:
    number = exactly([[1, 0, 0], [1, 0, 1], [0, 0, 0], [1, 1, 0]] * 10, [0, 1, 0, 1] * 10)
    assert isinstance(number.value, NotApplicable)
    assert number.value.reason.startswith("no-finite-number")


def test_a_majority_below_its_mean_channel_is_said_so() -> None:
    # On 3 of 5 items exactly one of three errs, on 2 of 5 all... so that the majority is right on .5, the mean on .6.
    rows = [[1, 0, 0]] * 1 + [[0, 0, 0]] * 4 + [[1, 1, 0]] * 5
    number = exactly(rows * 4, [0] * 40)
    assert value(number) < 1
    assert "worse than its average channel" in number.note


def test_failures_count_a_half() -> None:
    # One channel, always failing on half of the items and right on the rest: accuracy and mean .75, so n = 1.
    number = exactly([[2], [0], [2], [1]] * 10, [0, 0, 1, 1] * 10)
    assert value(number) == pytest.approx(1.0, abs=1e-6)


def test_reasons_why_a_panel_has_no_number() -> None:
    three = of_symbols(np.array([[0], [1], [2]], dtype=np.int8), classes=3)
    number = panel_equivalent(three, Gold(np.array([0, 1, 2], dtype=np.int8)), rng=np.random.default_rng(0))
    assert isinstance(number.value, NotApplicable)
    assert number.value.reason.startswith("3-classes")
    sparse = exactly([[0, -1], [1, 1]], [0, 1])
    assert isinstance(sparse.value, NotApplicable)
    assert sparse.value.reason.startswith("not-queried")
