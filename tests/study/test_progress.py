from __future__ import annotations

import io

import pytest

from counterproof.study.progress import Stages, TerminalStages


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_bar_a_stage_with_items_and_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    with TerminalStages().stage("scores", items=20, calls=4000) as bar:
        bar.advance(5, 1000)
        bar.advance(15, 2000)
    said = screen.getvalue()
    assert "scores" in said
    assert "20/20" in said
    assert "3,000 of 4,000 calls" in said


def test_a_stage_without_calls_speaks_of_none(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm-256color")
    with TerminalStages().stage("evidence", items=20, calls=0) as bar:
        bar.advance(20, 0)
    assert "20/20" in screen.getvalue()
    assert "calls" not in screen.getvalue()


def test_what_is_no_terminal_gets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.StringIO()
    monkeypatch.setattr("sys.stderr", pipe)
    for stages in (Stages(), TerminalStages()):
        with stages.stage("scores", items=2) as bar:
            bar.advance(2, 10)
    assert pipe.getvalue() == ""
