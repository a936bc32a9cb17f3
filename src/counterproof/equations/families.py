"""The six one-dimensional laws of the lab, as sums of derivatives of powers, with the ranges that seeds draw from."""

from __future__ import annotations

from dataclasses import dataclass

from counterproof.core.errors import InputError, nearest


@dataclass(frozen=True, slots=True)
class LawTerm:
    """One summand of a law: factor * coefficient * (d/dx)^derivative u^power.

    Attributes:
        power: Power of u, at least 1.
        derivative: Order of the space derivative.
        factor: A fixed number.
        coefficient: Position of the drawn coefficient that multiplies it; None for a fixed summand.
    """

    power: int
    derivative: int
    factor: float
    coefficient: int | None = None


@dataclass(frozen=True, slots=True)
class Family:
    """A law u_t = sum of `terms`, the ranges of its coefficients and its start.

    The start is u(x, 0) = mean + amplitude * g(x), where g = sum_m a_m cos(m x + th_m), m = 1..4, has unit root mean
    square, th_m is uniform on the circle and a_m uniform on (.5, 1) times m^-decay.

    Attributes:
        name: The family's name.
        law: The law in words.
        terms: Its summands.
        ranges: Lower and upper end of each coefficient; drawn uniformly.
        mean: Lower and upper end of the start's mean.
        amplitude: The start's amplitude.
        decay: How fast its modes decay.
    """

    name: str
    law: str
    terms: tuple[LawTerm, ...]
    ranges: tuple[tuple[float, float], ...]
    mean: tuple[float, float] = (-0.3, 0.3)
    amplitude: float = 0.5
    decay: float = 1.0

    @property
    def is_linear(self) -> bool:
        """Whether the law has no power above the first, so that its solution is an exact exponential."""
        return all(term.power == 1 for term in self.terms)

    @property
    def highest_power(self) -> int:
        """The largest power of u in the law."""
        return max(term.power for term in self.terms)


FAMILIES: tuple[Family, ...] = (
    Family(
        "advection-diffusion",
        "u_t = -c u_x + D u_xx",
        (LawTerm(1, 1, -1.0, 0), LawTerm(1, 2, 1.0, 1)),
        ((0.3, 0.8), (0.1, 0.2)),
    ),
    Family(
        "Burgers",
        "u_t = -u u_x + nu u_xx",
        (LawTerm(2, 1, -0.5), LawTerm(1, 2, 1.0, 0)),
        ((0.08, 0.16),),
    ),
    Family(
        "Fisher-KPP",
        "u_t = D u_xx + r u - r u^2",
        (LawTerm(1, 2, 1.0, 0), LawTerm(1, 0, 1.0, 1), LawTerm(2, 0, -1.0, 1)),
        ((0.05, 0.12), (1.2, 2.4)),
        mean=(0.5, 0.5),
        amplitude=0.3,
    ),
    Family(
        "Allen-Cahn",
        "u_t = D u_xx + r u - r u^3",
        (LawTerm(1, 2, 1.0, 0), LawTerm(1, 0, 1.0, 1), LawTerm(3, 0, -1.0, 1)),
        ((0.05, 0.12), (0.8, 1.6)),
        mean=(-0.2, 0.2),
    ),
    Family(
        "KdV",
        "u_t = -u u_x - b u_xxx",
        (LawTerm(2, 1, -0.5), LawTerm(1, 3, -1.0, 0)),
        ((0.02, 0.05),),
    ),
    Family(
        "hyperdiffusion",
        "u_t = -k u_xxxx",
        (LawTerm(1, 4, -1.0, 0),),
        ((0.01, 0.02),),
        decay=0.5,
    ),
)
"""In the order of the family index. Hyperdiffusion lies outside the default library; the others inside."""


def family_index(name: str) -> int:
    """Return the position of a family in `FAMILIES`.

    Raises:
        InputError: There is no family of that name.

    >>> family_index("KdV")
    4
    """
    names = [family.name for family in FAMILIES]
    if name not in names:
        raise InputError(f"there is no family '{name}'; {nearest(name, names)}")
    return names.index(name)
