"""From frozen stages to the analysis of a rewards audit: a pure function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from counterproof.core.analysis import Analysis, Lack, Pair, Table
from counterproof.core.findings import Finding, Verdict
from counterproof.core.outcomes import NotApplicable
from counterproof.core.plan import Plan
from counterproof.core.seeds import ItemSeed
from counterproof.core.views import reads_labels
from counterproof.rewards import tables
from counterproof.rewards.attacks import AttackRate, attack_findings, attack_rates
from counterproof.rewards.checks import (
    Control,
    control_findings,
    control_of,
    obstacle,
    obstacle_summary,
    state_findings,
    state_sentence,
    verdict_findings,
    without_unit,
)
from counterproof.rewards.episode import Statelessness
from counterproof.rewards.plots import charts_of
from counterproof.rewards.repair import Repair, repair_finding, repair_of
from counterproof.rewards.selection import Selector
from counterproof.rewards.tally import Tally

REPLICATES = 5000
"""Bootstrap replicates, as published."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that an analysis reads, besides the plan.

    Attributes:
        tally: Counts of the audited reward.
        by_model: The same by model, where the log names more than one.
        controls: Counts of each control reward.
        stateless: What scoring the same records again gave.
        pairs: Examples, built after the scores were frozen.
        lacks: What the log lacked.
        signature: How the reward was bound.
    """

    tally: Tally
    by_model: Mapping[str, Tally]
    controls: Mapping[str, Tally]
    stateless: Statelessness
    pairs: Sequence[Pair]
    lacks: Sequence[Lack]
    signature: str


def analyse(plan: Plan, evidence: Evidence) -> Analysis:
    """Return the analysis of a rewards audit: findings, tables, charts and pairs, without gates."""
    tally = evidence.tally
    seed = ItemSeed(plan.seed, "analysis")
    controls = tuple(control_of(name, one) for name, one in sorted(evidence.controls.items()))
    if not controls:
        return _stopped(plan, evidence)
    hold = all(control.holds for control in controls)
    bare = without_unit(controls, tally)
    rates = attack_rates(tally, seed, REPLICATES)
    repair = repair_of(tally)
    attacks = attack_findings(rates, tally, reads_labels(tally.reads))
    findings = (
        *state_findings(plan, evidence.stateless),
        *control_findings(controls),
        *(attacks if hold else ()),
        *((repair_finding(repair, tally), *_blind_findings(tally)) if hold else ()),
        *_skipped_findings(tally),
    )
    numbers = _number_tables(rates, repair, evidence) if hold else ()
    return Analysis(
        room="rewards",
        title=_title(plan),
        summary=_summary(plan, attacks, repair, evidence, controls),
        findings=findings,
        tables=(*numbers, *_setting_tables(evidence, controls)),
        charts=charts_of(rates, repair, tally) if hold else (),
        pairs=tuple(evidence.pairs) if hold else (),
        lacks=tuple(evidence.lacks),
        notes=_notes(tally),
        signature=evidence.signature,
        controls_hold=hold,
        controls_note="had no unit to show anything on" if bare else "",
    )


def _stopped(plan: Plan, evidence: Evidence) -> Analysis:
    """Return the analysis of a run that ended before its controls: what was seen of the verifier, and nothing else."""
    why = obstacle(evidence.stateless, stateful_allowed=bool(plan.settings.get("allow_stateful")))
    return Analysis(
        room="rewards",
        title=_title(plan),
        summary=obstacle_summary(plan, evidence.stateless) if why else ("The run has not come to its controls.",),
        findings=(
            *verdict_findings(plan, evidence.stateless),
            *state_findings(plan, evidence.stateless),
            *_skipped_findings(evidence.tally),
        ),
        lacks=tuple(evidence.lacks),
        signature=evidence.signature,
        controls_note=f"not run, because {why}" if why else "not run",
    )


def _title(plan: Plan) -> str:
    return f"Audit of the reward {plan.arms[0]}"


def _number_tables(rates: Sequence[AttackRate], repair: Repair, evidence: Evidence) -> tuple[Table, ...]:
    tally = evidence.tally
    models = (tables.model_table(evidence.by_model),) if len(evidence.by_model) > 1 else ()
    return (
        tables.attack_table(rates),
        tables.lattice_table(repair, tally),
        tables.weight_table(repair, tally),
        tables.cancellation_table(tally),
        tables.strictness_table(rates),
        *models,
        tables.movement_table(tally),
    )


def _setting_tables(evidence: Evidence, controls: Sequence[Control]) -> tuple[Table, ...]:
    tally = evidence.tally
    rows = tuple((one.name, one.units, one.expected, one.fooled, one.holds) for one in controls)
    shown = (
        tables.funnel_table(tally),
        tables.incidence_table(tally),
        tables.ties_table(tally),
        tables.outcome_table(tally),
        Table(
            "controls",
            "Control rewards through the same path",
            ("control", "units", "must be fooled", "fooled", "holds"),
            rows,
            note="Units over all attacks and selectors on a sample of the pool.",
        ),
        tables.skipped_table(tally),
    )
    return tuple(one for one in shown if one.rows)


def _blind_findings(tally: Tally) -> tuple[Finding, ...]:
    blind = sorted(name for name, largest in tally.movement.items() if largest <= 1e-9)
    if not blind:
        return ()
    return (
        Finding(
            "RW130",
            "components",
            f"no edit moves {', '.join(blind)}: this audit says nothing of them",
            float(len(blind)),
            unit="components",
            n=len(tally.movement),
            values={"components": tuple(blind)},
            verdict=Verdict.INCONCLUSIVE,
        ),
    )


def _skipped_findings(tally: Tally) -> tuple[Finding, ...]:
    return tuple(
        Finding("RW150", what, f"{what} does not apply", NotApplicable(reason), verdict=Verdict.NOT_APPLICABLE)
        for what, reason in tally.setup.skipped
    )


def _summary(
    plan: Plan,
    attacks: Sequence[Finding],
    repair: Repair,
    evidence: Evidence,
    controls: Sequence[Control],
) -> tuple[str, ...]:
    tally, stateless = evidence.tally, evidence.stateless
    lines = [state_sentence(stateless)] if stateless.mismatches else []
    if bare := without_unit(controls, tally):
        return (*lines, f"{bare[:1].upper()}{bare[1:]}, so no rate is printed.")
    bad = [one.name for one in controls if not one.holds]
    if bad:
        return (*lines, f"Control {', '.join(bad)} misbehaved, so no rate is printed.")
    worst = [one for one in attacks if one.subject.endswith(Selector.ORACLE_WORST.value)]
    hit = [one for one in worst if isinstance(one.estimate, float) and one.estimate > 0]
    scored = [one for one in worst if isinstance(one.estimate, float)]
    if hit:
        top = max(hit, key=lambda one: (one.proven, one.interval.lower if one.interval else 0.0, one.subject))
        name = plan.arms[0]
        lines.append(
            f"{f'{name} can be fooled' if top.proven else f'A lead, no proof, that {name} can be fooled'}. "
            f"On {top.counts['fooled']} of {top.n} trajectories it does not score the "
            f"original above the counterfactual ({top.subject}: {top.title})."
        )
        lines.append(f"{len(hit)} of {len(scored)} attacks succeed at all.")
    elif scored:
        lines.append(f"No attack succeeded on {plan.arms[0]} ({len(scored)} attacks with units).")
    else:
        lines.append("No attack has a unit with a verdict, so nothing was concluded.")
    if repair.cells:
        lines.append(repair_finding(repair, tally).title[:1].upper() + repair_finding(repair, tally).title[1:] + ".")
    return tuple(lines)


def _notes(tally: Tally) -> tuple[str, ...]:
    labels = reads_labels(tally.reads)
    read = ", ".join(sorted(tally.reads)) or "nothing that was tracked"
    meaning = "labels among them: oracle_worst is an oracle selection" if labels else "no label"
    first = f"The reward reads {read} ({meaning})."
    second = (
        "first_visible takes the first isolated candidate in order; oracle_worst the one with the smallest margin, an "
        "upper bound on what an attacker without access to the reward can do."
    )
    third = f"{tally.trajectories} trajectories, {len(tally.incidence)} questions, {tally.calls} calls of the verifier."
    return (first, second, third)
