from pathlib import Path

import numpy as np
import pytest

from counterproof.panel.table import Channel, Gold, VerdictTable
from studies.panel_results import contests, shifts
from studies.panel_results.points import CHOW, Figures, at_calls, best_order, figures
from studies.panel_results.rivals import answers
from studies.panel_results.sources import SOURCES, densest, most_agreeing
from studies.panel_results.tables import cell


def point(calls: float, right: float) -> Figures:
    ones = np.ones(4)
    return Figures(calls * ones, right * ones, ones, right * ones, 0.6 * right * ones)


def test_family_at_equal_calls_is_the_mixture_of_its_neighbours() -> None:
    found = at_calls([point(1, 0.6), point(2, 0.7), point(4, 0.9)], 3)
    assert found is not None
    assert found.mean_calls == pytest.approx(3)
    assert found.right.tolist() == pytest.approx([0.8] * 4)
    # P(accepted and wrong) is .3 and .1, half each.
    assert found.chow.tolist() == pytest.approx([0.2] * 4)


def test_family_that_ends_early_stands_with_its_dearest_policy_and_one_that_starts_late_is_absent() -> None:
    cheap = at_calls([point(1, 0.6), point(2, 0.7)], 5)
    assert cheap is not None
    assert cheap.mean_calls == 2
    assert at_calls([point(2, 0.7)], 1) is None


def test_items_tied_at_the_border_of_the_surest_share_what_is_left() -> None:
    # 60 % of five items are three: one is surer, three tie for the other two places, each with weight 2/3.
    confidence = np.array([0.9, 0.8, 0.8, 0.8, 0.1])
    label = np.array([1, 1, 0, 1, 1], dtype=np.int8)
    gold = Gold(np.array([1, 1, 1, 1, 1], dtype=np.int8))
    found = figures(label, np.ones(5, dtype=np.bool_), confidence, np.ones(5), gold, 2)
    assert found.top.tolist() == pytest.approx([1, 2 / 3, 0, 2 / 3, 0])


def test_abstention_costs_kappa_and_no_label_is_worth_a_coin() -> None:
    label = np.array([1, 0, -1], dtype=np.int8)
    accepted = np.array([True, False, False])
    found = figures(label, accepted, np.ones(3), np.ones(3), Gold(np.array([0, 0, 1], dtype=np.int8)), 2)
    assert found.right.tolist() == [0, 1, 0.5]
    assert found.chow.tolist() == [1, CHOW.kappa, CHOW.kappa]


def sparse() -> tuple[VerdictTable, Gold]:
    symbols = np.array([[0, 0, -1], [1, 1, 0], [0, 1, 1], [-1, 1, -1]], dtype=np.int8)
    channels = tuple(Channel(name) for name in "abc")
    names = tuple("pqrs")
    table = VerdictTable(names, names, channels, ("0", "1"), symbols, np.full_like(symbols, -1))
    return table, Gold(np.array([0, 1, 1, 1], dtype=np.int8))


def test_densest_part_keeps_the_busiest_channels_and_the_items_of_all() -> None:
    table, gold = densest(sparse(), 2)
    assert [channel.name for channel in table.channels] == ["a", "b"]
    assert table.items == ("p", "q", "r")
    assert gold.labels.tolist() == [0, 1, 1]


def test_most_agreeing_channels_are_chosen_without_labels() -> None:
    table, _ = most_agreeing(sparse(), 1)
    assert [channel.name for channel in table.channels] == ["b"]


def test_best_order_goes_by_balanced_accuracy_then_by_name() -> None:
    table, gold = densest(sparse(), 3)
    # Items q and r, both of class 1: a and c are right once each, b twice.
    assert best_order(table, gold) == (1, 0, 2)


@pytest.mark.parametrize("name", [name for name, regime in shifts.REGIMES.items() if not regime.added])
def test_no_change_of_dependence_moves_an_error_rate(name: str) -> None:
    n = 40_000
    table, gold = shifts.draw(shifts.REGIMES[name], n, np.random.default_rng(5))
    rates = (table.symbols != gold.labels[:, None]).mean(axis=0)
    # Items are independent: standard error at most sqrt(.25/n) = .0025; four of them.
    assert np.abs(rates - np.array(shifts.ERRORS)).max() < 0.01


def test_copied_channels_err_together_as_often_as_stated() -> None:
    n = 40_000
    table, gold = shifts.draw(shifts.Regime((((0, 1), 0.9),)), n, np.random.default_rng(6))
    wrong = table.symbols != gold.labels[:, None]
    # Equal error rates e: P(both err) = .9 e + .1 e^2 = .23125 at e = .25.
    assert wrong[:, :2].all(axis=1).mean() == pytest.approx(0.23125, abs=0.01)


def test_without_the_rivals_environment_dawid_skene_is_ours_and_silent_items_keep_the_shares() -> None:
    symbols = np.array([[0, 0, 0]] * 5 + [[1, 1, 1]] * 5 + [[-1, -1, -1]], dtype=np.int8)
    found = answers([(symbols, np.array([0.3, 0.7]))], None)[0]
    assert found.label_model is None
    assert found.difference is None
    assert found.dawid_skene[:10].argmax(axis=1).tolist() == [0] * 5 + [1] * 5
    assert found.dawid_skene[10].tolist() == [0.3, 0.7]


def test_cell_is_found_below_its_heading() -> None:
    text = "\n## A\n\n| p | q |\n| --- | --- |\n| x | 1 |\n\nand\n\n| p | r |\n| --- | --- |\n| x | 2 |\n\n## B\n"
    assert cell(text, "## A", "x", "q") == "1"
    assert cell(text, "## A", "x", "r", table=1) == "2"


@pytest.mark.slow
@pytest.mark.shared_data
def test_page_shows_what_the_study_gives_again(shared_data: Path, repository: Path) -> None:
    source = next(one for one in SOURCES if one.name == "SP sentiment")
    if not (shared_data / source.file).is_file():
        pytest.skip(f"real data needed: {shared_data / source.file} is missing")
    text = (repository / "docs" / "results" / "panel.md").read_text(encoding="utf-8")
    table, gold = source.load(shared_data)
    again = contests.compare(source, table, gold, None)
    for family in ("majority", "weighted", "CMD", "static-CMD"):
        for calls, column in ((1, "1 call"), (3, "3 calls")):
            value = again.sums[family, calls].value("ba")
            assert cell(text, f"### {source.name}", family, column) == f"{value:.3f}"
