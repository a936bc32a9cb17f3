"""The commands of the panel room."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

panel = typer.Typer(
    help="Does another judge, or another call, buy evidence, and which one comes next?", no_args_is_help=True
)

Verdicts = Annotated[
    Path,
    typer.Argument(metavar="VERDICTS", help="CSV, JSON lines, JSON or Parquet, one row a call; or an inspect_ai log."),
]
Gold = Annotated[str | None, typer.Option("--gold", metavar="COL", help="The column of oracle labels.")]
Column = Annotated[
    list[str] | None,
    typer.Option("--column", metavar="ROLE=COL", help="A column by role (item, channel, verdict, score, cost ...)."),
]
Threshold = Annotated[float | None, typer.Option(help="A score of at least this is the second class.")]
Positive = Annotated[str | None, typer.Option(help="Which of two classes is the accepted one.")]
LossText = Annotated[str, typer.Option("--loss", metavar="LOSS", help="ba, or chow:KAPPA with the cost of abstaining.")]
Budget = Annotated[float | None, typer.Option(min=0.0, help="Most mean declared cost an item.")]
Share = Annotated[float, typer.Option(help="Share of clusters for calibration.")]
ByTime = Annotated[bool, typer.Option("--by-time", help="Calibrate on the earliest clusters instead of random ones.")]
Out = Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="The folder to write.")]
Seed = Annotated[int, typer.Option(min=0, help="The run's seed.")]
FailOn = Annotated[
    list[str] | None, typer.Option("--fail-on", metavar="GATE", help="Gate such as 'loss>0.2' or 'neff<3'; repeatable.")
]


@panel.command("audit")
def audit(  # noqa: PLR0913 - the options of a command are its parameters
    verdicts: Verdicts,
    out: Out,
    gold: Gold = None,
    column: Column = None,
    threshold: Threshold = None,
    positive: Positive = None,
    loss: LossText = "ba",
    budget: Budget = None,
    share: Share = 0.5,
    by_time: ByTime = False,
    fail_on: FailOn = None,
    seed: Seed = 0,
) -> None:
    """Audit a panel: are its channels wrong together, what does each call add, and which policy pays?"""
    from counterproof.cli import panel_commands as commands

    columns = commands.columns_of(gold, column or ())
    config = commands.PanelConfig(
        verdicts, out, columns, threshold, positive, loss, budget, share, by_time, tuple(fail_on or ()), seed
    )
    raise typer.Exit(commands.audit(config))


@panel.command("plan")
def plan(  # noqa: PLR0913 - the options of a command are its parameters
    verdicts: Verdicts,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The policy file to write.")],
    gold: Gold = None,
    column: Column = None,
    threshold: Threshold = None,
    positive: Positive = None,
    loss: LossText = "ba",
    budget: Budget = None,
    share: Share = 0.5,
    by_time: ByTime = False,
    seed: Seed = 0,
) -> None:
    """Write the policy that the verdicts recommend, as a small file that `panel replay` and live panels use."""
    from counterproof.cli import panel_commands as commands

    columns = commands.columns_of(gold, column or ())
    config = commands.PanelConfig(verdicts, out, columns, threshold, positive, loss, budget, share, by_time, (), seed)
    commands.plan(config)


@panel.command("replay")
def replay(  # noqa: PLR0913 - the options of a command are its parameters
    verdicts: Verdicts,
    policy: Annotated[Path, typer.Option("--policy", metavar="FILE", help="A policy file of `panel plan`.")],
    out: Out,
    gold: Gold = None,
    column: Column = None,
    threshold: Threshold = None,
    positive: Positive = None,
    seed: Seed = 0,
) -> None:
    """Replay a policy on logged verdicts: whom it asks, what it accepts, and, with labels, what it loses."""
    from counterproof.cli import panel_commands as commands

    columns = commands.columns_of(gold, column or ())
    config = commands.PanelConfig(verdicts, out, columns, threshold, positive, seed=seed)
    raise typer.Exit(commands.replay(config, policy))


@panel.command("fixture")
def fixture(out: Out) -> None:
    """Recompute every controlled figure beside its closed form."""
    from counterproof.cli import panel_commands as commands

    raise typer.Exit(commands.fixture(out))
