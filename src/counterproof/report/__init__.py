"""Renderers of one analysis: console, findings.json, Markdown and a self-contained HTML page."""

from counterproof.report.agreement import disagreements
from counterproof.report.charts import vega_lite
from counterproof.report.gfm import markdown
from counterproof.report.json_form import analysis_from_json, findings_json, findings_schema
from counterproof.report.page import html
from counterproof.report.screen import console

__all__ = [
    "analysis_from_json",
    "console",
    "disagreements",
    "findings_json",
    "findings_schema",
    "html",
    "markdown",
    "vega_lite",
]
