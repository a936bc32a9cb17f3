"""The page: published figures beside ours, what does not match and why, and what goes beyond them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterproof.core.analysis import Analysis, Table
from counterproof.core.outcomes import NotApplicable
from counterproof.equations.episodes1d import Lab, LabResult
from counterproof.equations.planning import study_seeds
from counterproof.equations.verdicts import INCONCLUSIVE
from counterproof.report.numbers import count, with_interval
from counterproof.stats import RateEstimate
from studies.equations_results.lab import (
    auroc,
    constructed,
    discrepancy_medians,
    emitted_by,
    omissions,
    open_rate,
    policy_rate,
    residual_medians,
    retuned,
    transfer_figures,
    worked_case,
    wrong,
)
from studies.equations_results.runs import BENCHMARKS, Runs

Rate = RateEstimate | NotApplicable
FEW = 10
"""Seeds of the studies beyond the published ones."""


def page(runs: Runs, few: int = FEW) -> str:
    """Return the whole page.

    Args:
        runs: What was run.
        few: Seeds of the view-constructing agents and of the omissions.
    """
    blocks = [
        "# Results: evidence views of an equation verifier",
        _introduction(),
        "## In short",
        _short(runs),
        "## The mechanism study",
        _mechanism(runs.mechanism),
        "## The benchmark",
        _benchmark(runs),
        "## Retuning the score, and the worked case",
        _retuning(runs),
        "## The transfer to two dimensions",
        _transfer(runs),
        "## What does not match, and why",
        _unmatched(),
        "## Choosing evidence: scripted agents",
        _choice(runs.choice),
        "## Beyond the published study",
        "### An agent that constructs its view",
        _construction(few),
        "### One true term left out of the library",
        _omission(few),
        "### A score that does not pay for a worse measurement",
        _guarded(runs),
        "### Observed trajectories",
        _fields(runs),
    ]
    return "\n\n".join(blocks) + "\n"


def grid(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = (columns, ["---"] * len(columns), *rows)
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def shown(rate: Rate) -> str:
    """Return counts, share and interval of a rate."""
    if isinstance(rate, NotApplicable):
        return rate.reason
    share = with_interval(rate.estimate, rate.row_interval, "share")
    return f"{count(rate.n_events)}/{count(rate.n_units)}: {share}"


def cells(table: Table) -> str:
    """Return an analysis's table as Markdown, numbers in the table's own formats."""
    rows = []
    for row in table.rows:
        named = zip(table.columns, row, strict=True)
        rows.append(["–" if v is None else format(v, table.formats.get(name, "")) for name, v in named])
    return grid(table.columns, rows)


def _introduction() -> str:
    return (
        "`make results` writes this page, every number on it included, from runs that are verified before they are "
        "read. The published figures are those of the study that the lab reconstructs. Its summary leaves constants "
        "open; they were chosen on a prototype with other seeds, where a scan put window T = .2, residual cut .115 and "
        "gap .06 among those whose counts lay nearest to the published ones (two dimensions: .035, .001, parsimony "
        ".002), and nothing was changed since. So the mechanism is tested here, while counts that these thresholds "
        "set, of A02, the fixed view and agreement, are near the published ones by choice. Intervals are 95 % over "
        "drawn trajectories."
    )


def _short(runs: Runs) -> str:
    spectral = runs.benchmarks["spectral"]
    admitted, parts = runs.transfer
    figures = transfer_figures(parts)
    lines = [
        f"Score-max is wrong on laws that the library holds: {shown(policy_rate(spectral, 'score-max', inside=True))}.",
        f"One fine view fixed beforehand, all episodes: {shown(policy_rate(spectral, 'A11'))}.",
        (
            f"Four-view agreement, all episodes: {shown(policy_rate(spectral, 'agreement'))}; left open "
            f"{shown(open_rate(spectral, 'agreement'))}."
        ),
        (
            f"Transfer ({'admitted' if admitted.is_admitted else 'not admitted'}): score-max {shown(figures.wrong)}; "
            f"agreement wrong {figures.agreement[1]}, open {figures.agreement[2]}."
        ),
        *(f"{name}: {' '.join(one.summary)}" for name, one in runs.fields.items()),
    ]
    return "\n".join(f"- {line}" for line in lines)


def _mechanism(result: LabResult) -> str:
    residuals = " / ".join(f"{value:.3g}" for value in residual_medians(result))
    found = discrepancy_medians(Lab(tuple(int(s) for s in np.unique(result.seed))))
    (t7, t25), (d7, d25) = found["target"], found["design"]
    rows = [
        ("episodes", "720", count(len(result.truth))),
        ("median smallest residual at 7/13/25/49 samples, 5 tests", ".945 / .0281 / .0174 / .0145", residuals),
        ("median target discrepancy, 7 -> 25 samples", "1.43 -> .00570", f"{t7:.3g} -> {t25:.3g}"),
        ("median design discrepancy, 7 -> 25 samples", ".183 -> .000516", f"{d7:.3g} -> {d25:.3g}"),
        ("AUROC of the residual for a missing term, 25 samples", "1.000", f"{auroc(result, 25):.4f}"),
        ("the same, 7 samples", ".589", f"{auroc(result, 7):.3f}"),
    ]
    return grid(("quantity", "published", "ours"), rows)


def _benchmark(runs: Runs) -> str:
    results = [runs.benchmarks[name] for name in BENCHMARKS]

    def each(policy: str, *, inside: bool = False) -> list[str]:
        return [shown(policy_rate(one, policy, inside)) for one in results]

    outside = [
        f"{int((emitted_by(one, 'score-max') == one.truth)[one.truth < 0].sum())}/{int((one.truth < 0).sum())}"
        for one in results
    ]
    rows = [
        ["episodes", "1,800", *(count(len(one.truth)) for one in results)],
        ["score-max, wrong on laws in the library", "1,500/1,500", *each("score-max", inside=True)],
        ["hyperdiffusion under score-max, right", "300/300", *outside],
        ["A02 (7 samples, 4 tests), wrong on laws in the library", "356", *each("A02", inside=True)],
        ["fixed fine view A11, wrong", "41", *each("A11")],
        ["four-view agreement, wrong", "3", *each("agreement")],
        ["four-view agreement, open", "362", *(shown(open_rate(one, "agreement")) for one in results)],
        ["errors that agreement keeps: where from", "all rejections at 7 samples", *map(_survivors, results)],
    ]
    first, second = (one.permitted.signature for one in results)
    same = (first == second).mean(axis=0)
    words = (
        f"The two implementations share every draw. They give the same signature in {same[3]:.1%} of episodes at A03, "
        f"and in {np.delete(same, 3).min():.1%} to {np.delete(same, 3).max():.1%} at the other views."
    )
    return grid(("quantity", "published", *BENCHMARKS), rows) + "\n\n" + words


def _survivors(result: LabResult) -> str:
    said = emitted_by(result, "agreement")
    places = np.flatnonzero(wrong(said, result.truth))
    coarse = sum(bool((result.permitted.signature[e, :4] == said[e]).all()) for e in places)
    both = sum(bool(wrong(result.reference.signature[e, -1:], result.truth[e : e + 1])[0]) for e in places)
    return f"{coarse} of {len(places)} agree at 7 samples; {both} wrong at all 49 times too"


def _retuning(runs: Runs) -> str:
    shipped, s_r, s_g, best, episodes = retuned(runs.benchmarks["spectral"])
    worked = worked_case(runs.benchmarks["spectral"])
    rows = [
        ("best of 441 pairs of scales, wrong", "13 of 180", f"{best} of {episodes} (s_r {s_r:.3g}, s_g {s_g:.3g})"),
        ("as shipped, wrong", "150 of 180", f"{shipped} of {episodes}"),
        ("worked case, A03: residual / gap / score", ".953 / .009 / 13.77", _case(worked.coarse)),
        ("worked case, A08: residual / gap / score", ".006 / .452 / 10.87", _case(worked.fine)),
        ("worked case, condition number at A03, A08", "1.528, 1.528", f"{worked.coarse[2]:.3f}, {worked.fine[2]:.3f}"),
    ]
    return (
        grid(("quantity", "published", "ours"), rows)
        + "\n\nThe worked case is the advection-diffusion episode of the benchmark nearest to the published residuals "
        "and gaps. No pair of scales removes all errors: a score can be tuned, the evidence behind it not."
    )


def _case(cell: tuple[float, float, float, float]) -> str:
    return f"{cell[0]:.3f} / {cell[1]:.3f} / {cell[3]:.2f}"


def _transfer(runs: Runs) -> str:
    admitted, parts = runs.transfer
    f = transfer_figures(parts)
    chosen = ", ".join(f"{view} {number}" for view, number in f.chosen)
    right, bad, left = f.agreement
    omitted = ", ".join(f"{name} {share:.1%}" for name, share in admitted.rejections)
    rows = [
        ("episodes", "900", count(f.episodes)),
        ("score-max, wrong (identified wrongly / rejected wrongly)", "72 (69 / 3)",
         f"{shown(f.wrong)} ({f.false_positives} / {f.false_negatives})"),
        ("wrong identifications that omit diffusion", "69 of 69", f"{f.without_diffusion} of {f.false_positives}"),
        ("trajectories with one", "23", str(f.trajectories)),
        ("median residual: wrong law / finest view there", ".00332 / .00861",
         f"{f.residuals[0]:.3g} / {f.residuals[1]:.3g}"),
        ("view chosen when wrong", "A08 always", chosen or "none"),
        ("agreement, right / wrong / open", "645 / 0 / 255", f"{right} / {bad} / {left}"),
        ("fixed fine view, right / wrong / open", "900 / 0 / 0", " / ".join(map(str, f.fixed))),
        ("other views that are right in a wrong episode", "3 to 5",
         f"{f.others[0]} to {f.others[2]}, median {f.others[1]:g}"),
    ]  # fmt: skip
    words = (
        f"Admission, at the reference view and before any policy was scored: {admitted.correctness:.1%} of complete "
        f"libraries right, {admitted.wrong_definitive} wrong; omissions rejected: {omitted}."
    )
    return grid(("quantity", "published", "ours"), rows) + "\n\n" + words


def _unmatched() -> str:
    lines = [
        (
            "**Target discrepancy at 25 samples** is larger than published, while residuals lie near. The published "
            "residual seems to have a floor that is not noise; finite differences as its source explain a part only."
        ),
        (
            "**The condition number of the worked case** is 1 and not 1.528: on our test functions u_x is orthogonal "
            "to u_xx. Since the score takes only a fifth of its logarithm, no verdict depends on it."
        ),
        (
            "**AUROC at 7 samples** is set by the spatial tests, which the summary does not give. What counts is "
            "that it is near chance there and near 1 at 25 samples; it is not exactly 1, because at .5 % noise some "
            "laws in the library have a larger residual than the smallest one of hyperdiffusion."
        ),
        (
            "**Counts of A02, the fixed view and agreement** depend on residual cut and gap; on the prototype, cuts "
            "of .11 to .115 with gaps of .05 to .07 bracketed the published counts. Score-max is wrong on every law "
            "of the library at all of them, so its count could not be used to choose any."
        ),
        (
            "**The transfer's chosen view** is not always A08. The summary leaves window, spatial tests and "
            "thresholds open; the mechanism agrees (coarse tests in space hide diffusion, and the score pays for the "
            "larger gap), the view at which it shows does not."
        ),
        (
            "**The sparse-regression baseline** (omissions at coarse against fine times) is not on this page: it "
            "needs an environment of its own, under `benchmarks`."
        ),
        (
            "**Language models** chose in the published study. Here scripted agents do; they are controls, and their "
            "rates are no estimate of any model's."
        ),
    ]
    return "\n".join(f"- {line}" for line in lines)


def _choice(analysis: Analysis) -> str:
    by_name = {table.name: table for table in analysis.tables}
    published = grid(
        ("published, three models", "accurate", "decisive", "maximise", "missing physics"),
        [
            ("wrong of 180", "2 / 7 / 5", "13 / 13 / 14", "174 / 144 / 102", "179 / 180 / 180"),
            ("A03 named least trusted, and chosen", "2/188, 9/158, 19/163", "–", "–", "175/188, 154/158, 156/163"),
        ],
    )
    words = (
        "The published models choose the row that they trust least when asked to report missing physics. The scripted "
        "`trust-ranker` does by construction, `accuracy-minded` never does, and the random agent is the control. Our "
        "shares are of all cases, those outside the library included, where a rejection is right."
    )
    return "\n\n".join((words, published, cells(by_name["goals"]), cells(by_name["row order"])))


def _construction(few: int) -> str:
    rows = [
        (one.agent, str(one.views), shown(one.wrong), shown(one.coverage), one.favourite)
        for one in constructed(study_seeds("benchmark", few))
    ]
    words = (
        "Five families that the library holds. The agent may show any equispaced times over the whole window with up "
        "to six test functions, as long as samples times tests stay within the budget; it submits the view with the "
        "highest score, after trying all of them or after eight calls of a hill climb."
    )
    return words + "\n\n" + grid(("agent", "views", "wrong", "decides", "submits most"), rows)


def _omission(few: int) -> str:
    rows = [
        (one.name, shown(one.score_max), shown(one.fixed), shown(one.agreement), shown(one.agreement_open))
        for one in omissions(study_seeds("benchmark", few))
    ]
    words = (
        "The library lacks one term of the law, so a rejection is right and every identification wrong. Score-max "
        "rejects, as it rejects everything: it is right here for no reason of the law's. "
        "Agreement is no cure for an error that all views share: where the remaining terms imitate the one that is "
        "missing over a short window, it certifies a wrong law."
    )
    head = ("library", "score-max, wrong", "A11, wrong", "agreement, wrong", "agreement, open")
    return words + "\n\n" + grid(head, rows)


def _guarded(runs: Runs) -> str:
    rows = []
    for name in ("mechanism", *BENCHMARKS):
        found = next(one for one in runs.analyses[name].findings if one.code == "EQ106")
        estimate = found.estimate
        said = "–" if isinstance(estimate, NotApplicable) else with_interval(estimate, found.interval, "share")
        result = runs.mechanism if name == "mechanism" else runs.benchmarks[name]
        public, rule = policy_rate(result, "score-max"), policy_rate(result, "agreement")
        left = 1 - float((emitted_by(result, "agreement") == INCONCLUSIVE).mean())
        rows.append((name, shown(public), said, str(found.values["coverage"]), shown(rule), f"{left:.1%}"))
    head = ("study", "public score, wrong", "guarded score, wrong", "decides", "agreement, wrong", "decides")
    words = (
        "The guarded score pays for residual and gap only beyond the error that the view itself shows. Its maximiser "
        "may still choose any view."
    )
    return words + "\n\n" + grid(head, rows)


def _fields(runs: Runs) -> str:
    blocks = [
        (
            "Permitted views show every 8th, 4th and 2nd time; `REF` all of them. Thresholds are those of the lab. "
            "Burgers and KdV need no fourth derivative; Kuramoto-Sivashinsky does, so the default library must "
            "reject it."
        )
    ]
    for name, analysis in runs.fields.items():
        blocks.append(f"**{name}**")
        rows = []
        tables = [table for table in analysis.tables if table.name.startswith("laws ")]
        for line in zip(*(table.rows for table in tables), strict=True):
            view, samples, modes = line[0][:3]
            rows.append([str(view), str(samples), str(modes), *(f"{row[3]} (r = {row[4]:.2g})" for row in line)])
        heads = [table.name.removeprefix("laws ") + " library" for table in tables]
        blocks.append(grid(("view", "samples", "tests", *heads), rows))
    return "\n\n".join(blocks)
