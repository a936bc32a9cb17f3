"""Discrepancies: closed forms without data, and their medians on the lab's episodes."""

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.equations.discrepancies import nominal_discrepancies, own_discrepancies, reference_discrepancies
from counterproof.equations.draws import LAB_GRID, add_noise, draw
from counterproof.equations.library import DEFAULT_LIBRARY
from counterproof.equations.trajectories import trajectories
from counterproof.equations.views import lab_views, view_index
from counterproof.equations.weakform import build_weakform
from tests.equations.laboratory import EVERY_VIEW, verifier

VIEWS = lab_views()
A03 = view_index(VIEWS, 7, 5)


def test_closed_forms_at_seven_samples_and_five_modes() -> None:
    nominal = nominal_discrepancies(VIEWS)
    assert nominal.design[0, A03] == pytest.approx(0.183, abs=5e-4)
    assert nominal.target[0, A03] == pytest.approx(1.43, abs=5e-3)
    others = np.delete(np.arange(12), A03)
    assert nominal.target[0, others].max() < 0.06


def test_trapezoid_in_time_has_no_such_failure() -> None:
    assert nominal_discrepancies(VIEWS, "trapezoid").target[0, A03] < 0.7


def test_medians_over_the_lab_are_the_closed_forms() -> None:
    draws = [draw(family, seed) for family in range(5) for seed in range(40, 44)]
    u = add_noise(trajectories(draws), draws, 0.001)
    supports = [DEFAULT_LIBRARY.law_support(one.law.terms) or () for one in draws]
    for spatial in ("F", "B"):
        weakform = verifier(spatial).weakform
        found = reference_discrepancies(weakform, weakform.rows(u), supports)
        # Dynamics are slow over the window, so columns are nearly constant and u nearly linear in time.
        assert np.median(found.target[:, A03]) == pytest.approx(1.43, abs=0.01)
        assert np.median(found.design[:, A03]) == pytest.approx(0.183, abs=0.002)
        assert (found.target[:, -1] == 0).all()


def test_own_discrepancy_is_seen_without_the_reference() -> None:
    draws = [draw(1, 0)]
    u = trajectories(draws)
    one = verifier("F")
    other = build_weakform(LAB_GRID.t, DEFAULT_LIBRARY, one.weakform.tests, EVERY_VIEW, "trapezoid")
    found = own_discrepancies(one.weakform, other, u, one.assess(u))
    # The two closed forms differ by about 1 at A03 and by less than .06 on 25 samples.
    assert found.target[0, A03] > 0.8
    assert found.target[0, 8:12].max() < 0.06
    fewer = build_weakform(LAB_GRID.t, DEFAULT_LIBRARY, one.weakform.tests, VIEWS, "trapezoid")
    with pytest.raises(InputError, match="same views"):
        own_discrepancies(one.weakform, fewer, u, one.assess(u))
