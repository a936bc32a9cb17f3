import math

import pytest

from counterproof.core.errors import InputError
from counterproof.core.outcomes import NotApplicable
from counterproof.panel.fixture_table import FixtureRow, fixture_rows, published_quantities


@pytest.fixture(scope="module")
def rows() -> dict[str, FixtureRow]:
    return {row.name: row for row in fixture_rows()}


def test_every_row_is_within_sampling_error_of_its_closed_form(rows: dict[str, FixtureRow]) -> None:
    assert {name: row.z for name, row in rows.items() if not abs(row.z) < 4} == {}


def test_every_published_figure_is_within_sampling_error_of_the_closed_form(rows: dict[str, FixtureRow]) -> None:
    stated = {name: row.published_z for name, row in rows.items() if not isinstance(row.published_z, NotApplicable)}
    assert len(stated) >= 12
    assert {name: z for name, z in stated.items() if not abs(z) < 2} == {}


@pytest.mark.parametrize(
    ("name", "ours", "error"),
    [
        # An independent program's means over the same keyed draws, to its four decimals.
        ("balanced accuracy of one view", 0.6459, 0.0044),
        ("balanced accuracy of majority-5", 0.7687, 0.0042),
        ("gain of majority-5", 0.1229, 0.0036),
        ("coverage at agreement .8", 0.4862, 0.0039),
        ("selective accuracy at agreement .8", 0.8904, 0.0028),
        ("gain at 65 % error", -0.1085, 0.0043),
        ("calls, exact-stop(label) k=5", 3.9924, 0.0060),
    ],
)
def test_the_draws_are_those_of_the_specification(
    rows: dict[str, FixtureRow], name: str, ours: float, error: float
) -> None:
    assert rows[name].ours == pytest.approx(ours, abs=5.1e-5)
    assert rows[name].error == pytest.approx(error, abs=5.1e-5)


def test_certain_rows_agree_exactly(rows: dict[str, FixtureRow]) -> None:
    for name in ("gain, common 1", "gain, copy-gate 1"):
        assert (rows[name].ours, rows[name].error, rows[name].z) == (0, 0, 0)


def test_a_certain_figure_that_is_missed_is_infinitely_far() -> None:
    copied = next(q for q in published_quantities() if q.name == "gain, copy-gate 1")
    from dataclasses import replace

    (row,) = fixture_rows([replace(copied, closed_form=0.1)], seeds=(0, 1))
    assert row.z == -math.inf


def test_one_replicate_is_refused() -> None:
    with pytest.raises(InputError, match="no standard error"):
        fixture_rows(fixtures=(1001,), seeds=(0,))
