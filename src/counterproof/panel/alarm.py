"""The alarm for a shift of the verdict distribution under a frozen policy, and what a run does once it has fired.

Under a frozen policy the terminal state (leaf) of an item carries all verdicts that were observed. The alarm compares
the leaves of a window of live items with those of the calibration items, replayed under the same policy. Labels are not
needed. It fires on any change of what channels say: dependence, error rates, or merely the mix of classes; hence its
name, and hence `attribution` afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.core.outcomes import NotApplicable
from counterproof.core.seeds import ItemSeed
from counterproof.panel.policy import Move, PolicyTable, Replay, replay
from counterproof.panel.table import NOT_QUERIED, VerdictTable
from counterproof.stats import GTest, association_g_test, holm, homogeneity_g_test

NAME = "verdict-distribution shift"


@dataclass(frozen=True, slots=True)
class AlarmRule:
    """When to raise the alarm.

    Attributes:
        window: Items a window, W, at least 1.
        alpha: Error rate spent on each window, in (0, 1). Over m windows the chance of any false alarm is at most
            m alpha, up to the approximation of the G-test; .01 a window gives false alarms in up to 38 % of runs of 20.
        expected: Leaves in which either sample expects fewer items are pooled.
    """

    window: int = 256
    alpha: float = 0.0005
    expected: float = 5.0


@dataclass(frozen=True, slots=True)
class WindowTest:
    """One window.

    Attributes:
        start: First item.
        stop: One past the last.
        test: Two-sample G-test of its leaves against calibration, or why it cannot react.
        fired: Whether its p-value is at most the rule's alpha.
        spent: Error rate spent so far in the run, this window included, at most 1.
        skipped: Items left out because the table lacks a verdict that the policy asked for.
    """

    start: int
    stop: int
    test: GTest | NotApplicable
    fired: bool
    spent: float
    skipped: int


@dataclass(frozen=True, slots=True)
class Attributed:
    """A candidate for what changed: one channel's verdicts, or how two channels go together.

    Attributes:
        channels: One name, or two.
        before: For a channel, share of calls with each symbol (classes in order, then failure); for a pair, share of
            items on which the two said the same. On calibration items that the policy asked the channels about.
        after: The same on the window.
        test: For a channel, do its symbols have another distribution? For a pair, is its association another one,
            whatever happened to either channel alone?
        holm: p-value adjusted over all channels and pairs.
    """

    channels: tuple[str, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    test: GTest | NotApplicable
    holm: float | NotApplicable


class Recalibrate(Protocol):
    """Offers a new policy after an alarm; the caller owns labels, budget and fitting."""

    def __call__(self, since: int, now: int) -> tuple[PolicyTable, VerdictTable] | None:
        """Return a policy frozen on fresh rows and the rows that it was calibrated on, or None: not yet.

        Args:
            since: First item after the alarm.
            now: One past the last item decided under the fallback.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class GuardedRun:
    """A stream of N items under a policy with an alarm.

    Attributes:
        label: Accepted or forced label, (N), int8; -1 where there is none.
        accepted: (N).
        confidence: (N).
        calls: (N).
        cost: (N).
        regime: Index in `policies` of the policy that decided, (N).
        policies: The policy, the fallback, then every recalibrated one.
        windows: Tests in order; none is made under the fallback.
        alarms: Items (one past the window's last) at which the alarm fired: the fallback decides from there.
    """

    label: NDArray[np.int8]
    accepted: NDArray[np.bool_]
    confidence: NDArray[np.float64]
    calls: NDArray[np.int64]
    cost: NDArray[np.float64]
    regime: NDArray[np.intp]
    policies: tuple[PolicyTable, ...]
    windows: tuple[WindowTest, ...]
    alarms: tuple[int, ...]


def window_test(calibration: Replay, window: Replay, *, rule: AlarmRule, start: int = 0, number: int = 1) -> WindowTest:
    """Return the two-sample G-test of the leaves of a window against those of the calibration items.

    Two-sample, because calibration is finite. Leaves in which either sample expects fewer than `rule.expected` items
    are pooled; df = leaves - 1. Assumes independent items.

    Args:
        calibration: Replay of the calibration items.
        window: Replay of the window, under the same policy.
        rule: The alarm's rule.
        start: Index of the window's first item in its stream.
        number: Windows so far, this one included.

    Raises:
        InputError: The two replays have different leaves.
    """
    if calibration.leaves != window.leaves:
        raise InputError("calibration and window were replayed under different policies; use the same one for both")
    size = len(calibration.leaves)
    counts = np.stack([np.bincount(run.leaf[run.leaf >= 0], minlength=size) for run in (calibration, window)])
    test = homogeneity_g_test(counts, expected=rule.expected)
    fired = isinstance(test, GTest) and test.p_value <= rule.alpha
    stop = start + len(window.leaf)
    return WindowTest(start, stop, test, fired, min(1.0, number * rule.alpha), int((window.leaf < 0).sum()))


def watch(
    policy: PolicyTable, calibration: VerdictTable, stream: VerdictTable, *, rule: AlarmRule | None = None
) -> tuple[WindowTest, ...]:
    """Return the test of every whole window of a stream, in order, without acting on any.

    Raises:
        InputError: A table lacks a channel of the policy, or the rule is out of range.
    """
    rule = _checked(rule)
    before, after = replay(policy, calibration), replay(policy, stream)
    starts = range(0, len(stream) - rule.window + 1, rule.window)
    return tuple(
        window_test(before, _part(after, slice(at, at + rule.window)), rule=rule, start=at, number=i)
        for i, at in enumerate(starts, 1)
    )


def guard(
    policy: PolicyTable,
    fallback: PolicyTable,
    calibration: VerdictTable,
    stream: VerdictTable,
    *,
    rule: AlarmRule | None = None,
    recalibrate: Recalibrate | None = None,
) -> GuardedRun:
    """Return a stream decided by a policy until its alarm fires, then by the fallback, then by a recalibrated policy.

    The alarm is looked at after each whole window, so the items of the window that fires are decided already. The
    fallback should be a fixed-order exact-stop majority: it relies on no model of dependence. It limits harm, and does
    not restore quality; recalibration does. `recalibrate` is asked after every window under the fallback. Error is
    spent over the whole stream, across recalibrations.

    Args:
        policy: The frozen policy.
        fallback: Decides after an alarm.
        calibration: Rows that the policy was calibrated on.
        stream: Live items in order.
        rule: When to fire.
        recalibrate: Offers new policies; None keeps the fallback to the end.

    Raises:
        InputError: A table lacks a channel of a policy, or the rule is out of range.
    """
    rule = _checked(rule)
    n = len(stream)
    policies, runs = [policy, fallback], [replay(policy, stream), replay(fallback, stream)]
    before, now, since = replay(policy, calibration), 0, 0
    regime = np.zeros(n, dtype=np.intp)
    windows: list[WindowTest] = []
    alarms: list[int] = []
    for start in range(0, n, rule.window):
        stop = min(start + rule.window, n)
        regime[start:stop] = now
        if stop - start < rule.window:
            break
        if now == 1:
            offer = None if recalibrate is None else recalibrate(since, stop)
            if offer is not None:
                policies.append(offer[0])
                runs.append(replay(offer[0], stream))
                before, now = replay(offer[0], offer[1]), len(policies) - 1
            continue
        part = _part(runs[now], slice(start, stop))
        windows.append(window_test(before, part, rule=rule, start=start, number=len(windows) + 1))
        if windows[-1].fired:
            alarms.append(stop)
            now, since = 1, stop
    return _joined(runs, regime, tuple(policies), tuple(windows), tuple(alarms))


def attribution(
    policy: PolicyTable, calibration: VerdictTable, window: VerdictTable, *, expected: float = 5.0
) -> tuple[Attributed, ...]:
    """Return what may have changed between calibration and a window, most significant first.

    Channels are compared on the items on which the policy asked them, pairs on those on which it asked both. A changed
    mix of classes shows as channels that all moved; a changed dependence as a pair. What a policy selects by a verdict
    can pass a change on to other channels, so these are leads.

    Raises:
        InputError: A table lacks a channel of the policy.
    """
    both = [
        np.where(replay(policy, table).asked, _columns(policy, table), np.int8(NOT_QUERIED))
        for table in (calibration, window)
    ]
    return _leads(policy.channels, both, len(policy.classes) + 1, expected)


def blind_pairs(policy: PolicyTable) -> tuple[tuple[str, str], ...]:
    """Return the pairs of channels that no path of a policy asks both of: no alarm on its leaves can see them."""
    seen = {
        pair
        for state, action in policy.actions.items()
        if action.move is not Move.QUERY
        for pair in combinations([j for j, symbol in enumerate(state) if symbol != NOT_QUERIED], 2)
    }
    names = policy.channels
    return tuple((names[a], names[b]) for a, b in combinations(range(len(names)), 2) if (a, b) not in seen)


def probes(items: Sequence[str], rate: float, seed: int) -> NDArray[np.bool_]:
    """Return which items to ask the full panel about, (N): each by its own key, with probability `rate`.

    The remedy against the blind spot: what a policy never asks together changes unseen, but not among probes.

    Raises:
        InputError: The rate is no share.
    """
    if not 0 <= rate <= 1:
        raise InputError(f"a probe rate of {rate}; give a share between 0 and 1")
    return np.array([ItemSeed(seed, item).child("panel.probe").fraction() < rate for item in items], dtype=np.bool_)


def probe_test(calibration: VerdictTable, probed: VerdictTable, *, expected: float = 5.0) -> tuple[Attributed, ...]:
    """Return the same tests as `attribution` on items with the full panel, whatever any policy would ask.

    The probes' alarm fires where the smallest `holm` is at most the alpha set aside for it.

    Raises:
        InputError: The two tables have different channels or classes.
    """
    if calibration.channels != probed.channels or calibration.classes != probed.classes:
        raise InputError("calibration and probes need the same channels and classes")
    names = [channel.name for channel in calibration.channels]
    return _leads(names, [calibration.symbols, probed.symbols], len(calibration.classes) + 1, expected)


@dataclass(frozen=True, slots=True)
class _Lead:
    channels: tuple[str, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    test: GTest | NotApplicable


def _checked(rule: AlarmRule | None) -> AlarmRule:
    rule = AlarmRule() if rule is None else rule
    if rule.window < 1 or not 0 < rule.alpha < 1 or rule.expected < 0:
        raise InputError(f"{rule}: the window is at least 1, alpha strictly between 0 and 1, expected not negative")
    return rule


def _leads(
    names: Sequence[str], both: Sequence[NDArray[np.int8]], size: int, expected: float
) -> tuple[Attributed, ...]:
    found = [_channel(name, [side[:, j] for side in both], size, expected) for j, name in enumerate(names)]
    found += [
        _pair((names[a], names[b]), [side[:, [a, b]] for side in both], size)
        for a, b in combinations(range(len(names)), 2)
    ]
    return _ranked(found)


def _columns(policy: PolicyTable, table: VerdictTable) -> NDArray[np.int8]:
    names = [channel.name for channel in table.channels]
    return table.symbols[:, [names.index(name) for name in policy.channels]]


def _part(run: Replay, rows: slice) -> Replay:
    return Replay(
        run.label[rows],
        run.accepted[rows],
        run.confidence[rows],
        run.calls[rows],
        run.cost[rows],
        run.leaf[rows],
        run.leaves,
        run.asked[rows],
    )


def _joined(
    runs: Sequence[Replay],
    regime: NDArray[np.intp],
    policies: tuple[PolicyTable, ...],
    windows: tuple[WindowTest, ...],
    alarms: tuple[int, ...],
) -> GuardedRun:
    item = np.arange(len(regime))
    return GuardedRun(
        label=np.stack([run.label for run in runs])[regime, item],
        accepted=np.stack([run.accepted for run in runs])[regime, item],
        confidence=np.stack([run.confidence for run in runs])[regime, item],
        calls=np.stack([run.calls for run in runs])[regime, item],
        cost=np.stack([run.cost for run in runs])[regime, item],
        regime=regime,
        policies=policies,
        windows=windows,
        alarms=alarms,
    )


def _channel(name: str, sides: Sequence[NDArray[np.int8]], size: int, expected: float) -> _Lead:
    counts = np.stack([np.bincount(side[side >= 0], minlength=size) for side in sides])
    shares = [tuple((row / max(1, row.sum())).tolist()) for row in counts]
    test = homogeneity_g_test(counts, expected=expected)
    return _Lead((name,), shares[0], shares[1], test)


def _pair(names: tuple[str, str], sides: Sequence[NDArray[np.int8]], size: int) -> _Lead:
    tables = np.zeros((2, size, size))
    for i, side in enumerate(sides):
        known = side[(side >= 0).all(axis=1)].astype(np.intp)
        np.add.at(tables[i], (known[:, 0], known[:, 1]), 1.0)
    same = [float(np.trace(table) / max(1.0, table.sum())) for table in tables]
    return _Lead(names, (same[0],), (same[1],), association_g_test(tables))


def _ranked(found: Sequence[_Lead]) -> tuple[Attributed, ...]:
    adjusted = iter(holm([lead.test.p_value for lead in found if isinstance(lead.test, GTest)]).tolist())
    complete = [
        Attributed(
            lead.channels,
            lead.before,
            lead.after,
            lead.test,
            next(adjusted) if isinstance(lead.test, GTest) else lead.test,
        )
        for lead in found
    ]
    return tuple(sorted(complete, key=lambda one: one.test.p_value if isinstance(one.test, GTest) else 2.0))
