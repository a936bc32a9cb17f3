"""Dawid-Skene against the majority on real crowds with known labels."""

import csv
import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from counterproof.panel.dawid_skene import DawidSkene, dawid_skene
from counterproof.panel.majority import majority
from counterproof.panel.table import NOT_QUERIED, VerdictTable
from tests.panel.verdicts import table_of

pytestmark = pytest.mark.shared_data


def read(path: Path) -> Iterator[tuple[str, str, int, int]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            yield row["task"], row["worker"], int(row["label"]), int(row["gold"])


def crowd(path: Path) -> tuple[VerdictTable, np.ndarray]:
    """Verdicts and true labels; of a worker who answered an item twice the last answer counts."""
    if not path.is_file():
        pytest.skip(f"real data needed: {path} is missing")
    tasks: dict[str, int] = {}
    workers: dict[str, int] = {}
    cells, gold = [], {}
    for task, worker, label, true in read(path):
        cells.append((tasks.setdefault(task, len(tasks)), workers.setdefault(worker, len(workers)), label))
        gold[tasks[task]] = true
    codes = [label for *_, label in cells] + list(gold.values())
    shift, classes = min(codes), max(codes) - min(codes) + 1
    symbols = np.full((len(tasks), len(workers)), NOT_QUERIED, dtype=np.int8)
    for row, column, label in cells:
        symbols[row, column] = label - shift
    return table_of(symbols, classes), np.array([gold[i] - shift for i in range(len(tasks))])


def accuracies(path: Path) -> tuple[float, float, DawidSkene]:
    """Expected accuracy of the majority with fair coins for ties, that of Dawid-Skene, and the fit."""
    table, truth = crowd(path)
    voted = majority(table)
    leading = voted.shares >= voted.shares.max(axis=1, keepdims=True) - 1e-9
    by_vote = (leading[np.arange(len(truth)), truth] / leading.sum(axis=1)).mean()
    fit = dawid_skene(table)
    return float(by_vote), float((fit.posterior.argmax(axis=1) == truth).mean()), fit


@pytest.mark.parametrize(
    "file", ["crowd_labels/ms_music", "crowd_labels/sp_sentiment", "crowd_labels/zencrowd_in", "bluebirds/labels"]
)
def test_channels_that_differ_and_say_enough_are_worth_more_than_a_vote(shared_data: Path, file: str) -> None:
    by_vote, by_em, fit = accuracies(shared_data / "verdicts" / f"{file}.csv.gz")
    assert fit.converged
    assert by_em > by_vote + 0.015


def test_bluebirds_by_vote_and_by_em_get_82_and_97_of_108(shared_data: Path) -> None:
    by_vote, by_em, _ = accuracies(shared_data / "verdicts/bluebirds/labels.csv.gz")
    assert by_vote == pytest.approx(82 / 108)
    assert by_em == pytest.approx(97 / 108)


@pytest.mark.parametrize("file", ["cf_weather", "cf_amt_weather"])
def test_five_classes_and_few_labels_a_worker_are_better_voted_on(shared_data: Path, file: str) -> None:
    by_vote, by_em, _ = accuracies(shared_data / "verdicts" / "crowd_labels" / f"{file}.csv.gz")
    assert by_em < by_vote  # 25 free cells a worker, estimated from 4 or 55 labels


def test_log_likelihood_never_falls_on_a_real_crowd(shared_data: Path) -> None:
    *_, fit = accuracies(shared_data / "verdicts/crowd_labels/sp_sentiment.csv.gz")
    assert np.diff(fit.log_likelihood).min() > -1e-6  # of some 15,000 nats
