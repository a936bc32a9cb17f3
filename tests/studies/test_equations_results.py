from __future__ import annotations

from pathlib import Path

import pytest

from counterproof.core.analysis import Table
from counterproof.core.outcomes import NotApplicable
from counterproof.equations.episodes1d import Lab, LabResult, run_lab
from studies.equations_results.lab import (
    auroc,
    constructed,
    discrepancy_medians,
    emitted_by,
    omissions,
    policy_rate,
    residual_medians,
    retuned,
    worked_case,
    wrong,
)
from studies.equations_results.page import cells, grid, page, shown
from studies.equations_results.runs import FIELDS, run_all


@pytest.fixture(scope="module")
def result() -> LabResult:
    return run_lab(Lab((300, 301, 302)))


def test_seven_samples_reject_every_law_in_the_library(result: LabResult) -> None:
    rate = policy_rate(result, "score-max", inside=True)
    assert not isinstance(rate, NotApplicable)
    assert (rate.n_events, rate.n_units) == (90, 90)
    assert (emitted_by(result, "A03")[result.truth >= 0] == -1).all()
    assert wrong(emitted_by(result, "score-max"), result.truth).sum() == 90


def test_residual_tells_missing_terms_at_25_samples_and_not_at_7(result: LabResult) -> None:
    assert auroc(result, 25) > 0.99
    assert auroc(result, 7) < 0.75
    medians = residual_medians(result)
    assert 0.94 < medians[0] < 0.96
    assert list(medians) == sorted(medians, reverse=True)


def test_discrepancies_are_the_closed_forms_at_seven_samples() -> None:
    found = discrepancy_medians(Lab((300, 301, 302)))
    assert found["target"][0] == pytest.approx(1.43, abs=0.02)  # u linear in time
    assert found["design"][0] == pytest.approx(0.183, abs=0.005)  # a column constant in time
    assert found["target"][1] < 0.05


def test_retuning_does_not_remove_all_errors_of_the_shipped_score(result: LabResult) -> None:
    shipped, _, _, best, episodes = retuned(result, 1)
    assert (shipped, episodes) == (30, 36)
    assert best <= shipped


def test_worked_case_has_the_published_scores(result: LabResult) -> None:
    worked = worked_case(result)
    assert worked.coarse[3] == pytest.approx(13.77, abs=0.06)
    assert worked.fine[3] == pytest.approx(10.87, abs=0.06)


def test_an_agent_that_builds_its_view_beats_the_public_score_and_hardly_the_guarded_one() -> None:
    built = {one.agent: one for one in constructed((300, 301), (100,))}
    public, guarded = (built[f"all views, {name} score, budget 100"].wrong for name in ("public", "guarded"))
    assert not isinstance(public, NotApplicable)
    assert not isinstance(guarded, NotApplicable)
    assert public.estimate == 1.0
    assert guarded.estimate < 0.05


def test_every_true_term_is_left_out_once() -> None:
    found = omissions((300,))
    assert len(found) == 2 + 2 + 3 + 3 + 2
    assert all(not isinstance(one.score_max, NotApplicable) and one.score_max.n_events == 0 for one in found)


def test_cells_follow_the_formats_of_their_table() -> None:
    table = Table("t", "T", ("a", "b"), (("x|y", 0.5), ("z", None)), formats={"b": ".1%"})
    assert cells(table) == "| a | b |\n| --- | --- |\n| x\\|y | 50.0% |\n| z | – |"
    assert grid(("a",), ()) == "| a |\n| --- |"
    assert shown(NotApplicable("no-units")) == "no-units"


@pytest.mark.shared_data
@pytest.mark.slow
def test_the_page_is_the_same_twice(tmp_path: Path, repository: Path) -> None:
    data = repository.parent / "shared" / "data"
    if not all((data / file).is_file() for file in FIELDS.values()):
        pytest.skip(f"no observed fields in {data}")
    text = page(run_all(data, tmp_path / "one", seeds=1), few=1)
    assert text == page(run_all(data, tmp_path / "two", seeds=1), few=1)
    assert "u_t = -1 u_xx -1 u u_x -1 u_xxxx" in text
    assert str(tmp_path) not in text
    assert "nan" not in text.lower().split()
