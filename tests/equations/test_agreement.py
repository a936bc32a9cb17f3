"""Agreement on signatures written by hand, and on the lab's episodes."""

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.equations.agreement import agreed, four_view_agreement, grid_groups
from counterproof.equations.scores import chosen_signatures, count
from counterproof.equations.verdicts import INCONCLUSIVE, OUTSIDE
from tests.equations.laboratory import study

GROUPS = [[0, 1], [2, 3]]


def test_groups_are_the_views_of_each_grid() -> None:
    assert grid_groups(study().permitted.views) == ((0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([5, 5, 5, 5], 5),
        ([5, 5, 5, 6], 5),
        ([5, 6, OUTSIDE, OUTSIDE], OUTSIDE),
        ([5, 6, 5, 6], INCONCLUSIVE),
        ([INCONCLUSIVE] * 4, INCONCLUSIVE),
        ([5, 5, 6, 6], 6),  # both eligible: the higher score decides
    ],
)
def test_a_group_decides_only_where_all_its_views_agree(said: list[int], expected: int) -> None:
    assert agreed(np.array([said]), np.array([[1.0, 2.0, 3.0, 0.0]]), GROUPS).tolist() == [expected]


def test_agreement_removes_nearly_all_wrong_verdicts_of_the_lab() -> None:
    result = study()
    found = count(four_view_agreement(result.permitted), result.truth)
    fine = count(chosen_signatures(result.permitted, 11), result.truth)
    assert found.wrong <= 2  # of 180; the published share is 3 of 1,800
    assert found.wrong <= fine.wrong
    assert found.coverage > 0.7


def test_no_group_is_refused() -> None:
    with pytest.raises(InputError, match="at least one group"):
        agreed(np.zeros((1, 1), dtype=np.int64), np.zeros((1, 1)), [])
