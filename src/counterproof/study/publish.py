"""What a finished run leaves for people: findings.json, report.md, report.html; and whether it still says the truth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from counterproof.core.analysis import Analysis
from counterproof.core.errors import InputError, LedgerError, Problem, nearest
from counterproof.report import analysis_from_json, disagreements, findings_json, html, markdown
from counterproof.store import Ledger, write_atomically
from counterproof.study.codes import code_pages
from counterproof.study.rooms import finish_run

FINDINGS, MARKDOWN, PAGE = "findings.json", "report.md", "report.html"


def publish(folder: Path, analysis: Analysis) -> Path:
    """Write the findings and both reports of a run, each whole or not at all, and return the page's path.

    Raises:
        OSError: The folder cannot be written.
    """
    write_atomically(folder / FINDINGS, findings_json(analysis))
    write_atomically(folder / MARKDOWN, markdown(analysis).encode())
    write_atomically(folder / PAGE, html(analysis, code_pages=code_pages()).encode())
    return folder / PAGE


def load(folder: Path) -> Analysis:
    """Return the analysis in a run's `findings.json`.

    Raises:
        InputError: The folder is no run, or its run is not finished.
    """
    return analysis_from_json(_findings(folder))


def _findings(folder: Path) -> bytes:
    if not folder.is_dir():
        siblings = [one.name for one in folder.parent.iterdir() if one.is_dir()] if folder.parent.is_dir() else []
        raise InputError(
            f"{folder} is no run folder; " + (nearest(folder.name, siblings) if siblings else "no such path")
        )
    path = folder / FINDINGS
    if not path.is_file():
        begun = (folder / "plan.json").is_file()
        raise InputError(
            f"{folder} has no {FINDINGS}; "
            + ("its run is not finished: run the same command again" if begun else "it is no run folder")
        )
    return path.read_bytes()


@dataclass(frozen=True, slots=True)
class Replayed:
    """A run analysed again from its ledger.

    Attributes:
        analysis: The new analysis, with post-hoc gates.
        identical: Whether the findings without post-hoc gates are those on the disk, byte for byte.
    """

    analysis: Analysis
    identical: bool


def replay(folder: Path, post_hoc: tuple[str, ...] = ()) -> Replayed:
    """Analyse the frozen stages of a run again, without pool or verifier, and compare byte for byte.

    Raises:
        InputError: The folder is no finished run.
        LedgerError: Its ledger cannot be read.
    """
    before = _findings(folder)
    ledger = Ledger.open(folder)
    again = finish_run(ledger, ())
    analysis = finish_run(ledger, post_hoc) if post_hoc else again
    return Replayed(analysis, findings_json(again) == before)


def verify(folder: Path) -> tuple[Problem, ...]:
    """Recompute every hash of a run and analyse it again; return what does not hold, or nothing.

    Raises:
        InputError: The folder is no finished run.
    """
    data = _findings(folder)
    try:
        problems = list(Ledger.open(folder).verify())
    except LedgerError as error:
        return (Problem(str(folder), str(error)),)
    if problems:
        return tuple(problems)
    remedy = "run `counterproof replay` to see what the ledger says"
    if not replay(folder).identical:
        problems.append(Problem(FINDINGS, "is not what the ledger gives", remedy))
    try:
        analysis = analysis_from_json(data)
    except InputError as error:
        return (*problems, Problem(FINDINGS, str(error)))
    problems += [Problem(FINDINGS, str(one)) for one in disagreements(analysis)]
    expected = {MARKDOWN: markdown(analysis), PAGE: html(analysis, code_pages=code_pages())}
    for name, text in expected.items():
        path = folder / name
        if not path.is_file():
            problems.append(Problem(name, "is missing", "run the audit's command again"))
        elif path.read_bytes() != text.encode():
            problems.append(Problem(name, "is not the report of these findings", "run the audit's command again"))
    return tuple(problems)
