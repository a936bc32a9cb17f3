from __future__ import annotations

import pytest

from counterproof.core.errors import InputError, PlanError
from counterproof.core.plan import Digest, Plan
from counterproof.equations.planning import (
    STUDIES,
    AuditSettings,
    audit_plan,
    check_settings,
    choice_plan,
    lab_plan,
    planned_audit,
    planned_lab,
    study_seeds,
    transfer_plan,
    view_groups,
)
from counterproof.equations.views import lab_views

EPISODES = {"mechanism": 720, "benchmark": 1800, "transfer": 900, "choice": 216}
"""As published."""


@pytest.mark.parametrize("study", STUDIES)
def test_studies_have_the_published_number_of_episodes(study: str) -> None:
    assert len(study_seeds(study)) * STUDIES[study].episodes == EPISODES[study]


def test_one_dimensional_studies_share_no_seed() -> None:
    seeds = [one for study in ("mechanism", "benchmark", "choice") for one in study_seeds(study)]
    assert len(seeds) == len(set(seeds))


def test_an_unknown_study_names_the_nearest() -> None:
    with pytest.raises(InputError, match="mechanism"):
        study_seeds("mecanism")
    with pytest.raises(InputError, match="at least 1"):
        study_seeds("choice", 0)


def test_a_plan_gives_its_study_back() -> None:
    plan = Plan.from_json(lab_plan("benchmark", implementation="fd64", seeds=3).to_json())
    lab = planned_lab(plan)
    assert (lab.seeds, lab.implementation) == ((100, 101, 102), "fd64")
    with pytest.raises(PlanError, match="implementation"):
        planned_lab(transfer_plan())
    with pytest.raises(InputError, match="fd64"):
        lab_plan("benchmark", implementation="fd46")


def test_truth_is_the_last_stage_and_admission_the_first() -> None:
    assert lab_plan("mechanism").stages[-1] == "truth"
    assert choice_plan(("random",)).stages == ("evidence", "choices-random", "shuffled-random", "truth")
    assert transfer_plan().stages == ("admission", "evidence", "truth")


def test_settings_of_an_audit_survive_their_plan() -> None:
    settings = AuditSettings({"g": ("a", "b")}, "c", "a", 0.25)
    plan = audit_plan((Digest("views", "0" * 64),), ("a", "b", "c"), settings, ("note",))
    assert planned_audit(Plan.from_json(plan.to_json())) == settings
    with pytest.raises(PlanError, match="no audit"):
        planned_audit(transfer_plan())


def test_all_views_that_are_not_there_are_named_at_once() -> None:
    with pytest.raises(InputError) as caught:
        check_settings(AuditSettings({"g": ("a", "nine")}, "z", "q", -1), ("a", "b"))
    assert all(word in str(caught.value) for word in ("'nine'", "'z'", "'q'", "open price"))


def test_a_view_cannot_be_fixed_and_reference() -> None:
    with pytest.raises(InputError, match="is the reference"):
        check_settings(AuditSettings({}, "a", "a"), ("a", "b"))
    with pytest.raises(InputError, match="only view"):
        check_settings(AuditSettings({}, "a"), ("a",))


def test_views_of_one_grid_are_a_group() -> None:
    groups = view_groups(lab_views())
    assert list(groups) == ["n=7", "n=13", "n=25"]
    assert groups["n=25"] == ("A08", "A09", "A10", "A11")
