"""Compiling: from a rule or a plan to a table of the states that it can reach."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from counterproof.core.errors import InputError
from counterproof.panel.joint import JointModel
from counterproof.panel.loss import Loss
from counterproof.panel.policy import Action, Move, PolicyTable, State
from counterproof.panel.states import StatePlan
from counterproof.panel.table import NOT_QUERIED, Channel

MAX_REACHABLE = 100_000
"""Above this many reachable states a policy is refused: a full panel of 11 channels over two classes has more."""


def compile_rule(
    name: str,
    channels: Sequence[Channel],
    classes: Sequence[str],
    decide: Callable[[State], Action],
    *,
    loss: Loss | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> PolicyTable:
    """Return the table of a rule: `decide` is asked once for each state that the rule can reach.

    Args:
        name: What the policy is.
        channels: The channels, in the order of states.
        classes: Class names.
        decide: The action in a state.
        loss: The declared loss that it was made for.
        provenance: What it rests on, plain JSON values.

    Raises:
        InputError: It can reach more than `MAX_REACHABLE` states.
    """
    symbols = range(len(classes) + 1)
    actions: dict[State, Action] = {}
    stack: list[State] = [(NOT_QUERIED,) * len(channels)]
    while stack:
        state = stack.pop()
        if state in actions:
            continue
        action = actions[state] = decide(state)
        if len(actions) > MAX_REACHABLE:
            raise InputError(
                f"policy '{name}' can reach more than {MAX_REACHABLE:,} states: give it fewer channels or calls"
            )
        if action.move is Move.QUERY:
            j = action.channel
            stack += [(*state[:j], symbol, *state[j + 1 :]) for symbol in symbols]
    return PolicyTable(
        name=name,
        channels=tuple(channel.name for channel in channels),
        costs=tuple(channel.cost for channel in channels),
        classes=tuple(classes),
        actions=actions,
        loss="" if loss is None else loss.text,
        provenance=dict(provenance or {}),
    )


def compile_plan(name: str, plan: StatePlan, loss: Loss, settings: Mapping[str, Any] | None = None) -> PolicyTable:
    """Return the table of a plan over a joint model; its provenance holds the model's settings and those given.

    Raises:
        InputError: It can reach more than `MAX_REACHABLE` states.
    """
    space = plan.space

    def decide(state: State) -> Action:
        at = space.number(state)
        label, confidence = int(plan.label[at]), float(plan.confidence[at])
        if plan.query[at] >= 0:
            return Action(Move.QUERY, channel=int(plan.query[at]), confidence=confidence)
        return Action(Move.ACCEPT if plan.accept[at] else Move.ABSTAIN, label=label, confidence=confidence)

    provenance = {**model_settings(space.model), **(settings or {})}
    return compile_rule(name, space.model.channels, space.model.classes, decide, loss=loss, provenance=provenance)


def model_settings(model: JointModel) -> dict[str, Any]:
    """Return how a joint model was made, in plain JSON values; an infinite alpha is written `inf`."""
    return {
        "model": "joint",
        "base": model.base,
        "alpha": "inf" if math.isinf(model.alpha) else model.alpha,
        "rows": model.n,
        "rows_left_out": model.left_out,
        "prior": [float(each) for each in np.round(model.prior, 12)],
    }
