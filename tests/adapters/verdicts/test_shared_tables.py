"""The shared tables have the sizes that their own notes state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from counterproof.panel.table import Gold, VerdictTable
from studies import panel_tables

pytestmark = pytest.mark.shared_data


def load(shared_data: Path, make: Callable[..., tuple[VerdictTable, Gold]], *args: str) -> tuple[VerdictTable, Gold]:
    try:
        return make(shared_data, *args)
    except FileNotFoundError as error:
        pytest.skip(f"real data needed: {error.filename} is missing")


def accuracy(table: VerdictTable, gold: Gold) -> float:
    made = (table.symbols >= 0) & (table.symbols < table.failure)
    return float((table.symbols == gold.labels[:, None])[made].mean())


@pytest.mark.parametrize(
    ("name", "tasks", "workers", "labels", "raw"),
    [
        ("cf_weather", 300, 461, 1720, 0.766),
        ("cf_amt_weather", 300, 110, 6030 - 5, 0.705),  # five labels are a worker's second of a task
        ("ms_music", 700, 44, 2945, 0.560),
        ("sp_sentiment", 4999, 203, 27746, 0.789),
    ],
)
def test_crowds(shared_data: Path, name: str, tasks: int, workers: int, labels: int, raw: float) -> None:
    table, gold = load(shared_data, panel_tables.crowd, name)
    assert table.symbols.shape == (tasks, workers)
    assert (table.symbols >= 0).sum() == labels
    assert accuracy(table, gold) == pytest.approx(raw, abs=0.0005)


def test_repeated_labels_of_zencrowd_count_once(shared_data: Path) -> None:
    table, _ = load(shared_data, panel_tables.crowd, "zencrowd_in")
    assert table.symbols.shape == (2040, 25)
    # 11,205 rows, 710 of them a worker's second label of a task.
    assert (table.symbols >= 0).sum() == 11205 - 710
    assert table.seconds is not None


def test_bluebirds_is_full(shared_data: Path) -> None:
    table, _ = load(shared_data, panel_tables.bluebirds)
    assert table.symbols.shape == (108, 39)
    assert (table.symbols >= 0).all()


def test_llmbar(shared_data: Path) -> None:
    table, gold = load(shared_data, panel_tables.llmbar)
    assert [channel.name for channel in table.channels] == list(panel_tables.LLMBAR_SEVEN)
    assert len(table) == 419
    judge = panel_tables.LLMBAR_SEVEN.index("GPT-4/Vanilla_NoRules")
    assert np.mean(table.symbols[:, judge] == gold.labels) == pytest.approx(0.761, abs=0.0005)
    everything, _ = panel_tables.llmbar(
        shared_data, None, subsets=(*panel_tables.LLMBAR_SUBSETS, "mtbench_processed"), orders="channels"
    )
    assert len(everything) == 619
    assert (everything.symbols >= 0).sum() == 57670


def test_pandalm(shared_data: Path) -> None:
    table, _ = load(shared_data, panel_tables.pandalm)
    assert table.symbols.shape == (999, 2)
    assert panel_tables.pandalm(shared_data, gold="annotator2")[0].symbols.shape == (999, 4)


def test_evouna(shared_data: Path) -> None:
    table, gold = load(shared_data, panel_tables.evouna)
    assert [channel.name for channel in table.channels] == list(panel_tables.RULES)
    assert len(set(table.clusters)) == 3610 - 590  # 590 questions are marked as unsuitable
    assert len(table) == 5 * 3020 - 2  # one answer was not judged and one is missing
    assert (gold.labels >= 0).all()
    assert len(panel_tables.evouna(shared_data, ["gpt4"])[0]) == 3020


def test_halueval(shared_data: Path) -> None:
    table, gold = load(shared_data, panel_tables.halueval)
    assert table.symbols.shape == (4507, len(panel_tables.SIGNS))
    assert np.bincount(gold.labels).tolist() == [3692, 815]


def test_rules_on_answers_worked_by_hand() -> None:
    near = panel_tables.Answer(("it", "was", "neil", "armstrong", "in", "1969"), ("neil", "armstrong"))
    # F1 = 2 * 2 / (6 + 2)
    assert panel_tables.f1_of(near) == 0.5
    assert all(rule(near) for rule in panel_tables.RULES.values())
    part = panel_tables.Answer(("armstrongs",), ("neil", "armstrong"))
    # Trigrams of "neil armstrong": 12, of which arm rms mst str tro ron ong are in the answer.
    assert panel_tables.trigram_share(part) == 7 / 12
    assert [name for name, rule in panel_tables.RULES.items() if rule(part)] == []
