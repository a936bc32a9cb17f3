"""A policy in words and as a tree."""

from __future__ import annotations

from counterproof.panel.compile import compile_rule
from counterproof.panel.policy import Action, Move, PolicyTable, State
from counterproof.panel.rules import VoteRule, majority_policy
from counterproof.panel.table import NOT_QUERIED, Channel
from counterproof.panel.tree import NODES, tree_rows, words_of

CLASSES = ("no", "yes")


def stops_at_yes() -> PolicyTable:
    """Ask a; accept yes at once, else ask b and take its word; without one, abstain."""

    def decide(state: State) -> Action:
        a, b = state
        if a == NOT_QUERIED:
            return Action(Move.QUERY, 0)
        if a == 1:
            return Action(Move.ACCEPT, label=1, confidence=0.9)
        if b == NOT_QUERIED:
            return Action(Move.QUERY, 1)
        return Action(Move.ABSTAIN, label=0, confidence=0.5) if b == 2 else Action(Move.ACCEPT, label=b, confidence=0.8)

    return compile_rule("stops", (Channel("a"), Channel("b")), CLASSES, decide)


def test_words_say_every_path_the_shortest_first() -> None:
    assert words_of(stops_at_yes()) == (
        "If a says yes: accept yes (0.90).",
        "If a says no and b says no: accept no (0.80).",
        "If a says no and b says yes: accept yes (0.80).",
        "If a says no and b gives no verdict: abstain; forced label no (0.50).",
        "If a gives no verdict and b says no: accept no (0.80).",
        "If a gives no verdict and b says yes: accept yes (0.80).",
        "If a gives no verdict and b gives no verdict: abstain; forced label no (0.50).",
    )


def test_words_say_how_many_paths_they_leave_out() -> None:
    assert words_of(stops_at_yes(), most=2)[2:] == ("... and 5 longer or further paths in the policy's file.",)


def test_a_policy_that_asks_nobody() -> None:
    nobody = PolicyTable("none", ("a",), (1.0,), CLASSES, {(-1,): Action(Move.ABSTAIN, label=-1, confidence=0.5)})
    assert words_of(nobody) == ("Ask nobody: abstain; no label (0.50).",)
    assert tree_rows(nobody) == ({"x": 0, "y": 0.0, "label": "abstain, no label (0.50)", "kind": "abstain"},)


def test_the_tree_holds_every_node_and_each_branch_starts_at_its_parent() -> None:
    rows = tree_rows(stops_at_yes())
    assert [row["label"] for row in rows][:4] == ["ask a", "ask b", "accept yes (0.90)", "ask b"]
    assert len(rows) == 1 + 3 + 6
    places = {(row["x"], row["y"]) for row in rows}
    assert len(places) == len(rows)
    for row in rows[1:]:
        assert (row["x_from"], row["y_from"]) in places
        assert row["x"] == row["x_from"] + 1  # type: ignore[operator]  # both are numbers
    assert {row["edge"] for row in rows[1:]} == {"no", "yes", "no verdict"}


def test_a_large_tree_is_cut_and_says_where() -> None:
    channels = tuple(Channel(f"c{j}") for j in range(5))
    rows = tree_rows(majority_policy(channels, CLASSES, VoteRule((0, 1, 2, 3, 4))))
    assert len(rows) <= NODES
    inner = {(row["x_from"], row["y_from"]) for row in rows if "x_from" in row}
    for row in rows:
        cut = row["kind"] == "ask" and (row["x"], row["y"]) not in inner
        assert str(row["label"]).endswith(" ...") is cut
