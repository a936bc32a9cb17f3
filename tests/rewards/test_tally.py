from typing import Any

import pytest

from counterproof.core.outcomes import Abstained, Failed, Scored, TimedOut
from counterproof.core.records import Trajectory
from counterproof.rewards.batch import ERRORED, FOOLED, RESISTED, UNSCORED
from counterproof.rewards.selection import Selector
from counterproof.rewards.tally import Column, Tally
from tests.rewards.records import SETUP, F, L, U, decoded, made, of_number, of_reward, record, tally_of

ONLY = {"ranks": (("only", 0),)}
SAME: dict[str, Any] = {"edit": 0, "flags": U | L, **ONLY}
FAKE: dict[str, Any] = {"edit": 1, "flags": F, **ONLY}


def column(tally: Tally, name: str, selector: Selector = Selector.ORACLE_WORST, **kind: bool) -> int:
    found = [
        i for i, one in enumerate(tally.columns) if one == Column(one.cell, selector, **kind) and one.cell.name == name
    ]
    (index,) = found
    return index


def counted(tally: Tally, index: int) -> dict[str, tuple[int, int]]:
    """Fooled and counted units, by question."""
    fooled = dict(zip(tally.fooled.keys(), tally.fooled.table()[:, index].tolist(), strict=True))
    units = dict(zip(tally.units.keys(), tally.units.table()[:, index].tolist(), strict=True))
    return {key: (fooled[key], number) for key, number in units.items() if number}


def test_units_are_counted_by_question() -> None:
    units = [
        made((-0.5, {}), trajectory_id="t1", cluster="q1"),
        made((0.5, {}), trajectory_id="t2", cluster="q1"),
        made((0.0, {}), trajectory_id="t3", cluster="q2"),
        made(trajectory_id="t4", cluster="q3"),
    ]
    tally = Tally(SETUP).add_all(units)
    index = column(tally, "launder/lexical@8")
    assert counted(tally, index) == {"q1": (1, 2), "q2": (1, 1)}
    assert tally.ties[index] == 1
    assert sorted(tally.margins[index]) == [-0.5, 0.0, 0.5]
    assert dict(tally.endings[index]) == {FOOLED: 2, RESISTED: 1, ERRORED: 0, UNSCORED: 0}
    assert tally.trajectories == 4


def test_units_without_a_verdict_enter_no_denominator() -> None:
    units = [made((Failed("no"), {})), made((Abstained(), {})), made((0.5, {}))]
    tally = Tally(SETUP).add_all(units)
    index = column(tally, "launder/lexical@8")
    assert counted(tally, index) == {"q1": (0, 1)}
    assert tally.endings[index] == {FOOLED: 0, RESISTED: 1, ERRORED: 1, UNSCORED: 1}
    assert list(tally.margins[index]) == [0.5]


def test_strict_columns_count_strictly_isolated_candidates_only() -> None:
    units = [made((-0.5, {"strict": False}), (0.5, {})), made((-0.5, {"strict": False}))]
    tally = Tally(SETUP).add_all(units)
    assert counted(tally, column(tally, "launder/lexical@8")) == {"q1": (2, 2)}
    assert counted(tally, column(tally, "launder/lexical@8", strict=True)) == {"q1": (0, 1)}


def test_common_columns_count_units_that_every_edit_can_attack() -> None:
    whole = made((1.0, SAME), (1.0, FAKE), (-0.5, {}))
    tally = Tally(SETUP).add_all([whole, made((-0.5, {}))])
    assert counted(tally, column(tally, "launder/lexical@8")) == {"q1": (2, 2)}
    assert counted(tally, column(tally, "launder/lexical@8", common=True)) == {"q1": (1, 1)}
    assert counted(tally, column(tally, "fake_id", common=True)) == {"q1": (0, 1)}


def test_calls_and_their_endings_are_counted() -> None:
    unit = made((Failed("no"), {}), (Failed("no"), {}), (Abstained(), {}), (TimedOut(1.0), {}), (0.5, {}))
    tally = Tally(SETUP).add_all([unit])
    assert (tally.calls, tally.failures) == (6, 3)
    assert tally.reasons == {"Failed: no": 2, "Abstained: returned None": 1, "TimedOut": 1}


def test_reads_are_the_union_over_all_calls() -> None:
    first = decoded(made((0.0, {})), [Scored(0.0, (), frozenset({"answer"}))] * 2)
    second = decoded(made((0.0, {})), [Scored(0.0, (), frozenset({"steps"})), Failed("no")])
    assert Tally(SETUP).add_all([first, second]).reads == {"answer", "steps"}


def test_incidence_counts_originals_by_detector() -> None:
    tally = Tally(SETUP).add_all([made(flags=L | U), made(flags=L, cluster="q2"), made()])
    assert tally.incidence.keys() == ("q1", "q2")
    assert tally.incidence.table().tolist() == [[1, 1, 0, 0, 0, 0, 0, 2], [0, 1, 0, 0, 0, 0, 0, 1]]


def test_funnel_counts_trajectories_and_candidates_by_stratum() -> None:
    records = [record(), record(citations=""), record(citations="c"), record(answer="", citations="")]
    tally = tally_of(records, of_number(lambda one: 0.0))
    stages = ("constructed", "eligible", "isolated", "strict")
    found = {
        key: (
            one["units"],
            [one[f"{stage} units"] for stage in stages],
            [one[f"{stage} candidates"] for stage in stages],
        )
        for key, one in tally.funnel.items()
    }
    assert found == {
        (0, U | L): (2, [2, 1, 1, 1], [2, 1, 1, 1]),
        (0, U): (2, [2, 1, 1, 1], [2, 1, 1, 1]),
        (1, 0): (4, [2, 2, 1, 1], [2, 2, 1, 1]),
        (2, 0): (4, [2, 1, 1, 1], [4, 2, 2, 2]),
    }


def test_ranking_ties_are_counted_by_generator() -> None:
    tally = tally_of([record(), record(citations="")], of_number(lambda one: 0.0))
    assert {key: dict(one) for key, one in tally.edge_ties.items()} == {
        (2, "lexical"): {"units": 1, "top": 0, "edge": 0},
        (2, "bm25"): {"units": 1, "top": 0, "edge": 0},
    }


def paid(tally: Tally, name: str = "launder/lexical@8") -> tuple[float, float, int, float, int]:
    one = tally.cancellation[column(tally, name)]
    return (one.penalty, one.payback, one.unpenalised, one.opaque, one.units)


def test_cancellation_by_hand() -> None:
    # The flag falls by 1 and the grounding rises by 3: margin -2, P 1, B 3. In the second nothing falls: P 0, B .5.
    first = decoded(
        made((0.0, {})), [Scored(3.0, (("flag", 0.0), ("g", 3.0))), Scored(5.0, (("flag", -1.0), ("g", 6.0)))]
    )
    second = decoded(
        made((0.0, {})), [Scored(0.0, (("flag", 0.0), ("g", 0.0))), Scored(0.5, (("flag", 0.0), ("g", 0.5)))]
    )
    tally = Tally(SETUP).add_all([first, second])
    assert paid(tally) == (1.0, 3.5, 1, 0.0, 2)
    total = tally.cancellation[column(tally, "launder/lexical@8")]
    assert (total.payers, total.penalties) == ({"flag": 0.0, "g": 3.5}, {"flag": 1.0, "g": 0.0})
    assert tally.movement == {"flag": 1.0, "g": 3.0}


def test_cancellation_of_a_laundered_citation_under_the_reference() -> None:
    # Cites a (support) and x = f (retrieved, no support) of support {a, d}; d was never retrieved and replaces f: the
    # mismatch flag goes (pays .55/7), L comes (costs .55/7), and g rises from 1/2 to 1 (pays .25 = 1/(2 + 2)).
    one = record((("who", "af"),), citations="af", support_ids=frozenset("ad"))
    tally = tally_of([one], of_reward("reference"))
    assert paid(tally) == pytest.approx((0.55 / 7, 0.55 / 7 + 0.25, 0, 0.0, 1), abs=1e-12)
    assert max(tally.margins[column(tally, "launder/lexical@8")]) == pytest.approx(-0.25, abs=1e-12)


def test_bare_number_has_only_a_residual() -> None:
    tally = tally_of([record()], of_number(lambda one: 1.0 if one.citations == ("b",) else 0.0))
    assert paid(tally) == (0.0, 0.0, 0, 1.0, 1)
    assert paid(tally_of([record()], of_number(lambda one: 0.0))) == (0.0, 0.0, 1, 0.0, 1)
    assert tally.movement == {}


def test_residual_is_what_the_components_do_not_explain() -> None:
    def score(one: Trajectory) -> dict[str, float]:
        return {"score": 5.0 if one.citations == ("b",) else 1.0, "part": 1.0 if one.citations == ("b",) else 0.0}

    assert paid(tally_of([record()], of_number(score))) == (1.0, 0.0, 0, 3.0, 1)


def test_three_worst_units_are_kept_as_examples_with_ties_by_name() -> None:
    margins = {"t5": 0.5, "t4": -1.0, "t3": 0.0, "t2": 0.0, "t1": 0.0, "t6": 2.0}
    units = [made((margin, {}), trajectory_id=name) for name, margin in margins.items()]
    for size in (1, 2, 6):
        tally = Tally(SETUP).add_all(units, size)
        kept = tally.examples[column(tally, "launder/lexical@8")]
        assert [(one.trajectory_id, one.margin) for one in kept] == [("t4", -1.0), ("t1", 0.0), ("t2", 0.0)]
        assert kept[0].outcomes == (Scored(0.0), Scored(1.0))


def test_smallest_margin_is_kept_for_each_edit_and_change_of_detectors() -> None:
    units = [made((-0.5, {}), (0.25, {}), (1.0, FAKE)), made((-0.75, {"flags": 0}), (0.5, FAKE), (Failed("x"), {}))]
    assert Tally(SETUP).add_all(units).groups == {
        ("launder", (0, 1, 0)): -0.5,
        ("launder", (0, 0, 0)): -0.75,
        ("fake_id", (0, 0, 1)): 0.5,
    }


def test_lattice_counts_are_by_cell_and_subset() -> None:
    tally = Tally(SETUP).add_all([made((-0.5, {}), cluster="q1"), made((-1.5, {}), cluster="q2")])
    place = [cell.name for cell in tally.cells].index("launder/lexical@8")
    fooled = tally.lattice_fooled.table().reshape(2, len(tally.cells), 8)[:, place]
    assert fooled.tolist() == [[1, 1, 0, 0, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1, 1, 1]]
    assert tally.lattice_units.table().reshape(2, len(tally.cells), 8)[:, place].tolist() == [[1] * 8] * 2


def test_batches_of_any_size_give_the_same_counts() -> None:
    units = [made((float(i % 3 - 1), {}), (0.5, FAKE), trajectory_id=f"t{i}", cluster=f"q{i % 4}") for i in range(11)]
    whole = Tally(SETUP).add_all(units)
    for size in (1, 3, 11):
        other = Tally(SETUP).add_all(units, size)
        assert (other.fooled, other.units, other.lattice_fooled) == (whole.fooled, whole.units, whole.lattice_fooled)
        assert (other.groups, other.examples, other.calls) == (whole.groups, whole.examples, whole.calls)


def test_nothing_added_is_nothing_counted() -> None:
    tally = Tally(SETUP).add_all([])
    assert (tally.trajectories, tally.calls, len(tally.fooled)) == (0, 0, 0)
