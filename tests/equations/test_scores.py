"""The public score on the published worked case, score-max, and retuning."""

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.equations.library import DEFAULT_LIBRARY
from counterproof.equations.scores import ScoreRule, chosen_signatures, count, retune, score_max, scores
from counterproof.equations.verdicts import INCONCLUSIVE, OUTSIDE
from counterproof.equations.verifier import ViewTable
from counterproof.equations.views import lab_views
from tests.equations.laboratory import study


def cells(signature: list[int], best: list[float], gap: list[float], condition: list[float]) -> ViewTable:
    residual, lead, number = (np.array([one]) for one in (best, gap, condition))
    said = np.array([signature])
    views = lab_views()[: len(best)]
    names, supports = DEFAULT_LIBRARY.names, DEFAULT_LIBRARY.supports
    return ViewTable(views, names, supports, residual, residual, np.maximum(said, 0), lead, number, said)


def test_worked_case() -> None:
    table = cells([OUTSIDE, 34, INCONCLUSIVE], [0.953, 0.006, 0.2], [0.009, 0.452, 0.0], [1.528, 1.528, 10.0])
    first, second, third = scores(table)[0]
    assert first == pytest.approx(13.775, abs=0.0055)  # published 13.77, at three digits of the residual
    assert second == pytest.approx(10.87, abs=0.005)
    assert third == pytest.approx(-0.2)
    assert score_max(table).tolist() == [0]


def test_a_rejection_outscores_every_identification_once_its_residual_exceeds_a_quarter() -> None:
    for residual in (0.2501, 0.3, 0.95, 1.0):
        table = cells([34, OUTSIDE], [0.001, residual], [100.0, 0.0], [7.0, 7.0])
        assert scores(table)[0, 1] > scores(table)[0, 0]
    table = cells([34, OUTSIDE], [0.001, 0.2499], [100.0, 0.0], [7.0, 7.0])
    assert scores(table)[0, 1] < scores(table)[0, 0]


def test_ties_go_to_the_first_view() -> None:
    table = cells([34, 34], [0.01, 0.01], [0.3, 0.3], [2.0, 2.0])
    assert score_max(table).tolist() == [0]


def test_score_max_picks_the_seven_by_five_view_for_every_episode() -> None:
    result = study()
    table = result.permitted
    paid = scores(table)
    assert (score_max(table) == 3).all()
    assert paid[:, 3].min() > 13.74
    assert paid[table.signature >= 0].max() <= 11.0
    emitted = chosen_signatures(table, score_max(table))
    inside = result.truth >= 0
    assert count(emitted[inside], result.truth[inside]).wrong == inside.sum() == 150
    assert count(emitted[~inside], result.truth[~inside]).correct == 30


def test_retuning_never_repairs_the_score() -> None:
    result = study()
    found = retune(result.permitted, result.truth)
    assert found.wrong.shape == (21, 21)
    s_r, s_g, wrong = found.best
    assert 0 < wrong < 60
    assert s_r >= 1.2
    assert s_g == pytest.approx(0.005)
    for a, b in ((0, 0), (5, 7), (20, 20)):
        rule = ScoreRule(s_r=float(found.s_r[a]), s_g=float(found.s_g[b]))
        emitted = chosen_signatures(result.permitted, score_max(result.permitted, rule))
        assert found.wrong[a, b] == count(emitted, result.truth).wrong


def test_counts_and_coverage() -> None:
    found = count(np.array([1, 2, INCONCLUSIVE, OUTSIDE]), np.array([1, 1, 1, OUTSIDE]))
    assert (found.correct, found.wrong, found.inconclusive, found.coverage) == (2, 1, 1, 0.75)


def test_scales_must_be_positive() -> None:
    with pytest.raises(InputError, match="positive"):
        ScoreRule(s_r=0.0)
