"""Pair diagnostics on seven logged LLM judges of LLMBar, against figures computed by other code beforehand."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

from counterproof.panel.diagnostics import Diagnostics, diagnose
from counterproof.panel.table import Gold
from counterproof.stats import GTest
from tests.panel.judged import of_symbols

JUDGES = (
    ("GPT-4", "Vanilla_NoRules"),
    ("PaLM2", "Vanilla"),
    ("PaLM2", "Metrics"),
    ("ChatGPT", "Vanilla"),
    ("ChatGPT", "CoT"),
    ("LLaMA2", "Vanilla"),
    ("Falcon", "Vanilla"),
)


@pytest.fixture(scope="module")
def found(shared_data: Path) -> Diagnostics:
    with gzip.open(shared_data / "verdicts" / "llmbar" / "verdicts.csv.gz", "rt", encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["swapped"] == "0" and row["subset"] != "mtbench_processed"]
    items = sorted({(row["subset"], row["item"]) for row in rows})
    place = {item: i for i, item in enumerate(items)}
    symbols = np.full((len(items), len(JUDGES)), -1, dtype=np.int8)
    labels = np.full(len(items), -1, dtype=np.int8)
    for row in rows:
        judge, i = (row["judge"], row["strategy"]), place[row["subset"], row["item"]]
        labels[i] = int(row["label"]) - 1
        if judge in JUDGES:
            # As the data's authors do, a failure counts as output 2 here; in the product it is a failure.
            symbols[i, JUDGES.index(judge)] = 0 if row["verdict"] == "1" else 1
    return diagnose(of_symbols(symbols), Gold(labels), rng=np.random.default_rng(0), permutations=199)


@pytest.mark.shared_data
def test_two_prompts_of_one_model_are_near_copies(found: Diagnostics) -> None:
    assert found.items == 419
    pair = next(pair for pair in found.pairs if (pair.a, pair.b) == ("c1", "c2"))
    correlation, kappa = pair.measures["error_phi"], pair.measures["kappa"]
    assert correlation.estimate == pytest.approx(0.80, abs=0.005)
    assert kappa.estimate == pytest.approx(0.83, abs=0.005)
    assert correlation.interval is not None
    # Bootstrap ends of other draws: to a hundredth.
    assert correlation.interval.lower == pytest.approx(0.73, abs=0.015)
    assert correlation.interval.upper == pytest.approx(0.86, abs=0.015)


@pytest.mark.shared_data
def test_every_pair_errs_together(found: Diagnostics) -> None:
    assert len(found.pairs) == 21
    for pair in found.pairs:
        assert isinstance(pair.independence.test, GTest)
        assert isinstance(pair.measures["error_phi"].estimate, float)
        assert pair.measures["error_phi"].estimate > 0


@pytest.mark.shared_data
def test_least_correlation_is_not_most_gain(found: Diagnostics) -> None:
    phis = {(pair.a, pair.b): float(pair.measures["error_phi"].estimate) for pair in found.pairs}  # type: ignore[arg-type]  # all are defined
    assert min(phis, key=phis.__getitem__) == ("c0", "c6")
    assert phis["c0", "c6"] == pytest.approx(0.18, abs=0.005)
    pairs = {(pair.a, pair.b): pair for pair in found.pairs}
    assert pairs["c0", "c6"].measures["gain_b_given_a"].estimate == pytest.approx(0.004, abs=0.0005)
    assert pairs["c1", "c2"].measures["gain_b_given_a"].estimate == pytest.approx(0.028, abs=0.0005)
