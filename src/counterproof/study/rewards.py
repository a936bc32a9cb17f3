"""A rewards audit from plan to report: the corridor that the `rewards` room is driven through."""

from __future__ import annotations

import heapq
import json
import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from counterproof.adapters import PoolReader, open_pool
from counterproof.core.analysis import Analysis
from counterproof.core.errors import InputError, nearest
from counterproof.core.plan import Gate, Plan
from counterproof.core.records import Trajectory
from counterproof.core.seeds import ItemSeed
from counterproof.engines import Engine, Host, InProcess, Isolated, ProcessEngine, SerialEngine
from counterproof.isolation import Limits
from counterproof.rewards.analyse import Evidence, analyse
from counterproof.rewards.cells import Setup, cells_of, set_up
from counterproof.rewards.checks import obstacle
from counterproof.rewards.detectors import DETECTORS, Detector
from counterproof.rewards.edits import EDITS, SINGLE, Edit, EditContext
from counterproof.rewards.episode import (
    AuditContext,
    AuditEpisode,
    StatelessEpisode,
    Statelessness,
    decode_statelessness,
)
from counterproof.rewards.evidence import EvidenceEpisode, decode_pairs, wanted
from counterproof.rewards.planning import (
    CONTROL_SAMPLE,
    STATELESS_SAMPLE,
    PoolFacts,
    audit_plan,
    models_of,
    planned_lacks,
    planned_models,
    planned_setup,
)
from counterproof.rewards.tally import BATCH, Tally
from counterproof.rewards.units import Unit, decode_unit
from counterproof.store import EVENT, Ledger
from counterproof.study.driver import BATCH_CALLS, Means, drive
from counterproof.study.gates import DEFAULT, check_gates, parse_gate
from counterproof.study.hosting import FACTORY, Recipe, VerifierSource, build, built_in, is_built_in
from counterproof.study.progress import Stages
from counterproof.study.source import package_digest, source_digest

CONTROLS = ("constant", "oracle")


@dataclass(frozen=True, slots=True)
class AuditConfig:
    """What a rewards audit is asked to do.

    Attributes:
        rollouts: A pool folder or a log file.
        reward: Built-in name, `package.module:function`, `path.py:function` or an entry point's name.
        out: The run folder; an unfinished run of the same plan is resumed.
        corpus: The corpus of a log that has none beside it.
        format: The log's format; None guesses.
        gates: Expressions that decide the exit code.
        seed: The run's seed.
        engine: `serial` or `processes`.
        workers: Worker processes of the `processes` engine.
        in_process: Call the verifier in this process rather than in a killable worker.
        allow_stateful: Go on when the verifier keeps state.
        limits: What a worker may use.
        batch_calls: The most calls a batch.
        edits: Edits besides the built-in ones.
        detectors: Detectors besides the built-in ones.
    """

    rollouts: Path
    reward: str
    out: Path
    corpus: Path | None = None
    format: str | None = None
    gates: tuple[str, ...] = (DEFAULT,)
    seed: int = 0
    engine: str = "serial"
    workers: int = 2
    in_process: bool = False
    allow_stateful: bool = False
    limits: Limits = field(default_factory=Limits)
    batch_calls: int = BATCH_CALLS
    edits: tuple[Edit, ...] = ()
    detectors: tuple[Detector, ...] = ()


def audit(config: AuditConfig, stages: Stages | None = None) -> Analysis:
    """Run an audit to its end, or go on with an unfinished one, and return its analysis.

    Raises:
        CounterproofError: Input, reward, settings or folder cannot be used; the message says what to do.
    """
    for expression in config.gates:
        parse_gate(expression)
    stages = stages or Stages()
    with stages.stage("reading the log"):
        pool = open_pool(config.rollouts, corpus=config.corpus, format=config.format)
        sample = _sample(pool, config.seed)
    with ExitStack() as stack:
        source, engine = _verifier(config, pool, stack)
        setup = set_up(pool.traits, (*EDITS, *config.edits), (*DETECTORS, *config.detectors))
        plan = _plan(config, pool, sample, setup, source)
        check_subjects(plan.gates, setup)
        ledger = Ledger.create(config.out, plan, _sources(config, source))
        run = _Run(config, pool, sample, setup, ledger, engine, stages)
        run.stateless()
        if not run.proceed:
            return finish(ledger, ())
        run.controls()
        run.scores()
        run.evidence()
    return finish(ledger, ())


def finish(ledger: Ledger, post_hoc: Sequence[str]) -> Analysis:
    """Return the analysis of the frozen stages of a run; `post_hoc` gates were added after it.

    Reads the run folder alone: neither pool nor verifier is needed.
    """
    plan = ledger.plan
    check_subjects([Gate(expression) for expression in post_hoc], planned_setup(plan))
    analysis = analyse(plan, _evidence(ledger, plan))
    roots = tuple((f"root of stage {name}", ledger.root(name)) for name in ledger.stages() if ledger.is_frozen(name))
    source = tuple((f"source of {name}", sha) for name, sha in sorted(ledger.manifest.source.items()))
    inputs = tuple((f"input {one.role}", one.sha256) for one in plan.inputs)
    analysis = replace(
        analysis,
        notes=(*analysis.notes, *plan.settings.get("notes", ())),
        provenance=(("plan", plan.digest()), ("seed", str(plan.seed)), *inputs, *roots, *source),
    )
    gates = (*plan.gates, *(Gate(expression, post_hoc=True) for expression in post_hoc))
    return check_gates(analysis, gates, stateful_allowed=bool(plan.settings.get("allow_stateful")))


def _sources(config: AuditConfig, verifier: VerifierSource) -> dict[str, str]:
    """Return the digest of all code that the rows depend on."""
    edits = {f"edit {one.name}": source_digest(one.make) for one in config.edits}
    detectors = {f"detector {one.name}": source_digest(one.detect) for one in config.detectors}
    return {"counterproof": package_digest(), "verifier": verifier.sha256, **edits, **detectors}


def check_subjects(gates: Sequence[Gate], setup: Setup) -> None:
    """Refuse a gate on an attack that does not exist: it could never trip.

    Raises:
        InputError: A gate names neither an edit nor a cell; the message names the nearest.
    """
    known = [cell.name for cell in cells_of(setup)] + [one.name for one in EDITS]
    known += [what.removeprefix("edit ") for what, _ in setup.skipped if what.startswith("edit ")]
    for gate in gates:
        subject = parse_gate(gate.expression).subject
        if subject and not any(f"{name}/".startswith(subject) or subject.startswith(f"{name}/") for name in known):
            raise InputError(f"gate '{gate.expression}': there is no attack '{subject}'; {nearest(subject, known)}")


def _evidence(ledger: Ledger, plan: Plan) -> Evidence:
    setup = planned_setup(plan)
    frozen = [name for name in ledger.stages() if ledger.is_frozen(name)]
    tally, by_model = (
        tally_of(ledger, "scores", setup, planned_models(plan)) if "scores" in frozen else (Tally(setup), {})
    )
    # A run that stopped at its first stage has no controls.
    controls = {
        name: tally_of(ledger, "controls", setup, (), prefix=f"{name}/")[0]
        for name in (CONTROLS if "controls" in frozen else ())
    }
    pairs = (
        [pair for _, one in ledger.results("evidence") for pair in decode_pairs(one)] if "evidence" in frozen else []
    )
    state = Statelessness((), ())
    if "stateless" in frozen:
        for _, payload in ledger.results("stateless"):
            state = decode_statelessness(payload)
    return Evidence(tally, by_model, controls, state, pairs, planned_lacks(plan), str(plan.settings["signature"]))


def tally_of(
    ledger: Ledger, stage: str, setup: Setup, models: Sequence[str], prefix: str = ""
) -> tuple[Tally, Mapping[str, Tally]]:
    """Return the counts of a stage over items whose key begins with `prefix`, and the same for each model."""
    whole, by_model = Tally(setup), {name: Tally(setup) for name in models}
    units = _units(ledger, stage, prefix)
    while batch := list(islice(units, BATCH)):
        whole.add(batch)
        for name, tally in by_model.items():
            own = [unit for unit in batch if unit.model == name]
            if own:
                tally.add(own)
    return whole, by_model


def _units(ledger: Ledger, stage: str, prefix: str) -> Iterator[Unit]:
    """Yield the units of a stage: each result with the outcomes that the event before it recorded."""
    packed = b""
    for row in ledger.rows(stage):
        if row.kind == EVENT:
            packed = row.payload
        elif row.item.startswith(prefix):
            yield decode_unit(row.payload, packed)


@dataclass(frozen=True, slots=True)
class _Sample:
    stateless: tuple[Trajectory, ...]
    controls: tuple[Trajectory, ...]
    models: tuple[str, ...]


def _sample(pool: PoolReader, seed: int) -> _Sample:
    """Draw both samples in one pass: the records with the smallest keyed fractions, whatever the log's order."""
    models: set[str] = set()

    def drawn() -> Iterator[tuple[float, str, Trajectory]]:
        for record in pool.trajectories():
            if len(models) <= 20:
                models.add(record.model or "")
            yield ItemSeed(seed, record.trajectory_id).child("sample").fraction(), record.trajectory_id, record

    chosen = [record for _, _, record in heapq.nsmallest(max(STATELESS_SAMPLE, CONTROL_SAMPLE), drawn())]
    if not chosen:
        raise InputError(f"{pool.name} holds no trajectory; there is nothing to audit")
    return _Sample(tuple(chosen[:STATELESS_SAMPLE]), tuple(chosen[:CONTROL_SAMPLE]), models_of(models))


def _plan(config: AuditConfig, pool: PoolReader, sample: _Sample, setup: Setup, source: VerifierSource) -> Plan:
    facts = PoolFacts(
        pool.name,
        pool.format.name,
        pool.traits,
        pool.lacks,
        pool.notes,
        pool.count,
        pool.questions,
        sample.models,
        pool.digests,
    )
    options: dict[str, Any] = {
        "gates": config.gates,
        "allow_stateful": config.allow_stateful,
        "seconds_per_call": config.limits.seconds_per_call,
    }
    return audit_plan(source.name, source.signature, source.sha256, facts, setup, seed=config.seed, options=options)


def _verifier(config: AuditConfig, pool: PoolReader, stack: ExitStack) -> tuple[VerifierSource, Engine]:
    """Build the verifier where it will run, and the engine that calls it."""
    recipe = Recipe(config.reward, pool.format.name, pool.corpus)
    here = config.in_process or is_built_in(config.reward)
    if config.engine not in ("serial", "processes"):
        raise InputError(f"engine '{config.engine}': choose serial or processes")
    if config.in_process and config.engine == "processes" and not is_built_in(config.reward):
        raise InputError("--in-process calls the verifier in this process; it cannot go with --engine processes")
    if here and config.engine == "serial":
        source, call = built_in(config.reward, pool.corpus) if is_built_in(config.reward) else build(recipe)
        engine: Engine = SerialEngine(InProcess({"verifier": call}))
        stack.callback(engine.close)
        return source, engine
    payload = pickle.dumps(recipe)
    first = Isolated(FACTORY, payload, config.limits)
    stack.callback(first.close)
    source = VerifierSource(**json.loads(first.greeting))
    spare: Iterator[Host] = iter((first,))  # slots begin at once: only one of them may take it
    engine = (
        SerialEngine(first)
        if config.engine == "serial"
        else ProcessEngine(lambda: next(spare, None) or Isolated(FACTORY, payload, config.limits), slots=config.workers)
    )
    stack.callback(engine.close)
    return source, engine


def edit_context(pool: PoolReader, setup: Setup) -> EditContext:
    """Return what the edits of a setup may use on a pool: its corpus, and an index for each generator they name."""
    from counterproof.rewards.lexical import LexicalIndex
    from counterproof.study.pools.retrieval import Bm25Index

    depths: dict[str, int] = {}
    for one in setup.edits:
        for name, budgets in one.generators:
            if name != SINGLE:
                depths[name] = max(depths.get(name, 0), *budgets)
    makers: dict[str, Any] = {"lexical": LexicalIndex, "bm25": Bm25Index}
    unknown = sorted(depths.keys() - makers.keys())
    if unknown:
        raise InputError(f"no generator is called {', '.join(unknown)}; there are: {', '.join(makers)}")
    return EditContext(pool.corpus, {name: makers[name](pool.corpus) for name in sorted(depths)}, depths)


@dataclass
class _Run:
    """The stages of one run, each skipped when it is frozen already."""

    config: AuditConfig
    pool: PoolReader
    sample: _Sample
    setup: Setup
    ledger: Ledger
    engine: Engine
    stages: Stages

    @cached_property
    def context(self) -> AuditContext:
        """What all trajectories share; its indexes are built once a run, and not at all for a finished one."""
        return AuditContext(self.setup, edit_context(self.pool, self.setup))

    @property
    def proceed(self) -> bool:
        """Whether the verifier answers, and is stateless or may be stateful."""
        state = next(decode_statelessness(payload) for _, payload in self.ledger.results("stateless"))
        return not obstacle(state, stateful_allowed=self.config.allow_stateful)

    def stateless(self) -> None:
        """Score the sample three times."""
        records = self.sample.stateless
        episode = StatelessEpisode()
        self._stage("stateless", (), episode, [("statelessness", records)], None, 1, 3 * len(records))

    def controls(self) -> None:
        """Audit the control rewards on the sample, through the same path."""
        if self.ledger.is_frozen("controls"):
            return
        corpus = self.pool.corpus
        calls = {name: built_in(name, corpus)[1] for name in CONTROLS}
        after = (self.ledger.root("stateless"),)
        with (
            self.stages.stage("controls", items=len(CONTROLS) * len(self.sample.controls)) as progress,
            SerialEngine(InProcess(calls)) as engine,
            self.ledger.writer("controls", after=after) as writer,
        ):
            means = Means(self.config.seed, engine, writer, progress=progress)
            for name in CONTROLS:
                items = ((f"{name}/{record.digest()}", record) for record in self.sample.controls)
                drive(AuditEpisode(name), items, self.context, means)
            writer.freeze()

    def scores(self) -> None:
        """Audit the reward on every trajectory."""
        if self.ledger.is_frozen("scores"):
            return
        items = ((record.digest(), record) for record in self.pool.trajectories())
        after = (self.ledger.root("stateless"), self.ledger.root("controls"))
        self._stage("scores", after, AuditEpisode(), items, self.context, self.pool.count, None)

    def evidence(self) -> None:
        """Build the pairs of the worst units of each attack."""
        if self.ledger.is_frozen("evidence"):
            return
        tally, _ = tally_of(self.ledger, "scores", self.setup, ())
        examples = wanted(tally)
        items = ((r.digest(), r) for r in self.pool.trajectories() if r.trajectory_id in examples)
        after = (self.ledger.root("scores"),)
        self._stage("evidence", after, EvidenceEpisode(examples), items, self.context, len(examples), 0)

    def _stage(
        self, name: str, after: tuple[str, ...], episode: Any, items: Any, context: Any, count: int, calls: int | None
    ) -> None:
        if self.ledger.is_frozen(name):
            return
        with (
            self.stages.stage(name, items=count, calls=calls) as progress,
            self.ledger.writer(name, after=after) as writer,
        ):
            means = Means(self.config.seed, self.engine, writer, self.config.batch_calls, progress)
            drive(episode, items, context, means)
            writer.freeze()
