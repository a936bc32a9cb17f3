"""The console view: one screen with the verdict, measurements, controls, repair or advice, warnings and lacks."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Literal, TextIO

from counterproof.core.analysis import Analysis
from counterproof.core.findings import Finding
from counterproof.core.outcomes import NotApplicable
from counterproof.report.inert import one_line, visible
from counterproof.report.numbers import MISSING, count, estimate_text
from counterproof.report.wording import (
    WITHHELD,
    Kind,
    of_kind,
    presentable,
    remedy_word,
    verdict_sentence,
    verdict_word,
    warnings_of,
)

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

_COLORS = {0: "green", 1: "red", 2: "yellow", 3: "magenta"}
_MOST_ROWS = 12
_MOST_BROKEN = 7
_MOST_ENTRIES = 3
_SENTENCES = 4
_HEADINGS = ("finding", "estimate", "n", "clusters", "ties", "verdict")
_COUNTED = ("n", "clusters", "ties")
_BOLD = 2  # finding and estimate stand out where a proven attack succeeded


def console(analysis: Analysis, file: TextIO | None = None, *, width: int | None = None, report: str = "") -> None:
    """Write one screen on an analysis to `file`, which is standard output unless given.

    Without a terminal, and with NO_COLOR set, there are no escape sequences. Characters that the stream cannot encode
    become question marks. When a control failed no rate is written.

    Args:
        analysis: What to show.
        file: The stream.
        width: Columns; else those of the terminal, 80 in a pipe.
        report: Where the full report is, shown last.
    """
    from rich.console import Console

    stream = sys.stdout if file is None else file
    color = None if os.environ.get("NO_COLOR") else "auto"
    screen = Console(file=stream, width=width, color_system=color, highlight=False, markup=False, emoji=False)  # type: ignore[arg-type]
    with screen.capture() as captured:
        _write(screen, presentable(analysis), report)
    encoding = getattr(stream, "encoding", None) or "utf-8"
    text = "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())
    stream.write(text.encode(encoding, "replace").decode(encoding))


def _write(screen: Console, shown: Analysis, report: str) -> None:
    from rich.text import Text

    color = _COLORS.get(shown.exit_code, "magenta")
    screen.print(Text(one_line(f"counterproof {shown.room}: {shown.title}", 2 * screen.width), style="bold"))
    verdict = Text(f"{verdict_word(shown).upper()}  ", style=f"bold {color}")
    screen.print(verdict.append(verdict_sentence(shown), style="default"))
    if shown.signature:
        bound = "; ".join(map(str.strip, shown.signature.splitlines()))
        screen.print(Text(f"bound as {one_line(bound, 3 * screen.width - len('bound as '))}", style="dim"))
    screen.print()
    for sentence in shown.summary[:_SENTENCES]:
        screen.print(Text(one_line(sentence, 3 * screen.width)))
    measured = of_kind(shown.findings, Kind.MEASUREMENT)
    if measured and shown.controls_hold:
        screen.print()
        screen.print(_table(measured, screen.width))
    screen.print()
    screen.print(_remarks(shown, report, screen.width))


def _table(findings: tuple[Finding, ...], width: int) -> Table:
    """Return the findings as a table, beaten ones first; long subjects break behind a slash, then fewer fit."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    ordered = sorted(findings, key=_urgency)[:_MOST_ROWS]
    rows = [_cells(finding) for finding in ordered]
    widest = [max(len(cells[i]) for cells in [_HEADINGS, *rows]) for i in range(len(_HEADINGS))]
    room = max(12, min(widest[0], width - sum(widest[1:]) - 2 * (len(widest) - 1) - 1))
    if room < widest[0]:
        rows = rows[:_MOST_BROKEN]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for i, name in enumerate(_HEADINGS):
        side: Literal["left", "right"] = "right" if name in _COUNTED else "left"
        table.add_column(name, justify=side, overflow="fold", no_wrap=i > 0, width=widest[i] if i else room)
    for finding, cells in zip(ordered, rows, strict=False):
        style = "bold" if _urgency(finding) < 0 else ""
        texts = (_broken(cells[0], room), *cells[1:])
        table.add_row(*(Text(text, style=style if i < _BOLD else "") for i, text in enumerate(texts)))
    if len(findings) > len(rows):
        table.caption = Text(f"... and {len(findings) - len(rows)} more in the report", style="dim")
        table.caption_justify = "left"
    return table


def _urgency(finding: Finding) -> float:
    """Return the sort key of a finding: minus the estimate of a proven one, else 0."""
    if isinstance(finding.estimate, NotApplicable) or not finding.proven:
        return 0.0
    return -max(0.0, finding.estimate)


def _broken(text: str, room: int) -> str:
    """Return text with a line break behind the last slash that leaves a first line of at most `room` characters."""
    cut = text.rfind("/", 0, room) + 1
    return f"{text[:cut]}\n{text[cut:]}" if len(text) > room and cut > 0 else text


def _cells(finding: Finding) -> tuple[str, ...]:
    applies = not isinstance(finding.estimate, NotApplicable)
    return (
        one_line(finding.subject),
        one_line(estimate_text(finding)) if applies else "not applicable",
        count(finding.n),
        count(finding.clusters),
        count(finding.counts["ties"]) if "ties" in finding.counts else MISSING,
        finding.verdict.value if applies else "",
    )


def _remarks(shown: Analysis, report: str, width: int) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="bold")
    grid.add_column(overflow="fold")
    room = max(40, 2 * (width - 12))

    def add(label: str, *lines: str) -> None:
        for i, line in enumerate(lines[:_MOST_ENTRIES]):
            more = f" (and {len(lines) - _MOST_ENTRIES} more)" if i == _MOST_ENTRIES - 1 and len(lines) > i + 1 else ""
            grid.add_row(label if i == 0 else "", Text(one_line(line, room - len(more)) + more))

    add("controls", _controls(shown))
    if shown.controls_hold:
        add(remedy_word(shown), *(finding.title for finding in of_kind(shown.findings, Kind.REPAIR)))
    gates = sorted(shown.gates, key=lambda gate: not gate.tripped)
    add("gates", *(f"{gate.expression}: {_tripped(gate.tripped)}, {gate.reason}" for gate in gates))
    reasons = _not_applicable(shown) if shown.controls_hold else ()
    add("not applied", *reasons)
    add("warnings", *(_warning(warning.name, warning.message, where) for warning, where in warnings_of(shown)))
    add("log lacks", *(f"{lack.field}: {lack.consequence}; {lack.advice}" for lack in shown.lacks))
    if report:
        grid.add_row("report", Text(visible(report)))
    return grid


def _controls(shown: Analysis) -> str:
    if shown.controls_note:
        return shown.controls_note
    controls = of_kind(shown.findings, Kind.CONTROL)
    if not shown.controls_hold:
        failed = [f.subject for f in controls if f.verdict.value != "supported"]
        return f"FAILED{': ' + ', '.join(failed) if failed else ''}. {WITHHELD}"
    if not controls:
        return "hold"
    return "hold: " + "; ".join(f"{finding.subject} {estimate_text(finding)}" for finding in controls)


def _tripped(tripped: bool) -> str:
    return "tripped" if tripped else "held"


def _not_applicable(shown: Analysis) -> tuple[str, ...]:
    return tuple(
        f"{finding.subject}: {finding.estimate.reason}"
        for finding in shown.findings
        if isinstance(finding.estimate, NotApplicable)
    )


def _warning(name: str, message: str, where: tuple[str, ...]) -> str:
    others = f" (+{len(where) - 1})" if len(where) > 1 else ""
    return f"{name}: {message} [{where[0]}{others}]"
