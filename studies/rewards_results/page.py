"""The page itself: what was found, the claims one by one, and the tables behind them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

from counterproof.report.numbers import count, number
from studies.rewards_results import tables
from studies.rewards_results.claims import Claim, Shown, Word
from studies.rewards_results.laws import LAWS
from studies.rewards_results.paragraphs import CANCELLATION, CONTROLS, EDITS, ELSEWHERE, FUNNEL, attacks
from studies.rewards_results.sources import DEPTH, FIREACT, SAMPLES, SEED, Audited
from studies.rewards_results.weights import OPENING, REPAIRS, lattice, minimal, need, opening
from studies.rewards_results.wording import NONE, asr, grid, signed, whole

CLAIMS: tuple[Claim, ...] = (*CONTROLS, *LAWS, *REPAIRS, *EDITS, *FUNNEL, *CANCELLATION, *ELSEWHERE)
Results: TypeAlias = Sequence[tuple[Claim, Sequence[Shown]]]
"""Each claim with what each source shows of it."""
SIDE = 'Counts stand behind each rate; "at most" and "at least" are exact bounds over questions, scaled to rows.'

LATTICE = (
    "Units still fooled under each subset of detectors with weights U 1.6, L 1.2, F 1.0, `oracle_worst` looked for "
    "anew. Conditional on these attacks, generators and pools."
)
LEAST = (
    "By closed form, from the worst margin under R0; a weight must clear zero by 1e-6. Laundering's worst margin holds "
    "the .5 of g and both flags: the raised L and the lifted mismatch cancel where one citation is wrong."
)


def page(sources: Sequence[Audited]) -> str:
    """Return `docs/results/rewards.md`; equal audits give equal bytes."""
    pools = [one for one in sources if one.source.pooled]
    log = next(one for one in sources if one.source == FIREACT)
    results = [(claim, [claim.check(one) for one in sources]) for claim in CLAIMS]
    blocks = [
        "# What real pools show of the rewards audit",
        _introduction(pools, log),
        "## In short",
        _short(pools, log, results),
        "## Where these pools and logs disagree with a claim",
        _disagreements(sources, results),
        "## Claims at a glance",
        _glance(sources, results),
        "## Claim by claim",
        *_claims(sources, results),
        "## Pools",
        _pool_text(),
        tables.pool_table(sources),
        "### Funnels",
        "Trajectories by how far their candidates come, per stratum, then candidates.",
        tables.funnel_table(sources),
        "### Ranking ties",
        "How often equal scores left it to a hash of the id which passages were tried.",
        tables.tie_table(pools),
        *_success(pools),
        *_repairs(sources, pools),
        "## What the edits do not move",
        "Largest change of each component of R0 over all isolated candidates.",
        tables.movement_table(sources),
        *_fireact(log),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _introduction(pools: Sequence[Audited], log: Audited) -> str:
    candidates = sum(len(one.candidates["reference"].margin) for one in (*pools, log))
    asked = ", ".join(f"{one.name} ({count(one.meta['counts']['questions'])})" for one in pools)
    runs, questions = (count(log.meta["counts"][name]) for name in ("trajectories", "questions"))
    return (
        f"`make results` writes this page, every number on it included. It makes pools over the questions of {asked}, "
        f"{SAMPLES} samples each at depth {DEPTH} and seed {SEED}, audits each under {len(log.analyses)} rewards, and "
        f"does the same with the {runs} {log.name} runs on {questions} questions. The scripted agent's searches, "
        "passages and questions are real; its answers and citations, and their faults, are planted at stated rates. "
        f"The {log.name} runs are those of real models.\n\n"
        "The claims are those that the design of the audit makes, part of them found on earlier pools. What holds and "
        f"what does not was decided by the checks of this page on {count(candidates)} isolated candidates. Intervals "
        "are 95 %; R0 is the reward `reference`, R[L] is `reference+L`, R_full is `reference+full`; margins are in "
        "reward units, and a margin of at most 1e-9 is a success."
    )


def _short(pools: Sequence[Audited], log: Audited, results: Results) -> str:
    words = Counter(one.word for _, shown in results for one in shown)
    said = ", ".join(f"{word.value} {words[word]}" for word in Word)
    lines = [f"{len(results)} claims on {len(pools) + 1} sources: {said}."]
    for attack in ("launder/bm25@16", "same_final{UL}", OPENING, "fake_id"):
        lines.append(f"R0 under `{attack}`, `oracle_worst`: {_across((*pools, log), 'reference', attack)}.")
    rest = [row for one in pools for row in attacks(one, "reference+L", "oracle_worst") if row["attack"] != OPENING]
    others = f"{count(sum(whole(row['fooled']) for row in rest))} successes in the pools' other attacks"
    lines.append(f"R[L] under `{OPENING}`: {_across((*pools, log), 'reference+L', OPENING)}; {others}.")
    lines.append(f"R_full under `launder/bm25@16`: {_across(pools, 'reference+full', 'launder/bm25@16')}.")
    repairs = "; ".join(f"{one.name} {' or '.join(minimal(lattice(one, 'reference')))}" for one in (*pools, log))
    without = "; ".join(
        f"{one.name} {' or '.join(minimal(lattice(one, 'reference', leave_out=OPENING)))}" for one in pools
    )
    lines.append(f"Smallest repair of R0: {repairs}. With stratum {{U}} left out: {without}.")
    needed = "; ".join(f"{one.name} {need(one.candidates['reference'].cell('launder')):.4f}" for one in pools)
    lines.append(f"Least lambda_L against laundering: {needed}.")
    opened = "; ".join(f"{one.name} {opening(one)[0]:.4f}" for one in pools)
    lines.append(f"Mismatch weight at which R_full starts to pay for laundering: {opened}.")
    ties = sum(whole(row["ties"]) for row in attacks(log, "outcome", "oracle_worst"))
    lines.append(f"Outcome-only, searches deleted: {_across((log,), 'outcome', OPENING)}, {count(ties)} of them ties.")
    return "\n".join(f"- {line}" for line in lines)


def _across(sources: Sequence[Audited], reward: str, attack: str) -> str:
    shown = [
        f"{one.name} {asr(row)}"
        for one in sources
        for row in attacks(one, reward, "oracle_worst")
        if row["attack"] == attack
    ]
    return "; ".join(shown)


def _disagreements(sources: Sequence[Audited], results: Results) -> str:
    lines = []
    for place, (claim, shown) in enumerate(results, 1):
        against = [one.name for one, what in zip(sources, shown, strict=True) if what.word is Word.FAILS]
        if against:
            lines.append(f"- Claim {place} ({', '.join(against)}). *{claim.text}* {claim.why}".rstrip())
    return "\n".join(lines) or "Nowhere."


def _glance(sources: Sequence[Audited], results: Results) -> str:
    rows = [
        [f"{place}. {claim.text}", *(what.word.value for what in shown)]
        for place, (claim, shown) in enumerate(results, 1)
    ]
    return grid(["claim", *(one.name for one in sources)], rows)


def _claims(sources: Sequence[Audited], results: Results) -> list[str]:
    blocks, group = [], ""
    for place, (claim, shown) in enumerate(results, 1):
        if claim.group != group:
            group = claim.group
            blocks.append(f"### {group}")
        blocks.append(f"**{place}. {claim.text}** {claim.why}".rstrip())
        lines = [f"- {one.name}: {what.word.value}; {what.text}" for one, what in zip(sources, shown, strict=True)]
        blocks.append("\n".join(lines))
    return blocks


def _pool_text() -> str:
    return (
        "Intervals beside U, L, F and repeats are exact ones for the share of questions with any. The pools hold "
        "uncited answers, no search at all and foreign citations on purpose, at rates that `pool.json` records."
    )


def _success(pools: Sequence[Audited]) -> list[str]:
    titles = {
        "reference": "R0",
        "reference+L": "R[L]",
        "reference+full": "R_full (mismatch weight 1.5)",
        "outcome": "Outcome only",
        "outcome+cost": "Outcome plus cost",
    }
    blocks = ["## Attack success", SIDE]
    for reward, title in titles.items():
        blocks += [f"### {title}", tables.attack_table(pools, reward)]
    blocks += [
        "### R0 on isolated, strictly isolated and common units",
        "Under `oracle_worst`. Common units have an isolated candidate for every edit.",
        tables.strictness_table(pools),
    ]
    for reward in ("reference", "reference+L", "reference+full"):
        blocks += [
            f"### Margins under {titles[reward].partition(' ')[0]}",
            "Median / 5 % tail / worst over units, `oracle_worst`.",
            tables.margin_table(pools, reward),
        ]
    blocks += [
        "### Cancellation under R0",
        "Means over units, `oracle_worst`: P sums the components that fell, B those that rose.",
        tables.cancellation_table(pools, "reference"),
    ]
    return blocks


def _repairs(sources: Sequence[Audited], pools: Sequence[Audited]) -> list[str]:
    return [
        "## Repairs",
        "### The lattice over R0",
        LATTICE,
        tables.lattice_table(sources, "reference"),
        "### Least weights",
        LEAST,
        tables.least_table(sources),
        "### R[L] with its weight multiplied",
        "Under `oracle_worst`.",
        tables.multiple_table(pools),
        "### R_full by the weight of the mismatch penalty",
        "`launder/bm25@16` under `oracle_worst`.",
        tables.sweep_table(pools),
    ]


def _fireact(log: Audited) -> list[str]:
    missing = grid(
        ["what", "not applicable because"],
        [[str(row["what"]), str(row["reason"])] for row in log.rows("reference", "not applicable")],
    )
    rewards = ("reference", "reference+L", "reference+full", "outcome", "outcome+cost")
    shown = grid(
        ["reward", "attack success", "ties", "margin median / 5 % / worst"],
        [
            [
                f"`{reward}`",
                asr(row),
                count(whole(row["ties"])),
                " / ".join(signed(row[name]) for name in ("margin median", "margin 5 %", "margin worst")),
            ]
            for reward in rewards
            for row in attacks(log, reward, "oracle_worst")
        ],
    )
    return [
        f"## {log.name}: runs of real models",
        "It cites nothing and has no corpus: only `same_final{U}` applies. What was not tested is not clean:",
        missing,
        f"### Attack success under `{OPENING}`",
        shown,
        _longest(log),
        "### By model",
        "The interval is for the share of questions with any success.",
        tables.model_table(log, ("reference", "outcome", "outcome+cost")),
        "### Isolated and strictly isolated",
        tables.strictness_table([log]),
    ]


def _longest(log: Audited) -> str:
    """Return what the longest runs do to a fixed penalty on U."""
    found = log.candidates["reference+full"]
    fooled = found.margin <= 1e-9
    if not fooled.any():
        return f"R_full resists on all {count(len(fooled))} units."
    searches = ", ".join(number(float(t)) for t in sorted(found.facts["searches"][fooled]))
    return (
        f"R_full is fooled on {count(int(fooled.sum()))} of {count(len(fooled))} units, with {searches} searches: a "
        "cost per search has no bound, so a fixed penalty on U is outweighed by a run that is long enough."
    )


def column(text: str, heading: str, name: str) -> dict[tuple[str, str], str]:
    """Return one source's column of the table of attack success below a heading of the page.

    Args:
        text: The page.
        heading: For example `### R0`.
        name: The source's.
    """
    lines = text.split(f"\n{heading}\n", 1)[1].split("\n#", 1)[0].splitlines()
    cells = [[one.strip() for one in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    place = cells[0].index(name)
    return {(row[0].strip("`"), row[1]): row[place] for row in cells[2:] if row[place] != NONE}
