import numpy as np
import pytest

from counterproof.core.outcomes import Abstained, Failed, NotQueried, Scored, TimedOut
from counterproof.rewards.batch import ERRORED, UNSCORED, batch_of
from counterproof.rewards.cells import Cell, cells_of
from tests.rewards.records import SETUP, F, L, U, decoded, made

CELLS = {cell.name: cell for cell in cells_of(SETUP)}


def test_candidates_lie_along_one_axis_with_their_owner_and_place() -> None:
    batch = batch_of([made((0.5, {}), (0.25, {"position": 1})), made(), made((-1.0, {"edit": 1, "flags": F}))], SETUP)
    assert batch.owner.tolist() == [0, 0, 2]
    assert batch.place.tolist() == [0, 1, 0]
    assert batch.edit.tolist() == [2, 2, 1]
    assert batch.position.tolist() == [0, 1, 0]
    assert batch.margin.tolist() == [0.5, 0.25, -1.0]
    assert batch.state.tolist() == [0, 0, 0]
    assert batch.stratum.tolist() == [L, L, F]


def test_deltas_are_detectors_of_the_edited_record_less_those_of_the_original() -> None:
    batch = batch_of([made((0.0, {"flags": L | U}), (0.0, {"flags": 0}), flags=U | 8)], SETUP)
    assert batch.deltas.tolist() == [[0, 1, 0, -1, 0, 0, 0], [-1, 0, 0, -1, 0, 0, 0]]


@pytest.mark.parametrize(
    ("original", "edited", "state"),
    [
        (Scored(1.0), Scored(0.0), 0),
        (Scored(1.0), Failed("no"), ERRORED),
        (Scored(1.0), TimedOut(1.0), ERRORED),
        (Failed("no"), Scored(0.0), ERRORED),
        (Failed("no"), Abstained(), ERRORED),
        (Abstained(), Scored(0.0), UNSCORED),
        (Scored(1.0), Abstained(), UNSCORED),
        (Scored(1.0), NotQueried(), UNSCORED),
    ],
)
def test_margin_needs_two_scores(original: Scored, edited: Scored, state: int) -> None:
    batch = batch_of([made((edited, {}), original=original)], SETUP)
    assert batch.state.tolist() == [state]
    assert batch.margin.tolist() == [1.0 if state == 0 else 0.0]
    assert np.all(batch.payments == 0)


def test_components_that_one_side_lacks_count_as_zero_and_the_rest_is_opaque() -> None:
    unit = decoded(
        made((0.0, {}), (0.0, {})),
        [
            Scored(3.0, (("x", 1.0), ("y", 2.0))),
            Scored(1.5, (("x", 0.25), ("z", 0.5))),
            Scored(2.0, (("y", 2.0), ("x", 1.0))),
        ],
    )
    batch = batch_of([unit], SETUP)
    assert batch.components == ("x", "y", "z")
    assert batch.payments.tolist() == [[0.75, 2.0, -0.5], [0.0, 0.0, 0.0]]
    # The first margin is 1.5, and its components explain .75 + 2 - .5 = 2.25 of it; the second is 1, unexplained.
    assert batch.margin.tolist() == [1.5, 1.0]
    assert batch.opaque.tolist() == [-0.75, 1.0]


def test_units_with_other_components_share_one_table() -> None:
    first = decoded(made((0.0, {})), [Scored(1.0, (("b", 1.0),)), Scored(0.0, (("b", 0.0),))])
    second = decoded(made((0.0, {})), [Scored(5.0, (("a", 5.0),)), Scored(2.0, (("a", 2.0),))])
    third = decoded(made((0.0, {})), [Scored(5.0), Scored(2.0)])
    batch = batch_of([first, second, third], SETUP)
    assert batch.components == ("a", "b")
    assert batch.payments.tolist() == [[0.0, 1.0], [3.0, 0.0], [0.0, 0.0]]
    assert batch.opaque.tolist() == [0.0, 0.0, 3.0]


def members(cell: Cell, **options: bool) -> list[int]:
    unit = made(
        (0.0, {"ranks": (("lexical", 0), ("bm25", 2))}),
        (0.0, {"ranks": (("bm25", 0),)}),
        (0.0, {"ranks": (("lexical", 7),), "strict": False}),
        (0.0, {"edit": 1, "flags": F, "ranks": (("only", 0),)}),
    )
    return batch_of([unit], SETUP).members(cell, **options).tolist()


def test_members_of_a_cell_lie_within_its_generator_and_budget() -> None:
    assert members(CELLS["launder/lexical@8"]) == [0, 2]
    assert members(CELLS["launder/lexical@8"], strict=True) == [0]
    assert members(CELLS["launder/bm25@1"]) == [1]
    assert members(CELLS["launder/bm25@2"]) == [1]
    assert members(CELLS["launder/bm25@4"]) == [0, 1]
    assert members(CELLS["fake_id"]) == [3]
    assert members(CELLS["same_final{U}"]) == []


def test_generator_that_proposed_nothing_in_a_batch_has_no_members() -> None:
    batch = batch_of([made((0.0, {"ranks": (("lexical", 0),)}))], SETUP)
    assert batch.members(CELLS["launder/bm25@16"]).tolist() == []


def test_strata_are_those_of_the_unit() -> None:
    one = {"edit": 0, "ranks": (("only", 0),), "flags": U}
    batch = batch_of([made((0.0, one), targets={0: U}), made((0.0, one | {"flags": U | L}))], SETUP)
    assert batch.members(CELLS["same_final{U}"]).tolist() == [0]
    assert batch.members(CELLS["same_final{UL}"]).tolist() == [1]


def test_batch_without_candidates_is_empty() -> None:
    for units in ([], [made()]):
        batch = batch_of(units, SETUP)
        assert batch.margin.shape == (0,)
        assert batch.deltas.shape == (0, 7)
        assert all(batch.members(cell).size == 0 for cell in CELLS.values())
