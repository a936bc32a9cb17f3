"""What an analysis hands to the report: findings, tables, charts and pairs, as plain data without any layout."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from counterproof.core.findings import Finding

Cell: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Table:
    """A table of one topic.

    Attributes:
        name: Stable name, unique in the analysis.
        title: What it shows, in words.
        columns: Headings.
        rows: One tuple a row, as long as `columns`. None stands for "there is no such number".
        note: What a reader must know to read it.
        formats: Format specification by column, for example {"ASR": ".1%"}; others are shown as they are.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    formats: Mapping[str, str] = field(default_factory=dict)


class ChartKind(enum.Enum):
    """The shapes that a chart can have, with the fields that each row of its data holds."""

    INTERVALS = "intervals"
    """Rows: label, estimate, lower, upper, series. A point and its interval, one line a label."""
    BARS = "bars"
    """Rows: label, value, series."""
    LINES = "lines"
    """Rows: x, y, series, and optionally lower and upper for a band."""
    HEAT = "heat"
    """Rows: x, y, value."""
    STEPS = "steps"
    """Rows: x, y, series. An empirical distribution or another step function."""
    TREE = "tree"
    """Rows: a node each, with x (depth), y (place), label, kind, and for all but the root x_from, y_from and edge (the
    label of the branch that leads to it)."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A plot as data.

    Attributes:
        name: Stable name, unique in the analysis.
        title: What it shows, in words.
        caption: What is to be seen in it, in a sentence: the words come first.
        kind: Its shape.
        rows: The data, one mapping a mark.
        x_title: Axis title with unit.
        y_title: Axis title with unit.
        marks: Vertical reference lines: label and x value.
    """

    name: str
    title: str
    caption: str
    kind: ChartKind
    rows: tuple[Mapping[str, Cell], ...]
    x_title: str
    y_title: str
    marks: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class PairField:
    """One field of a pair before and after; `changed` is derived where both are given."""

    name: str
    before: str
    after: str

    @property
    def changed(self) -> bool:
        """Whether the two differ."""
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class Pair:
    """An original beside its counterfactual: the evidence of a finding.

    Attributes:
        key: Stable key, named by findings as evidence.
        title: What was done, in words.
        fields: All fields shown, in order.
        scores: Named numbers, for example original, counterfactual, margin.
        components: Component name, before, after.
    """

    key: str
    title: str
    fields: tuple[PairField, ...]
    scores: tuple[tuple[str, float], ...] = ()
    components: tuple[tuple[str, float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Lack:
    """What a log did not hold, what that made impossible, and what to log."""

    field: str
    consequence: str
    advice: str


@dataclass(frozen=True, slots=True)
class GateResult:
    """A gate expression, whether it tripped, and on what."""

    expression: str
    tripped: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Analysis:
    """The whole conclusion of a study.

    Attributes:
        room: The audit.
        title: For the page's head.
        summary: What was found, in a few plain sentences, most important first.
        findings: All findings.
        tables: In reading order.
        charts: In reading order.
        pairs: Evidence, by the keys that findings name.
        lacks: What the logs lacked.
        notes: Assumptions and conditions that every number stands under.
        signature: How the verifier was bound, as printed.
        controls_hold: False when a control misbehaved or had nothing to show; then no rate may be printed.
        gates: Results of the plan's gates.
        exit_code: 0, 1, 2 or 3, as the documentation defines them.
        provenance: Plan hash, stage roots, versions: name and value.
        controls_note: What to say of controls that neither held nor misbehaved: that they were not run, or had nothing
            to show, and why. Empty otherwise.
    """

    room: str
    title: str
    summary: tuple[str, ...]
    findings: tuple[Finding, ...]
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    pairs: tuple[Pair, ...] = ()
    lacks: tuple[Lack, ...] = ()
    notes: tuple[str, ...] = ()
    signature: str = ""
    controls_hold: bool = True
    gates: tuple[GateResult, ...] = ()
    exit_code: int = 0
    provenance: tuple[tuple[str, str], ...] = ()
    controls_note: str = ""
