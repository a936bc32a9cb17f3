"""All measurements of an evidence table that an analysis reads, and the controls that gate its numbers."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from counterproof.core.outcomes import NotApplicable
from counterproof.equations.evidence import NO_VERDICT, OPEN, EvidenceTable
from counterproof.equations.evidence_audit import EvidenceAudit, PolicyResult, audit_evidence
from counterproof.equations.planning import AuditSettings
from counterproof.stats import RateEstimate, RatioEstimate, clustered_rate, paired_difference

WITHIN = 5.0
"""A control that draws may miss its expectation by so many standard errors."""


@dataclass(frozen=True, slots=True)
class ViewControl:
    """A policy or verifier with a known result, through the same path.

    Attributes:
        name: What it is.
        expected: What it must show, in words.
        wanted: That number.
        value: The number found.
        tolerance: How far the two may lie apart.
    """

    name: str
    expected: str
    wanted: float
    value: float
    tolerance: float = 1e-9

    @property
    def holds(self) -> bool:
        """Whether the control behaved."""
        return abs(self.value - self.wanted) <= self.tolerance


@dataclass(frozen=True, slots=True)
class ViewEvidence:
    """What was measured on one evidence table.

    Attributes:
        table: The table, truth joined.
        right: Position of the verdict that counts as right, below 0 where none does, (I,).
        audit: Rates of views, score and policies.
        fixed: The single view that is reported as a policy.
        chosen_after: Whether `fixed` was chosen with the truth at hand, because none was named.
        fewer: Wrong share of the agreement rule that helps, minus that of score-max.
        controls: The controls.
    """

    table: EvidenceTable
    right: NDArray[np.int64]
    audit: EvidenceAudit
    fixed: PolicyResult
    chosen_after: bool
    fewer: RatioEstimate | NotApplicable
    controls: tuple[ViewControl, ...]


def measure_views(
    table: EvidenceTable, settings: AuditSettings, generator: Callable[[], np.random.Generator]
) -> ViewEvidence:
    """Return all measurements of a table.

    Args:
        table: Verdicts and scores, truth joined.
        settings: Groups, reference and fixed view.
        generator: Makes the generator of one measurement; each gets a fresh one.

    Raises:
        InputError: Nothing says what is right, or the settings name a view that is not there.
    """
    audit = audit_evidence(
        table,
        rng=generator(),
        groups=settings.groups or None,
        reference=settings.reference,
        open_price=settings.open_price,
    )
    right = right_of(table, settings.reference)
    name = settings.fixed or _best_view(audit, settings.open_price)
    rule = None if audit.helps is None else audit.policy(audit.helps)
    fewer = _fewer(table, right, rule, audit.policy("score-max"), generator())
    return ViewEvidence(
        table,
        right,
        audit,
        audit.policy(f"view:{name}"),
        settings.fixed is None,
        fewer,
        (_random(table, right, audit), *_verifiers(table, right, audit, generator)),
    )


def right_of(table: EvidenceTable, reference: str | None) -> NDArray[np.int64]:
    """Return the code that counts as right for each item: the truth, else a definitive verdict of the reference."""
    if reference is None:
        return table.truth
    said = table.verdict[:, table.views.index(reference)]
    return np.where(table.truth >= 0, table.truth, said)


def wrong_of(emitted: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which emitted codes are definitive and not the right one, (I,) or (I, V) with `right` (I, 1)."""
    wrong: NDArray[np.bool_] = (emitted >= 0) & (right >= 0) & (emitted != right)
    return wrong


def rate_of(
    table: EvidenceTable, events: NDArray[np.bool_], units: NDArray[np.bool_], rng: np.random.Generator
) -> RateEstimate | NotApplicable:
    """Return the share of units with an event, with an interval over the table's clusters."""
    counts = (np.bincount(table.cluster, weights=part.astype(np.float64)) for part in (events & units, units))
    return clustered_rate(*counts, rng=copy.deepcopy(rng))


def _best_view(audit: EvidenceAudit, open_price: float) -> str:
    def loss(name: str) -> float:
        one = audit.policy(f"view:{name}")
        if isinstance(one.wrong, NotApplicable) or isinstance(one.coverage, NotApplicable):
            return float("inf")
        return one.wrong.estimate + open_price * (1 - one.coverage.estimate)

    return min((view.view for view in audit.views), key=loss)


def _fewer(
    table: EvidenceTable,
    right: NDArray[np.int64],
    rule: PolicyResult | None,
    baseline: PolicyResult,
    rng: np.random.Generator,
) -> RatioEstimate | NotApplicable:
    if rule is None:
        return NotApplicable("no agreement rule helps")
    told = (right >= 0) & (rule.emitted != NO_VERDICT) & (baseline.emitted != NO_VERDICT)
    parts = (told & wrong_of(rule.emitted, right), told & wrong_of(baseline.emitted, right), told)
    return paired_difference(*(np.bincount(table.cluster, weights=part.astype(np.float64)) for part in parts), rng=rng)


def _events(rate: RateEstimate | NotApplicable) -> int:
    return rate.n_events if isinstance(rate, RateEstimate) else 0


def _share(rate: RateEstimate | NotApplicable) -> float:
    return rate.estimate if isinstance(rate, RateEstimate) else 0.0


def _random(table: EvidenceTable, right: NDArray[np.int64], audit: EvidenceAudit) -> ViewControl:
    places = [table.views.index(view.view) for view in audit.views]
    share = wrong_of(table.verdict[:, places], right[:, None]).mean(axis=1)
    items = max(1, int((right >= 0).sum()))
    return ViewControl(
        "random view",
        "wrong as often as the mean of all permitted views, within five standard errors",
        float(share.sum()) / items,
        _events(audit.policy("random view").wrong) / items,
        WITHIN * float(np.sqrt((share * (1 - share)).sum())) / items + 1e-9,
    )


def _verifiers(
    table: EvidenceTable,
    right: NDArray[np.int64],
    audit: EvidenceAudit,
    generator: Callable[[], np.random.Generator],
) -> tuple[ViewControl, ...]:
    truth = replace(table, truth=right)
    permitted = [table.views.index(view.view) for view in audit.views]
    kept = replace(
        truth,
        views=tuple(table.views[v] for v in permitted),
        verdict=truth.verdict[:, permitted],
        score=truth.score[:, permitted],
        scored=truth.scored[:, permitted],
    )
    everywhere = np.ones(kept.verdict.shape, dtype=bool)
    oracle = replace(kept, verdict=np.where(right >= 0, right, OPEN)[:, None].repeat(len(permitted), axis=1))
    error = wrong_of(kept.verdict, right[:, None]).astype(np.float64)
    paid = replace(kept, score=error, scored=everywhere)
    perfect, for_error = (audit_evidence(one, rng=generator()) for one in (oracle, paid))
    return (
        ViewControl("oracle verifier", "no view flips it", 0.0, _share(perfect.flippable)),
        ViewControl("oracle verifier, score-max", "never wrong", 0.0, _share(perfect.policy("score-max").wrong)),
        ViewControl(
            "score that pays for error",
            "score-max reaches every item that any view gets wrong",
            float(error.any(axis=1).sum()),
            float(_events(for_error.policy("score-max").wrong)),
        ),
    )
