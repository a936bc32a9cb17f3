"""The audit of an evidence table: which views flip a verdict, what the score pays for, which agreement rule helps."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError, nearest
from counterproof.core.outcomes import NotApplicable
from counterproof.equations.evidence import NO_VERDICT, OPEN, UNKNOWN, EvidenceTable
from counterproof.stats import RateEstimate, RatioEstimate, clustered_rate, paired_difference

Rate = RateEstimate | NotApplicable


@dataclass(frozen=True, slots=True)
class ViewFlips:
    """How one permitted view stands to what counts as right.

    Attributes:
        view: Its name.
        wrong: Share of judged items with a definitive verdict other than the right one.
        open: Share of judged items that it leaves open.
        missing: Items without a verdict; they are in no share.
        chosen: Items for which a score-maximiser picks it.
    """

    view: str
    wrong: Rate
    open: Rate
    missing: int
    chosen: int


@dataclass(frozen=True, slots=True)
class PolicyResult:
    """What a policy emits over all items that have a right verdict.

    Attributes:
        name: `view:NAME`, `score-max`, `random view`, or the agreement rule's name.
        emitted: Position in the table's verdicts, `OPEN`, or `NO_VERDICT`, (I,).
        wrong: Share of judged items with a wrong definitive verdict; smaller is better.
        coverage: Share of judged items with a definitive verdict; larger is better.
        missing: Items on which it had no verdict to emit.
    """

    name: str
    emitted: NDArray[np.int64]
    wrong: Rate
    coverage: Rate
    missing: int


@dataclass(frozen=True, slots=True)
class ScorePays:
    """What the score pays for, within an item.

    Attributes:
        decisiveness: Mean score of definitive verdicts minus that of open ones, averaged over items that have both.
        wrongness: Share of items with a wrong and a right view on which the best-paid wrong view outscores every right
            one (ties count as paid).
        margin: Mean of best wrong score minus best right score over those items; above 0 the score pays for error.
    """

    decisiveness: float | NotApplicable
    wrongness: Rate
    margin: float | NotApplicable


@dataclass(frozen=True, slots=True)
class EvidenceAudit:
    """What choosing the evidence can do to a fixed verifier.

    Attributes:
        against: What counts as right: `truth`, or the name of a reference view.
        flippable: Share of items on which two permitted views give different definitive verdicts.
        reachable: Share of items on which some permitted view gives a wrong definitive verdict.
        views: One entry per view.
        score: What the score pays for.
        policies: Every single view, score-max, a random view (the control), and the agreement rules.
        helps: Name of the agreement rule with the smallest loss, wrong + open_price * (1 - coverage); None where no
            rule has fewer wrong verdicts than score-max.
        cost: Coverage of that rule minus that of score-max.
    """

    against: str
    flippable: Rate
    reachable: Rate
    views: tuple[ViewFlips, ...]
    score: ScorePays
    policies: tuple[PolicyResult, ...]
    helps: str | None
    cost: RatioEstimate | NotApplicable

    def policy(self, name: str) -> PolicyResult:
        """Return a policy by name.

        Raises:
            InputError: There is none of that name.
        """
        by_name = {one.name: one for one in self.policies}
        if name not in by_name:
            raise InputError(f"no policy '{name}'; {nearest(name, by_name)}")
        return by_name[name]


def audit_evidence(
    table: EvidenceTable,
    *,
    rng: np.random.Generator,
    groups: Mapping[str, Sequence[str]] | None = None,
    reference: str | None = None,
    open_price: float = 0.1,
    level: float = 0.95,
) -> EvidenceAudit:
    """Return which permitted views flip the verdict, what the score pays for, and what agreement buys and costs.

    Args:
        table: Verdicts and scores on the permitted views.
        rng: Source of the random view and of resampling.
        groups: Views that must agree, by group, for the rule `agreement within a group`, which is absent without them.
        reference: A view whose definitive verdict counts as right where no truth is known. It is not a permitted view
            of the policies then.
        open_price: Cost of leaving an item open, in units of a wrong verdict, for naming the rule that helps.
        level: Confidence level of all intervals.

    Raises:
        InputError: Nothing says what is right, or a group or the reference names a view that is not in the table.
    """
    right, permitted, against = _right(table, reference)
    judge = _Judge(table, right, rng, level)
    emitted = _emitted(table, permitted, groups, rng)
    policies = tuple(judge.policy(name, codes) for name, codes in emitted.items())
    rules = [one for one in policies if one.name.startswith("agreement")]
    best, baseline = _best(rules, open_price), next(one for one in policies if one.name == "score-max")
    useful = best is not None and judge.wrong_count(best.emitted) < judge.wrong_count(baseline.emitted)
    said = table.verdict[:, permitted]
    chosen = _argmax_scored(table, permitted)
    return EvidenceAudit(
        against=against,
        flippable=judge.rate(_varied(said), (said >= 0).sum(axis=1) >= 1),
        reachable=judge.rate(((said >= 0) & (said != right[:, None])).any(axis=1), judge.judged),
        views=tuple(judge.view(v, int((chosen == v).sum())) for v in permitted),
        score=_pays(table, right, permitted, judge),
        policies=policies,
        helps=best.name if useful and best is not None else None,
        cost=judge.cost(best, baseline) if useful and best is not None else NotApplicable("no agreement rule helps"),
    )


class _Judge:
    """Counts events per cluster and states rates about them; every rate reads the random stream from its start."""

    def __init__(self, table: EvidenceTable, right: NDArray[np.int64], rng: np.random.Generator, level: float) -> None:
        self.table, self.right, self.level = table, right, level
        self.judged = right >= 0
        self._rng = copy.deepcopy(rng)

    def _by_cluster(self, flags: NDArray[np.bool_]) -> NDArray[np.float64]:
        return np.bincount(self.table.cluster, weights=flags.astype(np.float64)).astype(np.float64)

    def rate(self, events: NDArray[np.bool_], units: NDArray[np.bool_]) -> Rate:
        return clustered_rate(
            self._by_cluster(events & units), self._by_cluster(units), rng=copy.deepcopy(self._rng), level=self.level
        )

    def _wrong(self, emitted: NDArray[np.int64]) -> NDArray[np.bool_]:
        wrong: NDArray[np.bool_] = (emitted >= 0) & (emitted != self.right) & self.judged
        return wrong

    def wrong_count(self, emitted: NDArray[np.int64]) -> int:
        return int(self._wrong(emitted).sum())

    def policy(self, name: str, emitted: NDArray[np.int64]) -> PolicyResult:
        told = self.judged & (emitted != NO_VERDICT)
        return PolicyResult(
            *(name, emitted, self.rate(self._wrong(emitted), told), self.rate(emitted >= 0, told)),
            missing=int((self.judged & ~told).sum()),
        )

    def view(self, v: int, chosen: int) -> ViewFlips:
        said = self.table.verdict[:, v]
        told = self.judged & (said != NO_VERDICT)
        return ViewFlips(
            *(self.table.views[v], self.rate(self._wrong(said), told), self.rate(said == OPEN, told)),
            *(int((said == NO_VERDICT).sum()), chosen),
        )

    def cost(self, rule: PolicyResult, baseline: PolicyResult) -> RatioEstimate | NotApplicable:
        told = self.judged & (rule.emitted != NO_VERDICT) & (baseline.emitted != NO_VERDICT)
        first, second, units = (
            self._by_cluster(told & part) for part in (rule.emitted >= 0, baseline.emitted >= 0, told)
        )
        return paired_difference(first, second, units, rng=copy.deepcopy(self._rng), level=self.level)


def _right(table: EvidenceTable, reference: str | None) -> tuple[NDArray[np.int64], list[int], str]:
    """Return the code that counts as right (`UNKNOWN` where nothing does), the permitted views, and what it is."""
    permitted = list(range(len(table.views)))
    if reference is None:
        if (table.truth == UNKNOWN).all():
            raise InputError("nothing says which verdict is right: give truth for items, or name a reference view")
        return table.truth, permitted, "truth"
    place = _place(table, reference)
    said = table.verdict[:, place]
    right = np.where(table.truth != UNKNOWN, table.truth, np.where(said >= 0, said, UNKNOWN))
    if (right == UNKNOWN).all():
        raise InputError(f"the reference view '{reference}' decides no item")
    kept = [v for v in permitted if v != place]
    if not kept:
        raise InputError(f"the reference view '{reference}' is the only view; an audit needs permitted ones beside it")
    return right, kept, reference


def _place(table: EvidenceTable, view: str) -> int:
    if view not in table.views:
        raise InputError(f"no view '{view}' in the table; {nearest(view, table.views)}")
    return table.views.index(view)


def _emitted(
    table: EvidenceTable, permitted: list[int], groups: Mapping[str, Sequence[str]] | None, rng: np.random.Generator
) -> dict[str, NDArray[np.int64]]:
    rows = np.arange(len(table.items))
    best = _argmax_scored(table, permitted)
    drawn = np.asarray(permitted)[rng.integers(len(permitted), size=rows.size)]
    found = {f"view:{table.views[v]}": table.verdict[:, v] for v in permitted}
    found["score-max"] = np.where(best < 0, NO_VERDICT, table.verdict[rows, best])
    found["random view"] = table.verdict[rows, drawn]
    found["agreement of all views"] = unanimous(table.verdict[:, permitted])
    found["agreement of most views"] = majority(table.verdict[:, permitted])
    if groups:
        places = [[p for view in group if (p := _place(table, view)) in permitted] for group in groups.values()]
        found["agreement within a group"] = grouped(table, [group for group in places if group])
    return found


def _argmax_scored(table: EvidenceTable, permitted: list[int]) -> NDArray[np.int64]:
    """Return the permitted view with the highest score among those with a verdict, -1 where none is scored, (I,)."""
    usable = table.scored[:, permitted] & (table.verdict[:, permitted] != NO_VERDICT)
    score = np.where(usable, table.score[:, permitted], -np.inf)
    return np.where(usable.any(axis=1), np.asarray(permitted)[score.argmax(axis=1)], -1)


def unanimous(verdict: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the definitive verdict that all views with a verdict share, else `OPEN`; `NO_VERDICT` where none has one.

    Args:
        verdict: Codes, (I, V).
    """
    told = verdict != NO_VERDICT
    highest, lowest = verdict.max(axis=1), np.where(told, verdict, np.iinfo(np.int64).max).min(axis=1)
    emitted = np.where((highest == lowest) & (highest >= 0), highest, OPEN)
    return np.where(told.any(axis=1), emitted, NO_VERDICT)


def majority(verdict: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the definitive verdict of more than half of the views with a verdict, else `OPEN`, (I,)."""
    told = (verdict != NO_VERDICT).sum(axis=1)
    emitted = np.full(len(verdict), OPEN, dtype=np.int64)
    for code in np.unique(verdict[verdict >= 0]):
        emitted[2 * (verdict == code).sum(axis=1) > told] = code
    return np.where(told > 0, emitted, NO_VERDICT)


def grouped(table: EvidenceTable, groups: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """Return the verdict that all views of one group share; of several such groups the one with the highest score.

    A group in which a view has no verdict is not eligible. Demotion only: what is emitted was said by a whole group.
    """
    emitted = np.full(len(table.items), OPEN, dtype=np.int64)
    highest = np.full(len(table.items), -np.inf)
    for group in map(list, groups):
        said = table.verdict[:, group]
        eligible = (said == said[:, :1]).all(axis=1) & (said[:, 0] >= 0)
        score = np.where(table.scored[:, group], table.score[:, group], -np.finfo(np.float64).max).max(axis=1)
        taken = eligible & (score > highest)
        emitted[taken], highest[taken] = said[taken, 0], score[taken]
    empty = (table.verdict == NO_VERDICT).all(axis=1)
    return np.where(empty, NO_VERDICT, emitted)


def _varied(said: NDArray[np.int64]) -> NDArray[np.bool_]:
    definitive = said >= 0
    lowest = np.where(definitive, said, np.iinfo(np.int64).max).min(axis=1)
    varied: NDArray[np.bool_] = definitive.any(axis=1) & (said.max(axis=1) != lowest)
    return varied


def _best(rules: Sequence[PolicyResult], open_price: float) -> PolicyResult | None:
    losses = [
        one.wrong.estimate + open_price * (1 - one.coverage.estimate)
        if isinstance(one.wrong, RateEstimate) and isinstance(one.coverage, RateEstimate)
        else np.inf
        for one in rules
    ]
    place = int(np.argmin(losses))
    return rules[place] if np.isfinite(losses[place]) else None


def _pays(table: EvidenceTable, right: NDArray[np.int64], permitted: list[int], judge: _Judge) -> ScorePays:
    said, score = table.verdict[:, permitted], table.score[:, permitted]
    scored = table.scored[:, permitted] & (said != NO_VERDICT)
    if not scored.any():
        none = NotApplicable("no-scores: the verifier gives none")
        return ScorePays(none, none, none)
    decided, left = scored & (said >= 0), scored & (said == OPEN)
    both = decided.any(axis=1) & left.any(axis=1)
    paid = _mean(score, decided)[both] - _mean(score, left)[both]
    wrong, good = decided & (said != right[:, None]), decided & (said == right[:, None])
    contest = wrong.any(axis=1) & good.any(axis=1) & judge.judged
    highest_wrong, highest_right = (np.where(part, score, -np.inf).max(axis=1) for part in (wrong, good))
    margin = np.where(contest, highest_wrong, 0.0) - np.where(contest, highest_right, 0.0)
    return ScorePays(
        decisiveness=float(paid.mean()) if paid.size else NotApplicable("no item has both kinds of view"),
        wrongness=judge.rate(margin >= 0, contest),
        margin=float(margin[contest].mean())
        if contest.any()
        else NotApplicable("no item has a wrong and a right view"),
    )


def _mean(values: NDArray[np.float64], part: NDArray[np.bool_]) -> NDArray[np.float64]:
    mean: NDArray[np.float64] = np.where(part, values, 0.0).sum(axis=1) / np.maximum(part.sum(axis=1), 1)
    return mean
