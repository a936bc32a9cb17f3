import dataclasses
import math
from collections.abc import Sequence

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.core.outcomes import Abstained, Failed
from counterproof.rewards.batch import batch_of
from counterproof.rewards.cells import cells_of, set_up
from counterproof.rewards.detectors import DETECTORS
from counterproof.rewards.lattice import DELTA, Delta, Need, endings, lattice_of, least_weights, minimal_subsets
from counterproof.rewards.units import Unit
from tests.rewards.records import ALL, SETUP, made

CELL = next(cell for cell in cells_of(SETUP) if cell.name == "launder/lexical@8")


def test_lattice_holds_every_subset_of_the_weighted_detectors() -> None:
    lattice = lattice_of(SETUP)
    assert lattice.names == ("U", "L", "F")
    assert lattice.weights.tolist() == [1.6, 1.2, 1.0]
    assert [lattice.label(subset) for subset in range(8)] == [
        "{}",
        "{U}",
        "{L}",
        "{U,L}",
        "{F}",
        "{U,F}",
        "{L,F}",
        "{U,L,F}",
    ]
    assert lattice.subsets.shape == (8, 3)
    assert lattice.subsets[5].tolist() == [1.0, 0.0, 1.0]


def test_lattice_without_weights_is_the_reward_as_it_is() -> None:
    bare = tuple(dataclasses.replace(one, weight=None) for one in DETECTORS)
    lattice = lattice_of(set_up(ALL, detectors=bare))
    assert (lattice.names, lattice.subsets.shape, lattice.label(0)) == ((), (1, 0), "{}")
    unit = made((-0.5, {}))
    _, fooled, _ = endings(batch_of([unit], SETUP), CELL, lattice)
    assert fooled.tolist() == [[True]]


def test_more_than_twelve_weights_are_refused() -> None:
    many = tuple(dataclasses.replace(DETECTORS[0], name=f"d{i}") for i in range(13))
    with pytest.raises(InputError, match=r"2\^13 cells.*weight=None"):
        lattice_of(set_up(ALL, detectors=many))


def row(units: Sequence[Unit], subset: int) -> tuple[list[int], list[bool], list[bool]]:
    owners, fooled, resisted = endings(batch_of(units, SETUP), CELL, lattice_of(SETUP))
    return owners.tolist(), fooled[:, subset].tolist(), resisted[:, subset].tolist()


def test_penalty_on_the_broken_detector_turns_success_into_resistance() -> None:
    # Margin -1 and L turned on: the penalty of 1.2 on L makes it .2, the one of 1.0 on F nothing.
    units = [made((-1.0, {})), made((-1.25, {})), made()]
    assert row(units, 0b000) == ([0, 1], [True, True], [False, False])
    assert row(units, 0b010) == ([0, 1], [False, True], [True, False])
    assert row(units, 0b100) == ([0, 1], [True, True], [False, False])


def test_penalty_on_a_detector_that_the_edit_turns_off_lowers_the_margin() -> None:
    units = [made((0.5, {"flags": 0b010}), flags=0b100)]
    assert row(units, 0b010) == ([0], [False], [True])
    assert row(units, 0b100) == ([0], [True], [False])
    assert row(units, 0b110) == ([0], [False], [True])  # .5 + 1.2 - 1.0


def test_worst_candidate_is_found_anew_for_every_subset() -> None:
    # Without a penalty the first is worst (-1); with one on L it is closed and the second, which L misses, opens.
    units = [made((-1.0, {}), (-0.5, {"flags": 0b000}))]
    assert row(units, 0b010) == ([0], [True], [False])
    units = [made((-1.0, {}), (0.5, {"flags": 0b000}))]
    assert row(units, 0b010) == ([0], [False], [True])


@pytest.mark.parametrize("missing", [Failed("no"), Abstained()])
def test_unit_with_a_missing_verdict_is_fooled_or_nothing(missing: Failed | Abstained) -> None:
    units = [made((-1.0, {}), (missing, {})), made((1.0, {}), (missing, {})), made((missing, {}))]
    assert row(units, 0b000) == ([0, 1, 2], [True, False, False], [False, False, False])
    assert row(units, 0b010) == ([0, 1, 2], [False, False, False], [False, False, False])


def test_tie_is_success_in_every_subset() -> None:
    assert row([made((-1.2, {}))], 0b010) == ([0], [True], [False])
    assert row([made((-1.2 + 1e-6, {}))], 0b010) == ([0], [False], [True])


def test_no_unit_no_rows() -> None:
    owners, fooled, resisted = endings(batch_of([made()], SETUP), CELL, lattice_of(SETUP))
    assert (owners.shape, fooled.shape, resisted.shape) == ((0,), (0, 8), (0, 8))


@pytest.mark.parametrize(
    ("sufficient", "expected"),
    [
        ([True] * 8, (0,)),
        ([False] * 8, ()),
        # {L} and {U, F} suffice, and so do all that hold {L}.
        ([False, False, True, True, False, True, True, True], (0b010, 0b101)),
        # Not monotone: {U} suffices and {U, L} does not; {L, F} is minimal since neither {L} nor {F} nor {} suffices.
        ([False, True, False, False, False, False, True, False], (0b001, 0b110)),
        ([False] * 7 + [True], (0b111,)),
        ([True], (0,)),
    ],
)
def test_minimal_subsets_are_sufficient_and_have_no_sufficient_proper_subset(
    sufficient: list[bool], expected: tuple[int, ...]
) -> None:
    assert minimal_subsets(sufficient) == expected


def test_least_weight_of_one_detector_lifts_the_worst_success_to_delta() -> None:
    groups: dict[tuple[str, Delta], float] = {
        ("launder", (0, 1, 0)): -1 / 3,
        ("same_final", (1, 1, 0)): -0.0214,
        ("fake_id", (0, 0, 1)): 0.0786,
    }
    found = {one.detector: one for one in least_weights(groups, ("U", "L", "F"))}
    assert found["L"].weight == pytest.approx(1 / 3 + DELTA, rel=1e-12)
    assert found["L"].binding == "launder"
    # U never fires on a laundered citation, F on neither.
    assert found["U"] == Need("U", None, "launder")
    assert found["F"].weight is None


def test_no_success_needs_no_weight() -> None:
    assert least_weights({("fake_id", (0, 0, 1)): 0.0786}, ("U", "L", "F")) == tuple(Need(n, 0.0, "") for n in "ULF")
    assert least_weights({}, ("L",)) == (Need("L", 0.0, ""),)


def test_tie_needs_delta() -> None:
    assert least_weights({("launder", (1,)): 0.0}, ("L",)) == (Need("L", DELTA, "launder"),)


def test_detector_that_falls_under_another_edit_has_a_ceiling() -> None:
    # L must reach .5; the swap keeps a margin of .4 only while lambda stays below .4.
    assert least_weights({("a", (1,)): -0.5, ("swap", (-1,)): 0.4}, ("L",))[0].weight is None
    found = least_weights({("a", (1,)): -0.5, ("swap", (-1,)): 0.6}, ("L",))[0]
    assert found.weight == pytest.approx(0.5 + DELTA)


def test_detector_that_falls_under_a_success_cannot_close_it() -> None:
    assert least_weights({("swap", (-1,)): -0.1}, ("L",)) == (Need("L", None, "swap"),)


@pytest.mark.parametrize("seed", range(6))
def test_least_weight_agrees_with_a_scan(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(50):
        groups = {
            (f"e{i}", tuple(int(d) for d in rng.integers(-1, 2, size=2))): float(rng.integers(-8, 9)) / 8
            for i in range(rng.integers(1, 5))
        }
        for index, need in enumerate(least_weights(groups, ("A", "B"))):

            def closes(weight: float, index: int = index, groups: dict = groups) -> bool:
                return all(worst + weight * delta[index] > 1e-9 for (_, delta), worst in groups.items())

            # Margins are eighths, so that what closes at all closes at a point of this grid (just above an eighth).
            scan = next((w for w in np.arange(0, 3, 1 / 8) + 2e-6 if closes(w)), math.inf)
            if need.weight is None:
                assert scan == math.inf
            else:
                assert scan - need.weight == pytest.approx(0.0, abs=3e-6)
                assert closes(need.weight)
