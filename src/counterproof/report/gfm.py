"""GitHub-flavoured Markdown: the whole conclusion as text that reads well before it is rendered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from counterproof.core.analysis import Analysis, Pair, Table
from counterproof.core.findings import Finding
from counterproof.report.charts import data_table, numeric_columns
from counterproof.report.inert import one_line
from counterproof.report.numbers import cell, count, estimate_text, interval_text, loose, number
from counterproof.report.wording import (
    Kind,
    of_kind,
    presentable,
    remedy_word,
    standing,
    verdict_sentence,
    verdict_word,
    warnings_of,
)

_SPECIAL = re.compile(r"[\\`*\[\]|~]|(?<!\w)_|_(?!\w)")
_BLOCK = re.compile(r"^(#{1,6}|[+-]|\d+[.)]|-{2,})(?=\s|$)")
_EXCERPT = 160


def markdown(analysis: Analysis) -> str:
    """Return an analysis as GitHub-flavoured Markdown, complete, with evidence pairs cut to what changed.

    Text of the analysis is escaped: pipes, backticks, brackets, emphasis and HTML are shown and have no effect.
    """
    shown = presentable(analysis)
    blocks = [
        f"# {escape(shown.title)}",
        f"**{verdict_word(shown).capitalize()}.** {verdict_sentence(shown)}",
        _bullets(escape(sentence) for sentence in shown.summary),
        f"Bound as {_code(shown.signature)}" if shown.signature else "",
        f"Controls: {escape(shown.controls_note)}" if shown.controls_note else "",
    ]
    sections = (
        ("Gates", _gates(shown)),
        ("Findings", _findings(of_kind(shown.findings, Kind.MEASUREMENT))),
        (remedy_word(shown).capitalize(), _findings(of_kind(shown.findings, Kind.REPAIR))),
        ("Controls", _findings(of_kind(shown.findings, Kind.CONTROL))),
        ("Warnings", _warnings(shown)),
        ("Tables", [_titled(table.title, table.note, _table_of(table)) for table in shown.tables]),
        (
            "Charts as data",
            [_titled(c.title, c.caption, _grid(*data_table(c), numeric_columns(c))) for c in shown.charts],
        ),
        ("Evidence", [_pair(pair) for pair in shown.pairs]),
        ("What the logs lacked", _lacks(shown)),
        ("Notes", [_bullets(escape(note) for note in shown.notes)]),
        ("Provenance", [_bullets(f"{escape(name)}: {_code(value)}" for name, value in shown.provenance)]),
    )
    for heading, content in sections:
        body = [block for block in content if block]
        if body:
            blocks.extend((f"## {heading}", *body))
    return "\n\n".join(block for block in blocks if block) + "\n"


def escape(text: str, limit: int | None = None) -> str:
    r"""Return text on one line that Markdown and HTML leave alone.

    >>> escape("a|b `c` <img> *d*")
    'a\\|b \\`c\\` &lt;img&gt; \\*d\\*'
    """
    line = one_line(text, limit).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = _SPECIAL.sub(lambda match: "\\" + match[0], line)
    return _BLOCK.sub(lambda match: match[1][:-1] + "\\" + match[1][-1], line)


def _code(text: str) -> str:
    """Return text as a code span, fenced by more backticks than it holds; a pipe would still end a table's cell."""
    line = one_line(text)
    longest = max((len(run) for run in re.findall("`+", line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _grid(headings: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[bool] = ()) -> str:
    marks = ["---:" if i < len(right) and right[i] else "---" for i in range(len(headings))]
    lines = [[escape(heading) for heading in headings], marks, *([escape(entry) for entry in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _titled(title: str, note: str, body: str) -> str:
    return "\n\n".join(part for part in (f"### {escape(title)}", escape(note), body) if part)


def _table_of(table: Table) -> str:
    rows = [
        [
            cell(entry, table.formats.get(name, ""), f"{table.name}.{name}")
            for name, entry in zip(table.columns, row, strict=True)
        ]
        for row in table.rows
    ]
    right = [all(not isinstance(row[i], (str, bool)) for row in table.rows) for i in range(len(table.columns))]
    return _grid(table.columns, rows, right)


def _gates(shown: Analysis) -> list[str]:
    rows = [(gate.expression, "tripped" if gate.tripped else "held", gate.reason) for gate in shown.gates]
    return [_grid(("gate", "result", "reason"), rows)] if rows else []


def _findings(findings: tuple[Finding, ...]) -> list[str]:
    if not findings:
        return []
    rows = [
        (f.subject, estimate_text(f), count(f.n), count(f.clusters), f.verdict.value, standing(f), f.code)
        for f in findings
    ]
    headings = ("finding", "estimate", "n", "clusters", "verdict", "standing", "code")
    table = _grid(headings, rows, (False, False, True, True))
    return [table, "\n".join(f"- **{escape(f.subject)}**: {escape(f.title)}{_detail(f)}" for f in findings)]


def _detail(finding: Finding) -> str:
    return "".join(f"\n  - {escape(line)}" for line in _detail_lines(finding))


def _detail_lines(finding: Finding) -> Iterator[str]:
    if finding.unit:
        yield f"unit: {finding.unit}"
    if finding.interval is not None:
        yield f"interval: {interval_text(finding.interval)}"
    elif finding.method:
        yield f"method: {finding.method}"
    if finding.counts:
        yield "counts: " + ", ".join(f"{name} {count(finding.counts[name])}" for name in sorted(finding.counts))
    if finding.values:
        yield "values: " + "; ".join(f"{name} {loose(finding.values[name])}" for name in sorted(finding.values))
    yield "label-free" if finding.label_free else "a selection or the reward behind it reads labels"
    if finding.evidence:
        yield "evidence: " + ", ".join(finding.evidence)


def _warnings(shown: Analysis) -> list[str]:
    return [
        _bullets(
            f"**{escape(warning.name)}**{' (blocking)' if warning.blocking else ''}: {escape(warning.message)} "
            f"({escape(', '.join(where), 300)})"
            for warning, where in warnings_of(shown)
        )
    ]


def _lacks(shown: Analysis) -> list[str]:
    rows = [(lack.field, lack.consequence, lack.advice) for lack in shown.lacks]
    return [_grid(("field", "consequence", "what to log"), rows)] if rows else []


def _pair(pair: Pair) -> str:
    changed = [field for field in pair.fields if field.changed]
    rows = [
        (field.name, *(side[:_EXCERPT] + "…" * (len(side) > _EXCERPT) for side in (field.before, field.after)))
        for field in changed
    ]
    same = [field.name for field in pair.fields if not field.changed]
    lines = [f"scores: {', '.join(f'{name} {number(value)}' for name, value in pair.scores)}"] if pair.scores else []
    moved = [(name, before, after) for name, before, after in pair.components if before != after]
    if moved:
        lines.append(
            "components: " + ", ".join(f"{n} {number(b)} to {number(a)} ({number(a - b)})" for n, b, a in moved)
        )
    if same:
        lines.append(f"unchanged: {', '.join(same)}")
    table = _grid(("changed field", "original", "counterfactual"), rows) if rows else "No field shown differs."
    return "\n\n".join((f"### {escape(pair.key)}", escape(pair.title), table, _bullets(map(escape, lines))))
