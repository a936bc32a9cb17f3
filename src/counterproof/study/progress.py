"""Progress on a terminal: which stage runs, how far it is, how fast."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


class Stages:
    """Shows nothing; the default."""

    @contextmanager
    def stage(self, name: str, items: int | None = None, calls: int | None = None) -> Iterator[Stages]:
        """Enter a stage with so many items and, where known, calls."""
        yield self

    def advance(self, items: int, calls: int) -> None:
        """Note that so many more items have ended and calls were answered."""


class TerminalStages(Stages):
    """Shows a progress bar a stage on standard error, where that is a terminal."""

    @contextmanager
    def stage(self, name: str, items: int | None = None, calls: int | None = None) -> Iterator[Stages]:
        """Enter a stage: a bar over its items, and the rate of its calls."""
        if not sys.stderr.isatty():
            yield self
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (
            TextColumn("{task.description:>16}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[calls]} calls"),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(name, total=items, calls=0)
            yield _Bar(bar, task)


class _Bar(Stages):
    def __init__(self, bar: object, task: object) -> None:
        self._bar, self._task, self._calls = bar, task, 0

    def advance(self, items: int, calls: int) -> None:
        """Move the bar on."""
        self._calls += calls
        self._bar.update(self._task, advance=items, calls=f"{self._calls:,}")  # type: ignore[attr-defined]
