"""Whether the figures in an analysis's sentences agree with its raw numbers after rounding."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from counterproof.core.analysis import Analysis
from counterproof.core.findings import Finding

_PERCENT = re.compile(r"(?<![\w.])(-?\d+(?:\.(\d+))?)\s*%")


def disagreements(analysis: Analysis) -> tuple[str, ...]:
    """Return one sentence for each percentage in words that no raw number rounds to; none when all agree.

    A figure f with d decimals agrees with a raw share x when |100 x - f| <= 10^-d / 2. Figures in a finding's title are
    compared with that finding's own numbers, those in the summary with the numbers of all findings and tables.
    """
    found: list[str] = []
    everything: list[float] = []
    for finding in analysis.findings:
        raw = tuple(_numbers_of(finding))
        everything.extend(raw)
        found.extend(_unmatched(finding.title, raw, f"{finding.code} ({finding.subject}), title"))
    for table in analysis.tables:
        everything.extend(_floats(table.rows))
    for sentence in analysis.summary:
        found.extend(_unmatched(sentence, everything, "summary"))
    return tuple(found)


def _unmatched(text: str, raw: Iterable[float], where: str) -> Iterator[str]:
    numbers = tuple(raw)
    for match in _PERCENT.finditer(text):
        half = 0.5 * 10.0 ** -len(match[2] or "")
        if not any(abs(100 * number - float(match[1])) <= half + 1e-9 for number in numbers):
            yield f"{where}: says {match[0]}, and no raw number rounds to that"


def _numbers_of(finding: Finding) -> Iterator[float]:
    yield from _floats(finding.estimate)
    if finding.interval is not None:
        yield from (finding.interval.lower, finding.interval.upper, finding.interval.level)
    yield from _floats(finding.values)


def _floats(value: object) -> Iterator[float]:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        yield float(value)
    elif isinstance(value, Mapping):
        for entry in value.values():
            yield from _floats(entry)
    elif isinstance(value, (list, tuple)):
        for entry in value:
            yield from _floats(entry)
