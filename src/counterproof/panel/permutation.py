"""Are channels wrong together beyond what the class explains? One permutation test over all pairs."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterproof.core.outcomes import NotApplicable
from counterproof.stats import max_t

Array = NDArray[np.float64]
MOST = 400_000_000
"""Permutations x items x channels above which the test is left out: the G-test with Holm's adjustment stands."""


@dataclass(frozen=True, slots=True, eq=False)
class PermutationTest:
    """The test of all pairs.

    Attributes:
        z: Stratified score of each pair, positive when wrong together more often than independence gives, (P).
        p_value: Adjusted over pairs by the permutation maximum of abs(z), (P); 1 where z is not defined (0).
        movable: Share of clusters that have another to change places with; far below 1 the test has little power.
        permutations: Draws, B.
    """

    z: Array
    p_value: Array
    movable: float
    permutations: int


def permutation_test(
    errors: Array,
    known: NDArray[np.bool_],
    labels: NDArray[np.int8],
    clusters: NDArray[np.intp],
    *,
    rng: np.random.Generator,
    permutations: int,
) -> PermutationTest | NotApplicable:
    """Return the permutation max-T test that errors of two channels are independent within each class.

        z = sum_y (n11 - r1 c1/n) / sqrt( sum_y r1 c1 (n - r1)(n - c1)/(n^2 (n - 1)) )

    over items on which both channels gave a verdict, y the gold class. Each channel's errors, with the places where it
    has none, are permuted on their own: whole clusters change places with clusters of the same number of items of each
    class, so that what rows of a cluster share stays together.

    Args:
        errors: 1 where the channel is wrong, 0 elsewhere, (N, K).
        known: Whether the channel gave a verdict, (N, K).
        labels: Gold class, (N).
        clusters: Cluster numbers, (N).
        rng: Source of the permutations.
        permutations: B; 0 leaves the test out.

    Returns:
        The test, or `NotApplicable`: left out, too large, or no two clusters can change places.

    Source:
        `max_t`; the score: Mantel and Haenszel 1959, doi:10.1093/jnci/22.4.719.
    """
    n, k = errors.shape
    if not permutations:
        return NotApplicable("left-out: no permutations were asked for")
    if permutations * n * k > MOST:
        return NotApplicable(f"too-large: {n} items; the G-test with Holm's adjustment stands")
    blocks = _exchangeable(labels, clusters)
    moved = sum(len(block) for block in blocks if len(block) > 1)
    if not moved:
        return NotApplicable("no-exchange: no two clusters have the same number of items of each class")
    upper = np.triu_indices(k, 1)
    strata = [np.flatnonzero(labels == y) for y in np.unique(labels).tolist()]
    observed = _scores(errors, known, strata)[upper]
    null = np.empty((permutations, len(observed)))
    for draw in range(permutations):
        shuffled, valid = errors.copy(), known.copy()
        for j in range(k):
            source = _shuffled(n, blocks, rng)
            shuffled[:, j], valid[:, j] = errors[source, j], known[source, j]
        null[draw] = np.abs(_scores(shuffled, valid, strata)[upper])
    share = moved / sum(len(block) for block in blocks)
    return PermutationTest(observed, max_t(np.abs(observed), null), share, permutations)


def _exchangeable(labels: NDArray[np.int8], clusters: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Return blocks of item indices (clusters, items of each): rows of a block may change places; classes line up."""
    order = np.lexsort((labels, clusters))
    starts = np.flatnonzero(np.r_[True, np.diff(clusters[order]) > 0])
    groups: dict[bytes, list[NDArray[np.intp]]] = defaultdict(list)
    for members in np.split(order, starts[1:]):
        groups[labels[members].tobytes()].append(members)
    return [np.stack(members) for members in groups.values()]


def _shuffled(n: int, blocks: list[NDArray[np.intp]], rng: np.random.Generator) -> NDArray[np.intp]:
    source = np.empty(n, dtype=np.intp)
    for block in blocks:
        source[block] = block[rng.permutation(len(block))]
    return source


def _scores(errors: Array, known: NDArray[np.bool_], strata: list[NDArray[np.intp]]) -> Array:
    above = spread = np.zeros((errors.shape[1], errors.shape[1]))
    for rows in strata:
        wrong, valid = errors[rows], known[rows].astype(np.float64)
        both, first, n = wrong.T @ wrong, wrong.T @ valid, valid.T @ valid
        second, at_least = first.T, np.maximum(n, 2.0)
        above = above + np.where(n > 1, both - first * second / at_least, 0.0)
        product = first * second * (n - first) * (n - second)
        spread = spread + np.where(n > 1, product / (at_least**2 * (at_least - 1)), 0.0)
    scores: Array = np.divide(above, np.sqrt(spread), out=np.zeros_like(above), where=spread > 1e-12)
    return scores
