"""Small panels whose every pattern is listed with its probability: nothing is drawn unless a generator is given."""

import itertools

import numpy as np
from numpy.typing import NDArray

from counterproof.panel.joint import JointModel
from counterproof.panel.policy import PolicyTable, replay
from counterproof.panel.table import Channel, Gold, VerdictTable

CLASSES = ("no", "yes")


def channels(k: int, costs: tuple[float, ...] | None = None) -> tuple[Channel, ...]:
    return tuple(Channel(f"c{j}", 1.0 if costs is None else costs[j]) for j in range(k))


def table_of(symbols: NDArray[np.int8], classes: tuple[str, ...] = CLASSES) -> VerdictTable:
    n, k = symbols.shape
    keys = tuple(f"i{i}" for i in range(n))
    kinds = np.where(symbols == len(classes), 0, -1).astype(np.int8)
    return VerdictTable(keys, keys, channels(k), classes, symbols, kinds)


def patterns(k: int, symbols: int) -> NDArray[np.int8]:
    return np.array(list(itertools.product(range(symbols), repeat=k)), dtype=np.int8)


def independent(k: int, rho: float, failure: float = 0.0) -> tuple[VerdictTable, Gold, NDArray[np.float64]]:
    """Every pattern under either class, equally likely, with its probability: error rho of calls that do not fail."""
    rows = patterns(k, 3 if failure else 2)
    symbols, labels = np.tile(rows, (2, 1)), np.repeat([0, 1], len(rows)).astype(np.int8)
    wrong = symbols != labels[:, None]
    each = np.where(symbols == 2, failure, (1 - failure) * np.where(wrong, rho, 1 - rho))
    return table_of(symbols), Gold(labels), each.prod(axis=1) / 2


def stated(
    cells: NDArray[np.float64], rows: float = 1e6, costs: tuple[float, ...] | None = None, shown: int = 2
) -> JointModel:
    """A joint model with a stated table (C, A, .., A), as if `rows` calibration rows stood behind it."""
    k, classes = cells.ndim - 1, tuple(f"y{c}" for c in range(len(cells)))
    return JointModel(
        channels(k, costs), classes, cells, rows * cells.sum(axis=0), (shown,) * k, "stated", np.inf, rows
    )


def conditionally_independent(errors: tuple[float, ...], failure: float = 0.0) -> NDArray[np.float64]:
    """P(y, v_1 .. v_K) of independent two-class channels with equal classes."""
    cells = np.full((2,), 0.5)
    for e in errors:
        each = np.array([[1 - e, e, 0.0], [e, 1 - e, 0.0]]) * (1 - failure) + np.array([0.0, 0.0, failure])
        cells = cells[..., None] * each.reshape(2, *(1,) * (cells.ndim - 1), 3)
    return cells


def random_cells(rng: np.random.Generator, k: int, n_classes: int = 2, sharpness: float = 0.5) -> NDArray[np.float64]:
    cells = rng.gamma(sharpness, size=(n_classes, *(n_classes + 1,) * k)) + 1e-6
    return np.asarray(cells / cells.sum())


def router() -> NDArray[np.float64]:
    """Channel 0 tells nothing of the label but which of 1 and 2 is right; the other one tosses a fair coin."""
    cells = np.zeros((2, 3, 3, 3))
    for y, which, coin in itertools.product((0, 1), repeat=3):
        cells[(y, which, y, coin) if which == 0 else (y, which, coin, y)] += 1 / 8
    return cells


def drawn(
    rng: np.random.Generator, n: int, errors: tuple[float, ...], *, copied: bool = False, failure: float = 0.05
) -> tuple[VerdictTable, Gold]:
    """Rows of a panel with these error rates; when copied, channel 1 takes channel 0's error on half of the rows."""
    labels = (rng.random(n) < 0.4).astype(np.int8)
    wrong = rng.random((n, len(errors))) < np.array(errors)
    if copied:
        wrong[:, 1] = np.where(rng.random(n) < 0.5, wrong[:, 0], wrong[:, 1])
    symbols = (labels[:, None] ^ wrong).astype(np.int8)
    symbols[rng.random(symbols.shape) < failure] = 2
    return table_of(symbols), Gold(labels)


def costs_of_paths(policy: PolicyTable) -> NDArray[np.float64]:
    """Cost of every item that a policy can meet: all patterns, failures included."""
    rows = patterns(len(policy.channels), len(policy.classes) + 1)
    table = table_of(rows, policy.classes)
    return np.asarray(replay(policy, table).cost)
