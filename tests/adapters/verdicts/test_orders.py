"""Pairs judged in both orders: a channel for each order, or one call that fails when the orders disagree."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterproof.adapters import VerdictFile, read_verdicts
from counterproof.panel.table import FailureKind

# Outputs are called A and B in both orders. i1: agree; i2: disagree; i3: one failed; i4: one order only.
TEXT = """item,judge,swapped,verdict,seconds
i1,j,0,A,1
i1,j,1,A,2
i2,j,0,A,1
i2,j,1,B,1
i3,j,0,B,1
i3,j,1,,1
i4,j,0,B,1
"""


def read(tmp_path: Path, text: str = TEXT, orders: str = "channels") -> VerdictFile:
    path = tmp_path / "pairs.csv"
    path.write_text(text)
    return read_verdicts(path, orders=orders)


def test_each_order_is_a_channel(tmp_path: Path) -> None:
    got = read(tmp_path)
    assert [channel.name for channel in got.table.channels] == ["j/given", "j/swapped"]
    assert got.table.symbols.tolist() == [[0, 0], [0, 1], [1, 2], [1, -1]]
    assert any("agree on 50.0% (j) to 50.0% (j)" in note for note in got.notes)


def test_consistent_orders_are_one_call_of_both_costs(tmp_path: Path) -> None:
    table = read(tmp_path, orders="consistent").table
    assert [channel.name for channel in table.channels] == ["j"]
    assert table.symbols[:, 0].tolist() == [0, 2, 2, -1]
    assert table.kinds[:, 0].tolist() == [-1, FailureKind.SCHEMA_DISAGREEMENT, FailureKind.UNSTATED, -1]
    assert table.costs.tolist() == [2]
    assert table.seconds is not None
    assert table.seconds[:3, 0].tolist() == [3, 2, 2]


def test_orders_that_mostly_disagree_are_doubted(tmp_path: Path) -> None:
    got = read(tmp_path, "item,judge,order,verdict\ni1,j,ab,A\ni1,j,ba,B\ni2,j,ab,B\ni2,j,ba,A\n")
    assert [channel.name for channel in got.table.channels] == ["j/ab", "j/ba"]
    assert any("do verdicts name outputs, or positions?" in note for note in got.notes)


@pytest.mark.parametrize("orders", ["channels", "consistent"])
def test_one_order_is_a_plain_channel(tmp_path: Path, orders: str) -> None:
    got = read(tmp_path, "item,judge,swapped,verdict\ni1,j,0,A\ni2,j,0,B\n", orders)
    assert [channel.name for channel in got.table.channels] == ["j"]
    assert got.table.costs.tolist() == [1]
