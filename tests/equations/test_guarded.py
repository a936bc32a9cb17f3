"""The guarded score: demotion only, never better for a larger error, and better coverage than agreement."""

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.equations.agreement import four_view_agreement
from counterproof.equations.draws import LAB_GRID, add_noise
from counterproof.equations.episodes1d import Lab, run_lab
from counterproof.equations.guarded import guarded_choice, guarded_scores, guarded_signatures, measurement_error
from counterproof.equations.scores import count, scores
from counterproof.equations.trajectories import trajectories
from counterproof.equations.verdicts import INCONCLUSIVE
from counterproof.equations.views import lab_views
from tests.equations.laboratory import study


def error_of(lab: Lab) -> np.ndarray:
    """Errors of every episode in the order of `run_lab`, on the permitted views."""
    draws = lab.draws()
    clean = trajectories(draws, lab.implementation, lab.grid)
    found = []
    for spatial in lab.sets:
        one = lab.verifier(spatial)
        for level in lab.noise:
            u = add_noise(clean, draws, level)
            found.append(measurement_error(one, LAB_GRID.t, u, one.assess(u)))
    return np.concatenate(found)[:, : len(lab.views)]


def test_without_error_the_score_pays_what_the_public_one_pays() -> None:
    table = study().permitted
    zero = np.zeros(table.best.shape)
    assert (guarded_signatures(table, zero) == table.signature).all()
    assert np.allclose(guarded_scores(table, zero), scores(table))


def test_a_larger_error_never_scores_more_and_only_demotes() -> None:
    table = study().permitted
    before = guarded_scores(table, np.zeros(table.best.shape))
    for error in (0.01, 0.05, 0.2, 2.0):
        now = guarded_scores(table, np.full(table.best.shape, error))
        assert (now <= before + 1e-12).all()
        before = now
        kept = guarded_signatures(table, np.full(table.best.shape, error))
        assert ((kept == table.signature) | (kept == INCONCLUSIVE)).all()
    assert (kept == INCONCLUSIVE).all()


def test_maximising_the_guarded_score_is_nearly_always_right() -> None:
    lab = Lab(tuple(range(700, 705)))
    result = run_lab(lab)
    _, emitted = guarded_choice(result.permitted, error_of(lab))
    found = count(emitted, result.truth)
    agreement = count(four_view_agreement(result.permitted), result.truth)
    assert found.wrong <= 3  # of 180, where the public score gives 150
    assert found.coverage >= agreement.coverage


def test_samples_too_few_to_see_a_mode_are_no_evidence() -> None:
    # Five samples see the fourth sine as zero under any rule; only the nominal error shows that.
    lab = Lab((700,), families=(0, 1), noise=(0.0,), views=lab_views(48, (5,), (3, 4, 5, 8)))
    result = run_lab(lab)
    assert (guarded_signatures(result.permitted, error_of(lab))[:, 1:] == INCONCLUSIVE).all()


def test_errors_must_fit_the_table() -> None:
    table = study().permitted
    with pytest.raises(InputError, match="at least 0"):
        guarded_scores(table, np.full(table.best.shape, -1.0))
    with pytest.raises(InputError, match="shape"):
        guarded_scores(table, np.zeros(3))
