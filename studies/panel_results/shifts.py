"""The alarm's operating table, on panels whose dependence changes while every channel's error rate stays as it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from counterproof.core.seeds import ItemSeed
from counterproof.panel.alarm import AlarmRule, blind_pairs, guard, probe_test, probes, watch
from counterproof.panel.cmd import CmdSettings, cmd_policy
from counterproof.panel.joint import choose_joint
from counterproof.panel.loss import Loss
from counterproof.panel.policy import PolicyTable
from counterproof.panel.rules import Keep, VoteRule, exact_stop_policy
from counterproof.panel.states import Budget
from counterproof.panel.table import Channel, Gold, VerdictTable
from studies.panel_results.sources import SEED

ERRORS = (0.25, 0.25, 0.27, 0.33, 0.33)
CHANNELS = tuple(Channel(f"channel {j + 1}") for j in range(len(ERRORS)))
BEFORE = (((0, 1), 0.9),)
BA = Loss("ba")
WINDOWS = 20
STREAMS = 20
ROWS = (300, 1000)
SIZES = (128, 512)
ALPHAS = (0.01, 0.0005)
TAU = 0.9


@dataclass(frozen=True, slots=True)
class Regime:
    """How channels err together: in each block, with its probability, one uniform decides for all of the block.

    Every channel keeps its error rate, whatever the blocks.

    Attributes:
        blocks: Channels and the probability of a common draw.
        prior: P(class 1).
        added: Added to every error rate.
    """

    blocks: tuple[tuple[tuple[int, ...], float], ...] = BEFORE
    prior: float = 0.5
    added: float = 0.0


REGIMES: Mapping[str, Regime] = {
    "no change": Regime(),
    "new block .9": Regime((*BEFORE, ((3, 4), 0.9))),
    "new block .5": Regime((*BEFORE, ((3, 4), 0.5))),
    "all copy .3": Regime((*BEFORE, ((0, 1, 2, 3, 4), 0.3))),
    "block weakens to .6": Regime((((0, 1), 0.6),)),
    "class share .7": Regime(prior=0.7),
    "errors +.05": Regime(added=0.05),
}


MOVED = "block moves to channels 1 and 3"
CONSEQUENCES: Mapping[str, Regime] = {"no change": Regime(), MOVED: Regime((((0, 2), 0.9),))}
"""The policy takes channels 1 and 2 for copies and asks 1 and 3 first: those are the copies now."""


@dataclass(frozen=True, slots=True)
class Operating:
    """One row: calibration rows, window and alpha, and by regime how often it fired within 20 windows.

    Attributes:
        rows: Calibration rows.
        window: Items a window.
        alpha: Spent a window.
        fired: Share of streams on which it fired, by regime; for `no change` these are false alarms.
        median: Median window of the first alarm among those that fired, by regime; 0 where none did.
    """

    rows: int
    window: int
    alpha: float
    fired: Mapping[str, float]
    median: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Blind:
    """Copying between two channels that no path of the policy asks together.

    Attributes:
        streams: Streams tried.
        leaves: On how many the alarm on leaves fired.
        probes: On how many the test on probed items fired.
        rate: Share of items probed.
    """

    streams: int
    leaves: int
    probes: int
    rate: float


@dataclass(frozen=True, slots=True)
class Way:
    """What a way of going on achieved on a long stream after a change: balanced accuracy and calls an item."""

    name: str
    regime: str
    accuracy: float
    calls: float


def draw(regime: Regime, n: int, rng: np.random.Generator) -> tuple[VerdictTable, Gold]:
    """Return verdicts and labels of n items."""
    labels = (rng.random(n) < regime.prior).astype(np.int8)
    uniform = rng.random((n, len(ERRORS)))
    for block, strength in regime.blocks:
        copied = rng.random(n) < strength
        common = rng.random(n)
        uniform[np.ix_(copied, np.array(block))] = common[copied][:, None]
    wrong = uniform < np.array(ERRORS) + regime.added
    symbols = (labels[:, None] ^ wrong).astype(np.int8)
    names = tuple(f"item {i}" for i in range(n))
    table = VerdictTable(names, names, CHANNELS, ("no", "yes"), symbols, np.full_like(symbols, -1))
    return table, Gold(labels)


def frozen(table: VerdictTable, gold: Gold, budget: Budget | None = None) -> PolicyTable:
    """Return the CMD policy that the calibration rows give."""
    settings = CmdSettings(TAU, budget=budget or Budget(), selective=False)
    return cmd_policy(choose_joint(table, gold, seed=SEED).model, BA, settings)


def operating_table() -> tuple[Operating, ...]:
    """Return a row for each number of calibration rows, window and alpha; both alphas see the same streams."""
    found = []
    for rows in ROWS:
        for window in SIZES:
            first = {alpha: {name: _firsts(rows, window, alpha, name) for name in REGIMES} for alpha in ALPHAS}
            for alpha, by_regime in first.items():
                fired = {name: len(hits) / STREAMS for name, hits in by_regime.items()}
                median = {name: float(np.median(hits)) if hits else 0.0 for name, hits in by_regime.items()}
                found.append(Operating(rows, window, alpha, fired, median))
    return tuple(found)


def _firsts(rows: int, window: int, alpha: float, name: str) -> Sequence[int]:
    hits = []
    for stream in range(STREAMS):
        rng = ItemSeed(SEED, f"alarm {rows} {window} {stream}").generator()
        calibration, gold = draw(REGIMES["no change"], rows, rng)
        live, _ = draw(REGIMES[name], window * WINDOWS, rng)
        tests = watch(frozen(calibration, gold), calibration, live, rule=AlarmRule(window, alpha))
        first = next((i for i, one in enumerate(tests, 1) if one.fired), 0)
        if first:
            hits.append(first)
    return hits


def blind_spot(rate: float = 0.1) -> Blind:
    """Return how often either alarm sees copying between channels that a budget of two calls never asks together."""
    leaves = probed = 0
    for stream in range(STREAMS):
        rng = ItemSeed(SEED, f"blind {stream}").generator()
        calibration, gold = draw(REGIMES["no change"], 1000, rng)
        policy = frozen(calibration, gold, Budget(calls=2))
        names = [channel.name for channel in CHANNELS]
        a, b = (names.index(name) for name in blind_pairs(policy)[-1])
        live, _ = draw(Regime((*BEFORE, ((a, b), 0.9))), 256 * WINDOWS, rng)
        leaves += any(one.fired for one in watch(policy, calibration, live, rule=AlarmRule()))
        chosen = np.flatnonzero(probes(live.items, rate, SEED + stream))
        leads = probe_test(calibration, live.rows(chosen))
        smallest = min((lead.holm for lead in leads if isinstance(lead.holm, float)), default=1.0)
        probed += smallest <= AlarmRule().alpha * WINDOWS
    return Blind(STREAMS, leaves, probed, rate)


def consequences(items: int = 20_000, rows: int = 2000) -> tuple[Way, ...]:
    """Return what going on, falling back and calibrating anew achieve when nothing changes and under a new block."""
    found = []
    fallback = exact_stop_policy(CHANNELS, ("no", "yes"), VoteRule(tuple(range(len(ERRORS)))), Keep.LABEL)
    for name, regime in CONSEQUENCES.items():
        rng = ItemSeed(SEED, f"consequence {name}").generator()
        calibration, gold = draw(REGIMES["no change"], rows, rng)
        live, truth = draw(regime, items, rng)
        fresh, labels = draw(regime, rows, rng)
        policy = frozen(calibration, gold)
        # A window of one too many items never ends, so that no alarm is looked at.
        never = AlarmRule(window=items + 1)
        again = frozen(fresh, labels)

        def offer(
            since: int, now: int, new: PolicyTable = again, rows: VerdictTable = fresh
        ) -> tuple[PolicyTable, VerdictTable]:
            return new, rows

        for word, run in (
            ("frozen policy, no alarm", guard(policy, fallback, calibration, live, rule=never)),
            ("alarm, then exact-stop", guard(policy, fallback, calibration, live)),
            ("alarm, then calibrated anew", guard(policy, fallback, calibration, live, recalibrate=offer)),
            ("exact-stop throughout", guard(fallback, fallback, calibration, live, rule=never)),
        ):
            right = run.label == truth.labels
            accuracy = float(np.mean([right[truth.labels == c].mean() for c in (0, 1)]))
            found.append(Way(word, name, accuracy, float(run.calls.mean())))
    return tuple(found)
