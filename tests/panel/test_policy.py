"""Policies as tables: they check themselves, survive their file, and replay as a slow walk does."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterproof.core.errors import InputError
from counterproof.panel.compile import compile_rule
from counterproof.panel.policy import Action, Move, PolicyTable, State, check_policy, replay
from counterproof.panel.table import NOT_QUERIED, Channel, VerdictTable
from tests.panel.verdicts import table_of

CLASSES = ("class 0", "class 1")


def drawn_policy(seed: int, k: int, classes: int) -> PolicyTable:
    """A policy with a random action in every state that it can reach."""
    rng = np.random.default_rng(seed)

    def decide(state: State) -> Action:
        free = [j for j, symbol in enumerate(state) if symbol == NOT_QUERIED]
        if free and (len(free) == k or rng.random() < 0.6):
            return Action(Move.QUERY, channel=int(rng.choice(free)), confidence=float(rng.random()))
        move = Move.ACCEPT if rng.random() < 0.5 else Move.ABSTAIN
        return Action(move, label=int(rng.integers(-(move is Move.ABSTAIN), classes)), confidence=float(rng.random()))

    channels = tuple(Channel(f"c{j}", float(rng.integers(1, 5))) for j in range(k))
    names = tuple(f"class {c}" for c in range(classes))
    return compile_rule("drawn", channels, names, decide, provenance={"seed": seed})


def drawn_table(seed: int, k: int, classes: int, n: int = 60) -> VerdictTable:
    return table_of(np.random.default_rng(seed).integers(-1, classes + 1, (n, k)), classes)


def walked(policy: PolicyTable, symbols: list[int]) -> tuple[int, bool, float, list[int], State | None]:
    """The slow, obvious walk of one item: label, accepted, confidence, channels asked, and the leaf if reached."""
    state = [NOT_QUERIED] * len(symbols)
    asked: list[int] = []
    while (action := policy.actions[tuple(state)]).move is Move.QUERY:
        if symbols[action.channel] == NOT_QUERIED:
            return -1, False, 0.0, asked, None
        state[action.channel] = symbols[action.channel]
        asked.append(action.channel)
    return action.label, action.move is Move.ACCEPT, action.confidence, asked, tuple(state)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(2, 4))
def test_replay_by_look_up_is_the_slow_walk(seed: int, k: int, classes: int) -> None:
    policy, table = drawn_policy(seed, k, classes), drawn_table(seed, k, classes)
    run = replay(policy, table)
    for i, symbols in enumerate(table.symbols.tolist()):
        label, accepted, confidence, asked, leaf = walked(policy, symbols)
        assert (run.label[i], run.accepted[i], run.confidence[i]) == (label, accepted, confidence)
        assert np.flatnonzero(run.asked[i]).tolist() == sorted(asked)
        assert run.calls[i] == len(asked)
        assert run.cost[i] == sum(policy.costs[j] for j in asked)
        assert (run.leaves[run.leaf[i]] if run.leaf[i] >= 0 else None) == leaf


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(2, 4))
def test_a_policy_survives_its_file(seed: int, k: int, classes: int) -> None:
    policy = replace(drawn_policy(seed, k, classes), loss="chow:0.1")
    again = PolicyTable.from_json(policy.to_json())
    assert again == policy
    assert again.to_json() == policy.to_json()
    assert again.digest() == policy.digest()


def test_panels_of_more_channels_than_a_word_holds_are_replayed() -> None:
    # 4^32 states exceed 64 bits; the one channel that matters is the last.
    last = 31
    channels = tuple(Channel(f"c{j}") for j in range(32))

    def decide(state: State) -> Action:
        seen = state[last]
        return Action(Move.QUERY, channel=last) if seen == NOT_QUERIED else Action(Move.ACCEPT, label=min(seen, 1))

    policy = compile_rule("last", channels, CLASSES, decide)
    symbols = np.zeros((3, 32), dtype=np.int8)
    symbols[:, last] = [0, 1, 2]
    assert replay(policy, table_of(symbols)).label.tolist() == [0, 1, 1]


ONE = PolicyTable(
    "one", ("c0",), (1.0,), CLASSES,
    {(-1,): Action(Move.QUERY, 0), (0,): Action(Move.ACCEPT, label=0), (1,): Action(Move.ACCEPT, label=1),
     (2,): Action(Move.ABSTAIN, label=0)},
)  # fmt: skip


def test_channels_are_matched_by_name_and_classes_must_agree() -> None:
    table = replace(table_of([[1, 0], [0, 1]]), channels=(Channel("other"), Channel("c0")))
    assert replay(ONE, table).label.tolist() == [0, 1]
    with pytest.raises(InputError, match=r"'c0'.*c9"):
        replay(ONE, replace(table, channels=(Channel("other"), Channel("c9"))))
    with pytest.raises(InputError, match="classes"):
        replay(ONE, replace(table, classes=("no", "yes")))


def test_an_item_without_a_verdict_that_is_asked_for_has_no_leaf() -> None:
    run = replay(ONE, table_of([[1], [-1], [2]]))
    assert run.leaf.tolist() == [1, -1, 2]
    assert run.label.tolist() == [1, -1, 0]
    assert run.accepted.tolist() == [True, False, False]
    assert run.calls.tolist() == [1, 0, 1]


def test_a_state_without_an_action_is_named() -> None:
    with pytest.raises(InputError, match=r"no action in state \(2,\)"):
        check_policy(replace(ONE, actions={s: a for s, a in ONE.actions.items() if s != (2,)}))


@pytest.mark.parametrize(("state", "channel"), [((0,), 0), ((-1,), 1), ((-1,), -1)])
def test_a_channel_is_asked_once_and_must_exist(state: State, channel: int) -> None:
    with pytest.raises(InputError, match="which it cannot"):
        check_policy(replace(ONE, actions={**ONE.actions, state: Action(Move.QUERY, channel)}))


def edited(**changes: object) -> str:
    return json.dumps({**json.loads(ONE.to_json()), **changes})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        ONE.to_json()[:-20],
        edited(kind="other"),
        edited(schema=99),
        edited(actions=[]),
        edited(actions=[[[-1], "leap", 0, -1, 0.0]]),
        edited(actions=[[[-1], "query", 0]]),
        edited(costs=["dear"]),
        edited(channels=None),
        '{"kind": NaN}',
    ],
)
def test_what_is_no_policy_file_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        PolicyTable.from_json(text)


def test_a_file_that_states_impossible_labels_or_costs_is_refused() -> None:
    wrong = [[[-1], "accept", -1, 7, 0.5]]
    with pytest.raises(InputError, match="label 7"):
        PolicyTable.from_json(edited(actions=wrong))
    with pytest.raises(InputError, match="label -1"):
        PolicyTable.from_json(edited(actions=[[[-1], "accept", -1, -1, 0.5]]))
    for costs in ([1.0, 2.0], [0.0], []):
        with pytest.raises(InputError, match="costs"):
            PolicyTable.from_json(edited(costs=costs))
