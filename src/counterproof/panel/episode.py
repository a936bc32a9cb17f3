"""A live panel: call real channels, one at a time, under a compiled policy; failures are symbols and fail closed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from counterproof.core.episodes import Call, Done, Event, Request, Verify
from counterproof.core.errors import InputError
from counterproof.core.outcomes import Failed, Outcome, Scored, TimedOut
from counterproof.core.seeds import ItemSeed
from counterproof.panel.policy import Action, Move, PolicyTable, State
from counterproof.panel.table import NOT_QUERIED, FailureKind

Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class Reading:
    """How a channel's score becomes a verdict.

    Attributes:
        threshold: A score of at least this is class 1 of two. With None, and with more classes always, the score is
            the class's code, and a score that is no code is a malformed failure.
    """

    threshold: float | None = 0.5

    def symbol(self, outcome: Outcome, classes: int) -> tuple[int, FailureKind | None]:
        """Return the symbol of an outcome, and the kind of its failure when it is one."""
        if isinstance(outcome, Scored):
            if self.threshold is not None and classes == 2:
                return int(outcome.score >= self.threshold), None
            if outcome.score.is_integer() and 0 <= outcome.score < classes:
                return int(outcome.score), None
            return classes, FailureKind.MALFORMED
        if isinstance(outcome, TimedOut):
            return classes, FailureKind.TIMED_OUT
        if isinstance(outcome, Failed):
            return classes, FailureKind.UNAVAILABLE
        return classes, FailureKind.UNSTATED


@dataclass(frozen=True, slots=True)
class LiveContext:
    """What all items of a live panel share.

    Attributes:
        policy: What to do in every state.
        readings: How each channel's score is read, by name.
        allotment: The largest cost that each item may spend, by key; an item that is not named may spend without limit.
    """

    policy: PolicyTable
    readings: Mapping[str, Reading] = field(default_factory=dict)
    allotment: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LiveVerdict:
    """How one item ended.

    Attributes:
        symbols: What each channel said, in the policy's order; `NOT_QUERIED` where it was not asked.
        kinds: Failure kinds, -1 elsewhere.
        label: Accepted or forced label; -1 where there is none.
        accepted: Whether the label was accepted.
        confidence: Under the policy's model.
        cost: Declared cost of all calls, failed ones included.
        stopped: `policy`, or `budget` where the item's allotment did not cover the next call.
    """

    symbols: State
    kinds: tuple[int, ...]
    label: int
    accepted: bool
    confidence: float
    cost: float
    stopped: str


@dataclass(frozen=True, slots=True)
class LiveState(Generic[Record]):
    """An item in mid-policy."""

    key: str
    record: Record
    context: LiveContext
    symbols: State
    kinds: tuple[int, ...]
    cost: float


@dataclass(frozen=True, slots=True)
class LivePanelEpisode:
    """Query channels as the policy says until it accepts or abstains, or the item's allotment is spent."""

    def start(self, item: Any, context: LiveContext, seed: ItemSeed) -> LiveState[Any]:
        """Return the state in which nothing was asked."""
        width = len(context.policy.channels)
        return LiveState(seed.key, item, context, (NOT_QUERIED,) * width, (-1,) * width, 0.0)

    def step(self, state: LiveState[Any], event: Event | None) -> tuple[LiveState[Any], Request | Done[LiveVerdict]]:
        """Return the next call, or how the item ended."""
        policy = state.context.policy
        if event is not None:
            state = _told(state, policy.actions[state.symbols].channel, event.outcomes[0])
        action = policy.actions[state.symbols]
        if action.move is not Move.QUERY:
            return state, Done(_ended(state, action, "policy"))
        name = policy.channels[action.channel]
        if state.cost + policy.costs[action.channel] > state.context.allotment.get(state.key, float("inf")) + 1e-9:
            return state, Done(_ended(state, Action(Move.ABSTAIN), "budget"))
        return state, Verify(
            (Call(f"{name} after {len(policy.channels) - state.symbols.count(NOT_QUERIED)}", state.record),), name
        )

    def encode(self, result: LiveVerdict) -> bytes:
        """Return how an item ended as bytes for the ledger."""
        return json.dumps(
            [
                *(result.symbols, result.kinds, result.label, result.accepted),
                *(result.confidence, result.cost, result.stopped),
            ],
            separators=(",", ":"),
        ).encode()


def decode_verdict(payload: bytes) -> LiveVerdict:
    """Return what `LivePanelEpisode.encode` wrote.

    Raises:
        InputError: The bytes are not of that form.
    """
    try:
        symbols, kinds, label, accepted, confidence, cost, stopped = json.loads(payload)
        return LiveVerdict(tuple(symbols), tuple(kinds), label, accepted, confidence, cost, stopped)
    except (ValueError, TypeError) as error:
        raise InputError(f"not an encoded verdict of a live panel: {error}") from None


def _told(state: LiveState[Any], channel: int, outcome: Outcome) -> LiveState[Any]:
    policy = state.context.policy
    reading = state.context.readings.get(policy.channels[channel], Reading())
    symbol, kind = reading.symbol(outcome, len(policy.classes))
    return LiveState(
        state.key,
        state.record,
        state.context,
        (*state.symbols[:channel], symbol, *state.symbols[channel + 1 :]),
        (*state.kinds[:channel], -1 if kind is None else int(kind), *state.kinds[channel + 1 :]),
        state.cost + policy.costs[channel],
    )


def _ended(state: LiveState[Any], action: Action, stopped: str) -> LiveVerdict:
    return LiveVerdict(
        *(state.symbols, state.kinds, action.label, action.move is Move.ACCEPT),
        *(action.confidence, state.cost, stopped),
    )


def allot(keys: Sequence[str], total: float, most: float) -> dict[str, float]:
    """Return what each item may spend of a total budget: in plan order, each up to `most` until the total is gone.

    Decided before anything runs, so it depends neither on what verdicts come back nor on who finishes first.

    Args:
        keys: Item keys in plan order.
        total: The whole budget, in declared cost.
        most: The largest cost that one item can run up under the policy.

    Raises:
        InputError: The total is not positive, or `most` negative.

    >>> allot(["a", "b", "c"], 5.0, 2.0)
    {'a': 2.0, 'b': 2.0, 'c': 1.0}
    """
    if not total > 0 or most < 0:
        raise InputError(f"a budget of {total} with at most {most} an item; give a positive budget")
    allotted: dict[str, float] = {}
    for key in keys:
        allotted[key] = min(most, total)
        total = max(0.0, total - most)
    return allotted


def dearest_path(policy: PolicyTable) -> float:
    """Return the largest cost that one item can run up under a policy, in declared units."""

    def from_state(state: State) -> float:
        action = policy.actions[state]
        if action.move is not Move.QUERY:
            return 0.0
        j = action.channel
        after = [(*state[:j], symbol, *state[j + 1 :]) for symbol in range(len(policy.classes) + 1)]
        return policy.costs[j] + max(from_state(one) for one in after)

    return from_state(policy.start)
