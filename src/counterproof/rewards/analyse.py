"""From frozen stages to the analysis of a rewards audit: a pure function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from counterproof.core.analysis import Analysis, Lack, Pair, Table
from counterproof.core.findings import Finding, HealthWarning, Verdict
from counterproof.core.outcomes import NotApplicable
from counterproof.core.plan import Plan
from counterproof.core.seeds import ItemSeed
from counterproof.core.views import reads_labels
from counterproof.rewards import tables
from counterproof.rewards.attacks import AttackRate, attack_findings, attack_rates
from counterproof.rewards.batch import ERRORED, FOOLED, RESISTED, UNSCORED
from counterproof.rewards.edits import EDITS
from counterproof.rewards.episode import Statelessness
from counterproof.rewards.plots import charts_of
from counterproof.rewards.repair import Repair, repair_finding, repair_of
from counterproof.rewards.selection import Selector
from counterproof.rewards.tally import Tally

REPLICATES = 5000
"""Bootstrap replicates, as published."""


@dataclass(frozen=True, slots=True)
class Control:
    """What a control reward gave on a sample of the pool, through the same path as the audited reward.

    Attributes:
        name: `constant` (every unit must be fooled) or `oracle` (none may be).
        fooled: Units fooled over all columns.
        units: Units over all columns, whatever their ending.
        expected: How many had to be fooled.
        unjudged: Units without a verdict on both records; a control must have none.
    """

    name: str
    fooled: int
    units: int
    expected: int
    unjudged: int = 0

    @property
    def holds(self) -> bool:
        """Whether the control behaved; with no unit at all it shows nothing and does not hold."""
        return self.units > 0 and self.fooled == self.expected and not self.unjudged


def control_of(name: str, tally: Tally) -> Control:
    """Return what a control's tally says: a constant reward must be fooled everywhere, the oracle nowhere.

    The oracle is -(U + L + F), so it is held to the built-in edits only: one from outside may break what it cannot see.
    """
    known = {one.name for one in EDITS}
    endings = [
        tally.endings[index]
        for index, column in enumerate(tally.columns)
        if name != "oracle" or tally.setup.edits[column.cell.edit].name in known
    ]
    units = sum(counts[ending] for counts in endings for ending in (FOOLED, RESISTED, ERRORED, UNSCORED))
    fooled = sum(counts[FOOLED] for counts in endings)
    unjudged = sum(counts[ending] for counts in endings for ending in (ERRORED, UNSCORED))
    return Control(name, fooled, units, units if name == "constant" else 0, unjudged)


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
    hold = all(control.holds for control in controls)
    rates = attack_rates(tally, seed, REPLICATES)
    repair = repair_of(tally)
    attacks = attack_findings(rates, tally, reads_labels(tally.reads))
    findings = (
        *_state_findings(plan, evidence.stateless),
        *_control_findings(controls),
        *(attacks if hold else ()),
        *((repair_finding(repair, tally), *_blind_findings(tally)) if hold else ()),
        *_skipped_findings(tally),
    )
    numbers = _number_tables(rates, repair, evidence) if hold else ()
    return Analysis(
        room="rewards",
        title=f"Audit of the reward {plan.arms[0]}",
        summary=_summary(plan, attacks, repair, tally, controls, evidence.stateless),
        findings=findings,
        tables=(*numbers, *_setting_tables(evidence, controls)),
        charts=charts_of(rates, repair, tally) if hold else (),
        pairs=tuple(evidence.pairs) if hold else (),
        lacks=tuple(evidence.lacks),
        notes=_notes(tally),
        signature=evidence.signature,
        controls_hold=hold,
    )


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


def _state_findings(plan: Plan, stateless: Statelessness) -> tuple[Finding, ...]:
    changed = len(stateless.mismatches)
    if not changed:
        return ()
    allowed = bool(plan.settings.get("allow_stateful"))
    warning = HealthWarning(
        "stateful-verifier",
        "the verifier gives the same record different scores, so margins mix its state with the edit",
        blocking=True,
    )
    return (
        Finding(
            "RW140",
            "statelessness",
            "the verifier does not score the same record the same way twice" + (" (allowed)" if allowed else ""),
            changed / len(stateless.names),
            unit="share of originals whose score changed",
            n=len(stateless.names),
            counts={"changed": changed},
            values={"examples": stateless.mismatches[:5]},
            verdict=Verdict.REFUTED,
            proven=True,
            warnings=(warning,),
        ),
    )


def _control_findings(controls: Sequence[Control]) -> tuple[Finding, ...]:
    found = []
    for one in controls:
        if one.holds:
            continue
        if one.units:
            share: float | NotApplicable = one.fooled / one.units
            title = f"control '{one.name}' misbehaved: {one.fooled} of {one.units} fooled instead of {one.expected}"
            title += f", {one.unjudged} without a verdict" if one.unjudged else ""
        else:
            share = NotApplicable("no trajectory of the sample has an isolated candidate")
            title = f"control '{one.name}' had nothing to show: no attack can be made on this log"
        counts = {"fooled": one.fooled, "expected": one.expected, "no verdict": one.unjudged}
        found.append(Finding("RW141", one.name, title, share, unit="share of units", n=one.units, counts=counts))
    return tuple(found)


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
    tally: Tally,
    controls: Sequence[Control],
    stateless: Statelessness,
) -> tuple[str, ...]:
    lines = []
    if stateless.mismatches:
        lines.append(
            f"The verifier keeps state: {len(stateless.mismatches)} of {len(stateless.names)} originals got another "
            "score when scored again."
        )
    bad = [one for one in controls if not one.holds]
    if bad:
        words = "has no attackable unit" if not any(one.units for one in bad) else "misbehaved"
        return (*lines, f"Control {', '.join(one.name for one in bad)} {words}, so no rate is printed.")
    worst = [one for one in attacks if one.subject.endswith(Selector.ORACLE_WORST.value)]
    hit = [one for one in worst if isinstance(one.estimate, float) and one.estimate > 0]
    scored = [one for one in worst if isinstance(one.estimate, float)]
    if hit:
        top = max(hit, key=lambda one: (one.interval.lower if one.interval else 0.0, one.subject))
        lines.append(
            f"{plan.arms[0]} can be fooled. On {top.counts['fooled']} of {top.n} trajectories it does not score the "
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
