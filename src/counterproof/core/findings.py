"""Findings: what an analysis concludes, with interval, unit, counts, warnings and the plan's own verdict."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from counterproof.core.outcomes import NotApplicable


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval for an estimate.

    Attributes:
        lower: Lower end, in the unit of the estimate.
        upper: Upper end.
        level: Confidence level, for example .95.
        method: How it was computed, named.
        sided: `two`, `upper` (only the upper end is informative) or `lower`.
    """

    lower: float
    upper: float
    level: float
    method: str
    sided: str = "two"


@dataclass(frozen=True, slots=True)
class HealthWarning:
    """A named reason to trust a number less. `blocking` ones keep an audit from reading as clean."""

    name: str
    message: str
    blocking: bool = False


class Verdict(enum.Enum):
    """What the plan's own criterion says of a finding."""

    SUPPORTED = "supported"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True, slots=True)
class Finding:
    """One measured statement.

    Attributes:
        code: Stable code, with a page in the documentation.
        subject: What it is about, for example `launder/lexical@8/oracle_worst`.
        title: One line in words.
        estimate: The number, or why there is none.
        interval: For the estimate, where one exists.
        method: How estimate and interval were computed.
        unit: What the number counts, for example `share of trajectories`.
        n: Units that entered.
        clusters: Independent clusters that they came from.
        counts: Named whole numbers (eligible, isolated, ties ...).
        values: Named further numbers or text of the finding.
        verdict: By the plan's criterion.
        proven: True when what is counted is wrong by construction; else it is a lead.
        label_free: False when a selection or a reward behind it read labels.
        warnings: Named health warnings.
        evidence: Keys of the evidence records behind it.
    """

    code: str
    subject: str
    title: str
    estimate: float | NotApplicable
    interval: Interval | None = None
    method: str = ""
    unit: str = ""
    n: int = 0
    clusters: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    verdict: Verdict = Verdict.INCONCLUSIVE
    proven: bool = False
    label_free: bool = True
    warnings: tuple[HealthWarning, ...] = ()
    evidence: tuple[str, ...] = ()
