from typing import Any

import pytest

from counterproof.core.analysis import Table
from counterproof.core.outcomes import Abstained, Failed
from counterproof.core.seeds import ItemSeed
from counterproof.rewards import tables
from counterproof.rewards.attacks import attack_rates
from counterproof.rewards.repair import repair_of
from counterproof.rewards.tally import Tally
from counterproof.rewards.units import Unit
from tests.rewards.records import SETUP, F, L, U, made, of_reward, record, tally_of

ONLY = {"ranks": (("only", 0),)}
FAKE: dict[str, Any] = {"edit": 1, "flags": F, **ONLY}
UNITS = [
    made((-0.5, {}), (0.5, FAKE), trajectory_id="t1", cluster="q1", flags=L),
    made((0.5, {}), (0.25, FAKE), trajectory_id="t2", cluster="q1", flags=U | L),
    made((0.0, {"strict": False}), trajectory_id="t3", cluster="q2"),
    made((Failed("no"), {}), (Abstained(), FAKE), trajectory_id="t4", cluster="q3"),
]


def rows(table: Table) -> list[dict[str, Any]]:
    assert all(len(row) == len(table.columns) for row in table.rows)
    assert table.formats.keys() <= set(table.columns)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def tally(units: list[Unit] | None = None) -> Tally:
    return Tally(SETUP).add_all(UNITS if units is None else units)


def test_attack_table_shows_counts_ties_failures_and_margins() -> None:
    found = rows(tables.attack_table(attack_rates(tally(), ItemSeed(0, "x"), 100)))
    assert len(found) == 9 * 3
    worst = {row["attack"]: row for row in found if row["selector"] == "oracle_worst"}
    one = worst["launder/lexical@8"]
    assert (one["ASR"], one["fooled"], one["units"], one["questions"]) == (pytest.approx(2 / 3), 2, 3, 2)
    assert (one["ties"], one["errored"], one["no verdict"]) == (1, 1, 0)
    assert (one["margin median"], one["margin worst"]) == (0.0, -0.5)
    none = worst["same_final{U}"]
    assert (none["ASR"], none["lower"], none["units"], none["margin worst"]) == (None, None, 0, None)
    assert worst["fake_id"]["no verdict"] == 1


def test_strictness_table_sets_the_three_sets_of_units_side_by_side() -> None:
    found = rows(tables.strictness_table(attack_rates(tally(), ItemSeed(0, "x"), 100)))
    units = {row["units counted"]: row["units"] for row in found if row["attack"] == "launder/lexical@8"}
    assert units == {"isolated": 3, "strictly isolated": 2, "common to all attacks": 0}


def test_funnel_table_has_a_row_for_each_stratum() -> None:
    pool = [record(), record(citations=""), record(citations="c")]
    found = {row["edit"]: row for row in rows(tables.funnel_table(tally_of(pool, of_reward("constant"))))}
    assert found.keys() == {"same_final{U}", "same_final{UL}", "fake_id", "launder"}
    assert [found["launder"][name] for name in ("trajectories", "constructible", "eligible", "isolated")] == [
        3,
        2,
        1,
        1,
    ]
    assert found["launder"]["candidates made"] == 4
    assert found["same_final{UL}"]["trajectories"] == 2


def test_lattice_and_weight_tables_show_what_suffices() -> None:
    one = tally([made((-0.5, {}), (0.5, FAKE)), made((0.0, {}), cluster="q2")])
    repair = repair_of(one)
    found = {row["penalties added"]: row for row in rows(tables.lattice_table(repair, one))}
    assert (found["{}"]["launder/lexical@8"], found["{L}"]["launder/lexical@8"]) == (2, 0)
    assert [name for name, row in found.items() if row["inclusion-minimal"]] == ["{L}"]
    assert [name for name, row in found.items() if row["sufficient"]] == ["{L}", "{U,L}", "{L,F}", "{U,L,F}"]
    weights = {row["detector"]: row for row in rows(tables.weight_table(repair, one))}
    assert weights["L"]["least sufficient weight"] == pytest.approx(0.5, abs=2e-6)
    assert (weights["F"]["least sufficient weight"], weights["F"]["weight used"]) == (None, 1.0)
    assert weights["F"]["set by (or cannot close)"] == "launder"


def test_cancellation_table_shows_means_ratio_and_top_payer() -> None:
    one = record((("who", "af"),), citations="af", support_ids=frozenset("ad"))
    found = {row["attack"]: row for row in rows(tables.cancellation_table(tally_of([one], of_reward("reference"))))}
    flag = 0.55 / 7
    assert found["launder/lexical@8"] == {
        "attack": "launder/lexical@8",
        "units": 1,
        "penalty P": pytest.approx(flag),
        "payback B": pytest.approx(flag + 0.25),
        "B/P": pytest.approx((flag + 0.25) / flag),
        "top payer": "grounding",
        "units without penalty": 0,
        "largest residual": pytest.approx(0.0, abs=1e-12),
    }
    # Two flags cost, one search pays.
    assert found["same_final{UL}"]["B/P"] == pytest.approx(0.02 / (2 * flag))
    assert found["same_final{UL}"]["top payer"] == "searches"


def test_no_penalty_means_no_ratio() -> None:
    found = rows(tables.cancellation_table(tally_of([record()], of_reward("constant"))))
    assert {(row["B/P"], row["top payer"], row["units without penalty"]) for row in found} == {(None, None, 1)}


def test_incidence_table_has_exact_bounds_over_questions() -> None:
    found = {row["detector"]: row for row in rows(tables.incidence_table(tally()))}
    assert (found["L"]["trajectories"], found["L"]["of"], found["L"]["questions with any"]) == (2, 4, 1)
    # One of three questions, Clopper-Pearson: lower 1 - .975^(1/3).
    assert found["L"]["lower"] == pytest.approx(1 - 0.975 ** (1 / 3))
    assert found["F"]["questions with any"] == 0


def test_outcome_table_counts_calls() -> None:
    found = {row["outcome"]: row["calls"] for row in rows(tables.outcome_table(tally()))}
    assert found == {"scored": 9, "Failed: no": 1, "Abstained: returned None": 1}


def test_movement_table_names_blind_spots() -> None:
    found = {row["component"]: row for row in rows(tables.movement_table(tally_of([record()], of_reward("reference"))))}
    assert found["answer"]["blind spot"]
    assert not found["flag_F"]["blind spot"]
    assert found["flag_F"]["largest change"] == pytest.approx(0.55 / 7)


def test_model_table_counts_each_model_by_itself() -> None:
    by_model = {"m1": tally(UNITS[:2]), "m0": tally(UNITS[2:])}
    found = [row for row in rows(tables.model_table(by_model)) if row["attack"] == "launder/lexical@8"]
    assert [(row["model"], row["fooled"], row["units"], row["questions with any"]) for row in found] == [
        ("m0", 1, 1, 1),
        ("m1", 1, 2, 1),
    ]


def test_tables_of_nothing_are_empty_or_say_nothing() -> None:
    empty = tally([])
    assert tables.cancellation_table(empty).rows == ()
    assert tables.funnel_table(empty).rows == ()
    assert tables.ties_table(empty).rows == ()
    assert rows(tables.incidence_table(empty))[0]["lower"] is None
    assert rows(tables.outcome_table(empty)) == [{"outcome": "scored", "calls": 0}]
    assert len(tables.lattice_table(repair_of(empty), empty).rows) == 8


def test_ties_table_shows_shares_of_trajectories() -> None:
    found = rows(tables.ties_table(tally_of([record()], of_reward("constant"))))
    assert [(row["generator"], row["trajectories"], row["tie at the top"]) for row in found] == [
        ("launder/bm25", 1, 0.0),
        ("launder/lexical", 1, 0.0),
    ]
