"""Claims about controls, pools, edits, funnel, selectors and cancellation, read off the audits' own tables."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from counterproof.core.analysis import Cell
from counterproof.report.numbers import count, percent
from studies.rewards_results.claims import Claim, Shown, Word, holds_if, needs
from studies.rewards_results.sources import Audited
from studies.rewards_results.wording import asr, real, signed, whole

Row = dict[str, Cell]


def attacks(one: Audited, reward: str, selector: str = "") -> list[Row]:
    """Return the rows of attack success that have units, under one selector or all."""
    return [row for row in one.rows(reward, "attacks") if row["units"] and selector in ("", row["selector"])]


def _constant(one: Audited) -> Shown:
    rows = attacks(one, "constant")
    text = f"{_all_of(rows)} fooled, lowest lower bound {percent(min(real(row['lower']) for row in rows))}"
    return holds_if(all(row["fooled"] == row["units"] == row["ties"] for row in rows), text)


def _oracle(one: Audited) -> Shown:
    rows = attacks(one, "oracle")
    text = f"{_all_of(rows)} fooled, highest upper bound {percent(max(real(row['upper']) for row in rows))}"
    return holds_if(all(row["fooled"] == 0 for row in rows), text)


def _all_of(rows: list[Row]) -> str:
    fooled, units = (sum(whole(row[name]) for row in rows) for name in ("fooled", "units"))
    return f"{count(fooled)} of {count(units)} units over {len(rows)} attacks, budgets and selectors"


def _inner_controls(one: Audited) -> Shown:
    rows = [row for reward in one.analyses for row in one.rows(reward, "controls")]
    units = sum(whole(row["units"]) for row in rows)
    text = f"{len(rows)} controls in {len(one.analyses)} audits, {count(units)} units"
    return holds_if(all(row["holds"] for row in rows), text)


def _no_failure(one: Audited) -> Shown:
    calls = [row for reward in one.analyses for row in one.rows(reward, "outcomes")]
    scored = sum(whole(row["calls"]) for row in calls if row["outcome"] == "scored")
    other = sum(whole(row["calls"]) for row in calls) - scored
    text = f"{count(scored)} calls gave a score, {count(other)} did not"
    return Shown(Word.UNTESTED, text) if not other else Shown(Word.FAILS, text)


def _searches(one: Audited) -> Shown:
    counts = one.meta["counts"]
    none = counts["searches"].get("0", 0)
    many = sum(n for searches, n in counts["searches"].items() if int(searches) > 5)
    total = counts["trajectories"]
    text = f"{count(none)} of {count(total)} trajectories make none ({percent(none / total)}), {count(many)} make more"
    return holds_if(not none and not many, text)


def _constructible(one: Audited) -> Shown:
    rows = [row for row in one.rows("reference", "funnel") if str(row["edit"]).startswith("same_final")]
    made = sum(whole(row["constructible"]) for row in rows)
    counts = one.meta["counts"]
    searching = counts["trajectories"] - counts["searches"].get("0", 0)
    shown = "; ".join(f"`{row['edit']}` {count(whole(row['constructible']))}" for row in rows)
    return holds_if(made == searching, f"{shown}; {count(searching)} trajectories search")


def _every_position(one: Audited) -> Shown:
    made = sum(whole(row["candidates made"]) for row in one.rows("reference", "funnel") if row["edit"] == "fake_id")
    return holds_if(made == one.citations, f"{count(made)} candidates, {count(one.citations)} citations")


def _unmoved(one: Audited, names: Iterable[str]) -> Shown:
    moved = {str(row["component"]): real(row["largest change"]) for row in one.rows("reference", "components")}
    text = ", ".join(f"`{name}` {moved[name]:.4f}" for name in names)
    return holds_if(all(moved[name] <= 1e-9 for name in names), f"largest change: {text}")


def _blind(one: Audited) -> Shown:
    expected = {"answer", "well_formed", "invalid_actions", "length", "flag_answer_without_citation"}
    blind = {str(row["component"]) for row in one.rows("reference", "components") if row["blind spot"]}
    more = ", ".join(f"`{name}`" for name in sorted(blind - expected))
    text = f"{len(expected & blind)} of {len(expected)} expected ones found" + (f"; also {more}" if more else "")
    return holds_if(blind == expected, text)


def _isolation(one: Audited) -> Shown:
    rows = one.rows("reference", "funnel")
    stages = ("candidates made", "candidates eligible", "candidates isolated", "candidates strictly isolated")
    falls = all(whole(row[a]) >= whole(row[b]) for row in rows for a, b in pairwise(stages))
    lost = [
        f"`{row['edit']}` {count(whole(row['candidates eligible']) - whole(row['candidates isolated']))}"
        for row in rows
    ]
    return holds_if(falls, f"eligible but not isolated: {', '.join(lost)}")


def _strict_citations(one: Audited) -> Shown:
    rows = [row for row in one.rows("reference", "funnel") if not str(row["edit"]).startswith("same_final")]
    same = all(row["candidates isolated"] == row["candidates strictly isolated"] for row in rows)
    total = sum(whole(row["candidates strictly isolated"]) for row in rows)
    return holds_if(same, f"{count(total)} isolated candidates of `fake_id` and `launder`, all strictly isolated")


def _common(one: Audited) -> Shown:
    rows = {
        (str(row["attack"]), str(row["units counted"])): row
        for row in one.rows("reference", "strictness")
        if row["attack"] in ("same_final{UL}", "same_final{U}", "fake_id", "launder/bm25@16")
    }
    names = dict.fromkeys(attack for attack, _ in rows)
    commons = {name: rows[name, "common to all attacks"] for name in names}
    text = "; ".join(f"`{name}` {asr(row)}" for name, row in commons.items())
    none = next((name for name, row in commons.items() if not row["units"] and rows[name, "isolated"]["units"]), "")
    tail = f"; no unit of `{none}` is common, since it cites nothing real to launder" if none else ""
    return holds_if(len({row["units"] for row in commons.values() if row["units"]}) == 1, text + tail)


def _first_visible(one: Audited) -> Shown:
    rows = [row for row in attacks(one, "reference", "first_visible") if "bm25" in str(row["attack"])]
    shown = {(row["fooled"], row["units"]) for row in rows}
    last = next(row for row in attacks(one, "reference", "last_position") if row["attack"] == rows[0]["attack"])
    return holds_if(len(shown) == 1, f"{asr(rows[0])} for each of {len(rows)} K; last position {asr(last)}")


def _upper_bound(one: Audited) -> Shown:
    worst = {row["attack"]: whole(row["fooled"]) for row in attacks(one, "reference", "oracle_worst")}
    rows = [row for row in attacks(one, "reference") if row["selector"] != "oracle_worst"]
    over = sum(whole(row["fooled"]) > worst[row["attack"]] for row in rows)
    return holds_if(not over, f"{over} of {len(rows)} label-free rates are above it")


def _ties(one: Audited) -> Shown:
    rows = {reward: attacks(one, reward, "oracle_worst") for reward in ("reference", "outcome")}
    ties = {reward: sum(whole(row["ties"]) for row in found) for reward, found in rows.items()}
    fooled = {reward: sum(whole(row["fooled"]) for row in found) for reward, found in rows.items()}
    text = ", ".join(f"{name} {count(ties[name])} of {count(fooled[name])} successes" for name in rows)
    return holds_if(ties["outcome"] == fooled["outcome"] > 0, f"ties: {text}")


def _residual(one: Audited) -> Shown:
    rows = [row for reward in one.analyses for row in one.rows(reward, "cancellation")]
    largest = max(real(row["largest residual"]) for row in rows)
    return holds_if(largest <= 1e-9, f"largest residual {largest:.0e} over {len(rows)} attacks and rewards")


def _payers(one: Audited) -> Shown:
    rows = one.rows("reference", "cancellation")
    paid = {str(row["attack"]): row["top payer"] for row in rows}
    expected = {"same_final": "searches", "fake_id": None, "launder": "grounding"}
    good = all(payer == expected[attack.partition("/")[0].partition("{")[0]] for attack, payer in paid.items())
    chosen = [row for row in rows if "@" not in str(row["attack"]) or str(row["attack"]).endswith("@16")]
    text = "; ".join(f"`{row['attack']}` {row['top payer'] or 'nobody'}, B/P {real(row['B/P']):.2f}" for row in chosen)
    return holds_if(good, text)


def _no_penalty(one: Audited) -> Shown:
    rows = [row for row in one.rows("outcome+cost", "cancellation") if str(row["attack"]).startswith("same_final")]
    good = all(row["penalty P"] == 0 and row["units without penalty"] == row["units"] for row in rows)
    text = "; ".join(
        f"`{row['attack']}` P 0, B {real(row['payback B']):.4f} a unit, paid by {row['top payer']}" for row in rows
    )
    return holds_if(good, text)


def _indifferent(one: Audited) -> Shown:
    rows = [row for row in attacks(one, "outcome", "oracle_worst") if str(row["attack"]).startswith("same_final")]
    text = "; ".join(f"`{row['attack']}` {asr(row)}, {count(whole(row['ties']))} ties" for row in rows)
    return holds_if(all(row["ties"] == row["fooled"] == row["units"] for row in rows), text)


def _paid_to_delete(one: Audited) -> Shown:
    rows = [row for row in attacks(one, "outcome+cost", "oracle_worst") if str(row["attack"]).startswith("same_final")]
    text = "; ".join(
        f"`{row['attack']}` {asr(row)}, {count(whole(row['ties']))} ties, median {signed(row['margin median'])}"
        for row in rows
    )
    return holds_if(all(row["fooled"] == row["units"] and not row["ties"] for row in rows), text)


def _elsewhere(one: Audited) -> Shown:
    return Shown(Word.UNTESTED, "a law of the code, tested on made records")


CONTROLS: tuple[Claim, ...] = (
    Claim("Controls", "A constant reward has an attack success of 1.", _constant),
    Claim("Controls", "The oracle reward -(U+L+F) has an attack success of 0.", _oracle),
    Claim("Controls", "Both controls hold inside every audit, on a sample of the pool.", _inner_controls),
    Claim(
        "Controls",
        "A crash or a skip never reads as resisted.",
        _no_failure,
        "Where every call gives a score, nothing can be misread; rewards that crash, hang or give no number are among "
        "the tests of the project.",
    ),
    Claim(
        "Controls",
        "An outcome-only reward pays the same with every search deleted: all ties.",
        _indifferent,
    ),
    Claim("Controls", "Outcome plus cost pays more for deleted searches.", _paid_to_delete),
)

EDITS: tuple[Claim, ...] = (
    Claim(
        "Pools and edits",
        "The agent makes one to five searches.",
        _searches,
        "The scripted agent plants answers without a search at a rate of its own, so that U occurs by itself; the real "
        "logs hold both kinds.",
    ),
    Claim("Pools and edits", "`same_final` is constructible exactly where there is a search.", _constructible),
    Claim(
        "Pools and edits",
        "Every position of every citation is a candidate of `fake_id`.",
        needs("fake_id", _every_position),
    ),
    Claim(
        "Pools and edits",
        "The length term decides nothing, and what an edit does not write stays as it was.",
        lambda one: _unmoved(one, ("length", "answer", "well_formed", "invalid_actions")),
    ),
    Claim(
        "Pools and edits",
        "Blind spots: the edits move neither a, c, v, len nor the flag of an answer without citation.",
        _blind,
        "Over-retrieval is a further blind spot of the pools, where nobody searches more than five times; the FireAct "
        "runs move it. Without citations, everything about citations is a blind spot of FireAct.",
    ),
)

FUNNEL: tuple[Claim, ...] = (
    Claim("Funnel and selectors", "The funnel only narrows: made, eligible, isolated, strictly isolated.", _isolation),
    Claim(
        "Funnel and selectors",
        "Citation edits are strictly isolated wherever they are isolated.",
        needs("fake_id", _strict_citations),
    ),
    Claim(
        "Funnel and selectors",
        "Attack success on the units common to all attacks is on the same units for each attack.",
        needs("fake_id", _common),
    ),
    Claim("Funnel and selectors", "`first_visible` is the same for every K.", needs("launder", _first_visible)),
    Claim("Funnel and selectors", "`oracle_worst` is never below a label-free selector.", _upper_bound),
    Claim(
        "Funnel and selectors",
        "Ties count as success: under outcome-only every success is one.",
        _ties,
        "Where R0 has no tie, the rule decides nothing about R0.",
    ),
)

CANCELLATION: tuple[Claim, ...] = (
    Claim("Cancellation", "The margin is the sum of the component deltas.", _residual),
    Claim(
        "Cancellation",
        "Under R0 grounding pays for laundering, saved searches pay for `same_final`, and nobody pays for a fake id.",
        _payers,
    ),
    Claim(
        "Cancellation",
        "Where no component falls, no penalty is registered and the payback is shown: outcome plus cost, `same_final`.",
        _no_penalty,
    ),
)

ELSEWHERE: tuple[Claim, ...] = (
    Claim(
        "Tested elsewhere",
        "Mutation score: an audit tells mutants of R0 from R0.",
        lambda one: Shown(Word.UNTESTED, "mutants are not made yet"),
    ),
    Claim(
        "Tested elsewhere",
        "Edits are field-preserving and label-blind; margins are antisymmetric; attack success does not depend on row "
        "order or on a constant added to the reward; the bootstrap by sums equals index resampling.",
        _elsewhere,
    ),
)
