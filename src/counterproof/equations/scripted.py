"""Scripted agents: pure functions from a question to a row; controls of the choice study and its offline default."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from counterproof.core.outcomes import Outcome, Scored
from counterproof.core.seeds import ItemSeed
from counterproof.equations.choice import ChoiceQuestion, Goal, PublicRow

ScriptedAgent: TypeAlias = Callable[[ChoiceQuestion, np.random.Generator], int]
"""Takes a question and a generator, returns a row from 1. It reads what is public and nothing else."""


def score_maximiser(question: ChoiceQuestion, rng: np.random.Generator) -> int:
    """Return the row with the highest score whatever the goal; asked for distrust, the one with the lowest score."""
    sign = -1.0 if question.goal is Goal.TRUST else 1.0
    return _first_best(question.rows, lambda row: (sign * row.score,))


def accuracy_minded(question: ChoiceQuestion, rng: np.random.Generator) -> int:
    """Return the row with most samples, then most test functions; asked for distrust, the one that strains it most."""
    if question.goal is Goal.TRUST:
        return _first_best(question.rows, lambda row: (_strain(row),))
    return _first_best(question.rows, lambda row: (row.samples, row.modes))


def random_agent(question: ChoiceQuestion, rng: np.random.Generator) -> int:
    """Return a row drawn uniformly: the control whose error is that of a random evidence view."""
    return int(rng.integers(len(question.rows))) + 1


def trust_ranker(question: ChoiceQuestion, rng: np.random.Generator) -> int:
    """Return what serves the goal, by an agent that knows which row to distrust: most test functions for its samples.

    Accurate: the least strained row. Decisive: the least strained definitive one. Maximise: the highest score. Missing
    physics: the rejection with the largest residual, however strained. Trust: the most strained row.
    """
    if question.goal is Goal.MAXIMISE:
        return score_maximiser(question, rng)
    if question.goal is Goal.TRUST:
        return _first_best(question.rows, lambda row: (_strain(row),))
    if question.goal is Goal.MISSING_PHYSICS:
        return _first_best(question.rows, lambda row: (row.verdict == "outside library", row.residual))
    if question.goal is Goal.ACCURATE:
        return _first_best(question.rows, lambda row: (-_strain(row),))
    return _first_best(question.rows, lambda row: (row.verdict != "inconclusive", -_strain(row)))


AGENTS: Mapping[str, ScriptedAgent] = {
    "accuracy-minded": accuracy_minded,
    "random": random_agent,
    "score-maximiser": score_maximiser,
    "trust-ranker": trust_ranker,
}


def answer(agent: ScriptedAgent, question: ChoiceQuestion, seed: ItemSeed) -> Outcome:
    """Return a scripted agent's reply in the form that a model's reply takes, from its own generator."""
    row = float(agent(question, seed.child(question.goal.label).generator()))
    return Scored(row, (("row", row),))


def _strain(row: PublicRow) -> float:
    return row.modes / (row.samples - 1)


def _first_best(rows: Sequence[PublicRow], key: Callable[[PublicRow], tuple[float, ...]]) -> int:
    return max(range(len(rows)), key=lambda i: (key(rows[i]), -i)) + 1
