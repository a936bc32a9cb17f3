"""What is looked at before any rate is believed: the verifier answers, it keeps no state, and the controls hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from counterproof.core.findings import Finding, HealthWarning, Verdict
from counterproof.core.outcomes import NotApplicable, Outcome
from counterproof.core.plan import Plan
from counterproof.rewards.batch import ERRORED, FOOLED, RESISTED, UNSCORED
from counterproof.rewards.edits import EDITS
from counterproof.rewards.episode import Statelessness
from counterproof.rewards.planning import STATELESS_SAMPLE
from counterproof.rewards.tally import Tally

_ENDED = {
    "Abstained": "abstained",
    "Failed": "failed",
    "Floored": "gave no verdict but a floor",
    "NotApplicable": "were not applicable",
    "NotQueried": "were not asked",
    "TimedOut": "timed out",
}
"""What became of originals without a score, by the type of their outcome."""
_LEVELS = (
    ("constructed", "can be made on no trajectory"),
    ("eligible", "breaks nowhere what it targets and was whole"),
    ("isolated", "always breaks something else too"),
)
"""Levels of the funnel, and what it means that no trajectory came so far."""


@dataclass(frozen=True, slots=True)
class Control:
    """What a control reward gave on a sample of the pool, through the same path as the audited reward.

    Attributes:
        name: `constant` (every unit must be fooled) or `oracle` (none may be).
        fooled: Units fooled over all columns.
        units: Units over all columns, whatever their ending.
        expected: How many had to be fooled.
        unjudged: Units without a verdict on both records; a control must have none.
    """

    name: str
    fooled: int
    units: int
    expected: int
    unjudged: int = 0

    @property
    def holds(self) -> bool:
        """Whether the control behaved; with no unit at all it shows nothing and does not hold."""
        return self.units > 0 and self.fooled == self.expected and not self.unjudged


def control_of(name: str, tally: Tally) -> Control:
    """Return what a control's tally says: a constant reward must be fooled everywhere, the oracle nowhere.

    The oracle is -(U + L + F), so it is held to the built-in edits only: one from outside may break what it cannot see.
    """
    known = {one.name for one in EDITS}
    endings = [
        tally.endings[index]
        for index, column in enumerate(tally.columns)
        if name != "oracle" or tally.setup.edits[column.cell.edit].name in known
    ]
    units = sum(counts[ending] for counts in endings for ending in (FOOLED, RESISTED, ERRORED, UNSCORED))
    fooled = sum(counts[FOOLED] for counts in endings)
    unjudged = sum(counts[ending] for counts in endings for ending in (ERRORED, UNSCORED))
    return Control(name, fooled, units, units if name == "constant" else 0, unjudged)


def obstacle(stateless: Statelessness, *, stateful_allowed: bool) -> str:
    """Return why nothing else can be run on this verifier, or "" when there is no reason."""
    if stateless.speechless:
        return "the verifier gave no verdict"
    return "the verifier keeps state" if stateless.mismatches and not stateful_allowed else ""


def obstacle_summary(plan: Plan, stateless: Statelessness) -> tuple[str, ...]:
    """Return what a run that ended at its first stage has to say: what was seen, and what to do."""
    if not stateless.speechless:
        said = "Nothing else was run: make it stateless, or go on with --allow-stateful in another folder."
        return (state_sentence(stateless), said)
    asked, ended = len(stateless.names), _endings(stateless)
    rest = _sample(plan) - asked
    words = " and ".join(f"{count} {_ENDED[kind]}" for kind, count in sorted(ended.items()))
    first = f"The verifier gave no verdict on any original: of {asked} asked, {words}"
    first += f"; the other {rest} of the sample were not asked." if rest else "."
    slow = " If it is only slow, raise --timeout." if ended["TimedOut"] else ""
    reasons = _reasons(stateless)
    why = (f"First reason given: {reasons[0]}.",) if reasons else ()
    return (first, *why, f"Nothing else was run: let it score this log's own records, then use another folder.{slow}")


def state_sentence(stateless: Statelessness) -> str:
    """Return in words how many originals did not get the same score each time."""
    return (
        f"The verifier keeps state: {len(stateless.mismatches)} of {len(stateless.names)} originals got another score "
        "when scored again."
    )


def verdict_findings(plan: Plan, stateless: Statelessness) -> tuple[Finding, ...]:
    """Return RW142 when no original that was asked got a score; an empty tuple else."""
    if not stateless.speechless:
        return ()
    asked, sample = len(stateless.names), _sample(plan)
    ended = {_ENDED[kind]: count for kind, count in _endings(stateless).items()}
    return (
        Finding(
            "RW142",
            "verdicts",
            f"the verifier gave no verdict on any original ({asked} asked of a sample of {sample})",
            1.0,
            unit="share of originals asked that got no score",
            n=asked,
            counts={**ended, "sample": sample},
            values={"reasons": _reasons(stateless)},
            verdict=Verdict.REFUTED,
            proven=True,
        ),
    )


def _sample(plan: Plan) -> int:
    """Return how many originals the plan has drawn for the first stage."""
    return min(STATELESS_SAMPLE, int(plan.settings["trajectories"]))


def _first_pass(stateless: Statelessness) -> tuple[Outcome, ...]:
    return stateless.passes[0] if stateless.passes else ()


def _endings(stateless: Statelessness) -> Counter[str]:
    return Counter(type(outcome).__name__ for outcome in _first_pass(stateless))


def _reasons(stateless: Statelessness, most: int = 3) -> tuple[str, ...]:
    """Return the most frequent reasons, then in order of the alphabet."""
    found = Counter(reason for one in _first_pass(stateless) if (reason := getattr(one, "reason", "")))
    return tuple(sorted(found, key=lambda reason: (-found[reason], reason))[:most])


def state_findings(plan: Plan, stateless: Statelessness) -> tuple[Finding, ...]:
    """Return RW140 when an original got different scores; an empty tuple else."""
    changed = len(stateless.mismatches)
    if not changed:
        return ()
    allowed = bool(plan.settings.get("allow_stateful"))
    warning = HealthWarning(
        "stateful-verifier",
        "the verifier gives the same record different scores, so margins mix its state with the edit",
        blocking=True,
    )
    return (
        Finding(
            "RW140",
            "statelessness",
            "the verifier does not score the same record the same way twice" + (" (allowed)" if allowed else ""),
            changed / len(stateless.names),
            unit="share of originals whose score changed",
            n=len(stateless.names),
            counts={"changed": changed},
            values={"examples": stateless.mismatches[:5]},
            verdict=Verdict.REFUTED,
            proven=True,
            warnings=(warning,),
        ),
    )


def without_unit(controls: Sequence[Control], tally: Tally) -> str:
    """Return why controls had nothing to show, or "" when all had, or when one misbehaved.

    It tells how far each edit comes on the whole log, because that is what a reader can change.
    """
    bad = [one for one in controls if not one.holds]
    if not bad or any(one.units for one in bad):
        return ""
    edits: dict[str, list[str]] = {}
    for index, one in enumerate(tally.setup.edits):
        edits.setdefault(_how_far(tally, index), []).append(one.name)
    for what, why in tally.setup.skipped:
        if what.startswith("edit "):
            edits.setdefault(f"cannot be made, because {why}", []).append(what.removeprefix("edit "))
    reasons = [f"{', '.join(names)} {why}" for why, names in edits.items()]
    which = "attack" if len(bad) == len(controls) else "built-in attack"
    return f"no {which} can be made on this log ({'; '.join(reasons)})"


def _how_far(tally: Tally, index: int) -> str:
    counts: Counter[str] = sum((one for (edit, _), one in tally.funnel.items() if edit == index), Counter())
    for level, said in _LEVELS:
        if not counts[f"{level} units"]:
            return said
    return f"could attack {counts['isolated units']} of {tally.trajectories} trajectories, none of them in the sample"


def control_findings(controls: Sequence[Control]) -> tuple[Finding, ...]:
    """Return RW141 for each control that does not hold."""
    found = []
    for one in controls:
        if one.holds:
            continue
        if one.units:
            share: float | NotApplicable = one.fooled / one.units
            title = f"control '{one.name}' misbehaved: {one.fooled} of {one.units} fooled instead of {one.expected}"
            title += f", {one.unjudged} without a verdict" if one.unjudged else ""
        else:
            share = NotApplicable("no trajectory of the sample has an isolated candidate")
            title = f"control '{one.name}' had nothing to show: no trajectory of its sample can be attacked"
        counts = {"fooled": one.fooled, "expected": one.expected, "no verdict": one.unjudged}
        found.append(Finding("RW141", one.name, title, share, unit="share of units", n=one.units, counts=counts))
    return tuple(found)
