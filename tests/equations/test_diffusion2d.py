"""The two-dimensional transfer: solver, contracts, admission, and what its score-maximiser gets wrong."""

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.equations.agreement import four_view_agreement
from counterproof.equations.diffusion2d import (
    FRAMES,
    Reaction,
    TransferResult,
    TransferStudy,
    add_reaction_noise,
    admission,
    contracts,
    reaction_fields,
    run_transfer,
    transfer_grams,
)
from counterproof.equations.scores import chosen_signatures, count, score_max
from counterproof.equations.verdicts import INCONCLUSIVE, OUTSIDE


@pytest.fixture(scope="module")
def transfer() -> TransferResult:
    return run_transfer(TransferStudy(tuple(range(12))))


def test_fixed_fine_view_is_right_on_every_episode(transfer: TransferResult) -> None:
    assert transfer.admission.is_admitted
    for one in transfer.contracts:
        found = count(chosen_signatures(one.permitted, 11), one.truth)
        assert (found.correct, found.wrong, found.inconclusive) == (36, 0, 0)


def test_every_false_identification_by_score_max_omits_diffusion(transfer: TransferResult) -> None:
    identified = 0
    for one in transfer.contracts:
        emitted = chosen_signatures(one.permitted, score_max(one.permitted))
        for signature in emitted[(emitted != one.truth) & (emitted >= 0)]:
            identified += 1
            assert "lap u" not in one.permitted.support_names(int(signature))
    assert identified > 0


def test_agreement_is_never_wrong_and_costs_coverage(transfer: TransferResult) -> None:
    found = [count(four_view_agreement(one.permitted), one.truth) for one in transfer.contracts]
    assert sum(one.wrong for one in found) == 0
    assert 0 < sum(one.inconclusive for one in found) < 180 / 2


def test_solver_keeps_what_the_equations_keep() -> None:
    # Without reaction in v's equation of a uniform field, v_t = u - v; a uniform start stays uniform.
    fields = reaction_fields([0], Reaction(cells=8))
    assert fields.shape == (1, 2, FRAMES, 8, 8)
    assert reaction_fields([0, 1], Reaction(cells=8))[:1].tobytes() == fields.tobytes()
    # No-flux walls: diffusion moves no mass, so d/dt mean(v) = mean(u) - mean(v), here by central differences.
    u, v = fields[0].astype(np.float64).mean(axis=(2, 3))
    dt = 5.0 / (FRAMES - 1)
    assert np.allclose((v[2:] - v[:-2]) / (2 * dt), (u - v)[1:-1], atol=2e-3)


def test_contracts_are_two_complete_and_three_omissions() -> None:
    found = contracts()
    assert [one.is_complete for one in found] == [True, True, False, False, False]
    assert [len(one.supports) for one in found][:2] == [62, 218]


def test_coefficients_of_the_true_terms_are_recovered() -> None:
    fields = add_reaction_noise(reaction_fields([3]), [3], 0.0)
    gram = transfer_grams(fields)[0, -1]
    used = [0, 1, 3, 4, 5]  # 1, u, u^3, v, lap u
    found = np.linalg.solve(gram[np.ix_(used, used)], gram[used, -1])
    assert found == pytest.approx([-5e-3, 1.0, -1.0, -1.0, 1e-3], rel=0.05, abs=1e-3)


def test_noise_belongs_to_the_seed() -> None:
    fields = reaction_fields([0, 1], Reaction(cells=8))
    noisy = add_reaction_noise(fields, [0, 1], 0.005)
    assert add_reaction_noise(fields[1:], [1], 0.005).tobytes() == noisy[1:].tobytes()
    assert not np.array_equal(noisy, fields)


@pytest.mark.parametrize(
    ("complete", "omission", "admitted"),
    [
        ([1.0, 0.0, 0.0], 1.0, True),
        ([0.96, 0.04, 0.0], 0.9, True),
        ([0.94, 0.06, 0.0], 1.0, False),  # below 95 % correct
        ([0.99, 0.0, 0.01], 1.0, False),  # a wrong definitive verdict
        ([1.0, 0.0, 0.0], 0.89, False),  # an omission that is not rejected often enough
    ],
)
def test_admission_gate(complete: list[float], omission: float, admitted: bool) -> None:
    full, without = contracts()[0], contracts()[2]
    right, left, wrong = (round(100 * share) for share in complete)
    said = np.array([full.truth] * right + [INCONCLUSIVE] * left + [OUTSIDE] * wrong)
    rejected = round(100 * omission)
    other = np.array([OUTSIDE] * rejected + [INCONCLUSIVE] * (100 - rejected))
    assert admission([(full, said), (without, other)]).is_admitted is admitted


def test_admission_needs_a_complete_contract() -> None:
    with pytest.raises(InputError, match="complete library"):
        admission([(contracts()[2], np.array([OUTSIDE]))])
    with pytest.raises(InputError, match="at least one seed"):
        reaction_fields([])


def test_transfer_of_900_episodes() -> None:
    result = run_transfer(TransferStudy(tuple(range(60))))
    assert result.admission.is_admitted
    fine = [count(chosen_signatures(one.permitted, 11), one.truth) for one in result.contracts]
    assert sum(one.correct for one in fine) == 900
    greedy = [count(chosen_signatures(one.permitted, score_max(one.permitted)), one.truth) for one in result.contracts]
    # Published 72; other trajectories, so a factor of two.
    assert 36 < sum(one.wrong for one in greedy) < 144
    assert sum(count(four_view_agreement(one.permitted), one.truth).wrong for one in result.contracts) == 0
