"""Columns are guessed from common names, said in words and refused when they contradict each other."""

from __future__ import annotations

from typing import Any

import pytest

from counterproof.adapters import ColumnMap, guess_columns
from counterproof.core.errors import InputError


@pytest.mark.parametrize(
    ("names", "described"),
    [
        (["worker", "task", "label", "gold"], "item = task, channel = worker, verdict = label, gold = gold"),
        (["item", "Judge", "verdict", "label"], "item = item, channel = Judge, verdict = verdict, gold = label"),
        (["Sample ID", "scorer", "score"], "item = Sample ID, channel = scorer, score = score"),
        (["question_id", "id", "judge", "vote"], "item = question_id, channel = judge, verdict = vote"),
    ],
)
def test_common_names_are_known(names: list[str], described: str) -> None:
    assert guess_columns(names).described() == described


def test_given_columns_are_kept_and_not_taken_twice() -> None:
    columns = guess_columns(["item", "judge", "verdict", "label"], {"verdict": "label"})
    assert columns == ColumnMap(item="item", channel="judge", verdict="label")
    assert columns.names() == ("item", "judge", "label")


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"item": ""}, "item: is empty"),
        ({"item": "i"}, "channel: is not given"),
        ({"item": "i", "channel": "c"}, "verdict: is not given"),
        ({"item": "i", "channel": "c", "verdict": "i"}, "plays several parts: item, verdict"),
        ({"item": "i", "channels": ("a",), "cost": "c"}, "cost: is given beside channels"),
    ],
)
def test_contradictions_are_refused(columns: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        ColumnMap(**columns)
