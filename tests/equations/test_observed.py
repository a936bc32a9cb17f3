"""A user's own field: every kind of bad input, and the three real trajectories."""

from pathlib import Path

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.core.outcomes import NotApplicable
from counterproof.equations.draws import LAB_GRID, draw
from counterproof.equations.library import DEFAULT_LIBRARY, EXTENDED_LIBRARY, Term, parse_library
from counterproof.equations.observed import ObservedField, assess_field, check_field
from counterproof.equations.spectral import spectral_fields
from counterproof.equations.verdicts import Identified, OutsideLibrary

X, T = LAB_GRID.x, LAB_GRID.t
BURGERS = spectral_fields([draw(1, 3)])[0]


def field(u: np.ndarray = BURGERS, x: np.ndarray = X, t: np.ndarray = T, periodic: bool | None = None) -> ObservedField:
    found = check_field(x, t, u, periodic=periodic)
    assert isinstance(found, ObservedField)
    return found


def test_a_periodic_field_is_recognised() -> None:
    found = field()
    assert found.periodic
    assert found.length == pytest.approx(2 * np.pi)


def test_a_repeated_last_point_is_dropped() -> None:
    found = field(np.c_[BURGERS, BURGERS[:, :1]], np.append(X, 2 * np.pi))
    assert found.periodic
    assert found.u.shape == BURGERS.shape
    assert "dropped" in found.noted[0]


def test_a_field_on_an_interval_is_recognised_and_identified_with_compact_bumps() -> None:
    one = draw(0, 8)
    x = np.linspace(0, 4.0, 129)
    c, d = one.coefficients
    m = np.arange(1, 5)[:, None, None]
    modes = np.cos(m * (x - c * T[:, None])) * np.exp(-d * m**2 * T[:, None]) / m
    found = field(modes.sum(axis=0), x)
    assert not found.periodic
    result = assess_field(found, parse_library(["u", "u_x", "u_xx", "u u_x"]))
    assert result.reference.verdict(0, 0) == Identified(("u_x", "u_xx"))
    assert result.coefficients[-1] == pytest.approx([0, -c, d, 0], abs=2e-3)


def test_law_of_a_lab_trajectory_is_identified_on_the_reference() -> None:
    result = assess_field(field())
    assert result.reference.verdict(0, 3) == Identified(("u_xx", "u u_x"))
    assert result.times_used == 49
    assert [name for name, _ in result.verdicts][:4] == ["A00", "A01", "A02", "A03"]
    assert dict(result.verdicts)["A03"] == OutsideLibrary()


def test_hyperdiffusion_needs_the_extended_library() -> None:
    u = spectral_fields([draw(5, 3)])[0]
    assert assess_field(field(u)).reference.verdict(0, 3) == OutsideLibrary()
    assert assess_field(field(u), EXTENDED_LIBRARY).reference.verdict(0, 3) == Identified(("u_xxxx",))


def test_constant_and_steady_fields_are_not_applicable() -> None:
    constant, steady = check_field(X, T, np.full((49, 64), 2.5)), check_field(X, T, np.tile(np.sin(X), (49, 1)))
    assert isinstance(constant, NotApplicable)
    assert constant.reason.startswith("constant")
    assert isinstance(steady, NotApplicable)
    assert steady.reason.startswith("steady")


def test_every_problem_is_named_at_once() -> None:
    x = X.copy()
    x[10] += 0.03
    with pytest.raises(InputError) as caught:
        check_field(x, T[:20], np.where(np.arange(64) == 5, np.nan, BURGERS[:20]))
    text = str(caught.value)
    assert "x: is not uniform: the step after position" in text
    assert "at least 33 are needed" in text
    assert "20 values are not finite, first at time 0, point 5" in text


def test_a_transposed_field_is_pointed_out() -> None:
    with pytest.raises(InputError, match="transposed"):
        check_field(X, T, BURGERS.T)


@pytest.mark.parametrize("t", [T[::-1], np.r_[T[:-1], np.nan], np.zeros(49), T**1.2, T[:, None]])
def test_bad_times_are_refused(t: np.ndarray) -> None:
    with pytest.raises(InputError, match="t: "):
        check_field(X, t, BURGERS)


def test_a_field_that_is_not_periodic_cannot_be_called_so() -> None:
    with pytest.raises(InputError, match="give periodic=False"):
        check_field(X, T, BURGERS + 3 * X, periodic=True)


def test_a_collinear_pair_of_terms_is_named() -> None:
    library = type(DEFAULT_LIBRARY)((*DEFAULT_LIBRARY.terms, Term("(u^2)_x", 2, 1, 1.0)))
    with pytest.raises(InputError, match=r"'u u_x' and '\(u\^2\)_x'"):
        assess_field(field(), library)


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "keys", "law", "coefficients"),
    [
        ("burgers", ("x", "t", "usol"), ("u_xx", "u u_x"), (0.1, -1.0)),
        ("kdv", ("x", "t", "usol"), ("u_xxx", "u u_x"), (-1.0, -6.0)),
    ],
)
def test_real_trajectories_inside_the_library(
    shared_data: Path, name: str, keys: tuple[str, str, str], law: tuple[str, ...], coefficients: tuple[float, ...]
) -> None:
    with np.load(shared_data / "pde" / "pysindy" / f"{name}.npz") as stored:
        x, t, u = (stored[key] for key in keys)
    result = assess_field(field(u.T, x.ravel(), t.ravel()))
    assert {verdict for _, verdict in result.verdicts} == {Identified(law)}
    places = [DEFAULT_LIBRARY.names.index(term) for term in law]
    assert result.coefficients[-1][places] == pytest.approx(coefficients, rel=2e-3)


@pytest.mark.shared_data
def test_real_kuramoto_sivashinsky_is_rejected_by_default_and_identified_with_a_fourth_derivative(
    shared_data: Path,
) -> None:
    with np.load(shared_data / "pde" / "pysindy" / "kuramoto_sivashinsky.npz") as stored:
        found = field(stored["uu"].T, stored["x"].ravel(), stored["tt"].ravel())
    default, extended = assess_field(found), assess_field(found, EXTENDED_LIBRARY)
    assert {verdict for _, verdict in default.verdicts} == {OutsideLibrary()}
    law = Identified(("u_xx", "u u_x", "u_xxxx"))
    assert {extended.reference.verdict(0, v) for v in range(4)} == {law}
    assert extended.coefficients[-1][[5, 7, 8]] == pytest.approx([-1, -1, -1], rel=1e-3)
    # With the law in the library, the coarsest views still reject it.
    assert {extended.permitted.verdict(0, v) for v in range(4)} == {OutsideLibrary()}
