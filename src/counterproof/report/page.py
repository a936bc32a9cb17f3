"""The HTML report: one file that works offline, with every text escaped and a policy that forbids all requests."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from counterproof.core.analysis import Analysis, Chart, PairField, Table
from counterproof.core.findings import Finding
from counterproof.core.outcomes import NotApplicable
from counterproof.report import charts, code_pages, numbers, pairs, wording
from counterproof.report.inert import one_line

if TYPE_CHECKING:
    from jinja2 import Template

_LONGEST = 4000  # characters of one text; nothing that a reader needs is longer, and a log's line may be endless
_NAMED = 12  # evidence links of a finding that are shown before "and k more"


def html(analysis: Analysis, *, code_pages: Mapping[str, str] | None = None) -> str:
    """Return an analysis as one self-contained HTML page.

    It needs no network, follows the reader's light or dark setting and has a switch for it, draws its charts by script
    and holds them as SVG for readers without script. Text from logs can neither run nor reorder what is around it:
    it is escaped, its control and bidi characters are shown by name, and a content security policy admits the page's
    own scripts only, by digest.

    Args:
        analysis: What to show.
        code_pages: Documentation of finding codes, as plain Markdown by code; each gets a section that findings link
            to.

    Raises:
        InputError: A table's format does not fit its values.
    """
    shown = wording.presentable(analysis)
    codes = dict.fromkeys(finding.code for finding in shown.findings)
    given = {code: text for code, text in (code_pages or {}).items() if code in codes}
    script = _resource("page.js")
    drawn = _Drawn(shown.charts)
    return _template().render(
        shown=shown,
        groups=[
            (title, name, wording.of_kind(shown.findings, kind))
            for title, name, kind in (
                (wording.remedy_word(shown).capitalize(), "repair", wording.Kind.REPAIR),
                ("Findings", "findings", wording.Kind.MEASUREMENT),
                ("Controls", "controls", wording.Kind.CONTROL),
            )
        ],
        warnings=wording.warnings_of(shown),
        codes={code: (f"code-{i}", _blocks(text)) for i, (code, text) in enumerate(sorted(given.items()))},
        evidence={pair.key: f"pair-{i}" for i, pair in enumerate(shown.pairs)},
        style=_markup(_resource("page.css")),
        script=_markup(script),
        charts=drawn,
        policy="; ".join(
            (
                "default-src 'none'",
                "style-src 'unsafe-inline'",
                "img-src data:",
                f"script-src 'unsafe-eval' {' '.join(_source(text) for text in (script, *drawn.scripts))}",
                "base-uri 'none'",
                "form-action 'none'",
            )
        ),
    )


class _Drawn:
    """Charts ready for the template; the library is there only if a chart is."""

    def __init__(self, given: tuple[Chart, ...]) -> None:
        self.scripts = (charts.bundle(),) if given else ()
        self.bundle = _markup("".join(self.scripts))
        self.entries = [
            (chart, _markup(charts.svg(chart, f"still-{i}")), *charts.data_table(chart))
            for i, chart in enumerate(given)
        ]
        self.right = [charts.numeric_columns(chart) for chart in given]
        self.specs = _markup(script_json([_untitled(charts.vega_lite(chart)) for chart in given]))


def script_json(value: object) -> str:
    r"""Return JSON that cannot end the script element that holds it.

    >>> script_json("</script>")
    '"\\u003c/script\\u003e"'
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _untitled(spec: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in spec.items() if key != "title"}


def _source(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _markup(trusted: str) -> Any:
    """Mark text of our own, or of the chart library, as not to be escaped."""
    from markupsafe import Markup

    return Markup(trusted)


def _resource(name: str) -> str:
    from importlib.resources import files

    return files(__package__).joinpath(name).read_text("utf-8")


def _inert(value: object) -> object:
    """Make every text that a template puts out visible and cut it where endless; markup of our own passes."""
    return pairs.excerpt(value, _LONGEST) if type(value) is str else value


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_inert
    )
    environment.globals.update(
        count=numbers.count,
        difference=pairs.word_difference,
        estimate=numbers.estimate_text,
        excerpt=pairs.excerpt,
        interval=numbers.interval_text,
        inline=code_pages.inline,
        is_measurement=lambda finding: wording.kind_of(finding) is wording.Kind.MEASUREMENT,
        loose=numbers.loose,
        number=numbers.number,
        one_line=one_line,
        raw=_raw,
        standing=wording.standing,
        table_rows=_table_rows,
        verdict_class=_verdict_class,
        verdict_sentence=wording.verdict_sentence,
        verdict_word=wording.verdict_word,
        evidence_shown=_NAMED,
        changed=_changed,
        unchanged=_unchanged,
    )
    return environment.from_string(_resource("page.html.j2"))


def _blocks(text: str) -> tuple[code_pages.Block, ...]:
    return code_pages.blocks(text)


def _raw(finding: Finding) -> str:
    """Return the estimate in full, for programs that read the page; empty where there is none."""
    return "" if isinstance(finding.estimate, NotApplicable) else repr(float(finding.estimate))


def _verdict_class(finding: Finding) -> str:
    if isinstance(finding.estimate, NotApplicable):
        return "none"
    return "beaten" if finding.proven and finding.estimate > 0 else "plain"


def _table_rows(table: Table) -> list[list[tuple[str, bool]]]:
    """Return each row as texts with whether they are numbers, which are set flush right."""
    return [
        [
            (
                numbers.cell(entry, table.formats.get(name, ""), f"{table.name}.{name}"),
                not isinstance(entry, (str, bool)),
            )
            for name, entry in zip(table.columns, row, strict=True)
        ]
        for row in table.rows
    ]


def _changed(fields: tuple[PairField, ...]) -> list[PairField]:
    return [field for field in fields if field.changed]


def _unchanged(fields: tuple[PairField, ...]) -> list[PairField]:
    return [field for field in fields if not field.changed]
