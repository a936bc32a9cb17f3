"""Breadth against redundancy: the closed forms, and tables on which they must come out."""

from __future__ import annotations

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.core.outcomes import NotApplicable
from counterproof.panel.breadth import breadth_on_table, break_even, closed_form, spend
from counterproof.panel.table import Gold
from tests.panel.judged import copy_gate, judged, of_symbols

RHO = 0.35


@pytest.mark.parametrize(("k", "expected"), [(3, 1.664), (5, 1.664), (7, 1.768)])
def test_break_even_of_independent_channels(k: int, expected: float) -> None:
    one, votes, _ = closed_form(k, RHO)
    assert break_even(one, votes) == pytest.approx(expected, abs=5e-4)


def test_break_even_of_copies_is_where_single_calls_stop_paying() -> None:
    one, votes, _ = closed_form(5, RHO, copy_gate=1.0)
    assert break_even(one, votes) == pytest.approx(0.65 / 0.35)


@pytest.mark.parametrize(("k", "calls"), [(3, 2.4550), (5, 3.9930), (7, 5.5595), (9, 7.1369)])
def test_exact_stopping_takes_fewer_calls(k: int, calls: float) -> None:
    assert closed_form(k, RHO)[2].calls == pytest.approx(calls, abs=5e-5)


def test_what_2560_calls_buy() -> None:
    breadth, votes, stopped = spend(closed_form(5, RHO), 2560, 5)
    assert (breadth.verified, breadth.accepted, breadth.wrong) == pytest.approx((2560, 2560, 896))
    assert votes.verified == pytest.approx(512)
    assert (round(votes.accepted), round(votes.wrong)) == (247, 28)
    assert (breadth.pool_ba, votes.pool_ba, stopped.pool_ba) == pytest.approx((0.650, 0.553, 0.566), abs=5e-4)


def test_a_channel_that_never_errs_leaves_nothing_to_avoid() -> None:
    one, votes, _ = closed_form(5, 0.0)
    assert isinstance(break_even(one, votes), NotApplicable)


@pytest.mark.parametrize("settings", [{"k": 4}, {"error": 1.2}, {"copy_gate": -0.1}, {"threshold": 0.5}])
def test_settings_out_of_range_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(InputError):
        closed_form(**{"k": 5, "error": RHO, **settings})  # type: ignore[arg-type]  # k is whole in every case


@pytest.mark.parametrize("s", [0.0, 0.5])
def test_a_drawn_table_gives_the_closed_form(s: float) -> None:
    # Rates over 20,000 items: standard deviation at most .5/sqrt(20000) = .0035, four of them. The break-even cost has
    # a slope of about 1/(k error - W) = .6 in the error and 1/1.7 in sums of five rates: .02 is four of its own.
    n = 20_000
    rng = np.random.default_rng(2)
    table, gold = judged(rng.random(n) < 0.5, copy_gate(rng, n, 5, RHO, s))
    items = closed_form(5, RHO, copy_gate=s)
    found = breadth_on_table(table, gold, n, rng=np.random.default_rng(0), replicates=200)
    for way, expected in zip(found.ways, spend(items, n, 5), strict=True):
        assert way.name == expected.name
        assert way.accepted / way.verified == pytest.approx(expected.accepted / expected.verified, abs=0.014)
        assert way.wrong / way.verified == pytest.approx(expected.wrong / expected.verified, abs=0.014)
        assert way.pool_ba == pytest.approx(expected.pool_ba, abs=0.014)
    assert isinstance(found.break_even.estimate, float)
    expected_cost = break_even(items[0], items[1])
    assert isinstance(expected_cost, float)
    assert found.break_even.estimate == pytest.approx(expected_cost, abs=0.06)
    assert found.break_even.interval is not None
    assert found.break_even.interval.lower < found.break_even.estimate < found.break_even.interval.upper


def test_small_table_by_hand() -> None:
    # Three channels, label 0 twice and 1 twice. Rows: unanimous right; 2 of 3 right; one failure and two right;
    # 1-1 and a failure, a tie.
    symbols = np.array([[0, 0, 0], [0, 1, 0], [2, 1, 1], [1, 0, 2]], dtype=np.int8)
    found = breadth_on_table(
        of_symbols(symbols),
        Gold(np.array([0, 0, 1, 1], dtype=np.int8)),
        12,
        rng=np.random.default_rng(0),
        replicates=50,
    )
    one, votes, stopped = found.ways
    # Breadth: per item right 1, 2/3, 2/3, 1/3 (mean 2/3), wrong 0, 1/3, 0, 1/3 (mean 1/6).
    assert (one.verified, one.accepted, one.wrong) == pytest.approx((12, 12 * 5 / 6, 2))
    # Majority at .8 of three calls: only the unanimous row is accepted; forced labels right 1, 1, 1 and a coin.
    assert (votes.verified, votes.accepted, votes.wrong) == pytest.approx((4, 1, 0))
    assert votes.pool_ba == pytest.approx((1 / 3) * 0.875 + (2 / 3) * 0.5)
    # Stopping once the lead exceeds the calls left: 2, 3, 3 and 3 calls. Three of four labels are settled.
    assert stopped.verified == pytest.approx(12 / 2.75)
    assert stopped.accepted == pytest.approx(12 / 2.75 * 0.75)
    # c = sum of (3 right_1 - right_3)/(3 wrong_1 - wrong_3) = (3 + 2 + 2 + 1 - 1)/(0 + 1 + 0 + 1).
    assert found.break_even.estimate == pytest.approx(7 / 2)


def test_items_must_have_every_call_and_every_class() -> None:
    symbols = np.array([[0, 0], [1, -1]], dtype=np.int8)
    with pytest.raises(InputError, match="some class"):
        breadth_on_table(of_symbols(symbols), Gold(np.array([0, 1], dtype=np.int8)), 4, rng=np.random.default_rng(0))
    with pytest.raises(InputError, match="0 calls"):
        breadth_on_table(of_symbols(symbols), Gold(np.array([0, 1], dtype=np.int8)), 0, rng=np.random.default_rng(0))
