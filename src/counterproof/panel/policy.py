"""Policies as tables: what to do in every state that a policy can reach, and replay as a look-up."""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError, nearest
from counterproof.core.hashing import digest
from counterproof.panel.table import NOT_QUERIED, VerdictTable

SCHEMA = 1
State: TypeAlias = tuple[int, ...]
"""What is known of an item: per channel a class code, the failure code, or `NOT_QUERIED`."""


class Move(enum.Enum):
    """What a policy does next."""

    QUERY = "query"
    ACCEPT = "accept"
    ABSTAIN = "abstain"


@dataclass(frozen=True, slots=True)
class Action:
    """One action.

    Attributes:
        move: Query a channel, accept a label, or abstain.
        channel: Index of the channel to query; -1 otherwise.
        label: Accepted label, or the forced label where the policy abstains; -1 while querying, or where a declared
            tie rule rejects.
        confidence: Probability of the label under the policy's model, or its agreement; for ranking items.
    """

    move: Move
    channel: int = -1
    label: int = -1
    confidence: float = 0.0


@dataclass(frozen=True, slots=True)
class PolicyTable:
    """A compiled policy.

    Attributes:
        name: What it is, for example `cmd tau=.8`.
        channels: Names of the channels, in the order of states.
        costs: Declared cost of a call of each.
        classes: Class names, in the order of codes.
        actions: What to do in each reachable state.
        loss: The declared loss that it was frozen for, as `Loss.text`.
        provenance: What it was calibrated on: digests and settings, plain JSON values.
    """

    name: str
    channels: tuple[str, ...]
    costs: tuple[float, ...]
    classes: tuple[str, ...]
    actions: Mapping[State, Action]
    loss: str = ""
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def start(self) -> State:
        """The state in which nothing was asked."""
        return (NOT_QUERIED,) * len(self.channels)

    def digest(self) -> str:
        """Return the content digest of the policy's file."""
        return digest(json.loads(self.to_json()))

    def to_json(self) -> str:
        """Return the policy as a small JSON file; `from_json` reads it back to an equal policy."""
        rows = [
            [list(state), action.move.value, action.channel, action.label, action.confidence]
            for state, action in sorted(self.actions.items())
        ]
        body = {
            "kind": "counterproof.policy",
            "schema": SCHEMA,
            "name": self.name,
            "channels": list(self.channels),
            "costs": list(self.costs),
            "classes": list(self.classes),
            "loss": self.loss,
            "provenance": dict(self.provenance),
            "actions": rows,
        }
        return json.dumps(body, indent=None, separators=(",", ":"), sort_keys=True) + "\n"

    @staticmethod
    def from_json(text: str) -> PolicyTable:
        """Return the policy that `to_json` wrote.

        Raises:
            InputError: The text is no policy, of another schema, or a reachable state has no action.
        """
        try:
            data = json.loads(text)
            if not isinstance(data, dict) or data.get("kind") != "counterproof.policy" or data.get("schema") != SCHEMA:
                raise InputError(f"this is no policy file of schema {SCHEMA}")
            actions = {
                tuple(int(code) for code in state): Action(Move(move), int(channel), int(label), float(confidence))
                for state, move, channel, label, confidence in data["actions"]
            }
            policy = PolicyTable(
                data["name"],
                tuple(data["channels"]),
                tuple(float(cost) for cost in data["costs"]),
                tuple(data["classes"]),
                actions,
                data["loss"],
                data["provenance"],
            )
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"this is no policy file: {type(error).__name__}: {error}") from None
        check_policy(policy)
        return policy


def check_policy(policy: PolicyTable) -> None:
    """Check that costs fit the channels, that every state that can be reached has an action, and that it is possible.

    A channel is asked once; what is accepted has a label; labels are class codes, -1 where an item is rejected.

    Raises:
        InputError: It names the first state that breaks this.
    """
    if len(policy.costs) != len(policy.channels) or not all(0 < cost < float("inf") for cost in policy.costs):
        raise InputError(f"policy '{policy.name}' has costs {policy.costs} for {len(policy.channels)} channels")
    stack, seen = [policy.start], set()
    while stack:
        state = stack.pop()
        if state in seen:
            continue
        seen.add(state)
        action = policy.actions.get(state)
        if action is None:
            raise InputError(f"policy '{policy.name}' has no action in state {state}, which it can reach")
        if action.move is not Move.QUERY:
            if not -(action.move is Move.ABSTAIN) <= action.label < len(policy.classes):
                raise InputError(f"policy '{policy.name}' ends with label {action.label} in state {state}")
            continue
        if not 0 <= action.channel < len(state) or state[action.channel] != NOT_QUERIED:
            raise InputError(f"policy '{policy.name}' asks channel {action.channel} in state {state}, which it cannot")
        j = action.channel
        stack += [(*state[:j], symbol, *state[j + 1 :]) for symbol in range(len(policy.classes) + 1)]


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """What a policy did on N items.

    Attributes:
        label: Accepted or forced label, (N), int8; -1 where there is none.
        accepted: Whether it was accepted, (N).
        confidence: For ranking items, (N).
        calls: Calls made, failures included, (N).
        cost: Declared cost of these calls, (N).
        leaf: Index of the terminal state among `leaves`, (N); -1 where the table lacks a verdict the policy asked for.
        leaves: The terminal states, sorted.
        asked: Whether each channel was asked, (N, K).
    """

    label: NDArray[np.int8]
    accepted: NDArray[np.bool_]
    confidence: NDArray[np.float64]
    calls: NDArray[np.int64]
    cost: NDArray[np.float64]
    leaf: NDArray[np.intp]
    leaves: tuple[State, ...]
    asked: NDArray[np.bool_]


def replay(policy: PolicyTable, table: VerdictTable) -> Replay:
    """Return what a policy does on logged verdicts: one look-up a step for all items at once.

    An item whose next verdict was never queried in the table cannot be replayed: `leaf` is -1, it is not accepted and
    has no label.

    Args:
        policy: The policy.
        table: Verdicts; its channels are matched by name.

    Raises:
        InputError: The table lacks a channel of the policy, or has other classes.
    """
    columns = matched_columns(policy, table)
    symbols = table.symbols[:, columns].astype(np.int64)
    return _walk(policy, symbols)


def matched_columns(policy: PolicyTable, table: VerdictTable) -> list[int]:
    """Return the table's column of each channel of a policy.

    Raises:
        InputError: The table lacks a channel of the policy, or has other classes.
    """
    names = [channel.name for channel in table.channels]
    missing = [name for name in policy.channels if name not in names]
    if missing:
        hints = "; ".join(f"'{name}': {nearest(name, names)}" for name in missing)
        raise InputError(f"the table lacks channels of the policy: {hints}")
    if policy.classes != table.classes:
        raise InputError(f"the policy's classes are {policy.classes}, the table's are {table.classes}")
    return [names.index(name) for name in policy.channels]


def _walk(policy: PolicyTable, symbols: NDArray[np.int64]) -> Replay:
    n, k = symbols.shape
    base = len(policy.classes) + 2
    weights = np.array([base**j for j in range(k)], dtype=np.int64 if base**k < 2**62 else object)
    states = sorted(policy.actions)
    codes = np.array([sum(int((s + 1) * w) for s, w in zip(state, weights, strict=True)) for state in states])
    ranked = np.argsort(codes)
    actions = [policy.actions[state] for state in states]
    channel = np.array([action.channel if action.move is Move.QUERY else -1 for action in actions])
    current = np.zeros(n, dtype=codes.dtype)
    asked = np.zeros((n, k), dtype=np.bool_)
    at = np.full(n, -1, dtype=np.intp)
    alive = np.arange(n)
    while alive.size:
        place = ranked[np.searchsorted(codes, current[alive], sorter=ranked)]
        at[alive] = place
        query = channel[place]
        going = query >= 0
        alive, query = alive[going], query[going]
        seen = symbols[alive, query]
        known = seen != NOT_QUERIED
        at[alive[~known]] = -1
        alive, query, seen = alive[known], query[known], seen[known]
        asked[alive, query] = True
        current[alive] = current[alive] + (seen + 1) * weights[query]
    return _read_off(policy, states, actions, at, asked)


def _read_off(
    policy: PolicyTable,
    states: Sequence[State],
    actions: Sequence[Action],
    at: NDArray[np.intp],
    asked: NDArray[np.bool_],
) -> Replay:
    leaves = tuple(state for state, action in zip(states, actions, strict=True) if action.move is not Move.QUERY)
    number = {state: i for i, state in enumerate(leaves)}
    leaf = np.array([number.get(state, -1) for state in states], dtype=np.intp)
    label = np.array([action.label for action in actions], dtype=np.int8)
    accept = np.array([action.move is Move.ACCEPT for action in actions], dtype=np.bool_)
    confidence = np.array([action.confidence for action in actions])
    done = at >= 0
    return Replay(
        label=np.where(done, label[at], np.int8(-1)).astype(np.int8),
        accepted=done & accept[at],
        confidence=np.where(done, confidence[at], 0.0),
        calls=asked.sum(axis=1),
        cost=asked @ np.array(policy.costs),
        leaf=np.where(done, leaf[at], -1),
        leaves=leaves,
        asked=asked,
    )
