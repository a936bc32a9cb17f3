"""How this room states a rate: as a finding with the plan's verdict, and in words."""

from __future__ import annotations

from collections.abc import Mapping

from counterproof.core.findings import Finding, Verdict
from counterproof.core.outcomes import NotApplicable
from counterproof.equations.evidence_audit import Rate

RARE = 0.05
"""A share whose interval ends at or below this reads as small; the project's bound for a clean audit."""


def rate_finding(
    named: tuple[str, str],
    title: str,
    rate: Rate,
    *,
    unit: str,
    values: Mapping[str, str],
    proven: bool = False,
) -> Finding:
    """Return a rate as a finding; higher is worse.

    Args:
        named: Code and subject.
        title: One line in words.
        rate: The rate, or why there is none.
        unit: What the number counts.
        values: Further numbers in words.
        proven: Whether what is counted is wrong by construction.
    """
    if isinstance(rate, NotApplicable):
        return Finding(*named, title, rate, unit=unit, values=values, verdict=Verdict.NOT_APPLICABLE)
    return Finding(
        *named,
        title,
        rate.estimate,
        rate.row_interval,
        method=f"ratio over clusters, {rate.row_interval.method}",
        unit=unit,
        n=rate.n_units,
        clusters=rate.n_clusters,
        counts={"events": rate.n_events},
        values=values,
        verdict=_verdict(rate.row_interval.lower, rate.row_interval.upper),
        proven=proven,
        warnings=rate.warnings,
    )


def _verdict(lower: float, upper: float) -> Verdict:
    """Return supported (the share is small) where the interval ends at .05 or below, refuted where it lies above."""
    if upper <= RARE:
        return Verdict.SUPPORTED
    return Verdict.REFUTED if lower > RARE else Verdict.INCONCLUSIVE


def in_words(rate: Rate) -> str:
    """Return count, share and interval of a rate, or why there is none."""
    if isinstance(rate, NotApplicable):
        return rate.reason
    interval = rate.row_interval
    return f"{rate.n_events} of {rate.n_units}, {rate.estimate:.1%} [{interval.lower:.1%}, {interval.upper:.1%}]"


def count_in_words(rate: Rate) -> str:
    """Return the count of a rate as part of a sentence."""
    if isinstance(rate, NotApplicable):
        return f"no item ({rate.reason})"
    return f"{rate.n_events} of {rate.n_units} items"
