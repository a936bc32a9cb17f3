"""Commands and their options. What a command does is imported when it runs, so that help costs next to nothing."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from counterproof.cli.equations import equations
from counterproof.cli.exit_codes import COULD_NOT_RUN
from counterproof.cli.panel import panel
from counterproof.core.errors import CounterproofError

_CODES = (
    "Exit codes: 0 no gate tripped and bounds are tight; 1 a gate tripped; 2 no gate tripped, but an upper bound is "
    "above .05 or a blocking warning stands; 3 could not run, a control failed, or nothing was concluded."
)

_INTERRUPTED = 130
"""What typer returns after Ctrl-C."""

app = typer.Typer(
    name="counterproof",
    help="Stress-test a verifier before you optimise against it.",
    epilog=_CODES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
rewards = typer.Typer(help="Where does a reward prefer a record that broke the contract?", no_args_is_help=True)
demo = typer.Typer(
    help="Run a room on data that the project makes itself: offline, in under a minute.", no_args_is_help=True
)
app.add_typer(rewards, name="rewards")
app.add_typer(panel, name="panel")
app.add_typer(equations, name="equations")
app.add_typer(demo, name="demo")

Out = Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="The folder to write.")]
Seed = Annotated[int, typer.Option(min=0, help="The run's seed.")]
Run = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")]
FailOn = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-on", metavar="GATE", help="Gate such as 'asr>0.1', 'asr.upper>0.05', 'asr[launder]>0'; repeatable."
    ),
]


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"counterproof {version('counterproof')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Stress-test a verifier before you optimise against it."""


@rewards.command("audit", epilog=_CODES)
def rewards_audit(  # noqa: PLR0913 - the options of a command are its parameters
    rollouts: Annotated[Path, typer.Option("--rollouts", "-r", metavar="POOL", help="A pool folder or a log file.")],
    reward: Annotated[
        str,
        typer.Option("--reward", metavar="SPEC", help="package.module:function, path.py:function, or a built-in name."),
    ],
    out: Out,
    corpus: Annotated[
        Path | None, typer.Option(metavar="FILE", help="All passages that the agent could search, as JSON lines.")
    ] = None,
    log_format: Annotated[
        str | None, typer.Option("--format", metavar="NAME", help="jsonl, search-r1 or fireact; else guessed.")
    ] = None,
    fail_on: FailOn = None,
    plugin: Annotated[
        list[str] | None,
        typer.Option(
            "--plugin", metavar="SPEC", help="Module or path.py with edits and detectors of yours; repeatable."
        ),
    ] = None,
    engine: Annotated[str, typer.Option(help="serial or processes.")] = "serial",
    workers: Annotated[int, typer.Option(min=1, help="Worker processes of --engine processes.")] = 2,
    timeout: Annotated[float, typer.Option(min=0.001, help="Seconds that one call of the reward may take.")] = 10.0,
    in_process: Annotated[
        bool, typer.Option("--in-process", help="Call the reward in this process: faster, and nothing can stop it.")
    ] = False,
    allow_stateful: Annotated[
        bool, typer.Option("--allow-stateful", help="Go on when the reward does not score a record the same way twice.")
    ] = False,
    seed: Seed = 0,
) -> None:
    """Audit a reward on logged trajectories: where can it be fooled, how sure is that, and what repairs it?"""
    from counterproof.cli import commands

    options = commands.AuditOptions(
        rollouts, reward, out, corpus, log_format, tuple(fail_on or ()), tuple(plugin or ()),
        engine, workers, timeout, in_process, allow_stateful, seed,
    )  # fmt: skip
    raise typer.Exit(commands.rewards_audit(options))


@rewards.command("pool")
def rewards_pool(
    questions: Annotated[
        Path | None,
        typer.Argument(
            metavar="[QUESTIONS]", help="HotpotQA, 2WikiMultiHopQA or MuSiQue JSON lines; else the fact world."
        ),
    ] = None,
    out: Out = Path("pool"),
    samples: Annotated[int, typer.Option(min=1, help="Trajectories a question.")] = 8,
    depth: Annotated[int, typer.Option(min=1, help="Passages returned a search.")] = 5,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many questions.")] = None,
    seed: Seed = 0,
) -> None:
    """Make a pool of trajectories with a scripted agent that really searches the questions' passages."""
    from counterproof.cli import commands

    commands.rewards_pool(questions, out, samples, depth, limit, seed)


@demo.command("rewards")
def demo_rewards(out: Out = Path("demo-rewards"), seed: Seed = 0) -> None:
    """Make a small world, let a scripted agent search it, audit a reward, and audit it again with its repair."""
    from counterproof.cli import commands

    commands.demo_rewards(out, seed)


@demo.command("panel")
def demo_panel(out: Out = Path("demo-panel"), seed: Seed = 0) -> None:
    """Audit a made-up panel whose channels partly err together, and see which calls pay."""
    from counterproof.cli import panel_commands

    panel_commands.demo(out, seed)


@demo.command("equations")
def demo_equations(out: Out = Path("demo-equations"), seed: Seed = 0) -> None:
    """Simulate six laws, test them on twelve permitted views, and let whoever likes choose the view."""
    from counterproof.cli import equations_commands

    equations_commands.demo(out, seed)


@app.command()
def show(run: Run) -> None:
    """Print the findings of a run, on one screen."""
    from counterproof.cli import commands

    commands.show(run)


@app.command()
def verify(run: Run) -> None:
    """Recompute every hash of a run, and analyse it again."""
    from counterproof.cli import commands

    raise typer.Exit(commands.verify(run))


@app.command(epilog=_CODES)
def replay(run: Run, fail_on: FailOn = None) -> None:
    """Analyse a run again from its ledger, without the pool or the verifier, and compare byte for byte."""
    from counterproof.cli import commands

    raise typer.Exit(commands.replay(run, tuple(fail_on or ())))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; exits with 3 on a usage error, or when a command could not run or was stopped."""
    from counterproof.cli.output import unread

    code: object = COULD_NOT_RUN
    stdout = sys.stdout
    try:
        code = app(args=None if arguments is None else list(arguments), standalone_mode=False)
        if code == _INTERRUPTED:
            raise KeyboardInterrupt
    except typer.TyperException as error:
        typer.echo(_usage(error), err=True)
    except (CounterproofError, OSError) as error:
        typer.echo(f"error: {error}", err=True)
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("stopped; the same command goes on from what is recorded", err=True)
        code = COULD_NOT_RUN
    except SystemExit:  # typer's answer when the reader of the help has gone, besides wrapping the stream
        code = COULD_NOT_RUN if sys.stdout is stdout else 0
    except Exception:  # noqa: BLE001 - Python's own code for a defect, 1, would say that a gate tripped
        import traceback

        typer.echo(f"{traceback.format_exc()}error: this is a defect of counterproof or of a plug-in", err=True)
    with unread():
        pass
    sys.exit(code if isinstance(code, int) else 0)


def _usage(error: typer.TyperException) -> str:
    """Return what a usage error has to say, and which help to ask for."""
    context: typer.Context | None = getattr(error, "ctx", None)
    said = error.format_message()
    if context is None or said == context.get_help():
        return said
    return f"{context.get_usage()}\nTry '{context.command_path} --help' for help.\n\nerror: {said}"
