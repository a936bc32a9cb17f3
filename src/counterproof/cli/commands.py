"""What the commands do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import typer

from counterproof.cli.exit_codes import COULD_NOT_RUN
from counterproof.cli.output import say, screen
from counterproof.core.analysis import Analysis
from counterproof.isolation import Limits
from counterproof.study.gates import DEFAULT
from counterproof.study.plugins import load_plugins
from counterproof.study.pools.build import PoolSummary, build_pool
from counterproof.study.progress import TerminalStages
from counterproof.study.publish import PAGE, load, publish
from counterproof.study.publish import replay as replay_run
from counterproof.study.publish import verify as verify_run
from counterproof.study.rewards import AuditConfig, audit


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """The options of `rewards audit`, as given."""

    rollouts: Path
    reward: str
    out: Path
    corpus: Path | None
    log_format: str | None
    fail_on: tuple[str, ...]
    plugins: tuple[str, ...]
    engine: str
    workers: int
    timeout: float
    in_process: bool
    allow_stateful: bool
    seed: int


def rewards_audit(options: AuditOptions) -> int:
    """Run an audit, write its reports, print one screen, and return its exit code."""
    plugins = load_plugins(options.plugins)
    config = AuditConfig(
        rollouts=options.rollouts,
        reward=options.reward,
        out=options.out,
        corpus=options.corpus,
        format=options.log_format,
        gates=options.fail_on or (DEFAULT,),
        seed=options.seed,
        engine=options.engine,
        workers=options.workers,
        in_process=options.in_process,
        allow_stateful=options.allow_stateful,
        limits=Limits(seconds_per_call=options.timeout),
        edits=plugins.edits,
        detectors=plugins.detectors,
    )
    return _audited(config).exit_code


def _audited(config: AuditConfig) -> Analysis:
    analysis = audit(config, TerminalStages())
    page = publish(config.out, analysis)
    screen(analysis, str(page))
    return analysis


def rewards_pool(questions: Path | None, out: Path, samples: int, depth: int, limit: int | None, seed: int) -> None:
    """Make a pool and say what is in it."""
    summary = build_pool(questions, out, samples=samples, depth=depth, seed=seed, limit=limit)
    say(_pool_line(summary))


def _pool_line(summary: PoolSummary) -> str:
    histogram = summary.meta["counts"]["searches"]
    searches = ", ".join(f"{count} x {number}" for number, count in histogram.items())
    return (
        f"{summary.folder}: {summary.trajectories} trajectories of {summary.questions} questions over "
        f"{summary.passages} passages\nsearches: {searches}"
    )


def demo_rewards(out: Path, seed: int) -> None:
    """Audit the reference reward on the fact world, then the same reward with the repair that the audit names."""
    pool = out / "pool"
    if not (pool / "pool.json").is_file():
        say(_pool_line(build_pool(None, pool, seed=seed)))
    reward = "reference"
    while True:
        say()
        analysis = _audited(AuditConfig(rollouts=pool, reward=reward, out=out / reward.replace("+", "-"), seed=seed))
        say(f"(as an audit of its own this would exit with {analysis.exit_code})")
        repair = _named_repair(analysis)
        if reward != "reference" or not repair:
            return
        reward = "+".join(("reference", *repair))
        say(f"\nNow the same with the repair that it names: {reward}")


def _named_repair(analysis: Analysis) -> tuple[str, ...]:
    """Return the detectors of the first smallest repair that an audit names, if it names one."""
    found = next((one for one in analysis.findings if one.code == "RW110"), None)
    minimal = found.values.get("minimal", ()) if found is not None else ()
    return tuple(minimal[0].strip("{}").split(",")) if minimal and minimal[0] != "{}" else ()


def show(run: Path) -> None:
    """Print the findings of a run."""
    analysis = load(run)
    page = run / PAGE
    screen(analysis, str(page) if page.is_file() else "")


def verify(run: Path) -> int:
    """Check a run; 0 when everything holds, 3 when not."""
    problems = verify_run(run)
    for problem in problems:
        typer.echo(f"does not hold: {problem}", err=True)
    if problems:
        return COULD_NOT_RUN
    say(f"{run}: every hash holds, and the ledger gives these findings again")
    return 0


def replay(run: Path, fail_on: tuple[str, ...]) -> int:
    """Analyse a run again; its exit code, or 3 when the findings on the disk are others."""
    replayed = replay_run(run, fail_on)
    screen(replayed.analysis)
    if replayed.identical:
        say("identical to findings.json, byte for byte")
        return replayed.analysis.exit_code
    typer.echo("error: findings.json is not what the ledger gives", err=True)
    return COULD_NOT_RUN
