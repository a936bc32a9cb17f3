"""The audit of an evidence table, on tables small enough to count by hand and on the lab."""

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.core.outcomes import Failed, NotApplicable, Outcome, Scored
from counterproof.equations.evidence import NO_VERDICT, OPEN, Cell, EvidenceTable, build_evidence, lab_evidence
from counterproof.equations.evidence_audit import audit_evidence, majority, unanimous
from counterproof.stats import RateEstimate, RatioEstimate
from tests.equations.laboratory import study


def planted(items: int = 40) -> EvidenceTable:
    """Truth is `ok`. `bad` says `broken` and is paid best, `good` is right, `also` too, or open on every fourth."""
    cells = []
    for i in range(items):
        cells += [
            Cell(f"i{i:02}", "bad", "broken", Scored(3.0)),
            Cell(f"i{i:02}", "good", "ok", Scored(2.0)),
            Cell(f"i{i:02}", "also", None if i % 4 == 0 else "ok", Scored(0.0 if i % 4 == 0 else 1.0)),
        ]
    return build_evidence(cells, truth={f"i{i:02}": "ok" for i in range(items)})


def share(rate: object) -> float:
    assert isinstance(rate, RateEstimate)
    return rate.estimate


def test_planted_hole_is_found() -> None:
    found = audit_evidence(planted(), rng=np.random.default_rng(0), groups={"one": ["bad"], "two": ["good", "also"]})
    assert found.against == "truth"
    assert share(found.flippable) == share(found.reachable) == 1.0
    assert [(one.view, share(one.wrong), share(one.open), one.chosen) for one in found.views] == [
        ("bad", 1.0, 0.0, 40),
        ("good", 0.0, 0.0, 0),
        ("also", 0.0, 0.25, 0),
    ]
    assert share(found.score.wrongness) == 1.0
    assert found.score.margin == 1.0
    assert found.score.decisiveness == 2.5  # on every fourth item: (3 + 2)/2 - 0
    assert share(found.policy("score-max").wrong) == 1.0
    assert share(found.policy("agreement of all views").coverage) == 0.0
    assert share(found.policy("agreement of most views").coverage) == 0.75
    # The lone paid view is a group of its own, so agreement within a group cannot help here.
    assert share(found.policy("agreement within a group").wrong) == 1.0
    assert found.helps == "agreement of most views"
    assert isinstance(found.cost, RatioEstimate)
    assert found.cost.estimate == pytest.approx(-0.25)


def test_an_honest_verifier_is_left_alone() -> None:
    cells = [Cell(str(i), view, "ok", Scored(float(i))) for i in range(30) for view in ("x", "y")]
    found = audit_evidence(build_evidence(cells, truth={str(i): "ok" for i in range(30)}), rng=np.random.default_rng(0))
    assert share(found.flippable) == share(found.reachable) == 0.0
    assert found.helps is None
    assert isinstance(found.cost, NotApplicable)
    assert isinstance(found.score.wrongness, NotApplicable)
    assert isinstance(found.score.decisiveness, NotApplicable)


def test_the_random_view_is_wrong_as_often_as_views_are() -> None:
    found = audit_evidence(planted(600), rng=np.random.default_rng(1))
    # One of three views is wrong; 600 draws have a standard error of .019.
    assert share(found.policy("random view").wrong) == pytest.approx(1 / 3, abs=0.08)


def test_missing_verdicts_stay_out_of_every_share() -> None:
    failed: Outcome = Failed("raised")
    cells = [Cell(str(i), "x", None if i < 10 else "ok", failed if i < 10 else Scored(1.0)) for i in range(30)]
    found = audit_evidence(build_evidence(cells, truth={str(i): "no" for i in range(30)}), rng=np.random.default_rng(0))
    view = found.views[0]
    assert (share(view.wrong), view.missing, view.chosen) == (1.0, 10, 20)
    assert found.policy("score-max").missing == 10
    wrong = found.policy("view:x").wrong
    assert isinstance(wrong, RateEstimate)
    assert wrong.n_units == 20


def test_a_reference_view_stands_in_for_truth_and_is_no_permitted_view() -> None:
    cells = [
        Cell(str(i), v, said, Scored(1.0)) for i in range(20) for v, said in (("fine", "ok"), ("coarse", "broken"))
    ]
    found = audit_evidence(build_evidence(cells), rng=np.random.default_rng(0), reference="fine")
    assert found.against == "fine"
    assert [one.view for one in found.views] == ["coarse"]
    assert share(found.reachable) == 1.0


def test_without_scores_nothing_is_said_of_the_score() -> None:
    cells = [Cell(str(i), "x", "ok") for i in range(20)]
    found = audit_evidence(build_evidence(cells, truth={"0": "ok"}), rng=np.random.default_rng(0))
    assert isinstance(found.score.wrongness, NotApplicable)
    assert (found.policy("score-max").emitted == NO_VERDICT).all()
    assert found.policy("score-max").missing == 1


def test_clusters_are_the_sampling_unit() -> None:
    cells = [Cell(f"{i}", "x", "broken" if i < 100 else "ok", Scored(1.0)) for i in range(400)]
    truth = {f"{i}": "ok" for i in range(400)}
    one = audit_evidence(build_evidence(cells, truth=truth), rng=np.random.default_rng(0)).views[0].wrong
    units = {f"{i}": f"q{i // 10}" for i in range(400)}
    two = (
        audit_evidence(build_evidence(cells, truth=truth, clusters=units), rng=np.random.default_rng(0)).views[0].wrong
    )
    assert isinstance(one, RateEstimate)
    assert isinstance(two, RateEstimate)
    assert (one.n_clusters, two.n_clusters) == (400, 40)
    assert two.interval.upper - two.interval.lower > 2 * (one.interval.upper - one.interval.lower)


def test_unanimous_and_majority_by_hand() -> None:
    said = np.array(
        [[1, 1, 1], [1, 1, OPEN], [1, 0, 1], [NO_VERDICT, 2, 2], [NO_VERDICT] * 3, [OPEN] * 3, [0, 1, OPEN]]
    )
    assert unanimous(said).tolist() == [1, OPEN, OPEN, 2, NO_VERDICT, OPEN, OPEN]
    assert majority(said).tolist() == [1, 1, 1, 2, NO_VERDICT, OPEN, OPEN]


def test_the_lab_through_the_general_audit() -> None:
    result = study()
    table = lab_evidence(result.permitted, result.truth, result.family * 10_000 + result.seed)
    groups = {str(n): [v.name for v in result.permitted.views if v.samples == n] for n in (7, 13, 25)}
    found = audit_evidence(table, rng=np.random.default_rng(0), groups=groups)
    assert share(found.policy("score-max").wrong) == 150 / 180
    assert next(one for one in found.views if one.view == "A03").chosen == 180
    assert share(found.score.wrongness) == 1.0
    assert found.helps in {"agreement within a group", "agreement of most views"}
    assert share(found.policy(found.helps).wrong) < 0.03
    assert share(found.policy(found.helps).coverage) > 0.7
    assert share(found.policy("random view").wrong) < 0.25


@pytest.mark.parametrize("reference", [None, "z"])
def test_nothing_to_be_right_by_is_refused(reference: str | None) -> None:
    table = build_evidence([Cell("a", "x", None), Cell("a", "y", "ok")])
    with pytest.raises(InputError):
        audit_evidence(table, rng=np.random.default_rng(0), reference=reference)
    with pytest.raises(InputError, match="decides no item"):
        audit_evidence(table, rng=np.random.default_rng(0), reference="x")
