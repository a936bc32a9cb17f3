"""Live panels: real channels under a compiled policy, every call paid once, labels joined when all is frozen."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from counterproof.core.errors import InputError, Problem, nearest
from counterproof.core.hashing import digest
from counterproof.core.outcomes import Outcome, TimedOut, outcome_of
from counterproof.core.plan import Digest, Plan
from counterproof.engines import Engine, InProcess, ProcessEngine, SerialEngine
from counterproof.panel.episode import (
    LiveContext,
    LivePanelEpisode,
    LiveVerdict,
    Reading,
    allot,
    dearest_path,
    decode_verdict,
)
from counterproof.panel.evaluate import PanelScores, evaluate
from counterproof.panel.loss import parse_loss
from counterproof.panel.policy import PolicyTable, Replay
from counterproof.panel.table import NOT_QUERIED, Gold
from counterproof.store import DONE, Ledger, Row
from counterproof.study.driver import Means, drive
from counterproof.study.source import package_digest

Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class LiveSettings:
    """How a live panel runs.

    Attributes:
        readings: How scores become verdicts, by channel; .5 and above is class 1 of two unless said otherwise.
        budget: Total declared cost, allotted to items in plan order before anything runs; None for no limit.
        concurrency: Calls that may be open at once, each in a thread of its own.
        seed: The run's seed.
    """

    readings: Mapping[str, Reading] = field(default_factory=dict)
    budget: float | None = None
    concurrency: int = 1
    seed: int = 0


def run_live(
    policy: PolicyTable,
    items: Sequence[tuple[str, Record]],
    channels: Mapping[str, Callable[[Any], object]],
    out: Path,
    settings: LiveSettings | None = None,
    *,
    engine: Engine | None = None,
) -> dict[str, LiveVerdict]:
    """Call real channels under a compiled policy, and return how every item ended, by key.

    Every call is in the ledger before the item's next one is made; a run that was stopped goes on with the same
    command and pays no recorded call twice. What a channel raises is a failure, `TimeoutError` a time-out; both cost
    their call. Labels have no part: `score_live` joins them afterwards.

    Args:
        policy: The compiled policy.
        items: Key and record; keys unique, in plan order.
        channels: A callable for every channel that the policy names: from a record to what a verifier may return.
        out: The run folder.
        settings: Readings, budget, concurrency and seed.
        engine: Performs the calls instead, for channels in workers that can be killed; the caller closes it, and
            `channels` may then be empty.

    Raises:
        InputError: A channel is missing, keys repeat, or the budget is not positive.
        PlanError: The folder belongs to another run.
    """
    missing = sorted(set(policy.channels) - channels.keys()) if engine is None else []
    keys = [key for key, _ in items]
    if missing or len(set(keys)) != len(keys):
        raise InputError(f"channels without a verifier: {', '.join(missing)}" if missing else "item keys repeat")
    chosen = settings or LiveSettings()
    allotment = {} if chosen.budget is None else allot(keys, chosen.budget, dearest_path(policy))
    context = LiveContext(policy, dict(chosen.readings), allotment)
    ledger = Ledger.create(out, _plan(policy, keys, chosen), {"counterproof": package_digest()})
    if not ledger.is_frozen("calls"):
        with ExitStack() as stack:
            if engine is None:
                engine = _engine(channels, chosen.concurrency)
                stack.callback(engine.close)
            writer = stack.enter_context(ledger.writer("calls"))
            drive(LivePanelEpisode(), iter(items), context, Means(chosen.seed, engine, writer))
            writer.freeze()
    found = _verdicts(ledger)
    return {key: found[key] for key in keys}


def _plan(policy: PolicyTable, keys: Sequence[str], settings: LiveSettings) -> Plan:
    return Plan(
        room="panel",
        unit="item",
        arms=policy.channels,
        inputs=(Digest("policy", policy.digest()), Digest("items", digest(list(keys)))),
        seed=settings.seed,
        stages=("calls", "labels"),
        settings={
            "kind": "live",
            "items": len(keys),
            "budget": settings.budget,
            "policy": policy.to_json(),
            "thresholds": {name: reading.threshold for name, reading in sorted(settings.readings.items())},
        },
    )


def _engine(channels: Mapping[str, Callable[[Any], object]], concurrency: int) -> Engine:
    guarded = {name: partial(_answer, channel) for name, channel in channels.items()}
    if concurrency == 1:
        return SerialEngine(InProcess(guarded))
    return ProcessEngine(lambda: InProcess(guarded), concurrency)


def _answer(channel: Callable[[Any], object], record: Any) -> Outcome:
    begin = time.monotonic()
    try:
        return outcome_of(channel(record))
    except TimeoutError:
        return TimedOut(time.monotonic() - begin)


def _verdicts(ledger: Ledger) -> dict[str, LiveVerdict]:
    return {key: decode_verdict(payload) for key, payload in ledger.results("calls")}


def score_live(out: Path, labels: Mapping[str, str]) -> PanelScores:
    """Return the figures of a live run under its policy's declared loss; the labels are frozen beside the calls.

    Items without a label are left out. An item that its budget stopped has no label of its own: it counts as abstained,
    and for balanced accuracy as a fair coin.

    Args:
        out: The run folder.
        labels: Class name by item key.

    Raises:
        LedgerError: The calls are not frozen yet; no label may meet a run that can still call.
        InputError: A key is no item, a label no class, no item is labelled, or other labels were joined before.
    """
    ledger = Ledger.open(out)
    root = ledger.root("calls")
    policy = PolicyTable.from_json(str(ledger.plan.settings["policy"]))
    verdicts = _verdicts(ledger)
    problems = [
        *(Problem(key, "is no item of the run", nearest(key, verdicts)) for key in labels if key not in verdicts),
        *(
            Problem(key, f"label {label!r} is no class", nearest(label, policy.classes))
            for key, label in labels.items()
            if label not in policy.classes
        ),
    ]
    if problems:
        raise InputError("these labels do not fit the run", problems[:20], len(problems))
    if not ledger.is_frozen("labels"):
        with ledger.writer("labels", after=(root,)) as writer:
            fresh = sorted(key for key in labels if key not in writer.finished)
            writer.append([Row(key, 0, DONE, "", json.dumps(labels[key]).encode()) for key in fresh])
            writer.freeze()
    joined = {key: json.loads(payload) for key, payload in ledger.results("labels")}
    if joined != dict(labels):
        raise InputError(f"{out}: other labels were joined to this run before")
    codes = [policy.classes.index(joined[key]) if key in joined else -1 for key in verdicts]
    return evaluate(
        _as_replay(list(verdicts.values())),
        Gold(np.array(codes, dtype=np.int8)),
        len(policy.classes),
        parse_loss(policy.loss or "ba"),
        ties="coin",
    )


def _as_replay(ended: Sequence[LiveVerdict]) -> Replay:
    asked = np.array([one.symbols for one in ended]) != NOT_QUERIED
    return Replay(
        label=np.array([one.label for one in ended], dtype=np.int8),
        accepted=np.array([one.accepted for one in ended], dtype=np.bool_),
        confidence=np.array([one.confidence for one in ended]),
        calls=asked.sum(axis=1),
        cost=np.array([one.cost for one in ended]),
        leaf=np.zeros(len(ended), dtype=np.intp),
        leaves=(),
        asked=asked,
    )
