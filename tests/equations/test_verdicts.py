"""Selection by parsimony and the order of the verdicts, on residuals written by hand."""

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.equations.library import all_supports
from counterproof.equations.verdicts import INCONCLUSIVE, OUTSIDE, Rule, select, signatures

SUPPORTS = all_supports(3, 2)  # (0) (1) (2) (01) (02) (12)


def squares(*rows: list[float]) -> np.ndarray:
    return np.array(rows).T ** 2


def test_smallest_nearly_best_support_is_selected() -> None:
    one = select(squares([0.5, 0.1049, 0.9, 0.1, 0.3, 0.2], [0.5, 0.116, 0.9, 0.1, 0.3, 0.2]), SUPPORTS, Rule())
    # .1049 is within 1.15 times the best, .116 is not.
    assert one.support.tolist() == [1, 3]
    assert one.best.tolist() == pytest.approx([0.1, 0.1])
    assert one.residual.tolist() == pytest.approx([0.1049, 0.1])
    # Rivals of a single term are single terms; rivals of a pair are all.
    assert one.gap.tolist() == pytest.approx([0.5 - 0.1049, 0.116 - 0.1])


def test_slack_holds_for_tiny_residuals() -> None:
    assert select(squares([0.0049, 0.5, 0.9, 0.0, 0.3, 0.2]), SUPPORTS, Rule()).support.tolist() == [0]


def test_a_lone_support_is_compared_with_the_empty_one() -> None:
    one = select(np.array([[0.09]]), all_supports(1, 1), Rule())
    assert one.gap.tolist() == pytest.approx([0.7])


def test_verdicts_follow_the_thresholds() -> None:
    rows = [
        [0.5, 0.11, 0.9, 0.12, 0.3, 0.2],  # identified: residual below tau, gap .39
        [0.5, 0.115, 0.5, 0.3, 0.3, 0.2],  # residual at tau: both could hold, identified is written last
        [0.5, 0.12, 0.5, 0.3, 0.3, 0.2],  # outside
        [0.5, 0.11, 0.16, 0.3, 0.3, 0.2],  # gap too small
    ]
    one = select(squares(*rows), SUPPORTS, Rule())
    assert signatures(one, np.ones(4), Rule()).tolist() == [1, 1, OUTSIDE, INCONCLUSIVE]
    assert signatures(one, np.full(4, 101.0), Rule()).tolist() == [INCONCLUSIVE, OUTSIDE, OUTSIDE, INCONCLUSIVE]


@pytest.mark.parametrize("bad", [{"tau": 0.0}, {"gamma": -1.0}, {"ratio": 0.9}, {"largest_condition": 0.5}])
def test_thresholds_out_of_range_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(InputError):
        Rule(**bad)
