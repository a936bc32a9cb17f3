"""The plan of a panel audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from counterproof.core.analysis import Lack
from counterproof.core.errors import PlanError
from counterproof.core.plan import Digest, Gate, Hypothesis, Plan
from counterproof.panel.loss import Loss, parse_loss
from counterproof.panel.table import Split, VerdictTable

STAGES = ("verdicts", "labels")
"""Labels are joined to verdicts that are frozen already."""


@dataclass(frozen=True, slots=True)
class TableFacts:
    """What a plan records of a verdict file.

    Attributes:
        digests: Content digests.
        notes: What its reader said: which column is which, the classes.
        lacks: What it lacks.
    """

    digests: tuple[Digest, ...]
    notes: tuple[str, ...]
    lacks: tuple[Lack, ...]


def panel_plan(
    table: VerdictTable,
    split: Split,
    facts: TableFacts,
    loss: Loss,
    *,
    seed: int,
    budget: float,
    options: Mapping[str, Any],
) -> Plan:
    """Return the plan of a panel audit: the split is sealed in it before any label is joined."""
    hypotheses = (
        Hypothesis(
            "errors are independent",
            "no two channels err together more often than chance within a class",
            "a pair whose G-test of independence within classes has a Holm-adjusted p below .05",
        ),
        Hypothesis(
            "the recommended policy is worth its calls",
            "on held-out items it loses no more than the cheapest single call",
            "a paired interval of the loss difference that lies above 0",
        ),
    )
    settings = {
        "loss": loss.text,
        "budget": budget,
        "split": split.kind,
        "split digest": split.digest(),
        "calibration": int(split.calibration.size),
        "held out": int(split.held_out.size),
        "channels": [[channel.name, channel.cost] for channel in table.channels],
        "classes": list(table.classes),
        "notes": list(facts.notes),
        "lacks": [[one.field, one.consequence, one.advice] for one in facts.lacks],
        **{name: value for name, value in options.items() if name != "gates"},
    }
    return Plan(
        room="panel",
        unit="cluster",
        arms=tuple(channel.name for channel in table.channels),
        inputs=facts.digests,
        seed=seed,
        stages=STAGES,
        gates=tuple(Gate(expression) for expression in options.get("gates", ())),
        hypotheses=hypotheses,
        settings=settings,
    )


def planned_loss(plan: Plan) -> Loss:
    """Return the loss that a plan declares.

    Raises:
        PlanError: The plan is of another room.
    """
    try:
        return parse_loss(str(plan.settings["loss"]))
    except KeyError:
        raise PlanError("this plan describes no panel audit: it declares no loss") from None


def planned_lacks(settings: Mapping[str, Any]) -> Sequence[Lack]:
    """Return what the file lacked, as the plan records it."""
    return tuple(Lack(*one) for one in settings.get("lacks", ()))
