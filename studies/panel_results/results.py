"""All parts of the study, run side by side."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from counterproof.core.outcomes import NotApplicable
from counterproof.panel.breadth import Breadth, breadth_on_table, break_even, closed_form
from counterproof.panel.fixture import ERROR
from counterproof.panel.fixture_table import FixtureRow, fixture_rows
from counterproof.panel.table import Gold, VerdictTable
from studies.panel_results import contests, crowds, dependence, sentiment, shifts
from studies.panel_results.points import best_order
from studies.panel_results.sources import SEED, SOURCES, splits

BREADTH_K = 3


@dataclass(frozen=True, slots=True, eq=False)
class TableResult:
    """One full table.

    Attributes:
        source: Its name.
        note: What it is.
        share: Share of clusters that calibrate.
        compared: Policies at equal calls.
        dependence: Diagnostics.
        breadth: Breadth against the majority of three, by the best three channels; None without three.
    """

    source: str
    note: str
    share: float
    compared: contests.Compared
    dependence: dependence.Dependence
    breadth: Breadth | None


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """What the page shows.

    Attributes:
        fixture: The fixture's rows.
        closed: Break-even by k and copy gate, in closed form.
        tables: Full tables.
        crowds: Sparse ones.
        alarm: The alarm's operating table.
        blind: Its blind spot.
        ways: Going on, falling back, calibrating anew.
        downstream: The learner's comparison.
        rivals: Whether the rivals' environment was there.
    """

    fixture: tuple[FixtureRow, ...]
    closed: tuple[tuple[int, float, float | NotApplicable], ...]
    tables: tuple[TableResult, ...]
    crowds: tuple[crowds.Crowd, ...]
    alarm: tuple[shifts.Operating, ...]
    blind: shifts.Blind
    ways: tuple[shifts.Way, ...]
    downstream: sentiment.Study
    rivals: bool


def run_all(data: Path, python: Path | None, processes: int = 2) -> Results:
    """Return the whole study.

    Args:
        data: Folder of real data sets.
        python: The rivals' interpreter, or None.
        processes: How many parts run at a time.
    """
    with ProcessPoolExecutor(processes) as pool:
        tables = [pool.submit(table_result, source.name, data, python) for source in SOURCES]
        downstream = pool.submit(sentiment.run, data)
        alarm, blind = pool.submit(shifts.operating_table), pool.submit(shifts.blind_spot)
        ways = pool.submit(shifts.consequences)
        sparse = list(pool.map(partial(crowds.measure, data, python=python), crowds.NAMES))
        fixture = fixture_rows()
        return Results(
            fixture=fixture,
            closed=tuple(
                (k, gate, break_even(*closed_form(k, ERROR, copy_gate=gate)[:2]))
                for k, gate in ((3, 0.0), (5, 0.0), (7, 0.0), (5, 0.5), (5, 1.0))
            ),
            tables=tuple(one.result() for one in tables),
            crowds=tuple(sparse),
            alarm=alarm.result(),
            blind=blind.result(),
            ways=ways.result(),
            downstream=downstream.result(),
            rivals=python is not None,
        )


def table_result(name: str, data: Path, python: Path | None) -> TableResult:
    """Return everything that the page shows of the full table of that name."""
    source = next(one for one in SOURCES if one.name == name)
    table, gold = source.load(data)
    parts = splits(source, table, gold)
    return TableResult(
        source.name,
        source.note,
        source.share,
        contests.compare(source, table, gold, python),
        dependence.measure(source.name, table, gold, parts),
        _breadth(table, gold),
    )


def _breadth(table: VerdictTable, gold: Gold) -> Breadth | None:
    if len(table.channels) < BREADTH_K:
        return None
    best = table.columns(sorted(best_order(table, gold)[:BREADTH_K]))
    calls = BREADTH_K * len(table)
    return breadth_on_table(best, gold, calls, rng=np.random.default_rng(SEED), replicates=2000)
