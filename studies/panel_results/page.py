"""The page: what was found, where ours loses, and the tables behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from counterproof.core.outcomes import NotApplicable
from counterproof.panel.fixture_table import FixtureRow
from counterproof.report.numbers import count, percent
from counterproof.stats import RatioEstimate
from studies.panel_results import shifts
from studies.panel_results.contests import CALLS, FOCUS, Compared, Recommended
from studies.panel_results.crowds import Crowd
from studies.panel_results.points import CHOW, FAMILIES, OURS
from studies.panel_results.results import BREADTH_K, Results, TableResult
from studies.panel_results.sentiment import REPEATS, SEEDS, Study
from studies.panel_results.sources import SPLITS
from studies.panel_results.tables import (
    TITLES,
    against_table,
    alarm_table,
    arm_table,
    breadth_table,
    closed_table,
    crowd_table,
    curve_table,
    dependence_table,
    difference,
    fixture_table,
    focus_table,
    recommended_table,
    spearman_table,
    ways_table,
)

LIMIT = 4.0
"""Standard errors by which a row of the fixture may miss its closed form."""
BETTER_BELOW = {"chow"}
JUDGED = ("ba", "surest", "chow")
"""Metrics in which one policy can be said to be better."""

FAMILY_NAMES = {"single": "stop at one judge", "cmd": "CMD", "dp": "DP", "static-cmd": "static-CMD"}
RECOMMENDED = "by calibration items alone: the cheapest policy within one standard error of the lowest loss."
FORETELL = (
    "Spearman correlation, over ordered pairs of channels, of a measure on calibration items with the realised gain of "
    "b over a on held-out items; mean over splits."
)
SPEED = (
    "`bash benchmarks/rivals/build.sh && .venv-rivals/bin/python benchmarks/dawid_skene.py` compares Dawid-Skene with "
    "crowd-kit in one run: time, memory and posteriors. `.venv/bin/python benchmarks/pairs.py` compares the pair "
    "diagnostics with a loop over scipy. Ratios belong to the machine that made them, so none stands here."
)


def page(results: Results) -> str:
    """Return `docs/results/panel.md`; equal results give equal bytes."""
    blocks = [
        "# What the fixture and real tables show of the panel audit",
        _introduction(results),
        "## In short",
        _short(results),
        "## Where ours loses",
        _losses(results.tables, results.crowds),
        "## The fixture",
        _fixture_text(results.fixture),
        fixture_table(results.fixture),
        "## Real tables at equal calls",
        _method(),
        *(block for one in results.tables for block in _table_blocks(one)),
        "## Sparse crowds",
        _crowd_text(results),
        crowd_table(results.crowds),
        "## Dependence",
        _dependence_text(),
        dependence_table(results.tables),
        "### What foretells a gain",
        FORETELL,
        spearman_table(results.tables),
        "## The alarm for a shift",
        _alarm_text(results),
        alarm_table(results.alarm),
        "### What to do after an alarm",
        _ways_text(),
        ways_table(results.ways),
        "## Breadth against redundancy",
        _breadth_text(),
        closed_table(results),
        breadth_table(results.tables),
        "## Downstream",
        _downstream_text(results.downstream),
        *(block for unit in results.downstream.arms for block in _arms(results.downstream, unit)),
        "## Speed",
        SPEED,
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _introduction(results: Results) -> str:
    rivals = (
        "Crowd-kit and Snorkel run in an environment of their own (`bash benchmarks/rivals/build.sh`)."
        if results.rivals
        else "The rivals' environment was absent: Dawid-Skene is ours, and Snorkel's LabelModel is left out."
    )
    return (
        "`make results` writes this page, every number on it included, with fixed seeds. Verdicts are real; only the "
        "fixture and the alarm's streams are drawn. Intervals are 95 %, over clusters, in brackets; differences are "
        f"paired. {rivals}"
    )


def _short(results: Results) -> str:
    off = max(abs(row.z) for row in results.fixture)
    lines = [
        f"Fixture: {len(results.fixture)} rows; the largest distance from a closed form is {off:.1f} standard errors."
    ]
    for one in results.tables:
        lines.append(f"{one.source}: {_best(one.compared)} {_advice(one.compared.recommended['ba'])}")
    foretold = [one.dependence.spearman for one in results.tables if one.dependence.spearman is not None]
    first = sum(max(values, key=values.__getitem__) == "conditional gain" for values in foretold)
    lines.append(f"Conditional gain foretells realised gain best on {first} of {len(foretold)} tables.")
    differences = [one.compared.difference for one in results.tables] + [one.difference for one in results.crowds]
    known = [value for value in differences if value is not None]
    if known:
        lines.append(
            f"Our Dawid-Skene and crowd-kit's differ by at most {max(known):.0e} in any posterior, at equal steps."
        )
    arms = {arm.name: arm for arm in results.downstream.arms["calls"]}
    lines.append(
        f"Downstream at equal calls: CMD {arms['CMD'].accuracy:.3f}, best single call "
        f"{arms['best single call'].accuracy:.3f}, difference {difference(arms['CMD'].against)}."
    )
    return "\n".join(f"- {line}" for line in lines)


def _best(one: Compared) -> str:
    calls = min(FOCUS, one.channels)
    values = {name: one.sums[name, calls].value("ba") or 0.0 for name in FAMILIES if (name, calls) in one.sums}
    ours = max((name for name in OURS if name in values), key=values.__getitem__)
    rival = max((name for name in values if name not in OURS), key=values.__getitem__)
    gap = one.difference_of(ours, rival, calls, "ba")
    return (
        f"at {calls} calls {ours} has balanced accuracy {values[ours]:.3f}, the best other ({rival}) "
        f"{values[rival]:.3f}, difference {difference(gap)}."
    )


def _advice(found: Sequence[Recommended]) -> str:
    families = Counter(FAMILY_NAMES.get(one.family, one.family) for one in found)
    said = ", ".join(f"{name} ({times} of {len(found)} splits)" for name, times in families.most_common())
    return f"The tool recommends {said}."


def _losses(tables: Sequence[TableResult], crowds: Sequence[Crowd]) -> str:
    lines = []
    for one in tables:
        calls = min(FOCUS, one.compared.channels)
        for metric in JUDGED:
            found = []
            for ours in OURS:
                for rival in (name for name in FAMILIES if name not in OURS):
                    gap = one.compared.difference_of(ours, rival, calls, metric)
                    if gap is not None and _worse(gap, metric):
                        found.append(f"{ours} than {rival} by {_magnitude(gap)}")
            if found:
                lines.append(f"- {one.source}, {TITLES[metric]} at {calls} calls is worse: {'; '.join(found)}.")
    for one in tables:
        calls = min(FOCUS, one.compared.channels)
        behind = [name for name in OURS if _behind_single(one.compared, name, calls)]
        if behind:
            lines.append(
                f"- {one.source}: at {calls} calls {', '.join(behind)} {'have' if len(behind) > 1 else 'has'} no "
                "higher balanced accuracy than one call of the best channel: stop at one judge."
            )
    lines += _crowd_losses(crowds)
    lead = (
        "Differences whose interval excludes 0, among all comparisons of this page and unadjusted for their number. "
        "Policies made for balanced accuracy weigh classes equally, so where one class is rare, accuracy on the surest "
        "items favours whoever names the common one.\n\n"
    )
    return lead + ("\n".join(lines) or "Nowhere.")


def _crowd_losses(crowds: Sequence[Crowd]) -> list[str]:
    lines = []
    for one in crowds:
        gaps = {name: gap for name, gap in one.against.items() if isinstance(gap, RatioEstimate)}
        worse = [f"than {name} by {_magnitude(gap)}" for name, gap in gaps.items() if gap.interval.upper < 0]
        if worse:
            lines.append(f"- {one.name}, accuracy of our Dawid-Skene without labels is worse: {'; '.join(worse)}.")
    return lines


def _worse(gap: RatioEstimate, metric: str) -> bool:
    return gap.interval.lower > 0 if metric in BETTER_BELOW else gap.interval.upper < 0


def _behind_single(one: Compared, name: str, calls: int) -> bool:
    if (name, calls) not in one.sums or ("majority", 1) not in one.sums:
        return False
    many, single = one.sums[name, calls].value("ba"), one.sums["majority", 1].value("ba")
    return many is not None and single is not None and many <= single + 1e-9


def _magnitude(gap: RatioEstimate) -> str:
    interval = gap.interval
    low, high = sorted((abs(interval.lower), abs(interval.upper)))
    return f"{abs(gap.estimate):.3f} [{low:.3f}, {high:.3f}]"


def _fixture_text(rows: Sequence[FixtureRow]) -> str:
    within = sum(abs(row.z) <= LIMIT for row in rows)
    stated = sum(not isinstance(row.published, NotApplicable) for row in rows)
    return (
        f"{within} of {len(rows)} rows lie within {LIMIT:g} standard errors of their closed form. {stated} have a "
        "published figure, each from one draw of 3 584 rows; its z is against the closed form at that size. Ours are "
        "means over 35 replicates of 512 rows. 4.6934 calls and 3.8641 at .9026 stand beside the rules that come "
        "nearest; the paper does not say by which rule they were made, so their z tests our reading, not the paper."
    )


def _method() -> str:
    return (
        f"Each table is split {SPLITS} times by whole clusters. Policies are fitted on calibration items; figures pool "
        "the held-out items of all splits, a cluster's appearances together. Best-k are the k channels of highest "
        "balanced accuracy on calibration items. Adaptive families are curves: at k calls stands the mixture of the "
        "two policies whose mean calls enclose k, or the dearest one where it takes fewer (see the column of calls). "
        "Dawid-Skene and LabelModel see held-out verdicts without labels (LabelModel gets calibration's class shares "
        "and needs three channels). The others use calibration labels, so that weighted and NB-sequential, which asks "
        "one call after the other under naive Bayes, are the like-for-like rivals. Ties count as a fair coin.\n\n"
        "Balanced accuracy and accuracy on the surest items are of policies made for balanced accuracy. Coverage, "
        "selective accuracy and Chow loss are of policies made for Chow loss, where abstaining costs "
        f"{CHOW.kappa:g} of a wrong accept: votes and exact-stop accept from the agreement that calibration likes "
        "best, abstaining on everything included; the others from a posterior of "
        f"{1 - CHOW.kappa:g}. Abstaining on everything has a Chow loss of {CHOW.kappa:g}."
    )


def _table_blocks(one: TableResult) -> list[str]:
    compared = one.compared
    calls = [k for k in CALLS if k <= compared.channels]
    focus = min(FOCUS, compared.channels)
    text = (
        f"{one.note[0].upper()}{one.note[1:]}. {count(compared.items)} items, "
        f"{count(compared.clusters)} clusters, {compared.channels} channels; {percent(one.share)} of clusters "
        "calibrate."
    )
    return [
        f"### {one.source}",
        text,
        "Balanced accuracy by mean calls:",
        curve_table(compared, calls, "ba"),
        "Chow loss by mean calls:",
        curve_table(compared, calls, "chow"),
        f"All figures at {focus} calls:",
        focus_table(compared, focus),
        f"CMD less others at {focus} calls (for Chow loss, below 0 is better):",
        against_table(compared, focus),
        f"Recommended at a budget of {focus}, {RECOMMENDED}",
        recommended_table(compared),
    ]


def _crowd_text(results: Results) -> str:
    steps = "crowd-kit stops after 50 steps, ours where the likelihood stands still; " if results.rivals else ""
    return (
        "Tens to hundreds of workers, most with few labels an item (Bluebirds: every call made): no joint table can be "
        "filled, so only aggregators that need no labels enter, on all labelled items. Accuracy; "
        f"{steps}where fewer steps do better, the likelihood of so many workers fits noise, and the vote is the safer "
        "choice. LabelModel has uniform class shares."
    )


def _dependence_text() -> str:
    return (
        "Pairs are dependent where the G-test of independence within classes is below .05 after Holm over all pairs of "
        "the table. n_eff is K over 1 + (K-1) mean error correlation; the majority-equivalent is how many independent "
        "channels of the same mean accuracy vote as well as this panel. Alpha is Krippendorff's: it sees agreement, "
        "right or wrong."
    )


def _alarm_text(results: Results) -> str:
    blind = results.blind
    return (
        f"Five channels with error rates {', '.join(f'{rate:g}' for rate in shifts.ERRORS)}; channels 1 and 2 share "
        f"{shifts.BEFORE[0][1]:g} of their draws at calibration. Error rates stay as they are but in the last column. "
        f"Share of {shifts.STREAMS} streams on which the alarm fires within {shifts.WINDOWS} windows, with the median "
        "window; under `no change` these are false alarms. It fires on a changed class share as well, hence its name, "
        f"verdict-distribution shift.\n\nBlind spot: where copying begins between two channels that a budget of two "
        f"calls never asks together, the alarm fires on {blind.leaves} of {blind.streams} streams; asking the full "
        f"panel on {percent(blind.rate)} of items finds it on {blind.probes} of {blind.streams}."
    )


def _ways_text() -> str:
    return (
        "A stream of 20 000 items under a CMD policy from 2 000 rows. The fallback, exact-stop majority of all five, "
        "relies on no model of dependence."
    )


def _breadth_text() -> str:
    return (
        "At equal calls, breadth judges each item once and redundancy fewer items k times, accepting at agreement .8. "
        "Break-even is the cost of a wrong accept, in right ones, above which redundancy is worth more. On real tables "
        f"the best {BREADTH_K} channels by all labels, as many calls as {BREADTH_K} on every item."
    )


def _downstream_text(study: Study) -> str:
    channels = ", ".join(f"{name} (cost {cost:g}, right {share:.2f})" for name, cost, share in study.channels)
    return (
        f"{count(study.sentences)} review sentences, dealt out {REPEATS} times to parts that do not meet: three train "
        "weak channels, one calibrates, a pool is labelled by each aggregator, and a learner (logistic regression on "
        "hashed words) trained on what it accepted is tested on the rest, with "
        f"{len(SEEDS)} seeds. Candidates, learner, seeds, split and evaluator are the same for all arms and hashed: "
        f"{_contracts(study)}. An arm verifies the pool in order until its budget, or the pool, ends. Channels: "
        f"{channels}; a failure is not right. On the gold labels of the whole pool the learner reaches "
        f"{study.ceiling:.3f}."
    )


def _contracts(study: Study) -> str:
    return ", ".join(f"equal {unit} `{digests[0][:12]}`" for unit, digests in study.contracts.items()) + " (first deal)"


def _arms(study: Study, unit: str) -> list[str]:
    return [f"At equal {unit} ({count(int(study.budgets[unit]))}):", arm_table(study.arms[unit])]
