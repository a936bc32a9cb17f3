"""Information under a stated model, against entropies written out."""

import math

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.panel.information import (
    conditional_information,
    information_chain,
    state_information,
    subset_information,
)
from counterproof.panel.joint import fit_joint
from counterproof.panel.states import Budget, state_space
from counterproof.panel.table import Gold
from tests.panel.panels import conditionally_independent, router, stated, table_of


def entropy(p: float) -> float:
    return -p * math.log(p) - (1 - p) * math.log(1 - p)


def test_symmetric_channel_tells_ln2_less_its_noise() -> None:
    space = state_space(stated(conditionally_independent((0.25,)), rows=400))
    found = state_information(space)
    assert found.point[0, space.start] == pytest.approx(math.log(2) - entropy(0.25), abs=1e-14)
    # Two classes, two symbols shown, 400 rows; the log ratio is ln 1.5 with probability .75, else ln .5.
    assert found.bias[0, space.start] == pytest.approx(1 / 800)
    sd = math.sqrt(0.75 * 0.25) * math.log(3)
    assert found.error[0, space.start] == pytest.approx(sd / 20)
    lower = math.log(2) - entropy(0.25) - 1 / 800 - 2 * sd / 20
    assert found.lower(2.0)[0, space.start] == pytest.approx(lower)


def test_failures_tell_nothing_where_they_are_independent() -> None:
    model = stated(conditionally_independent((0.25,), failure=0.2))
    assert subset_information(model, (0,)) == pytest.approx(0.8 * (math.log(2) - entropy(0.25)), abs=1e-14)


def test_queried_channels_have_nothing_left_to_tell() -> None:
    space = state_space(stated(conditionally_independent((0.25, 0.3))))
    found = state_information(space)
    assert not found.point[space.asked.T].any()


def test_a_router_tells_only_with_another_channel() -> None:
    model = stated(router())
    assert conditional_information(model, 0) == pytest.approx(0, abs=1e-14)
    assert subset_information(model, (0, 1, 2)) == pytest.approx(math.log(2), abs=1e-14)
    # Channel 1 errs on a quarter. With it and the router, half of the items are certain and half a coin.
    assert information_chain(model, (1, 0, 2)) == pytest.approx(
        (math.log(2) - entropy(0.25), entropy(0.25) - math.log(2) / 2, math.log(2) / 2), abs=1e-14
    )


def test_a_twin_adds_nothing_to_its_twin() -> None:
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 2, 500).astype(np.int8)
    first = labels ^ (rng.random(500) < 0.3)
    table = table_of(np.stack([first, first], axis=1).astype(np.int8))
    model = fit_joint(table, Gold(labels), alpha=1e-12)
    assert conditional_information(model, 0) > 0.02
    assert conditional_information(model, 1, (0,)) == pytest.approx(0, abs=1e-12)


def test_rows_behind_a_state_are_those_that_showed_it() -> None:
    rows = np.array([[0, 0], [0, 1], [1, 1], [1, 1]], dtype=np.int8)
    model = fit_joint(table_of(rows), Gold(np.array([0, 1, 1, 0], dtype=np.int8)), alpha=1e-12)
    space = state_space(model)
    assert space.rows[space.start] == pytest.approx(4)
    assert space.rows[space.number((1, -1))] == pytest.approx(2)
    assert space.rows[space.number((1, 1))] == pytest.approx(2)


def test_states_know_their_cost_and_what_fits_a_budget() -> None:
    space = state_space(stated(conditionally_independent((0.2, 0.3, 0.4)), costs=(5.0, 2.0, 1.0)))
    at = space.number((-1, 2, -1))
    assert space.cost[at] == 2.0
    assert space.affordable(Budget(cost=3.0))[:, at].tolist() == [False, False, True]
    assert space.affordable(Budget(calls=1))[:, at].tolist() == [False, False, False]
    assert space.affordable(Budget())[:, at].tolist() == [True, False, True]


def test_too_many_states_are_refused_with_the_reason() -> None:
    model = stated(np.full((2, *(3,) * 10), 1 / (2 * 3**10)))
    with pytest.raises(InputError, match=r"1,048,576 states.*at most 9 channels"):
        state_space(model)


def test_bad_channels_and_budgets_are_refused() -> None:
    model = stated(router())
    for channels in ((0, 0), (3,), (-1,)):
        with pytest.raises(InputError, match="each once"):
            subset_information(model, channels)
    with pytest.raises(InputError, match="each once"):
        conditional_information(model, 1, (1,))
    with pytest.raises(InputError, match="numbers from 0"):
        Budget(calls=-1)
