"""Standard output that may be closed early, as by `| head`: what a command concluded must not depend on its reader."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from counterproof.core.analysis import Analysis


@contextmanager
def unread() -> Iterator[None]:
    """Drop what a closed standard output no longer takes, here and from now on."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more at its end; that goes to the null device, not into a traceback.
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def say(text: str = "") -> None:
    """Print a line."""
    with unread():
        typer.echo(text)


def screen(analysis: Analysis, report: str = "") -> None:
    """Print one screen on an analysis, and where its report is."""
    from counterproof.report import console

    with unread():
        console(analysis, sys.stdout, report=report)
