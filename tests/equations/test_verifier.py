"""The verifier on noise-free data, determinism, and verdicts as types."""

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.equations.draws import LAB_GRID, add_noise, draw
from counterproof.equations.episodes1d import Lab, run_lab
from counterproof.equations.library import DEFAULT_LIBRARY, parse_library
from counterproof.equations.trajectories import trajectories
from counterproof.equations.verdicts import INCONCLUSIVE, OUTSIDE, Identified, Inconclusive, OutsideLibrary
from counterproof.equations.verifier import true_signature
from counterproof.equations.views import lab_views, view_index
from tests.equations.laboratory import advected, verifier


def test_without_noise_coarse_views_reject_every_law_and_fine_ones_select_the_truth() -> None:
    lab = Lab(tuple(range(300, 320)), families=(0, 1, 2, 3, 4), noise=(0.0,))
    result = run_lab(lab)
    table, views = result.permitted, result.permitted.views
    assert len(table) == 200
    a03 = view_index(views, 7, 5)
    assert (table.signature[:, a03] == OUTSIDE).all()
    # The range of the residual shows that it does not depend on law, start or spatial set.
    assert table.best[:, a03].min() > 0.948
    assert table.best[:, a03].max() < 0.956
    for samples, modes in ((13, 5), (25, 2), (25, 5)):
        assert (table.support[:, view_index(views, samples, modes)] == result.truth).all()
    assert (result.reference.support[:, 3] == result.truth).all()


def test_same_seed_same_bytes() -> None:
    lab = Lab((3, 4))
    first, second = run_lab(lab), run_lab(lab)
    for name in ("best", "residual", "support", "gap", "condition", "signature"):
        assert getattr(first.permitted, name).tobytes() == getattr(second.permitted, name).tobytes()


def test_a_cell_does_not_depend_on_the_episodes_beside_it() -> None:
    draws = [draw(f, 9) for f in range(6)]
    u = add_noise(trajectories(draws), draws, 0.001)
    one = verifier("B")
    together = one.assess(u, block=6)
    for e in range(6):
        alone = one.assess(u[e : e + 1])
        assert alone.signature.tolist() == together.signature[e : e + 1].tolist()
        assert np.allclose(alone.gap, together.gap[e], rtol=1e-9, atol=1e-12)
    assert one.assess(u, block=4).best.tobytes() == one.assess(u, block=2).best.tobytes()


def test_a_cell_is_a_function_of_trajectory_samples_and_modes() -> None:
    draws = [draw(1, 2)]
    u = add_noise(trajectories(draws), draws, 0.005)
    whole = verifier("F").assess(u)
    part = verifier("F", lab_views(counts=(13,), modes=(3,))).assess(u)
    place = view_index(whole.views, 13, 3)
    assert whole.best[0, place] == pytest.approx(part.best[0, 0], rel=1e-12)


def test_verdicts_are_types_with_the_supports_names() -> None:
    table = verifier("F").assess(advected(LAB_GRID.t))
    assert table.verdict(0, view_index(table.views, 25, 2)) == Identified(("u_x", "u_xx"))
    assert table.verdict(0, view_index(table.views, 7, 5)) == OutsideLibrary()
    assert table.verdict_of(INCONCLUSIVE) == Inconclusive()


def test_coefficients_of_an_exact_solution_are_its_own() -> None:
    one = verifier("F")
    u = advected(LAB_GRID.t)
    table = one.assess(u)
    found = one.coefficients(u, table)[0, -1]
    assert found == pytest.approx([0, 0, 0, 0, -0.5, 0.15, 0, 0], abs=1e-5)


def test_residuals_below_the_grams_digits_are_recomputed() -> None:
    # At 49 samples and two modes Simpson's error in the residual of an exact solution is some 1e-7.
    table = verifier("F").assess(advected(LAB_GRID.t))
    place = view_index(table.views, 49, 2)
    assert 0 < table.residual[0, place] < 1e-6
    assert table.best[0, place] <= table.residual[0, place]


def test_truth_of_a_law_the_library_lacks_or_cannot_search_is_outside() -> None:
    assert true_signature(DEFAULT_LIBRARY, None) == OUTSIDE
    assert true_signature(parse_library(["u", "u_x", "u_xx"], 2), (0, 1, 2)) == OUTSIDE
    assert true_signature(DEFAULT_LIBRARY, (0,)) == 0


def test_nothing_to_assess_is_refused() -> None:
    with pytest.raises(InputError, match="no trajectory"):
        verifier("F").assess(np.zeros((0, 49, 64)))
    with pytest.raises(InputError, match="nothing changes"):
        verifier("F").assess(np.zeros((1, 49, 64)))
