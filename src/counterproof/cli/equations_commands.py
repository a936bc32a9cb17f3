"""What the commands of the equations room do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from counterproof.cli.output import say, screen
from counterproof.core.analysis import Analysis
from counterproof.core.errors import InputError, Problem
from counterproof.equations.scripted import AGENTS
from counterproof.study.equation_choices import ChoiceConfig, run_choices
from counterproof.study.equation_fields import FieldConfig, run_field
from counterproof.study.equations import LabConfig, ViewsConfig, audit_views, run_study
from counterproof.study.publish import publish

__all__ = ["FieldConfig", "RunOptions", "ViewsConfig", "audit", "columns_of", "demo", "fields", "groups_of", "run"]

DEFAULT_GATES = ("wrong>0",)
"""Of audits and of studies with policies: whoever maximises the score gets a wrong verdict."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of `equations run`, as given."""

    study: str
    out: Path
    implementation: str
    seeds: int | None
    agents: tuple[str, ...]
    fail_on: tuple[str, ...]
    seed: int


def columns_of(given: Iterable[str]) -> dict[str, str]:
    """Return the column map of `--column ROLE=COL`.

    Raises:
        InputError: An entry is not of that form.
    """
    return dict(_pairs("--column", given, "for example item=case"))


def groups_of(given: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the groups of `--group NAME=VIEW+VIEW`.

    Raises:
        InputError: An entry is not of that form.
    """
    return {name: tuple(value.split("+")) for name, value in _pairs("--group", given, "for example coarse=A00+A01")}


def _pairs(option: str, given: Iterable[str], example: str) -> list[tuple[str, str]]:
    parts = [entry.partition("=") for entry in given]
    bad = [
        Problem(f"{option} {''.join(part)}", "is not of the form NAME=VALUE", example)
        for part in parts
        if not all(piece.strip() for piece in part)
    ]
    if bad:
        raise InputError("options", bad)
    return [(name, value) for name, _, value in parts]


def _published(out: Path, analysis: Analysis) -> int:
    page = publish(out, analysis)
    screen(analysis, str(page))
    return analysis.exit_code


def run(options: RunOptions) -> int:
    """Run a study, write its reports, print one screen, and return the exit code."""
    o = options
    if o.study == "choice":
        agents = o.agents or tuple(AGENTS)
        return _published(o.out, run_choices(ChoiceConfig(o.out, agents, o.implementation, o.seeds, o.fail_on, o.seed)))
    if o.agents:
        raise InputError(f"--agent belongs to --study choice, not to {o.study}")
    gates = o.fail_on or DEFAULT_GATES
    return _published(o.out, run_study(LabConfig(o.study, o.out, o.implementation, o.seeds, gates, o.seed)))


def audit(config: ViewsConfig) -> int:
    """Audit a table of evidence views, write its reports, print one screen, and return the exit code."""
    return _published(config.out, audit_views(config))


def fields(config: FieldConfig) -> int:
    """Test an observed field, write its reports, print one screen, and return the exit code."""
    return _published(config.out, run_field(config))


def demo(out: Path, seed: int) -> None:
    """Run the mechanism study, and let scripted agents choose the evidence, each on a few seeds."""
    say("Six known laws are simulated; a verifier with fixed thresholds tests them on twelve permitted views.\n")
    code = run(RunOptions("mechanism", out / "mechanism", "spectral", 5, (), (), seed))
    say(f"(as a run of its own this would exit with {code})\n\nNow scripted agents choose which view to submit.\n")
    code = run(RunOptions("choice", out / "choice", "spectral", 2, (), (), seed))
    say(f"(as a run of its own this would exit with {code})")
