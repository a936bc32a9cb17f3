"""What a call would tell about the label: mutual information under a joint model, in nats.

Letters: C classes, K channels, A = C + 1 symbols, S states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.panel.joint import JointModel
from counterproof.panel.states import StateSpace

LEAST_ROWS = 1e-12
"""A state without rows has a huge bias, not an infinite one, which would not be a number when z is 0."""


@dataclass(frozen=True, slots=True, eq=False)
class Information:
    """What each open channel would tell in each state; 0 for channels that were queried already.

    Attributes:
        point: I(Y; V_j | V_S = s) under the model, nats, in [0, ln C], (K, S).
        bias: (C - 1)(A_j - 1) / (2 n_s), nats: what a plug-in estimate from n_s rows shows where there is nothing. A_j
            counts the symbols that calibration showed; for two classes this is (A_j - 1) / (2 n_s).
        error: Standard deviation of the pointwise log ratio over sqrt(n_s), nats.
    """

    point: NDArray[np.float64]
    bias: NDArray[np.float64]
    error: NDArray[np.float64]

    def lower(self, z: float) -> NDArray[np.float64]:
        """Return max(0, point - bias - z error), nats, (K, S)."""
        return np.maximum(0.0, self.point - self.bias - z * self.error)


def state_information(space: StateSpace) -> Information:
    """Return the information of every open channel in every state.

    I_j(s) = sum over y, v of P(y, v | s) log [P(y, v | s) / (P(y | s) P(v | s))].
    """
    k, size = len(space.model.channels), len(space)
    point, bias, error = (np.zeros((k, size)) for _ in range(3))
    n_classes = len(space.model.classes)
    for j in range(k):
        states = np.flatnonzero(~space.asked[:, j])
        children = np.stack([space.child(states, j, a) for a in range(space.model.alphabet)])
        mean, spread = _pointwise(space.mass[:, children], space.mass[:, states])
        rows = np.maximum(space.rows[states], LEAST_ROWS)
        point[j, states] = mean
        bias[j, states] = (n_classes - 1) * max(space.model.shown[j] - 1, 0) / (2 * rows)
        error[j, states] = spread / np.sqrt(rows)
    return Information(point, bias, error)


def _pointwise(
    both: NDArray[np.float64], label: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and sd of the log ratio in each state, from P(y, v, s), (C, A, S), and P(y, s), (C, S)."""
    reach = label.sum(axis=0)
    product = label[:, None, :] * both.sum(axis=0)
    ratio = np.divide(both * reach, product, out=np.ones_like(both), where=(both > 0) & (product > 0))
    logs = np.log(ratio)
    share = np.divide(both, reach, out=np.zeros_like(both), where=reach > 0)
    mean = (share * logs).sum(axis=(0, 1))
    square = (share * logs**2).sum(axis=(0, 1))
    return np.maximum(mean, 0.0), np.sqrt(np.maximum(square - mean**2, 0.0))


def conditional_information(model: JointModel, channel: int, given: Sequence[int] = ()) -> float:
    """Return I(Y; V_j | V_S) in nats: what one more call tells when the verdicts of `given` are known; never negative.

    Raises:
        InputError: The channel is among those given, or there is no such channel.
    """
    chosen = _checked(model, (*given, channel))
    known = chosen[:-1]
    cells = _marginal(model, chosen).reshape(len(model.classes), model.alphabet ** len(known), model.alphabet)
    both = cells.transpose(0, 2, 1)
    mean, _ = _pointwise(both, both.sum(axis=1))
    return float(max(0.0, mean @ both.sum(axis=(0, 1))))


def subset_information(model: JointModel, channels: Sequence[int]) -> float:
    """Return I(Y; V_S) in nats, in [0, H(Y)].

    Raises:
        InputError: A channel is named twice, or does not exist.
    """
    cells = _marginal(model, _checked(model, channels)).reshape(len(model.classes), -1, 1)
    mean, _ = _pointwise(cells, cells.sum(axis=1))
    return float(mean[0])


def information_chain(model: JointModel, order: Sequence[int]) -> tuple[float, ...]:
    """Return what each call adds in this order, nats: I(Y; V_j | those before it). The terms sum to I(Y; V_S).

    Raises:
        InputError: A channel is named twice, or does not exist.
    """
    chosen = _checked(model, order)
    return tuple(conditional_information(model, j, chosen[:i]) for i, j in enumerate(chosen))


def _marginal(model: JointModel, channels: tuple[int, ...]) -> NDArray[np.float64]:
    """Return P(y, v of these channels), axes in the order given."""
    closed = tuple(1 + j for j in range(len(model.channels)) if j not in channels)
    kept = model.table.sum(axis=closed) if closed else model.table
    ranks = np.argsort(np.argsort(channels))
    return np.asarray(kept.transpose(0, *(1 + int(rank) for rank in ranks)))


def _checked(model: JointModel, channels: Sequence[int]) -> tuple[int, ...]:
    chosen = tuple(channels)
    if len(set(chosen)) != len(chosen) or not all(0 <= j < len(model.channels) for j in chosen):
        raise InputError(f"channels {chosen}: name each once, by a number from 0 to {len(model.channels) - 1}")
    return chosen
