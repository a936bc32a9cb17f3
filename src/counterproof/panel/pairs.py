"""Tables of gold label and two verdicts for all pairs of channels at once, and what is measured on them.

Axes: P pairs, C classes, D profiles (clusters with the same rows), B bootstrap replicates, M measures. A pair's table
(C, C, C) is indexed [gold, verdict of a, verdict of b] and counts the items on which both channels gave a class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from counterproof.panel.patterns import encode
from counterproof.stats import (
    cluster_weights,
    cohen_kappa,
    pair_information,
    phi,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = NDArray[np.float64]
SHARES = ("error_overlap", "disagreement")
INFORMATION = ("mutual_information", "conditional_information", "gain_b_given_a", "gain_a_given_b")
MEASURES = (*SHARES, "excess_overlap", "jaccard", "error_phi", "verdict_phi", "kappa", *INFORMATION)
"""Order of the measures on the last axis of `pair_measures`."""
DENSE = 1 << 24
"""Cells up to which profiles x table cells are held as a plain matrix; above, as a sparse one."""


@dataclass(frozen=True, slots=True, eq=False)
class PairTables:
    """The rows of all clusters, as counts.

    Attributes:
        pairs: Channel indices (a, b), a < b, (P, 2).
        classes: C.
        profile: Profile of each cluster, (Q).
        often: Clusters of each profile, (D).
        cells: Counts of each profile, sparse (D, P C C C).
        singletons: Whether no cluster has more than one item.
    """

    pairs: NDArray[np.intp]
    classes: int
    profile: NDArray[np.intp]
    often: NDArray[np.int64]
    cells: csr_array
    singletons: bool

    @property
    def totals(self) -> Array:
        """Counts over all clusters, (P, C, C, C)."""
        return self.shaped(np.asarray(self.cells.T @ self.often.astype(np.float64)))

    def shaped(self, flat: Array) -> Array:
        """Return (..., P C C C) as (..., P, C, C, C)."""
        c = self.classes
        return np.asarray(flat, dtype=np.float64).reshape(*flat.shape[:-1], -1, c, c, c)

    def some(self, part: slice) -> PairTables:
        """Return the tables of some pairs, over the same clusters."""
        size = self.classes**3
        start, stop, _ = part.indices(len(self.pairs))
        return replace(self, pairs=self.pairs[part], cells=self.cells[:, start * size : stop * size])

    def per_cluster(self) -> Array:
        """Return the counts of every cluster, (Q, P, C, C, C): for few clusters only."""
        return self.shaped(self.cells.toarray()[self.profile])


def pair_tables(
    symbols: NDArray[np.int8], labels: NDArray[np.int8], clusters: NDArray[np.intp], classes: int
) -> PairTables:
    """Return the tables of all pairs of channels, from one pass over the distinct rows.

    Clusters with the same multiset of rows become one profile, so that a million items of one row each are a few
    hundred. They are told apart by the sum of random 64-bit numbers, one a distinct row; two different profiles are
    taken for one with probability D^2/2^65.

    Args:
        symbols: Codes, (N, K).
        labels: Gold class of each item, (N); an item without one (-1) counts for its cluster only.
        clusters: Cluster number of each item, 0 .. Q-1, (N).
        classes: C.
    """
    rows = encode(np.concatenate([labels[:, None], symbols], axis=1))
    profile = _profiles(rows.inverse, len(rows), clusters)
    pairs = np.array(list(combinations(range(symbols.shape[1]), 2)), dtype=np.intp).reshape(-1, 2)
    from scipy.sparse import csr_array

    # One cluster stands for all of its profile.
    stands = np.zeros(len(profile), dtype=np.bool_)
    stands[np.unique(profile, return_index=True)[1]] = True
    inside = stands[clusters]
    shape = (int(profile.max()) + 1, len(rows))
    made_of = csr_array((np.ones(int(inside.sum())), (profile[clusters[inside]], rows.inverse[inside])), shape=shape)
    cells = csr_array(made_of @ _row_cells(rows.rows, pairs, classes))
    singletons = len(clusters) == len(profile)
    return PairTables(pairs, classes, profile, np.bincount(profile).astype(np.int64), cells, singletons)


def pair_measures(tables: Array) -> Array:
    """Return every measure of `MEASURES` on tables (..., C, C, C), as (..., M); NaN where a table defines none.

    With E an error, over the items of the table:

        error_overlap    P(E_a E_b)                    disagreement   P(A != B)
        excess_overlap   P(E_a E_b) - P(E_a) P(E_b)    jaccard        P(E_a E_b)/P(E_a or E_b)
        error_phi        correlation of E_a and E_b    verdict_phi    correlation of A and B (R_K beyond two classes)
        kappa            Cohen's, of A and B           mutual_information, conditional_information   I(A;B), I(A;B|Y)
        gain_b_given_a   CMG(b|a) = I(Y;B|A)           gain_a_given_b CMG(a|b) = I(Y;A|B); information in bits
    """
    c = tables.shape[-1]
    over_gold = np.tile(np.eye(c * c), (c, 1))
    verdicts = (tables.reshape(*tables.shape[:-3], c**3) @ over_gold).reshape(*tables.shape[:-3], c, c)
    errors = error_tables(tables)
    both, only_a, only_b = errors[..., 1, 1], errors[..., 1, 0], errors[..., 0, 1]
    first, second, either = both + only_a, both + only_b, both + only_a + only_b
    n = either + errors[..., 0, 0]
    same = sum(verdicts[..., i, i] for i in range(c))
    overlap = _share(both, n)
    measures = (
        overlap,
        _share(n - same, n),
        overlap - _share(first, n) * _share(second, n),
        _share(both, either),
        phi(errors),
        phi(verdicts),
        cohen_kappa(verdicts),
    )
    return np.concatenate([np.stack(measures, axis=-1), pair_information(tables)], axis=-1)


def error_tables(tables: Array) -> Array:
    """Return counts [a errs, b errs] (..., 2, 2) of tables (..., C, C, C)."""
    c = tables.shape[-1]
    gold, first, second = np.indices((c, c, c)).reshape(3, -1)
    belongs = (2 * (first != gold) + (second != gold))[:, None] == np.arange(4)
    flat = tables.reshape(*tables.shape[:-3], c**3) @ belongs.astype(np.float64)
    return np.asarray(flat.reshape(*tables.shape[:-3], 2, 2), dtype=np.float64)


def resampled_measures(tables: PairTables, *, rng: np.random.Generator, replicates: int) -> Array:
    """Return every measure of every pair in each bootstrap replicate of clusters, (B, P, M).

    Replicates go in blocks: how often each profile was drawn, one matrix product to all tables, all measures.
    """
    dense = tables.cells.shape[0] * tables.cells.shape[1] <= DENSE
    cells = tables.cells.toarray() if dense else tables.cells
    result = np.empty((replicates, len(tables.pairs), len(MEASURES)))
    block = max(1, (1 << 18) // max(1, cells.shape[1])) * int(tables.often.sum())
    for rows, weights in cluster_weights(tables.profile, rng=rng, replicates=replicates, block=min(block, 1 << 18)):
        result[rows] = pair_measures(tables.shaped(weights @ cells))
    return result


def _profiles(rows: NDArray[np.intp], distinct: int, clusters: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the profile of each cluster, numbered in the order in which they first occur."""
    marks = np.random.Generator(np.random.PCG64(0)).integers(0, 2**64, size=distinct, dtype=np.uint64)
    sums = np.zeros(int(clusters.max()) + 1, dtype=np.uint64)
    np.add.at(sums, clusters, marks[rows])
    _, first, inverse = np.unique(sums, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.intp)
    number[np.argsort(first)] = np.arange(len(first))
    profile: NDArray[np.intp] = number[inverse]
    return profile


def _row_cells(rows: NDArray[np.int8], pairs: NDArray[np.intp], classes: int) -> csr_array:
    from scipy.sparse import csr_array

    labels, symbols = rows[:, 0].astype(np.intp), rows[:, 1:].astype(np.intp)
    a, b = symbols[:, pairs[:, 0]], symbols[:, pairs[:, 1]]
    known = (a >= 0) & (a < classes) & (b >= 0) & (b < classes) & (labels >= 0)[:, None]
    at, pair = np.nonzero(known)
    cell = pair * classes**3 + labels[at] * classes**2 + a[known] * classes + b[known]
    return csr_array((np.ones(len(at)), (at, cell)), shape=(len(rows), len(pairs) * classes**3))


def _share(count: Array, of: Array) -> Array:
    over = np.asarray(of, dtype=np.float64)
    share: Array = np.divide(count, over, out=np.full(over.shape, np.nan), where=over > 0)
    return share
