from __future__ import annotations

from dataclasses import replace

import pytest

from counterproof.core.analysis import Lack
from counterproof.core.errors import PlanError
from counterproof.panel.loss import Loss
from counterproof.panel.planning import TableFacts, panel_plan, planned_lacks, planned_loss
from tests.panel.audits import independent, plan_of, split_of


def test_the_plan_seals_split_loss_and_budget() -> None:
    table, gold = independent()
    split = split_of(table, gold)
    plan = plan_of(table, split, loss="chow:0.1", budget=3.0)
    assert plan.stages == ("verdicts", "labels")
    assert plan.settings["split digest"] == split.digest()
    assert (plan.settings["loss"], plan.settings["budget"]) == ("chow:0.1", 3.0)
    assert planned_loss(plan) == Loss("chow", 0.1)
    other = plan_of(table, split_of(table, gold, seed=1), loss="chow:0.1", budget=3.0)
    assert other.digest() != plan.digest()


def test_lacks_gates_and_hypotheses_are_in_the_plan() -> None:
    table, gold = independent()
    facts = TableFacts((), (), (Lack("cost", "every call costs 1", "add a cost column"),))
    options = {"gates": ("loss>0.2",), "share": 0.5}
    plan = panel_plan(table, split_of(table, gold), facts, Loss("ba"), seed=0, budget=1.0, options=options)
    assert planned_lacks(plan.settings) == facts.lacks
    assert [gate.expression for gate in plan.gates] == ["loss>0.2"]
    assert plan.settings["share"] == 0.5
    assert "gates" not in plan.settings
    assert len(plan.hypotheses) == 2


def test_a_plan_of_another_room_declares_no_loss() -> None:
    table, gold = independent()
    with pytest.raises(PlanError, match="declares no loss"):
        planned_loss(replace(plan_of(table, split_of(table, gold)), settings={}))
