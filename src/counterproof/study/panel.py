"""A panel audit from verdict file to report; policies planned, replayed and run live."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from counterproof.adapters import VerdictFile, read_verdicts
from counterproof.core.analysis import Analysis
from counterproof.core.errors import CorruptLedgerError, InputError
from counterproof.core.outcomes import Outcome
from counterproof.core.plan import Digest, Gate, Plan
from counterproof.core.seeds import ItemSeed
from counterproof.engines import InProcess, SerialEngine
from counterproof.panel.analyse import analyse_panel
from counterproof.panel.contest import run_contest
from counterproof.panel.episode import (
    LiveContext,
    LivePanelEpisode,
    LiveVerdict,
    Reading,
    allot,
    dearest_path,
    decode_verdict,
)
from counterproof.panel.loss import Loss, parse_loss
from counterproof.panel.planning import TableFacts, panel_plan
from counterproof.panel.policy import PolicyTable
from counterproof.panel.table import Channel, Gold, Split, VerdictTable, split_items
from counterproof.store import DONE, Ledger, Row
from counterproof.study.driver import Means, drive
from counterproof.study.gates import check_gates, parse_gate
from counterproof.study.source import package_digest

CHUNK = 4096
"""Items a ledger row of a logged table holds."""
SHARE = 0.5
Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class PanelConfig:
    """What a panel audit is asked to do.

    Attributes:
        verdicts: A CSV, JSON lines, JSON or Parquet file.
        out: The run folder.
        columns: Which column is which; the rest is guessed.
        threshold: A score of at least this is class 1.
        positive: Which of two classes is class 1.
        loss: `ba` or `chow:KAPPA`.
        budget: Most mean cost an item of a recommendation; None for the cost of the whole panel.
        share: Share of clusters for calibration.
        by_time: Split by time rather than at random.
        gates: Expressions that decide the exit code.
        seed: The run's seed.
    """

    verdicts: Path
    out: Path
    columns: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    threshold: float | None = None
    positive: str | None = None
    loss: str = "ba"
    budget: float | None = None
    share: float = SHARE
    by_time: bool = False
    gates: tuple[str, ...] = ()
    seed: int = 0


def audit_panel(config: PanelConfig) -> Analysis:
    """Run a panel audit on logged verdicts, and return its analysis.

    Verdicts are frozen first; the labels join them in a later stage, under the split that the plan seals.

    Raises:
        CounterproofError: File, columns, settings or folder cannot be used.
    """
    for expression in config.gates:
        parse_gate(expression)
    file = _read(config)
    if file.gold is None:
        raise InputError(f"{config.verdicts.name} has no gold labels; name their column with --gold")
    return audit_table(file.table, file.gold, config, TableFacts(file.digests, file.notes, file.lacks))


def _read(config: PanelConfig) -> VerdictFile:
    return read_verdicts(config.verdicts, config.columns or None, threshold=config.threshold, positive=config.positive)


def audit_table(table: VerdictTable, gold: Gold, config: PanelConfig, facts: TableFacts) -> Analysis:
    """Run a panel audit on a table that is at hand; `config.verdicts` is not read.

    Raises:
        CounterproofError: Settings or folder cannot be used.
    """
    loss = parse_loss(config.loss)
    rng = None if config.by_time else ItemSeed(config.seed, "panel split").generator()
    split = split_items(table, config.share, rng, labelled=gold)
    budget = config.budget if config.budget is not None else float(table.costs.sum())
    options: dict[str, Any] = {"gates": config.gates, "share": config.share}
    plan = panel_plan(table, split, facts, loss, seed=config.seed, budget=budget, options=options)
    ledger = Ledger.create(config.out, plan, {"counterproof": package_digest()})
    freeze_table(ledger, table, gold, split)
    return finish_panel(ledger, ())


def freeze_table(ledger: Ledger, table: VerdictTable, gold: Gold, split: Split) -> None:
    """Freeze the verdicts, and then, in a stage that builds on them, labels and split."""
    if not ledger.is_frozen("verdicts"):
        with ledger.writer("verdicts") as writer:
            _append(writer, _chunks(_packed_table(table)))
            writer.freeze()
    if not ledger.is_frozen("labels"):
        with ledger.writer("labels", after=(ledger.root("verdicts"),)) as writer:
            _append(writer, _chunks(_packed_labels(gold, split)))
            writer.freeze()


def _append(writer: Any, chunks: Iterator[tuple[str, bytes]]) -> None:
    for key, payload in chunks:
        if key not in writer.finished:
            writer.append([Row(key, 0, DONE, "", payload)])


def _chunks(data: bytes) -> Iterator[tuple[str, bytes]]:
    size = 1 << 20
    for start in range(0, max(1, len(data)), size):
        yield f"part-{start // size:08d}", data[start : start + size]


def _packed_table(table: VerdictTable) -> bytes:
    out = io.BytesIO()
    arrays: dict[str, Any] = {
        "items": np.array(table.items, dtype=np.str_),
        "clusters": np.array(table.clusters, dtype=np.str_),
        "symbols": table.symbols,
        "kinds": table.kinds,
    }
    if table.order is not None:
        arrays["order"] = table.order
    _save(out, arrays)
    return out.getvalue()


def _packed_labels(gold: Gold, split: Split) -> bytes:
    out = io.BytesIO()
    _save(out, {"labels": gold.labels, "calibration": split.calibration, "held_out": split.held_out})
    return out.getvalue()


def _save(out: io.BytesIO, arrays: Mapping[str, Any]) -> None:
    """Write arrays one after the other as .npy, behind their names: equal arrays give equal bytes."""
    for name in sorted(arrays):
        out.write(len(name).to_bytes(2, "little") + name.encode())
        np.save(out, arrays[name], allow_pickle=False)


def _loaded(ledger: Ledger, stage: str) -> dict[str, Any]:
    data = io.BytesIO(b"".join(payload for _, payload in ledger.results(stage)))
    found: dict[str, Any] = {}
    try:
        while head := data.read(2):
            name = data.read(int.from_bytes(head, "little")).decode()
            found[name] = np.load(data, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise CorruptLedgerError(f"stage '{stage}' holds no verdict table: {error}") from None
    return found


def finish_panel(ledger: Ledger, post_hoc: Sequence[str]) -> Analysis:
    """Return the analysis of a panel run from its folder alone; `post_hoc` gates were added after it."""
    plan = ledger.plan
    table, gold, split = frozen_table(ledger, plan)
    analysis = analyse_panel(plan, table, gold, split)
    roots = tuple((f"root of stage {name}", ledger.root(name)) for name in ledger.stages())
    inputs = tuple((f"input {one.role}", one.sha256) for one in plan.inputs)
    source = tuple((f"source of {name}", sha) for name, sha in sorted(ledger.manifest.source.items()))
    provenance = (("plan", plan.digest()), ("seed", str(plan.seed)), *inputs, *roots, *source)
    analysis = replace(analysis, provenance=provenance)
    return check_gates(analysis, (*plan.gates, *(Gate(expression, post_hoc=True) for expression in post_hoc)))


def frozen_table(ledger: Ledger, plan: Plan) -> tuple[VerdictTable, Gold, Split]:
    """Return the verdicts, labels and split that a panel run froze.

    Raises:
        CorruptLedgerError: The stages do not hold them, or the split is not the one that the plan sealed.
    """
    verdicts, labels = _loaded(ledger, "verdicts"), _loaded(ledger, "labels")
    try:
        table = VerdictTable(
            tuple(verdicts["items"].tolist()),
            tuple(verdicts["clusters"].tolist()),
            tuple(Channel(str(name), float(cost)) for name, cost in plan.settings["channels"]),
            tuple(plan.settings["classes"]),
            verdicts["symbols"],
            verdicts["kinds"],
            verdicts.get("order"),
        )
        split = Split(labels["calibration"], labels["held_out"], str(plan.settings["split"]))
    except KeyError as error:
        raise CorruptLedgerError(f"the ledger lacks {error} of a verdict table") from None
    if split.digest() != plan.settings["split digest"]:
        raise CorruptLedgerError("the split of the ledger is not the one that the plan sealed")
    return table, Gold(labels["labels"]), split


def plan_policy(config: PanelConfig) -> tuple[PolicyTable, str]:
    """Return the recommended policy for a verdict file, and why, without writing a run.

    Raises:
        CounterproofError: The file has no labels, or no policy keeps to the budget.
    """
    file = _read(config)
    if file.gold is None:
        raise InputError(f"{config.verdicts.name} has no gold labels; name their column with --gold")
    rng = None if config.by_time else ItemSeed(config.seed, "panel split").generator()
    split = split_items(file.table, config.share, rng, labelled=file.gold)
    budget = config.budget if config.budget is not None else float(file.table.costs.sum())
    loss: Loss = parse_loss(config.loss)
    contest = run_contest(
        file.table,
        file.gold,
        split,
        loss,
        budget=budget,
        seed=config.seed,
        rng=ItemSeed(config.seed, "panel contest").generator(),
    )
    chosen = contest.contestants[contest.recommended]
    provenance = {
        **chosen.policy.provenance,
        "verdicts": [one.sha256 for one in file.digests],
        "split": split.digest(),
        "budget": budget,
        "seed": config.seed,
    }
    why = (
        f"{chosen.name}: {chosen.scores.mean_calls:.2f} calls an item on held-out items; the cheapest within one "
        f"standard error of {contest.contestants[contest.lowest].name}"
    )
    return replace(chosen.policy, provenance=provenance), why


Verifier = Callable[[Any], Outcome]


def run_live(
    policy: PolicyTable,
    items: Sequence[tuple[str, Record]],
    channels: Mapping[str, Verifier],
    out: Path,
    *,
    readings: Mapping[str, Reading] | None = None,
    budget: float | None = None,
    seed: int = 0,
) -> dict[str, LiveVerdict]:
    """Call real channels under a compiled policy, and return how every item ended, by key.

    Every call is in the ledger before the next one is made; a run that was stopped goes on with the same call and pays
    none twice. Labels have no part: join them afterwards.

    Args:
        policy: The compiled policy.
        items: Key and record; keys unique, in plan order.
        channels: A verifier for every channel that the policy names: record to outcome.
        out: The run folder.
        readings: How scores become verdicts, by channel; .5 and above is class 1 unless said otherwise.
        budget: Total declared cost, allotted to items in plan order before anything runs; None for no limit.
        seed: The run's seed.

    Raises:
        InputError: A channel is missing, or keys repeat.
        PlanError: The folder belongs to another run.
    """
    missing = sorted(set(policy.channels) - channels.keys())
    keys = [key for key, _ in items]
    if missing or len(set(keys)) != len(keys):
        raise InputError(f"channels without a verifier: {', '.join(missing)}" if missing else "item keys repeat")
    allotment = {} if budget is None else allot(keys, budget, dearest_path(policy))
    plan = Plan(
        room="panel",
        unit="item",
        arms=policy.channels,
        inputs=(Digest("policy", policy.digest()),),
        seed=seed,
        stages=("calls",),
        settings={"items": len(keys), "budget": budget, "policy": policy.name},
    )
    ledger = Ledger.create(out, plan, {"counterproof": package_digest()})
    if not ledger.is_frozen("calls"):
        context = LiveContext(policy, dict(readings or {}), allotment)
        with ExitStack() as stack:
            engine = SerialEngine(InProcess(channels))
            stack.callback(engine.close)
            writer = stack.enter_context(ledger.writer("calls"))
            drive(LivePanelEpisode(), iter(items), context, Means(seed, engine, writer))
            writer.freeze()
    return {key: decode_verdict(payload) for key, payload in ledger.results("calls")}
