"""What each further call adds: bits by hand, and the chain rule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterproof.panel.information import subset_information
from counterproof.panel.order import buying_order, label_entropy
from tests.panel.panels import conditionally_independent, random_cells, stated


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.sampled_from([2, 3]))
def test_what_calls_add_sums_to_what_they_tell_together(seed: int, k: int, classes: int) -> None:
    model = stated(random_cells(np.random.default_rng(seed), k, classes))
    order = buying_order(model)
    assert sorted(step.channel for step in order) == [f"c{j}" for j in range(k)]
    assert min(step.adds for step in order) >= -1e-12
    assert np.cumsum([step.adds for step in order]) == pytest.approx([step.total for step in order], abs=1e-12)
    whole = subset_information(model, tuple(range(k))) / np.log(2)
    assert order[-1].total == pytest.approx(whole, abs=1e-12)
    assert order[-1].total <= label_entropy(model) + 1e-12


def test_bits_of_one_channel_by_hand() -> None:
    # A symmetric channel of error .25 on equal classes tells 1 - H(.25) = .188722 bits; a coin tells none.
    order = buying_order(stated(conditionally_independent((0.5, 0.25))))
    assert [step.channel for step in order] == ["c1", "c0"]
    assert [step.adds for step in order] == pytest.approx([0.188722, 0.0], abs=1e-6)


def test_a_copy_adds_nothing() -> None:
    cells = np.zeros((2, 3, 3))
    cells[0, 0, 0], cells[0, 1, 1], cells[1, 0, 0], cells[1, 1, 1] = 0.4, 0.1, 0.1, 0.4
    first, second = buying_order(stated(cells))
    assert first.adds == pytest.approx(1 - 0.721928, abs=1e-6)  # H(.2) = .721928
    assert second.adds == pytest.approx(0.0, abs=1e-12)


def test_label_entropy_of_known_priors() -> None:
    cells = np.zeros((2, 3))
    cells[0, 0], cells[1, 1] = 0.25, 0.75
    assert label_entropy(stated(cells)) == pytest.approx(0.811278, abs=1e-6)
