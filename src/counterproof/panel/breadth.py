"""Breadth or redundancy: many items judged once, or fewer judged several times, for the same number of calls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.core.findings import Interval
from counterproof.core.outcomes import NotApplicable
from counterproof.panel.closed_forms import exact_stop_calls, majority_acceptance, majority_accuracy
from counterproof.panel.majority import SLACK, THRESHOLD
from counterproof.panel.measured import Measured, cluster_sums, resampled_profiles
from counterproof.panel.table import NOT_QUERIED, Gold, VerdictTable
from counterproof.stats import percentile_interval

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PerItem:
    """What a way of spending does to one verified item, on average.

    Attributes:
        calls: Calls that it takes.
        right: P(accepted and right).
        wrong: P(accepted and wrong).
        balanced_accuracy: Of the forced label, accepted or not.
    """

    calls: float
    right: float
    wrong: float
    balanced_accuracy: float


@dataclass(frozen=True, slots=True)
class Spending:
    """What C calls buy from a pool of C items.

    Attributes:
        name: `breadth`, `majority-k` or `exact-stop-k`.
        verified: Items judged.
        accepted: Of these, accepted.
        wrong: Of these, wrong.
        pool_ba: Balanced accuracy over the whole pool, unverified items by coin. Breadth tends to win it; it says
            nothing about what was accepted, so never report it alone.
    """

    name: str
    verified: float
    accepted: float
    wrong: float
    pool_ba: float


@dataclass(frozen=True, slots=True)
class Breadth:
    """The comparison at equal calls.

    Attributes:
        calls: C.
        k: Calls an item under redundancy.
        ways: Breadth, the majority of k, and exact stopping, which takes fewer calls for the same label.
        break_even: Cost c of a wrong accept, in right accepts, above which the majority of k is worth more than
            breadth: sum of right - c wrong is equal there. `NotApplicable` where redundancy avoids no wrong accept.
    """

    calls: int
    k: int
    ways: tuple[Spending, ...]
    break_even: Measured


def closed_form(k: int, error: float, *, copy_gate: float = 0.0, threshold: float = THRESHOLD) -> tuple[PerItem, ...]:
    """Return breadth, majority of k and exact stopping on exchangeable channels of one error rate, per item.

    With probability `copy_gate` (s) all channels of an item repeat the first; otherwise they are independent:

        P(accepted and right) = (1 - s) P(Bin(k, error) <= k - a) + s (1 - error),  a = least votes of the threshold

    and so on. Exact stopping takes q = floor(k/2) + 1 calls on a copied item, and accepts every label that it settles.

    Args:
        k: Calls an item, odd.
        error: P(a verdict is wrong), in [0, 1].
        copy_gate: s, in [0, 1].
        threshold: Least agreement to accept, above a half and at most 1.

    Raises:
        InputError: An argument is out of its range.
    """
    if k < 1 or k % 2 == 0 or not (0 <= error <= 1 and 0 <= copy_gate <= 1 and 0.5 < threshold <= 1):
        raise InputError(
            f"k={k}, error={error}, copy gate={copy_gate}, threshold={threshold}: k is odd, the others are shares and "
            "the threshold is above a half"
        )
    found = majority_acceptance(error, k, threshold=threshold, copied=copy_gate)
    decided = (1 - copy_gate) * majority_accuracy(error, k) + copy_gate * (1 - error)
    stop = (1 - copy_gate) * exact_stop_calls(error, k) + copy_gate * (k // 2 + 1)
    return (
        PerItem(1.0, 1 - error, error, 1 - error),
        PerItem(float(k), found.right, found.coverage - found.right, decided),
        PerItem(stop, decided, 1 - decided, decided),
    )


def break_even(breadth: PerItem, redundancy: PerItem) -> float | NotApplicable:
    """Return the cost of a wrong accept, in right accepts, at which both are worth the same per call.

    c = (R1/n1 - Rk/nk)/(W1/n1 - Wk/nk),   R, W = P(accepted and right, wrong) per item, n = calls an item
    """
    fewer_right = breadth.right / breadth.calls - redundancy.right / redundancy.calls
    fewer_wrong = breadth.wrong / breadth.calls - redundancy.wrong / redundancy.calls
    if fewer_wrong <= 0:
        return NotApplicable("no-fewer-wrong: redundancy avoids no wrong accept per call")
    return fewer_right / fewer_wrong


def spend(items: tuple[PerItem, ...], calls: int, k: int, *, classes: int = 2) -> tuple[Spending, ...]:
    """Return what `calls` calls buy each way, in the order of `closed_form`; an unverified item is right 1/classes."""
    names = ("breadth", f"majority-{k}", f"exact-stop-{k}")
    found = []
    for name, item in zip(names, items, strict=True):
        verified = calls / item.calls
        share = verified / calls
        pool = share * item.balanced_accuracy + (1 - share) / classes
        found.append(Spending(name, verified, verified * (item.right + item.wrong), verified * item.wrong, pool))
    return tuple(found)


def breadth_on_table(
    table: VerdictTable,
    gold: Gold,
    calls: int,
    *,
    rng: np.random.Generator,
    threshold: float = THRESHOLD,
    level: float = 0.95,
    replicates: int = 10_000,
) -> Breadth:
    """Return the comparison on logged verdicts of the k channels of a table, in their order.

    Rates per item are those of the labelled items on which all k were asked. Breadth asks one of the k at random (the
    mean over them), and accepts any verdict. A majority keeps failures in its denominator, and is settled by a coin,
    without acceptance, on a tie. Exact stopping asks in order until the lead exceeds the calls left. Intervals are
    bootstrap percentiles over clusters.

    Args:
        table: Verdicts of the k channels (`VerdictTable.columns` chooses them).
        gold: Labels.
        calls: C, at least 1.
        rng: Source of the bootstrap's draws.
        threshold: Least agreement to accept, above a half and at most 1.
        level: Confidence level.
        replicates: Bootstrap replicates.

    Raises:
        InputError: No labelled item has a call of every channel, some class has none, or an argument is out of range.
    """
    if calls < 1 or not 0.5 < threshold <= 1:
        raise InputError(f"{calls} calls and a threshold of {threshold}; give at least 1 and a share above a half")
    rows = np.flatnonzero((gold.labels >= 0) & (table.symbols != NOT_QUERIED).all(axis=1))
    labels = gold.labels[rows].astype(np.intp)
    classes, k = len(table.classes), len(table.channels)
    if len(np.unique(labels)) < classes:
        raise InputError("some class has no labelled item with a call of every channel; compare on items of each class")
    rates = _rates(table.symbols[rows], labels, classes, threshold)
    weights = np.stack([labels == c for c in range(classes)], axis=1) / np.bincount(labels, minlength=classes) / classes
    items = tuple(
        PerItem(
            float(calls_.mean()),
            float(right.mean()),
            float(wrong.mean()),
            float((weights * forced[:, None]).sum()),
        )
        for calls_, right, wrong, forced in rates
    )
    return Breadth(
        calls, k, spend(items, calls, k, classes=classes), _break_even(table, rows, rates, k, level, rng, replicates)
    )


def _rates(
    symbols: NDArray[np.int8], labels: NDArray[np.intp], classes: int, threshold: float
) -> tuple[tuple[Array, Array, Array, Array], ...]:
    """Return per item calls, accepted and right, accepted and wrong, forced label right: for each way of spending."""
    n, k = symbols.shape
    hit, given = symbols == labels[:, None], symbols < classes
    single = (
        np.ones(n),
        hit.mean(axis=1),
        (given & ~hit).mean(axis=1),
        hit.mean(axis=1) + (~given).mean(axis=1) / classes,
    )
    votes = np.stack([(symbols == c).sum(axis=1) for c in range(classes)], axis=1)
    right, wrong, forced = _voted(votes, labels, votes.max(axis=1) >= threshold * k - SLACK)
    calls = np.full(n, k)
    for asked in range(k - 1, 0, -1):
        so_far = np.stack([(symbols[:, :asked] == c).sum(axis=1) for c in range(classes)], axis=1)
        top = np.sort(so_far, axis=1)
        calls[top[:, -1] - top[:, -2] > k - asked] = asked
    settled = _voted(votes, labels, np.ones(n, dtype=np.bool_))
    return single, (np.full(n, float(k)), right, wrong, forced), (calls.astype(np.float64), *settled)


def _voted(
    votes: NDArray[np.int64], labels: NDArray[np.intp], accepted: NDArray[np.bool_]
) -> tuple[Array, Array, Array]:
    leading = votes == votes.max(axis=1, keepdims=True)
    forced = leading[np.arange(len(labels)), labels] / leading.sum(axis=1)
    settled = accepted & (leading.sum(axis=1) == 1)
    return settled * (forced == 1.0), settled * (forced == 0.0), forced


def _break_even(
    table: VerdictTable,
    rows: NDArray[np.intp],
    rates: tuple[tuple[Array, Array, Array, Array], ...],
    k: int,
    level: float,
    rng: np.random.Generator,
    replicates: int,
) -> Measured:
    (_, right_1, wrong_1, _), (_, right_k, wrong_k, _), _ = rates
    # Per call of redundancy; whole numbers, so that equal clusters are equal to the last bit.
    values = np.rint(np.stack([k * right_1 - right_k, k * wrong_1 - wrong_k], axis=1))
    names = np.array(table.clusters, dtype=object)[rows].astype(str)
    numbers = np.unique(names, return_inverse=True)[1].astype(np.intp)
    sums = cluster_sums(values, numbers, int(numbers.max()) + 1)
    fewer_right, fewer_wrong = sums.sum(axis=0).tolist()
    if fewer_wrong <= 0:
        return Measured(NotApplicable("no-fewer-wrong: redundancy avoids no wrong accept per call"))
    drawn = resampled_profiles(sums, rng=rng, replicates=replicates)
    ratios = np.divide(drawn[:, 0], drawn[:, 1], out=np.full(len(drawn), np.nan), where=drawn[:, 1] > 0)
    interval: Interval | None = percentile_interval(ratios, level=level)
    return Measured(fewer_right / fewer_wrong, interval, 0.0, len(rows), len(sums))
