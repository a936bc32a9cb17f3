"""The alarm: silent without a shift, quick with one, blind where the policy never looks, and what follows it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.core.outcomes import NotApplicable
from counterproof.panel.alarm import (
    AlarmRule,
    Attributed,
    attribution,
    blind_pairs,
    guard,
    probe_test,
    probes,
    watch,
    window_test,
)
from counterproof.panel.policy import Action, Move, PolicyTable, replay
from counterproof.panel.rules import VoteRule, exact_stop_policy, majority_policy
from counterproof.panel.table import VerdictTable
from counterproof.stats import GTest
from tests.panel.judged import judged, of_symbols

ERRORS = np.array([0.25, 0.25, 0.27, 0.33, 0.33])
CHANNELS = of_symbols(np.zeros((1, 5), dtype=np.int8)).channels
CLASSES = ("class 0", "class 1")


def stop(k: int = 5) -> PolicyTable:
    return exact_stop_policy(CHANNELS[:k], CLASSES, VoteRule(tuple(range(k))))


def drawn(rng: np.random.Generator, n: int, *, copied: float = 0.0, prior: float = 0.5) -> VerdictTable:
    """Five channels; with probability `copied` all take the error of one uniform, so no error rate ever changes."""
    own, common = rng.random((n, 5)), rng.random((n, 1))
    wrong = np.where(rng.random((n, 1)) < copied, common, own) < ERRORS
    return judged(rng.random(n) < prior, wrong)[0]


def majority_label(symbols: NDArray[np.int8]) -> NDArray[np.int64]:
    ones, zeros = (symbols == 1).sum(axis=1), (symbols == 0).sum(axis=1)
    return np.where(ones > zeros, 1, np.where(zeros > ones, 0, -1))


def test_no_false_alarm_beyond_what_is_spent() -> None:
    # 40 streams of 20 windows at .0005: at most 1 % of streams expected, and more than 4 of 40 with probability below
    # 1e-4 even at 2 %. (The windows of a stream share one calibration sample.)
    rng = np.random.default_rng(18)
    rule = AlarmRule(window=128)
    alarms = 0
    for _ in range(40):
        windows = watch(stop(), drawn(rng, 1000), drawn(rng, 20 * 128), rule=rule)
        assert len(windows) == 20
        assert windows[-1].spent == pytest.approx(20 * 0.0005)
        alarms += any(window.fired for window in windows)
    assert alarms <= 4


def test_an_all_copy_shift_is_found_in_one_window_of_256() -> None:
    rng = np.random.default_rng(19)
    for _ in range(20):
        (window,) = watch(
            majority_policy(CHANNELS, CLASSES, VoteRule(tuple(range(5)))), drawn(rng, 1000), drawn(rng, 256, copied=0.5)
        )
        assert window.fired


def test_it_is_a_shift_of_verdicts_not_of_dependence_alone() -> None:
    # Only the mix of classes changes: the alarm fires too, and every channel moved, no pair's association did.
    rng = np.random.default_rng(20)
    calibration, live = drawn(rng, 2000), drawn(rng, 1024, prior=0.8)
    policy = majority_policy(CHANNELS, CLASSES, VoteRule(tuple(range(5))))
    (window,) = watch(policy, calibration, live, rule=AlarmRule(window=1024))
    assert window.fired
    leads = attribution(policy, calibration, live)
    assert {lead.channels for lead in leads[:5]} == {(f"c{j}",) for j in range(5)}


def test_attribution_names_the_pair_that_was_copied() -> None:
    rng = np.random.default_rng(21)
    calibration = drawn(rng, 2000)
    own = rng.random((512, 5))
    own[:, 4] = np.where(rng.random(512) < 0.9, own[:, 3], own[:, 4])
    live = judged(rng.random(512) < 0.5, own < ERRORS)[0]
    first = attribution(majority_policy(CHANNELS, CLASSES, VoteRule(tuple(range(5)))), calibration, live)[0]
    assert first.channels == ("c3", "c4")
    assert isinstance(first.holm, float)
    assert first.holm < 1e-6
    # Independent errors of .33 agree on .33^2 + .67^2 = .5578 of items; copied, on .9 of the rest beside (.9558).
    # Standard deviations sqrt(.5578*.4422/2000) = .0111 and .0091; four of each.
    assert first.before[0] == pytest.approx(0.5578, abs=0.045)
    assert first.after[0] == pytest.approx(0.9558, abs=0.037)


def test_leads_that_cannot_be_tested_have_reasons() -> None:
    rng = np.random.default_rng(22)
    table = drawn(rng, 50)
    leads = attribution(stop(2), table.columns([0, 1]), table.columns([0, 1]).rows(np.arange(0)))
    assert all(isinstance(lead.test, NotApplicable) and lead.holm == lead.test for lead in leads)


def test_what_is_never_asked_together_is_not_seen() -> None:
    # A budget of two channels: copying among the three others leaves every leaf as it was.
    rng = np.random.default_rng(23)
    policy = PolicyTable("first two", stop(5).channels, stop(5).costs, CLASSES, _widened(stop(2)))
    assert ("c3", "c4") in blind_pairs(policy)
    assert ("c0", "c1") not in blind_pairs(policy)
    calibration = drawn(rng, 1000)
    own = rng.random((2560, 5))
    own[:, 3:] = own[:, 2:3]
    live = judged(rng.random(2560) < 0.5, own < ERRORS)[0]
    untouched = live.symbols.copy()
    untouched[:, 2:] = rng.integers(0, 2, (2560, 3))
    seen, other = watch(policy, calibration, live), watch(policy, calibration, of_symbols(untouched))
    assert [window.test for window in seen] == [window.test for window in other]
    # A probe of the full panel on one item in ten is all it takes.
    asked = probes(live.items, 0.1, seed=1)
    leads = probe_test(calibration, live.rows(np.flatnonzero(asked)))
    assert {lead.channels for lead in leads if isinstance(lead.holm, float) and lead.holm < 0.001} >= {("c3", "c4")}


def _widened(policy: PolicyTable) -> dict[tuple[int, ...], Action]:
    return {(*state, -1, -1, -1): action for state, action in policy.actions.items()}


def test_probes_are_keyed_by_item() -> None:
    items = tuple(f"i{i}" for i in range(4000))
    chosen = probes(items, 0.1, seed=7)
    # Bin(4000, .1): standard deviation 19; four.
    assert abs(int(chosen.sum()) - 400) < 76
    assert np.array_equal(probes(items[::-1], 0.1, seed=7), chosen[::-1])
    assert not probes(items, 0.0, seed=7).any()
    assert probes(items, 1.0, seed=7).all()
    with pytest.raises(InputError):
        probes(items, 1.5, seed=7)


def test_after_the_alarm_the_decision_is_the_exact_stop_majority_row_by_row() -> None:
    rng = np.random.default_rng(24)
    policy = majority_policy(CHANNELS, CLASSES, VoteRule(tuple(range(5))))
    calm, shifted = drawn(rng, 512), drawn(rng, 1024, copied=0.7)
    live = of_symbols(np.concatenate([calm.symbols, shifted.symbols]))
    run = guard(policy, stop(), drawn(rng, 2000), live)
    assert run.alarms == (768,)
    assert run.regime.tolist() == [0] * 768 + [1] * 768
    assert [window.start for window in run.windows] == [0, 256, 512]
    after = slice(768, None)
    assert np.array_equal(run.label[after], majority_label(live.symbols)[after])
    alone = replay(stop(), live)
    assert np.array_equal(run.calls[after], alone.calls[after])
    assert np.array_equal(run.accepted[after], alone.accepted[after])
    before = replay(policy, live)
    assert np.array_equal(run.label[:768], before.label[:768])
    assert np.array_equal(run.cost[:768], before.cost[:768])


def test_without_an_alarm_the_run_is_the_policy() -> None:
    rng = np.random.default_rng(25)
    live = drawn(rng, 700)
    run = guard(stop(), stop(3), drawn(rng, 1000), live)
    assert run.alarms == ()
    assert np.array_equal(run.label, replay(stop(), live).label)
    assert len(run.windows) == 2


def test_recalibration_takes_over_and_is_watched_in_turn() -> None:
    rng = np.random.default_rng(26)
    policy = majority_policy(CHANNELS, CLASSES, VoteRule(tuple(range(5))))
    live = drawn(rng, 256 * 8, copied=0.8)
    offers: list[tuple[int, int]] = []

    def recalibrate(since: int, now: int) -> tuple[PolicyTable, VerdictTable] | None:
        offers.append((since, now))
        if now - since < 512:
            return None
        return stop(3), live.rows(np.arange(since, now)).columns([0, 1, 2])

    run = guard(policy, stop(), drawn(rng, 2000), live, recalibrate=recalibrate)
    assert run.alarms == (256,)
    assert offers == [(256, 512), (256, 768)]
    assert run.regime.tolist() == [0] * 256 + [1] * 512 + [2] * 1280
    assert [window.start for window in run.windows] == [0, 768, 1024, 1280, 1536, 1792]
    assert np.array_equal(run.label[768:], replay(stop(3), live).label[768:])
    assert run.windows[-1].spent == pytest.approx(6 * 0.0005)


def test_leaves_are_compared_by_hand() -> None:
    # One channel: leaves are its three symbols. 60/40 against 30/70, no failure: the textbook two-sample G.
    policy = majority_policy(CHANNELS[:1], CLASSES, VoteRule((0,)))
    before, after = (of_symbols(np.repeat([[0], [1]], [a, b], axis=0).astype(np.int8)) for a, b in ((60, 40), (30, 70)))
    (window,) = watch(policy, before, after, rule=AlarmRule(window=100))
    expected = 2 * (60 * math.log(60 / 45) + 30 * math.log(30 / 45) + 40 * math.log(40 / 55) + 70 * math.log(70 / 55))
    assert isinstance(window.test, GTest)
    assert (window.test.df, window.test.n) == (1, 200)
    assert window.test.statistic == pytest.approx(expected)
    assert window.fired


def test_items_that_cannot_be_replayed_are_counted_and_left_out() -> None:
    policy = majority_policy(CHANNELS[:1], CLASSES, VoteRule((0,)))
    before = of_symbols(np.repeat([[0], [1]], 50, axis=0).astype(np.int8))
    after = of_symbols(np.repeat([[0], [1], [-1]], [20, 20, 10], axis=0).astype(np.int8))
    (window,) = watch(policy, before, after, rule=AlarmRule(window=50))
    assert window.skipped == 10
    assert isinstance(window.test, GTest)
    assert window.test.n == 140


def test_a_channel_that_always_says_the_same_cannot_alarm() -> None:
    policy = majority_policy(CHANNELS[:1], CLASSES, VoteRule((0,)))
    same = of_symbols(np.zeros((64, 1), dtype=np.int8))
    (window,) = watch(policy, same, same, rule=AlarmRule(window=64))
    assert isinstance(window.test, NotApplicable)
    assert not window.fired


def test_bad_rules_and_mixed_policies_are_refused() -> None:
    rng = np.random.default_rng(27)
    table = drawn(rng, 64)
    for rule in (AlarmRule(window=0), AlarmRule(alpha=0.0), AlarmRule(alpha=1.0), AlarmRule(expected=-1.0)):
        with pytest.raises(InputError, match="the window is at least 1"):
            watch(stop(), table, table, rule=rule)
    with pytest.raises(InputError, match="different policies"):
        window_test(replay(stop(), table), replay(stop(3), table), rule=AlarmRule())
    with pytest.raises(InputError, match="same channels"):
        probe_test(table, table.columns([0, 1]))
    assert all(action.move in Move for action in stop().actions.values())
    assert isinstance(attribution(stop(), table, table)[0], Attributed)
