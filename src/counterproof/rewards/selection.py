"""Selectors: which isolated candidate stands for a unit, and how the unit ended."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterproof.rewards.batch import ERRORED, FOOLED, RESISTED, UNSCORED, Batch
from counterproof.rewards.cells import TOLERANCE, Cell


class Selector(enum.Enum):
    """How the candidate of a unit is chosen, after candidates were filtered to isolated ones."""

    FIRST_VISIBLE = "first_visible"
    """The first in order (rank, then position); label-free."""
    LAST_POSITION = "last_position"
    """The first rank, at the last position; label-free."""
    ORACLE_WORST = "oracle_worst"
    """The smallest margin, ties to the first in order; an upper bound on attack success."""


@dataclass(frozen=True, slots=True)
class Selected:
    """One chosen candidate a unit.

    Attributes:
        units: Index of each unit within the batch, (U,).
        chosen: Index of its candidate within the batch, (U,).
        ending: `FOOLED`, `RESISTED`, `ERRORED` or `UNSCORED`, (U,).
        margin: Its margin, (U,); meaningful where `ending` is `FOOLED` or `RESISTED`.
    """

    units: NDArray[np.intp]
    chosen: NDArray[np.intp]
    ending: NDArray[np.int8]
    margin: NDArray[np.float64]

    @property
    def tied(self) -> NDArray[np.bool_]:
        """Units whose margin is zero within tolerance, (U,)."""
        tied: NDArray[np.bool_] = (self.ending == FOOLED) & (self.margin >= -TOLERANCE)
        return tied


def select(batch: Batch, cell: Cell, selector: Selector, *, strict: bool = False) -> Selected:
    """Return the selected candidate of every unit that has one in this cell.

    Of several candidates, any fooled makes the unit fooled; else any errored makes it errored, never resisted. Under
    the label-free selectors only the chosen candidate counts.
    """
    members = batch.members(cell, strict=strict)
    owner = batch.owner[members]
    position = batch.position[members]
    along = -position if selector is Selector.LAST_POSITION else position
    keys = [along, batch.rank(cell, members)] if members.size else [along, along]
    if selector is Selector.ORACLE_WORST:
        state = batch.state[members]
        fooled = (state == 0) & (batch.margin[members] <= TOLERANCE)
        # Scored-and-fooled first, then errored, then unscored, then resisted: the first of these decides the unit.
        severity = np.where(fooled, 0, np.where(state == ERRORED, 1, np.where(state == UNSCORED, 2, 3)))
        keys += [np.where(state == 0, batch.margin[members], 0.0), severity]
    order = np.lexsort((*keys, owner))
    members, owner = members[order], owner[order]
    first = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]]) if owner.size else np.zeros(0, dtype=np.intp)
    chosen = members[first]
    margin = batch.margin[chosen]
    state = batch.state[chosen]
    ending = np.where(state != 0, state, np.where(margin <= TOLERANCE, FOOLED, RESISTED)).astype(np.int8)
    return Selected(owner[first], chosen, ending, margin)
