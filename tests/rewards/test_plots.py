from counterproof.core.seeds import ItemSeed
from counterproof.rewards.attacks import attack_rates
from counterproof.rewards.plots import POINTS, charts_of
from counterproof.rewards.repair import repair_of
from counterproof.rewards.tally import Tally
from counterproof.rewards.units import Unit
from tests.rewards.records import SETUP, made


def charts(units: list[Unit]) -> dict[str, list[dict]]:
    tally = Tally(SETUP).add_all(units)
    rates = attack_rates(tally, ItemSeed(0, "x"), 50)
    return {one.name: [dict(row) for row in one.rows] for one in charts_of(rates, repair_of(tally), tally)}


def ranked(rank: int) -> dict[str, object]:
    return {"ranks": (("lexical", rank), ("bm25", rank))}


UNITS = [
    made((0.5, ranked(0)), (-0.5, ranked(3)), cluster="q1"),
    made((0.25, ranked(0)), cluster="q2"),
]


def test_margins_are_an_empirical_distribution_of_the_worst() -> None:
    rows = [row for row in charts(UNITS)["margins"] if row["series"] == "launder/lexical@8"]
    assert [(row["x"], row["y"]) for row in rows] == [(-0.5, 0.5), (0.25, 1.0)]


def test_distribution_of_many_margins_is_thinned_and_keeps_both_ends() -> None:
    many = [made((float(i), {})) for i in range(1000)]
    rows = [row for row in charts(many)["margins"] if row["series"] == "launder/lexical@8"]
    assert len(rows) == POINTS
    assert (rows[0]["x"], rows[0]["y"], rows[-1]["x"], rows[-1]["y"]) == (0.0, 0.001, 999.0, 1.0)


def test_budget_lines_are_those_of_the_generator_with_several_budgets() -> None:
    rows = charts(UNITS)["budget"]
    worst = {row["x"]: row["y"] for row in rows if row["series"] == "bm25, oracle_worst"}
    first = {row["x"]: row["y"] for row in rows if row["series"] == "bm25, first_visible"}
    # The second passage opens at rank 3, so from K = 4 on.
    assert worst == {1: 0.0, 2: 0.0, 4: 0.5, 8: 0.5, 16: 0.5}
    assert first == dict.fromkeys((1, 2, 4, 8, 16), 0.0)
    assert not any("lexical" in str(row["series"]) for row in rows)


def test_lattice_shows_the_share_still_fooled() -> None:
    found = {(row["x"], row["y"]): row["value"] for row in charts(UNITS)["lattice"]}
    assert found["launder/lexical@8", "{}"] == 0.5
    assert found["launder/lexical@8", "{L}"] == 0.0


def test_attack_chart_leaves_out_cells_without_a_rate() -> None:
    assert {row["label"] for row in charts(UNITS)["attack success"]} == {
        "launder/lexical@8",
        *(f"launder/bm25@{k}" for k in (1, 2, 4, 8, 16)),
    }


def test_nothing_to_show_is_no_chart() -> None:
    assert charts([]) == {}
