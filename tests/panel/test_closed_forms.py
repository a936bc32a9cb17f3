"""Closed forms against brute force over all patterns, and against the figures worked out for rho = .35."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.panel import closed_forms as exact

RHO = 0.35


def test_majority_by_hand() -> None:
    assert exact.majority_accuracy(0.5, 3) == 0.5
    assert np.isclose(exact.majority_accuracy(0.2, 3), 0.8**3 + 3 * 0.8**2 * 0.2)
    assert np.isclose(exact.majority_accuracy(0.2, 2), 0.64 + 0.32 / 2)


@pytest.mark.parametrize("rho", [0.1, 0.25, 0.35, 0.6])
def test_swapping_right_and_wrong_flips_the_gain_and_keeps_coverage(rho: float) -> None:
    assert np.isclose(exact.symmetric_gain(rho), -exact.symmetric_gain(1 - rho))
    here, there = exact.majority_acceptance(rho), exact.majority_acceptance(1 - rho)
    assert np.isclose(here.coverage, there.coverage)
    assert np.isclose(here.accuracy, 1 - there.accuracy)


@pytest.mark.parametrize(
    ("gain", "expected"),
    [
        (lambda: exact.symmetric_gain(RHO), 0.1148),
        (lambda: exact.false_positive_gain(0.75, RHO), 0.0563),
        (lambda: exact.false_positive_gain(0.9, RHO), -0.0180),
        (lambda: exact.common_gain(0.25, RHO), 0.0907),
        (lambda: exact.common_gain(0.5, RHO), 0.0429),
        (lambda: exact.common_gain(0.75, RHO), 0.0078),
        (lambda: exact.copy_gain(0.75, RHO), 0.0287),
        (lambda: exact.first_wrong_gain(0.9, RHO), -0.0625),
        (lambda: exact.first_wrong_gain(0.646, RHO), -0.0125),
        (lambda: exact.adversarial_gain(0.9), -0.0125),
    ],
)
def test_gains_of_the_families(gain: Callable[[], float], expected: float) -> None:
    assert gain() == pytest.approx(expected, abs=5.1e-5)


def test_limits_of_dependence() -> None:
    alone = exact.symmetric_gain(RHO)
    for gain in (exact.common_gain, exact.copy_gain, exact.block_gain, exact.beta_binomial_gain):
        assert gain(0.0, RHO) == pytest.approx(alone, abs=1e-12)
    assert exact.common_gain(1.0, RHO) == pytest.approx(0, abs=1e-12)
    assert exact.copy_gain(1.0, RHO) == 0
    assert exact.block_gain(1.0, RHO) == pytest.approx(0, abs=1e-12)  # the block of three decides alone
    assert exact.beta_binomial_gain(0.999, RHO) == pytest.approx(0, abs=1e-3)
    assert exact.class_common_gain(1.0, RHO) == pytest.approx(alone / 2)


def test_block_gain_sums_over_both_common_errors() -> None:
    s, total = 0.4, 0.0
    for first, second in product((0, 1), repeat=2):
        weight = (RHO if first else 1 - RHO) * (RHO if second else 1 - RHO)
        chances = [s * first + (1 - s) * RHO] * 3 + [s * second + (1 - s) * RHO] * 2
        for pattern in product((0, 1), repeat=5):
            mass = np.prod([p if e else 1 - p for p, e in zip(chances, pattern, strict=True)])
            total += weight * float(mass) * (sum(pattern) < 3)
    assert exact.block_gain(s, RHO) == pytest.approx(total - (1 - RHO))


@pytest.mark.parametrize(
    ("failure", "valid_only", "coverage", "accuracy"),
    [
        (0.0, False, 0.4824, 0.8880),
        (0.05, False, 0.4127, 0.8913),
        (0.1426, False, 0.2981, 0.8966),
        (0.05, True, 0.4202, 0.8907),
        (0.1426, True, 0.3522, 0.8877),
    ],
)
def test_failures_in_and_out_of_the_denominator(
    failure: float, valid_only: bool, coverage: float, accuracy: float
) -> None:
    found = exact.majority_acceptance(RHO, failure=failure, valid_only=valid_only)
    assert found.coverage == pytest.approx(coverage, abs=5.1e-5)
    assert found.accuracy == pytest.approx(accuracy, abs=5.1e-5)


def test_acceptance_by_enumeration() -> None:
    rho, failure, covered, right = 0.3, 0.2, 0.0, 0.0
    chances = ((1 - failure) * (1 - rho), (1 - failure) * rho, failure)
    for pattern in product(range(3), repeat=3):
        mass = float(np.prod([chances[v] for v in pattern]))
        good, wrong = pattern.count(0), pattern.count(1)
        if good != wrong and max(good, wrong) >= 0.6 * 3:
            covered += mass
            right += mass * (good > wrong)
    found = exact.majority_acceptance(rho, 3, threshold=0.6, failure=failure)
    assert found.coverage == pytest.approx(covered)
    assert found.right == pytest.approx(right)


@pytest.mark.parametrize(("k", "calls"), [(3, 2.4550), (5, 3.9930), (7, 5.5595), (9, 7.1369)])
def test_exact_stop_calls(k: int, calls: float) -> None:
    assert exact.exact_stop_calls(RHO, k) == pytest.approx(calls, abs=5.1e-5)


def test_three_unanimous_and_one_more() -> None:
    assert exact.confirmed_calls(RHO) == pytest.approx(4.6825)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: exact.majority_accuracy(1.2),
        lambda: exact.beta_binomial_gain(1.0, RHO),
        lambda: exact.majority_acceptance(RHO, failure=0.1, copied=0.1),
        lambda: exact.exact_stop_calls(RHO, 4),
        lambda: exact.Acceptance(0.0, 0.0).accuracy,
    ],
)
def test_what_has_no_figure_is_refused(wrong: Callable[[], float]) -> None:
    with pytest.raises(InputError):
        wrong()
