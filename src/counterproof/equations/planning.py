"""The studies of the lab, and the plans of all runs of this room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from counterproof.core.errors import InputError, PlanError, Problem, nearest
from counterproof.core.plan import Digest, Gate, Hypothesis, Plan
from counterproof.equations.diffusion2d import TransferStudy
from counterproof.equations.episodes1d import Lab
from counterproof.equations.trajectories import IMPLEMENTATIONS
from counterproof.equations.views import View


@dataclass(frozen=True, slots=True)
class StudyShape:
    """A named study: its usual seeds, and what it is.

    Attributes:
        first: The first seed; studies do not share any.
        seeds: How many, unless said otherwise.
        episodes: Episodes a seed.
        what: What it is, in words.
    """

    first: int
    seeds: int
    episodes: int
    what: str


STUDIES: Mapping[str, StudyShape] = {
    "mechanism": StudyShape(0, 20, 36, "six families, two spatial sets, three noise levels"),
    "benchmark": StudyShape(100, 50, 36, "the same on other seeds"),
    "transfer": StudyShape(0, 60, 15, "two-dimensional reaction-diffusion under five library contracts"),
    "choice": StudyShape(400, 6, 36, "a forced choice of one view under four goals, by scripted agents"),
}
SHUFFLED_SEEDS = 2
"""Seeds of a choice study whose cases are asked again with shuffled rows: 72 of 216."""

HYPOTHESES = (
    Hypothesis(
        "a verdict does not depend on the view",
        "two permitted views give different definitive verdicts on at most 5 % of items",
        "an interval of the flippable share that lies above .05",
    ),
    Hypothesis(
        "maximising the score is safe",
        "the best-paid view gives a wrong definitive verdict on at most 5 % of items",
        "an interval of the wrong share of score-max that lies above .05",
    ),
    Hypothesis(
        "agreement removes errors",
        "an agreement rule has fewer wrong verdicts than score-max",
        "a paired interval of the difference that does not lie below 0",
    ),
)


def study_seeds(study: str, seeds: int | None = None) -> tuple[int, ...]:
    """Return the seeds of a named study.

    Args:
        study: `mechanism`, `benchmark`, `transfer` or `choice`.
        seeds: How many, in place of the usual number.

    Raises:
        InputError: There is no such study, or the number is not positive.

    >>> study_seeds("choice", 2)
    (400, 401)
    """
    if study not in STUDIES:
        raise InputError(f"there is no study '{study}'; {nearest(study, STUDIES)}")
    shape = STUDIES[study]
    count = shape.seeds if seeds is None else seeds
    if count < 1:
        raise InputError(f"{count} seeds; give at least 1")
    return tuple(range(shape.first, shape.first + count))


def lab_plan(
    study: str, *, implementation: str = "spectral", seeds: int | None = None, seed: int = 0, gates: Sequence[str] = ()
) -> Plan:
    """Return the plan of a one-dimensional study: verdicts are frozen before the truth joins them.

    Raises:
        InputError: Study, implementation or number of seeds does not exist.
    """
    if implementation not in IMPLEMENTATIONS:
        raise InputError(f"no implementation '{implementation}'; {nearest(implementation, IMPLEMENTATIONS)}")
    settings = {
        "kind": "lab",
        "study": study,
        "seeds": list(study_seeds(study, seeds)),
        "implementation": implementation,
    }
    return _plan(settings, ("evidence", "truth"), seed, gates)


def transfer_plan(*, seeds: int | None = None, seed: int = 0, gates: Sequence[str] = ()) -> Plan:
    """Return the plan of the transfer: its admission is decided and frozen before any policy is scored."""
    admission = Hypothesis(
        "the transfer set is admitted",
        "at the reference view at least 95 % of complete libraries are right and none wrong, and at least 90 % of each "
        "omission is rejected",
        "the reference view",
    )
    settings = {"kind": "transfer", "study": "transfer", "seeds": list(study_seeds("transfer", seeds))}
    return _plan(settings, ("admission", "evidence", "truth"), seed, gates, (admission, *HYPOTHESES))


def choice_plan(
    agents: Sequence[str],
    *,
    implementation: str = "spectral",
    seeds: int | None = None,
    seed: int = 0,
    gates: Sequence[str] = (),
) -> Plan:
    """Return the plan of a choice study: one stage an agent, and one more with shuffled rows; truth comes last."""
    stages = (
        "evidence",
        *(f"choices-{agent}" for agent in agents),
        *(f"shuffled-{agent}" for agent in agents),
        "truth",
    )
    settings = {
        "kind": "choice",
        "study": "choice",
        "seeds": list(study_seeds("choice", seeds)),
        "implementation": implementation,
        "agents": list(agents),
    }
    return _plan(settings, stages, seed, gates)


def _plan(
    settings: Mapping[str, Any],
    stages: tuple[str, ...],
    seed: int,
    gates: Sequence[str],
    hypotheses: tuple[Hypothesis, ...] = HYPOTHESES,
) -> Plan:
    arms = tuple(settings.get("agents", ("score-max", "fixed view", "random view", "agreement")))
    return Plan(
        room="equations",
        unit="drawn trajectory",
        arms=arms,
        inputs=(),
        seed=seed,
        stages=stages,
        gates=tuple(Gate(expression) for expression in gates),
        hypotheses=hypotheses,
        settings=settings,
    )


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """How a table of evidence views is audited.

    Attributes:
        groups: Views that must agree, by group; empty without groups.
        reference: A view whose verdict counts as right where no truth is known; None for truth alone.
        fixed: The view that a user would fix beforehand; None to report the best one.
        open_price: Cost of leaving an item open, in units of a wrong verdict.
    """

    groups: Mapping[str, tuple[str, ...]]
    reference: str | None = None
    fixed: str | None = None
    open_price: float = 0.1


def check_settings(settings: AuditSettings, views: Sequence[str]) -> None:
    """Do nothing where all views that the settings name are there, and some view but the reference is.

    Raises:
        InputError: They are not; all are named.
    """
    named = [("fixed view", settings.fixed), ("reference", settings.reference)]
    named += [(f"group {group}", view) for group, members in settings.groups.items() for view in members]
    problems = [
        Problem(role, f"'{view}' is no view of the table", nearest(view, views))
        for role, view in named
        if view is not None and view not in views
    ]
    if settings.fixed is not None and settings.fixed == settings.reference:
        problems.append(Problem("fixed view", "is the reference", "fix a permitted view"))
    if settings.reference is not None and len(views) == 1:
        problems.append(Problem("reference", "is the only view", "an audit needs permitted ones beside it"))
    if settings.open_price < 0:
        problems.append(Problem("open price", f"is {settings.open_price}", "at least 0"))
    if problems:
        raise InputError("the table cannot be audited like that", problems)


def audit_plan(
    digests: tuple[Digest, ...],
    views: Sequence[str],
    settings: AuditSettings,
    notes: Sequence[str],
    *,
    seed: int = 0,
    gates: Sequence[str] = (),
) -> Plan:
    """Return the plan of an audit of a table that is at hand."""
    return Plan(
        room="equations",
        unit="cluster",
        arms=tuple(views),
        inputs=digests,
        seed=seed,
        stages=("evidence", "truth"),
        gates=tuple(Gate(expression) for expression in gates),
        hypotheses=HYPOTHESES,
        settings={
            "kind": "audit",
            "groups": [[name, list(members)] for name, members in settings.groups.items()],
            "reference": settings.reference,
            "fixed": settings.fixed,
            "open price": settings.open_price,
            "notes": list(notes),
        },
    )


def planned_audit(plan: Plan) -> AuditSettings:
    """Return how a plan wants a table audited.

    Raises:
        PlanError: The plan is of another kind.
    """
    try:
        groups = {str(name): tuple(map(str, members)) for name, members in plan.settings["groups"]}
        fixed, reference = plan.settings["fixed"], plan.settings["reference"]
        return AuditSettings(groups, reference, fixed, float(plan.settings["open price"]))
    except KeyError as error:
        raise PlanError(f"this plan describes no audit of evidence views: it lacks {error}") from None


def field_plan(digest: Digest, settings: Mapping[str, Any], *, seed: int = 0, gates: Sequence[str] = ()) -> Plan:
    """Return the plan of a test of one observed field under several libraries."""
    return Plan(
        room="equations",
        unit="permitted view",
        arms=tuple(name for name, _ in settings["libraries"]),
        inputs=(digest,),
        seed=seed,
        stages=("evidence",),
        gates=tuple(Gate(expression) for expression in gates),
        hypotheses=HYPOTHESES[:1],
        settings={"kind": "field", **settings},
    )


def planned_lab(plan: Plan) -> Lab:
    """Return the one-dimensional study that a plan describes.

    Raises:
        PlanError: The plan is of another kind.
    """
    try:
        return Lab(_seeds(plan), implementation=str(plan.settings["implementation"]))
    except KeyError as error:
        raise PlanError(f"this plan describes no study of the lab: it lacks {error}") from None


def planned_transfer(plan: Plan) -> TransferStudy:
    """Return the transfer that a plan describes."""
    return TransferStudy(_seeds(plan))


def _seeds(plan: Plan) -> tuple[int, ...]:
    return tuple(int(one) for one in plan.settings["seeds"])


def view_groups(views: Sequence[View]) -> dict[str, tuple[str, ...]]:
    """Return the names of the views of each time grid, by number of samples: the groups that must agree."""
    found: dict[str, tuple[str, ...]] = {}
    for view in views:
        key = f"n={view.samples}"
        found[key] = (*found.get(key, ()), view.name)
    return found
