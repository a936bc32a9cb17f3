"""Diagnostics of channels and pairs: closed forms of the corruption families, failures apart, intervals and tests."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.core.outcomes import NotApplicable
from counterproof.panel.diagnostics import Diagnostics, diagnose
from counterproof.panel.measured import Measured, left_out, resampled
from counterproof.panel.table import FailureKind, Gold, split_items
from counterproof.stats import GTest, RatioEstimate
from tests.panel.judged import common_cause, copy_gate, judged, of_symbols

N = 20_000
RHO = 0.35


def quick(table, gold, **settings) -> Diagnostics:  # type: ignore[no-untyped-def]  # passes on what diagnose takes
    return diagnose(table, gold, rng=np.random.default_rng(0), **{"replicates": 200, "permutations": 0, **settings})


def value(measured: Measured) -> float:
    assert not isinstance(measured.estimate, NotApplicable)
    return measured.estimate


@pytest.mark.parametrize("s", [0.0, 0.25, 0.5, 0.9])
@pytest.mark.parametrize(("family", "power"), [(copy_gate, 1), (common_cause, 2)])
def test_error_phi_is_s_under_a_copy_gate_and_its_square_under_a_common_cause(family, power, s: float) -> None:  # type: ignore[no-untyped-def]  # one of two functions
    # The standard deviation of a phi over n rows is at most (1 + 1/4)/sqrt(n) here; four of them.
    rng = np.random.default_rng(15)
    labels = rng.random(N) < 2 / 7
    table, gold = judged(labels, family(rng, N, 3, RHO, s))
    for pair in quick(table, gold, replicates=20).pairs:
        assert value(pair.measures["error_phi"]) == pytest.approx(s**power, abs=4 * 1.25 / math.sqrt(N))


def test_a_copy_has_error_phi_one() -> None:
    rng = np.random.default_rng(1)
    table, gold = judged(rng.random(400) < 0.5, copy_gate(rng, 400, 2, RHO, 1.0))
    pair = quick(table, gold).pairs[0]
    assert value(pair.measures["error_phi"]) == pytest.approx(1.0)
    assert value(pair.measures["disagreement"]) == 0.0
    assert value(pair.measures["gain_b_given_a"]) == 0.0
    # No resample varies, and nobody is told that this is precision; the share has its exact bound instead.
    assert any(w.name == "degenerate-interval" for w in quick(table, gold).warnings)
    interval = pair.measures["disagreement"].interval
    assert interval is not None
    # No event in 400 clusters: 1 - .05^(1/400).
    assert interval.upper == pytest.approx(1 - 0.05 ** (1 / 400))


def test_phi_of_verdicts_is_not_phi_of_errors() -> None:
    # Independent errors .35: verdicts correlate through the label, (1 - 2 rho)^2 = .09 for equal classes, errors do
    # not. Standard deviation about 1/sqrt(N) = .007; four.
    rng = np.random.default_rng(2)
    table, gold = judged(np.arange(N) % 2, rng.random((N, 2)) < RHO)
    pair = quick(table, gold, replicates=20).pairs[0]
    assert value(pair.measures["verdict_phi"]) == pytest.approx(0.09, abs=0.03)
    assert value(pair.measures["error_phi"]) == pytest.approx(0.0, abs=0.03)


def test_agreement_cannot_tell_right_together_from_wrong_together() -> None:
    # Channels that copy each other agree perfectly, whether they err on 5 % or on 45 % of items.
    rng = np.random.default_rng(3)
    for error in (0.05, 0.45):
        table, gold = judged(rng.random(200) < 0.5, copy_gate(rng, 200, 3, error, 1.0))
        found = quick(table, gold)
        assert value(found.agreement) == 1.0
        assert value(found.mean_error_phi) == pytest.approx(1.0)


def test_channel_figures_by_hand() -> None:
    # Class 0: 4 items, class 1: 6. The channel fails on one of each, errs on 1 of 3 and on 3 of 5.
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
    errors = np.array([1, 0, 0, 0, 1, 1, 1, 0, 0, 0])[:, None]
    failed = np.array([0, 0, 0, 1, 0, 0, 0, 0, 0, 1])[:, None]
    table, gold = judged(labels, errors, failed=failed)
    (channel,) = quick(table, gold).channels
    assert (channel.calls, channel.verdicts, channel.abstentions) == (10, 8, 2)
    assert channel.failures == {FailureKind.TIMED_OUT: 2}
    assert value(channel.error) == pytest.approx(4 / 8)
    assert [value(error) for error in channel.class_error] == pytest.approx([1 / 3, 3 / 5])
    assert value(channel.balanced_accuracy) == pytest.approx((2 / 3 + 2 / 5) / 2)
    assert value(channel.failure) == pytest.approx(0.2)
    assert [value(failure) for failure in channel.class_failure] == pytest.approx([1 / 4, 1 / 6])


def test_calls_never_made_are_no_failures() -> None:
    symbols = np.array([[0, -1], [1, 2], [0, 0], [1, 1]], dtype=np.int8)
    found = quick(of_symbols(symbols), Gold(np.array([0, 1, 0, 1], dtype=np.int8)))
    second = found.channels[1]
    assert (second.calls, second.verdicts, second.abstentions) == (3, 2, 1)
    assert found.pairs[0].table.sum() == 2
    assert found.pairs[0].measures["kappa"].n == 2


def test_unlabelled_items_are_ignored() -> None:
    rng = np.random.default_rng(5)
    table, gold = judged(rng.random(60) < 0.5, rng.random((60, 3)) < 0.3)
    labels = gold.labels.copy()
    labels[40:] = -1
    whole = quick(table.rows(np.arange(40)), gold.rows(np.arange(40)))
    part = quick(table, Gold(labels))
    assert part.items == 40
    assert [pair.measures for pair in part.pairs] == [pair.measures for pair in whole.pairs]


def test_pairs_without_a_common_item_have_reasons() -> None:
    symbols = np.array([[0, 2], [1, 2], [2, 1], [2, 0]], dtype=np.int8)
    pair = quick(of_symbols(symbols), Gold(np.array([0, 1, 1, 0], dtype=np.int8))).pairs[0]
    for measured in pair.measures.values():
        assert isinstance(measured.estimate, NotApplicable)
        assert measured.estimate.reason.startswith("no-rows")
    assert isinstance(pair.independence.test, NotApplicable)


def test_interval_on_a_gain_that_is_nil_reaches_zero_and_its_test_does_not_reject() -> None:
    # b depends on y only through a. In all of 40 runs a plain percentile interval would exclude 0; shifted by twice the
    # bias it reaches 0 in 99.8 % (one miss in 40: 8 %; two: .3 %). The test rejects at .01 in 1 %: above 4 of 40 1e-4.
    rng = np.random.default_rng(16)
    reached = rejected = 0
    for seed in range(40):
        labels = rng.integers(0, 2, 419)
        a = rng.random(419) < 0.3
        b = a ^ (rng.random(419) < 0.25)
        table, gold = judged(labels, np.stack([a, b], axis=1))
        found = diagnose(table, gold, rng=np.random.default_rng(seed), replicates=400, permutations=0)
        measured, tested = found.pairs[0].measures["gain_b_given_a"], found.pairs[0].gains["gain_b_given_a"].test
        assert measured.interval is not None
        assert "shifted by twice" in measured.interval.method
        assert measured.bias > 0
        assert isinstance(tested, GTest)
        reached += measured.interval.lower == 0.0
        rejected += tested.p_value < 0.01
    assert reached >= 38
    assert rejected <= 4


def test_adjusted_p_values_are_those_of_the_whole_family() -> None:
    rng = np.random.default_rng(6)
    table, gold = judged(rng.random(300) < 0.5, copy_gate(rng, 300, 4, 0.3, 0.2))
    found = quick(table, gold)
    raw = [pair.independence.test.p_value for pair in found.pairs if isinstance(pair.independence.test, GTest)]
    adjusted = [float(pair.independence.holm) for pair in found.pairs if isinstance(pair.independence.holm, float)]
    assert len(raw) == len(adjusted) == 6
    assert min(adjusted) == pytest.approx(min(1.0, 6 * min(raw)))
    assert all(h >= p for h, p in zip(adjusted, raw, strict=True))
    gains = [tested for pair in found.pairs for tested in pair.gains.values()]
    smallest = min(gains, key=lambda tested: tested.test.p_value if isinstance(tested.test, GTest) else 2.0)
    assert isinstance(smallest.test, GTest)
    assert smallest.holm == pytest.approx(min(1.0, 12 * smallest.test.p_value))


def test_rows_that_share_a_cluster_raise_the_bar() -> None:
    # Every row ten times over in one cluster: ten times the rows, the same evidence. G grows tenfold, and the design
    # effect of about 10 takes it back, to within its own sampling error and that of the bootstrap (a fifth).
    rng = np.random.default_rng(7)
    table, gold = judged(rng.random(200) < 0.5, copy_gate(rng, 200, 2, 0.35, 0.15))
    again = np.repeat(np.arange(200), 10)
    clustered = replace(
        of_symbols(table.symbols[again]), clusters=tuple(f"q{i}" for i in again), channels=table.channels
    )
    single = quick(table, gold, replicates=4000).pairs[0].independence.test
    tenfold = quick(clustered, Gold(gold.labels[again]), replicates=4000).pairs[0].independence.test
    assert isinstance(single, GTest)
    assert isinstance(tenfold, GTest)
    assert single.design_effect == 1.0
    assert tenfold.design_effect == pytest.approx(10, rel=0.2)
    assert tenfold.statistic == pytest.approx(single.statistic, rel=0.2)


def test_few_clusters_get_cluster_t() -> None:
    rng = np.random.default_rng(8)
    clusters = [i % 12 for i in range(240)]
    table, gold = judged(rng.random(240) < 0.5, rng.random((240, 3)) < 0.3, clusters=clusters)
    found = quick(table, gold)
    for name in ("error_phi", "kappa", "excess_overlap", "jaccard"):
        interval = found.pairs[0].measures[name].interval
        assert interval is not None
        assert interval.method == "cluster t, 11 df, jackknife"
    assert {warning.name for warning in found.warnings} == {"few-clusters"}


def test_jackknife_of_a_mean_is_the_t_interval_of_a_mean() -> None:
    values = np.array([1.0, 4.0, 2.0, 7.0])
    without = (values.sum() - values) / 3
    measured = left_out(3.5, without, level=0.95)
    half = 3.182446305 * math.sqrt(values.var(ddof=1) / 4)
    assert measured.interval is not None
    assert measured.interval.lower == pytest.approx(3.5 - half)
    assert measured.interval.upper == pytest.approx(3.5 + half)


def test_a_biased_measure_is_shifted_by_twice_its_bias() -> None:
    replicates = np.linspace(0.1, 0.3, 101)  # mean .2
    plain = resampled(0.15, replicates, level=0.9)
    moved = resampled(0.15, replicates, level=0.9, information=True)
    assert plain.interval is not None
    assert moved.interval is not None
    assert moved.bias == pytest.approx(0.05)
    assert moved.corrected == pytest.approx(0.10)
    assert moved.interval.lower == pytest.approx(plain.interval.lower - 0.1)
    assert moved.interval.upper == pytest.approx(plain.interval.upper - 0.1)


def test_realised_gain_needs_a_split() -> None:
    rng = np.random.default_rng(9)
    table, gold = judged(rng.random(200) < 0.5, rng.random((200, 2)) < 0.3)
    without = quick(table, gold).pairs[0].realised["gain_b_given_a"]
    assert isinstance(without, NotApplicable)
    split = split_items(table, 0.5, np.random.default_rng(1))
    assert isinstance(quick(table, gold, split=split).pairs[0].realised["gain_b_given_a"], RatioEstimate)


def test_odd_channels_are_named() -> None:
    rng = np.random.default_rng(10)
    labels = (rng.random(100) < 0.5).astype(np.int8)
    symbols = np.stack([labels, np.ones(100), np.full(100, 2)], axis=1).astype(np.int8)
    found = quick(of_symbols(symbols), Gold(labels))
    text = {(warning.name, warning.message.split("'")[1]) for warning in found.warnings if "gave" in warning.message}
    assert text == {("no-verdicts", "c2")}
    assert any(w.name == "constant-verdicts" and "'c1'" in w.message for w in found.warnings)
    assert isinstance(found.mean_error_phi.estimate, NotApplicable)


def test_labels_of_one_class_block() -> None:
    rng = np.random.default_rng(11)
    table, gold = judged(np.zeros(60), rng.random((60, 2)) < 0.3)
    found = quick(table, gold)
    assert any(warning.name == "one-class" and warning.blocking for warning in found.warnings)
    assert isinstance(found.channels[0].balanced_accuracy.estimate, NotApplicable)


def test_labels_must_fit() -> None:
    table, gold = judged([0, 1], [[0], [1]])
    with pytest.raises(InputError, match="do not fit"):
        quick(table, Gold(gold.labels[:1]))
    with pytest.raises(InputError, match="no item has a gold label"):
        quick(table, Gold(np.full(2, -1, dtype=np.int8)))


def test_one_seed_gives_one_result_without_a_warning_of_numpy() -> None:
    rng = np.random.default_rng(12)
    table, gold = judged(rng.random(50) < 0.5, rng.random((50, 3)) < 0.02, failed=rng.random((50, 3)) < 0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = (quick(table, gold, permutations=20) for _ in range(2))
    assert [pair.measures for pair in first.pairs] == [pair.measures for pair in second.pairs]
    assert [pair.max_t for pair in first.pairs] == [pair.max_t for pair in second.pairs]
    assert first.channels == second.channels


def test_permutation_test_goes_with_the_pairs() -> None:
    rng = np.random.default_rng(13)
    errors = rng.random((300, 3)) < 0.3
    errors[:, 2] = np.where(rng.random(300) < 0.6, errors[:, 0], errors[:, 2])
    table, gold = judged(rng.random(300) < 0.5, errors)
    found = quick(table, gold, permutations=99)
    by_pair = {(pair.a, pair.b): pair.max_t for pair in found.pairs}
    assert by_pair["c0", "c2"] == 0.01
    assert float(by_pair["c0", "c1"]) > 0.05 if isinstance(by_pair["c0", "c1"], float) else False
