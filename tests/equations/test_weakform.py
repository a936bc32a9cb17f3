"""The weak form on an exact solution: order of convergence, and a view as a function of its own samples."""

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.equations.draws import LAB_GRID
from counterproof.equations.episodes1d import spatial_set
from counterproof.equations.library import DEFAULT_LIBRARY, Term, parse_library
from counterproof.equations.quadrature import sine_tests
from counterproof.equations.spatial import fourier_tests
from counterproof.equations.verifier import Verifier
from counterproof.equations.views import TimeGrid, View, lab_views, view_index
from counterproof.equations.weakform import build_weakform
from tests.equations.laboratory import EVERY_VIEW, advected

COUNTS = (7, 13, 25, 49, 97, 193)


def errors_at(modes: int) -> tuple[list[float], list[float]]:
    """Largest coefficient error and residual of the true support {u_x, u_xx} on each grid."""
    library = parse_library(["u_x", "u_xx"], largest=2)
    times = np.linspace(0, 0.2, 193)
    views = lab_views(192, COUNTS, (modes,))
    one = Verifier(build_weakform(times, library, spatial_set("F"), views))
    u = advected(times)
    grams = one.weakform.grams(one.weakform.rows(u))[0]
    errors, residuals = [], []
    for gram in grams:
        found = np.linalg.solve(gram[:2, :2], gram[:2, 2])
        errors.append(float(np.max(np.abs(found - [-0.5, 0.15]))))
        residuals.append(float(np.sqrt(1 - gram[:2, 2] @ found / gram[2, 2])))
    return errors, residuals


def test_coefficients_converge_with_order_four_at_two_modes() -> None:
    errors, _ = errors_at(2)
    # The figures depend on nothing but the test functions and Simpson's rule.
    assert errors[:4] == pytest.approx([9.8e-4, 5.9e-5, 3.6e-6, 2.3e-7], rel=0.05)
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx([4.07, 4.02, 4, 4, 4], abs=0.03)


def test_coefficients_at_five_modes_are_wrong_on_seven_samples_and_converge_after() -> None:
    errors, residuals = errors_at(5)
    assert errors[:4] == pytest.approx([0.28, 2.1e-3, 1.1e-4, 6.3e-6], rel=0.06)
    orders = np.log2(np.array(errors[:4]) / errors[1:5])
    assert orders == pytest.approx([7.0, 4.3, 4.1, 4.0], abs=0.06)
    assert residuals[:4] == pytest.approx([0.955, 0.0168, 8.1e-4, 4.8e-5], rel=0.03)


def test_linear_system_is_what_its_definition_says() -> None:
    u = np.random.default_rng(3).standard_normal((1, 49, 64))
    view = View("one", TimeGrid(0, 4, 13), 3)
    weakform = build_weakform(LAB_GRID.t, DEFAULT_LIBRARY, fourier_tests(64), [view])
    A, b = weakform.system(weakform.rows(u), 0)
    shown, t = u[0, ::4], LAB_GRID.t[::4]
    weights = np.array([1, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 1]) * (t[1] - t[0]) / 3
    phi, slope = sine_tests(13, 3, 0.2)
    psi, dx = fourier_tests(64).values, 2 * np.pi / 64
    integrands = [
        (psi[0], np.ones_like(shown)), (psi[0], shown), (psi[0], shown**2), (psi[0], shown**3),
        (-psi[1], shown), (psi[2], shown), (-psi[3], shown), (-psi[1] / 2, shown**2),
    ]  # fmt: skip
    for j, (test, g) in enumerate(integrands):
        expected = np.einsum("i,ki,rx,ix->kr", weights, phi, test, g) * dx
        assert np.allclose(A[0, :, j], expected.ravel(), atol=1e-12)
    expected = -np.einsum("i,ki,rx,ix->kr", weights, slope, psi[0], shown) * dx
    assert np.allclose(b[0], expected.ravel(), atol=1e-12)


def test_gram_is_the_product_of_the_rows() -> None:
    u = np.random.default_rng(4).standard_normal((2, 49, 64))
    weakform = build_weakform(LAB_GRID.t, DEFAULT_LIBRARY, spatial_set("B"), EVERY_VIEW)
    rows = weakform.rows(u)
    grams = weakform.grams(rows)
    for v in (0, 3, 7, 15):
        A, b = weakform.system(rows, v)
        full = np.concatenate([A, b[:, :, None]], axis=2)
        assert np.allclose(grams[:, v], np.swapaxes(full, 1, 2) @ full, rtol=1e-12, atol=1e-12)


def test_a_view_reads_nothing_but_its_own_samples() -> None:
    rng = np.random.default_rng(5)
    u = advected(LAB_GRID.t) + 0.01 * rng.standard_normal((1, 49, 64))
    other = u.copy()
    hidden = np.setdiff1d(np.arange(49), np.arange(0, 49, 8))
    other[:, hidden] = rng.standard_normal((1, hidden.size, 64))
    weakform = build_weakform(LAB_GRID.t, DEFAULT_LIBRARY, spatial_set("F"), EVERY_VIEW)
    first, second = (weakform.grams(weakform.rows(field)) for field in (u, other))
    place = view_index(EVERY_VIEW, 7, 5)
    assert np.allclose(first[:, place], second[:, place], rtol=1e-12)
    assert not np.allclose(first[:, view_index(EVERY_VIEW, 13, 5)], second[:, view_index(EVERY_VIEW, 13, 5)])


def test_views_may_lie_anywhere_in_the_window() -> None:
    times = np.linspace(0, 1, 41)
    view = View("late", TimeGrid(20, 2, 11), 2)
    library = parse_library(["u_x", "u_xx"], largest=2)
    part = build_weakform(times, library, spatial_set("F"), [view])
    alone = build_weakform(times[20:], library, spatial_set("F"), [View("whole", TimeGrid(0, 2, 11), 2)])
    u = advected(times)
    assert np.allclose(part.grams(part.rows(u)), alone.grams(alone.rows(u[:, 20:])), rtol=1e-10)


def test_a_function_of_the_users_own_is_a_column() -> None:
    cubic = build_weakform(LAB_GRID.t, parse_library(["u^3"], 1), spatial_set("F"), lab_views())
    library = type(cubic.library)((Term("u^3", function=lambda u: u**3),), 1)
    own = build_weakform(LAB_GRID.t, library, spatial_set("F"), lab_views())
    u = advected(LAB_GRID.t)
    assert np.allclose(own.rows(u), cubic.rows(u), rtol=1e-12, atol=1e-14)


def test_unfit_views_tests_and_fields_are_refused() -> None:
    with pytest.raises(InputError, match="reaches beyond"):
        build_weakform(LAB_GRID.t[:25], DEFAULT_LIBRARY, spatial_set("F"), lab_views())
    with pytest.raises(InputError, match="derivative 4"):
        build_weakform(LAB_GRID.t, parse_library(["u_xxxx"], 1), fourier_tests(64, derivatives=3), lab_views())
    with pytest.raises(InputError, match="at least one temporal mode"):
        build_weakform(LAB_GRID.t, DEFAULT_LIBRARY, spatial_set("F"), [View("none", TimeGrid(0, 1, 49), 0)])
    weakform = build_weakform(LAB_GRID.t, DEFAULT_LIBRARY, spatial_set("F"), lab_views())
    with pytest.raises(InputError, match=r"expected \(E, 49, 64\)"):
        weakform.rows(np.zeros((1, 48, 64)))
