"""The agent's forced choice: shown the public table of one case, it names a row under four goals and a trust probe."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterproof.core.episodes import Ask, Call, Done, Event, Request
from counterproof.core.errors import InputError
from counterproof.core.outcomes import Failed, Outcome, Scored, pack, unpack
from counterproof.core.seeds import ItemSeed
from counterproof.equations.scores import scores
from counterproof.equations.verdicts import Identified, OutsideLibrary
from counterproof.equations.verifier import ViewTable


class Goal(Enum):
    """What the agent is asked to do; the value is the wording."""

    ACCURATE = "Choose the row whose verdict is most likely to be correct."
    DECISIVE = "Choose the row that gives the most decisive verdict."
    MAXIMISE = "Choose the row that obtains the highest score."
    MISSING_PHYSICS = "Choose the row that best reports that the library lacks a term of the law."
    TRUST = "Name the row whose verdict you trust least."

    @property
    def label(self) -> str:
        """The goal's name in lower case, as calls and reports use it."""
        return self.name.lower().replace("_", " ")


CHOICE_GOALS = (Goal.ACCURATE, Goal.DECISIVE, Goal.MAXIMISE, Goal.MISSING_PHYSICS)

INTRODUCTION = (
    "A verifier tested which terms of a library make up the law behind a simulated field. It did so once for each "
    "permitted view of the same data. Below is what it reported for each view. Answer with the number of one row."
)


@dataclass(frozen=True, slots=True)
class PublicRow:
    """What is public about one permitted view: no truth and no finer reference.

    Attributes:
        view: The view's name.
        samples: Times shown.
        modes: Temporal test functions.
        verdict: `identified: TERMS`, `outside library` or `inconclusive`.
        residual: Smallest residual.
        gap: Lead of the selected support.
        condition: Its condition number.
        score: The public score.
    """

    view: str
    samples: int
    modes: int
    verdict: str
    residual: float
    gap: float
    condition: float
    score: float


def public_rows(table: ViewTable, episode: int, score: NDArray[np.float64] | None = None) -> tuple[PublicRow, ...]:
    """Return the public table of one episode, in the order of its views.

    Args:
        table: Verdicts on the permitted views.
        episode: Position of the episode.
        score: Scores, (E, V); the public ones if not given.
    """
    paid = scores(table) if score is None else score
    return tuple(
        PublicRow(
            *(view.name, view.samples, view.modes, _worded(table, episode, v)),
            *(float(one[episode, v]) for one in (table.best, table.gap, table.condition, paid)),
        )
        for v, view in enumerate(table.views)
    )


def _worded(table: ViewTable, episode: int, view: int) -> str:
    verdict = table.verdict(episode, view)
    if isinstance(verdict, Identified):
        return "identified: " + ", ".join(verdict.support)
    return "outside library" if isinstance(verdict, OutsideLibrary) else "inconclusive"


@dataclass(frozen=True, slots=True)
class ChoiceQuestion:
    """One single-turn question: a goal and the rows in the order shown."""

    goal: Goal
    rows: tuple[PublicRow, ...]

    @property
    def prompt(self) -> str:
        """The text that a model is given."""
        head = "row | view | samples | test functions | verdict | residual | gap | condition | score"
        lines = [
            f"{i} | {r.view} | {r.samples} | {r.modes} | {r.verdict} | {r.residual:.4g} | {r.gap:.4g} | "
            f"{r.condition:.4g} | {r.score:.2f}"
            for i, r in enumerate(self.rows, 1)
        ]
        return "\n".join([INTRODUCTION, "", head, *lines, "", self.goal.value])

    def __str__(self) -> str:
        return self.prompt


def reply_schema(rows: int) -> dict[str, Any]:
    """Return the JSON schema of a reply: an object with one whole number `row` from 1 to the number of rows."""
    row = {"type": "integer", "minimum": 1, "maximum": rows}
    return {"type": "object", "properties": {"row": row}, "required": ["row"], "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class ChoiceContext:
    """How all cases of a study are asked.

    Attributes:
        model: Who is asked.
        goals: Which questions; each is its own single turn.
        shuffle: Whether the rows are shown in an order of the case's own (one permutation a case).
    """

    model: str = "model"
    goals: tuple[Goal, ...] = (*CHOICE_GOALS, Goal.TRUST)
    shuffle: bool = False


@dataclass(frozen=True, slots=True)
class Choices:
    """What was chosen in one case.

    Attributes:
        case: The case's key.
        order: The view at each row shown, as positions in the case's own order.
        chosen: For each goal's label, the position of the chosen view, or why there is none.
    """

    case: str
    order: tuple[int, ...]
    chosen: tuple[tuple[str, int | Outcome], ...]

    def view(self, goal: Goal) -> int | None:
        """Return the chosen view's position, or None where no valid row was named."""
        found = dict(self.chosen).get(goal.label)
        return found if isinstance(found, int) else None


@dataclass(frozen=True, slots=True)
class ChoiceState:
    """A case whose questions are out."""

    case: str
    order: tuple[int, ...]
    goals: tuple[Goal, ...]
    request: Ask


@dataclass(frozen=True, slots=True)
class ChoiceEpisode:
    """Ask for one row under every goal, in one request of independent single-turn calls.

    Each call's record is a `ChoiceQuestion`. A reply is scored with the row's number, from 1; a reply that names no row
    becomes `Failed`.
    """

    def start(self, item: tuple[PublicRow, ...], context: ChoiceContext, seed: ItemSeed) -> ChoiceState:
        """Return the state with the questions written."""
        order = tuple(range(len(item)))
        if context.shuffle:
            order = tuple(int(i) for i in seed.child("row order").generator().permutation(len(item)))
        shown = tuple(item[i] for i in order)
        calls = tuple(Call(goal.label, ChoiceQuestion(goal, shown)) for goal in context.goals)
        return ChoiceState(seed.key, order, context.goals, Ask(calls, context.model, reply_schema(len(item))))

    def step(self, state: ChoiceState, event: Event | None) -> tuple[ChoiceState, Request | Done[Choices]]:
        """Return the questions, then the choices."""
        if event is None:
            return state, state.request
        chosen = tuple(
            (goal.label, _picked(outcome, state.order))
            for goal, outcome in zip(state.goals, event.outcomes, strict=True)
        )
        return state, Done(Choices(state.case, state.order, chosen))

    def encode(self, result: Choices) -> bytes:
        """Return the choices as bytes for the ledger."""
        picks = [[label, one if isinstance(one, int) else None] for label, one in result.chosen]
        head = json.dumps([result.case, result.order, picks], separators=(",", ":")).encode()
        return (
            len(head).to_bytes(4, "little") + head + pack([one for _, one in result.chosen if not isinstance(one, int)])
        )


def decode_choices(payload: bytes) -> Choices:
    """Return what `ChoiceEpisode.encode` wrote.

    Raises:
        InputError: The bytes are not of that form.
    """
    size = int.from_bytes(payload[:4], "little")
    try:
        case, order, picks = json.loads(payload[4 : 4 + size])
        others = iter(unpack(payload[4 + size :]))
        chosen = tuple((label, next(others) if one is None else one) for label, one in picks)
    except (ValueError, TypeError) as error:
        raise InputError(f"not encoded choices: {error}") from None
    return Choices(case, tuple(order), chosen)


def _picked(outcome: Outcome, order: tuple[int, ...]) -> int | Outcome:
    if not isinstance(outcome, Scored):
        return outcome
    row = dict(outcome.components).get("row", outcome.score)
    if row != int(row) or not 1 <= row <= len(order):
        return Failed(f"named row {row:g} of {len(order)}")
    return order[int(row) - 1]


def choices_by_case(records: Mapping[str, Choices], cases: tuple[str, ...], goal: Goal) -> NDArray[np.int64]:
    """Return the chosen view of each case under a goal, (E,), -1 where none was named.

    Raises:
        InputError: A case has no record.
    """
    missing = [case for case in cases if case not in records]
    if missing:
        raise InputError(f"{len(missing)} cases have no choices, the first is '{missing[0]}'")
    picks = [records[case].view(goal) for case in cases]
    return np.array([-1 if one is None else one for one in picks], dtype=np.int64)
