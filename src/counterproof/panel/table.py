"""Verdict tables: what every channel of a panel said of every item, with failures and calls never made kept apart."""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError, Problem
from counterproof.core.hashing import digest

NOT_QUERIED = -1
"""Code of a verdict that nobody asked for. Codes are categories; no arithmetic is done on them."""


class FailureKind(enum.IntEnum):
    """Why a call gave no verdict."""

    UNAVAILABLE = 0
    TIMED_OUT = 1
    MALFORMED = 2
    SCHEMA_DISAGREEMENT = 3
    COMMON_CAUSE = 4
    """Several channels failed in one window."""
    UNSTATED = 5


@dataclass(frozen=True, slots=True)
class Channel:
    """One verifier of a panel, or one repetition of it.

    Attributes:
        name: Unique within the table.
        cost: What a call costs, whatever comes back, in declared units; positive.
    """

    name: str
    cost: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class VerdictTable:
    """Verdicts of K channels on N items over C classes.

    Attributes:
        items: Item keys, unique, (N).
        clusters: Sampling unit of each item, (N).
        channels: The channels, (K).
        classes: Names of the C classes; class codes are 0 .. C-1.
        symbols: Codes (N, K), int8: a class, `failure` (= C), or `NOT_QUERIED`.
        kinds: `FailureKind` of each failure, -1 elsewhere, (N, K), int8.
        order: Rank in time of each item, (N), or None when unknown.
        seconds: Latency of each call, (N, K), NaN where unknown, or None.
    """

    items: tuple[str, ...]
    clusters: tuple[str, ...]
    channels: tuple[Channel, ...]
    classes: tuple[str, ...]
    symbols: NDArray[np.int8]
    kinds: NDArray[np.int8]
    order: NDArray[np.int64] | None = None
    seconds: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        problems = _problems(self)
        if problems:
            raise InputError("this is no verdict table", problems)

    @property
    def failure(self) -> int:
        """Code of a failed call: one past the last class."""
        return len(self.classes)

    @property
    def costs(self) -> NDArray[np.float64]:
        """Declared cost of a call of each channel, (K)."""
        return np.array([channel.cost for channel in self.channels])

    def __len__(self) -> int:
        return len(self.items)

    def rows(self, index: NDArray[np.intp]) -> VerdictTable:
        """Return the table of some items, in the order given."""
        chosen = index.tolist()
        return replace(
            self,
            items=tuple(self.items[i] for i in chosen),
            clusters=tuple(self.clusters[i] for i in chosen),
            symbols=self.symbols[index],
            kinds=self.kinds[index],
            order=None if self.order is None else self.order[index],
            seconds=None if self.seconds is None else self.seconds[index],
        )

    def columns(self, index: Sequence[int]) -> VerdictTable:
        """Return the table of some channels, in the order given."""
        chosen = list(index)
        return replace(
            self,
            channels=tuple(self.channels[j] for j in chosen),
            symbols=self.symbols[:, chosen],
            kinds=self.kinds[:, chosen],
            seconds=None if self.seconds is None else self.seconds[:, chosen],
        )

    def digest(self) -> str:
        """Return the content digest: keys, clusters, channels, classes, symbols, failure kinds and time order."""
        head = digest([self.items, self.clusters, self.channels, self.classes])
        whole = hashlib.sha256(head.encode())
        whole.update(np.ascontiguousarray(self.symbols, dtype=np.int8).tobytes())
        whole.update(np.ascontiguousarray(self.kinds, dtype=np.int8).tobytes())
        whole.update(b"" if self.order is None else np.ascontiguousarray(self.order, dtype="<i8").tobytes())
        return whole.hexdigest()


def _problems(table: VerdictTable) -> list[Problem]:
    n, k, c = len(table.items), len(table.channels), len(table.classes)
    found: list[Problem] = []
    if not 2 <= c <= 120:
        found.append(Problem("classes", f"{c} given", "name 2 to 120"))
    if not k:
        found.append(Problem("channels", "none given"))
    for name, values in (
        ("items", table.items),
        ("channels", tuple(channel.name for channel in table.channels)),
        ("classes", table.classes),
    ):
        if len(set(values)) != len(values):
            repeated = sorted({value for value in values if values.count(value) > 1})[:5] if len(values) < 5000 else []
            found.append(Problem(name, f"repeats {', '.join(repeated) or 'some names'}", "make them unique"))
    found += [
        Problem(f"channel {channel.name}", f"costs {channel.cost}", "give a positive cost")
        for channel in table.channels
        if not (np.isfinite(channel.cost) and channel.cost > 0)
    ]
    if len(table.clusters) != n:
        found.append(Problem("clusters", f"{len(table.clusters)} given for {n} items"))
    for name, array in (("symbols", table.symbols), ("kinds", table.kinds)):
        if array.shape != (n, k) or array.dtype != np.int8:
            found.append(Problem(name, f"has shape {array.shape} and type {array.dtype}", f"give int8 of ({n}, {k})"))
    if not found and n and not (table.symbols.min() >= NOT_QUERIED and table.symbols.max() <= c):
        found.append(Problem("symbols", f"holds codes outside {NOT_QUERIED} .. {c}"))
    if not found and not np.array_equal(table.kinds >= 0, table.symbols == c):
        found.append(Problem("kinds", "must be given exactly where a call failed"))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Gold:
    """Oracle labels, kept out of the table: they meet the verdicts after the stage is frozen.

    Attributes:
        labels: Class code of each item, (N), int8; -1 where no label is known.
    """

    labels: NDArray[np.int8]

    def rows(self, index: NDArray[np.intp]) -> Gold:
        """Return the labels of some items."""
        return Gold(self.labels[index])

    def digest(self) -> str:
        """Return the content digest."""
        return hashlib.sha256(np.ascontiguousarray(self.labels, dtype=np.int8).tobytes()).hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Calibration and held-out items; no cluster is on both sides.

    Attributes:
        calibration: Indices, sorted.
        held_out: Indices, sorted.
        kind: `random` or `time`.
    """

    calibration: NDArray[np.intp]
    held_out: NDArray[np.intp]
    kind: str

    def digest(self) -> str:
        """Return the content digest, which the plan seals."""
        return digest({"kind": self.kind, "calibration": self.calibration.tolist(), "held_out": self.held_out.tolist()})


def split_items(
    table: VerdictTable, share: float, rng: np.random.Generator | None = None, *, labelled: Gold | None = None
) -> Split:
    """Return a split by whole clusters: random with a generator, else by time.

    Args:
        table: The verdicts.
        share: Share of clusters for calibration, strictly between 0 and 1.
        rng: Draws the clusters; None takes those whose last item is earliest, and needs `order`.
        labelled: Only items with a known label enter either side.

    Raises:
        InputError: The share is out of range, one side would be empty, or the table has no time order.
    """
    if not 0 < share < 1:
        raise InputError(f"a calibration share of {share} leaves one side empty; give a number between 0 and 1")
    if rng is None and table.order is None:
        raise InputError("a split by time needs the time of each item; give a time column, or split at random")
    usable = np.ones(len(table), dtype=np.bool_) if labelled is None else labelled.labels >= 0
    names, inverse = np.unique(np.array(table.clusters, dtype=object).astype(str), return_inverse=True)
    if rng is not None:
        sequence = rng.permutation(len(names))
    else:
        last = np.full(len(names), np.iinfo(np.int64).min)
        np.maximum.at(last, inverse, np.asarray(table.order))
        sequence = np.lexsort((np.arange(len(names)), last))
    chosen = np.zeros(len(names), dtype=np.bool_)
    chosen[sequence[: round(share * len(names))]] = True
    inside = chosen[inverse]
    calibration, held_out = np.flatnonzero(inside & usable), np.flatnonzero(~inside & usable)
    if not calibration.size or not held_out.size:
        raise InputError(
            f"{len(names)} clusters at a share of {share} give {calibration.size} calibration and {held_out.size} "
            "held-out items; both sides need some"
        )
    return Split(calibration, held_out, "time" if rng is None else "random")
