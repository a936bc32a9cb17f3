"""From frozen evidence and joined truth to the analysis of an audit of evidence views: pure functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from counterproof.core.analysis import Analysis, Chart, Table
from counterproof.core.findings import Finding, HealthWarning, Verdict
from counterproof.core.outcomes import NotApplicable
from counterproof.core.plan import Plan
from counterproof.core.seeds import ItemSeed
from counterproof.equations import plots, tables
from counterproof.equations.diffusion2d import Admission
from counterproof.equations.episodes1d import LabResult
from counterproof.equations.evidence import EvidenceTable, lab_evidence
from counterproof.equations.evidence_audit import PolicyResult, Rate
from counterproof.equations.guarded import guarded_choice
from counterproof.equations.measured import ViewControl, ViewEvidence, measure_views, rate_of
from counterproof.equations.planning import STUDIES, AuditSettings, planned_audit, view_groups
from counterproof.equations.stating import count_in_words, in_words, rate_finding
from counterproof.equations.verdicts import INCONCLUSIVE


def generator_of(plan: Plan) -> Callable[[], np.random.Generator]:
    """Return what makes the generator of each measurement of a run: a fresh one from the run's seed."""
    return ItemSeed(plan.seed, "equations analysis").generator


def analyse_views(plan: Plan, table: EvidenceTable) -> Analysis:
    """Return the analysis of a user's table of evidence views, without gates."""
    settings = planned_audit(plan)
    evidence = measure_views(table, settings, generator_of(plan))
    against = "the truth" if settings.reference is None else f"view '{settings.reference}'"
    proven = settings.reference is None
    sizes = (
        f"{len(table.items)} items in {len(np.unique(table.cluster))} clusters, {len(evidence.audit.views)} permitted "
        f"views; right is what {against} says ({int((evidence.right >= 0).sum())} items)."
    )
    return conclude(
        "Audit of evidence views",
        evidence,
        notes=(sizes, *map(str, plan.settings.get("notes", ()))),
        proven=proven,
    )


def trajectory_of(result: LabResult) -> NDArray[np.int64]:
    """Return which drawn trajectory each episode shows, as positions, (E,): the sampling unit of the lab."""
    pairs = np.stack([result.family, result.seed], axis=1)
    return np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def analyse_lab(plan: Plan, result: LabResult, error: NDArray[np.float64]) -> Analysis:
    """Return the analysis of a one-dimensional study, without gates.

    Args:
        plan: The plan.
        result: Tables, truth and what each episode is.
        error: Measurement error of every permitted cell as the view itself shows it, (E, V).
    """
    table = lab_evidence(result.permitted, result.truth, trajectory_of(result))
    fine = result.permitted.views[-1].name
    evidence = measure_views(table, AuditSettings(view_groups(result.permitted.views), fixed=fine), generator_of(plan))
    study = str(plan.settings["study"])
    title = f"The {study} study of the equation lab ({plan.settings['implementation']})"
    rate = _guarded(result, table, error, plan)
    finding = rate_finding(
        ("EQ106", "guarded score"),
        "a maximiser of a score that does not pay for the view's own error is wrong, definitively, on this share",
        rate[0],
        unit="share of episodes",
        values={"coverage": in_words(rate[1])},
    )
    extra = (finding,)
    return conclude(
        title,
        evidence,
        notes=(
            f"{len(table.items)} episodes: {STUDIES[study].what}; seeds {_range(plan.settings['seeds'])}.",
            "A cluster is one drawn trajectory; its noise levels and spatial sets are not independent.",
        ),
        extra=extra,
        lab_tables=(tables.family_table(result, evidence), tables.residual_table(result)),
        lab_charts=(plots.residual_chart(result), plots.map_chart(result.permitted.views, evidence)),
    )


def _guarded(result: LabResult, table: EvidenceTable, error: NDArray[np.float64], plan: Plan) -> tuple[Rate, Rate]:
    emitted = guarded_choice(result.permitted, error)[1]
    definitive = emitted != INCONCLUSIVE
    everything = np.ones(len(emitted), dtype=bool)
    rng = generator_of(plan)()
    wrong = rate_of(table, definitive & (emitted != result.truth), everything, rng)
    return wrong, rate_of(table, definitive, everything, rng)


def analyse_transfer(plan: Plan, table: EvidenceTable, admission: Admission, groups: AuditSettings) -> Analysis:
    """Return the analysis of the transfer, without gates; no policy is scored where the set is not admitted.

    Args:
        plan: The plan.
        table: All contracts as one table.
        admission: Decided on the reference view before.
        groups: Which views must agree, and which is the fixed one.
    """
    evidence = measure_views(table, groups, generator_of(plan))
    words = ", ".join(f"{name} {share:.1%}" for name, share in admission.rejections)
    finding = Finding(
        "EQ120",
        "admission",
        f"the transfer set is {'' if admission.is_admitted else 'not '}admitted: rejected of omissions: {words}",
        admission.correctness,
        method="signatures at the reference view, frozen before any policy was scored",
        unit="share of complete libraries that the reference view gets right",
        counts={"wrong definitive verdicts on complete libraries": admission.wrong_definitive},
        verdict=Verdict.SUPPORTED if admission.is_admitted else Verdict.REFUTED,
    )
    title = "The transfer to two-dimensional reaction-diffusion"
    notes = (
        f"{len(table.items)} episodes: {STUDIES['transfer'].what}; seeds {_range(plan.settings['seeds'])}.",
        "A cluster is one simulated trajectory; its noise levels and library contracts are not independent.",
    )
    if not admission.is_admitted:
        summary = ("The transfer set is not admitted, so no policy is scored on it.",)
        return Analysis(room="equations", title=title, summary=summary, findings=(finding,), notes=notes)
    return conclude(title, evidence, notes=notes, extra=(finding,), lab_tables=(tables.contract_table(evidence),))


def conclude(
    title: str,
    evidence: ViewEvidence,
    *,
    notes: tuple[str, ...],
    proven: bool = False,
    extra: tuple[Finding, ...] = (),
    lab_tables: tuple[Table, ...] = (),
    lab_charts: tuple[Chart, ...] = (),
) -> Analysis:
    """Return what measurements say in words, tables and charts; no number where a control misbehaved."""
    hold = all(control.holds for control in evidence.controls)
    numbers = (*tables.audit_tables(evidence), *lab_tables) if hold else ()
    return Analysis(
        room="equations",
        title=title,
        summary=_summary(evidence) if hold else ("A control misbehaved, so no number is printed.",),
        findings=(*control_findings(evidence.controls), *((*_findings(evidence, proven), *extra) if hold else ())),
        tables=(*numbers, tables.control_table(evidence.controls)),
        charts=plots.drawn(*lab_charts, *plots.audit_charts(evidence)) if hold else (),
        notes=notes,
        controls_hold=hold,
    )


def control_findings(controls: Sequence[ViewControl]) -> tuple[Finding, ...]:
    """Return a finding for every control that misbehaved."""
    return tuple(
        Finding(
            "EQ141",
            f"control {one.name}",
            f"control '{one.name}' misbehaved: {one.value:.4g} instead of {one.wanted:.4g} ({one.expected})",
            one.value,
            unit="as the control's table says",
        )
        for one in controls
        if not one.holds
    )


def _findings(evidence: ViewEvidence, proven: bool) -> tuple[Finding, ...]:
    audit = evidence.audit
    baseline, fixed = audit.policy("score-max"), evidence.fixed
    flips = rate_finding(
        ("EQ101", "permitted views"),
        "two permitted views give different definitive verdicts on this share of items",
        audit.flippable,
        unit="share of items with a definitive verdict",
        values={"some view is wrong": in_words(audit.reachable)},
    )
    after = evidence.chosen_after
    note = ", the best of all single views as the truth tells afterwards" if after else ""
    return (
        flips,
        _policy("EQ102", baseline, "whoever maximises the score gets a wrong verdict on this share", proven=proven),
        replace(
            _policy(
                "EQ103", fixed, f"fixing {fixed.name.removeprefix('view:')} beforehand is wrong on this share{note}"
            ),
            label_free=not after,
        ),
        *(_policy("EQ104", one, f"{one.name} is wrong on this share") for one in audit.policies if _is_rule(one)),
        _pays(evidence),
        _recommended(evidence),
        *_missing(evidence),
    )


def _is_rule(one: PolicyResult) -> bool:
    return one.name.startswith("agreement")


def _policy(code: str, one: PolicyResult, title: str, *, proven: bool = False) -> Finding:
    return rate_finding(
        (code, one.name),
        title,
        one.wrong,
        unit="share of judged items with a wrong definitive verdict",
        values={"coverage": in_words(one.coverage)},
        proven=proven,
    )


def _pays(evidence: ViewEvidence) -> Finding:
    pays = evidence.audit.score
    return rate_finding(
        ("EQ105", "score"),
        "where an item has wrong and right views, a wrong one is paid as well as every right one, or better",
        pays.wrongness,
        unit="share of items with a wrong and a right view",
        values={
            "definitive minus open score": _plain(pays.decisiveness),
            "best wrong minus best right score": _plain(pays.margin),
        },
    )


def _recommended(evidence: ViewEvidence) -> Finding:
    audit, fewer = evidence.audit, evidence.fewer
    if audit.helps is None or isinstance(fewer, NotApplicable):
        reason = NotApplicable("no agreement rule has fewer wrong verdicts than score-max")
        return Finding("EQ110", "rule", "no agreement rule helps", reason, verdict=Verdict.NOT_APPLICABLE)
    rule = audit.policy(audit.helps)
    cost = audit.cost
    better = fewer.interval.upper < 0
    values: dict[str, str] = {"wrong": in_words(rule.wrong), "coverage": in_words(rule.coverage)}
    if not isinstance(cost, NotApplicable):
        interval = f"[{cost.interval.lower:+.3f}, {cost.interval.upper:+.3f}]"
        values["coverage minus that of score-max"] = f"{cost.estimate:+.3f} {interval}"
    return Finding(
        "EQ110",
        audit.helps,
        f"recommended: {audit.helps}; wrong share minus that of score-max",
        fewer.estimate,
        fewer.interval,
        method=f"paired difference over clusters, {fewer.interval.method}",
        unit="difference of shares of judged items",
        clusters=fewer.n_clusters,
        values=values,
        verdict=Verdict.SUPPORTED if better else Verdict.INCONCLUSIVE,
    )


def _missing(evidence: ViewEvidence) -> tuple[Finding, ...]:
    table = evidence.table
    cells = table.verdict.size
    if not table.missing:
        return ()
    first = table.reason(*min(table.missing))
    always = [view.view for view in evidence.audit.views if view.missing == len(table.items)]
    warnings = (
        (HealthWarning("view-without-verdict", f"never a verdict on {', '.join(always)}", blocking=True),)
        if always
        else ()
    )
    return (
        Finding(
            "EQ107",
            "missing verdicts",
            f"{len(table.missing)} of {cells} cells have no verdict, the first: {first}",
            len(table.missing) / cells,
            unit="share of cells",
            n=cells,
            warnings=warnings,
        ),
    )


def _summary(evidence: ViewEvidence) -> tuple[str, ...]:
    audit = evidence.audit
    baseline = audit.policy("score-max")
    said = [
        f"On {count_in_words(audit.flippable)} two permitted views give different definitive verdicts.",
        f"Whoever maximises the score gets a wrong verdict on {count_in_words(baseline.wrong)}.",
        f"View {evidence.fixed.name.removeprefix('view:')} alone is wrong on {count_in_words(evidence.fixed.wrong)}.",
    ]
    if audit.helps is None:
        said.append("No agreement rule has fewer wrong verdicts than that.")
    else:
        rule = audit.policy(audit.helps)
        said.append(
            f"Recommended: {audit.helps}. It is wrong on {count_in_words(rule.wrong)}, "
            f"and decides {count_in_words(rule.coverage)}."
        )
    return tuple(said)


def _plain(value: float | NotApplicable) -> str:
    return value.reason if isinstance(value, NotApplicable) else f"{value:+.3f}"


def _range(seeds: Sequence[int]) -> str:
    return f"{seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else str(seeds[0])
