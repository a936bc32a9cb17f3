"""The greedy controller, fixed subsets and the optimal plan on panels whose best play can be seen."""

import itertools
import math

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.core.outcomes import NotApplicable
from counterproof.panel.cmd import CmdSettings, Search, cmd_policy, freeze_operating_point
from counterproof.panel.dp import dp_policy, optimal_plan, plan_for_cost
from counterproof.panel.evaluate import evaluate, expected_scores
from counterproof.panel.loss import Loss
from counterproof.panel.policy import Move, PolicyTable, check_policy, replay
from counterproof.panel.states import Budget, state_space
from counterproof.panel.static import static_policy, static_subset, subset_policy
from counterproof.panel.table import Gold
from tests.panel.panels import conditionally_independent, costs_of_paths, drawn, random_cells, router, stated, table_of

BA, CHOW = Loss("ba"), Loss("chow", 0.2)
TWO = Budget(calls=2)


def test_only_the_optimal_plan_asks_the_router_first() -> None:
    # Asked first, the router names the channel that is right: two calls, no error. It tells nothing alone, so greedy
    # and forward selection start with channel 1 and end, like every fixed pair, with a coin on half of the items: .25.
    model = stated(router())
    space = state_space(model)
    best = expected_scores(dp_policy(model, BA, price=0.0, budget=TWO), space, BA)
    greedy = expected_scores(cmd_policy(model, BA, CmdSettings(1.0, z=0.0, budget=TWO)), space, BA)
    assert (best.loss, best.calls) == pytest.approx((0.0, 2.0), abs=1e-12)
    assert greedy.loss == pytest.approx(0.25, abs=1e-12)
    for pair in itertools.combinations(range(3), 2):
        fixed = expected_scores(subset_policy(model, pair, BA, name="fixed"), space, BA)
        assert fixed.loss == pytest.approx(0.25, abs=1e-12)


def test_optimal_plan_weighs_loss_against_price() -> None:
    # One channel of error .2: it takes the error from .5 to .2, so it is worth a call below a price of .3.
    space = state_space(stated(conditionally_independent((0.2,))))
    bought, left = optimal_plan(space, BA, 0.29), optimal_plan(space, BA, 0.31)
    assert (bought.loss, bought.cost, bought.objective) == pytest.approx((0.2, 1.0, 0.49), abs=1e-12)
    assert (left.loss, left.cost, left.objective) == pytest.approx((0.5, 0.0, 0.5), abs=1e-12)


def test_optimal_plan_abstains_where_an_error_is_likelier_than_kappa() -> None:
    # Chow's loss, kappa .2: one channel of error .3 is not trusted; two of them are where they agree (.09 / .58).
    space = state_space(stated(conditionally_independent((0.3, 0.3))))
    policy = dp_policy(space.model, CHOW, price=0.0)
    assert policy.actions[(0, 0)].move is Move.ACCEPT
    assert policy.actions[(0, 1)].move is Move.ABSTAIN
    assert expected_scores(policy, space, CHOW).loss == pytest.approx(0.09 + 0.2 * 0.42, abs=1e-12)


def recursive(space_cells: np.ndarray, costs: tuple[float, ...], loss: Loss, price: float, budget: Budget) -> float:
    """E[loss] + price E[cost] of the best plan by plain recursion over what is known."""
    k = space_cells.ndim - 1

    def mass(state: tuple[int, ...]) -> np.ndarray:
        cells = space_cells
        for j in range(k - 1, -1, -1):
            cells = cells.sum(axis=1 + j) if state[j] < 0 else cells.take(state[j], axis=1 + j)
        return cells

    def value(state: tuple[int, ...]) -> float:
        here = mass(state)
        wrong = float(here.sum() - here.max())
        best = wrong if loss.kind == "ba" else min(wrong, loss.kappa * float(here.sum()))
        spent = sum(costs[j] for j in range(k) if state[j] >= 0)
        calls = sum(s >= 0 for s in state)
        for j in range(k):
            fits = (budget.calls is None or calls < budget.calls) and (
                budget.cost is None or spent + costs[j] <= budget.cost
            )
            if state[j] < 0 and fits:
                going = sum(value((*state[:j], a, *state[j + 1 :])) for a in range(space_cells.shape[1]))
                best = min(best, going + price * costs[j] * float(here.sum()))
        return best

    return value((-1,) * k)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("loss", [BA, CHOW])
def test_backward_induction_equals_plain_recursion(seed: int, loss: Loss) -> None:
    cells = random_cells(np.random.default_rng(seed), 3)
    costs = (1.0, 2.0, 0.5)
    space = state_space(stated(cells, costs=costs))
    for price, budget in ((0.0, Budget()), (0.03, Budget(cost=2.5)), (0.01, Budget(calls=2))):
        found = optimal_plan(space, loss, price, budget)
        assert found.objective == pytest.approx(recursive(cells, costs, loss, price, budget), abs=1e-12)


def test_plan_for_a_mean_cost_keeps_to_it() -> None:
    space = state_space(stated(conditionally_independent((0.2, 0.25, 0.3, 0.35))))
    found = [plan_for_cost(space, BA, limit) for limit in (0.0, 1.0, 2.0, 3.0, 4.0)]
    assert all(plan.cost <= limit + 1e-12 for plan, limit in zip(found, (0, 1, 2, 3, 4), strict=True))
    assert [plan.loss for plan in found] == sorted((plan.loss for plan in found), reverse=True)
    assert found[0].cost == 0.0


def sprt_needs(tau: float, error: float) -> int:
    return math.ceil(math.log(tau / (1 - tau)) / math.log((1 - error) / error))


@pytest.mark.parametrize("tau", [0.8, 0.9, 0.95])
@pytest.mark.parametrize("failure", [0.001, 0.1])
def test_on_an_exchangeable_panel_the_controller_is_the_sprt(tau: float, failure: float) -> None:
    model = stated(conditionally_independent((0.3,) * 5, failure))
    policy = cmd_policy(model, BA, CmdSettings(tau))
    needed = sprt_needs(tau, 0.3)
    for state, action in policy.actions.items():
        net = abs(state.count(1) - state.count(0))
        assert (action.move is Move.ACCEPT) == (net >= needed)
        if action.move is Move.QUERY:
            assert action.channel == state.index(-1)
        elif action.move is Move.ABSTAIN:
            assert -1 not in state


def test_a_channel_that_tells_nothing_is_never_asked() -> None:
    model = stated(conditionally_independent((0.3, 0.5, 0.3)))
    policy = cmd_policy(model, BA, CmdSettings(0.999, eta=1e-9, z=0.0))
    assert {action.channel for action in policy.actions.values()} == {-1, 0, 2}


def test_dear_channels_wait_until_they_are_worth_it() -> None:
    # I(.2) = .193 nats for 10 is less per unit than I(.3) = .082 for 1.
    policy = cmd_policy(stated(conditionally_independent((0.2, 0.3)), costs=(10.0, 1.0)), BA, CmdSettings(0.99))
    assert policy.actions[policy.start].channel == 1


def test_uncertainty_is_taken_off_before_channels_are_ranked() -> None:
    # With five rows, I(.4) = .020 nats lies below the bias of 1/10: every lower bound is 0, and eta > 0 asks nothing.
    model = stated(conditionally_independent((0.4, 0.4)), rows=5)
    asking = cmd_policy(model, BA, CmdSettings(0.9, eta=0.0))
    assert asking.actions[asking.start].move is Move.QUERY
    silent = cmd_policy(model, BA, CmdSettings(0.9, eta=1e-6))
    assert silent.actions[silent.start].move is Move.ABSTAIN


def test_not_selective_means_every_item_is_accepted() -> None:
    model = stated(conditionally_independent((0.3, 0.3)))
    policy = cmd_policy(model, BA, CmdSettings(0.99, selective=False))
    assert all(action.move is not Move.ABSTAIN for action in policy.actions.values())


def test_no_path_costs_more_than_the_budget() -> None:
    cells = random_cells(np.random.default_rng(8), 4)
    model = stated(cells, costs=(4.0, 1.0, 2.0, 1.5))
    for budget in (Budget(cost=4.5), Budget(calls=2), Budget(calls=3, cost=5.0), Budget(calls=0)):
        for policy in (
            cmd_policy(model, BA, CmdSettings(1.0, z=0.0, budget=budget)),
            dp_policy(model, BA, price=0.0, budget=budget),
        ):
            check_policy(policy)
            spent = costs_of_paths(policy)
            assert spent.max() <= (math.inf if budget.cost is None else budget.cost)
            asked = max(sum(s >= 0 for s in state) for state in policy.actions)
            assert asked <= (math.inf if budget.calls is None else budget.calls)


def test_forward_selection_takes_the_channel_that_adds_most() -> None:
    # Channel 1 is the better twin of channel 0 (it copies it exactly); 2 is weaker but independent.
    single = conditionally_independent((0.2, 0.3))
    cells = np.zeros((2, 3, 3, 3))
    for a in range(3):
        cells[:, a, a, :] = single[:, a, :]
    model = stated(cells)
    assert static_subset(model, 3) == (0, 2, 1)
    assert static_subset(model, 0) == ()
    with pytest.raises(InputError, match="4 channels out of 3"):
        static_subset(model, 4)


def test_fixed_panel_asks_the_same_of_every_item() -> None:
    model = stated(conditionally_independent((0.3, 0.2, 0.4)))
    policy = static_policy(model, 2, CHOW)
    assert {state.count(-1) for state, action in policy.actions.items() if action.move is not Move.QUERY} == {1}
    # Errors .2 and .3: agreement leaves .06/.62 < kappa .2, disagreement .12/.38.
    assert policy.actions[(0, 0, -1)].move is Move.ACCEPT
    assert policy.actions[(0, 1, -1)].move is Move.ABSTAIN
    assert static_policy(model, 2, BA).actions[(0, 1, -1)].move is Move.ACCEPT


def test_fixed_panel_of_all_channels_is_the_joint_posterior() -> None:
    table, _ = drawn(np.random.default_rng(9), 50, (0.2, 0.3, 0.4))
    model = stated(random_cells(np.random.default_rng(9), 3))
    policy = static_policy(model, 3, CHOW)
    same = PolicyTable(policy.name, policy.channels, policy.costs, ("no", "yes"), policy.actions)
    posterior = model.posterior(table.symbols)
    found = replay(same, table)
    assert found.label.tolist() == posterior.argmax(axis=1).tolist()
    assert found.confidence == pytest.approx(posterior.max(axis=1), abs=1e-14)


def test_frozen_point_stops_at_one_good_judge() -> None:
    # One judge of error .05 among coins: further calls add nothing, and the cheapest of equal losses wins.
    table, gold = drawn(np.random.default_rng(10), 600, (0.5, 0.05, 0.5, 0.5), failure=0.0)
    found = freeze_operating_point(table, gold, BA)
    assert found.chosen.loss == min(point.loss for point in found.points)
    policy = cmd_policy(found.model, BA, found.settings)
    assert policy.actions[policy.start].channel == 1
    scores = evaluate(replay(policy, table), gold, 2, BA)
    assert scores.mean_calls < 1.3
    # Error .05 with four standard errors of the smaller class (240 rows): .06.
    assert scores.balanced_accuracy == pytest.approx(0.95, abs=0.06)


def test_frozen_point_abstains_from_everything_when_all_judges_are_coins() -> None:
    table, gold = drawn(np.random.default_rng(11), 400, (0.5, 0.5, 0.5))
    found = freeze_operating_point(table, gold, Loss("chow", 0.1))
    assert (found.chosen.loss, found.chosen.coverage, found.chosen.calls) == pytest.approx((0.1, 0.0, 0.0))
    scores = evaluate(replay(cmd_policy(found.model, Loss("chow", 0.1), found.settings), table), gold, 2, BA)
    assert isinstance(scores.selective_accuracy, NotApplicable)


def test_frozen_point_keeps_to_a_mean_cost() -> None:
    table, gold = drawn(np.random.default_rng(12), 400, (0.2, 0.3, 0.3, 0.35), copied=True)
    found = freeze_operating_point(table, gold, BA, Search(mean_cost=1.5))
    assert found.chosen.cost <= 1.5
    free = freeze_operating_point(table, gold, BA)
    assert free.chosen.loss <= found.chosen.loss
    with pytest.raises(InputError, match="cheapest tried costs"):
        freeze_operating_point(table, gold, BA, Search(taus=(0.9,), etas=(0.0,), mean_cost=0.5))


def test_frozen_point_depends_on_keys_not_on_row_order() -> None:
    table, gold = drawn(np.random.default_rng(13), 200, (0.2, 0.3, 0.4))
    shuffled = np.random.default_rng(0).permutation(200)
    one, other = (
        freeze_operating_point(table, gold, BA),
        freeze_operating_point(table.rows(shuffled), gold.rows(shuffled), BA),
    )
    assert one.settings == other.settings
    assert np.array_equal(one.model.table, other.model.table)


def test_three_classes_are_planned() -> None:
    # Symmetric three-class channels of error .3: the posterior of two that agree is .49 / (.49 + 2 .0225) = .916.
    each = np.array([[0.7, 0.15, 0.15, 0.0], [0.15, 0.7, 0.15, 0.0], [0.15, 0.15, 0.7, 0.0]])
    cells = each[:, :, None, None] * each[:, None, :, None] * each[:, None, None, :] / 3
    policy = cmd_policy(stated(cells, shown=3), BA, CmdSettings(0.9))
    assert policy.actions[(2, 2, -1)].move is Move.ACCEPT
    assert policy.actions[(2, 2, -1)].confidence == pytest.approx(0.49 / (0.49 + 2 * 0.0225))
    assert policy.actions[(2, 1, -1)].move is Move.QUERY


def test_policies_survive_their_file() -> None:
    model = stated(conditionally_independent((0.2, 0.3), failure=0.1))
    for policy in (
        cmd_policy(model, CHOW, CmdSettings(0.8, eta=math.inf)),
        dp_policy(model, BA, price=0.01),
        static_policy(model, 1, BA),
    ):
        assert PolicyTable.from_json(policy.to_json()) == policy


def test_bad_operating_points_are_refused() -> None:
    with pytest.raises(InputError, match=r"tau in \[0, 1\]"):
        CmdSettings(1.1)
    space = state_space(stated(conditionally_independent((0.2,))))
    with pytest.raises(InputError, match="price"):
        optimal_plan(space, BA, -0.1)
    with pytest.raises(InputError, match="mean cost"):
        plan_for_cost(space, BA, -1.0)
    policy = cmd_policy(stated(conditionally_independent((0.2, 0.3))), BA, CmdSettings(0.8))
    with pytest.raises(InputError, match="the policy is over"):
        expected_scores(policy, space, BA)


def test_calibration_of_one_class_is_refused() -> None:
    with pytest.raises(InputError, match="no labelled row of class yes"):
        freeze_operating_point(table_of(np.zeros((30, 2), dtype=np.int8)), Gold(np.zeros(30, dtype=np.int8)), BA)
