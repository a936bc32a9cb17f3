"""The fixed verifier: every view of every trajectory in one pass, and the table of what it says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.equations.fits import (
    TINY,
    condition_numbers,
    correlations,
    qr_residual,
    squared_residuals,
    support_coefficients,
)
from counterproof.equations.library import Library, Supports
from counterproof.equations.verdicts import (
    DEFAULT_RULE,
    INCONCLUSIVE,
    OUTSIDE,
    EquationVerdict,
    Identified,
    Inconclusive,
    OutsideLibrary,
    Rule,
    select,
    signatures,
)
from counterproof.equations.views import View
from counterproof.equations.weakform import WeakForm

BLOCK, BLOCK_VALUES = 16, 1 << 16
"""At most so many trajectories, and stored values, are assessed at a time: more do not fit into a processor's cache."""


@dataclass(frozen=True, slots=True)
class ViewTable:
    """What the verifier says of E episodes on V views; all arrays are (E, V).

    Attributes:
        views: The views.
        terms: Names of the library's terms.
        supports: The supports searched.
        best: Smallest residual of all supports, in [0, 1].
        residual: Residual of the selected support.
        support: Position of the selected support, whatever the verdict.
        gap: Its lead over the next support of at most as many terms, in units of the residual.
        condition: Condition number of its unit-norm columns, at least 1.
        signature: A support index (identified), `OUTSIDE` or `INCONCLUSIVE`.
    """

    views: tuple[View, ...]
    terms: tuple[str, ...]
    supports: Supports
    best: NDArray[np.float64]
    residual: NDArray[np.float64]
    support: NDArray[np.int64]
    gap: NDArray[np.float64]
    condition: NDArray[np.float64]
    signature: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.best)

    def support_names(self, support: int) -> tuple[str, ...]:
        """Return the names of a support's terms."""
        return tuple(self.terms[j] for j in self.supports.members[support])

    def verdict(self, episode: int, view: int) -> EquationVerdict:
        """Return the verdict of one cell."""
        return self.verdict_of(int(self.signature[episode, view]))

    def verdict_of(self, signature: int) -> EquationVerdict:
        """Return the verdict that a signature stands for."""
        if signature == OUTSIDE:
            return OutsideLibrary()
        return Inconclusive() if signature == INCONCLUSIVE else Identified(self.support_names(signature))

    def shown(self, views: Sequence[int]) -> ViewTable:
        """Return the table of some views only."""
        part = list(views)
        return self._with(tuple(self.views[v] for v in part), np.s_[:, part])

    def of(self, episodes: Sequence[int] | NDArray[np.int64]) -> ViewTable:
        """Return the table of some episodes only."""
        return self._with(self.views, np.s_[np.asarray(episodes, dtype=np.int64)])

    def _with(self, views: tuple[View, ...], part: object) -> ViewTable:
        arrays = (getattr(self, name)[part] for name in _ARRAYS)
        return ViewTable(views, self.terms, self.supports, *arrays)


_ARRAYS = ("best", "residual", "support", "gap", "condition", "signature")


@dataclass(frozen=True, slots=True)
class Verifier:
    """A weak-form verifier with fixed thresholds.

    Attributes:
        weakform: Library, views, tests and quadrature.
        rule: Thresholds.
    """

    weakform: WeakForm
    rule: Rule = DEFAULT_RULE
    supports: Supports = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "supports", self.weakform.library.supports)

    def assess(self, fields: NDArray[np.float64], *, block: int | None = None) -> ViewTable:
        """Return the table of trajectories, (E, T, N) in; a cell depends on its trajectory, grid and modes only.

        Args:
            fields: Trajectories, (E, T, N).
            block: Trajectories assessed at a time; by default as many as fit into a cache. It changes no verdict.

        Raises:
            InputError: The trajectories have another shape than the weak form, or one of them does not change at all.
        """
        block = block or max(1, min(BLOCK, BLOCK_VALUES // max(1, fields[0].size))) if len(fields) else 1
        parts = [self._block(fields[at : at + block]) for at in range(0, len(fields), block)]
        if not parts:
            raise InputError("there is no trajectory to assess")
        arrays = (np.concatenate([getattr(part, name) for part in parts]) for name in _ARRAYS)
        return ViewTable(self.weakform.views, self.weakform.library.names, self.supports, *arrays)

    def _block(self, fields: NDArray[np.float64]) -> ViewTable:
        rows = self.weakform.rows(fields)
        table = self.table(self.weakform.grams(rows))
        self._refine(rows, table)
        return table

    def table(self, grams: NDArray[np.float64]) -> ViewTable:
        """Return the table of Gram matrices, (E, V, J + 1, J + 1), without recomputing tiny residuals from rows."""
        return table_of(grams, self.weakform.views, self.weakform.library.names, self.supports, self.rule)

    def _refine(self, rows: NDArray[np.float64], table: ViewTable) -> None:
        """Recompute residuals that are too small for a Gram matrix, in place; the arrays are this call's own."""
        for e, v in np.argwhere(table.residual < TINY):
            A, b = self.weakform.system(rows[e : e + 1], int(v))
            table.residual[e, v] = qr_residual(A[0], b[0], self.supports.members[table.support[e, v]])
            table.best[e, v] = min(table.best[e, v], table.residual[e, v])

    def coefficients(self, fields: NDArray[np.float64], table: ViewTable) -> NDArray[np.float64]:
        """Return the least-squares coefficients of the selected supports, (E, V, J), in the terms' own units."""
        grams = self.weakform.grams(self.weakform.rows(fields))
        flat = grams.reshape(-1, *grams.shape[2:])
        found = support_coefficients(flat, self.supports, table.support.reshape(-1))
        return found.reshape(*table.support.shape, -1)


def table_of(
    grams: NDArray[np.float64],
    views: Sequence[View],
    terms: tuple[str, ...],
    supports: Supports,
    rule: Rule = DEFAULT_RULE,
) -> ViewTable:
    """Return what a verifier with this rule says of linear systems, however they came about.

    Args:
        grams: Gram matrices of [A b] per episode and view, (E, V, J + 1, J + 1).
        views: The V views.
        terms: Names of the J columns.
        supports: Supports to search.
        rule: Thresholds.
    """
    shape = grams.shape[:2]
    c = correlations(grams.reshape(-1, *grams.shape[2:]))
    chosen = select(squared_residuals(c, supports), supports, rule)
    condition = condition_numbers(c, supports, chosen.support)
    return ViewTable(
        tuple(views),
        terms,
        supports,
        best=chosen.best.reshape(shape),
        residual=chosen.residual.reshape(shape),
        support=chosen.support.reshape(shape),
        gap=chosen.gap.reshape(shape),
        condition=condition.reshape(shape),
        signature=signatures(chosen, condition, rule).reshape(shape),
    )


def true_signature(library: Library, support: Sequence[int] | None) -> int:
    """Return the signature that is right for a law: its support's index, or `OUTSIDE` where the library lacks a term.

    A law with more terms than the library searches counts as outside: no support that is searched is right.
    """
    if support is None or len(support) > library.largest:
        return OUTSIDE
    return library.supports.index(support)
