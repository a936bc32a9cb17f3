"""Voting rules against closed forms, summed over every pattern with its probability, and pattern by pattern."""

from math import ceil, comb

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.panel.evaluate import PanelScores, evaluate
from counterproof.panel.loss import Loss
from counterproof.panel.policy import Move, PolicyTable, Replay, replay
from counterproof.panel.rules import (
    Keep,
    VoteRule,
    abstain_certain_policy,
    confirmed_policy,
    exact_stop_policy,
    majority_policy,
    prefix_stop_policy,
)
from tests.panel.panels import CLASSES, channels, independent, patterns, table_of

BA = Loss("ba")


def rule(k: int, **settings: object) -> VoteRule:
    return VoteRule(tuple(range(k)), **settings)  # type: ignore[arg-type]  # a test's shorthand


def policy_of(name: str, k: int) -> PolicyTable:
    made = {
        "majority": lambda: majority_policy(channels(k), CLASSES, rule(k)),
        "label": lambda: exact_stop_policy(channels(k), CLASSES, rule(k)),
        "outcome": lambda: exact_stop_policy(channels(k), CLASSES, rule(k), Keep.OUTCOME),
        "both": lambda: exact_stop_policy(channels(k), CLASSES, rule(k), Keep.BOTH),
        "abstain-certain": lambda: abstain_certain_policy(channels(k), CLASSES, rule(k)),
        "confirmed": lambda: confirmed_policy(channels(k), CLASSES, rule(k)),
    }
    return made[name]()


def scores(policy: PolicyTable, k: int, rho: float, failure: float = 0.0) -> PanelScores:
    table, gold, weights = independent(k, rho, failure)
    return evaluate(replay(policy, table), gold, 2, BA, weights=weights)


def binomial(k: int, p: float, least: int) -> float:
    return sum(comb(k, n) * p**n * (1 - p) ** (k - n) for n in range(least, k + 1))


@pytest.mark.parametrize("k", [1, 3, 5, 7])
@pytest.mark.parametrize("rho", [0.1, 0.2, 0.35, 0.5, 0.65])
def test_majority_matches_binomial_sums(k: int, rho: float) -> None:
    found = scores(policy_of("majority", k), k, rho)
    least = ceil(0.8 * k - 1e-9)
    right, wrong = binomial(k, 1 - rho, least), binomial(k, rho, least)
    assert found.balanced_accuracy == pytest.approx(binomial(k, 1 - rho, k // 2 + 1), abs=1e-12)
    assert found.coverage == pytest.approx(right + wrong, abs=1e-12)
    assert found.selective_accuracy == pytest.approx(right / (right + wrong), abs=1e-12)


@pytest.mark.parametrize("rho", [0.1, 0.25, 0.35])
def test_error_rates_rho_and_its_complement_mirror_each_other(rho: float) -> None:
    policy = policy_of("majority", 5)
    one, other = scores(policy, 5, rho), scores(policy, 5, 1 - rho)
    assert isinstance(one.balanced_accuracy, float)
    assert isinstance(one.selective_accuracy, float)
    assert other.balanced_accuracy == pytest.approx(1 - one.balanced_accuracy, abs=1e-12)
    assert other.coverage == pytest.approx(one.coverage, abs=1e-12)
    assert other.selective_accuracy == pytest.approx(1 - one.selective_accuracy, abs=1e-12)


@pytest.mark.parametrize(("k", "calls"), [(3, 2.4550), (5, 3.9930), (7, 5.5595), (9, 7.1369)])
def test_exact_stop_on_the_label_makes_the_closed_form_calls(k: int, calls: float) -> None:
    rho, q = 0.35, k // 2 + 1
    closed = sum(
        n * comb(n - 1, q - 1) * (rho**q * (1 - rho) ** (n - q) + (1 - rho) ** q * rho ** (n - q))
        for n in range(q, k + 1)
    )
    assert scores(policy_of("label", k), k, rho).mean_calls == pytest.approx(closed, abs=1e-12)
    assert closed == pytest.approx(calls, abs=5e-5)


@pytest.mark.parametrize(
    ("name", "calls"), [("outcome", 4.4960), ("both", 4.8065), ("abstain-certain", 4.6895), ("confirmed", 4.6825)]
)
def test_other_rules_make_the_stated_calls_at_five(name: str, calls: float) -> None:
    # The outcome rule's exact mean is 4.49595, which rounds up to the four decimals stated.
    assert scores(policy_of(name, 5), 5, 0.35).mean_calls == pytest.approx(calls, abs=5.001e-5)


def test_prefix_stop_from_three_covers_more_and_is_less_often_right() -> None:
    # Coverage: 3-0 first (.3175), or 4 of 5 with the dissenter among the first three, 3 (.65^4 .35 + .35^4 .65).
    found = scores(prefix_stop_policy(channels(5), CLASSES, rule(5), 3), 5, 0.35)
    assert found.coverage == pytest.approx(0.3175 + 3 * (0.65**4 * 0.35 + 0.35**4 * 0.65), abs=1e-12)
    assert (found.coverage, found.selective_accuracy, found.mean_calls) == pytest.approx(
        (0.5342, 0.8650, 4.365), abs=5e-5
    )


@pytest.mark.parametrize(
    ("failure", "coverage", "selective"), [(0.0, 0.4824, 0.8880), (0.05, 0.4127, 0.8913), (0.1426, 0.2981, 0.8966)]
)
def test_failures_stay_in_the_denominator(failure: float, coverage: float, selective: float) -> None:
    found = scores(policy_of("majority", 5), 5, 0.35, failure)
    assert (found.coverage, found.selective_accuracy) == pytest.approx((coverage, selective), abs=5e-5)


def test_a_failure_in_place_of_a_verdict_never_makes_an_item_accepted() -> None:
    rows = patterns(5, 3)
    accepted = replay(policy_of("majority", 5), table_of(rows)).accepted
    taken = {tuple(row): bool(each) for row, each in zip(rows.tolist(), accepted, strict=True)}
    for row, each in taken.items():
        for j in range(5):
            assert each or not taken[(*row[:j], 2, *row[j + 1 :])]


def full_panel(row: tuple[int, ...], threshold: float = 0.8) -> tuple[int, bool]:
    """Label (-1 for a tie) and accept flag of majority over the whole row, from counts."""
    ones, zeros = row.count(1), row.count(0)
    label = -1 if ones == zeros else int(ones > zeros)
    return label, label >= 0 and max(ones, zeros) >= threshold * len(row) - 1e-9


def both(name: str, k: int, symbols: int) -> tuple[list[tuple[int, bool]], Replay]:
    rows = patterns(k, symbols)
    return [full_panel(tuple(row)) for row in rows.tolist()], replay(policy_of(name, k), table_of(rows))


SIZES = [(3, 2), (4, 2), (5, 2), (7, 2), (3, 3), (4, 3), (5, 3), (6, 3)]


@pytest.mark.parametrize(("k", "symbols"), SIZES)
def test_every_rule_keeps_what_it_promises_on_every_pattern(k: int, symbols: int) -> None:
    truth, whole = both("majority", k, symbols)
    assert list(zip(whole.label.tolist(), whole.accepted.tolist(), strict=True)) == truth
    _, label = both("label", k, symbols)
    assert label.label.tolist() == [one for one, _ in truth]
    _, outcome = both("outcome", k, symbols)
    assert outcome.accepted.tolist() == [each for _, each in truth]
    assert [int(a) for a, taken in zip(outcome.label, outcome.accepted, strict=True) if taken] == [
        one for one, each in truth if each
    ]
    _, exact = both("both", k, symbols)
    assert list(zip(exact.label.tolist(), exact.accepted.tolist(), strict=True)) == truth


@pytest.mark.parametrize(("k", "symbols"), SIZES)
def test_calls_are_ordered_pattern_by_pattern(k: int, symbols: int) -> None:
    label, outcome, exact = (both(name, k, symbols)[1].calls for name in ("label", "outcome", "both"))
    assert (label <= exact).all()
    assert (outcome <= exact).all()
    assert (exact <= k).all()


@pytest.mark.parametrize(("k", "symbols"), [(5, 2), (5, 3), (6, 3)])
def test_the_label_is_kept_by_stopping_when_the_lead_exceeds_the_calls_left(k: int, symbols: int) -> None:
    rows = patterns(k, symbols)
    calls = replay(policy_of("label", k), table_of(rows)).calls
    for row, made in zip(rows.tolist(), calls.tolist(), strict=True):
        leads = [abs(row[:n].count(1) - row[:n].count(0)) > k - n for n in range(1, k + 1)]
        assert made == (leads.index(True) + 1 if True in leads else k)


@pytest.mark.parametrize(("m0", "differing"), [(2, 2), (3, 0)])
def test_prefix_stop_changes_labels_only_from_two(m0: int, differing: int) -> None:
    rows = patterns(5, 2)
    found = replay(prefix_stop_policy(channels(5), CLASSES, rule(5), m0), table_of(rows))
    truth = [full_panel(tuple(row))[0] for row in rows.tolist()]
    assert int((found.label != np.array(truth)).sum()) == differing


def test_confirmation_keeps_the_label_of_five() -> None:
    truth, found = both("confirmed", 5, 2)
    assert found.label.tolist() == [one for one, _ in truth]


def test_the_order_decides_who_is_asked_first() -> None:
    policy = exact_stop_policy(channels(4), CLASSES, VoteRule((3, 1, 0)))
    found = replay(policy, table_of(np.array([[0, 1, 0, 1]], dtype=np.int8)))
    assert found.asked.tolist() == [[False, True, False, True]]
    assert found.label.tolist() == [1]


def test_a_tie_has_no_label_unless_a_coin_is_declared() -> None:
    tied = table_of(np.array([[0, 1, 2, 2], [2, 2, 2, 2]], dtype=np.int8))
    rejecting = replay(majority_policy(channels(4), CLASSES, rule(4)), tied)
    assert rejecting.label.tolist() == [-1, -1]
    tossed = [replay(majority_policy(channels(4), CLASSES, rule(4, ties="coin", seed=s)), tied) for s in range(64)]
    assert {tuple(each.label.tolist()) for each in tossed} == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert not any(each.accepted.any() for each in tossed)


def test_votes_over_three_classes() -> None:
    policy = exact_stop_policy(channels(4), ("a", "b", "c"), rule(4, threshold=0.5))
    found = replay(
        policy, table_of(np.array([[2, 2, 2, 0], [2, 2, 1, 1], [0, 1, 2, 2]], dtype=np.int8), ("a", "b", "c"))
    )
    assert found.label.tolist() == [2, -1, 2]
    assert found.calls.tolist() == [3, 4, 4]
    assert policy.actions[(2, 2, 2, -1)].move is Move.ACCEPT


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: VoteRule(()), "at least one channel"),
        (lambda: VoteRule((0, 0)), "each once"),
        (lambda: VoteRule((0,), threshold=0.0), "above 0"),
        (lambda: majority_policy(channels(2), CLASSES, VoteRule((0, 2))), "there are 2"),
        (lambda: prefix_stop_policy(channels(3), CLASSES, rule(3), 4), "prefix of 4"),
        (lambda: confirmed_policy(channels(3), CLASSES, rule(3)), "do not fit"),
        (lambda: majority_policy(channels(11), CLASSES, rule(11)), "fewer channels"),
    ],
)
def test_bad_rules_are_refused_with_the_reason(make, said: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=said):
        make()
