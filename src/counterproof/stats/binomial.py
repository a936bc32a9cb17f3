"""Exact intervals for a binomial proportion."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

from counterproof.core.errors import InputError
from counterproof.core.findings import Interval

Sided: TypeAlias = Literal["two", "upper", "lower"]


def exact_interval(events: int, trials: int, *, level: float = 0.95, sided: Sided = "two") -> Interval:
    """Return the Clopper-Pearson interval for the probability behind `events` out of `trials`.

    With k events of n trials, tail probability t and the quantile function q of the beta distribution:

        lower = q(t; k, n - k + 1), 0 when k = 0
        upper = q(1 - t; k + 1, n - k), 1 when k = n

    where t = (1 - level)/2 for `two` and t = 1 - level for the one-sided bounds, whose other end is 0 or 1. At k = 0
    the upper end is 1 - t^(1/n), at k = n the lower end is t^(1/n): both in closed form.

    Coverage is at least `level` for every true probability (conservative, never below). Assumes independent trials with
    one probability and a number of trials fixed beforehand: where rows share a question, count questions.

    >>> round(exact_interval(0, 12, sided="upper").upper, 4)
    0.2209
    >>> round(exact_interval(0, 60, sided="upper").upper, 4)
    0.0487

    Args:
        events: Trials with the event, 0 to `trials`.
        trials: Independent trials, at least 1.
        level: Confidence level, strictly between 0 and 1.
        sided: `two`, `upper` (only the upper end informs) or `lower`.

    Raises:
        InputError: A count, the level or the side is out of its range.

    Source:
        Clopper and Pearson 1934, doi:10.1093/biomet/26.4.404. Zero events: Hanley and Lippman-Hand 1983,
        doi:10.1001/jama.1983.03330370053031, whose 3/n approximates -ln(.05)/n.
    """
    _check_counts(events, trials)
    check_level(level)
    if sided not in ("two", "upper", "lower"):
        raise InputError(f"sided is {sided!r}; allowed are 'two', 'upper' and 'lower'")
    tail = (1 - level) / 2 if sided == "two" else 1 - level
    lower = 0.0 if sided == "upper" else _lower_end(events, trials, tail)
    upper = 1.0 if sided == "lower" else 1 - _lower_end(trials - events, trials, tail)
    if events == 0 and sided != "lower":
        upper = -math.expm1(math.log(tail) / trials)  # keeps its digits when the bound is tiny
    return Interval(lower, upper, level, "Clopper-Pearson exact", sided)


def _lower_end(events: int, trials: int, tail: float) -> float:
    if events == 0:
        return 0.0
    if events == trials:
        return float(tail ** (1 / trials))
    from scipy.special import betaincinv

    return float(betaincinv(events, trials - events + 1, tail))


def _check_counts(events: int, trials: int) -> None:
    if trials < 1:
        raise InputError(f"an interval needs at least one trial, not {trials}; with none the rate is not applicable")
    if not 0 <= events <= trials:
        raise InputError(f"{events} events of {trials} trials; events must lie between 0 and the number of trials")


def check_level(level: float) -> None:
    """Refuse a confidence level outside (0, 1).

    Raises:
        InputError: It is outside, for instance 95 in place of .95.
    """
    if not 0 < level < 1:
        hint = f"; write {level / 100:g} for {level:g} %" if 1 < level < 100 else ""
        raise InputError(f"the confidence level is {level}; it must lie strictly between 0 and 1{hint}")
