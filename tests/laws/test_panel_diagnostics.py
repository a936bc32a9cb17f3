"""Laws of a panel's diagnostics: what may not matter does not, and clusters of one row are rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from counterproof.panel.breadth import closed_form
from counterproof.panel.diagnostics import Diagnostics, diagnose
from counterproof.panel.effective import majority_accuracy, majority_equivalent
from counterproof.panel.pairs import MEASURES, pair_measures
from counterproof.panel.table import Gold, VerdictTable
from tests.panel.judged import of_symbols

seeds = st.integers(0, 10_000)


def drawn(seed: int, n: int = 60, k: int = 3) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n).astype(np.int8)
    symbols = (labels[:, None] ^ (rng.random((n, k)) < 0.3)).astype(np.int8)
    symbols[rng.random((n, k)) < 0.1] = 2
    return symbols, labels


def run(table: VerdictTable, labels: NDArray[np.int8]) -> Diagnostics:
    return diagnose(table, Gold(labels), rng=np.random.default_rng(1), replicates=30, permutations=0)


def estimates(found: Diagnostics) -> dict[tuple[str, str], list[float | str]]:
    return {
        (pair.a, pair.b): [
            round(m.estimate, 10) if isinstance(m.estimate, float) else m.estimate.reason
            for m in pair.measures.values()
        ]
        for pair in found.pairs
    }


@settings(max_examples=25)
@given(seeds)
def test_estimates_do_not_depend_on_the_order_of_rows(seed: int) -> None:
    symbols, labels = drawn(seed)
    order = np.random.default_rng(seed).permutation(len(labels))
    forward, shuffled = run(of_symbols(symbols), labels), run(of_symbols(symbols[order]), labels[order])
    assert estimates(forward) == estimates(shuffled)


@settings(max_examples=25)
@given(seeds)
def test_estimates_do_not_depend_on_the_names_of_classes(seed: int) -> None:
    symbols, labels = drawn(seed)
    flipped = np.where(symbols < 2, 1 - symbols, symbols).astype(np.int8)
    assert estimates(run(of_symbols(symbols), labels)) == estimates(
        run(of_symbols(flipped), (1 - labels).astype(np.int8))
    )


@settings(max_examples=25)
@given(seeds, st.permutations(range(3)))
def test_a_pair_does_not_depend_on_the_other_channels_or_their_order(seed: int, order: list[int]) -> None:
    symbols, labels = drawn(seed)
    table = of_symbols(symbols)
    whole = estimates(run(table, labels))
    a, b = sorted(order[:2])
    alone = run(table.columns([a, b]), labels).pairs[0]
    again = run(table.columns([b, a]), labels).pairs[0]
    assert estimates(run(table.columns([a, b]), labels))[alone.a, alone.b] == whole[f"c{a}", f"c{b}"]
    for forward, backward in (("gain_b_given_a", "gain_a_given_b"), ("error_phi", "error_phi")):
        first, second = alone.measures[forward].estimate, again.measures[backward].estimate
        assert first == second or first == pytest.approx(second, abs=1e-12)


@settings(max_examples=25)
@given(seeds)
def test_clusters_of_one_row_are_rows(seed: int) -> None:
    symbols, labels = drawn(seed)
    own_names = of_symbols(symbols, clusters=[f"q{i}" for i in range(len(labels))])
    first, second = run(of_symbols(symbols), labels), run(own_names, labels)
    assert [pair.measures for pair in first.pairs] == [pair.measures for pair in second.pairs]


tables = (
    st.lists(st.integers(0, 15), min_size=8, max_size=8).filter(any).map(lambda c: np.array(c, float).reshape(2, 2, 2))
)


@given(tables)
def test_measures_stay_in_their_ranges(table: NDArray[np.float64]) -> None:
    value = dict(zip(MEASURES, pair_measures(table).tolist(), strict=True))
    for name in ("error_overlap", "disagreement", "jaccard"):
        assert np.isnan(value[name]) or 0 <= value[name] <= 1
    for name in ("error_phi", "verdict_phi", "kappa"):
        assert np.isnan(value[name]) or abs(value[name]) <= 1 + 1e-12
    assert abs(value["excess_overlap"]) <= 0.25 + 1e-12
    for name in ("mutual_information", "conditional_information", "gain_b_given_a", "gain_a_given_b"):
        assert 0 <= value[name] <= 1 + 1e-12


@given(st.floats(0.51, 0.99), st.floats(0, 40), st.floats(0.1, 10))
def test_more_independent_channels_vote_better(p: float, n: float, more: float) -> None:
    assert majority_accuracy(n + more, p) >= majority_accuracy(n, p) - 1e-12


@given(st.floats(0.55, 0.9), st.floats(0.5, 25))
def test_majority_equivalent_is_the_inverse(p: float, n: float) -> None:
    accuracy = float(majority_accuracy(n, p))
    if accuracy < 1 - 1e-9:
        np.testing.assert_allclose(majority_accuracy(majority_equivalent(accuracy, p), p), accuracy, atol=1e-9)


@given(st.sampled_from([1, 3, 5, 7, 9]), st.floats(0, 1), st.floats(0, 1))
def test_shares_of_spending_are_shares(k: int, error: float, gate: float) -> None:
    for item in closed_form(k, error, copy_gate=gate):
        assert 0 < item.calls <= k + 1e-9
        assert -1e-12 <= item.right <= 1 + 1e-12
        assert -1e-12 <= item.wrong <= 1 + 1e-12
        assert item.right + item.wrong <= 1 + 1e-12
