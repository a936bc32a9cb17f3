"""How the page writes rates, bounds and tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from counterproof.core.analysis import Cell
from counterproof.core.findings import Interval
from counterproof.core.outcomes import NotApplicable
from counterproof.report.numbers import count, percent, with_interval
from counterproof.stats.rates import RateEstimate

NONE = "–"
_NUMBER = re.compile(r"[+-]?[\d.\u202f]+( %)?|–")


def whole(value: Cell) -> int:
    """Return a table's cell that holds a whole number.

    Raises:
        TypeError: It holds something else.
    """
    if not isinstance(value, int):
        raise TypeError(f"a whole number was expected, not {value!r}")
    return value


def real(value: Cell) -> float:
    """Return a table's cell that holds a number.

    Raises:
        TypeError: It holds something else.
    """
    if not isinstance(value, (int, float)):
        raise TypeError(f"a number was expected, not {value!r}")
    return float(value)


def asr(row: Mapping[str, Cell]) -> str:
    """Return attack success of a table's row with its interval and its counts."""
    fooled, units = whole(row["fooled"]), whole(row["units"])
    if not units:
        return "no unit"
    sided = "upper" if not fooled else "lower" if fooled == units else "two"
    interval = Interval(real(row["lower"]), real(row["upper"]), 0.95, "", sided)
    return f"{with_interval(real(row['ASR']), interval, 'share')}, {count(fooled)}/{count(units)}"


def success(rate: RateEstimate | NotApplicable) -> str:
    """Return an attack success rate with its interval and its counts."""
    if isinstance(rate, NotApplicable):
        return "no unit"
    shown = with_interval(rate.estimate, rate.row_interval, "share")
    return f"{shown}, {count(rate.n_events)}/{count(rate.n_units)}"


def exceptions(rate: RateEstimate | NotApplicable, what: str = "candidates") -> str:
    """Return how many of them break a law, with the bound on questions where none does."""
    if isinstance(rate, NotApplicable):
        return "nothing to test it on"
    if not rate.n_events:
        bound = f"at most {percent(rate.interval.upper)} of questions have any"
        return f"0 exceptions on {count(rate.n_units)} {what} of {count(rate.n_clusters)} questions ({bound})"
    shown = with_interval(rate.estimate, rate.row_interval, "share")
    return f"{count(rate.n_events)} exceptions on {count(rate.n_units)} {what}: {shown}"


def signed(value: Cell) -> str:
    """Return a margin in reward units."""
    return NONE if value is None else f"{real(value):+.4f}"


def grid(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; columns of bare numbers stand on the right."""
    body = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    right = [all(_NUMBER.fullmatch(row[place]) for row in body) for place in range(len(columns))]
    marks = ["---:" if one else "---" for one in right]
    return "\n".join("| " + " | ".join(line) + " |" for line in (columns, marks, *body))
