"""What a null result could have seen."""

from __future__ import annotations

import math

from counterproof.core.errors import InputError


def minimum_detectable_rate(n_clusters: int, *, power: float = 0.8) -> float:
    """Return the smallest share of clusters with an event of which at least one would be seen with probability `power`.

        p = 1 - (1 - power)^(1/n),  from  P(at least one of n) = 1 - (1 - p)^n >= power

    Unit: share of clusters (questions) with any event, in (0, 1). Print it beside every null: a defect rarer than this
    could well have been missed. It looks forward (what a repeat of this size would catch); the one-sided bound of
    `exact_interval` looks back. Assumes independent clusters, and an audit that fires on one event.

    >>> round(minimum_detectable_rate(12), 4)
    0.1255

    Args:
        n_clusters: Clusters audited, at least 1.
        power: Probability of seeing at least one, strictly between 0 and 1.

    Raises:
        InputError: An argument is out of its range.
    """
    if n_clusters < 1:
        raise InputError(f"power needs at least one cluster, not {n_clusters}")
    if not 0 < power < 1:
        raise InputError(f"power is {power}; it must lie strictly between 0 and 1")
    return -math.expm1(math.log1p(-power) / n_clusters)
