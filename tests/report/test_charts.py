import json
import struct
from dataclasses import replace

import pytest

from counterproof.core.analysis import Cell, ChartKind
from counterproof.panel.rules import VoteRule, majority_policy
from counterproof.panel.table import Channel
from counterproof.panel.tree import tree_rows
from counterproof.report.charts import bundle, data_table, numeric_columns, svg, vega_lite
from tests.report.example import charts, more_charts

ALL = {chart.name: chart for chart in (*charts(), *more_charts())}


def test_the_examples_cover_every_kind() -> None:
    assert {chart.kind for chart in ALL.values()} == set(ChartKind)


@pytest.mark.parametrize("name", sorted(ALL))
def test_each_kind_renders_to_a_picture_of_sensible_size(name: str) -> None:
    import vl_convert

    picture = vl_convert.vegalite_to_png(vega_lite(ALL[name]))
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", picture[16:24])
    assert 640 <= width <= 1100
    assert 100 <= height <= 600
    assert len(picture) > 3000


@pytest.mark.parametrize("name", sorted(ALL))
def test_an_empty_chart_still_renders(name: str) -> None:
    assert "<svg" in svg(replace(ALL[name], rows=(), marks=()))


def test_structure_takes_the_colour_of_the_text_and_names_no_address() -> None:
    for chart in ALL.values():
        text = json.dumps(vega_lite(chart))
        assert '"currentColor"' in text
        assert "http" not in text
        assert vega_lite(chart)["background"] == "transparent"


def test_marks_and_labels_without_a_number_are_drawn() -> None:
    assert "predicted w* = 0.87" in svg(ALL["sweep"])
    assert "no number" in svg(ALL["attacks"])


def test_hostile_labels_are_text_in_the_picture() -> None:
    rows: tuple[dict[str, Cell], ...] = (
        {"label": "</noscript><img src=x onerror=alert(1)>\u202e\x00", "value": 1.0, "series": "a"},
    )
    drawn = svg(replace(ALL["payers"], rows=rows))
    assert "<img" not in drawn
    assert "</noscript" not in drawn
    assert "\u202e" not in drawn
    assert "\x00" not in drawn


def test_shares_are_tabled_in_percent_and_missing_ones_as_a_dash() -> None:
    headings, rows = data_table(ALL["attacks"])
    assert headings == ("label", "series", "attack success rate (95 % interval)", "lower", "upper")
    assert rows[0] == ("launder, oracle_worst", "isolated", "12.5 %", "9.1 %", "16.4 %")
    assert rows[-1][2:] == ("–", "–", "–")
    assert numeric_columns(ALL["attacks"]) == (False, False, True, True, True)
    assert data_table(ALL["sweep"])[1][3] == ("launder", "0.9", "3.0 %", "0.0 %", "6.0 %")
    assert data_table(ALL["lattice"])[1][0] == ("none", "same_final", "3.1 %")


def test_the_script_library_holds_no_end_of_script() -> None:
    assert "</script" not in bundle().lower()
    assert "vegaEmbed" in bundle()


def test_a_tree_shows_its_nodes_and_the_answers_on_its_branches() -> None:
    drawn = svg(ALL["policy"])
    for words in ("ask judge a", "accept no (0.91)", "abstain (0.55)", ">no<", ">yes<", "calls made"):
        assert words in drawn
    headings, rows = data_table(ALL["policy"])
    assert headings[:3] == ("label", "kind", "edge")
    assert rows[0][:3] == ("ask judge a", "ask", "\u2013")


def test_a_tree_of_sixty_nodes_and_hostile_channel_names_is_drawn_inert() -> None:
    channels = tuple(Channel(f"</noscript><script>{j}</script>") for j in range(5))
    rows = tree_rows(majority_policy(channels, ("no", "yes"), VoteRule((0, 1, 2, 3, 4))))
    drawn = svg(replace(ALL["policy"], rows=rows))
    assert "<script" not in drawn
    assert "</noscript" not in drawn
