"""Names and positions of evidence views."""

import pytest

from counterproof.core.errors import InputError
from counterproof.equations.views import lab_views, reference_views, subsampled, view_index


def test_index_map_of_the_twelve_views() -> None:
    views = lab_views()
    assert len(views) == 12
    for position, count in enumerate((7, 13, 25)):
        for modes in range(2, 6):
            assert view_index(views, count, modes) == 4 * position + modes - 2
    named = {view.name: (view.samples, view.modes) for view in views}
    assert (named["A02"], named["A03"], named["A08"], named["A11"]) == ((7, 4), (7, 5), (25, 2), (25, 5))


def test_coarse_grids_are_every_eighth_fourth_and_second_time() -> None:
    assert [subsampled(48, n).stride for n in (7, 13, 25, 49)] == [8, 4, 2, 1]
    assert subsampled(48, 7).places.tolist() == [0, 8, 16, 24, 32, 40, 48]


def test_reference_views_show_all_times() -> None:
    assert {view.samples for view in reference_views()} == {49}


def test_a_count_that_does_not_divide_names_those_that_do() -> None:
    with pytest.raises(InputError, match=r"choose from \[2, 3, 4, 5, 7"):
        subsampled(48, 10)
    with pytest.raises(InputError, match="no view"):
        view_index(lab_views(), 7, 9)
