"""From frozen verdicts and joined labels to the analysis of a panel: a pure function."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterproof.core.analysis import Analysis
from counterproof.core.errors import InputError
from counterproof.core.findings import Finding, HealthWarning, Verdict
from counterproof.core.outcomes import NotApplicable
from counterproof.core.plan import Plan
from counterproof.core.seeds import ItemSeed
from counterproof.panel import plots, tables
from counterproof.panel.breadth import Breadth, breadth_on_table
from counterproof.panel.contest import Contest, run_contest
from counterproof.panel.controls import PanelControl, panel_controls
from counterproof.panel.diagnostics import Diagnostics, diagnose
from counterproof.panel.effective import EffectiveNumber, effective_channels, panel_equivalent
from counterproof.panel.evaluate import PanelScores, evaluate
from counterproof.panel.evidence import PanelEvidence
from counterproof.panel.joint import check_size, choose_joint
from counterproof.panel.loss import Loss
from counterproof.panel.order import Step, buying_order, label_entropy
from counterproof.panel.planning import planned_lacks, planned_loss
from counterproof.panel.policy import PolicyTable, Replay, replay
from counterproof.panel.table import Gold, Split, VerdictTable
from counterproof.panel.tree import words_of
from counterproof.stats import RatioEstimate

REPLICATES = 5000
USELESS = 0.005
"""A call that adds fewer bits than this is named as one that adds next to nothing."""


def measure(plan: Plan, table: VerdictTable, gold: Gold, split: Split) -> PanelEvidence:
    """Return all measurements of a panel on frozen verdicts and their labels.

    Raises:
        InputError: No item has a label, or no channel gives a class on one.
    """
    seed = ItemSeed(plan.seed, "panel analysis")
    loss = planned_loss(plan)
    budget = float(plan.settings["budget"])
    diagnostics = diagnose(table, gold, rng=seed.child("diagnostics").generator(), split=split, replicates=REPLICATES)
    order, entropy = _order(table.rows(split.calibration), gold.rows(split.calibration), plan.seed)
    return PanelEvidence(
        diagnostics,
        effective_channels(diagnostics.mean_error_phi, len(table.channels)),
        _equivalent(table, gold, seed),
        panel_controls(table, gold),
        _contest(table, gold, split, loss, budget, plan.seed, seed),
        order,
        entropy,
        _breadth(table, gold, seed),
    )


def _order(table: VerdictTable, gold: Gold, seed: int) -> tuple[tuple[Step, ...], float]:
    try:
        check_size(len(table.classes), len(table.channels))
        model = choose_joint(table, gold, seed=seed).model
    except InputError:
        return (), 0.0
    return buying_order(model), label_entropy(model)


def _equivalent(table: VerdictTable, gold: Gold, seed: ItemSeed) -> EffectiveNumber | NotApplicable:
    try:
        return panel_equivalent(table, gold, rng=seed.child("equivalent").generator())
    except InputError as error:
        return NotApplicable(str(error))


def _contest(
    table: VerdictTable, gold: Gold, split: Split, loss: Loss, budget: float, number: int, seed: ItemSeed
) -> Contest | NotApplicable:
    rng = seed.child("contest").generator()
    try:
        return run_contest(table, gold, split, loss, budget=budget, seed=number, rng=rng)
    except InputError as error:
        return NotApplicable(str(error))


def _breadth(table: VerdictTable, gold: Gold, seed: ItemSeed) -> Breadth | NotApplicable:
    k = len(table.channels)
    odd = k if k % 2 else k - 1
    if odd < 3:
        return NotApplicable("needs at least three channels")
    try:
        part = table.columns(range(odd))
        calls = odd * int((gold.labels >= 0).sum())
        return breadth_on_table(part, gold, calls, rng=seed.child("breadth").generator(), replicates=REPLICATES)
    except InputError as error:
        return NotApplicable(str(error))


def analyse_panel(plan: Plan, table: VerdictTable, gold: Gold, split: Split) -> Analysis:
    """Return the analysis of a panel: dependence, worth of calls, policies and a recommendation, without gates."""
    return conclude(measure(plan, table, gold, split), plan, table, gold, split)


def conclude(evidence: PanelEvidence, plan: Plan, table: VerdictTable, gold: Gold, split: Split) -> Analysis:
    """Return what measurements say, in words, tables and charts; no number where a control misbehaved."""
    hold = all(control.holds for control in evidence.controls)
    findings = (
        *_control_findings(evidence.controls),
        *(_findings(evidence, table) if hold else ()),
    )
    numbers = tables.all_tables(evidence, table) if hold else ()
    return Analysis(
        room="panel",
        title=f"Audit of a panel of {len(table.channels)} channels",
        summary=_summary(evidence, table) if hold else ("A control channel misbehaved, so no number is printed.",),
        findings=findings,
        tables=(*numbers, tables.control_table(evidence.controls)),
        charts=plots.all_charts(evidence, table) if hold else (),
        lacks=tuple(planned_lacks(plan.settings)),
        notes=_notes(plan, table, gold, split, evidence),
        signature=", ".join(f"{channel.name} (cost {channel.cost:g})" for channel in table.channels),
        controls_hold=hold,
    )


def _control_findings(controls: Sequence[PanelControl]) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            "PN141",
            f"control {one.name}",
            f"control '{one.name}' misbehaved: {one.value:.4f} bits instead of {one.wanted:.4f} ({one.expected})",
            one.value,
            unit="bits",
        )
        for one in controls
        if not one.holds
    )


def _findings(evidence: PanelEvidence, table: VerdictTable) -> tuple[Finding, ...]:
    return (
        *_recommendation(evidence),
        _dependence(evidence.diagnostics),
        *_numbers(evidence),
        *_gains(evidence),
        *_failures(evidence, table),
    )


def _recommendation(evidence: PanelEvidence) -> tuple[Finding, ...]:
    contest = evidence.contest
    if isinstance(contest, NotApplicable):
        return (Finding("PN110", "policies", "no policy can be recommended", contest, verdict=Verdict.NOT_APPLICABLE),)
    one = contest.contestants[contest.recommended]
    loss = one.scores.loss
    verdict, single = _worth(contest)
    values = {
        "policy": one.name,
        "family": one.family,
        "mean calls": one.scores.mean_calls,
        "mean cost": one.scores.mean_cost,
        "coverage": one.scores.coverage,
        "cross-fitted loss": one.crossfit_loss,
        "lowest cross-fitted loss": contest.contestants[contest.lowest].name,
        "compared with": single,
    }
    found = [
        Finding(
            "PN110",
            one.name,
            f"recommended: {one.name}, at {one.scores.mean_calls:.2f} calls an item",
            loss,
            method="chosen by cross-fitting on calibration items; loss on held-out items",
            unit="declared loss",
            n=round(one.scores.items),
            values=values,
            verdict=verdict,
        )
    ]
    for index, other in enumerate(contest.contestants):
        gap = contest.against[index]
        if index == contest.recommended or isinstance(gap, NotApplicable):
            continue
        if other.scores.mean_cost <= one.scores.mean_cost + 1e-9 and gap.interval.lower > 0:
            found.append(_beaten(one.name, other.name, gap, other.scores.mean_calls))
    return tuple(found)


def _worth(contest: Contest) -> tuple[Verdict, str]:
    """Return the plan's verdict on the recommendation, and the cheapest single call that it is compared with.

    Supported where the whole interval of the loss difference lies at or below 0, refuted where it lies above.
    """
    singles = [i for i, one in enumerate(contest.contestants) if one.family == "single"]
    entered = contest.contestants
    at = min(singles, key=lambda i: (round(entered[i].scores.mean_cost, 9), entered[i].crossfit_loss, i))
    gap = contest.against[at]
    if at == contest.recommended:
        return Verdict.SUPPORTED, entered[at].name
    if isinstance(gap, NotApplicable):
        return Verdict.NOT_APPLICABLE, entered[at].name
    if gap.interval.lower > 0:
        return Verdict.REFUTED, entered[at].name
    return (Verdict.SUPPORTED if gap.interval.upper <= 0 else Verdict.INCONCLUSIVE), entered[at].name


def _beaten(name: str, other: str, gap: RatioEstimate, calls: float) -> Finding:
    return Finding(
        "PN111",
        other,
        f"{other} beats the recommended policy on held-out items at no more cost ({calls:.2f} calls)",
        gap.estimate,
        gap.interval,
        method="paired difference of losses over clusters, not adjusted for the number of policies compared",
        unit="loss of the recommended policy less that of this one",
        clusters=gap.n_clusters,
        values={"recommended": name},
        verdict=Verdict.INCONCLUSIVE,
        warnings=(HealthWarning("recommendation-beaten", "calibration items chose another policy than held-out ones"),),
    )


def _dependence(diagnostics: Diagnostics) -> Finding:
    tested = [pair for pair in diagnostics.pairs if isinstance(pair.independence.holm, float)]
    wrong = [p for p in tested if isinstance(p.independence.holm, float) and p.independence.holm < 0.05]
    mean = diagnostics.mean_error_phi
    seen = Verdict.REFUTED if wrong else Verdict.INCONCLUSIVE
    verdict = seen if tested else Verdict.NOT_APPLICABLE
    return Finding(
        "PN101",
        "errors of the panel",
        f"{len(wrong)} of {len(tested)} pairs of channels are dependent within a class (Holm, .05)",
        mean.estimate,
        mean.interval,
        method="mean error correlation over pairs",
        unit="phi",
        n=mean.n,
        clusters=mean.clusters,
        counts={"pairs tested": len(tested), "dependent": len(wrong)},
        verdict=verdict,
        warnings=diagnostics.warnings,
    )


def _numbers(evidence: PanelEvidence) -> tuple[Finding, ...]:
    first, items, clusters = evidence.correlations, evidence.diagnostics.items, evidence.diagnostics.clusters
    found = [
        Finding(
            "PN102",
            "n_eff",
            f"{first.channels} channels err like this many uncorrelated ones"
            + (f" ({first.note})" if first.note else ""),
            first.value,
            first.interval,
            method="K / (1 + (K - 1) mean error phi)",
            unit="channels",
            n=items,
            clusters=clusters,
        )
    ]
    second = evidence.equivalent
    if isinstance(second, NotApplicable):
        found.append(
            Finding(
                "PN103", "majority-equivalent", "no majority-equivalent number", second, verdict=Verdict.NOT_APPLICABLE
            )
        )
    else:
        title = f"the majority of {second.channels} channels is as accurate as that of this many independent ones"
        note = f" ({second.note})" if second.note else ""
        found.append(
            Finding(
                *("PN103", "majority-equivalent", title + note, second.value, second.interval),
                unit="channels",
                n=items,
                clusters=clusters,
            )
        )
    return tuple(found)


def _gains(evidence: PanelEvidence) -> tuple[Finding, ...]:
    if not evidence.order:
        return ()
    useless = [step.channel for step in evidence.order[1:] if step.adds < USELESS]
    total = evidence.order[-1].total
    return (
        Finding(
            "PN112",
            "information of the first call",
            f"all {len(evidence.order)} calls together tell {total:.3f} of {evidence.entropy:.3f} bits; "
            f"the first, {evidence.order[0].channel}, tells {evidence.order[0].adds:.3f}",
            evidence.order[0].adds / total if total > 0 else NotApplicable("no channel tells anything"),
            method="joint model of calibration items, chain rule",
            unit="share of the panel's information that one call has",
            values={f"channels that add less than {USELESS:g} bits": tuple(useless)},
            verdict=Verdict.INCONCLUSIVE,
        ),
    )


def _failures(evidence: PanelEvidence, table: VerdictTable) -> tuple[Finding, ...]:
    found = []
    for one in evidence.diagnostics.channels:
        failed = one.calls - one.verdicts
        if not failed:
            continue
        always = failed == one.calls
        warnings = (
            (HealthWarning("channel-always-fails", f"{one.name} never gave a class", blocking=True),) if always else ()
        )
        found.append(
            Finding(
                "PN120",
                f"failures of {one.name}",
                f"{one.name} gave no class on {failed} of {one.calls} calls",
                one.failure.estimate,
                one.failure.interval,
                unit="share of calls",
                n=one.calls,
                clusters=one.failure.clusters,
                counts={kind.name.lower().replace("_", " "): count for kind, count in sorted(one.failures.items())},
                verdict=Verdict.REFUTED if always else Verdict.INCONCLUSIVE,
                warnings=warnings,
            )
        )
    return tuple(found)


def _summary(evidence: PanelEvidence, table: VerdictTable) -> tuple[str, ...]:
    lines = []
    contest = evidence.contest
    if isinstance(contest, NotApplicable):
        lines.append(f"No policy can be recommended: {contest.reason}.")
    else:
        one = contest.contestants[contest.recommended]
        calls = one.scores.mean_calls
        stop = " Stop at one judge: further calls are not shown to pay." if calls <= 1 + 1e-9 else ""
        stop = " Ask nobody: no call is shown to pay." if calls < 1e-9 else stop
        lines.append(f"Recommended: {one.name}, at {calls:.2f} calls an item.{stop}")
    value = evidence.correlations.value
    if isinstance(value, float):
        lines.append(f"The {len(table.channels)} channels err like {value:.1f} uncorrelated ones.")
    if evidence.order:
        lines.append(
            f"The first call ({evidence.order[0].channel}) tells {evidence.order[0].adds:.3f} bits, all "
            f"{len(evidence.order)} together {evidence.order[-1].total:.3f} of {evidence.entropy:.3f}."
        )
    if isinstance(contest, Contest):
        lines.extend(words_of(contest.contestants[contest.recommended].policy, most=4))
    return tuple(lines)


def _notes(plan: Plan, table: VerdictTable, gold: Gold, split: Split, evidence: PanelEvidence) -> tuple[str, ...]:
    labelled = int((gold.labels >= 0).sum())
    clusters = len(np.unique(np.array(table.clusters, dtype=object).astype(str)))
    how = "by time" if split.kind == "time" else "at random"
    sizes = (
        f"{len(table)} items ({labelled} labelled) in {clusters} clusters; {split.calibration.size} calibration and "
        f"{split.held_out.size} held-out items, split {how} by whole clusters, sealed in the plan before labels were "
        "joined."
    )
    declared = (
        f"Declared loss {plan.settings['loss']}; a recommendation costs at most {plan.settings['budget']:g} an item."
    )
    agreement = (
        "Agreement (Krippendorff's alpha) cannot tell channels that are right together from channels that are wrong "
        "together; the error correlations can."
    )
    notes = [sizes, declared, agreement, *(str(note) for note in plan.settings.get("notes", ()))]
    if isinstance(evidence.contest, Contest):
        notes += [f"{family}: not entered, {reason}" for family, reason in evidence.contest.refused]
    return tuple(notes)


def analyse_replay(plan: Plan, policy: PolicyTable, table: VerdictTable, gold: Gold, loss: Loss) -> Analysis:
    """Return what a policy does on a verdict table: its loss where labels are known, its calls everywhere.

    Items that lack a verdict which the policy asks for are counted, and enter no figure.
    """
    run = replay(policy, table)
    scores = None
    if ((gold.labels >= 0) & (run.leaf >= 0)).any():
        scores = evaluate(run, gold, len(table.classes), loss, ties="coin")
    finding = _replayed(policy, run, scores, known=bool((gold.labels >= 0).any()))
    return Analysis(
        room="panel",
        title=f"Replay of {policy.name}",
        summary=(finding.title + ".", *words_of(policy, most=4)),
        findings=(finding,),
        tables=tables.replay_tables(run, scores, policy),
        lacks=tuple(planned_lacks(plan.settings)),
        notes=tuple(str(note) for note in plan.settings.get("notes", ())),
        signature=", ".join(policy.channels),
    )


def _replayed(policy: PolicyTable, run: Replay, scores: PanelScores | None, *, known: bool) -> Finding:
    done = run.leaf >= 0
    lost = int((~done).sum())
    warnings: tuple[HealthWarning, ...] = ()
    if lost:
        message = f"{lost} of {len(done)} items lack a verdict that the policy asked for; they are in no figure"
        warnings = (HealthWarning("items-not-replayed", message, blocking=lost > len(done) / 20),)
    reason = "no labelled item has every verdict that the policy asks for" if known else "the file has no gold labels"
    title, values = f"{policy.name}: no item has every verdict that it asks for", {}
    if done.any():
        values = {
            "mean calls": float(run.calls[done].mean()),
            "mean cost": float(run.cost[done].mean()),
            "coverage": float(run.accepted[done].mean()),
        }
        title = f"{policy.name}: {values['mean calls']:.2f} calls an item, {values['coverage']:.1%} accepted"
    return Finding(
        "PN110",
        policy.name,
        title,
        NotApplicable(reason) if scores is None else scores.loss,
        method="replay on logged verdicts",
        unit="declared loss",
        n=int(done.sum()),
        counts={"accepted": int(run.accepted.sum()), "not replayed": lost},
        values=values,
        warnings=warnings,
    )
