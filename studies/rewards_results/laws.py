"""Laws of the reference reward R0 on single candidates, and of attack success under it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from counterproof.report.numbers import count
from studies.rewards_results.claims import Claim, Shown, Word, holds_if, lawful, needs
from studies.rewards_results.margins import FLAG, TOLERANCE, Candidates
from studies.rewards_results.sources import Audited
from studies.rewards_results.wording import asr, signed, whole

GROUP = "Laws of the reference reward R0"
STRATA = ("same_final{UL}", "same_final{U}")
CLOSE = 1e-9


def _r0(one: Audited, attack: str = "") -> Candidates:
    found = one.candidates["reference"]
    return found.cell(attack) if attack else found


def _fake_never(one: Audited) -> Shown:
    fake = _r0(one, "fake_id")
    return lawful(fake.share(fake.margin <= TOLERANCE))


def _fake_worst(one: Audited) -> Shown:
    fake = _r0(one, "fake_id")
    worst = float(fake.margin.min())
    at = int((np.abs(fake.margin - worst) <= CLOSE).sum())
    text = f"worst margin {signed(worst)}, reached by {count(at)} of {count(len(fake.margin))} candidates"
    return holds_if(abs(worst - FLAG) <= CLOSE, text)


def _launder_iff(one: Audited) -> Shown:
    launder = _r0(one, "launder")
    won, raises = launder.margin <= TOLERANCE, launder.facts["gain"] > CLOSE
    also = f"; {count(int(raises.sum()))} candidates raise g, {count(int(won.sum()))} succeed"
    return lawful(launder.share(won != raises), also=also)


def _closed_citations(one: Audited) -> Shown:
    found = _r0(one)
    found = found.only((found.attack == "launder") | (found.attack == "fake_id"))
    off = np.abs(found.margin - found.closed_form())
    return lawful(found.share(off > CLOSE), also=f"; largest difference {off.max():.0e}")


def _formula(one: Audited, attack: str) -> Shown:
    found = _r0(one, attack)
    if not len(found.margin):
        return Shown(Word.NOT_APPLICABLE, "no unit cites a passage")
    off = np.abs(found.margin - found.closed_form())
    return lawful(found.share(off > CLOSE), "units", f"; largest difference {off.max():.0e}")


def _success_rule(one: Audited, attack: str, searches: int, with_repeat: int) -> Shown:
    found = _r0(one, attack)
    if not len(found.margin):
        return Shown(Word.NOT_APPLICABLE, "no unit cites a passage")
    t, repeat = found.facts["searches"], found.facts["repeat"] > 0
    expected = (t >= searches) | (repeat & (t >= with_repeat))
    won = found.margin <= TOLERANCE
    reached = int((t >= searches).sum())
    also = f"; {count(int(won.sum()))} succeed; {count(reached)} units have t >= {searches}"
    return lawful(found.share(won != expected), "units", also)


def _strict(one: Audited, attack: str) -> Shown:
    found = _r0(one, attack)
    found = found.only(found.strict)
    if not len(found.margin):
        return Shown(Word.NOT_APPLICABLE, "no unit cites a passage")
    return lawful(found.share(found.margin <= TOLERANCE), "strictly isolated units")


def _by_budget(one: Audited) -> Shown:
    rows = [
        row
        for row in one.rows("reference", "attacks")
        if row["selector"] == "oracle_worst" and "bm25" in str(row["attack"])
    ]
    falls = sum(_falls(_r0(one, str(a["attack"])), _r0(one, str(b["attack"]))) for a, b in pairwise(rows))
    shown = "; ".join(f"K={str(row['attack']).partition('@')[2]} {asr(row)}" for row in rows)
    kept = all(whole(a["fooled"]) <= whole(b["fooled"]) for a, b in pairwise(rows))
    return holds_if(kept and not falls, f"{shown}; the worst margin rises with K on {count(falls)} units")


def _falls(small: Candidates, large: Candidates) -> int:
    """Return how many units have a larger worst margin under the larger budget."""
    before, after = (dict(zip(np.unique(c.unit), c.worst_by_unit(c.margin)[1], strict=True)) for c in (small, large))
    return sum(after[unit] > margin + CLOSE for unit, margin in before.items())


ONE_FLAG = (
    "An answer that cites no real passage has one flag to lose: deleting its searches raises U, not L. One flag costs "
    ".0786, and four searches (.08) or a lifted repeat (.0786) pay for it."
)

LAWS: tuple[Claim, ...] = (
    Claim(GROUP, "A fake id never succeeds.", needs("fake_id", _fake_never)),
    Claim(GROUP, "The worst margin of a fake id is .0786, one flag.", needs("fake_id", _fake_worst)),
    Claim(
        GROUP,
        "Laundering succeeds exactly where the edit raises g (g computed apart, from citations and support ids).",
        needs("launder", _launder_iff),
    ),
    Claim(
        GROUP,
        "The margin of a citation edit is .0786 (1 + change of mismatch) - .5 (change of g).",
        needs("fake_id", _closed_citations),
        "This is stronger than the two laws above: it gives every margin from the record alone.",
    ),
    Claim(
        GROUP,
        "The margin of `same_final` is 2(.0786) - .02t - .0786 [repeat] - .0786 [t > 5].",
        lambda one: _formula(one, "same_final{UL}"),
        "Stratum {U,L}, answers that cite a real passage. The term [t > 5] is tested on FireAct only (next claim), "
        "since the scripted agent makes at most five searches.",
    ),
    Claim(
        GROUP,
        "The same with one flag where nothing real is cited: .0786 - .02t - .0786 [repeat] - .0786 [t > 5].",
        lambda one: _formula(one, "same_final{U}"),
        "Stratum {U}. The formula with two flags was stated for all of `same_final`; it is this one here. " + ONE_FLAG,
    ),
    Claim(
        GROUP,
        "`same_final` succeeds exactly where t >= 6, or t >= 4 with a repeated query; stratum {U,L}.",
        lambda one: _success_rule(one, "same_final{UL}", 6, 4),
        "Where no unit has t >= 6, that half of the rule is untested.",
    ),
    Claim(
        GROUP,
        "`same_final` succeeds exactly where t >= 6, or t >= 4 with a repeated query; stratum {U}.",
        lambda one: _success_rule(one, "same_final{U}", 6, 4),
        ONE_FLAG + " So the rule is another one here, which the next claim states.",
    ),
    Claim(
        GROUP,
        "In stratum {U}, `same_final` succeeds exactly where t >= 4, or with a repeated query.",
        lambda one: _success_rule(one, "same_final{U}", 4, 0),
        "Found on these pools, not stated before.",
    ),
    Claim(
        GROUP,
        "`same_final` never succeeds on strictly isolated units; stratum {U,L}.",
        lambda one: _strict(one, "same_final{UL}"),
    ),
    Claim(
        GROUP,
        "`same_final` never succeeds on strictly isolated units; stratum {U}.",
        lambda one: _strict(one, "same_final{U}"),
        "Four searches without a repeat outweigh the single flag, and nothing else of hygiene changes: a finding about "
        "R0, not a failure of the audit.",
    ),
    Claim(GROUP, "Attack success under `oracle_worst` does not fall with K.", needs("launder", _by_budget)),
)
