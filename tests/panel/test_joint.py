"""The joint model by hand on tables small enough to write down."""

import math

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.panel.joint import ALPHAS, BASES, choose_joint, cluster_folds, fit_joint
from counterproof.panel.likelihoods import class_likelihoods
from counterproof.panel.loss import Loss
from counterproof.panel.table import Gold, VerdictTable
from counterproof.panel.weighted import weighted_scores
from tests.panel.panels import channels, drawn, patterns, table_of

ROWS = np.array([[0, 0], [0, 1], [1, 1], [1, 1], [1, 2], [0, 1]], dtype=np.int8)
LABELS = Gold(np.array([0, 0, 1, 1, 1, 1], dtype=np.int8))


def test_counts_are_mixed_with_the_base() -> None:
    base = fit_joint(table_of(ROWS), LABELS, base="naive", alpha=math.inf).table
    mixed = fit_joint(table_of(ROWS), LABELS, base="naive", alpha=4.0)
    assert mixed.table[1, 1, 1] == pytest.approx((2 + 4 * base[1, 1, 1]) / 10, abs=1e-15)
    assert mixed.table[1, 0, 0] == pytest.approx(4 * base[1, 0, 0] / 10, abs=1e-15)
    assert mixed.rows[1, 1] == pytest.approx(2 + 4 * base[:, 1, 1].sum(), abs=1e-15)
    assert (mixed.shown, mixed.n) == ((2, 3), 6.0)


def test_naive_base_is_the_product_of_smoothed_likelihoods() -> None:
    found = fit_joint(table_of(ROWS), LABELS, base="naive", alpha=math.inf)
    # P(y=1) = 5/8. Channel 0 never failed: 1/9 under both classes, 8/9 for Laplace 1 over two symbols: (3+1)/(4+2) for
    # code 1 under class 1. Channel 1 showed all: (3+1)/(4+3) for code 1 under class 1.
    assert found.table[1, 1, 1] == pytest.approx(5 / 8 * (8 / 9 * 4 / 6) * 4 / 7, abs=1e-15)
    assert found.table[0, 2, 0] == pytest.approx(3 / 8 * (1 / 9) * 2 / 5, abs=1e-15)
    assert found.rows == pytest.approx(6 * found.table.sum(axis=0))


def test_tree_edge_is_shrunk_with_four_rows_of_the_child_marginal() -> None:
    found = fit_joint(table_of(ROWS), LABELS, base="tan", alpha=math.inf)
    # The root is the channel that tells more of y. Channel 1: class 0 shows 0, 1; class 1 shows 1, 1, 2, 1. Channel 0:
    # class 0 shows 0, 0; class 1 shows 1, 1, 1, 0: it tells more. Edge 0 -> 1 under class 1, parent 1: 1, 1, 2.
    child = (3 + 1) / (4 + 3)
    edge = (2 + 4 * child) / (3 + 4)
    assert found.table[1, 1, 1] == pytest.approx(5 / 8 * (8 / 9 * 4 / 6) * edge, abs=1e-15)


def test_tree_joins_the_channels_that_depend_given_the_label() -> None:
    rng = np.random.default_rng(7)
    labels = rng.integers(0, 2, 4000).astype(np.int8)
    wrong = rng.random((4000, 3)) < 0.3
    wrong[:, 2] = np.where(rng.random(4000) < 0.9, wrong[:, 0], wrong[:, 2])
    table = table_of((labels[:, None] ^ wrong).astype(np.int8))
    joint = fit_joint(table, Gold(labels), alpha=math.inf).table[1]
    pair = joint[:2, :, :2].sum(axis=1)
    # P(both right | y=1) = .7 (.9 + .1 .7) = .679; independent, .49. Four standard errors of 2000 rows: .042.
    assert pair[1, 1] / joint.sum() == pytest.approx(0.679, abs=0.042)
    naive = fit_joint(table, Gold(labels), base="naive", alpha=math.inf).table[1]
    assert naive[:2, :, :2].sum(axis=1)[1, 1] / naive.sum() == pytest.approx(0.49, abs=0.042)


def test_a_symbol_never_shown_is_no_evidence() -> None:
    rng = np.random.default_rng(3)
    table, gold = drawn(rng, 300, (0.2, 0.3, 0.3), copied=True, failure=0.0)
    for base in BASES:
        model = fit_joint(table, gold, base=base, alpha=math.inf)
        failed, nothing = np.array([[2, 2, 2]], dtype=np.int8), np.array([[-1, -1, -1]], dtype=np.int8)
        assert model.posterior(failed) == pytest.approx(model.posterior(nothing), abs=1e-14)


def test_naive_base_alone_is_the_weighted_vote() -> None:
    table, gold = drawn(np.random.default_rng(1), 400, (0.2, 0.3, 0.35, 0.4), copied=True)
    model = fit_joint(table, gold, base="naive", alpha=math.inf).for_loss(Loss("ba"))
    rows = patterns(4, 3)
    scores = weighted_scores(class_likelihoods(table, gold), rows)
    found = model.posterior(rows)
    assert np.log(found[:, 1] / found[:, 0]) == pytest.approx(scores[:, 1] - scores[:, 0], abs=1e-12)


def test_posterior_sums_out_what_was_not_queried() -> None:
    model = fit_joint(table_of(ROWS), LABELS, alpha=4.0)
    part = model.table[:, 1, :].sum(axis=1)
    found = model.posterior(np.array([[1, -1], [-1, -1]], dtype=np.int8))
    assert found[0] == pytest.approx(part / part.sum())
    assert found[1] == pytest.approx(model.prior)


def test_weighting_classes_keeps_their_verdicts() -> None:
    model = fit_joint(table_of(ROWS), LABELS, alpha=4.0)
    even = model.for_loss(Loss("ba"))
    assert even.prior == pytest.approx([0.5, 0.5])
    assert even.table[1] / even.table[1].sum() == pytest.approx(model.table[1] / model.table[1].sum())
    assert even.rows is model.rows
    assert model.for_loss(Loss("chow", 0.1)) is model


def test_choice_has_the_lowest_score_of_all_candidates() -> None:
    table, gold = drawn(np.random.default_rng(5), 500, (0.2, 0.3, 0.3, 0.4), copied=True)
    found = choose_joint(table, gold)
    assert [(one.base, one.alpha) for one in found.candidates] == [(base, alpha) for base in BASES for alpha in ALPHAS]
    best = min(found.candidates, key=lambda one: one.log_loss)
    assert (found.model.base, found.model.alpha) == (best.base, best.alpha)


def test_score_is_the_held_out_log_loss_by_clusters() -> None:
    table, gold = drawn(np.random.default_rng(6), 60, (0.2, 0.4))
    table = VerdictTable(
        table.items, tuple(f"q{i // 3}" for i in range(60)), table.channels, table.classes, table.symbols, table.kinds
    )
    fold = cluster_folds(table.clusters, 5, 0)
    total = 0.0
    for f in range(5):
        fit, held = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        posterior = fit_joint(table.rows(fit), gold.rows(fit), base="naive", alpha=16.0).posterior(table.symbols[held])
        total -= float(np.log(posterior[np.arange(len(held)), gold.labels[held]]).sum())
    scored = {(one.base, one.alpha): one.log_loss for one in choose_joint(table, gold).candidates}
    assert scored["naive", 16.0] == pytest.approx(total / 60, abs=1e-12)


def test_clusters_stay_whole_and_folds_even() -> None:
    clusters = [f"q{i // 4}" for i in range(80)]
    fold = cluster_folds(clusters, 5, 3)
    assert all(len(set(fold[4 * q : 4 * q + 4])) == 1 for q in range(20))
    assert np.bincount(fold).tolist() == [16] * 5


def test_three_classes_are_fitted() -> None:
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 3, 900).astype(np.int8)
    symbols = np.where(rng.random((900, 2)) < 0.7, labels[:, None], rng.integers(0, 3, (900, 2))).astype(np.int8)
    model = fit_joint(table_of(symbols, ("a", "b", "c")), Gold(labels))
    assert model.table.shape == (3, 4, 4)
    assert model.posterior(np.array([[0, 0], [2, 2]], dtype=np.int8)).argmax(axis=1).tolist() == [0, 2]


def test_rows_with_a_channel_not_queried_are_left_out_and_counted() -> None:
    rows = np.vstack([ROWS, [[0, -1], [1, -1]]]).astype(np.int8)
    gold = Gold(np.append(LABELS.labels, [0, -1]).astype(np.int8))
    model = fit_joint(table_of(rows), gold)
    assert (model.n, model.left_out) == (6.0, 1)
    assert np.array_equal(model.table, fit_joint(table_of(ROWS), LABELS).table)


def test_unfit_input_is_refused_with_the_reason() -> None:
    wide = table_of(np.zeros((4, 13), dtype=np.int8))
    with pytest.raises(InputError, match=r"3,188,646 cells.*at most 12 channels.*Dawid-Skene"):
        fit_joint(wide, Gold(np.array([0, 1, 0, 1], dtype=np.int8)))
    with pytest.raises(InputError, match="no labelled row of class no"):
        fit_joint(table_of(ROWS), Gold(np.ones(6, dtype=np.int8)))
    sparse = table_of(np.array([[0, -1], [1, 1]], dtype=np.int8))
    with pytest.raises(InputError, match="complete rows"):
        fit_joint(sparse, Gold(np.array([0, 1], dtype=np.int8)))
    with pytest.raises(InputError, match="positive alpha"):
        fit_joint(table_of(ROWS), LABELS, alpha=0.0)
    one = VerdictTable(("a", "b"), ("q", "q"), channels(1), ("no", "yes"), ROWS[:2, :1], np.full((2, 1), -1, np.int8))
    with pytest.raises(InputError, match="two of each"):
        choose_joint(one, Gold(np.array([0, 1], dtype=np.int8)))
