"""Figures of the one-dimensional lab and the transfer, from what runs froze and from the same trajectories again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterproof.core.outcomes import NotApplicable
from counterproof.core.seeds import ItemSeed
from counterproof.equations.agreement import four_view_agreement
from counterproof.equations.analyse import trajectory_of
from counterproof.equations.construct import ViewSpace, climb, constructible, exhaustive, omission_labs
from counterproof.equations.diffusion2d import ContractResult
from counterproof.equations.discrepancies import reference_discrepancies
from counterproof.equations.draws import add_noise
from counterproof.equations.episodes1d import Lab, LabResult, run_lab
from counterproof.equations.families import FAMILIES
from counterproof.equations.guarded import guarded_choice, guarded_scores
from counterproof.equations.scores import retune, score_max, scores
from counterproof.equations.trajectories import trajectories
from counterproof.equations.verdicts import INCONCLUSIVE, OUTSIDE
from counterproof.equations.views import view_index
from counterproof.stats import RateEstimate, clustered_rate
from counterproof.study.equations import lab_errors

Flags = NDArray[np.bool_]


def rate(events: Flags, units: Flags, cluster: NDArray[np.int64]) -> RateEstimate | NotApplicable:
    """Return a share with its interval over clusters."""
    counts = (np.bincount(cluster, weights=part.astype(float)) for part in (events & units, units))
    return clustered_rate(*counts, rng=ItemSeed(0, "equations results").generator())


def wrong(emitted: NDArray[np.int64], truth: NDArray[np.int64]) -> Flags:
    """Return which emitted signatures are definitive and wrong."""
    found: Flags = (emitted != truth) & (emitted != INCONCLUSIVE)
    return found


def emitted_by(result: LabResult, policy: str) -> NDArray[np.int64]:
    """Return what a policy emits: `score-max`, `agreement`, or a permitted view's name."""
    table = result.permitted
    if policy == "agreement":
        return four_view_agreement(table)
    if policy == "score-max":
        return np.take_along_axis(table.signature, score_max(table)[:, None], axis=1)[:, 0]
    names = [view.name for view in table.views]
    return table.signature[:, names.index(policy)]


def policy_rate(result: LabResult, policy: str, inside: bool = False) -> RateEstimate | NotApplicable:
    """Return the share of episodes, or of those whose law the library holds, on which a policy is wrong."""
    units = result.truth >= 0 if inside else np.ones(len(result.truth), dtype=bool)
    return rate(wrong(emitted_by(result, policy), result.truth), units, trajectory_of(result))


def open_rate(result: LabResult, policy: str) -> RateEstimate | NotApplicable:
    """Return the share of episodes that a policy leaves open."""
    units = np.ones(len(result.truth), dtype=bool)
    return rate(emitted_by(result, policy) == INCONCLUSIVE, units, trajectory_of(result))


def residual_medians(result: LabResult) -> tuple[float, ...]:
    """Return the median smallest residual at 7, 13, 25 and 49 samples and five test functions, all episodes."""
    shown = [result.permitted.best[:, view_index(result.permitted.views, samples, 5)] for samples in (7, 13, 25)]
    return tuple(float(np.median(one)) for one in (*shown, result.reference.best[:, -1]))


def auroc(result: LabResult, samples: int) -> float:
    """Return how well the smallest residual tells a law outside the library from one inside: .5 is chance."""
    best = result.permitted.best[:, view_index(result.permitted.views, samples, 5)]
    outside, inside = best[result.truth == OUTSIDE], best[result.truth >= 0]
    above = (outside[:, None] > inside).mean() + 0.5 * (outside[:, None] == inside).mean()
    return float(above)


def discrepancy_medians(lab: Lab) -> dict[str, tuple[float, float]]:
    """Return median target and design discrepancy at 7 and at 25 samples, five test functions, laws in the library."""
    draws = [one for one in lab.draws() if lab.library.law_support(FAMILIES[one.family].terms) is not None]
    supports = [lab.library.law_support(FAMILIES[one.family].terms) or () for one in draws]
    clean = trajectories(draws, lab.implementation, lab.grid)
    target, design = [], []
    for spatial in lab.sets:
        weakform = lab.verifier(spatial).weakform
        for level in lab.noise:
            rows = weakform.rows(add_noise(clean, draws, level, lab=lab.constant))
            found = reference_discrepancies(weakform, rows, supports)
            target.append(found.target)
            design.append(found.design)
    places = [view_index(lab.views, samples, 5) for samples in (7, 25)]
    return {
        name: (float(np.median(values[:, places[0]])), float(np.median(values[:, places[1]])))
        for name, values in (("target", np.concatenate(target)), ("design", np.concatenate(design)))
    }


@dataclass(frozen=True, slots=True)
class Worked:
    """The episode nearest to the published worked case: residual, gap, condition and score at A03 and at A08."""

    coarse: tuple[float, float, float, float]
    fine: tuple[float, float, float, float]


def worked_case(result: LabResult) -> Worked:
    """Return the advection-diffusion episode whose residual and gap lie nearest to the published ones."""
    table, paid = result.permitted, scores(result.permitted)
    wanted = ((3, 0.953, 0.009), (8, 0.006, 0.452))
    places = np.flatnonzero(result.family == 0)
    apart = sum(abs(table.best[places, v] - r) + abs(table.gap[places, v] - gap) for v, r, gap in wanted)
    e = int(places[np.argmin(apart)])

    def cells(v: int) -> tuple[float, float, float, float]:
        parts = (table.best, table.gap, table.condition, paid)
        a, b, c, d = (float(part[e, v]) for part in parts)
        return a, b, c, d

    return Worked(cells(3), cells(8))


def retuned(result: LabResult, seeds: int = 5) -> tuple[int, float, float, int, int]:
    """Return wrong verdicts as shipped, the best scales and their wrong verdicts, and the episodes, on a few seeds."""
    keep = np.flatnonzero(np.isin(result.seed, np.unique(result.seed)[:seeds]))
    part = result.permitted.of(keep)
    truth = result.truth[keep]
    shipped = np.take_along_axis(part.signature, score_max(part)[:, None], axis=1)[:, 0]
    s_r, s_g, best = retune(part, truth).best
    return int(wrong(shipped, truth).sum()), s_r, s_g, best, len(keep)


@dataclass(frozen=True, slots=True)
class Built:
    """What an agent that constructs views reaches on laws that the library holds.

    Attributes:
        agent: Its search and what it maximises.
        views: Views that it may construct.
        wrong: Share of episodes that it gets wrong.
        coverage: Share that it decides.
        favourite: The view that it submits most.
    """

    agent: str
    views: int
    wrong: RateEstimate | NotApplicable
    coverage: RateEstimate | NotApplicable
    favourite: str


def constructed(seeds: Sequence[int], budgets: Sequence[int] = (40, 100, 200)) -> tuple[Built, ...]:
    """Return how agents fare that construct any grid and number of tests within a budget of rows."""
    found = []
    for budget in budgets:
        views = constructible(ViewSpace(modes=6, budget=budget))
        lab = Lab(tuple(seeds), families=tuple(range(5)), views=views)
        result, error = run_lab(lab), lab_errors(lab)
        paid, guarded = scores(result.permitted), guarded_scores(result.permitted, error)
        keys = [f"{f}/{s}/{n}/{k}" for f, s, n, k in _episodes(result)]

        def generator(e: int, names: Sequence[str] = keys) -> np.random.Generator:
            return ItemSeed(0, names[e]).generator()

        choices = {
            f"all views, public score, budget {budget}": exhaustive(paid).choice,
            f"8 calls, public score, budget {budget}": climb(paid, views, 8, generator).choice,
            f"all views, guarded score, budget {budget}": exhaustive(guarded).choice,
        }
        cluster, everything = trajectory_of(result), np.ones(len(result.truth), dtype=bool)
        for name, choice in choices.items():
            said = np.take_along_axis(result.permitted.signature, choice[:, None], axis=1)[:, 0]
            if "guarded" in name:
                said = guarded_choice(result.permitted, error)[1]
            favourite = views[int(np.bincount(choice).argmax())].name
            bad = rate(wrong(said, result.truth), everything, cluster)
            decided = rate(said != INCONCLUSIVE, everything, cluster)
            found.append(Built(name, len(views), bad, decided, favourite))
    return tuple(found)


def _episodes(result: LabResult) -> list[tuple[int, int, float, int]]:
    return [
        (int(f), int(s), float(n), int(k))
        for f, s, n, k in zip(result.family, result.seed, result.noise, result.spatial, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Omission:
    """Rejections of a library that lacks one true term: each policy's share of episodes that it accepts wrongly."""

    name: str
    score_max: RateEstimate | NotApplicable
    fixed: RateEstimate | NotApplicable
    agreement: RateEstimate | NotApplicable
    agreement_open: RateEstimate | NotApplicable


def omissions(seeds: Sequence[int]) -> tuple[Omission, ...]:
    """Return what policies say where one true term was left out of the library; `outside` is right everywhere."""
    found = []
    for name, lab in omission_labs(Lab(tuple(seeds))):
        result = run_lab(lab)
        first, second, third = (policy_rate(result, policy) for policy in ("score-max", "A11", "agreement"))
        found.append(Omission(name, first, second, third, open_rate(result, "agreement")))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class TransferFigures:
    """Counts of the transfer.

    Attributes:
        episodes: Episodes.
        false_positives: Wrong identifications under score-max.
        false_negatives: Wrong rejections of complete libraries under score-max.
        without_diffusion: False positives whose law lacks the Laplacian.
        trajectories: Trajectories with a false positive.
        chosen: Times that a view was chosen where score-max was wrong, most first.
        residuals: Median residual of the wrong law where chosen, and of the finest view there.
        agreement: Right, wrong and open under four-view agreement.
        fixed: The same for the finest view.
        others: Least, median and most of the other views that are right in a wrong episode.
        wrong: Share of episodes that score-max gets wrong.
    """

    episodes: int
    false_positives: int
    false_negatives: int
    without_diffusion: int
    trajectories: int
    chosen: tuple[tuple[str, int], ...]
    residuals: tuple[float, float]
    agreement: tuple[int, int, int]
    fixed: tuple[int, int, int]
    others: tuple[int, float, int]
    wrong: RateEstimate | NotApplicable


def transfer_figures(parts: Sequence[ContractResult]) -> TransferFigures:
    """Return the counts of a transfer under all contracts."""
    tallies: dict[str, list[NDArray[np.int64]]] = {"agreement": [], "fixed": []}
    chosen: list[int] = []
    residuals: list[tuple[float, float]] = []
    others: list[int] = []
    hit: set[int] = set()
    bad: list[Flags] = []
    positive = negative = bare = 0
    for one in parts:
        table, truth = one.permitted, one.truth
        choice = score_max(table)
        rows = np.arange(len(choice))
        said = table.signature[rows, choice]
        tallies["agreement"].append(_tally(four_view_agreement(table), truth))
        tallies["fixed"].append(_tally(table.signature[:, -1], truth))
        flags = wrong(said, truth)
        bad.append(flags)
        for e in np.flatnonzero(flags):
            positive += said[e] >= 0
            negative += said[e] == OUTSIDE
            if said[e] >= 0:
                bare += "lap u" not in table.support_names(int(said[e]))
                hit.add(int(one.seed[e]))
                residuals.append((float(table.residual[e, choice[e]]), float(table.residual[e, -1])))
            chosen.append(int(choice[e]))
            others.append(int((table.signature[e] == truth[e]).sum()))
    names = [view.name for view in parts[0].permitted.views]
    counts = np.bincount(chosen, minlength=len(names))
    flags = np.concatenate(bad)
    cluster = np.concatenate([one.seed for one in parts])
    middle = np.median(np.array(residuals or [(np.inf, np.inf)]), axis=0)
    a, f = (tuple(int(n) for n in np.sum(tallies[name], axis=0)) for name in ("agreement", "fixed"))
    return TransferFigures(
        episodes=len(flags),
        false_positives=int(positive),
        false_negatives=int(negative),
        without_diffusion=int(bare),
        trajectories=len(hit),
        chosen=tuple((names[v], int(counts[v])) for v in np.argsort(-counts, kind="stable") if counts[v]),
        residuals=(float(middle[0]), float(middle[1])),
        agreement=(a[0], a[1], a[2]),
        fixed=(f[0], f[1], f[2]),
        others=(min(others, default=0), float(np.median(others)) if others else 0.0, max(others, default=0)),
        wrong=rate(flags, np.ones(len(flags), dtype=bool), cluster),
    )


def _tally(said: NDArray[np.int64], truth: NDArray[np.int64]) -> NDArray[np.int64]:
    open_ = said == INCONCLUSIVE
    right = said == truth
    return np.array([right.sum(), (~right & ~open_).sum(), open_.sum()])
