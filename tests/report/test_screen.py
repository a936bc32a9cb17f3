import io
import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from counterproof.core.analysis import Analysis
from counterproof.core.outcomes import NotApplicable
from counterproof.report import console
from tests.report.example import rewards_audit


def written(analysis: Analysis, *, width: int, report: str = "") -> str:
    stream = io.StringIO()
    console(analysis, stream, width=width, report=report)
    return stream.getvalue()


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("width", [80, 100])
def test_a_typical_audit_fits_one_screen(width: int) -> None:
    text = written(rewards_audit(), width=width, report="runs/a/report.html")
    lines = text.splitlines()
    assert len(lines) <= 40
    assert max(map(cell_len, lines)) <= width
    assert "\x1b" not in text


def test_it_says_what_matters() -> None:
    text = written(rewards_audit(), width=100, report="runs/a/report.html")
    for words in (
        "GATE TRIPPED",
        "(exit code 1)",
        "bound as grounded(question, answer, citations, retrieved) -> float",
        "12.5 % [9.1, 16.4]",
        "0.0 % (at most 22.1 %)",
        "hold: control/constant 100.0 %",
        "The smallest repair is {L}",
        "same_final/U: no trajectory is in this stratum",
        "few-clusters",
        "support_ids",
        "runs/a/report.html",
    ):
        assert words in text


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_what_the_parameters_are_bound_to_is_told_apart() -> None:
    bound = "pays(answer, golds)\n  answer <- the answer [visible]\n  golds  <- gold_answers: list [verifier-only]"
    text = written(replace(rewards_audit(), signature=bound), width=100)
    said = "pays(answer, golds); answer <- the answer [visible]; golds <- gold_answers: list [verifier-only]"
    assert f"bound as {said}" in " ".join(text.split())


def test_a_terminal_gets_colour_unless_it_is_declined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    for declined in (False, True):
        if declined:
            monkeypatch.setenv("NO_COLOR", "1")
        stream = Terminal()
        console(rewards_audit(), stream, width=100)
        assert ("\x1b[" in stream.getvalue()) is not declined


def test_no_rate_is_written_when_a_control_failed() -> None:
    text = written(replace(rewards_audit(), controls_hold=False, exit_code=3), width=100)
    assert "no rate is shown" in text
    assert not re.search(r"\d\s*%|\d\.\d", text.replace("asr>0.5", ""))
    assert "NO CONCLUSION" in text


@pytest.mark.parametrize("hold", [True, False])
def test_controls_that_were_not_run_or_had_nothing_to_show_are_said_not_to_hold_nor_to_fail(hold: bool) -> None:
    analysis = replace(rewards_audit(), controls_hold=hold, controls_note="not run, because of this", exit_code=3)
    text = written(analysis, width=100)
    assert "not run, because of this" in text
    assert "misbehaved" not in text
    assert not re.search(r"controls +(hold|FAILED)", text)


def test_many_rows_are_cut_with_their_number() -> None:
    analysis = rewards_audit()
    text = written(replace(analysis, findings=analysis.findings[:1] * 30), width=100)
    assert "... and 18 more in the report" in text


def test_terminal_escapes_and_markup_from_logs_have_no_effect() -> None:
    analysis = replace(rewards_audit(), title="\x1b]0;pwn\x07[bold red]x[/]", summary=("a\u202eb",))
    text = written(analysis, width=100)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[bold red]x[/]" in text


def test_a_stream_that_cannot_encode_gets_question_marks() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    console(replace(rewards_audit(), title="naïve"), stream, width=100)
    stream.flush()
    assert b"na?ve" in raw.getvalue()


def test_nothing_applicable_is_no_zero() -> None:
    analysis = rewards_audit()
    nothing = replace(analysis.findings[0], estimate=NotApplicable("no citations"), interval=None)
    text = written(replace(analysis, findings=(nothing,), summary=(), gates=()), width=100)
    assert "not applicable" in text
    assert "0.0 %" not in text


def test_the_worst_attack_stands_first_and_long_subjects_break_behind_a_slash() -> None:
    analysis = rewards_audit()
    mild, *_ = analysis.findings
    worst = replace(mild, subject="launder/a-generator-with-a-long-name@16/oracle_worst", estimate=0.5)
    text = written(replace(analysis, findings=(*analysis.findings, worst)), width=80)
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("───")) + 1
    assert "50.0 %" in lines[first]
    assert lines[first].split()[0].endswith("/")
    assert max(map(cell_len, lines)) <= 80


def test_a_panel_gives_advice_and_a_reward_is_repaired() -> None:
    assert "repair" in written(rewards_audit(), width=100)
    text = written(replace(rewards_audit(), room="panel"), width=100)
    assert "advice" in text
    assert "\nrepair" not in text
