from fractions import Fraction
from pathlib import Path

import pytest

from studies.rewards_results.margins import grounding, repeats
from studies.rewards_results.page import column
from studies.rewards_results.sources import FIREACT, POOLS, Source, run
from studies.rewards_results.tables import attack_table, strictness_table
from studies.rewards_results.weights import minimal
from studies.rewards_results.wording import grid


def test_grounding_is_the_harmonic_mean_of_precision_and_recall() -> None:
    assert grounding({"a", "b", "c"}, {"a", "d"}) == Fraction(2, 5)  # precision 1/3, recall 1/2
    assert grounding({"a"}, {"b"}) == grounding(set(), {"b"}) == 0


@pytest.mark.parametrize(
    ("queries", "repeated"),
    [
        (["one two three four", "one two three four five"], True),  # 4 of 5 tokens
        (["one two three", "one two three four"], False),  # 3 of 4
        (["?", "?"], True),
        (["?", "!"], False),
        (["one"], False),
    ],
)
def test_repeat_is_the_same_text_or_four_fifths_of_the_tokens(queries: list[str], repeated: bool) -> None:
    assert repeats(queries) is repeated


def test_minimal_subsets_have_no_sufficient_proper_subset() -> None:
    assert minimal((("{}", 3), ("{U}", 0), ("{L}", 1), ("{U,L}", 0))) == ["{U}"]
    assert minimal((("{}", 0), ("{U}", 0))) == ["{}"]


def test_grid_keeps_pipes_inside_their_cell() -> None:
    assert grid(["a", "b"], [["|C|", "2"]]) == "| a | b |\n| --- | ---: |\n| \\|C\\| | 2 |"


@pytest.mark.slow
@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("source", "heading"),
    [(POOLS[0], "### R0"), (FIREACT, "### Isolated and strictly isolated")],
    ids=lambda one: one.name if isinstance(one, Source) else "",
)
def test_page_shows_what_the_audit_gives_again(
    source: Source, heading: str, shared_data: Path, repository: Path, tmp_path: Path
) -> None:
    if not (shared_data / source.file).is_file():
        pytest.skip(f"real data needed: {shared_data / source.file} is missing")
    text = (repository / "docs" / "results" / "rewards.md").read_text(encoding="utf-8")
    again = run(source, shared_data, tmp_path, rewards=("reference",))
    shown = attack_table([again], "reference") if source.pooled else strictness_table([again])
    committed = column(text, heading, source.name)
    assert committed
    assert column(f"\n{heading}\n{shown}", heading, source.name) == committed
