import pytest

from counterproof.core.errors import InputError
from counterproof.core.findings import Finding, Interval
from counterproof.core.outcomes import NotApplicable
from counterproof.report.numbers import (
    THIN,
    cell,
    count,
    estimate_text,
    is_share,
    loose,
    number,
    percent,
    with_interval,
)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0.0 %"),
        (1.0, "100.0 %"),
        (0.2209, "22.1 %"),
        (-0.0273, "-2.7 %"),
        (0.0004, "<0.1 %"),
        (0.9996, ">99.9 %"),
        (-0.0004, ">-0.1 %"),
    ],
)
def test_percent_keeps_none_and_all_for_exactly_none_and_all(share: float, text: str) -> None:
    assert percent(share) == text


def test_intervals_by_side() -> None:
    unit = "share of questions"
    assert with_interval(0.125, Interval(0.091, 0.164, 0.95, "m"), unit) == "12.5 % [9.1, 16.4]"
    assert with_interval(0.0, Interval(0.0, 0.2209, 0.95, "m", "upper"), unit) == "0.0 % (at most 22.1 %)"
    assert with_interval(1.0, Interval(0.7791, 1.0, 0.95, "m", "lower"), unit) == "100.0 % (at least 77.9 %)"
    assert with_interval(0.0786, Interval(-0.1, 2.0, 0.95, "m"), "reward units") == "0.0786 [-0.1, 2]"


def test_what_does_not_apply_is_said_with_its_reason() -> None:
    finding = Finding("c", "s", "t", NotApplicable("no citations"), unit="share of rows")
    assert estimate_text(finding) == "not applicable: no citations"
    assert loose(NotApplicable("x")) == "not applicable: x"


def test_counts_are_grouped_by_a_narrow_space() -> None:
    assert count(1234567) == f"1{THIN}234{THIN}567"
    assert number(12345.6) == f"12{THIN}346"
    assert number(1234.5) in (f"1{THIN}234", f"1{THIN}235")
    assert number(3.0) == "3"
    assert number(-0.07857142) == "-0.07857"


def test_cells_use_the_format_of_their_column() -> None:
    assert cell(0.125, ".1%") == "12.5 %"
    assert cell(0.125, ".0%") == "12 %"
    assert cell(None, ".1%") == "–"
    assert cell(True) == "yes"
    assert cell("12", ".1%") == "12"
    with pytest.raises(InputError, match="format 'zz'"):
        cell(0.5, "zz", "funnel.ASR")


def test_ratios_and_units_of_reward_are_no_shares() -> None:
    assert is_share("share of trajectories")
    assert is_share("attack success rate (95 % interval)")
    assert not is_share("rate ratio")
    assert not is_share("reward units")
    assert not is_share("")


def test_loose_values_are_sorted_and_plain() -> None:
    assert loose({"b": (1, 2), "a": None}) == "a: –; b: 1, 2"
