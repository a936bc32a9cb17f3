"""Constructed views, agents that search them, and omitted terms."""

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.equations.construct import ViewSpace, climb, constructible, exhaustive, omission_labs
from counterproof.equations.episodes1d import Lab, run_lab
from counterproof.equations.scores import chosen_signatures, count, score_max, scores
from counterproof.equations.verdicts import OUTSIDE


def test_every_view_keeps_the_budget_and_suits_the_rule() -> None:
    space = ViewSpace(budget=60, windows=True)
    views = constructible(space)
    assert len({view.name for view in views}) == len(views)
    for view in views:
        assert view.samples * view.modes <= 60
        assert view.samples % 2 == 1
        assert view.grid.places[0] >= 0
        assert view.grid.places[-1] <= 48


def test_whole_window_grids_divide_the_stored_intervals() -> None:
    assert sorted({view.samples for view in constructible(ViewSpace())}) == [5, 7, 9, 13, 17, 25, 49]


def test_windows_count_by_hand() -> None:
    # Eight intervals, five samples: stride 1 at five starts, stride 2 at one.
    views = constructible(ViewSpace(intervals=8, modes=1, budget=5, windows=True))
    assert [(view.grid.start, view.grid.stride) for view in views] == [(0, 1), (1, 1), (2, 1), (3, 1), (4, 1), (0, 2)]


def test_an_agent_that_may_construct_views_flips_every_law_too() -> None:
    lab = Lab((700, 701), families=(0, 1, 2, 3, 4), views=constructible(ViewSpace()))
    result = run_lab(lab)
    chosen = exhaustive(scores(result.permitted))
    assert count(chosen_signatures(result.permitted, chosen.choice), result.truth).correct == 0
    few = climb(scores(result.permitted), lab.views, 8, np.random.default_rng)
    assert (few.calls <= 8).all()
    paid = scores(result.permitted)
    rows = np.arange(len(paid))
    assert (paid[rows, few.choice] <= paid[rows, chosen.choice]).all()


def test_climbing_with_a_call_for_every_view_is_exhaustive() -> None:
    views = constructible(ViewSpace(budget=40))
    objective = np.random.default_rng(0).standard_normal((5, len(views)))
    found = climb(objective, views, len(views), np.random.default_rng)
    assert found.choice.tolist() == exhaustive(objective).choice.tolist()
    assert (climb(objective, views, 1, np.random.default_rng).calls == 1).all()


def test_leaving_a_true_term_out_makes_outside_right() -> None:
    found = omission_labs(Lab((700,)))
    assert [name for name, _ in found] == [
        "advection-diffusion without u_x",
        "advection-diffusion without u_xx",
        "Burgers without u_xx",
        "Burgers without u u_x",
        "Fisher-KPP without u",
        "Fisher-KPP without u^2",
        "Fisher-KPP without u_xx",
        "Allen-Cahn without u",
        "Allen-Cahn without u^3",
        "Allen-Cahn without u_xx",
        "KdV without u_xxx",
        "KdV without u u_x",
    ]
    result = run_lab(found[0][1])
    assert (result.truth == OUTSIDE).all()
    assert count(chosen_signatures(result.permitted, score_max(result.permitted)), result.truth).wrong == 0


def test_impossible_budgets_are_refused() -> None:
    with pytest.raises(InputError, match="admits no view"):
        constructible(ViewSpace(budget=4))
    with pytest.raises(InputError, match="positive"):
        ViewSpace(modes=0)
    with pytest.raises(InputError, match="at least one call"):
        climb(np.zeros((1, 2)), constructible(ViewSpace(intervals=8, modes=1, budget=9)), 0, np.random.default_rng)
