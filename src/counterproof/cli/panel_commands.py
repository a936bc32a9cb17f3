"""What the commands of the panel room do."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from counterproof.cli.output import say, screen
from counterproof.core.errors import InputError, Problem
from counterproof.panel.fixture import Draws, Family, fixture_gold, fixture_verdicts
from counterproof.store import write_atomically
from counterproof.study.panel import PanelConfig, audit_panel, plan_policy
from counterproof.study.panel_policies import FixtureConfig, replay_policy, run_fixture
from counterproof.study.publish import publish

__all__ = ["PanelConfig", "audit", "columns_of", "demo", "fixture", "plan", "replay"]


def columns_of(gold: str | None, given: Iterable[str]) -> dict[str, str | tuple[str, ...]]:
    """Return the column map of `--gold COL` and `--column ROLE=COL[+COL]`.

    Raises:
        InputError: An entry is not of that form, or a role is given twice.
    """
    found: dict[str, str | tuple[str, ...]] = {} if gold is None else {"gold": gold}
    problems = []
    for entry in given:
        role, equals, name = entry.partition("=")
        if not (equals and role and name):
            problems.append(Problem(f"--column {entry}", "is not of the form ROLE=COL", "for example channel=judge"))
        elif role in found:
            problems.append(Problem(f"--column {entry}", f"gives the role '{role}' again"))
        else:
            found[role] = tuple(name.split("+")) if "+" in name else name
    if problems:
        raise InputError("columns", problems)
    return found


def audit(config: PanelConfig) -> int:
    """Audit a panel, write its reports, print one screen, and return the exit code."""
    analysis = audit_panel(config)
    page = publish(config.out, analysis)
    screen(analysis, str(page))
    return analysis.exit_code


def plan(config: PanelConfig) -> None:
    """Write the recommended policy to a file, and say why it was chosen."""
    policy, why = plan_policy(config)
    write_atomically(config.out, policy.to_json().encode())
    say(f"{config.out}: {why}")


def replay(config: PanelConfig, policy: Path) -> int:
    """Replay a policy, write its reports, print one screen, and return the exit code."""
    analysis = replay_policy(config, policy)
    page = publish(config.out, analysis)
    screen(analysis, str(page))
    return analysis.exit_code


def fixture(out: Path) -> int:
    """Recompute the fixture, write its reports, print one screen, and return the exit code."""
    analysis = run_fixture(FixtureConfig(out))
    page = publish(out, analysis)
    screen(analysis, str(page))
    return analysis.exit_code


def demo(out: Path, seed: int) -> None:
    """Write the verdicts of a made-up panel whose channels partly err together, and audit it."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / "verdicts.csv"
    write_atomically(path, _made_up(seed).encode())
    say(f"{path}: 2048 items, five channels; where the first channel errs, half of the time all others follow it\n")
    config = PanelConfig(path, out / "run", {"gold": "gold"}, budget=3.0, seed=seed)
    audit(config)


def _made_up(seed: int) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["item", "channel", "verdict", "gold", "cost"])
    gold = fixture_gold().labels
    for part in range(4):
        table = fixture_verdicts(Draws(1001 + part, seed), Family("first-wrong", 0.5), failures=0.02)
        for i, item in enumerate(table.items):
            for j, channel in enumerate(table.channels):
                symbol = int(table.symbols[i, j])
                verdict = "" if symbol == table.failure else symbol
                writer.writerow([f"{part}-{item}", channel.name, verdict, int(gold[i]), 1])
    return out.getvalue()
