"""The plan: a frozen, hashable statement, written before anything runs, of what a study will do and conclude."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from counterproof.core.errors import PlanError, Problem
from counterproof.core.hashing import canonical, digest

SCHEMA = 1
"""Version of the plan's form; part of its hash."""


@dataclass(frozen=True, slots=True)
class Digest:
    """The content digest of one input, with the role that it plays. A plan holds digests, never paths."""

    role: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A statement under test and the observation that would falsify it."""

    name: str
    claim: str
    falsified_by: str


@dataclass(frozen=True, slots=True)
class Gate:
    """A condition that decides the exit code, for example `asr>0`. `post_hoc` says it was added after the run."""

    expression: str
    post_hoc: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What is compared, on what, with which seeds, thresholds, budgets and gates. Same plan, same hash.

    Two plans are equal when their canonical forms are, so a tuple in the settings equals a list, and 1 is not 1.0.

    Attributes:
        room: The audit, for example `rewards`.
        unit: The sampling unit, for example `question`.
        arms: What is compared.
        inputs: Content digests of data and verifier source.
        seed: The run's seed.
        stages: Names of the stages in order; each freezes and its root goes into the next one's header.
        gates: Conditions for the exit code.
        hypotheses: What would falsify what.
        settings: The room's own constants (thresholds, weights, budgets); plain JSON values. The plan keeps a copy.
        schema: Version of the plan's form.

    Raises:
        PlanError: The plan cannot be carried out; the message lists every problem.
    """

    room: str
    unit: str
    arms: tuple[str, ...]
    inputs: tuple[Digest, ...]
    seed: int
    stages: tuple[str, ...]
    gates: tuple[Gate, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        problems = _problems(self)
        if problems:
            listed = "\n".join(f"  - {problem}" for problem in problems)
            raise PlanError(f"this plan cannot be carried out:\n{listed}")
        object.__setattr__(self, "settings", _copied(self.settings))

    def digest(self) -> str:
        """Return the hash of the plan without post-hoc gates: adding one does not change what was promised."""
        return digest(dataclasses.replace(self, gates=tuple(gate for gate in self.gates if not gate.post_hoc)))

    def differences(self, other: Plan) -> tuple[str, ...]:
        """Return in which parts `other` differs: inputs by role, settings by key, each short value before and after.

        Post-hoc gates do not count, as for the hash.

        >>> plan = Plan("rewards", "question", ("a",), (), 0, ("run",))
        >>> plan.differences(dataclasses.replace(plan, seed=1, arms=("b",)))
        ('arms: a, now b', 'seed: 0, now 1')
        """
        ours, theirs = _parts(self), _parts(other)
        return tuple(
            name + _change(ours.get(name), theirs.get(name))
            for name in dict.fromkeys((*ours, *theirs))
            if canonical(ours.get(name)) != canonical(theirs.get(name))
        )

    def __eq__(self, other: object) -> bool:
        return canonical(self) == canonical(other) if isinstance(other, Plan) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest())

    def to_json(self) -> str:
        """Return the plan as readable JSON; `from_json` reads it back to an equal plan.

        A lone surrogate, which no UTF-8 file can hold, is written as its JSON escape.
        """
        text = json.dumps(json.loads(canonical(self)), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        return text.encode("utf-8", "backslashreplace").decode("utf-8")

    @staticmethod
    def from_json(text: str) -> Plan:
        """Return the plan that `to_json` wrote.

        Raises:
            PlanError: The text is no plan, or of another schema version.
        """
        try:
            data = json.loads(text)
            if data.get("schema") != SCHEMA:
                raise PlanError(f"plan schema {data.get('schema')!r}; this version reads schema {SCHEMA}")
            return Plan(
                room=data["room"],
                unit=data["unit"],
                arms=tuple(_entries(data, "arms")),
                inputs=tuple(Digest(entry["role"], entry["sha256"]) for entry in _entries(data, "inputs")),
                seed=data["seed"],
                stages=tuple(_entries(data, "stages")),
                gates=tuple(Gate(entry["expression"], entry["post_hoc"]) for entry in _entries(data, "gates")),
                hypotheses=tuple(
                    Hypothesis(entry["name"], entry["claim"], entry["falsified_by"])
                    for entry in _entries(data, "hypotheses")
                ),
                settings=data["settings"],
            )
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise PlanError(f"this is no plan: {type(error).__name__}: {error}") from None


_MOST_SHOWN = 60


def _parts(plan: Plan) -> dict[str, Any]:
    """Return the parts of a plan by the name that a message gives them."""
    roles: dict[str, list[str]] = {}
    for one in plan.inputs:
        roles.setdefault(f"input {one.role}", []).append(one.sha256)
    return {
        "room": plan.room,
        "unit": plan.unit,
        "arms": plan.arms,
        "seed": plan.seed,
        "stages": plan.stages,
        "gates": [gate.expression for gate in plan.gates if not gate.post_hoc],
        "hypotheses": [dataclasses.astuple(one) for one in plan.hypotheses],
        **roles,
        **{f"setting {key}": value for key, value in sorted(plan.settings.items())},
    }


def _change(before: Any, after: Any) -> str:
    """Return how a part changed, where both sides are short enough to be read."""
    one, other = _shown(before), _shown(after)
    return f": {one}, now {other}" if max(len(one), len(other)) <= _MOST_SHOWN else ""


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _entries(data: Mapping[str, Any], name: str) -> list[Any]:
    entries = data[name]
    if not isinstance(entries, list):
        raise TypeError(f"{name} is {type(entries).__name__}, not a list")
    return entries


def _problems(plan: Plan) -> list[Problem]:
    found = [*_bad_text(plan.room, "room"), *_bad_text(plan.unit, "unit")]
    for name in ("arms", "stages"):
        entries: tuple[str, ...] = getattr(plan, name)
        if not entries:
            found.append(Problem(name, "is empty", "name at least one"))
        for i, entry in enumerate(entries):
            found.extend(_bad_text(entry, f"{name}[{i}]"))
        repeated = sorted({entry for entry in entries if isinstance(entry, str) and entries.count(entry) > 1})
        if repeated:
            found.append(Problem(name, f"names {', '.join(repeated)} more than once"))
    for name in ("inputs", "gates", "hypotheses"):
        for i, part in enumerate(getattr(plan, name)):
            found.extend(_bad_part(part, f"{name}[{i}]"))
    if isinstance(plan.seed, bool) or not isinstance(plan.seed, int) or plan.seed < 0:
        found.append(Problem("seed", f"is {plan.seed!r}", "give a whole number from 0"))
    if not isinstance(plan.settings, Mapping):
        return [*found, Problem("settings", f"is {type(plan.settings).__name__}", "give a mapping")]
    return [*found, *_bad_settings(plan.settings, "settings")]


def _bad_text(value: object, where: str) -> list[Problem]:
    if not isinstance(value, str):
        return [Problem(where, f"is {value!r:.80}", "give text")]
    return [] if value else [Problem(where, "is empty")]


def _bad_part(part: Digest | Gate | Hypothesis, where: str) -> list[Problem]:
    found: list[Problem] = []
    for name in (entry.name for entry in dataclasses.fields(part)):
        value = getattr(part, name)
        if name != "post_hoc":
            found.extend(_bad_text(value, f"{where}.{name}"))
        elif not isinstance(value, bool):
            found.append(Problem(f"{where}.{name}", f"is {value!r:.80}", "give true or false"))
    return found


def _bad_settings(value: object, where: str) -> list[Problem]:
    if isinstance(value, Mapping):
        keys = [
            Problem(where, f"has the key {key!r:.80}", "keys must be text") for key in value if not isinstance(key, str)
        ]
        return keys + [problem for key, entry in value.items() for problem in _bad_settings(entry, f"{where}.{key}")]
    if isinstance(value, (list, tuple)):
        return [problem for i, entry in enumerate(value) for problem in _bad_settings(entry, f"{where}[{i}]")]
    if isinstance(value, float) and not math.isfinite(value):
        return [Problem(where, f"is {value}", "give a finite number")]
    if value is not None and not isinstance(value, (str, int, float, bool)):
        return [Problem(where, f"is {type(value).__name__}", "give a plain JSON value")]
    return []


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_copied(entry) for entry in value]
    return value
