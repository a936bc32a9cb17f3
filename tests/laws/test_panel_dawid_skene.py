"""Laws of Dawid-Skene: what must not matter, and what must never fall."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from counterproof.panel.dawid_skene import dawid_skene
from tests.panel.verdicts import table_of

SHAPES = st.tuples(st.integers(3, 25), st.integers(1, 6))
CODES = arrays(np.int8, SHAPES, elements=st.sampled_from([0, 0, 0, 1, 1, 1, 2, -1]))


def voted(symbols: np.ndarray) -> None:
    assume(((symbols == 0) | (symbols == 1)).any())


@given(CODES)
def test_log_likelihood_never_falls(symbols: np.ndarray) -> None:
    voted(symbols)
    history = np.array(dawid_skene(table_of(symbols), iterations=60, tolerance=0).log_likelihood)
    # The floor under expected counts moves a maximum by at most about 1e-10 a cell.
    assert (np.diff(history) > -1e-7).all()


@given(CODES)
def test_every_item_gets_a_distribution(symbols: np.ndarray) -> None:
    voted(symbols)
    fit = dawid_skene(table_of(symbols), iterations=30)
    assert fit.posterior.shape == (len(symbols), 2)
    assert np.allclose(fit.posterior.sum(axis=1), 1, atol=1e-9)
    silent = ~((symbols == 0) | (symbols == 1)).any(axis=1)
    assert np.array_equal(fit.posterior[silent], np.tile(fit.model.prior, (silent.sum(), 1)))


@given(CODES)
def test_neither_the_order_of_channels_nor_of_items_matters(symbols: np.ndarray) -> None:
    voted(symbols)
    straight = dawid_skene(table_of(symbols), iterations=8, tolerance=0)
    turned = dawid_skene(table_of(symbols[::-1, ::-1]), iterations=8, tolerance=0)
    steps = min(len(straight.log_likelihood), len(turned.log_likelihood))
    assert np.allclose(straight.log_likelihood[:steps], turned.log_likelihood[:steps], atol=1e-8)
    assert np.allclose(straight.posterior, turned.posterior[::-1], atol=1e-6)


@given(CODES, st.integers(2, 4))
def test_repeating_every_item_changes_nothing(symbols: np.ndarray, times: int) -> None:
    voted(symbols)
    once = dawid_skene(table_of(symbols), iterations=8, tolerance=0)
    often = dawid_skene(table_of(np.tile(symbols, (times, 1))), iterations=8, tolerance=0)
    assert np.allclose(once.posterior, often.posterior[: len(symbols)], atol=1e-6)


@given(CODES)
def test_the_model_gives_back_the_posteriors_of_its_last_step_once_converged(symbols: np.ndarray) -> None:
    voted(symbols)
    fit = dawid_skene(table_of(symbols), iterations=500, tolerance=1e-14)
    assume(fit.converged)
    again = fit.model.posterior(fit.patterns)
    assert np.allclose(again, fit.pattern_posterior, atol=1e-3)
