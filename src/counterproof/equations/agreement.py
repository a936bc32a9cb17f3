"""Agreement across views: a rule that may only demote a verdict to inconclusive, never invent one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.equations.scores import PUBLIC_SCORE, ScoreRule, scores
from counterproof.equations.verdicts import INCONCLUSIVE
from counterproof.equations.verifier import ViewTable
from counterproof.equations.views import View


def grid_groups(views: Sequence[View]) -> tuple[tuple[int, ...], ...]:
    """Return the positions of the views of each time grid, in the order of first appearance."""
    groups: dict[object, list[int]] = {}
    for v, view in enumerate(views):
        groups.setdefault(view.grid, []).append(v)
    return tuple(tuple(group) for group in groups.values())


def agreed(
    signature: NDArray[np.int64], score: NDArray[np.float64], groups: Sequence[Sequence[int]]
) -> NDArray[np.int64]:
    """Return the signature that survives agreement, (E,): demotion only.

    A group of views is eligible where all of them give the same definitive signature. The eligible group with the
    highest score in it decides, the first on ties; without one the episode is inconclusive. So every emitted signature
    was given by all views of one group, and the order of views within a group does not matter.

    Args:
        signature: Signatures, (E, V).
        score: Scores, (E, V).
        groups: Positions of the views of each group.

    Raises:
        InputError: There is no group, or one is empty.
    """
    if not groups or any(not len(group) for group in groups):
        raise InputError("agreement needs at least one group, each with at least one view")
    emitted = np.full(len(signature), INCONCLUSIVE, dtype=np.int64)
    highest = np.full(len(signature), -np.inf)
    for group in groups:
        said = signature[:, list(group)]
        eligible = (said == said[:, :1]).all(axis=1) & (said[:, 0] != INCONCLUSIVE)
        best = score[:, list(group)].max(axis=1)
        taken = eligible & (best > highest)
        emitted[taken], highest[taken] = said[taken, 0], best[taken]
    return emitted


def four_view_agreement(table: ViewTable, rule: ScoreRule = PUBLIC_SCORE) -> NDArray[np.int64]:
    """Return `agreed` over the views of each time grid (four numbers of modes in the lab), (E,)."""
    return agreed(table.signature, scores(table, rule), grid_groups(table.views))
