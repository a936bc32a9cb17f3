"""Public scores of a verdict, and the policy that maximises one over the permitted views."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.equations.verdicts import INCONCLUSIVE, OUTSIDE
from counterproof.equations.verifier import ViewTable


@dataclass(frozen=True, slots=True)
class ScoreRule:
    """The public score of a verdict; higher is better for whoever chooses the view.

        OUTSIDE       10 + min(4, r_best/s_r) - w log10(cond)
        IDENTIFIED    10 + min(1, gap/s_g)    - w log10(cond)
        INCONCLUSIVE                          - w log10(cond)

    Attributes:
        s_r: Residual that earns one point.
        s_g: Gap that earns one point.
        weight: Price w of a decade of the condition number.
        definitive: Points for any definitive verdict.
        most_residual: Most points for the residual of a rejection.
        most_gap: Most points for the gap of an identification.

    Raises:
        InputError: A scale is not positive.
    """

    s_r: float = 0.25
    s_g: float = 0.5
    weight: float = 0.2
    definitive: float = 10.0
    most_residual: float = 4.0
    most_gap: float = 1.0

    def __post_init__(self) -> None:
        if self.s_r <= 0 or self.s_g <= 0:
            raise InputError(f"scales s_r = {self.s_r}, s_g = {self.s_g}; give positive numbers")


PUBLIC_SCORE = ScoreRule()


def scores(table: ViewTable, rule: ScoreRule = PUBLIC_SCORE) -> NDArray[np.float64]:
    """Return the public score of every cell, (E, V)."""
    outside, open_ = table.signature == OUTSIDE, table.signature == INCONCLUSIVE
    rejection = np.minimum(rule.most_residual, table.best / rule.s_r)
    identification = np.minimum(rule.most_gap, table.gap / rule.s_g)
    paid = rule.definitive + np.where(outside, rejection, identification)
    return np.where(open_, 0.0, paid) - rule.weight * np.log10(table.condition)


def score_max(table: ViewTable, rule: ScoreRule = PUBLIC_SCORE) -> NDArray[np.int64]:
    """Return the view with the highest score of each episode, (E,); the first one on ties."""
    choice: NDArray[np.int64] = np.argmax(scores(table, rule), axis=1)
    return choice


def chosen_signatures(table: ViewTable, choice: NDArray[np.int64] | int) -> NDArray[np.int64]:
    """Return the signature at a chosen view, one for all episodes or one each, (E,)."""
    places = np.broadcast_to(np.asarray(choice), len(table))
    found: NDArray[np.int64] = table.signature[np.arange(len(table)), places]
    return found


@dataclass(frozen=True, slots=True)
class Counts:
    """How many episodes a policy gets right, gets wrong (definitive and not the truth), and leaves open."""

    correct: int
    wrong: int
    inconclusive: int

    @property
    def coverage(self) -> float:
        """Share of episodes with a definitive verdict."""
        return 1.0 - self.inconclusive / (self.correct + self.wrong + self.inconclusive)


def count(emitted: NDArray[np.int64], truth: NDArray[np.int64]) -> Counts:
    """Return the counts of emitted signatures against true ones, both (E,)."""
    open_, right = emitted == INCONCLUSIVE, emitted == truth
    return Counts(int(right.sum()), int((~right & ~open_).sum()), int(open_.sum()))


@dataclass(frozen=True, slots=True)
class Retuning:
    """Wrong verdicts of score-max under other scales.

    Attributes:
        s_r: Scales tried for the residual, (A,).
        s_g: Scales tried for the gap, (B,).
        wrong: Wrong verdicts, (A, B).
    """

    s_r: NDArray[np.float64]
    s_g: NDArray[np.float64]
    wrong: NDArray[np.int64]

    @property
    def best(self) -> tuple[float, float, int]:
        """The first pair of scales with the fewest wrong verdicts, and that number."""
        a, b = np.unravel_index(int(self.wrong.argmin()), self.wrong.shape)
        return float(self.s_r[a]), float(self.s_g[b]), int(self.wrong[a, b])


def retune(table: ViewTable, truth: NDArray[np.int64], rule: ScoreRule = PUBLIC_SCORE, *, steps: int = 21) -> Retuning:
    """Return the wrong verdicts of score-max on a grid of scales, s_r in [.05, 500] and s_g in [.005, 50], log spaced.

    Args:
        table: Verdicts on the permitted views.
        truth: True signatures, (E,).
        rule: All other numbers of the score.
        steps: Scales along each axis.
    """
    s_r, s_g = np.geomspace(0.05, 500, steps), np.geomspace(0.005, 50, steps)
    outside, open_ = table.signature == OUTSIDE, table.signature == INCONCLUSIVE
    wrong_cell = (table.signature != truth[:, None]) & ~open_
    penalty = rule.weight * np.log10(table.condition)
    wrong = np.empty((steps, steps), dtype=np.int64)
    for a, scale in enumerate(s_r):
        rejection = np.minimum(rule.most_residual, table.best / scale)
        identification = np.minimum(rule.most_gap, table.gap / s_g[:, None, None])
        paid = np.where(open_, 0.0, rule.definitive + np.where(outside, rejection, identification)) - penalty
        choice = paid.argmax(axis=2)
        wrong[a] = np.take_along_axis(wrong_cell[None], choice[..., None], axis=2).sum(axis=(1, 2))
    return Retuning(s_r, s_g, wrong)
