"""Policies on logged verdicts, and the fixture: smaller panel runs, each a run folder of its own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from counterproof.core.analysis import Analysis, Table
from counterproof.core.errors import InputError, PlanError
from counterproof.core.findings import Finding, Verdict
from counterproof.core.outcomes import NotApplicable
from counterproof.core.plan import Digest, Plan
from counterproof.panel.analyse import analyse_replay
from counterproof.panel.fixture_table import FixtureRow, fixture_rows
from counterproof.panel.loss import parse_loss
from counterproof.panel.policy import PolicyTable, matched_columns
from counterproof.panel.table import Gold, Split
from counterproof.store import DONE, Ledger, Row
from counterproof.study.panel import PanelConfig, conclude_run, freeze_table, frozen_table, read_panel
from counterproof.study.source import package_digest

FIXTURES = (1001, 1002, 1003, 1004, 1005)
SEEDS = (0, 1, 2, 3, 4, 5, 6)
LIMIT = 4.0
"""A row of the fixture further from its closed form than this many standard errors is a defect."""


def replay_policy(config: PanelConfig, policy_file: Path) -> Analysis:
    """Replay a policy on logged verdicts, and return its analysis; without labels only its calls are reported.

    Raises:
        CounterproofError: Policy, file or folder cannot be used.
    """
    if not policy_file.is_file():
        raise InputError(f"{policy_file}: no such policy file; make one with `counterproof panel plan`")
    policy = PolicyTable.from_json(policy_file.read_text(encoding="utf-8"))
    file = read_panel(config, policy.classes)
    table = file.table
    matched_columns(policy, table)
    gold = file.gold if file.gold is not None else Gold(np.full(len(table), -1, dtype=np.int8))
    everything = np.arange(len(table))
    split = Split(np.zeros(0, dtype=np.intp), everything, "none")
    plan = Plan(
        room="panel",
        unit="cluster",
        arms=(policy.name,),
        inputs=(*file.digests, Digest("policy", policy.digest())),
        seed=config.seed,
        stages=("verdicts", "labels"),
        settings={
            "kind": "replay",
            "policy": policy.to_json(),
            "loss": policy.loss or config.loss,
            "split": split.kind,
            "split digest": split.digest(),
            "channels": [[channel.name, channel.cost] for channel in table.channels],
            "classes": list(table.classes),
            "notes": list(file.notes),
            "lacks": [[one.field, one.consequence, one.advice] for one in file.lacks],
        },
    )
    ledger = Ledger.create(config.out, plan, {"counterproof": package_digest()})
    freeze_table(ledger, table, gold, split)
    return finish_replay(ledger, ())


def finish_replay(ledger: Ledger, post_hoc: Sequence[str]) -> Analysis:
    """Return the analysis of a replayed policy from its run folder alone."""
    plan = ledger.plan
    table, gold, _ = frozen_table(ledger, plan)
    policy = PolicyTable.from_json(str(plan.settings["policy"]))
    analysis = analyse_replay(plan, policy, table, gold, parse_loss(str(plan.settings["loss"])))
    return conclude_run(ledger, analysis, post_hoc)


@dataclass(frozen=True, slots=True)
class FixtureConfig:
    """What the fixture run is asked to do.

    Attributes:
        out: The run folder.
        fixtures: Fixture numbers.
        seeds: Seeds of each.
    """

    out: Path
    fixtures: tuple[int, ...] = FIXTURES
    seeds: tuple[int, ...] = SEEDS


def run_fixture(config: FixtureConfig) -> Analysis:
    """Recompute every controlled figure beside its closed form, and return the analysis.

    Raises:
        CounterproofError: The folder cannot be used.
    """
    plan = Plan(
        room="panel",
        unit="row of 512 x seeds x fixtures",
        arms=("published", "closed form", "ours"),
        inputs=(),
        seed=0,
        stages=("fixture",),
        settings={"kind": "fixture", "fixtures": list(config.fixtures), "seeds": list(config.seeds), "limit": LIMIT},
    )
    ledger = Ledger.create(config.out, plan, {"counterproof": package_digest()})
    if not ledger.is_frozen("fixture"):
        with ledger.writer("fixture") as writer:
            for index, row in enumerate(fixture_rows(fixtures=config.fixtures, seeds=config.seeds)):
                key = f"{index:03d}"
                if key not in writer.finished:
                    writer.append([Row(key, 0, DONE, "", _packed_row(row))])
            writer.freeze()
    return finish_fixture(ledger, ())


def _packed_row(row: FixtureRow) -> bytes:
    fields = asdict(row)
    for name in ("published", "published_z"):
        value = getattr(row, name)
        fields[name] = {"reason": value.reason} if isinstance(value, NotApplicable) else value
    return json.dumps(fields, sort_keys=True).encode()


def _unpacked_row(payload: bytes) -> FixtureRow:
    fields = json.loads(payload)
    for name in ("published", "published_z"):
        if isinstance(fields[name], dict):
            fields[name] = NotApplicable(fields[name]["reason"])
    return FixtureRow(**fields)


def _shown(value: float | NotApplicable) -> float | None:
    return None if isinstance(value, NotApplicable) else value


def finish_fixture(ledger: Ledger, post_hoc: Sequence[str]) -> Analysis:
    """Return the analysis of a fixture run from its folder alone."""
    plan = ledger.plan
    rows = [_unpacked_row(payload) for _, payload in ledger.results("fixture")]
    if not rows:
        raise PlanError("this run holds no row of the fixture")
    worst = max(rows, key=lambda row: abs(row.z))
    holds = abs(worst.z) < LIMIT
    finding = Finding(
        "PN150",
        "fixture",
        f"the furthest of {len(rows)} figures from its closed form is {worst.name}, {worst.z:+.2f} standard errors",
        abs(worst.z),
        method="(ours - closed form) / standard error over seeds and fixtures",
        unit="standard errors",
        n=len(rows),
        verdict=Verdict.SUPPORTED if holds else Verdict.REFUTED,
    )
    table = Table(
        "fixture",
        "Controlled figures: published, closed form, ours",
        ("quantity", "published", "closed form", "ours", "standard error", "z", "z of the published figure"),
        tuple(
            (row.name, _shown(row.published), row.closed_form, row.ours, row.error, row.z, _shown(row.published_z))
            for row in rows
        ),
        note="z compares with the closed form. Published figures are one draw of 3,584 rows each.",
        formats={
            **dict.fromkeys(("published", "closed form", "ours", "standard error"), ".4f"),
            **dict.fromkeys(("z", "z of the published figure"), "+.2f"),
        },
    )
    words = "within" if holds else "beyond"
    analysis = Analysis(
        room="panel",
        title="The panel fixture",
        summary=(f"All {len(rows)} controlled figures lie {words} {LIMIT:g} standard errors of their closed forms.",),
        findings=(finding,),
        tables=(table,),
        notes=(f"Fixtures {', '.join(map(str, plan.settings['fixtures']))}; seeds {plan.settings['seeds']}.",),
    )
    return conclude_run(ledger, analysis, post_hoc)
