"""The tables of the page: one row a quantity, one column a source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from counterproof.report.numbers import count, percent
from studies.rewards_results.sources import Audited
from studies.rewards_results.weights import DELTA, LAMBDA, MULTIPLES, OPENING, SWEEP, closing, need, opening, swept
from studies.rewards_results.wording import NONE, asr, grid, real, signed, success, whole

Pools = Sequence[Audited]


def _side_by_side(pools: Pools, head: Sequence[str], keys: Iterable[tuple[str, ...]], cell: Callable[..., str]) -> str:
    rows = [[*key, *(cell(one, *key) for one in pools)] for key in keys]
    return grid([*head, *(one.name for one in pools)], rows)


def pool_table(pools: Pools) -> str:
    """Return what the pools hold."""
    quantities: dict[str, Callable[[Audited], str]] = {
        "questions": lambda one: count(one.meta["counts"]["questions"]),
        "trajectories": lambda one: count(one.meta["counts"]["trajectories"]),
        "passages": lambda one: count(one.meta["corpus"]["passages"]) if "corpus" in one.meta else NONE,
        "citations": lambda one: count(one.citations),
        "support passages: trajectories": lambda one: _histogram(one.meta["counts"].get("support_passages", {})),
        "searches: trajectories": lambda one: _histogram(one.meta["counts"]["searches"]),
        "with a repeated query (Jaccard .8)": lambda one: _event(one, "repeated_query"),
        "with an exact repeat": lambda one: _event(one, "exact_repeat"),
        "U by itself": lambda one: _event(one, "U"),
        "L by itself": lambda one: _event(one, "L"),
        "F by itself": lambda one: _event(one, "F"),
        "isolated candidates": lambda one: count(len(one.candidates["reference"].margin)),
    }
    return _side_by_side(pools, ["quantity"], [(name,) for name in quantities], lambda one, key: quantities[key](one))


def _histogram(counts: dict[str, int]) -> str:
    return ", ".join(f"{value}: {count(n)}" for value, n in counts.items()) or NONE


def _event(one: Audited, name: str) -> str:
    for row in one.rows("reference", "incidence"):
        if row["detector"] == name:
            interval = f"{percent(real(row['lower']))} to {percent(real(row['upper']))}"
            share = percent(whole(row["trajectories"]) / whole(row["of"]))
            return f"{share}; questions with any {interval}"
    counts = one.meta["counts"]
    return percent(counts["events"][name] / counts["trajectories"]) if name in counts["events"] else NONE


def funnel_table(sources: Pools) -> str:
    """Return the funnel of each source, edit and stratum."""
    stages = ("trajectories", "constructible", "eligible", "isolated", "strictly isolated")
    candidates = ("candidates made", "candidates isolated")
    rows = [
        [one.name, f"`{row['edit']}`", *(count(whole(row[name])) for name in (*stages, *candidates))]
        for one in sources
        for row in one.rows("reference", "funnel")
    ]
    return grid(["source", "edit", *stages, *candidates], rows)


def tie_table(pools: Pools) -> str:
    """Return how often a hash of the id decided which passages were tried."""
    rows = [
        [
            one.name,
            f"`{row['generator']}`",
            count(whole(row["trajectories"])),
            *(percent(real(row[name])) for name in ("tie at the top", "tie at the budget's edge")),
        ]
        for one in pools
        for row in one.rows("reference", "ranking ties")
    ]
    return grid(["pool", "ranking", "trajectories", "tie at the top", "tie at the budget's edge"], rows)


def attack_table(pools: Pools, reward: str) -> str:
    """Return attack success by attack, budget and selector."""
    found = {(one.name, str(r["attack"]), str(r["selector"])): r for one in pools for r in one.rows(reward, "attacks")}
    keys = dict.fromkeys((attack, selector) for _, attack, selector in found)

    def cell(one: Audited, attack: str, selector: str) -> str:
        row = found.get((one.name, attack.strip("`"), selector))
        return asr(row) if row else NONE

    return _side_by_side(pools, ["attack", "selector"], [(f"`{a}`", s) for a, s in keys], cell)


def strictness_table(sources: Pools, reward: str = "reference") -> str:
    """Return attack success under `oracle_worst` on isolated, strictly isolated and common units."""
    found = {
        (one.name, str(r["attack"]), str(r["units counted"])): r
        for one in sources
        for r in one.rows(reward, "strictness")
    }
    keys = dict.fromkeys((attack, units) for _, attack, units in found)

    def cell(one: Audited, attack: str, units: str) -> str:
        row = found.get((one.name, attack.strip("`"), units))
        return asr(row) if row else NONE

    return _side_by_side(sources, ["attack", "units"], [(f"`{a}`", u) for a, u in keys], cell)


def margin_table(pools: Pools, reward: str) -> str:
    """Return median, 5 % tail and worst margin of each attack under `oracle_worst`."""
    names = ("margin median", "margin 5 %", "margin worst")
    found = {
        (one.name, str(r["attack"])): r
        for one in pools
        for r in one.rows(reward, "attacks")
        if r["selector"] == "oracle_worst"
    }
    keys = dict.fromkeys(attack for _, attack in found)

    def cell(one: Audited, attack: str) -> str:
        row = found.get((one.name, attack.strip("`")))
        return " / ".join(signed(row[name]) for name in names) if row else NONE

    return _side_by_side(pools, ["attack"], [(f"`{attack}`",) for attack in keys], cell)


def cancellation_table(pools: Pools, reward: str) -> str:
    """Return penalty, payback and top payer of each attack under `oracle_worst`."""
    rows = []
    for one in pools:
        for row in one.rows(reward, "cancellation"):
            ratio = "no penalty registered" if row["B/P"] is None else f"{real(row['B/P']):.2f}"
            means = [f"{real(row[name]):.4f}" for name in ("penalty P", "payback B")]
            rows.append([one.name, f"`{row['attack']}`", *means, ratio, str(row["top payer"] or "nobody")])
    return grid(["source", "attack", "P", "B", "B/P", "top payer"], rows)


def lattice_table(pools: Pools, reward: str) -> str:
    """Return the units that each subset of detectors leaves fooled."""
    rows = []
    for one in pools:
        for row in one.rows(reward, "lattice"):
            cells = [name for name in row if name not in ("penalties added", "sufficient", "inclusion-minimal")]
            left = ", ".join(f"`{name}` {count(whole(row[name]))}" for name in cells if row[name])
            word = "minimal" if row["inclusion-minimal"] else "sufficient" if row["sufficient"] else ""
            rows.append([one.name, str(row["penalties added"]), left or "none", word])
    return grid(["source", "penalties added", "units still fooled", "repair"], rows)


def least_table(sources: Pools) -> str:
    """Return the least weights that close each attack alone, from the worst margins under R0."""
    rows = []
    for one in sources:
        found = one.candidates["reference"]
        for attack, detectors in (
            (OPENING, "lambda_U"),
            ("same_final{UL}", "lambda_U + lambda_L"),
            ("fake_id", "lambda_F"),
            ("launder", "lambda_L"),
        ):
            cell = found.cell(attack)
            if len(cell.margin):
                worst = float(cell.margin.min())
                least = f"{need(cell):.4f}" if worst < DELTA else "0"
                rows.append([one.name, f"`{attack}`", signed(worst), detectors, least])
    return grid(["source", "attack", "worst margin", "closed by", "least weight"], rows)


def multiple_table(pools: Pools) -> str:
    """Return attack success of R[L] with lambda_L multiplied."""

    def cell(one: Audited, multiple: str, attack: str) -> str:
        found = closing(one.candidates["reference"]).cell(attack.strip("`"))
        return success(found.success(found.repaired({"L": float(multiple) * LAMBDA["L"]})))

    keys = [(f"{m:g}", f"`{a}`") for a in ("same_final{UL}", "launder/bm25@16") for m in MULTIPLES]
    return _side_by_side(pools, ["times 1.2", "attack"], keys, cell)


def sweep_table(pools: Pools) -> str:
    """Return attack success of R_full by the weight of the mismatch penalty, with the predicted opening marked."""
    rows = []
    marked = False
    predicted = min(opening(one)[1] for one in pools)
    for weight in SWEEP:
        if weight >= predicted and not marked:
            rows.append([f"w* = {predicted:.4f}", *("laundering opens (predicted)" for _ in pools)])
            marked = True
        rows.append([f"{weight:g}", *(success(swept(one, weight, "launder/bm25@16")) for one in pools)])
    return grid(["w", *(one.name for one in pools)], rows)


def movement_table(sources: Pools) -> str:
    """Return the largest change that an edit makes in each component of R0."""
    found = {(one.name, str(r["component"])): r for one in sources for r in one.rows("reference", "components")}
    keys = [(f"`{name}`",) for name in sorted({name for _, name in found})]

    def cell(one: Audited, component: str) -> str:
        row = found[one.name, component.strip("`")]
        return "not moved" if row["blind spot"] else f"{real(row['largest change']):.4f}"

    return _side_by_side(sources, ["component"], keys, cell)


def model_table(one: Audited, rewards: Sequence[str]) -> str:
    """Return attack success by model; its interval is for the share of questions with any success."""
    rows = [
        [
            str(row["model"]),
            reward,
            f"{percent(real(row['ASR']))}, {count(whole(row['fooled']))}/{count(whole(row['units']))}",
            f"{percent(real(row['lower']))} to {percent(real(row['upper']))}",
        ]
        for reward in rewards
        for row in one.rows(reward, "models")
    ]
    return grid(["model", "reward", "attack success", "questions with any, exact interval"], rows)
