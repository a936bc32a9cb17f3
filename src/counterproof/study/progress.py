"""Progress on a terminal: which stage runs, how far it is, how fast."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Stages:
    """Shows nothing; the default."""

    @contextmanager
    def stage(self, name: str, items: int | None = None, calls: int | None = None) -> Iterator[Stages]:
        """Enter a stage with so many items and, where known, at most so many calls."""
        yield self

    def advance(self, items: int, calls: int) -> None:
        """Note that so many more items have ended, or had ended before, and calls were answered."""


class TerminalStages(Stages):
    """Shows a progress bar a stage on standard error, where that is a terminal."""

    @contextmanager
    def stage(self, name: str, items: int | None = None, calls: int | None = None) -> Iterator[Stages]:
        """Enter a stage: a bar over its items, and how many calls were answered."""
        if not sys.stderr.isatty():
            yield self
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (
            TextColumn("{task.description:>16}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[calls]}"),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            shown = _Bar(bar, bar.add_task(name, total=items, calls=""), calls)
            shown.advance(0, 0)
            yield shown


class _Bar(Stages):
    def __init__(self, bar: Progress, task: TaskID, most: int | None) -> None:
        self._bar, self._task, self._calls = bar, task, 0
        self._most = f" of {most:,}" if most else ""

    def advance(self, items: int, calls: int) -> None:
        """Move the bar on."""
        self._calls += calls
        said = f"{self._calls:,}{self._most} calls" if self._calls or self._most else ""
        self._bar.update(self._task, advance=items, calls=said)
