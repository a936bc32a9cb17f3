from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.panel import closed_forms as exact
from counterproof.panel import count_rules as rules

RHO = 0.35
PATTERNS = np.array(list(product((0, 1), repeat=5)), dtype=np.int8)
MAJORITY = PATTERNS.sum(axis=1) > 2
AGREED = np.abs(PATTERNS.sum(axis=1) - 2.5) >= 1.5
RULES: list[Callable[[], rules.CountRule]] = [
    lambda: rules.majority_rule(5),
    lambda: rules.exact_stop_label(5),
    lambda: rules.exact_stop_outcome(5),
    lambda: rules.exact_stop_both(5),
    lambda: rules.abstain_certain(5),
    lambda: rules.prefix_stop(5, 3),
    lambda: rules.prefix_stop(4, 2),
    lambda: rules.adaptive_confidence(5, 0.83, RHO, 2 / 7),
]


def test_label_rule_keeps_the_label_of_every_pattern() -> None:
    run = rules.run_rule(rules.exact_stop_label(5), PATTERNS)
    assert np.array_equal(run.label, MAJORITY)


def test_outcome_rule_keeps_the_outcome_of_every_pattern() -> None:
    run = rules.run_rule(rules.exact_stop_outcome(5), PATTERNS)
    assert np.array_equal(run.accepted, AGREED)
    assert np.array_equal(run.label[AGREED], MAJORITY[AGREED])


def test_rule_for_both_keeps_both_and_asks_at_least_as_much() -> None:
    both = rules.run_rule(rules.exact_stop_both(5), PATTERNS)
    assert np.array_equal(both.label, MAJORITY)
    assert np.array_equal(both.accepted, AGREED)
    for cheaper in (rules.exact_stop_label(5), rules.exact_stop_outcome(5)):
        assert (rules.run_rule(cheaper, PATTERNS).calls <= both.calls).all()
    assert both.calls.max() <= 5


@pytest.mark.parametrize(("least", "changed"), [(2, 2), (3, 0)])
def test_a_short_prefix_changes_the_label_of_two_patterns(least: int, changed: int) -> None:
    run = rules.run_rule(rules.prefix_stop(5, least), PATTERNS)
    assert int((run.label != MAJORITY).sum()) == changed


@pytest.mark.parametrize(
    ("rule", "calls"),
    [
        (rules.exact_stop_label(5), 3.9930),
        (rules.exact_stop_outcome(5), 4.4960),
        (rules.exact_stop_both(5), 4.8065),
        (rules.abstain_certain(5), 4.6895),
        (rules.prefix_stop(5, 3), 4.3650),
    ],
)
def test_mean_calls(rule: rules.CountRule, calls: float) -> None:
    assert rules.exact_figures(rule, RHO).calls == pytest.approx(calls, abs=5.1e-5)


def test_prefix_of_three_accepts_more_and_worse() -> None:
    figures = rules.exact_figures(rules.prefix_stop(5, 3), RHO)
    assert figures.coverage == pytest.approx(0.5342, abs=5.1e-5)
    assert figures.accuracy == pytest.approx(0.8650, abs=5.1e-5)


@pytest.mark.parametrize("rho", [0.1, 0.35, 0.5])
def test_majority_as_a_rule_has_the_closed_forms(rho: float) -> None:
    figures, closed = rules.exact_figures(rules.majority_rule(5), rho), exact.majority_acceptance(rho)
    assert figures.balanced_accuracy == pytest.approx(exact.majority_accuracy(rho))
    assert figures.coverage == pytest.approx(closed.coverage)
    assert figures.right == pytest.approx(closed.right)


@pytest.mark.parametrize("make", RULES)
@pytest.mark.parametrize("prior", [0.5, 0.2])
def test_figures_are_sums_over_all_patterns(make: Callable[[], rules.CountRule], prior: float) -> None:
    rule = make()
    patterns = np.array(list(product((0, 1), repeat=rule.budget)), dtype=np.int8)
    run = rules.run_rule(rule, patterns)
    calls = covered = right = balanced = 0.0
    for y, weight in ((0, 1 - prior), (1, prior)):
        mass = np.where(patterns == y, 1 - RHO, RHO).prod(axis=1)
        hit = np.where(run.label < 0, 0.5, run.label == y)
        calls += weight * mass @ run.calls
        covered += weight * mass @ run.accepted
        right += weight * mass @ (hit * run.accepted)
        balanced += mass @ hit / 2
    figures = rules.exact_figures(rule, RHO, prior)
    assert [figures.calls, figures.coverage, figures.right, figures.balanced_accuracy] == pytest.approx(
        [calls, covered, right, balanced]
    )


def test_confidence_rule_is_a_random_walk_between_two_levels() -> None:
    rule = rules.adaptive_confidence(9, 0.85, 0.3)
    ones, zeros = np.nonzero(rule.stop & (np.add.outer(np.arange(10), np.arange(10)) < 9))
    # Odds 7/3 a vote: a lead of 2 gives 49/58 = .845, of 3 gives 343/370 = .927.
    assert np.abs(ones - zeros).min() == 3
    figures = rules.exact_figures(rule, 0.3)
    assert figures.accuracy >= 0.85


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(InputError, match="tau"):
        rules.adaptive_confidence(5, 0.4, RHO)
    never = rules.exact_figures(rules.adaptive_confidence(3, 1.0, RHO), RHO)
    with pytest.raises(InputError, match="nothing is accepted"):
        _ = never.accuracy
