"""The plan of a rewards audit, and the setup as data, so that a run can be analysed again without the world."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from counterproof.core.analysis import Lack
from counterproof.core.errors import PlanError
from counterproof.core.plan import Digest, Gate, Hypothesis, Plan
from counterproof.rewards.cells import TOLERANCE, Setup, cells_of
from counterproof.rewards.detectors import Detector
from counterproof.rewards.edits import Edit

STAGES = ("stateless", "controls", "scores", "evidence")
STATELESS_SAMPLE = 64
"""Originals that are scored again before anything is audited."""
CONTROL_SAMPLE = 200
"""Trajectories that the control rewards are audited on."""


@dataclass(frozen=True, slots=True)
class PoolFacts:
    """What a plan records of a pool.

    Attributes:
        name: The pool's name.
        format: Its log format.
        traits: What it can say at all.
        lacks: What it lacks.
        notes: What else its reader said.
        count: Trajectories.
        questions: Questions.
        models: Names of the models in it.
        digests: Content digests.
    """

    name: str
    format: str
    traits: frozenset[str]
    lacks: tuple[Lack, ...]
    notes: tuple[str, ...]
    count: int
    questions: int
    models: tuple[str, ...]
    digests: tuple[Digest, ...]


def audit_plan(
    reward: str, signature: str, sha256: str, pool: PoolFacts, setup: Setup, *, seed: int, options: Mapping[str, Any]
) -> Plan:
    """Return the plan of an audit: one hypothesis a primary attack, with what would falsify it.

    Args:
        reward: How the reward is shown.
        signature: How it was bound.
        sha256: Digest of its source.
        pool: What it is audited on.
        setup: What applies to the pool.
        seed: The run's seed.
        options: `gates` (expressions), `allow_stateful`, and limits.
    """
    hypotheses = tuple(
        Hypothesis(
            f"resists {cell.name}",
            f"{reward} scores an original above its counterfactual under {cell.name}",
            "a unit whose worst isolated candidate has a margin of at most 1e-9",
        )
        for cell in cells_of(setup)
        if cell.primary
    )
    settings = {
        "pool": pool.name,
        "format": pool.format,
        "trajectories": pool.count,
        "questions": pool.questions,
        "traits": sorted(pool.traits),
        "models": list(pool.models),
        "lacks": [[one.field, one.consequence, one.advice] for one in pool.lacks],
        "notes": list(pool.notes),
        "signature": signature,
        "tolerance": TOLERANCE,
        "stateless sample": STATELESS_SAMPLE,
        "control sample": CONTROL_SAMPLE,
        "setup": _described(setup),
        **{name: value for name, value in options.items() if name != "gates"},
    }
    return Plan(
        room="rewards",
        unit="question",
        arms=(reward,),
        inputs=(*pool.digests, Digest("verifier", sha256)),
        seed=seed,
        stages=STAGES,
        gates=tuple(Gate(expression) for expression in options.get("gates", ())),
        hypotheses=hypotheses,
        settings=settings,
    )


def _described(setup: Setup) -> dict[str, Any]:
    edits = [
        {
            "name": one.name,
            "code": one.code,
            "title": one.title,
            "proven": one.proven,
            "reads": sorted(one.reads),
            "writes": sorted(one.writes),
            "generators": [[name, list(budgets)] for name, budgets in one.generators],
            "strata": [sorted(names) for names in one.strata],
        }
        for one in setup.edits
    ]
    detectors = [
        {
            "name": one.name,
            "title": one.title,
            "contract": one.contract,
            "weight": one.weight,
            "reads": sorted(one.reads),
        }
        for one in setup.detectors
    ]
    return {"edits": edits, "detectors": detectors, "skipped": [list(one) for one in setup.skipped]}


def planned_setup(plan: Plan) -> Setup:
    """Return the setup that a plan describes; its edits and detectors can be named and counted, not run.

    Raises:
        PlanError: The plan is of another room or describes no setup.
    """
    try:
        data = plan.settings["setup"]
        edits = tuple(
            Edit(
                name=one["name"],
                make=_absent,
                targets=_absent,
                reads=frozenset(one["reads"]),
                writes=frozenset(one["writes"]),
                generators=tuple((name, tuple(budgets)) for name, budgets in one["generators"]),
                strata=tuple(map(frozenset, one["strata"])),
                code=one["code"],
                proven=one["proven"],
                title=one["title"],
            )
            for one in data["edits"]
        )
        detectors = tuple(
            Detector(
                name=one["name"],
                detect=_absent,
                reads=frozenset(one["reads"]),
                contract=one["contract"],
                weight=one["weight"],
                title=one["title"],
            )
            for one in data["detectors"]
        )
        return Setup(edits, detectors, tuple((what, reason) for what, reason in data["skipped"]))
    except (KeyError, TypeError, ValueError) as error:
        raise PlanError(f"this plan describes no rewards audit ({type(error).__name__}: {error})") from None


def planned_lacks(plan: Plan) -> tuple[Lack, ...]:
    """Return what the log lacked, as the plan records it."""
    return tuple(Lack(*one) for one in plan.settings.get("lacks", ()))


def _absent(*_: object) -> Any:
    raise PlanError("this edit or detector is known from a plan only and cannot be run")


def models_of(names: Iterable[str], most: int = 20) -> tuple[str, ...]:
    """Return the distinct model names in order, or nothing when there are fewer than two or too many to list."""
    distinct = sorted(set(names))
    return tuple(distinct) if 2 <= len(distinct) <= most else ()


def planned_models(plan: Plan) -> Sequence[str]:
    """Return the models that get rows of their own."""
    return tuple(plan.settings.get("models", ()))
