from math import isclose

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.panel.confusion import Failures
from counterproof.panel.dawid_skene import dawid_skene
from counterproof.panel.majority import forced_labels
from counterproof.panel.table import VerdictTable
from tests.panel.row_em import row_em
from tests.panel.verdicts import table_of


def drawn(items: int, channels: int, classes: int, *, queried: float = 1.0, seed: int = 0) -> VerdictTable:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, items)
    wrong = rng.random((items, channels)) < np.linspace(0.1, 0.45, channels)
    symbols = np.where(wrong, rng.integers(0, classes, (items, channels)), truth[:, None])
    symbols[rng.random((items, channels)) < 0.1] = classes
    symbols[rng.random((items, channels)) >= queried] = -1
    symbols[~((symbols >= 0) & (symbols < classes)).any(axis=1), 0] = 0  # the row EM needs a verdict on every row
    return table_of(symbols, classes)


@pytest.mark.parametrize("failures", ["symbol", "missing"])
@pytest.mark.parametrize(
    "table",
    [
        pytest.param(drawn(300, 5, 2), id="binary"),
        pytest.param(drawn(200, 4, 5), id="five-classes"),
        pytest.param(drawn(150, 30, 3, queried=0.15), id="sparse-crowd"),
    ],
)
def test_equals_em_over_rows(table: VerdictTable, failures: Failures) -> None:
    fit = dawid_skene(table, failures=failures, iterations=20, tolerance=0)
    steps = len(fit.log_likelihood)
    slow, history = row_em(table.symbols.tolist(), len(table.classes), steps, failures=failures == "symbol")
    assert np.abs(fit.posterior - np.array(slow)).max() < 1e-10
    assert np.allclose(fit.log_likelihood, history, rtol=1e-12)
    assert steps == 20 or fit.converged


def test_silent_items_keep_the_prior_and_stay() -> None:
    table = drawn(200, 4, 2)
    symbols = np.vstack([table.symbols, [[2, 2, 2, 2], [-1, -1, -1, -1], [2, -1, 2, -1]]])
    with_silent, without = dawid_skene(table_of(symbols)), dawid_skene(table)
    assert with_silent.posterior.shape == (203, 2)
    assert np.array_equal(with_silent.posterior[200:], np.repeat(with_silent.model.prior[None, :], 3, axis=0))
    assert np.allclose(with_silent.posterior[:200], without.posterior, atol=1e-12)
    assert with_silent.patterns.spread(with_silent.informed).tolist() == [True] * 200 + [False] * 3


def test_failures_that_depend_on_the_class_are_evidence_as_a_symbol() -> None:
    rng = np.random.default_rng(4)
    truth = (rng.random(20_000) < 0.4).astype(int)
    symbols = truth[:, None] ^ (rng.random((20_000, 5)) < 0.25)
    failing = rng.random((20_000, 5)) < np.where(truth == 1, 0.4, 0.05)[:, None]
    table = table_of(np.where(failing, 2, symbols))
    right = {
        failures: float((dawid_skene(table, failures=failures).posterior.argmax(axis=1) == truth).mean())
        for failures in ("symbol", "missing")
    }
    # The best that anybody could do who knew every rate: sums over the 3^5 rows; five standard errors are .009.
    assert right["symbol"] == pytest.approx(bayes(fails_count=True), abs=0.009)
    assert right["missing"] < bayes(fails_count=False) + 0.009
    assert bayes(fails_count=True) > bayes(fails_count=False) + 0.03


def bayes(*, fails_count: bool) -> float:
    """Accuracy of the best rule that sees counts of right and wrong verdicts out of five, and perhaps of failures."""
    from math import factorial

    total = 0.0
    for ones in range(6):
        for zeros in range(6 - ones):
            lost = 5 - ones - zeros
            ways = factorial(5) / factorial(ones) / factorial(zeros) / factorial(lost)
            truth = [
                0.6 * 0.95 ** (ones + zeros) * 0.05**lost * 0.25**ones * 0.75**zeros,
                0.4 * 0.6 ** (ones + zeros) * 0.4**lost * 0.75**ones * 0.25**zeros,
            ]
            seen = [0.6 * 0.25**ones * 0.75**zeros, 0.4 * 0.75**ones * 0.25**zeros]
            best = int(np.argmax(truth if fails_count else seen))
            total += ways * truth[best]
    return total


def test_a_class_that_nobody_named_is_never_found() -> None:
    fit = dawid_skene(table_of(drawn(100, 5, 2, seed=3).symbols % 2, classes=3))
    assert fit.model.prior[2] == 0
    assert not fit.posterior[:, 2].any()
    assert np.allclose(fit.posterior.sum(axis=1), 1)


def test_a_unanimous_panel_is_believed() -> None:
    fit = dawid_skene(table_of([[1, 1, 1]] * 3 + [[0, 0, 0]] * 2))
    assert np.allclose(fit.posterior.argmax(axis=1), [1, 1, 1, 0, 0])
    assert isclose(fit.model.prior[1], 0.6, abs_tol=1e-9)
    assert fit.converged


def test_stops_when_a_step_gains_less_than_the_tolerance_per_call() -> None:
    table = drawn(400, 5, 2)
    fit = dawid_skene(table, tolerance=1e-5)
    gains = np.diff(fit.log_likelihood) / (table.symbols >= 0).sum()
    assert fit.converged
    assert gains[-1] <= 1e-5 < gains[:-1].min()
    assert not dawid_skene(table, iterations=2).converged


def test_labels_recover_the_truth_better_than_a_majority_when_channels_differ() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 5000)
    wrong = rng.random((5000, 5)) < np.array([0.05, 0.45, 0.45, 0.45, 0.45])
    table = table_of(truth[:, None] ^ wrong)
    labels = forced_labels(dawid_skene(table).posterior, table.items)
    assert (labels == truth).mean() > 0.93  # the first channel alone has .95, the majority .70
    assert ((table.symbols.sum(axis=1) > 2) == truth).mean() < 0.75


def test_nothing_to_fit_and_settings_out_of_range_are_refused() -> None:
    with pytest.raises(InputError, match="no channel gave a verdict"):
        dawid_skene(table_of([[2, -1], [2, 2]]))
    with pytest.raises(InputError, match="iterations"):
        dawid_skene(table_of([[0]]), iterations=0)
    with pytest.raises(InputError, match="tolerance"):
        dawid_skene(table_of([[0]]), tolerance=-1.0)
