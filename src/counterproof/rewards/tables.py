"""Tables of a rewards audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from counterproof.core.analysis import Cell as Shown
from counterproof.core.analysis import Table
from counterproof.rewards.attacks import AttackRate
from counterproof.rewards.repair import Repair
from counterproof.rewards.selection import Selector
from counterproof.rewards.tally import Tally
from counterproof.stats.binomial import exact_interval
from counterproof.stats.quantiles import TailSummary
from counterproof.stats.rates import RateEstimate

_MARGIN = "+.4f"


def attack_table(rates: Sequence[AttackRate]) -> Table:
    """Return attack success by cell and selector, with ties, failures and margins."""
    rows = [
        (
            *(one.column.cell.name, one.column.selector.value, *_rate_cells(one.rate)),
            *(one.ties, one.errored, one.unscored, *_margin_cells(one)),
        )
        for one in rates
        if not one.column.strict and not one.column.common
    ]
    return Table(
        "attacks",
        "Attack success: how often the reward does not prefer the original",
        (
            *("attack", "selector", "ASR", "lower", "upper", "fooled", "units", "questions"),
            *("ties", "errored", "no verdict", "margin median", "margin 5 %", "margin worst"),
        ),
        tuple(rows),
        note=(
            "Success is a margin R(original) - R(counterfactual) of at most 1e-9; ties count. Only isolated candidates "
            "enter. Units without a verdict on both records are in no denominator. Intervals (95 %) resample "
            "questions; with few or no events they are exact bounds."
        ),
        formats={
            **dict.fromkeys(("ASR", "lower", "upper"), ".1%"),
            **dict.fromkeys(("margin median", "margin 5 %", "margin worst"), _MARGIN),
        },
    )


def _rate_cells(rate: object) -> tuple[Shown, ...]:
    if not isinstance(rate, RateEstimate):
        return (None, None, None, 0, 0, 0)
    interval = rate.row_interval
    return (rate.estimate, interval.lower, interval.upper, rate.n_events, rate.n_units, rate.n_clusters)


def _margin_cells(one: AttackRate) -> tuple[Shown, ...]:
    if not isinstance(one.margins, TailSummary):
        return (None, None, None)
    return (one.margins.median, one.margins.q05, one.margins.worst)


def strictness_table(rates: Sequence[AttackRate]) -> Table:
    """Return attack success under `oracle_worst` on isolated, strictly isolated and common units."""
    kinds = {(False, False): "isolated", (True, False): "strictly isolated", (False, True): "common to all attacks"}
    rows = tuple(
        (one.column.cell.name, kinds[one.column.strict, one.column.common], *_rate_cells(one.rate))
        for one in rates
        if one.column.selector is Selector.ORACLE_WORST
    )
    return Table(
        "strictness",
        "Attack success by how much else the edit changed (oracle_worst)",
        ("attack", "units counted", "ASR", "lower", "upper", "fooled", "units", "questions"),
        rows,
        note=(
            "Strictly isolated: repeated query, over-retrieval and answer without citation are unchanged too. Common: "
            "trajectories that have an isolated candidate for every edit."
        ),
        formats=dict.fromkeys(("ASR", "lower", "upper"), ".1%"),
    )


def funnel_table(tally: Tally) -> Table:
    """Return the funnel of every edit and stratum, in trajectories and in candidates."""
    rows: list[tuple[Shown, ...]] = []
    for (edit, targets), counts in sorted(tally.funnel.items()):
        name = tally.setup.edits[edit].name + (f"{{{tally.setup.names(targets)}}}" if targets else "")
        stages = ("constructed", "eligible", "isolated", "strict")
        columns = [f"{stage} {what}" for what in ("units", "candidates") for stage in stages]
        rows.append((name, counts["units"], *(counts[one] for one in columns)))
    return Table(
        "funnel",
        "From trajectories to units: who can be tested",
        (
            *("edit", "trajectories", "constructible", "eligible", "isolated", "strictly isolated"),
            *("candidates made", "candidates eligible", "candidates isolated", "candidates strictly isolated"),
        ),
        tuple(rows),
        note="Eligible: every target detector goes from 0 to 1. Isolated: the rest of U, L, F is unchanged.",
    )


def lattice_table(repair: Repair, tally: Tally) -> Table:
    """Return successes under every subset of detectors, primary attacks only."""
    rows: tuple[tuple[Shown, ...], ...] = tuple(
        (tally.lattice.label(subset), *counts, repair.sufficient[subset], subset in repair.minimal)
        for subset, counts in enumerate(repair.fooled)
    )
    return Table(
        "lattice",
        "Every subset of detectors as a repair: units still fooled (oracle_worst, re-maximised)",
        ("penalties added", *repair.cells, "sufficient", "inclusion-minimal"),
        rows,
        note=(
            "Units: "
            + ("; ".join(f"{cell} {n}" for cell, n in zip(repair.cells, repair.units, strict=True)) or "none")
            + ". Sufficient: no success in any primary attack. Minimal: and no proper subset is sufficient."
        ),
    )


def weight_table(repair: Repair, tally: Tally) -> Table:
    """Return each detector's weight beside the least that would suffice alone."""
    rows = tuple(
        (need.detector, float(weight), need.weight, need.binding or None)
        for need, weight in zip(repair.needs, tally.lattice.weights, strict=True)
    )
    return Table(
        "weights",
        "The least weight with which one detector alone closes every attack",
        ("detector", "weight used", "least sufficient weight", "set by (or cannot close)"),
        rows,
        note="In reward units. No number: no weight of this detector alone suffices; the attack named is out of reach.",
        formats={"weight used": "g", "least sufficient weight": ".4f"},
    )


def cancellation_table(tally: Tally) -> Table:
    """Return what each attack's worst candidates cost and what paid it back."""
    rows = []
    for index, column in enumerate(tally.columns):
        total = tally.cancellation.get(index)
        if total is None or not total.units:
            continue
        payer = max(sorted(total.payers), key=lambda name: total.payers[name], default="")
        paid = bool(payer) and total.payers[payer] > 0
        ratio = total.payback / total.penalty if total.penalty else None
        rows.append(
            (
                *(column.cell.name, total.units, total.penalty / total.units, total.payback / total.units, ratio),
                *(payer if paid else None, total.unpenalised, total.opaque),
            )
        )
    return Table(
        "cancellation",
        "What an edit costs and what pays it back (oracle_worst, means over units)",
        ("attack", "units", "penalty P", "payback B", "B/P", "top payer", "units without penalty", "largest residual"),
        tuple(rows),
        note=(
            "P sums the components that fell, B those that rose; margin = P - B + residual. No B/P: no penalty was "
            "registered at all. The residual is what no component explains (a bare number has only that)."
        ),
        formats={"penalty P": ".4f", "payback B": ".4f", "B/P": ".2f", "largest residual": ".4f"},
    )


def movement_table(tally: Tally) -> Table:
    """Return the largest change that any isolated candidate made in each component: zero is a blind spot."""
    rows = tuple((name, largest, largest <= 1e-9) for name, largest in sorted(tally.movement.items()))
    return Table(
        "components",
        "Which components the edits move",
        ("component", "largest change", "blind spot"),
        rows,
        note="A component that no edit moves was not tested by this audit: nothing is known of it.",
        formats={"largest change": ".4f"},
    )


def incidence_table(tally: Tally) -> Table:
    """Return on how many originals each detector fires, with exact bounds over questions."""
    table = tally.incidence.table()
    rows = []
    for bit, one in enumerate(tally.setup.detectors):
        questions = int((table[:, bit] > 0).sum())
        interval = exact_interval(questions, len(table)) if len(table) else None
        rows.append(
            (one.name, one.title, int(table[:, bit].sum()), int(table[:, -1].sum()), questions, len(table))
            + ((interval.lower, interval.upper) if interval else (None, None))
        )
    return Table(
        "incidence",
        "How often originals break the contract by themselves",
        ("detector", "meaning", "trajectories", "of", "questions with any", "of questions", "lower", "upper"),
        tuple(rows),
        note="The interval (95 %, exact) is for the share of questions with any.",
        formats={"lower": ".1%", "upper": ".1%"},
    )


def ties_table(tally: Tally) -> Table:
    """Return how often equal ranking scores decided which passages were tried."""
    rows = tuple(
        (f"{tally.setup.edits[edit].name}/{name}", n["units"], n["top"] / n["units"], n["edge"] / n["units"])
        for (edit, name), n in sorted(tally.edge_ties.items())
    )
    return Table(
        "ranking ties",
        "Where the order of ids decided which passages were tried",
        ("generator", "trajectories", "tie at the top", "tie at the budget's edge"),
        rows,
        formats={"tie at the top": ".1%", "tie at the budget's edge": ".1%"},
    )


def outcome_table(tally: Tally) -> Table:
    """Return what the verifier's calls ended in other than a score."""
    scored = tally.calls - sum(tally.reasons.values())
    rows = (("scored", scored), *sorted(tally.reasons.items()))
    return Table("outcomes", "What the calls of the verifier ended in", ("outcome", "calls"), rows)


def skipped_table(tally: Tally) -> Table:
    """Return the edits and detectors that do not apply to this log, and why."""
    return Table("not applicable", "What this log cannot be tested for", ("what", "reason"), tally.setup.skipped)


def model_table(by_model: Mapping[str, Tally]) -> Table:
    """Return attack success under `oracle_worst` for each model that produced trajectories."""
    rows = []
    for model, tally in sorted(by_model.items()):
        fooled, units = tally.fooled.table(), tally.units.table()
        for index, column in enumerate(tally.columns):
            if column.selector is not Selector.ORACLE_WORST or column.strict or column.common:
                continue
            hit, seen = int(fooled[:, index].sum()), int(units[:, index].sum())
            questions = int((units[:, index] > 0).sum())
            any_hit = int((fooled[:, index] > 0).sum())
            interval = exact_interval(any_hit, questions) if questions else None
            bounds = (interval.lower, interval.upper) if interval else (None, None)
            rows.append((model, column.cell.name, hit / seen if seen else None, hit, seen, any_hit, questions, *bounds))
    return Table(
        "models",
        "Attack success by model (oracle_worst)",
        ("model", "attack", "ASR", "fooled", "units", "questions with any", "questions", "lower", "upper"),
        tuple(rows),
        note="The interval (95 %, exact) is for the share of questions with any success.",
        formats=dict.fromkeys(("ASR", "lower", "upper"), ".1%"),
    )
