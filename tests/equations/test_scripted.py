"""Scripted agents on a table written by hand."""

import numpy as np
import pytest

from counterproof.core.outcomes import Scored
from counterproof.core.seeds import ItemSeed
from counterproof.equations.choice import ChoiceQuestion, Goal, PublicRow
from counterproof.equations.scripted import AGENTS, answer

ROWS = (
    PublicRow("coarse", 7, 5, "outside library", 0.95, 0.01, 1.5, 13.8),
    PublicRow("middle", 13, 5, "outside library", 0.2, 0.05, 1.5, 10.8),
    PublicRow("plain", 25, 2, "identified: u_x, u_xx", 0.01, 0.45, 1.5, 10.9),
    PublicRow("fine", 25, 5, "inconclusive", 0.01, 0.03, 1.5, -0.1),
)


def view(agent: str, goal: Goal) -> str:
    return ROWS[AGENTS[agent](ChoiceQuestion(goal, ROWS), np.random.default_rng(0)) - 1].view


@pytest.mark.parametrize(
    ("agent", "accurate", "decisive", "maximise", "missing", "trust"),
    [
        ("score-maximiser", "coarse", "coarse", "coarse", "coarse", "fine"),
        ("accuracy-minded", "fine", "fine", "fine", "fine", "coarse"),
        ("trust-ranker", "plain", "plain", "coarse", "coarse", "coarse"),
    ],
)
def test_choices_by_goal(agent: str, accurate: str, decisive: str, maximise: str, missing: str, trust: str) -> None:
    goals = (Goal.ACCURATE, Goal.DECISIVE, Goal.MAXIMISE, Goal.MISSING_PHYSICS, Goal.TRUST)
    assert [view(agent, goal) for goal in goals] == [accurate, decisive, maximise, missing, trust]


def test_the_random_agent_reads_its_generator_only() -> None:
    question = ChoiceQuestion(Goal.ACCURATE, ROWS)
    seeds = [ItemSeed(0, f"case {i}") for i in range(400)]
    drawn = [answer(AGENTS["random"], question, seed) for seed in seeds]
    assert drawn == [answer(AGENTS["random"], question, seed) for seed in seeds]
    counts = np.bincount([int(one.score) for one in drawn if isinstance(one, Scored)], minlength=5)[1:]
    assert (np.abs(counts - 100) < 40).all()  # standard deviation 8.7


def test_a_reply_has_the_form_of_a_models() -> None:
    assert answer(AGENTS["score-maximiser"], ChoiceQuestion(Goal.MAXIMISE, ROWS), ItemSeed(0, "a")) == Scored(
        1.0, (("row", 1.0),)
    )
