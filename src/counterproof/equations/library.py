"""Candidate terms, libraries of any size, and the supports that a verifier searches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError, Problem
from counterproof.equations.families import LawTerm

LARGEST_SEARCH = 200_000
"""Most supports that one verifier searches."""

_TERM = re.compile(r"(?:u(?:\^(?P<power>\d+))?)?\s*(?:u_(?:(?P<xs>x+)|\{?(?P<order>\d)x\}?))?")


@dataclass(frozen=True, slots=True)
class Term:
    """A candidate term f(u) = factor * (d/dx)^derivative g(u), so that all derivatives can move on the test function.

    Attributes:
        name: How it is written, for example `u u_x`.
        power: g(u) = u^power; ignored where `function` is given.
        derivative: Order of the space derivative, 0 to 6.
        factor: The number in front; u u_x is half of (u^2)_x.
        function: A pointwise g of the user's own; must be pure and keep the shape.
    """

    name: str
    power: int = 1
    derivative: int = 0
    factor: float = 1.0
    function: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = field(default=None, compare=False)

    def of(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return g(u), of the shape of u."""
        if self.function is not None:
            return np.asarray(self.function(u), dtype=np.float64)
        if not self.power:
            return np.ones_like(u)
        result = u
        for _ in range(self.power - 1):
            result = result * u
        return result


def parse_term(text: str) -> Term:
    """Return the term that a text names: `1`, `u^p`, `u_x`, `u_xxxx` or `u_{4x}`, and products `u^p u_x`.

    Only terms that are a derivative of a function of u can be tested weakly without differentiating the data, so a
    product with a derivative of second or higher order, such as `u u_xx`, is refused.

    Raises:
        InputError: It names none.

    >>> parse_term("u u_x")
    Term(name='u u_x', power=2, derivative=1, factor=0.5, function=None)
    >>> parse_term("u_xx").derivative
    2
    """
    name = text.strip()
    if name == "1":
        return Term("1", power=0)
    match = _TERM.fullmatch(name)
    if not name or match is None:
        raise InputError(f"term '{text}': write 1, u, u^2, u_x, u_xx, u_{{4x}}, u u_x or u^2 u_x")
    derivative = len(match["xs"] or "") or int(match["order"] or 0)
    has_power = not name.startswith("u_")
    power = int(match["power"] or 1) if has_power else 0
    if derivative == 0:
        return Term(name, power=power)
    if power == 0:
        return Term(name, power=1, derivative=derivative)
    if derivative > 1:
        raise InputError(f"term '{text}' is no derivative of a function of u; give it as a sum of terms that are")
    return Term(name, power=power + 1, derivative=1, factor=1 / (power + 1))


@dataclass(frozen=True, slots=True)
class Library:
    """Candidate terms and the largest support to search.

    Attributes:
        terms: The J terms; names are distinct.
        largest: Most terms of a support, 1 to J.

    Raises:
        InputError: A name stands twice, a size is out of its range, or there would be too many supports.
    """

    terms: tuple[Term, ...]
    largest: int = 3

    def __post_init__(self) -> None:
        names = [term.name for term in self.terms]
        problems = [Problem(f"term '{name}'", "stands twice") for name in sorted(set(names)) if names.count(name) > 1]
        problems += [
            Problem(f"term '{term.name}'", f"derivative {term.derivative}, power {term.power}", "0 to 6; at least 0")
            for term in self.terms
            if not 0 <= term.derivative <= 6 or term.power < 0
        ]
        if not 1 <= self.largest <= len(self.terms):
            problems.append(Problem("largest support", f"{self.largest} of {len(self.terms)} terms", "at least 1"))
        elif (count := sum(comb(len(names), s) for s in range(1, self.largest + 1))) > LARGEST_SEARCH:
            problems.append(Problem("largest support", f"{count} supports", f"at most {LARGEST_SEARCH}"))
        if problems:
            raise InputError("the library cannot be searched", problems)

    @property
    def names(self) -> tuple[str, ...]:
        """The terms' names, in order."""
        return tuple(term.name for term in self.terms)

    @property
    def supports(self) -> Supports:
        """All supports of size 1 to `largest`."""
        return all_supports(len(self.terms), self.largest)

    def without(self, *names: str) -> Library:
        """Return the library without some of its terms; it searches as many terms at once, or all that are left.

        Raises:
            InputError: A name is not in the library.
        """
        unknown = [Problem(f"term '{name}'", "is not in the library") for name in names if name not in self.names]
        if unknown:
            raise InputError(f"the library has {', '.join(self.names)}", unknown)
        kept = tuple(term for term in self.terms if term.name not in names)
        return Library(kept, min(self.largest, len(kept)))

    def law_support(self, law: Sequence[LawTerm]) -> tuple[int, ...] | None:
        """Return the columns that a law uses, ascending, or None where the library lacks one of its terms."""
        places = {(term.power, term.derivative): j for j, term in enumerate(self.terms) if term.function is None}
        columns = sorted({places.get((term.power, term.derivative), -1) for term in law})
        return None if columns[0] < 0 else tuple(columns)


def parse_library(names: Iterable[str], largest: int = 3) -> Library:
    """Return a library from the terms' names.

    Raises:
        InputError: A name is no term, or the library cannot be searched.

    >>> len(parse_library(["u", "u_x", "u_xx"], largest=2).supports)
    6
    """
    return Library(tuple(parse_term(name) for name in names), largest)


@dataclass(frozen=True, slots=True)
class Supports:
    """Supports of a search, by size and then in lexicographic order.

    Attributes:
        columns: Number of library terms J.
        members: The columns of each support, ascending.
        sizes: How many columns each has, (S,).
    """

    columns: int
    members: tuple[tuple[int, ...], ...]
    sizes: NDArray[np.int64] = field(compare=False)

    def __len__(self) -> int:
        return len(self.members)

    def index(self, members: Sequence[int]) -> int:
        """Return the position of a support.

        Raises:
            InputError: It is not among the supports searched.
        """
        wanted = tuple(sorted(members))
        if wanted not in self.members:
            raise InputError(f"support {wanted} is not among the {len(self)} supports searched")
        return self.members.index(wanted)


def all_supports(columns: int, largest: int) -> Supports:
    """Return all supports of size 1 to `largest` of so many columns.

    >>> len(all_supports(8, 3))
    92
    """
    members = [one for size in range(1, largest + 1) for one in combinations(range(columns), size)]
    return Supports(columns, tuple(members), np.array([len(one) for one in members], dtype=np.int64))


DEFAULT_TERMS = ("1", "u", "u^2", "u^3", "u_x", "u_xx", "u_xxx", "u u_x")

DEFAULT_LIBRARY = parse_library(DEFAULT_TERMS)
"""Eight terms, 92 supports of at most three."""

EXTENDED_LIBRARY = parse_library((*DEFAULT_TERMS, "u_xxxx"))
"""The default terms and the fourth derivative, which hyperdiffusion and Kuramoto-Sivashinsky need."""
