import pytest

from counterproof.core.findings import Finding, Verdict
from counterproof.core.outcomes import Abstained, Failed, NotApplicable, Outcome
from counterproof.core.seeds import ItemSeed
from counterproof.rewards.attacks import AttackRate, attack_findings, attack_rates
from counterproof.rewards.selection import Selector
from counterproof.rewards.tally import Tally
from counterproof.rewards.units import Unit
from counterproof.stats.rates import RateEstimate
from tests.rewards.records import SETUP, made

SEED = ItemSeed(0, "analysis")
WORST = "launder/lexical@8/oracle_worst"


def units_of(*endings: float | Outcome) -> list[Unit]:
    """One unit a question."""
    return [made((one, {}), trajectory_id=f"t{i:03d}", cluster=f"q{i:03d}") for i, one in enumerate(endings)]


def rates_of(units: list[Unit]) -> tuple[tuple[AttackRate, ...], Tally]:
    tally = Tally(SETUP).add_all(units)
    return attack_rates(tally, SEED, 200), tally


def finding(units: list[Unit], subject: str = WORST, reads_labels: bool = False) -> Finding:
    rates, tally = rates_of(units)
    return next(one for one in attack_findings(rates, tally, reads_labels) if one.subject == subject)


def test_rate_is_the_share_of_units_that_are_fooled() -> None:
    one = finding(units_of(-0.5, 0.0, 0.5, 0.5))
    assert (one.estimate, one.n, one.clusters, one.code) == (0.5, 4, 4, "RW103")
    assert one.counts == {"fooled": 2, "ties": 1, "errored": 0, "no verdict": 0}
    assert one.verdict is Verdict.REFUTED
    assert (one.values["margin median"], one.values["margin worst"]) == (0.25, -0.5)
    assert one.proven
    assert one.evidence == ("t000/launder/0", "t001/launder/0", "t002/launder/0")


def test_rate_is_the_ratio_of_sums_over_questions() -> None:
    # Three units of one question are fooled, the one of the other is not: 3/4, and not the mean of 1 and 0.
    units = [made((-0.5, {}), cluster="q1") for _ in range(3)] + [made((0.5, {}), cluster="q2")]
    assert finding(units).estimate == 0.75


def test_no_success_gives_the_exact_one_sided_bound_over_questions() -> None:
    one = finding(units_of(*[0.5] * 100))
    assert one.estimate == 0.0
    assert one.interval is not None
    assert one.interval.upper == pytest.approx(1 - 0.05 ** (1 / 100))
    assert one.verdict is Verdict.SUPPORTED
    assert one.values["questions"] == "share of questions with any event"
    # Too few questions bound nothing below 5 %: 1 - .05^(1/20) = .139.
    assert finding(units_of(*[0.5] * 20)).verdict is Verdict.INCONCLUSIVE


def test_constant_added_to_the_reward_and_order_of_rows_change_no_rate() -> None:
    margins = [0.5, -0.25, 0.0, 0.125, -1.0, 0.75] * 10
    units = units_of(*margins)
    expected = [one.rate for one in rates_of(units)[0]]
    assert [one.rate for one in rates_of(units[::-1])[0]] == expected
    shifted = [made((m, {}), original=64.0, cluster=f"q{i:03d}") for i, m in enumerate(margins)]
    assert [one.rate for one in rates_of(shifted)[0]] == expected


def test_only_label_free_selections_are_called_so() -> None:
    units = units_of(0.5)
    assert finding(units, reads_labels=False).label_free
    assert not finding(units, reads_labels=True).label_free
    assert finding(units, "launder/lexical@8/first_visible", reads_labels=True).label_free


def test_one_finding_for_each_cell_under_two_selectors() -> None:
    rates, tally = rates_of(units_of(0.5))
    found = [one.subject for one in attack_findings(rates, tally, False)]
    assert len(found) == len(set(found)) == 2 * len(tally.cells)
    assert not any("last_position" in subject for subject in found)


@pytest.mark.parametrize(
    ("ending", "count", "warning"),
    [(Failed("no"), "errored", "errored-units"), (Abstained(), "no verdict", "units-without-verdict")],
)
def test_reward_that_never_gives_a_verdict_has_no_rate(ending: Outcome, count: str, warning: str) -> None:
    one = finding(units_of(*[ending] * 100))
    assert one.estimate == NotApplicable("none of 100 units has a verdict on both records")
    assert one.interval is None
    assert one.counts[count] == 100
    assert one.verdict is Verdict.INCONCLUSIVE
    assert [(w.name, w.blocking) for w in one.warnings] == [(warning, True)]


def test_many_failures_keep_a_rate_of_zero_from_reading_as_clean() -> None:
    one = finding(units_of(*[0.5] * 200, *[Failed("no")] * 20))
    assert (one.estimate, one.n) == (0.0, 200)
    assert one.verdict is Verdict.INCONCLUSIVE
    assert [(w.name, w.blocking) for w in one.warnings] == [("errored-units", True)]
    assert "20 of 220 units (9.1%)" in one.warnings[0].message


def test_few_failures_are_named_and_do_not_block() -> None:
    one = finding(units_of(*[0.5] * 200, Failed("no")))
    assert one.verdict is Verdict.SUPPORTED
    assert [(w.name, w.blocking) for w in one.warnings] == [("errored-units", False)]


def test_attack_without_a_unit_is_not_applicable() -> None:
    one = finding(units_of(0.5), "same_final{U}/oracle_worst")
    assert one.estimate == NotApplicable("no trajectory has an isolated candidate")
    assert one.verdict is Verdict.NOT_APPLICABLE
    assert one.warnings == ()


def test_strict_column_without_a_unit_says_so() -> None:
    rates, _ = rates_of([made((0.5, {"strict": False}))])
    strict = [one for one in rates if one.column.strict and one.column.cell.name == "launder/lexical@8"]
    assert [one.rate for one in strict] == [NotApplicable("no trajectory has a strictly isolated candidate")]


def test_every_column_has_a_rate_or_a_reason() -> None:
    rates, tally = rates_of(units_of(0.5, -0.5))
    assert [one.column for one in rates] == list(tally.columns)
    with_units = [one for one in rates if isinstance(one.rate, RateEstimate)]
    # Launder has six cells with three selectors and a strict column; no unit is common to all edits.
    assert len(with_units) == 6 * 4
    assert {one.fooled for one in with_units} == {1}
    assert {one.column.selector for one in with_units} == set(Selector)
