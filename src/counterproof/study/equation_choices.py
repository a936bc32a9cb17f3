"""The choice study: every case asks a scripted agent, under a ledger, which evidence view to submit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from counterproof.core.analysis import Analysis
from counterproof.core.errors import InputError, nearest
from counterproof.core.outcomes import Outcome
from counterproof.core.seeds import ItemSeed
from counterproof.engines import InProcess, SerialEngine
from counterproof.equations.analyse import trajectory_of
from counterproof.equations.analyse_choice import AgentChoices, analyse_choices
from counterproof.equations.choice import (
    ChoiceContext,
    ChoiceEpisode,
    ChoiceQuestion,
    Choices,
    PublicRow,
    decode_choices,
    public_rows,
)
from counterproof.equations.choice_audit import Joined
from counterproof.equations.planning import SHUFFLED_SEEDS, choice_plan, planned_lab
from counterproof.equations.scripted import AGENTS, ScriptedAgent, answer
from counterproof.store import Ledger
from counterproof.study.driver import Means, drive
from counterproof.study.equations import finished, freeze_evidence, freeze_lab, frozen_lab, frozen_permitted
from counterproof.study.gates import parse_gate
from counterproof.study.source import package_digest

Answerer = Callable[[ChoiceQuestion], Outcome]
"""Answers one question; its outcome's component `row` is the row named, from 1."""


@dataclass(frozen=True, slots=True)
class ChoiceConfig:
    """What a choice study is asked to do.

    Attributes:
        out: The run folder.
        agents: Names of scripted agents; the controls are among them.
        implementation: `spectral`, `fd64` or `fd192`.
        seeds: How many seeds, in place of the usual six.
        gates: Expressions that decide the exit code.
        seed: The run's seed.
    """

    out: Path
    agents: tuple[str, ...] = tuple(AGENTS)
    implementation: str = "spectral"
    seeds: int | None = None
    gates: tuple[str, ...] = ()
    seed: int = 0


def run_choices(config: ChoiceConfig, others: Mapping[str, Answerer] | None = None) -> Analysis:
    """Run a choice study, and return its analysis.

    Choices are frozen agent by agent; only then does the truth join them.

    Args:
        config: What to do.
        others: Further agents by name, for example a model's or a recorded run's answers.

    Raises:
        CounterproofError: An agent is unknown, or settings or folder cannot be used.
    """
    for expression in config.gates:
        parse_gate(expression)
    answerers = {name: _scripted(agent, config.seed) for name, agent in AGENTS.items()} | dict(others or {})
    names = tuple(dict.fromkeys((*config.agents, *(others or {}))))
    unknown = [name for name in names if name not in answerers]
    if unknown or not names:
        raise InputError(f"no agent '{unknown[0]}'; {nearest(unknown[0], answerers)}" if unknown else "name an agent")
    plan = choice_plan(
        names, implementation=config.implementation, seeds=config.seeds, seed=config.seed, gates=config.gates
    )
    ledger = Ledger.create(config.out, plan, {"counterproof": package_digest()})
    cases = _cases(ledger)
    seeds = len(plan.settings["seeds"])
    few = {case: rows for i, (case, rows) in enumerate(cases.items()) if i % seeds < SHUFFLED_SEEDS}
    for name in names:
        _ask(ledger, f"choices-{name}", cases, ChoiceContext(name), answerers)
        _ask(ledger, f"shuffled-{name}", few, ChoiceContext(name, shuffle=True), answerers)
    freeze_lab(ledger, planned_lab(plan))
    return finish_choices(ledger, ())


def _scripted(agent: ScriptedAgent, seed: int) -> Answerer:
    def answers(question: ChoiceQuestion) -> Outcome:
        return answer(agent, question, ItemSeed(seed, question.prompt))

    return answers


def _cases(ledger: Ledger) -> dict[str, tuple[PublicRow, ...]]:
    """Freeze what is public, and return the rows of every case."""
    lab = planned_lab(ledger.plan)
    freeze_evidence(ledger, lab)
    table = frozen_permitted(ledger, lab)
    return {case: public_rows(table, e) for e, case in _keys(len(table))}


def _keys(count: int) -> list[tuple[int, str]]:
    return [(e, f"case-{e:04d}") for e in range(count)]


def _ask(
    ledger: Ledger,
    stage: str,
    cases: Mapping[str, tuple[PublicRow, ...]],
    context: ChoiceContext,
    answerers: Mapping[str, Callable[[Any], Outcome]],
) -> None:
    if ledger.is_frozen(stage):
        return
    with ledger.writer(stage, after=(ledger.root("evidence"),)) as writer, SerialEngine(InProcess(answerers)) as engine:
        drive(ChoiceEpisode(), iter(cases.items()), context, Means(ledger.plan.seed, engine, writer, answers=True))
        writer.freeze()


def frozen_choices(ledger: Ledger, stage: str) -> dict[str, Choices]:
    """Return the choices of a stage, by case."""
    return {key: decode_choices(payload) for key, payload in ledger.results(stage)}


def finish_choices(ledger: Ledger, post_hoc: Sequence[str]) -> Analysis:
    """Return the analysis of a choice study from its run folder alone."""
    result, _ = frozen_lab(ledger)
    agents = [
        AgentChoices(name, frozen_choices(ledger, f"choices-{name}"), frozen_choices(ledger, f"shuffled-{name}"))
        for name in ledger.plan.settings["agents"]
    ]
    cases = tuple(case for _, case in _keys(len(result.permitted)))
    joined = Joined({}, cases, result.permitted, result.truth, trajectory_of(result))
    return finished(ledger, analyse_choices(ledger.plan, agents, joined), post_hoc)
