"""How numbers are written, in one place, so that console, page, Markdown and tables show the same digits."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from counterproof.core.analysis import Cell
from counterproof.core.errors import InputError
from counterproof.core.findings import Finding, Interval
from counterproof.core.outcomes import NotApplicable

THIN = "\u202f"
"""Narrow no-break space between groups of three digits."""
MISSING = "–"
"""Stands where there is no such number."""

_SHARE = re.compile(r"\b(share|rate|fraction|proportion|probability|asr)s?\b", re.IGNORECASE)
_NO_SHARE = re.compile(r"\b(ratio|log|per)\b", re.IGNORECASE)


def is_share(unit: str) -> bool:
    """Return whether a unit or axis title names a share, which is written in percent.

    >>> is_share("share of trajectories"), is_share("reward units"), is_share("rate ratio")
    (True, False, False)
    """
    return bool(_SHARE.search(unit)) and not _NO_SHARE.search(unit)


def percent(share: float) -> str:
    """Return a share in percent with one decimal; 0.0 and 100.0 are kept for exactly none and all.

    >>> percent(0.125), percent(0.0), percent(0.0001), percent(0.99999)
    ('12.5 %', '0.0 %', '<0.1 %', '>99.9 %')
    """
    text = f"{share:.1%}"
    if text == "0.0%" and share != 0:
        text = "<0.1%"
    elif text == "-0.0%":
        text = "0.0%" if share == 0 else ">-0.1%"
    elif text == "100.0%" and share < 1:
        text = ">99.9%"
    return text[:-1] + " %"


def count(number: int) -> str:
    """Return a whole number with a narrow space between groups of three digits."""
    return f"{number:,}".replace(",", THIN)


def number(value: float) -> str:
    """Return a number with four significant digits, whole ones in full, grouped from a thousand on.

    >>> number(0.07857142), number(3.0), number(-1.5)
    ('0.07857', '3', '-1.5')
    """
    if value == 0:
        return "0"
    if float(value).is_integer() and abs(value) < 1e15:
        return count(int(value))
    if 1e4 <= abs(value) < 1e15:
        return count(round(value))
    text = f"{value:.4g}"
    return f"{value:,.0f}".replace(",", THIN) if text.replace("-", "").isdigit() and abs(value) >= 1e3 else text


def with_interval(estimate: float, interval: Interval | None, unit: str) -> str:
    """Return an estimate with its interval, in percent where the unit is a share.

    >>> with_interval(0.125, Interval(0.091, 0.164, 0.95, "bootstrap"), "share of trajectories")
    '12.5 % [9.1, 16.4]'
    >>> with_interval(0.0, Interval(0.0, 0.2209, 0.95, "exact", "upper"), "share of questions")
    '0.0 % (at most 22.1 %)'
    """
    write = percent if is_share(unit) else number
    text = write(estimate)
    if interval is None:
        return text
    if interval.sided == "upper":
        return f"{text} (at most {write(interval.upper)})"
    if interval.sided == "lower":
        return f"{text} (at least {write(interval.lower)})"
    ends = ", ".join(write(end).removesuffix(" %") for end in (interval.lower, interval.upper))
    return f"{text} [{ends}]"


def estimate_text(finding: Finding) -> str:
    """Return a finding's estimate with its interval, or `not applicable: reason`."""
    if isinstance(finding.estimate, NotApplicable):
        return f"not applicable: {finding.estimate.reason}"
    return with_interval(finding.estimate, finding.interval, finding.unit)


def interval_text(interval: Interval) -> str:
    """Return how an interval was made: level, side and method."""
    side = {"two": "two-sided", "upper": "one-sided upper bound", "lower": "one-sided lower bound"}
    return f"{interval.level * 100:g} % {side.get(interval.sided, interval.sided)}, {interval.method}"


def cell(value: Cell, spec: str = "", where: str = "table") -> str:
    """Return a table's cell as shown; `spec` is a format specification and applies to numbers only.

    Raises:
        InputError: `spec` is no format specification for this number.
    """
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if not spec:
        return number(value)
    if spec == ".1%":
        return percent(value)
    try:
        text = format(value, spec)
    except ValueError as error:
        raise InputError(f"{where}: the format '{spec}' does not fit {value!r}: {error}") from None
    return text.replace(",", THIN).replace("%", " %")


def loose(value: object) -> str:
    """Return a finding's named value, which may be anything plain, as text."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return cell(value)
    if isinstance(value, NotApplicable):
        return f"not applicable: {value.reason}"
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {loose(value[key])}" for key in sorted(value))
    if isinstance(value, (list, tuple)):
        return ", ".join(loose(entry) for entry in value)
    return json.dumps(value, default=str)
