"""Tables of evidence views: what a verifier said of each item on each permitted view, with every defect named."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from counterproof.adapters.lines import ProblemList, Row, existing
from counterproof.adapters.verdicts.tables import read_table
from counterproof.core.errors import InputError, Problem, nearest
from counterproof.core.outcomes import Failed, Outcome, Scored
from counterproof.core.plan import Digest
from counterproof.equations.evidence import NO_SCORE, Cell

ROLES = ("item", "view", "verdict", "score", "truth", "cluster", "failure")
"""The columns by role; the first three are needed."""
NEEDED = ("item", "view", "verdict")
OPEN_WORDS = frozenset({"", "open", "inconclusive", "abstain", "abstained", "undecided"})
"""Verdicts, in lower case, that decide nothing; so does a missing one."""


@dataclass(frozen=True, slots=True)
class EvidenceFile:
    """What a file of evidence views holds.

    Attributes:
        cells: One for each row.
        clusters: Sampling unit by item; empty without the column.
        truth: True verdict by item, where it is known.
        digests: The file's content digest.
        notes: What was read as what.
    """

    cells: tuple[Cell, ...]
    clusters: Mapping[str, str]
    truth: Mapping[str, str]
    digests: tuple[Digest, ...]
    notes: tuple[str, ...]


def read_evidence(path: Path, columns: Mapping[str, str] | None = None) -> EvidenceFile:
    """Return the evidence views in a CSV, JSON lines, JSON or Parquet file with one row for each item and view.

    Columns: `item`, `view`, `verdict` (text; empty, `open`, `inconclusive` or `abstained` where the verifier does not
    decide), and optionally `score`, `truth`, `cluster` and `failure` (a reason, where there is no verdict at all).

    Args:
        path: The file.
        columns: Column name by role, where it is another one.

    Raises:
        InputError: The file cannot be read, a column is missing, or rows cannot be used. All problems are listed.
    """
    path = existing(Path(path), "table of evidence views")
    named = dict(zip(ROLES, ROLES, strict=True)) | dict(columns or {})
    unknown = [Problem(f"role '{role}'", "is none", nearest(role, ROLES)) for role in named if role not in ROLES]
    if unknown:
        raise InputError("columns", unknown)
    digest, problems, rows = hashlib.sha256(), ProblemList(), list[Row]()
    for row in read_table(path, digest.update):
        if isinstance(row, Problem):
            problems.add(row)
        else:
            rows.append(row)
    problems.raise_if_any(f"{path.name} cannot be read")
    if not rows:
        raise InputError(f"{path.name} is empty: there is no row")
    present = set(rows[0].values)
    asked = (*NEEDED, *(role for role in columns or {} if role not in NEEDED))
    missing = [
        Problem(f"column '{named[role]}'", f"is not there ({role})", nearest(named[role], sorted(present)))
        for role in asked
        if named[role] not in present
    ]
    if missing:
        raise InputError(f"{path.name} has the columns {', '.join(sorted(present))}", missing)
    return _gathered(path, rows, named, Digest("evidence views", digest.hexdigest()))


def _gathered(path: Path, rows: list[Row], named: Mapping[str, str], digest: Digest) -> EvidenceFile:
    problems, cells = ProblemList(), []
    places: dict[tuple[str, str], str] = {}
    facts: dict[str, dict[str, str]] = {"cluster": {}, "truth": {}}
    for row in rows:
        item, view = (_text(row.values.get(named[role])) for role in ("item", "view"))
        if not item or not view:
            problems.add(Problem(row.where, f"has no {'view' if item else 'item'}", "give every row both"))
            continue
        first = places.setdefault((item, view), row.where)
        if first != row.where:
            problems.add(Problem(row.where, f"item '{item}', view '{view}' stands again", f"first in {first}"))
        for role, known in facts.items():
            value = _text(row.values.get(named[role]))
            if value and known.setdefault(item, value) != value:
                problems.add(Problem(row.where, f"{role} '{value}' of item '{item}' was '{known[item]}' before"))
        score = _score(row, named)
        if isinstance(score, Problem):
            problems.add(score)
            continue
        verdict = _text(row.values.get(named["verdict"]))
        cells.append(Cell(item, view, None if verdict.lower() in OPEN_WORDS else verdict, score))
    problems.raise_if_any(f"{path.name} cannot be used as a table of evidence views")
    clusters = facts["cluster"]
    if clusters and (bare := sorted({cell.item for cell in cells} - clusters.keys())):
        raise InputError(f"{path.name}: {len(bare)} items have no cluster, the first is '{bare[0]}'")
    truth = {item: word for item, word in facts["truth"].items() if word.lower() not in OPEN_WORDS}
    note = f"{len(cells)} rows; clusters: {'column ' + named['cluster'] if clusters else 'every item its own'}."
    return EvidenceFile(tuple(cells), clusters, truth, (digest,), (note,))


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def _score(row: Row, named: Mapping[str, str]) -> Outcome | Problem:
    reason = _text(row.values.get(named["failure"]))
    if reason:
        return Failed(reason)
    value = row.values.get(named["score"])
    if value is None or value == "":
        return NO_SCORE
    try:
        number = float(value)
    except (TypeError, ValueError):
        return Problem(row.where, f"score {value!r:.40} is no number", "leave it empty where there is none")
    if not math.isfinite(number):
        return Problem(row.where, f"score {number} is not finite", "leave it empty where there is none")
    return Scored(number)
