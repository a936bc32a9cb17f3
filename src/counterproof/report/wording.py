"""What every renderer says alike: the headline, the order of findings, and what is withheld when a control fails."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable
from dataclasses import replace

from counterproof.core.analysis import Analysis, GateResult
from counterproof.core.findings import Finding, HealthWarning
from counterproof.core.outcomes import NotApplicable

WITHHELD = "A control misbehaved, so no rate is shown: the instrument itself cannot be trusted on these data."
"""Stands above everything else when a control misbehaved."""

_MEANING = {
    0: ("clean", "no gate tripped, and no bound or warning stands in the way of that reading"),
    1: ("gate tripped", "the verifier fails by the plan's own gates"),
    2: ("inconclusive", "no gate tripped, but the bounds are too wide or a blocking warning stands"),
    3: ("no conclusion", "the audit could not run, scored nothing, or a control failed"),
}
_FIGURE = re.compile(r"[-+]?\d*\.\d+(?:\s*%)?|[-+]?\d+\s*%")


class Kind(enum.Enum):
    """What a finding is about, which decides where it is shown."""

    MEASUREMENT = "measurement"
    REPAIR = "repair"
    CONTROL = "control"


_KINDS = {
    "EQ110": Kind.REPAIR,
    "EQ141": Kind.CONTROL,
    "PN110": Kind.REPAIR,
    "PN141": Kind.CONTROL,
    "RW110": Kind.REPAIR,
    "RW141": Kind.CONTROL,
    "RW142": Kind.MEASUREMENT,
}
"""Kinds of the codes that are not measurements of a verifier; a room adds its own here."""


def kind_of(finding: Finding) -> Kind:
    """Return the kind of a finding, by its code, else by the word `control` or `repair` in its code or subject.

    >>> kind_of(Finding("rewards.control", "constant", "", 1.0)).value
    'control'
    """
    if finding.code in _KINDS:
        return _KINDS[finding.code]
    words = set(re.split(r"[^a-z]+", f"{finding.code} {finding.subject}".lower()))
    if words & {"control", "controls"}:
        return Kind.CONTROL
    return Kind.REPAIR if words & {"repair", "repairs"} else Kind.MEASUREMENT


def of_kind(findings: Iterable[Finding], kind: Kind) -> tuple[Finding, ...]:
    """Return the findings of one kind, in order."""
    return tuple(finding for finding in findings if kind_of(finding) is kind)


def remedy_word(analysis: Analysis) -> str:
    """Return what the findings of kind `REPAIR` are called: a panel is given advice, a verifier is repaired."""
    return "advice" if analysis.room == "panel" else "repair"


def verdict_word(analysis: Analysis) -> str:
    """Return the exit code's meaning in one or two words."""
    return _MEANING.get(analysis.exit_code, ("unknown", ""))[0]


def verdict_sentence(analysis: Analysis) -> str:
    """Return the exit code's meaning in a sentence, code included."""
    meaning = _MEANING.get(analysis.exit_code, ("", "this exit code is not documented"))[1]
    return f"{meaning[:1].upper()}{meaning[1:]} (exit code {analysis.exit_code})."


def standing(finding: Finding) -> str:
    """Return whether a finding is proven by construction, or only a lead."""
    return "proven" if finding.proven else "lead"


def warnings_of(analysis: Analysis) -> tuple[tuple[HealthWarning, tuple[str, ...]], ...]:
    """Return each distinct warning with the subjects that carry it, blocking ones first."""
    found: dict[HealthWarning, list[str]] = {}
    for finding in analysis.findings:
        for warning in finding.warnings:
            found.setdefault(warning, []).append(finding.subject)
    ordered = sorted(found.items(), key=lambda entry: not entry[0].blocking)
    return tuple((warning, tuple(subjects)) for warning, subjects in ordered)


def presentable(analysis: Analysis) -> Analysis:
    """Return what may be shown: all of it, or, when the controls do not hold, the analysis without any rate.

    Estimates become not applicable; intervals, counts, values, tables and charts go; figures in sentences become `…`.
    Evidence pairs stay, because they are single records and no rates.
    """
    if analysis.controls_hold:
        return analysis
    reason = "the controls had nothing to show" if analysis.controls_note else "a control misbehaved"
    first = () if analysis.controls_note else (WITHHELD,)
    return replace(
        analysis,
        summary=(*first, *map(_masked, analysis.summary)),
        findings=tuple(_withheld(finding, reason) for finding in analysis.findings),
        tables=(),
        charts=(),
        lacks=tuple(replace(lack, consequence=_masked(lack.consequence)) for lack in analysis.lacks),
        notes=tuple(map(_masked, analysis.notes)),
        gates=tuple(GateResult(gate.expression, gate.tripped, _masked(gate.reason)) for gate in analysis.gates),
    )


def _withheld(finding: Finding, reason: str) -> Finding:
    return replace(
        finding,
        title=_masked(finding.title),
        estimate=NotApplicable(f"withheld, because {reason}"),
        interval=None,
        counts={},
        values={},
        warnings=tuple(replace(warning, message=_masked(warning.message)) for warning in finding.warnings),
    )


def _masked(text: str) -> str:
    return _FIGURE.sub("…", text)
