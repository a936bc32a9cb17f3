"""The joint model P(y, v_1 .. v_K) of a panel: one table, so that all its marginals agree.

Letters: C classes, K channels, A = C + 1 symbols (the classes, then failure), N items. The table has C A^K cells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.core.seeds import ItemSeed
from counterproof.panel.likelihoods import labelled_rows, smoothed, smoothed_prior
from counterproof.panel.loss import Loss
from counterproof.panel.table import NOT_QUERIED, Channel, Gold, VerdictTable

BASES = ("naive", "tan")
"""Naive Bayes, and the tree-augmented base."""
ALPHAS = (4.0, 16.0, 64.0, 256.0, 1024.0, math.inf)
"""Pseudo-rows of the base that the choice considers; with infinitely many, the counts only shape the base."""
MAX_CELLS = 2**21
"""Above this many cells a joint table is refused: two classes and 13 channels, five classes and 8."""
EDGE_PSEUDO_COUNTS = 4.0
"""Rows of the child's own marginal that each tree edge is shrunk with."""


@dataclass(frozen=True, slots=True, eq=False)
class JointModel:
    """One table over labels and verdicts.

    Attributes:
        channels: The channels, (K).
        classes: Class names, (C).
        table: P(y, v_1 .. v_K), axes (C, A, .., A), sums to 1.
        rows: Rows that stand behind each pattern, axes (A, .., A): count + alpha P0, or n P where alpha is infinite.
        shown: How many symbols of each channel calibration showed, (K).
        base: `naive` or `tan`; any other word for a table that was not fitted.
        alpha: Pseudo-rows of the base.
        n: Calibration rows, or their total weight.
        left_out: Labelled rows that were not used because some channel was not queried.
    """

    channels: tuple[Channel, ...]
    classes: tuple[str, ...]
    table: NDArray[np.float64]
    rows: NDArray[np.float64]
    shown: tuple[int, ...]
    base: str
    alpha: float
    n: float
    left_out: int = 0

    @property
    def alphabet(self) -> int:
        """Number of symbols A: the classes and failure."""
        return len(self.classes) + 1

    @property
    def prior(self) -> NDArray[np.float64]:
        """P(y), (C)."""
        return np.asarray(self.table.reshape(len(self.classes), -1).sum(axis=1))

    def reweighted(self, prior: NDArray[np.float64]) -> JointModel:
        """Return the model with other class shares and the same P(v | y); `rows` stay what was really observed."""
        factor = (np.asarray(prior) / self.prior).reshape(-1, *(1,) * len(self.channels))
        return replace(self, table=self.table * factor)

    def for_loss(self, loss: Loss) -> JointModel:
        """Return the model under which the expected error is the loss: equal classes for `ba`, else unchanged."""
        c = len(self.classes)
        return self.reweighted(np.full(c, 1 / c)) if loss.kind == "ba" else self

    def posterior(self, symbols: NDArray[np.int8]) -> NDArray[np.float64]:
        """Return P(y | the verdicts that were queried), (N, C); rows sum to 1.

        Args:
            symbols: Codes (N, K); `NOT_QUERIED` is summed out.
        """
        out = np.empty((len(symbols), len(self.classes)))
        asked = symbols != NOT_QUERIED
        masks, which = np.unique(asked, axis=0, return_inverse=True)
        for i, mask in enumerate(masks):
            here = np.flatnonzero(which.ravel() == i)
            closed = tuple(1 + j for j in np.flatnonzero(~mask))
            part = self.table.sum(axis=closed) if closed else self.table
            columns = symbols[here][:, mask].astype(np.intp).T
            mass = part[(slice(None), *columns)].T if mask.any() else np.tile(part, (len(here), 1))
            out[here] = mass / mass.sum(axis=1, keepdims=True)
        return out


@dataclass(frozen=True, slots=True)
class Smoothing:
    """One candidate of the choice.

    Attributes:
        base: `naive` or `tan`.
        alpha: Pseudo-rows of the base.
        log_loss: Cross-validated mean of -log P(y | v), nats; lower is better.
    """

    base: str
    alpha: float
    log_loss: float


@dataclass(frozen=True, slots=True, eq=False)
class JointChoice:
    """The model that cross-validation chose, fitted on all rows.

    Attributes:
        model: The model.
        candidates: Every base and alpha with its score, in the order tried.
    """

    model: JointModel
    candidates: tuple[Smoothing, ...]


def check_size(n_classes: int, n_channels: int) -> None:
    """Check that a joint table of this size is sensible.

    Raises:
        InputError: It would have more than `MAX_CELLS` cells.
    """
    cells = n_classes * (n_classes + 1) ** n_channels
    if cells > MAX_CELLS:
        most = int(math.log(MAX_CELLS / n_classes) / math.log(n_classes + 1))
        raise InputError(
            f"a joint table of {n_classes} classes and {n_channels} channels has {cells:,} cells, more than "
            f"{MAX_CELLS:,}: no calibration set fills it; choose at most {most} channels, or use majority, the "
            "weighted vote or Dawid-Skene, which need no joint table"
        )


def fit_joint(
    table: VerdictTable,
    gold: Gold,
    *,
    base: str = "tan",
    alpha: float = 16.0,
    weights: NDArray[np.float64] | None = None,
) -> JointModel:
    """Return the joint model P = (counts + alpha P0) / (n + alpha).

    P0 is naive Bayes (`smoothed` likelihoods, Laplace 1), or a tree: the maximum spanning tree of I(V_i; V_j | Y), its
    edge conditionals shrunk with 4 pseudo-counts towards the child's class-conditional marginal. Channels are handled
    in the order of their names, so that the model does not depend on how the columns are ordered.

    Args:
        table: Calibration verdicts; rows in which a channel was not queried are left out and counted.
        gold: Their labels.
        base: `naive` or `tan`.
        alpha: Pseudo-rows of the base, positive; infinite for the base alone.
        weights: Weight of each row, (N); 1 by default.

    Raises:
        InputError: The table is too large, a class has no complete labelled row, or an argument is out of range.
    """
    if base not in BASES or not alpha > 0:
        raise InputError(f"base '{base}', alpha {alpha}: give one of {', '.join(BASES)} and a positive alpha")
    counts, left_out, order = _sorted_counts(table, gold, weights)
    joint, behind = _mixed(counts, _base(counts, base), alpha)
    back = np.argsort(order)
    shown = (counts.sum(axis=0).sum(axis=_others(counts.ndim - 1, j)) > 0 for j in range(counts.ndim - 1))
    shown_sorted = [int(each.sum()) for each in shown]
    return JointModel(
        channels=table.channels,
        classes=table.classes,
        table=np.ascontiguousarray(joint.transpose(0, *(1 + back))),
        rows=np.ascontiguousarray(behind.transpose(*back)),
        shown=tuple(shown_sorted[j] for j in back),
        base=base,
        alpha=alpha,
        n=float(counts.sum()),
        left_out=left_out,
    )


def choose_joint(
    table: VerdictTable,
    gold: Gold,
    *,
    seed: int = 0,
    folds: int = 5,
    weights: NDArray[np.float64] | None = None,
) -> JointChoice:
    """Return the model whose base and alpha have the lowest cross-validated log loss of y given v.

    Folds are whole clusters in an order keyed by the seed and the cluster, so row order does not matter. Of equal
    scores the first in `BASES` x `ALPHAS` wins.

    Args:
        table: Calibration verdicts.
        gold: Their labels.
        seed: Keys the folds.
        folds: How many; at most one per cluster.
        weights: Weight of each row, (N); 1 by default.

    Raises:
        InputError: As `fit_joint`, or all usable rows are of one cluster.
    """
    fold = cluster_folds(table.clusters, folds, seed)
    labels, weight = labelled_rows(table, gold, weights)
    parts = [
        _sorted_counts(table, Gold(np.where(fold == f, labels, -1).astype(np.int8)), weight, check=False)[0]
        for f in range(int(fold.max()) + 1)
    ]
    whole = np.sum(parts, axis=0)
    _check_classes(whole, table.classes)
    if any(np.array_equal(part, whole) for part in parts):
        raise InputError(
            "all rows with a verdict of every channel are of one fold; cross-validation needs more clusters"
        )
    losses = {(base, alpha): 0.0 for base in BASES for alpha in ALPHAS}
    for part in parts:
        train = whole - part
        for base in BASES:
            prepared = _base(train, base)
            for alpha in ALPHAS:
                mass = _mixed(train, prepared, alpha)[0]
                posterior = mass / mass.sum(axis=0)
                filled = part > 0
                losses[base, alpha] -= float(part[filled] @ np.log(posterior[filled]))
    candidates = tuple(Smoothing(base, alpha, float(loss / whole.sum())) for (base, alpha), loss in losses.items())
    best = min(candidates, key=lambda one: round(one.log_loss, 12))
    return JointChoice(fit_joint(table, gold, base=best.base, alpha=best.alpha, weights=weights), candidates)


def cluster_folds(clusters: Sequence[str], folds: int, seed: int) -> NDArray[np.intp]:
    """Return the fold of each item, (N): clusters in an order keyed by seed and cluster are dealt out in turn.

    Raises:
        InputError: There are fewer than two folds or two clusters.
    """
    names = sorted(set(clusters))
    if folds < 2 or len(names) < 2:
        raise InputError(f"{folds} folds over {len(names)} clusters: cross-validation needs at least two of each")
    dealt = sorted(names, key=lambda name: (ItemSeed(seed, name).child("fold").integer(), name))
    of = {name: i % folds for i, name in enumerate(dealt)}
    return np.array([of[name] for name in clusters], dtype=np.intp)


def _sorted_counts(
    table: VerdictTable, gold: Gold, weights: NDArray[np.float64] | None, *, check: bool = True
) -> tuple[NDArray[np.float64], int, NDArray[np.intp]]:
    """Return counts (C, A, .., A) with channels sorted by name, the number of rows left out, and that order."""
    c, k = len(table.classes), len(table.channels)
    check_size(c, k)
    names = [channel.name for channel in table.channels]
    order = np.array(sorted(range(k), key=names.__getitem__), dtype=np.intp)
    labels, weight = (
        labelled_rows(table, gold, weights) if check else (gold.labels.astype(np.int64), np.asarray(weights))
    )
    whole = (table.symbols != NOT_QUERIED).all(axis=1)
    used = whole & (labels >= 0)
    cells = labels[used]
    for j in order:
        cells = cells * (c + 1) + table.symbols[used, j]
    counts = np.bincount(cells, weights=weight[used], minlength=c * (c + 1) ** k).astype(np.float64)
    counts = counts.reshape(c, *(c + 1,) * k)
    if check:
        _check_classes(counts, table.classes)
    return counts, int(((labels >= 0) & ~whole).sum()), order


def _check_classes(counts: NDArray[np.float64], classes: Sequence[str]) -> None:
    absent = [name for name, n in zip(classes, counts.reshape(len(classes), -1).sum(axis=1), strict=True) if not n]
    if absent:
        raise InputError(
            f"no labelled row of class {', '.join(absent)} has a verdict of every channel; a joint model needs "
            "complete rows: choose fewer channels"
        )


def _mixed(
    counts: NDArray[np.float64], base: NDArray[np.float64], alpha: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    n = counts.sum()
    if math.isinf(alpha):
        return base, n * base.sum(axis=0)
    behind = counts + alpha * base
    return behind / (n + alpha), behind.sum(axis=0)


def _base(counts: NDArray[np.float64], kind: str) -> NDArray[np.float64]:
    """Return P0 (C, A, .., A), sums to 1."""
    k = counts.ndim - 1
    prior = smoothed_prior(counts.reshape(len(counts), -1).sum(axis=1))
    singles = [counts.sum(axis=_others(k, j, first=1)) for j in range(k)]
    parents = _tree(counts, singles) if kind == "tan" else [-1] * k
    out = prior.reshape(-1, *(1,) * k)
    for j, parent in enumerate(parents):
        factor = smoothed(singles[j])
        if parent >= 0:
            factor = _edge(_pair(counts, parent, j), factor)
            factor = factor if parent < j else factor.transpose(0, 2, 1)
        spread = [len(prior), *(counts.shape[1] if i in (j, parent) else 1 for i in range(k))]
        out = out * factor.reshape(spread)
    return np.asarray(out / out.sum())


def _edge(pair: NDArray[np.float64], marginal: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return P(child | parent, y), (C, A, A), from counts (C, parent, child) and the child's P(v | y), (C, A).

    A symbol that the child never showed keeps its class-free probability: it must not become evidence here either.
    """
    shown = pair.sum(axis=(0, 1)) > 0
    share = marginal[0, shown].sum()
    seen = (share * pair + EDGE_PSEUDO_COUNTS * marginal[:, None, :]) / (
        pair.sum(axis=2, keepdims=True) + EDGE_PSEUDO_COUNTS
    )
    return np.where(shown, seen, marginal[:, None, :])


def _tree(counts: NDArray[np.float64], singles: Sequence[NDArray[np.float64]]) -> list[int]:
    """Return the parent of each channel in the tree, -1 for the root: the channel that tells most about y.

    Kruskal on I(V_i; V_j | Y); of edges equal to twelve decimals the first by name comes first.
    """
    k = len(singles)
    weights = {(i, j): round(_conditional(_pair(counts, i, j)), 12) for i in range(k) for j in range(i + 1, k)}
    group = list(range(k))
    near: list[list[int]] = [[] for _ in range(k)]
    for i, j in sorted(weights, key=lambda edge: (-weights[edge], edge)):
        if group[i] != group[j]:
            near[i].append(j)
            near[j].append(i)
            group = [group[i] if each == group[j] else each for each in group]
    root = min(range(k), key=lambda j: (-round(_conditional(singles[j][None]), 12), j))
    parents, stack = [-1] * k, [root]
    while stack:
        here = stack.pop()
        for there in near[here]:
            if there != parents[here]:
                parents[there] = here
                stack.append(there)
    return parents


def _conditional(counts: NDArray[np.float64]) -> float:
    """Return I(rows; columns | slice) in nats, from counts (slices, rows, columns)."""
    p = counts / counts.sum()
    both = p.sum(axis=2, keepdims=True) * p.sum(axis=1, keepdims=True)
    filled = p > 0
    scaled = (p * p.sum(axis=(1, 2), keepdims=True))[filled] / both[filled]
    return float(p[filled] @ np.log(scaled))


def _pair(counts: NDArray[np.float64], i: int, j: int) -> NDArray[np.float64]:
    """Return counts (C, A of i, A of j)."""
    k = counts.ndim - 1
    pair = counts.sum(axis=tuple(1 + other for other in range(k) if other not in (i, j)))
    return np.asarray(pair if i < j else pair.transpose(0, 2, 1))


def _others(k: int, j: int, first: int = 0) -> tuple[int, ...]:
    return tuple(first + i for i in range(k) if i != j)
