"""Controls: a constant and a copy add nothing, an oracle adds all that is left, and a wrong number is noticed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterproof.core.errors import InputError
from counterproof.panel.controls import PanelControl, panel_controls
from counterproof.panel.table import Gold
from tests.panel.judged import judged
from tests.panel.verdicts import table_of


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(2, 4))
def test_controls_hold_on_any_panel(seed: int, k: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    table = table_of(np.c_[rng.integers(0, classes, (50, 1)), rng.integers(-1, classes + 1, (50, k - 1))], classes)
    gold = Gold(rng.integers(-1, classes, 50).astype(np.int8))
    if (gold.labels >= 0).any():
        assert all(control.holds for control in panel_controls(table, gold))


def test_an_oracle_adds_what_the_channel_leaves_of_the_label() -> None:
    # A channel right on 3 of 4 items of either class leaves H(.25) = .8113 bits of the one bit of the label.
    labels = [0, 0, 0, 0, 1, 1, 1, 1]
    controls = panel_controls(*judged(labels, np.array([[1, 0, 0, 0, 1, 0, 0, 0]]).T))
    assert [control.name for control in controls] == ["constant", "copied", "oracle"]
    assert [control.value for control in controls] == pytest.approx([0.0, 0.0, 0.811278], abs=1e-6)
    assert "c0" in controls[0].expected


def test_the_channel_beside_them_is_the_one_with_most_verdicts() -> None:
    table = table_of([[2, 0], [2, 1], [0, 1]])
    assert "c1" in panel_controls(table, Gold(np.array([0, 1, 1], dtype=np.int8)))[0].expected


def test_a_wrong_number_is_a_misbehaving_control() -> None:
    assert not PanelControl("copied", "no information", 1e-6, 0.0).holds
    assert not PanelControl("oracle", "all", float("nan"), 0.5).holds


def test_without_any_verdict_there_is_nothing_to_control() -> None:
    with pytest.raises(InputError, match="no channel gives a class"):
        panel_controls(table_of([[2], [2]]), Gold(np.array([0, 1], dtype=np.int8)))
