"""Terms, libraries and supports."""

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.equations.library import DEFAULT_LIBRARY, Library, Term, all_supports, parse_library, parse_term


def test_the_default_library_has_92_supports() -> None:
    supports = DEFAULT_LIBRARY.supports
    assert len(supports) == 92
    assert np.bincount(supports.sizes).tolist() == [0, 8, 28, 56]
    assert supports.members[0] == (0,)
    assert supports.members[-1] == (5, 6, 7)


def test_eight_terms_of_at_most_five_have_218_supports() -> None:
    assert len(all_supports(8, 5)) == 218


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("1", Term("1", 0, 0, 1.0)),
        ("u^3", Term("u^3", 3, 0, 1.0)),
        ("u_xxx", Term("u_xxx", 1, 3, 1.0)),
        ("u_{4x}", Term("u_{4x}", 1, 4, 1.0)),
        ("u u_x", Term("u u_x", 2, 1, 1 / 2)),
        ("u^2 u_x", Term("u^2 u_x", 3, 1, 1 / 3)),
    ],
)
def test_terms_are_read(text: str, term: Term) -> None:
    assert parse_term(text) == term


@pytest.mark.parametrize("text", ["", "u u_xx", "v", "u_", "u^", "x u", "u_xy", "u_x u_x"])
def test_what_is_no_term_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="term"):
        parse_term(text)


def test_every_problem_of_a_library_is_named() -> None:
    with pytest.raises(InputError) as caught:
        Library((parse_term("u"), parse_term("u"), Term("w", 1, 9)), 4)
    assert [problem.where for problem in caught.value.problems] == ["term 'u'", "term 'w'", "largest support"]


def test_too_many_supports_are_refused() -> None:
    terms = tuple(Term(f"t{i}", i) for i in range(40))
    with pytest.raises(InputError, match="at most"):
        Library(terms, 8)


def test_without_leaves_terms_out() -> None:
    assert DEFAULT_LIBRARY.without("1", "u").names == DEFAULT_LIBRARY.names[2:]
    assert parse_library(["u", "u_x"], 2).without("u").largest == 1
    with pytest.raises(InputError, match="not in the library"):
        DEFAULT_LIBRARY.without("v")


def test_a_term_may_be_a_function_of_the_users_own() -> None:
    u = np.linspace(0, 1, 5)
    assert np.array_equal(Term("sin u", function=np.sin).of(u), np.sin(u))


def test_index_finds_a_support_in_any_order() -> None:
    supports = DEFAULT_LIBRARY.supports
    assert supports.members[supports.index((5, 4))] == (4, 5)
    with pytest.raises(InputError, match="92 supports"):
        supports.index((0, 1, 2, 3))
