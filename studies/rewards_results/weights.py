"""Repairs: least weights, the lattice, and the weight of the mismatch penalty at which laundering opens."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from counterproof.core.outcomes import NotApplicable
from counterproof.report.numbers import count
from counterproof.stats.rates import RateEstimate
from studies.rewards_results.claims import Claim, Shown, Word, holds_if, lawful, needs
from studies.rewards_results.margins import FLAG, TOLERANCE, Candidates
from studies.rewards_results.sources import Audited
from studies.rewards_results.wording import asr, exceptions, real, success, whole

GROUP = "Repairs and weights"
LAMBDA: Mapping[str, float] = {"U": 1.6, "L": 1.2, "F": 1.0}
FULL: Mapping[str, float] = {**LAMBDA, "answer_without_citation": 0.5, "repeated_query": 0.3, "over_retrieval": 0.3}
SWEEP = (0, 0.5, 0.8, 0.85, 0.9, 0.95, 1, 1.05, 1.1, 1.2, 1.5, 2)
MULTIPLES = (0, 0.25, 0.5, 1, 2)
DELTA = 1e-6
OPENING = "same_final{U}"
"""The stratum that L cannot close."""


def bound(found: Candidates) -> NDArray[np.float64]:
    """Return 1 / (|C| + |S|) of each candidate's original, (M,)."""
    return 1 / (found.facts["cited"] + found.facts["support"])


def need(found: Candidates) -> float:
    """Return the least lambda of a detector that rises by one under all these candidates, clipped at zero."""
    return max(0.0, DELTA - float(found.margin.min()))


def closing(found: Candidates) -> Candidates:
    """Return the candidates of the attacks that the published repair is about: all but stratum {U}."""
    return found.only(found.attack != OPENING)


def swept(one: Audited, weight: float, cell: str) -> RateEstimate | NotApplicable:
    """Return attack success on a cell of R_full with this weight of the mismatch penalty."""
    found = one.candidates["reference"].cell(cell)
    return found.success(found.repaired({**FULL, "support_mismatch": weight}))


def opening(one: Audited) -> tuple[float, float]:
    """Return the mismatch weight at which laundering opens in R_full, observed and predicted.

    Observed: the least w with a margin of zero over all laundering candidates. Predicted: the least
    lambda_L - 1 / (|C| + |S|) over those that replace the only wrong citation by a support.
    """
    lifting = _lifting(one)
    observed = float(lifting.repaired(FULL).min())
    return observed, float((LAMBDA["L"] - bound(lifting)).min())


def _lifting(one: Audited) -> Candidates:
    launder = one.candidates["reference"].cell("launder")
    return launder.only(launder.facts["mismatch"] < 0)


def _largest_gain(one: Audited) -> Shown:
    found = one.candidates["reference"].cell("launder")
    over = 0.5 * found.facts["gain"] > bound(found) + TOLERANCE
    raising = found.facts["gain"] > TOLERANCE
    equal = raising & (np.abs(0.5 * found.facts["gain"] - bound(found)) <= TOLERANCE)
    also = f"; of {count(int(raising.sum()))} that raise g, {count(int(equal.sum()))} reach it"
    doubled = int((raising & ~equal & (found.facts["duplicate"] > 0)).sum())
    return lawful(found.share(over), also=f"{also}, and {count(doubled)} replace one of two citations of a passage")


def _need_by_case(one: Audited) -> Shown:
    found = one.candidates["reference"].cell("launder")
    found = found.only((found.facts["gain"] > TOLERANCE) & (found.facts["duplicate"] == 0))
    expected = bound(found) - FLAG * (found.facts["wrong"] > 1)
    return lawful(found.share(np.abs(-found.margin - expected) > TOLERANCE), "candidates that raise g")


def _least_l(one: Audited) -> Shown:
    found = one.candidates["reference"]
    launder, deleting = found.cell("launder"), found.cell("same_final{UL}")
    raising = launder.only(launder.facts["gain"] > TOLERANCE)
    largest, least = float(bound(raising).max()), max(need(launder), need(deleting))
    at = raising.only(bound(raising) >= largest - TOLERANCE)
    enough = closing(found).repaired({"L": least})
    short = closing(found).repaired({"L": least - 2 * DELTA})
    exact = bool(enough.min() > TOLERANCE) and bool(short.min() <= TOLERANCE)
    sizes = sorted({(int(c), int(s)) for c, s in zip(at.facts["cited"], at.facts["support"], strict=True)})
    where = " and ".join(f"|C| = {c}, |S| = {s}" for c, s in sizes)
    text = (
        f"largest 1/(|C|+|S|) {largest:.4f} ({where}); least lambda_L {least:.4f} for laundering and "
        f"`same_final{{UL}}` (the latter alone needs {need(deleting):.4f}); no success at it, "
        f"{count(int((short <= TOLERANCE).sum()))} successful candidates {2 * DELTA:g} below"
    )
    return holds_if(exact and abs(least - DELTA - largest) <= TOLERANCE, text)


def _quarter_and_half(one: Audited) -> Shown:
    found = closing(one.candidates["reference"])
    launder = found.cell("launder")
    quarter = launder.success(launder.repaired({"L": LAMBDA["L"] / 4}))
    half = found.success(found.repaired({"L": LAMBDA["L"] / 2}))
    worst = float(found.repaired({"L": LAMBDA["L"] / 2}).min())
    leaks = isinstance(quarter, RateEstimate) and quarter.n_events > 0
    text = f"a quarter: {success(quarter)} units laundered; a half: {success(half)}, worst margin {worst:+.4f}"
    return holds_if(leaks and _none(half), text)


def lattice(one: Audited, reward: str, *, leave_out: str = "") -> tuple[tuple[str, int], ...]:
    """Return each subset of detectors with the units that it leaves fooled over all primary attacks but one."""
    rows = one.rows(reward, "lattice")
    cells = [name for name in rows[0] if name not in ("penalties added", "sufficient", "inclusion-minimal", leave_out)]
    return tuple((str(row["penalties added"]), sum(whole(row[name]) for name in cells)) for row in rows)


def minimal(subsets: tuple[tuple[str, int], ...]) -> list[str]:
    """Return the inclusion-minimal subsets that leave no unit fooled."""
    good = {name: frozenset(filter(None, name.strip("{}").split(","))) for name, fooled in subsets if not fooled}
    return [name for name, members in good.items() if not any(other < members for other in good.values())]


def _unique_repair(one: Audited) -> Shown:
    everywhere = minimal(lattice(one, "reference"))
    left = next(fooled for name, fooled in lattice(one, "reference") if name == "{L}")
    units = f"{{L}} leaves {count(left)} units fooled"
    return holds_if(everywhere == ["{L}"], f"inclusion-minimal: {' and '.join(everywhere)}; {units}")


def _unique_without(one: Audited) -> Shown:
    found = minimal(lattice(one, "reference", leave_out=OPENING))
    return holds_if(found == ["{L}"], f"inclusion-minimal: {' and '.join(found)}")


def _zero(one: Audited, *, stratum: bool) -> Shown:
    rows = [
        row
        for row in one.rows("reference+L", "attacks")
        if row["selector"] == "oracle_worst" and (row["attack"] == OPENING) == stratum
    ]
    if not rows or not any(row["units"] for row in rows):
        return Shown(Word.NOT_APPLICABLE, "no unit cites a passage")
    text = "; ".join(f"`{row['attack']}` {asr(row)}" for row in rows if "@" not in str(row["attack"]))
    budgets = [row for row in rows if "@" in str(row["attack"])]
    if budgets:
        worst = max(budgets, key=lambda row: (whole(row["fooled"]), real(row["upper"])))
        text += f"; `launder` in each of {len(budgets)} rankings and budgets {asr(worst)}"
    return holds_if(all(row["fooled"] == 0 for row in rows), text)


def _opening(one: Audited) -> Shown:
    found = _lifting(one)
    off = np.abs(found.repaired(FULL) - (LAMBDA["L"] - bound(found))) > TOLERANCE
    observed, predicted = opening(one)
    text = f"{exceptions(found.share(off), 'candidates that replace the only wrong citation by a support')}"
    return holds_if(not off.any(), f"{text}; laundering opens at w = {observed:.4f}, predicted {predicted:.4f}")


def _leaks(one: Audited) -> Shown:
    observed, _ = opening(one)
    cells = ("launder/lexical@8", "launder/bm25@16")
    shut = all(_none(swept(one, weight, cell)) for weight in SWEEP if weight < observed for cell in cells)
    open_ = all(not _none(swept(one, weight, "launder/bm25@16")) for weight in SWEEP if weight >= observed)
    rows = [row for row in one.rows("reference+full", "attacks") if row["selector"] == "oracle_worst"]
    shown = "; ".join(f"`{row['attack']}` {asr(row)}" for row in rows if row["attack"] in cells)
    others = sum(whole(row["fooled"]) for row in rows if not str(row["attack"]).startswith("launder"))
    full = one.candidates["reference+full"]
    unlifted = int(((full.margin <= TOLERANCE) & (full.facts["mismatch"] >= 0)).sum())
    text = (
        f"R_full as audited (w = 1.5): {shown}; {count(others)} units fooled by other attacks; {count(unlifted)} "
        f"successful candidates do not lift a mismatch; {'no success' if shut else 'success'} below w*"
    )
    return holds_if(shut and open_, text)


def _none(rate: RateEstimate | NotApplicable) -> bool:
    return isinstance(rate, RateEstimate) and rate.n_events == 0


def _lattice_is_naive(one: Audited) -> Shown:
    base = one.candidates["reference"]
    pairs = (("reference+L", {"L": LAMBDA["L"]}), ("reference+full", {**FULL, "support_mismatch": 1.5}))
    off = [np.abs(base.repaired(weights) - one.candidates[name].margin) for name, weights in pairs]
    exceptional = np.maximum(*off) > TOLERANCE
    row = next((dict(row) for row in one.rows("reference", "lattice") if row["penalties added"] == "{L}"), {})
    audited = {
        row["attack"]: row["fooled"]
        for row in one.rows("reference+L", "attacks")
        if row["selector"] == "oracle_worst" and row["units"]
    }
    same = all(row[cell] == audited[cell] for cell in row.keys() & audited.keys())
    shown = lawful(base.share(exceptional), also=f"; largest difference {max(one.max() for one in off):.0e}")
    return shown if same else Shown(Word.FAILS, "the lattice's row {L} is not the audit of R[L]")


REPAIRS: tuple[Claim, ...] = (
    Claim(
        GROUP,
        "The largest gain from one replaced citation is .5 (change of g) = 1/(|C|+|S|).",
        needs("launder", _largest_gain),
        "Where a passage is cited twice and one of the two citations is replaced, |C| grows by one and the gain is "
        "smaller: the bound stands.",
    ),
    Claim(
        GROUP,
        "Laundering needs lambda_L = 1/(|C|+|S|) when exactly one citation is wrong, and one flag less otherwise.",
        needs("launder", _need_by_case),
        "With one wrong citation the lifted mismatch flag pays for the raised L flag. Duplicates are left out.",
    ),
    Claim(
        GROUP,
        "The smallest repairing lambda_L is the largest 1/(|C|+|S|) of the pool: 1/3 when |C| = 1, |S| = 2.",
        needs("launder", _least_l),
        "All isolated candidates but stratum {U}, which no lambda_L closes; plus 1e-6, by which a weight must clear "
        "zero.",
    ),
    Claim(
        GROUP,
        "A quarter of lambda_L = 1.2 leaks and a half does not.",
        needs("launder", _quarter_and_half),
        "Without stratum {U}.",
    ),
    Claim(
        GROUP,
        "{L} is the unique inclusion-minimal repair of R0, over all primary attacks.",
        needs("launder", _unique_repair),
        "Stratum {U} raises U alone, so a penalty on L does not reach it; the other attacks are repaired by {L}, as "
        "the next claim shows. Pools without uncited answers would not show this.",
    ),
    Claim(
        GROUP,
        "{L} is the unique inclusion-minimal repair of R0, stratum {U} left out.",
        needs("launder", _unique_without),
    ),
    Claim(
        GROUP,
        "R[L] has zero successes, stratum {U} left out.",
        needs("launder", lambda one: _zero(one, stratum=False)),
    ),
    Claim(
        GROUP,
        "R[L] has zero successes on stratum {U}.",
        needs("launder", lambda one: _zero(one, stratum=True)),
        "L is 0 before and after, so R[L] pays what R0 pays.",
    ),
    Claim(
        GROUP,
        "In R_full laundering opens at w* = lambda_L - 1/(|C|+|S|) when exactly one citation is wrong.",
        needs("launder", _opening),
    ),
    Claim(
        GROUP,
        "R_full leaks from w* on, so at w = 1.5 too.",
        needs("launder", _leaks),
        "Replacing the only wrong citation by a support that was never retrieved saves w and costs lambda_L.",
    ),
    Claim(
        GROUP,
        "The lattice equals the naive way: margins of R[L] and R_full follow from those of R0.",
        _lattice_is_naive,
    ),
)
