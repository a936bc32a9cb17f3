"""The commands of the equations room."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

equations = typer.Typer(
    help="Can a fixed verifier's verdict be flipped by choosing which permitted evidence it is shown?",
    no_args_is_help=True,
)

Out = Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="The folder to write.")]
Seed = Annotated[int, typer.Option(min=0, help="The run's seed.")]
FailOn = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-on",
        metavar="GATE",
        help="Gate such as 'wrong>0.1' (score-max), 'wrong.upper>0.05' or 'flippable>0.2'; repeatable.",
    ),
]


@equations.command("run")
def run(
    out: Out,
    study: Annotated[str, typer.Option(help="mechanism, benchmark, transfer or choice.")] = "mechanism",
    implementation: Annotated[str, typer.Option(help="spectral, fd64 or fd192; not for transfer.")] = "spectral",
    seeds: Annotated[int | None, typer.Option(min=1, help="How many seeds, in place of the study's own.")] = None,
    agent: Annotated[
        list[str] | None, typer.Option("--agent", metavar="NAME", help="A scripted agent of choice; repeatable.")
    ] = None,
    fail_on: FailOn = None,
    seed: Seed = 0,
) -> None:
    """Run a study of the lab: simulated laws, a weak-form verifier, and everyone who may choose its evidence."""
    from counterproof.cli import equations_commands as commands

    options = commands.RunOptions(
        study, out, implementation, seeds, tuple(agent or ()), tuple(fail_on or ()), seed
    )  # fmt: skip
    raise typer.Exit(commands.run(options))


@equations.command("audit")
def audit(  # noqa: PLR0913 - the options of a command are its parameters
    views: Annotated[
        Path, typer.Argument(metavar="VIEWS", help="CSV, JSON lines, JSON or Parquet with one row an item and view.")
    ],
    out: Out,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column", metavar="ROLE=COL", help="Roles: item, view, verdict, score, truth, cluster, failure."
        ),
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option("--group", metavar="NAME=VIEW+VIEW", help="Views that must agree for the rule within a group."),
    ] = None,
    reference: Annotated[
        str | None, typer.Option(metavar="VIEW", help="The view that counts as right where no truth is known.")
    ] = None,
    fixed: Annotated[str | None, typer.Option(metavar="VIEW", help="The view that you would fix beforehand.")] = None,
    open_price: Annotated[
        float, typer.Option(min=0.0, help="Cost of an item left open, in units of a wrong verdict.")
    ] = 0.1,
    fail_on: FailOn = None,
    seed: Seed = 0,
) -> None:
    """Audit any verifier's table of views: which view flips it, what its score pays for, which agreement helps."""
    from counterproof.cli import equations_commands as commands

    columns, groups = commands.columns_of(column or ()), commands.groups_of(group or ())
    config = commands.ViewsConfig(
        views, out, columns, groups, reference, fixed, open_price, tuple(fail_on or commands.DEFAULT_GATES), seed
    )
    raise typer.Exit(commands.audit(config))


@equations.command("fields")
def fields(  # noqa: PLR0913 - the options of a command are its parameters
    field: Annotated[Path, typer.Argument(metavar="FILE", help="npz, HDF5 or Parquet with times, points and values.")],
    out: Out,
    channel: Annotated[str | None, typer.Option(help="Which channel, where the file holds several.")] = None,
    axes: Annotated[str | None, typer.Option(help="Order of the stored axes, for example xt.")] = None,
    periodic: Annotated[
        bool | None, typer.Option("--periodic/--not-periodic", help="Is the domain a circle? Else the data decide.")
    ] = None,
    term: Annotated[
        list[str] | None, typer.Option("--term", metavar="TERM", help="A term of your own library; repeatable.")
    ] = None,
    fail_on: FailOn = None,
    seed: Seed = 0,
) -> None:
    """Test your own field u(t, x): which law is named at which view, with a smaller and a larger library?"""
    from counterproof.cli import equations_commands as commands

    config = commands.FieldConfig(field, out, channel, axes, periodic, tuple(term or ()), tuple(fail_on or ()), seed)
    raise typer.Exit(commands.fields(config))
