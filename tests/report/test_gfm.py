import re
from dataclasses import replace

from counterproof.core.analysis import Pair, PairField
from counterproof.report import markdown
from counterproof.report.gfm import escape
from tests.report.example import rewards_audit

HOSTILE = "a|b `c` <script>alert(1)</script> [x](javascript:y) ![i](z)\n# not a heading\n\n| x |"


def cells(row: str) -> list[str]:
    return re.split(r"(?<!\\)\|", row)[1:-1]


def tables(text: str) -> list[list[str]]:
    found: list[list[str]] = []
    rows: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            rows.append(line)
        elif rows:
            found.append(rows)
            rows = []
    return found


def test_it_is_complete() -> None:
    text = markdown(rewards_audit())
    for words in ("12.5 % \\[9.1, 16.4\\]", "few-clusters", "support_ids", "asr&gt;0", "q5/launder", "sha256:4f4f"):
        assert words in text
    for title in ("Findings", "Repair", "Controls", "Tables", "Charts as data", "Evidence", "Notes", "Provenance"):
        assert f"\n## {title}\n" in text


def test_every_table_is_rectangular_even_with_hostile_text() -> None:
    analysis = rewards_audit()
    pair = Pair("k|`", HOSTILE, (PairField(HOSTILE, HOSTILE, HOSTILE + " more"),))
    hostile = replace(
        analysis,
        title=HOSTILE,
        summary=(HOSTILE,),
        signature=HOSTILE,
        findings=tuple(replace(finding, subject=HOSTILE, title=HOSTILE) for finding in analysis.findings),
        pairs=(pair,),
    )
    text = markdown(hostile)
    found = tables(text)
    assert len(found) >= 8
    for rows in found:
        assert {len(cells(row)) for row in rows} == {len(cells(rows[0]))}
    outside = re.sub(r"(`+) .*? \1(?!`)", "", text)
    assert "<script" not in outside
    assert "\n# not a heading" not in text


def test_escapes() -> None:
    assert escape("# x") == "\\# x"
    assert escape("1. x") == "1\\. x"
    assert escape("12.5 % of all") == "12.5 % of all"
    assert escape("snake_case _it_") == "snake_case \\_it\\_"
    assert escape("a & b &lt;") == "a &amp; b &amp;lt;"


def test_no_rate_when_a_control_failed() -> None:
    text = markdown(replace(rewards_audit(), controls_hold=False, exit_code=3))
    assert "no rate is shown" in text
    assert not re.search(r"\d\s*%", text.split("## Evidence")[0])


def test_controls_that_were_not_run_are_said_so() -> None:
    text = markdown(replace(rewards_audit(), controls_note="not run, because of this"))
    assert "Controls: not run, because of this" in text
