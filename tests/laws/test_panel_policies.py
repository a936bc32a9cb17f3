"""Laws of the joint model and of what is planned on it, on drawn panels."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterproof.panel.cmd import CmdSettings, cmd_policy
from counterproof.panel.dp import optimal_plan
from counterproof.panel.evaluate import evaluate, expected_scores
from counterproof.panel.information import (
    conditional_information,
    information_chain,
    state_information,
    subset_information,
)
from counterproof.panel.joint import BASES, choose_joint, fit_joint
from counterproof.panel.loss import Loss
from counterproof.panel.policy import check_policy, replay
from counterproof.panel.states import Budget, state_space
from counterproof.panel.static import subset_policy
from counterproof.panel.table import Gold, VerdictTable
from tests.panel.panels import drawn, patterns, random_cells, stated, table_of

SEEDS = st.integers(0, 2**32 - 1)
ALPHA = st.sampled_from([4.0, 64.0, float("inf")])
BASE = st.sampled_from(BASES)
LOSSES = st.sampled_from([Loss("ba"), Loss("chow", 0.1), Loss("chow", 0.3)])
FEW = settings(max_examples=25, deadline=None)


def panel(seed: int, n: int = 120, k: int = 3) -> tuple[VerdictTable, Gold]:
    rng = np.random.default_rng(seed)
    return drawn(rng, n, tuple(rng.uniform(0.1, 0.5, k)), copied=True, failure=float(rng.choice([0.0, 0.1])))


@FEW
@given(SEEDS, BASE, ALPHA)
def test_joint_is_a_distribution(seed: int, base: str, alpha: float) -> None:
    model = fit_joint(*panel(seed), base=base, alpha=alpha)
    assert model.table.sum() == pytest.approx(1, abs=1e-12)
    assert (model.table > 0).all()
    assert model.prior.sum() == pytest.approx(1, abs=1e-12)


@FEW
@given(SEEDS, st.permutations(range(3)), st.sampled_from([2, 3]))
def test_information_obeys_the_chain_rule_in_any_order(seed: int, order: list[int], n_classes: int) -> None:
    model = stated(random_cells(np.random.default_rng(seed), 3, n_classes))
    terms = information_chain(model, order)
    assert sum(terms) == pytest.approx(subset_information(model, (0, 1, 2)), abs=1e-12)
    assert min(terms) >= 0


@FEW
@given(SEEDS)
def test_pointwise_information_averages_to_the_conditional(seed: int) -> None:
    model = stated(random_cells(np.random.default_rng(seed), 3))
    space = state_space(model)
    found = state_information(space)
    for given_, j in (((), 2), ((0,), 1), ((2, 0), 1)):
        known = [s in given_ for s in range(3)]
        here = np.flatnonzero((space.asked == known).all(axis=1))
        mean = float(space.reach[here] @ found.point[j, here])
        assert mean == pytest.approx(conditional_information(model, j, given_), abs=1e-12)


@FEW
@given(SEEDS, BASE, ALPHA, st.permutations(range(3)))
def test_posterior_ignores_the_order_of_channels(seed: int, base: str, alpha: float, order: list[int]) -> None:
    table, gold = panel(seed)
    rows = patterns(3, 3)
    one = fit_joint(table, gold, base=base, alpha=alpha).posterior(rows)
    other = fit_joint(table.columns(order), gold, base=base, alpha=alpha).posterior(rows[:, order])
    assert np.abs(one - other).max() < 1e-15


@FEW
@given(SEEDS, BASE, ALPHA)
def test_posterior_flips_with_labels_and_verdicts(seed: int, base: str, alpha: float) -> None:
    table, gold = panel(seed)
    swap = np.array([1, 0, 2], dtype=np.int8)
    flipped = replace(table, symbols=swap[table.symbols])
    rows = patterns(3, 3)
    one = fit_joint(table, gold, base=base, alpha=alpha).posterior(rows)
    other = fit_joint(flipped, Gold(swap[gold.labels]), base=base, alpha=alpha).posterior(swap[rows])
    assert np.abs(one - other[:, ::-1]).max() < 1e-15


@FEW
@given(SEEDS)
def test_choice_ignores_row_order_and_doubled_rows_of_half_weight(seed: int) -> None:
    table, gold = panel(seed, n=80)
    order = np.random.default_rng(seed).permutation(80)
    one = choose_joint(table, gold)
    assert np.array_equal(one.model.table, choose_joint(table.rows(order), gold.rows(order)).model.table)
    twice = VerdictTable(
        items=tuple(f"{item}/{copy}" for copy in (0, 1) for item in table.items),
        clusters=table.clusters * 2,
        channels=table.channels,
        classes=table.classes,
        symbols=np.tile(table.symbols, (2, 1)),
        kinds=np.tile(table.kinds, (2, 1)),
    )
    halved = choose_joint(twice, Gold(np.tile(gold.labels, 2)), weights=np.full(160, 0.5))
    assert np.array_equal(one.model.table, halved.model.table)
    assert one.candidates == halved.candidates


@FEW
@given(SEEDS, LOSSES, st.sampled_from([0.0, 0.01, 0.05]), st.sampled_from([1, 2, 3]))
def test_nothing_beats_the_optimal_plan_under_the_model(seed: int, loss: Loss, price: float, calls: int) -> None:
    rng = np.random.default_rng(seed)
    model = stated(random_cells(rng, 3), costs=tuple(rng.uniform(0.5, 3.0, 3))).for_loss(loss)
    space, budget = state_space(model), Budget(calls=calls)
    best = optimal_plan(space, loss, price, budget).objective
    rivals = [
        cmd_policy(model, loss, CmdSettings(tau, eta, z, budget))
        for tau, eta, z in itertools.product((0.7, 0.9, 1.0), (0.0, 0.02), (0.0, 1.0))
    ]
    rivals += [
        subset_policy(model, subset, loss, name="fixed")
        for size in range(calls + 1)
        for subset in itertools.combinations(range(3), size)
    ]
    for rival in rivals:
        found = expected_scores(rival, space, loss)
        assert best <= found.loss + price * found.cost + 1e-12


@FEW
@given(SEEDS, st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 0.02]))
def test_a_higher_tau_costs_no_fewer_calls_and_errs_no_more(seed: int, z: float, eta: float) -> None:
    model = stated(random_cells(np.random.default_rng(seed), 3), rows=500).for_loss(Loss("ba"))
    space = state_space(model)
    found = [
        expected_scores(cmd_policy(model, Loss("ba"), CmdSettings(tau, eta, z)), space, Loss("ba"))
        for tau in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
    ]
    for lower, higher in itertools.pairwise(found):
        assert higher.calls >= lower.calls - 1e-12
        assert higher.error <= lower.error + 1e-12


@FEW
@given(SEEDS, LOSSES, st.floats(0.5, 12.0), st.one_of(st.none(), st.integers(0, 4)))
def test_budgets_hold_whatever_comes_back(seed: int, loss: Loss, cost: float, calls: int | None) -> None:
    rng = np.random.default_rng(seed)
    model = stated(random_cells(rng, 4), costs=tuple(rng.uniform(0.5, 5.0, 4)))
    policy = cmd_policy(model, loss, CmdSettings(0.95, z=0.0, budget=Budget(calls, cost)))
    check_policy(policy)
    found = replay(policy, table_of(patterns(4, 3), policy.classes))
    assert (found.leaf >= 0).all()
    assert found.cost.max() <= cost + 1e-9
    assert calls is None or found.calls.max() <= calls


@FEW
@given(SEEDS, LOSSES)
def test_expected_figures_are_those_of_replaying_every_pattern(seed: int, loss: Loss) -> None:
    model = stated(random_cells(np.random.default_rng(seed), 3)).for_loss(loss)
    policy = cmd_policy(model, loss, CmdSettings(0.8, z=0.0))
    expected = expected_scores(policy, state_space(model), loss)
    rows = np.tile(patterns(3, 3), (2, 1))
    gold = Gold(np.repeat([0, 1], 27).astype(np.int8))
    found = evaluate(replay(policy, table_of(rows, policy.classes)), gold, 2, loss, weights=model.table.ravel())
    assert found.loss == pytest.approx(expected.loss, abs=1e-12)
    assert (found.coverage, found.mean_calls) == pytest.approx((expected.coverage, expected.calls), abs=1e-12)


@FEW
@given(SEEDS, BASE)
def test_plans_are_the_same_however_channels_are_ordered(seed: int, base: str) -> None:
    table, gold = panel(seed)
    order = [2, 0, 1]
    one = cmd_policy(fit_joint(table, gold, base=base), Loss("ba"), CmdSettings(0.8))
    other = cmd_policy(fit_joint(table.columns(order), gold, base=base), Loss("ba"), CmdSettings(0.8))
    a, b = replay(one, table), replay(other, table)
    assert a.label.tolist() == b.label.tolist()
    assert a.asked.tolist() == b.asked[:, [order.index(j) for j in range(3)]].tolist()
