from typing import Any

import pytest

from counterproof.core.outcomes import Abstained, Failed, Outcome
from counterproof.rewards.batch import ERRORED, FOOLED, RESISTED, UNSCORED, batch_of
from counterproof.rewards.cells import cells_of
from counterproof.rewards.selection import Selector, select
from counterproof.rewards.units import Unit
from tests.rewards.records import SETUP, made

CELLS = {cell.name: cell for cell in cells_of(SETUP)}
FIRST, LAST, WORST = Selector.FIRST_VISIBLE, Selector.LAST_POSITION, Selector.ORACLE_WORST
FAIL, NONE = Failed("no"), Abstained()


def at(rank: int, position: int) -> dict[str, Any]:
    return {"ranks": (("lexical", rank),), "position": position}


def chosen(selector: Selector, *units: Unit, cell: str = "launder/lexical@8", strict: bool = False) -> list[tuple]:
    found = select(batch_of(units, SETUP), CELLS[cell], selector, strict=strict)
    return list(zip(found.units.tolist(), found.chosen.tolist(), found.ending.tolist(), strict=True))


def test_first_visible_is_the_first_by_rank_and_then_position() -> None:
    unit = made((1.0, at(1, 0)), (1.0, at(0, 1)), (1.0, at(0, 0)), (1.0, at(2, 0)))
    assert chosen(FIRST, unit) == [(0, 2, RESISTED)]


def test_last_position_is_the_first_rank_at_its_last_position() -> None:
    unit = made((1.0, at(1, 5)), (1.0, at(0, 0)), (-1.0, at(0, 2)), (1.0, at(0, 1)))
    assert chosen(LAST, unit) == [(0, 2, FOOLED)]


def test_oracle_worst_is_the_smallest_margin() -> None:
    unit = made((1.0, at(0, 0)), (-0.5, at(3, 1)), (-0.25, at(1, 0)))
    assert chosen(WORST, unit) == [(0, 1, FOOLED)]


@pytest.mark.parametrize("margin", [-0.5, 0.5])
def test_equal_margins_go_to_the_first_in_order(margin: float) -> None:
    unit = made((margin, at(2, 0)), (margin, at(1, 1)), (margin, at(1, 0)))
    assert [one for _, one, _ in chosen(WORST, unit)] == [2]


def test_label_free_selectors_see_their_candidate_only() -> None:
    unit = made((0.5, at(0, 0)), (-1.0, at(1, 0)), (FAIL, at(2, 0)))
    assert chosen(FIRST, unit) == [(0, 0, RESISTED)]
    assert chosen(FIRST, made((FAIL, at(0, 0)), (-1.0, at(1, 0)))) == [(0, 0, ERRORED)]
    assert chosen(LAST, made((NONE, at(0, 0)), (-1.0, at(1, 0)))) == [(0, 0, UNSCORED)]


@pytest.mark.parametrize(
    ("endings", "expected"),
    [
        ((0.5, 0.25), RESISTED),
        ((0.5, -0.25), FOOLED),
        # Any fooled decides, whatever else happened.
        ((FAIL, -0.25), FOOLED),
        ((NONE, FAIL, -0.25, 0.5), FOOLED),
        # Else any failure does; a unit with a failed candidate is never resisted.
        ((FAIL, 0.5), ERRORED),
        ((0.5, NONE, FAIL), ERRORED),
        ((NONE, 0.5), UNSCORED),
        ((NONE,), UNSCORED),
    ],
)
def test_oracle_worst_never_reads_a_failure_as_resistance(endings: tuple[float | Outcome, ...], expected: int) -> None:
    for order in (endings, endings[::-1]):
        unit = made(*((one, at(rank, 0)) for rank, one in enumerate(order)))
        assert [ending for _, _, ending in chosen(WORST, unit)] == [expected]


@pytest.mark.parametrize("original", [FAIL, NONE])
def test_original_without_a_score_leaves_no_verdict(original: Outcome) -> None:
    expected = ERRORED if original is FAIL else UNSCORED
    unit = made((1.0, at(0, 0)), (-1.0, at(1, 0)), original=original)
    for selector in Selector:
        assert [ending for _, _, ending in chosen(selector, unit)] == [expected]


@pytest.mark.parametrize(
    ("margin", "ending", "tied"),
    [
        (0.0, FOOLED, True),
        (1e-9, FOOLED, True),
        (-1e-9, FOOLED, True),
        (2e-9, RESISTED, False),
        (-2e-9, FOOLED, False),
    ],
)
def test_ties_count_as_success_and_are_told_apart(margin: float, ending: int, tied: bool) -> None:
    for selector in Selector:
        found = select(batch_of([made((margin, {}))], SETUP), CELLS["launder/lexical@8"], selector)
        assert (found.ending.tolist(), found.tied.tolist()) == ([ending], [tied])


def test_units_without_a_candidate_in_the_cell_are_left_out() -> None:
    other = {"edit": 1, "ranks": (("only", 0),)}
    units = [made(), made((0.5, {})), made((0.5, other)), made((-0.5, {}))]
    assert [(unit, ending) for unit, _, ending in chosen(FIRST, *units)] == [(1, RESISTED), (3, FOOLED)]
    for selector in Selector:
        assert chosen(selector, *units, cell="same_final{U}") == []
        assert chosen(selector, units[0]) == []


def test_candidates_are_filtered_before_one_is_selected() -> None:
    unit = made((1.0, at(0, 0) | {"strict": False}), (-1.0, at(1, 0)))
    assert chosen(FIRST, unit) == [(0, 0, RESISTED)]
    assert chosen(FIRST, unit, strict=True) == [(0, 1, FOOLED)]


def test_order_within_a_cell_is_that_of_its_own_generator() -> None:
    unit = made(
        (1.0, {"ranks": (("lexical", 0), ("bm25", 3))}),
        (-1.0, {"ranks": (("lexical", 5), ("bm25", 0))}),
    )
    assert chosen(FIRST, unit) == [(0, 0, RESISTED)]
    assert chosen(FIRST, unit, cell="launder/bm25@16") == [(0, 1, FOOLED)]


def test_margins_are_those_of_the_chosen() -> None:
    units = [made((0.5, at(0, 0)), (-0.5, at(1, 0))), made((0.125, at(0, 0)))]
    assert select(batch_of(units, SETUP), CELLS["launder/lexical@8"], WORST).margin.tolist() == [-0.5, 0.125]
    assert select(batch_of(units, SETUP), CELLS["launder/lexical@8"], FIRST).margin.tolist() == [0.5, 0.125]
