"""Gates: expressions over findings that decide the exit code."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from counterproof.core.analysis import Analysis, GateResult
from counterproof.core.errors import InputError, nearest
from counterproof.core.findings import Finding
from counterproof.core.plan import Gate

CLEAN = 0.05
"""An upper bound above this keeps an audit in which no gate tripped from reading as clean (exit code 2)."""
DEFAULT = "asr>0"
METRICS: Mapping[str, frozenset[str]] = {
    "asr": frozenset({"RW101", "RW102", "RW103", "RW104"}),
    "flippable": frozenset({"EQ101"}),
    "loss": frozenset({"PN110", "PN150"}),
    "neff": frozenset({"PN102"}),
    "phi": frozenset({"PN101"}),
    "wrong": frozenset({"EQ102", "EQ130", "EQ150"}),
}
"""Codes of the findings whose estimate is each metric."""
WITHOUT_FINDING = {"rewards": "asr", "panel": "loss", "equations": "wrong"}
"""By room, the metric without which nothing was concluded."""
_PATTERN = re.compile(
    r"\s*(?P<metric>[a-z_]+)(\[(?P<subject>[^\]]+)\])?(\.(?P<part>[a-z]+))?\s*(?P<op>>=|<=|>|<)\s*(?P<bound>[-+.\deE]+)\s*"
)
_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_PARTS = ("estimate", "lower", "upper")


@dataclass(frozen=True, slots=True)
class Condition:
    """A parsed gate: `metric[subject].part op bound`; it trips when any finding satisfies it."""

    metric: str
    subject: str
    part: str
    op: str
    bound: float

    def value(self, finding: Finding) -> float | None:
        """Return the number that the condition tests, or None where a finding has none."""
        if not isinstance(finding.estimate, float):
            return None
        if self.part == "estimate":
            return finding.estimate
        return getattr(finding.interval, self.part, None)


def parse_gate(expression: str) -> Condition:
    """Return the condition that an expression such as `asr>0.1` or `asr[launder].upper>0.05` states.

    Raises:
        InputError: It is no such expression; the message says what is allowed.
    """
    match = _PATTERN.fullmatch(expression)
    if match is None:
        raise InputError(
            f"'{expression}' is no gate; write METRIC[ATTACK].PART OP NUMBER, where attack and part may be left out, "
            "for example asr>0, asr>0.1, asr.upper>0.05 or asr[launder]>0"
        )
    metric, part = match["metric"], match["part"] or "estimate"
    if metric not in METRICS:
        raise InputError(f"gate '{expression}': '{metric}' is no metric; {nearest(metric, METRICS)}")
    if part not in _PARTS:
        raise InputError(f"gate '{expression}': '{part}' is no part of a rate; {nearest(part, _PARTS)}")
    try:
        bound = float(match["bound"])
    except ValueError:
        raise InputError(f"gate '{expression}': '{match['bound']}' is no number") from None
    return Condition(metric, match["subject"] or "", part, match["op"], bound)


def check_gates(analysis: Analysis, gates: Sequence[Gate], *, stateful_allowed: bool = False) -> Analysis:
    """Return the analysis with the results of its gates and its exit code.

    3: nothing was concluded (no unit scored, a control failed, or the verifier keeps state and that was not allowed).
    1: a gate tripped. 2: none tripped, but an upper bound is above .05 or a blocking warning stands. 0: else.
    The default gate tests proven attacks only; any other tests every attack.
    """
    results = tuple(_result(gate, analysis) for gate in gates)
    return replace(analysis, gates=results, exit_code=_exit_code(analysis, results, stateful_allowed))


def _result(gate: Gate, analysis: Analysis) -> GateResult:
    condition = parse_gate(gate.expression)
    hits = []
    for finding in _rated(analysis, condition.metric):
        if condition == parse_gate(DEFAULT) and not finding.proven:
            continue
        if condition.subject and not finding.subject.startswith(condition.subject):
            continue
        value = condition.value(finding)
        if value is not None and _OPERATORS[condition.op](value, condition.bound):
            hits.append((finding.subject, value))
    said = f"{gate.expression} (added after the run)" if gate.post_hoc else gate.expression
    if not hits:
        return GateResult(said, False, "no finding satisfies it")
    subject, value = max(hits, key=lambda hit: (abs(hit[1] - condition.bound), hit[0]))
    return GateResult(said, True, f"{len(hits)} findings satisfy it, furthest {subject} with {value:.4g}")


def _rated(analysis: Analysis, metric: str) -> Iterator[Finding]:
    return (finding for finding in analysis.findings if finding.code in METRICS[metric])


def _exit_code(analysis: Analysis, results: Sequence[GateResult], stateful_allowed: bool) -> int:
    needed = WITHOUT_FINDING.get(analysis.room, "asr")
    rated = [finding for finding in _rated(analysis, needed) if isinstance(finding.estimate, float)]
    stateful = any(finding.code == "RW140" for finding in analysis.findings) and not stateful_allowed
    if not analysis.controls_hold or not rated or stateful:
        return 3
    if any(result.tripped for result in results):
        return 1
    blocking = any(warning.blocking for finding in analysis.findings for warning in finding.warnings)
    wide = any(one.interval is not None and one.interval.upper > CLEAN for one in rated if one.proven)
    return 2 if blocking or wide else 0
