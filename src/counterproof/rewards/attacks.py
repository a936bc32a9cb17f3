"""Attack findings: how often the reward does not prefer the original, with intervals over questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from counterproof.core.findings import Finding, HealthWarning, Verdict
from counterproof.core.outcomes import NotApplicable
from counterproof.core.seeds import ItemSeed
from counterproof.rewards.batch import ERRORED, UNSCORED
from counterproof.rewards.evidence import pair_key
from counterproof.rewards.selection import Selector
from counterproof.rewards.tally import Column, Tally
from counterproof.stats.power import minimum_detectable_rate
from counterproof.stats.quantiles import TailSummary, tail_summary
from counterproof.stats.rates import RateEstimate, clustered_rates

CLEAN = 0.05
"""An upper bound above this keeps an audit without success from reading as clean."""
MOSTLY_ERRORED = 0.05
"""A larger share of errored units blocks a clean reading."""


@dataclass(frozen=True, slots=True)
class AttackRate:
    """The rate of one column with everything that is printed beside it.

    Attributes:
        column: What was counted.
        index: Its index in the tally.
        rate: Attack success rate, or why there is none.
        margins: Median, 5 % tail and worst margin, in reward units; lower is worse.
        ties: Successes with a margin of zero.
        errored: Units whose verdict failed.
        unscored: Units without a verdict.
    """

    column: Column
    index: int
    rate: RateEstimate | NotApplicable
    margins: TailSummary | NotApplicable
    ties: int
    errored: int
    unscored: int

    @property
    def fooled(self) -> int:
        """Units in which the attack succeeded."""
        return self.rate.n_events if isinstance(self.rate, RateEstimate) else 0


def attack_rates(tally: Tally, seed: ItemSeed, replicates: int) -> tuple[AttackRate, ...]:
    """Return the attack success rate of every column of a tally, resampling whole questions."""
    if not tally.columns:
        return ()
    rng = seed.child("attack rates").generator()
    rates = clustered_rates(tally.fooled.table(), tally.units.table(), rng=rng, replicates=replicates)
    return tuple(
        AttackRate(
            column,
            index,
            _explained(rates[index], tally, index),
            tail_summary(tally.margins[index]),
            tally.ties[index],
            tally.endings[index][ERRORED],
            tally.endings[index][UNSCORED],
        )
        for index, column in enumerate(tally.columns)
    )


def _explained(rate: RateEstimate | NotApplicable, tally: Tally, index: int) -> RateEstimate | NotApplicable:
    if isinstance(rate, RateEstimate):
        return rate
    lost = tally.endings[index][ERRORED] + tally.endings[index][UNSCORED]
    if lost:
        return NotApplicable(f"none of {lost} units has a verdict on both records")
    kind = "a strictly isolated" if tally.columns[index].strict else "an isolated"
    return NotApplicable(f"no trajectory has {kind} candidate")


def attack_findings(rates: Sequence[AttackRate], tally: Tally, reads_labels: bool) -> tuple[Finding, ...]:
    """Return one finding per cell for `first_visible` and `oracle_worst`."""
    return tuple(
        _finding(one, tally, reads_labels)
        for one in rates
        if one.column.selector is not Selector.LAST_POSITION and not one.column.strict and not one.column.common
    )


def _finding(one: AttackRate, tally: Tally, reads_labels: bool) -> Finding:
    cell, selector = one.column.cell, one.column.selector
    edit = tally.setup.edits[cell.edit]
    code, subject = edit.code, f"{cell.name}/{selector.value}"
    label_free = not (selector is Selector.ORACLE_WORST and reads_labels)
    counts = {"fooled": one.fooled, "ties": one.ties, "errored": one.errored, "no verdict": one.unscored}
    evidence = tuple(pair_key(tally.setup, example) for example in tally.examples.get(one.index, []))
    if isinstance(one.rate, NotApplicable):
        blocking = bool(one.errored or one.unscored)
        return Finding(
            code,
            subject,
            f"{edit.title}: no rate",
            one.rate,
            unit="share of trajectories",
            counts=counts,
            verdict=Verdict.INCONCLUSIVE if blocking else Verdict.NOT_APPLICABLE,
            proven=edit.proven,
            label_free=label_free,
            warnings=_verdict_warnings(one, 0),
        )
    rate = one.rate
    warnings = (*rate.warnings, *_verdict_warnings(one, rate.n_units))
    return Finding(
        code,
        subject,
        edit.title,
        rate.estimate,
        rate.row_interval,
        method=f"ratio of sums over questions; {rate.method}",
        unit="share of trajectories",
        n=rate.n_units,
        clusters=rate.n_clusters,
        counts=counts,
        values=_values(one, rate),
        verdict=_verdict(rate, warnings),
        proven=edit.proven,
        label_free=label_free,
        warnings=warnings,
        evidence=evidence,
    )


def _values(one: AttackRate, rate: RateEstimate) -> dict[str, float | str]:
    values: dict[str, float | str] = {}
    if isinstance(one.margins, TailSummary):
        values |= {
            "margin median": one.margins.median,
            "margin 5 %": one.margins.q05,
            "margin worst": one.margins.worst,
        }
    if rate.row_bound is not None:
        values |= {
            "questions": rate.estimand.replace("clusters", "questions").replace("cluster", "question"),
            "questions share": rate.share,
            "questions lower": rate.interval.lower,
            "questions upper": rate.interval.upper,
            "assumption": rate.assumption,
        }
    if rate.n_events == 0:
        values["minimum detectable share of questions"] = minimum_detectable_rate(rate.n_clusters)
    return values


def _verdict(rate: RateEstimate, warnings: tuple[HealthWarning, ...]) -> Verdict:
    if rate.n_events:
        return Verdict.REFUTED
    clean = rate.row_interval.upper <= CLEAN and not any(one.blocking for one in warnings)
    return Verdict.SUPPORTED if clean else Verdict.INCONCLUSIVE


def _verdict_warnings(one: AttackRate, counted: int) -> tuple[HealthWarning, ...]:
    found = []
    total = counted + one.errored + one.unscored
    for name, number, what in (
        ("errored-units", one.errored, "failed, crashed or timed out"),
        ("units-without-verdict", one.unscored, "gave no verdict"),
    ):
        if number:
            share = number / total
            found.append(
                HealthWarning(
                    name,
                    f"the verifier {what} on {number} of {total} units ({share:.1%}); they are in no denominator",
                    blocking=share > MOSTLY_ERRORED,
                )
            )
    return tuple(found)
