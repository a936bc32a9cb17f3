"""A policy as words and as a tree: which channel is asked first, and what each answer leads to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from counterproof.core.analysis import Cell
from counterproof.panel.policy import Action, Move, PolicyTable, State

NODES = 60
"""Nodes of a tree that are drawn; below these a branch ends in a note."""


@dataclass(frozen=True, slots=True)
class _Node:
    state: State
    depth: int
    parent: int
    edge: str


def words_of(policy: PolicyTable, *, most: int = 12) -> tuple[str, ...]:
    """Return a policy in sentences, the shortest paths first.

    Args:
        policy: The policy.
        most: Sentences at most; a last one says how many paths are left out.
    """
    paths: list[tuple[list[str], Action]] = []
    stack: list[tuple[State, list[str]]] = [(policy.start, [])]
    while stack:
        state, said = stack.pop()
        action = policy.actions[state]
        if action.move is not Move.QUERY:
            paths.append((said, action))
            continue
        j = action.channel
        for symbol in range(len(policy.classes), -1, -1):
            words = f"says {policy.classes[symbol]}" if symbol < len(policy.classes) else "gives no verdict"
            after = (*state[:j], symbol, *state[j + 1 :])
            stack.append((after, [*said, f"{policy.channels[j]} {words}"]))
    paths.sort(key=lambda path: len(path[0]))
    lines = [_sentence(policy, said, action) for said, action in paths[:most]]
    if len(paths) > most:
        lines.append(f"... and {len(paths) - most} longer or further paths in the policy's file.")
    return tuple(lines)


def _sentence(policy: PolicyTable, said: list[str], action: Action) -> str:
    label = f"forced label {policy.classes[action.label]}" if action.label >= 0 else "no label"
    what = f"abstain; {label} ({action.confidence:.2f})"
    if action.move is Move.ACCEPT:
        what = f"accept {policy.classes[action.label]} ({action.confidence:.2f})"
    return f"If {' and '.join(said)}: {what}." if said else f"Ask nobody: {what}."


def tree_rows(policy: PolicyTable) -> tuple[Mapping[str, Cell], ...]:
    """Return the nodes of a policy's tree with their places: depth along x, leaves in order along y.

    Failures get a branch like any other answer. At most `NODES` nodes, the shallowest first; where more are reachable,
    the deepest drawn ones say so.
    """
    nodes = _nodes(policy)
    children: dict[int, list[int]] = {}
    for i, node in enumerate(nodes):
        if node.parent >= 0:
            children.setdefault(node.parent, []).append(i)
    height: dict[int, float] = {}
    leaf = 0

    def place(i: int) -> float:
        nonlocal leaf
        below = [place(child) for child in children.get(i, [])]
        if not below:
            height[i] = float(leaf)
            leaf += 1
        else:
            height[i] = sum(below) / len(below)
        return height[i]

    place(0)
    rows = []
    for i, node in enumerate(nodes):
        action = policy.actions[node.state]
        cut = action.move is Move.QUERY and i not in children
        row: dict[str, Cell] = {
            "x": node.depth,
            "y": -height[i],
            "label": _label(policy, action) + (" ..." if cut else ""),
            "kind": {Move.QUERY: "ask", Move.ACCEPT: "accept", Move.ABSTAIN: "abstain"}[action.move],
        }
        if node.parent >= 0:
            row |= {"x_from": nodes[node.parent].depth, "y_from": -height[node.parent], "edge": node.edge}
        rows.append(row)
    return tuple(rows)


def _nodes(policy: PolicyTable) -> list[_Node]:
    nodes = [_Node(policy.start, 0, -1, "")]
    at = 0
    while at < len(nodes):
        action = policy.actions[nodes[at].state]
        width = len(policy.classes) + 1
        if action.move is Move.QUERY and len(nodes) + width <= NODES:
            j, state = action.channel, nodes[at].state
            for symbol in range(width):
                name = policy.classes[symbol] if symbol < width - 1 else "no verdict"
                nodes.append(_Node((*state[:j], symbol, *state[j + 1 :]), nodes[at].depth + 1, at, name))
        at += 1
    return nodes


def _label(policy: PolicyTable, action: Action) -> str:
    if action.move is Move.QUERY:
        return f"ask {policy.channels[action.channel]}"
    if action.move is Move.ACCEPT:
        return f"accept {policy.classes[action.label]} ({action.confidence:.2f})"
    label = f"forced {policy.classes[action.label]}" if action.label >= 0 else "no label"
    return f"abstain, {label} ({action.confidence:.2f})"
