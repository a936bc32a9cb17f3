import pytest

from counterproof.core.findings import Verdict
from counterproof.core.outcomes import Failed, NotApplicable
from counterproof.rewards.lattice import DELTA
from counterproof.rewards.repair import Repair, repair_finding, repair_of
from counterproof.rewards.tally import Tally
from counterproof.rewards.units import Unit
from tests.rewards.records import SETUP, F, L, U, made, of_reward, record, tally_of

ONLY = {"ranks": (("only", 0),)}
SAME = {"edit": 0, "flags": U | L, **ONLY}
ALONE = {"edit": 0, "flags": U, **ONLY}
FAKE = {"edit": 1, "flags": F, **ONLY}
BOTH = {"ranks": (("lexical", 0), ("bm25", 0))}


def repaired(*units: Unit) -> tuple[Repair, Tally]:
    tally = Tally(SETUP).add_all(units)
    return repair_of(tally), tally


def labels(found: tuple[Repair, Tally]) -> list[str]:
    return [found[1].lattice.label(subset) for subset in found[0].minimal]


def test_penalty_on_laundering_alone_closes_laundering_and_deleted_evidence() -> None:
    found = repaired(made((-0.02, SAME), (0.08, FAKE), (-0.33, BOTH)))
    assert labels(found) == ["{L}"]
    assert found[0].cells == ("same_final{UL}", "fake_id", "launder/lexical@8", "launder/bm25@16")
    assert found[0].units == (1, 1, 1, 1)
    assert found[0].fooled[0b000] == (1, 0, 1, 1)
    assert found[0].fooled[0b010] == (0, 0, 0, 0)
    assert found[0].fooled[0b001] == (0, 0, 1, 1)
    finding = repair_finding(*found)
    assert (finding.estimate, finding.verdict, finding.code) == (1.0, Verdict.SUPPORTED, "RW110")
    assert finding.title.startswith("smallest repair: {L} on these units: conditional on")
    assert finding.values["least sufficient weight alone"] == {"L": pytest.approx(0.33 + DELTA)}


def test_uncited_answers_whose_searches_pay_for_the_flag_need_a_penalty_on_u_as_well() -> None:
    found = repaired(made((-0.33, BOTH)), made((-0.0014, ALONE), targets={0: U}))
    assert labels(found) == ["{U,L}"]
    assert {need.detector: (need.weight, need.binding) for need in found[0].needs} == {
        "U": (None, "launder"),
        "L": (None, "same_final"),
        "F": (None, "launder"),
    }


def test_two_minimal_repairs_are_both_named() -> None:
    found = repaired(made((-0.5, SAME)))
    assert labels(found) == ["{U}", "{L}"]
    assert "{U} or {L}" in repair_finding(*found).title


def test_smaller_budgets_are_no_primary_attack() -> None:
    found = repaired(made((0.5, {"ranks": (("lexical", 0), ("bm25", 0))})))
    assert found[0].cells == ("launder/lexical@8", "launder/bm25@16")


def test_no_success_needs_no_repair() -> None:
    found = repaired(made((0.5, SAME), (0.5, FAKE), (0.5, BOTH)))
    assert not found[0].needed
    finding = repair_finding(*found)
    assert (finding.estimate, finding.verdict) == (0.0, Verdict.SUPPORTED)
    assert finding.title.startswith("no repair needed on these units")


def test_success_beyond_every_weight_has_no_repair() -> None:
    found = repaired(made((-5.0, BOTH)))
    finding = repair_finding(*found)
    assert labels(found) == []
    assert isinstance(finding.estimate, NotApplicable)
    assert finding.verdict is Verdict.REFUTED
    # A heavier penalty on L would do: the least weight says how heavy.
    assert {need.detector: need.weight for need in found[0].needs}["L"] == pytest.approx(5.0 + DELTA)


@pytest.mark.parametrize("units", [(), (made(),), (made((Failed("no"), BOTH)),)])
def test_without_units_nothing_is_said(units: tuple[Unit, ...]) -> None:
    found = repaired(*units)
    finding = repair_finding(*found)
    assert isinstance(finding.estimate, NotApplicable)
    assert finding.verdict is Verdict.NOT_APPLICABLE
    assert found[0].minimal == ()
    assert found[0].needed


def test_repair_that_rests_on_missing_verdicts_is_not_supported() -> None:
    # {L} closes the success that was seen, but the other candidate of that unit failed.
    found = repaired(made((-0.5, BOTH), (Failed("no"), BOTH)), made((0.5, BOTH)))
    assert labels(found) == ["{L}"]
    assert found[0].fooled[0b010] == (0, 0)
    # One of two units in each of two cells.
    assert (found[0].open[0b000], found[0].open[0b010], found[0].seen) == (0, 2, 4)
    finding = repair_finding(*found)
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert finding.counts == {"no verdict": 2}
    assert [(one.name, one.blocking) for one in finding.warnings] == [("repair-without-verdict", True)]


def test_few_missing_verdicts_are_named_and_do_not_block() -> None:
    units = [made((0.5, BOTH)) for _ in range(39)]
    finding = repair_finding(*repaired(*units, made((0.5, BOTH), (Failed("no"), BOTH))))
    assert finding.verdict is Verdict.SUPPORTED
    assert [(one.name, one.blocking) for one in finding.warnings] == [("repair-without-verdict", False)]


def test_reference_on_records_by_hand() -> None:
    # One wrong citation that a never-retrieved support passage replaces: lambda_L must reach 1/(1 + 2).
    wrong = record((("who", "cf"),), citations="f", support_ids=frozenset("bd"))
    # Four different searches and a citation: 2(.0786) - .08 > 0 resists. With a repeat it does not.
    searches = [(f"word{i}", "b") for i in range(3)]
    found = tally_of([wrong, record([*searches, searches[0]])], of_reward("reference"))
    repair = repair_of(found)
    assert [found.lattice.label(one) for one in repair.minimal] == ["{L}"]
    needs = {need.detector: need for need in repair.needs}
    assert needs["L"].weight == pytest.approx(1 / 3 + DELTA)
    assert needs["L"].binding == "launder"
    assert repair_of(tally_of([wrong], of_reward("reference+L"))).minimal == (0,)
