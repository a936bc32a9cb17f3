"""A panel audit from verdict file to report, and the policy that verdicts recommend."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterproof.adapters import VerdictFile, is_inspect_log, read_inspect, read_verdicts
from counterproof.core.analysis import Analysis
from counterproof.core.errors import CorruptLedgerError, InputError, Problem
from counterproof.core.plan import Gate, Plan
from counterproof.core.seeds import ItemSeed
from counterproof.panel.analyse import analyse_panel
from counterproof.panel.contest import run_contest
from counterproof.panel.loss import parse_loss
from counterproof.panel.planning import TableFacts, panel_plan
from counterproof.panel.policy import PolicyTable
from counterproof.panel.table import Channel, Gold, Split, VerdictTable, split_items
from counterproof.store import DONE, Ledger, Row
from counterproof.study.gates import check_gates, parse_gate
from counterproof.study.source import package_digest

PART = 1 << 20
"""Bytes of a table that one ledger row holds."""
SHARE = 0.5


@dataclass(frozen=True, slots=True)
class PanelConfig:
    """What a panel audit is asked to do.

    Attributes:
        verdicts: A CSV, JSON lines, JSON or Parquet file, or an inspect_ai log.
        out: The run folder.
        columns: Which column is which; the rest is guessed. Of an inspect log only `gold` (a channel, or
            `metadata.<key>`) and `channels` (the scorers to take) have a meaning.
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
    parse_loss(config.loss)
    file = read_panel(config)
    return audit_table(file.table, _gold(file, config), config, TableFacts(file.digests, file.notes, file.lacks))


def read_panel(config: PanelConfig, classes: Sequence[str] | None = None) -> VerdictFile:
    """Return the verdicts that a configuration names: of a table, or of an inspect log.

    Args:
        config: File, columns, threshold and positive class.
        classes: Names of the classes, when known; an inspect log has its own.

    Raises:
        InputError: The file cannot be read, or settings do not suit its kind.
    """
    if not is_inspect_log(config.verdicts):
        return read_verdicts(
            config.verdicts,
            config.columns or None,
            threshold=config.threshold,
            positive=config.positive,
            classes=classes,
        )
    remedy = "only gold and channels can be named"
    problems = [
        Problem(f"role {role!r}", "has no meaning in an inspect log", remedy)
        for role in config.columns
        if role not in ("gold", "channels")
    ]
    if config.positive is not None:
        problems.append(Problem("positive", "has no meaning in an inspect log", "its classes: incorrect, correct"))
    if problems:
        raise InputError(f"{config.verdicts.name} is an inspect log", problems)
    gold, scorers = config.columns.get("gold"), config.columns.get("channels")
    return read_inspect(
        config.verdicts,
        threshold=config.threshold,
        gold=gold if gold is None or isinstance(gold, str) else "+".join(gold),
        scorers=(scorers,) if isinstance(scorers, str) else scorers,
    )


def _gold(file: VerdictFile, config: PanelConfig) -> Gold:
    if file.gold is None:
        raise InputError(f"{config.verdicts.name} has no gold labels; name their column with --gold")
    return file.gold


def _prepared(table: VerdictTable, gold: Gold, config: PanelConfig) -> tuple[Split, float]:
    """Return the split and the most mean cost of a recommendation."""
    rng = None if config.by_time else ItemSeed(config.seed, "panel split").generator()
    budget = config.budget if config.budget is not None else float(table.costs.sum())
    return split_items(table, config.share, rng, labelled=gold), budget


def audit_table(table: VerdictTable, gold: Gold, config: PanelConfig, facts: TableFacts) -> Analysis:
    """Run a panel audit on a table that is at hand; `config.verdicts` is not read.

    Raises:
        CounterproofError: Settings or folder cannot be used.
    """
    loss = parse_loss(config.loss)
    split, budget = _prepared(table, gold, config)
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
    for start in range(0, max(1, len(data)), PART):
        yield f"part-{start // PART:08d}", data[start : start + PART]


def _packed_table(table: VerdictTable) -> bytes:
    out = io.BytesIO()
    arrays: dict[str, Any] = {
        "items": _as_bytes(table.items),
        "clusters": _as_bytes(table.clusters),
        "symbols": table.symbols,
        "kinds": table.kinds,
    }
    if table.order is not None:
        arrays["order"] = table.order
    _save(out, arrays)
    return out.getvalue()


def _as_bytes(names: Sequence[str]) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(list(names), separators=(",", ":")).encode(), dtype=np.uint8)


def _as_names(data: NDArray[np.uint8]) -> tuple[str, ...]:
    return tuple(json.loads(data.tobytes()))


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
    return conclude_run(ledger, analyse_panel(plan, table, gold, split), post_hoc)


def conclude_run(ledger: Ledger, analysis: Analysis, post_hoc: Sequence[str]) -> Analysis:
    """Return the analysis of a run with its provenance and the results of its gates."""
    plan = ledger.plan
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
            _as_names(verdicts["items"]),
            _as_names(verdicts["clusters"]),
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
    loss = parse_loss(config.loss)
    file = read_panel(config)
    gold = _gold(file, config)
    split, budget = _prepared(file.table, gold, config)
    contest = run_contest(
        file.table,
        gold,
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
