"""A score that does not pay for a worse measurement: evidence counts only beyond the view's own quadrature error."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.equations.discrepancies import nominal_discrepancies, own_discrepancies
from counterproof.equations.scores import PUBLIC_SCORE, ScoreRule
from counterproof.equations.verdicts import DEFAULT_RULE, INCONCLUSIVE, OUTSIDE, Rule
from counterproof.equations.verifier import Verifier, ViewTable
from counterproof.equations.weakform import build_weakform


def measurement_error(
    verifier: Verifier,
    times: NDArray[np.float64],
    fields: NDArray[np.float64],
    table: ViewTable,
    other_rule: str = "trapezoid",
) -> NDArray[np.float64]:
    """Return e >= 0, (E, V): how much of a residual the quadrature of a view can make, as far as the view itself shows.

    The larger of two sums of target and design discrepancy: that of the verifier's rule against another one on the same
    samples, which sees the data; and the nominal one, which needs none and so cannot be hidden by choosing samples at
    which both rules err alike (five samples see a mode of order four as zero).

    Args:
        verifier: The verifier that made the table.
        times: Stored times.
        fields: Trajectories, (E, T, N).
        table: The verifier's table.
        other_rule: The other rule.
    """
    w = verifier.weakform
    other = build_weakform(times, w.library, w.tests, w.views, other_rule)
    own = own_discrepancies(w, other, fields, table)
    nominal = nominal_discrepancies(w.views, w.quadrature)
    return np.maximum(own.target + own.design, nominal.target + nominal.design)


def guarded_signatures(table: ViewTable, error: NDArray[np.float64], rule: Rule = DEFAULT_RULE) -> NDArray[np.int64]:
    """Return the signatures that survive the worst case of an error e, (E, V): demotion only.

    A rejection stands where r_best - e >= tau, an identification where r + e <= tau and gap - e >= gamma: both are
    what the verifier's own thresholds ask of the residual nearest to the wrong side that e allows.
    """
    _check(table, error)
    rejected = (table.signature == OUTSIDE) & (table.best - error >= rule.tau)
    identified = (table.signature >= 0) & (table.residual + error <= rule.tau) & (table.gap - error >= rule.gamma)
    return np.where(rejected | identified, table.signature, INCONCLUSIVE)


def guarded_scores(
    table: ViewTable, error: NDArray[np.float64], rule: Rule = DEFAULT_RULE, score: ScoreRule = PUBLIC_SCORE
) -> NDArray[np.float64]:
    """Return a score that never rises with the error of the measurement, (E, V).

    It is the public score with r_best - e in place of r_best and gap - e in place of the gap, paid only for verdicts of
    `guarded_signatures`; anything else scores as inconclusive. At equal residuals, gap and condition number a larger e
    never scores more.

    Args:
        table: The verifier's table.
        error: Error of every cell, at least 0, (E, V), for example from `measurement_error`.
        rule: The verifier's thresholds.
        score: Scales and weights.

    Raises:
        InputError: The error has another shape or is negative.
    """
    signature = guarded_signatures(table, error, rule)
    rejection = np.minimum(score.most_residual, (table.best - error) / score.s_r)
    identification = np.minimum(score.most_gap, (table.gap - error) / score.s_g)
    paid = score.definitive + np.where(signature == OUTSIDE, rejection, identification)
    return np.where(signature == INCONCLUSIVE, 0.0, paid) - score.weight * np.log10(table.condition)


def guarded_choice(
    table: ViewTable, error: NDArray[np.float64], rule: Rule = DEFAULT_RULE, score: ScoreRule = PUBLIC_SCORE
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the view that maximises the guarded score and the verdict that it then emits, each (E,)."""
    choice = np.argmax(guarded_scores(table, error, rule, score), axis=1)
    return choice, guarded_signatures(table, error, rule)[np.arange(len(table)), choice]


def _check(table: ViewTable, error: NDArray[np.float64]) -> None:
    if error.shape != table.best.shape or not (error >= 0).all():
        raise InputError(f"errors of shape {error.shape} for cells {table.best.shape}; give numbers of at least 0")
