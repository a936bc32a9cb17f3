"""A view-constructing agent: within a budget it shows any equispaced stored times and uses any number of tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.equations.episodes1d import Lab
from counterproof.equations.families import FAMILIES
from counterproof.equations.quadrature import PANELS
from counterproof.equations.views import TimeGrid, View


@dataclass(frozen=True, slots=True)
class ViewSpace:
    """What an agent may construct.

    Attributes:
        intervals: Stored intervals.
        modes: Most temporal test functions.
        budget: Most rows, that is samples times test functions; the cost of a view.
        windows: Whether a grid may cover a part of the window; otherwise it spans all of it.
        smallest: Fewest samples.
        quadrature: The rule in time, which fixes the counts that are possible.
    """

    intervals: int = 48
    modes: int = 8
    budget: int = 200
    windows: bool = False
    smallest: int = 5
    quadrature: str = "simpson"

    def __post_init__(self) -> None:
        if min(self.intervals, self.modes, self.budget) < 1 or self.smallest < 2 or self.quadrature not in PANELS:
            raise InputError(f"{self}: numbers must be positive, the rule one of {', '.join(PANELS)}")


def constructible(space: ViewSpace) -> tuple[View, ...]:
    """Return every view within the budget, coarse grids first; named n<samples>k<modes> and, for a part, @start:stride.

    Raises:
        InputError: The budget admits no view.

    >>> [view.name for view in constructible(ViewSpace(intervals=8, modes=2, budget=10))]
    ['n5k1', 'n5k2', 'n9k1']
    """
    panel = len(PANELS[space.quadrature]) - 1
    views = []
    for count in range(space.smallest, space.intervals + 2):
        if (count - 1) % panel:
            continue
        for grid in _grids(space, count):
            spans = grid.start == 0 and grid.stride * (count - 1) == space.intervals
            place = "" if spans else f"@{grid.start}:{grid.stride}"
            most = min(space.modes, space.budget // count)
            views += [View(f"n{count}k{k}{place}", grid, k) for k in range(1, most + 1)]
    if not views:
        raise InputError(f"a budget of {space.budget} rows admits no view of at least {space.smallest} samples")
    return tuple(views)


def _grids(space: ViewSpace, count: int) -> list[TimeGrid]:
    if not space.windows:
        return [TimeGrid(0, space.intervals // (count - 1), count)] if space.intervals % (count - 1) == 0 else []
    return [
        TimeGrid(start, stride, count)
        for stride in range(1, space.intervals // (count - 1) + 1)
        for start in range(space.intervals - stride * (count - 1) + 1)
    ]


@dataclass(frozen=True, slots=True)
class Construction:
    """What a constructing agent ended with, for each of E episodes.

    Attributes:
        choice: Position of the view that it submits, (E,).
        calls: Verifier calls that it made, (E,).
    """

    choice: NDArray[np.int64]
    calls: NDArray[np.int64]


def exhaustive(objective: NDArray[np.float64]) -> Construction:
    """Return the view with the highest objective of each episode, all views called; the first one on ties.

    Args:
        objective: What the agent maximises, (E, V), for example a score.
    """
    return Construction(objective.argmax(axis=1), np.full(len(objective), objective.shape[1], dtype=np.int64))


def climb(
    objective: NDArray[np.float64],
    views: Sequence[View],
    calls: int,
    generator_of: Callable[[int], np.random.Generator],
) -> Construction:
    """Return where an agent with few verifier calls ends: steps to better neighbours, a new start when there is none.

    Neighbours of a view have the nearest smaller or larger number of samples with as many modes, or one mode less or
    more on the same grid. Views called once are remembered; the best one called is submitted.

    Args:
        objective: What the agent maximises, (E, V).
        views: The V views.
        calls: Most verifier calls of an episode, at least 1.
        generator_of: Gives the generator of each episode, by its position.

    Raises:
        InputError: There is no call to make.
    """
    if calls < 1:
        raise InputError("an agent needs at least one call")
    near = _neighbours(views)
    choice, made = np.empty(len(objective), dtype=np.int64), np.empty(len(objective), dtype=np.int64)
    for e, row in enumerate(objective):
        called = _climbed(row, near, min(calls, len(views)), generator_of(e))
        choice[e] = min(called, key=lambda v: (-row[v], v))
        made[e] = len(called)
    return Construction(choice, made)


def _climbed(
    row: NDArray[np.float64], near: Sequence[Sequence[int]], calls: int, rng: np.random.Generator
) -> dict[int, None]:
    called: dict[int, None] = {}
    for start in (int(v) for v in rng.permutation(len(row))):
        here = start
        called.setdefault(here)
        while len(called) < calls:
            fresh = [v for v in near[here] if v not in called][: calls - len(called)]
            called.update(dict.fromkeys(fresh))
            best = max(near[here], key=lambda v: row[v] if v in called else -np.inf, default=here)
            if best not in called or row[best] <= row[here]:
                break
            here = best
        if len(called) >= calls:
            break
    return called


def _neighbours(views: Sequence[View]) -> list[list[int]]:
    found = []
    for view in views:
        same_modes = [v for v, other in enumerate(views) if other.modes == view.modes and other.grid != view.grid]
        smaller = [v for v in same_modes if views[v].samples < view.samples]
        larger = [v for v in same_modes if views[v].samples > view.samples]
        steps = [max(smaller, key=lambda v: views[v].samples)] if smaller else []
        steps += [min(larger, key=lambda v: views[v].samples)] if larger else []
        steps += [v for v, other in enumerate(views) if other.grid == view.grid and abs(other.modes - view.modes) == 1]
        found.append(steps)
    return found


def omission_labs(lab: Lab) -> tuple[tuple[str, Lab], ...]:
    """Return a study for each family in the library and each of its true terms, with that term left out of the library.

    In all of them `OUTSIDE` is right. The name is `family without term`.
    """
    found = []
    for family in lab.families:
        support = lab.library.law_support(FAMILIES[family].terms)
        for column in support or ():
            name = lab.library.names[column]
            part = replace(lab, families=(family,), library=lab.library.without(name))
            found.append((f"{FAMILIES[family].name} without {name}", part))
    return tuple(found)
