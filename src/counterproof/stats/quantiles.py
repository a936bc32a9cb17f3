"""The tail of a set of margins: median, 5 % tail and worst."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from counterproof.core.errors import InputError
from counterproof.core.outcomes import NotApplicable


@dataclass(frozen=True, slots=True)
class TailSummary:
    """Where a sample lies and how bad its low end is; low values are worse.

    Attributes:
        median: Middle value; mean of the two middle ones when n is even.
        q05: Smallest observed value with at least 5 % of the sample at or below it.
        worst: Minimum.
        n: Values in the sample.
    """

    median: float
    q05: float
    worst: float
    n: int


def tail_summary(values: ArrayLike) -> TailSummary | NotApplicable:
    """Return median, 5 % tail and minimum of a sample, in the unit of its values (lower is worse).

    The 5 % tail is the order statistic of rank ceil(n/20), the inverted empirical distribution function (type 1 of
    Hyndman and Fan), so that it is a value that really occurred: margins are often ties and steps, between which
    interpolation would invent one. With n <= 20 it equals the minimum. Describes rows; it claims no precision.

    >>> tail_summary([3.0, 1.0, 2.0])
    TailSummary(median=2.0, q05=1.0, worst=1.0, n=3)

    Args:
        values: Finite numbers, any shape.

    Returns:
        The summary, or `NotApplicable` for an empty sample.

    Raises:
        InputError: A value is NaN or infinite.

    Source:
        Hyndman and Fan 1996, doi:10.1080/00031305.1996.10473566.
    """
    sample = np.sort(np.asarray(values, dtype=np.float64), axis=None)
    n = sample.size
    if n == 0:
        return NotApplicable("no values to summarise")
    if not np.isfinite(sample).all():
        raise InputError("the values to summarise hold NaN or infinity; leave out what failed, and count it apart")
    rank = -(-n // 20)  # in whole numbers: .05 * 140 exceeds 7 in floating point
    # Halves first, so that two huge values do not overflow.
    median = float(sample[(n - 1) // 2] / 2 + sample[n // 2] / 2) if n % 2 == 0 else float(sample[n // 2])
    return TailSummary(median=median, q05=float(sample[rank - 1]), worst=float(sample[0]), n=n)
