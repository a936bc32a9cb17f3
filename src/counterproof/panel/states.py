"""All states of knowledge that a joint model allows, with their probabilities, and plans over them.

Letters: C classes, K channels, A = C + 1 symbols, S = (A + 1)^K states. A state is numbered by its digits, first
channel first: a symbol's code, or A where the channel was not queried. The start, nothing queried, is the last state.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.panel.joint import JointModel
from counterproof.panel.policy import State
from counterproof.panel.table import NOT_QUERIED

MAX_STATES = 2**19
"""Above this many states no plan is computed: two classes and 10 channels, three and 9, five and 7."""
SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class Budget:
    """What an item may use at most; failed calls count in full.

    Attributes:
        calls: Most calls, None for no limit.
        cost: Most declared cost, None for no limit.
    """

    calls: int | None = None
    cost: float | None = None

    def __post_init__(self) -> None:
        if (self.calls is not None and self.calls < 0) or (self.cost is not None and not self.cost >= 0):
            raise InputError(f"a budget of {self.calls} calls and cost {self.cost}: give none, or numbers from 0")


@dataclass(frozen=True, slots=True, eq=False)
class StateSpace:
    """The states of one joint model.

    Attributes:
        model: The model.
        mass: P(y, V_S = s), (C, S).
        rows: Effective calibration rows n_s behind each state, (S).
        asked: Whether each channel was queried, (S, K).
        cost: Declared cost of the queries made, (S).
    """

    model: JointModel
    mass: NDArray[np.float64]
    rows: NDArray[np.float64]
    asked: NDArray[np.bool_]
    cost: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def start(self) -> int:
        """Number of the state in which nothing was asked."""
        return len(self) - 1

    @property
    def reach(self) -> NDArray[np.float64]:
        """P(V_S = s), (S)."""
        return np.asarray(self.mass.sum(axis=0))

    @property
    def posterior(self) -> NDArray[np.float64]:
        """P(y | V_S = s), (C, S); uniform in states of probability 0."""
        reach = self.reach
        even = np.full_like(self.mass, 1 / len(self.mass))
        return np.divide(self.mass, reach, out=even, where=reach > 0)

    def stride(self, channel: int) -> int:
        """Return what one symbol of a channel is worth in a state's number."""
        base = self.model.alphabet + 1
        return int(base ** (len(self.model.channels) - 1 - channel))

    def child(self, states: NDArray[np.intp], channel: int, symbol: int) -> NDArray[np.intp]:
        """Return the states that follow when an open channel shows a symbol."""
        return states - (self.model.alphabet - symbol) * self.stride(channel)

    def number(self, state: State) -> int:
        """Return a state's number."""
        base, code = self.model.alphabet + 1, 0
        for symbol in state:
            code = code * base + (self.model.alphabet if symbol == NOT_QUERIED else symbol)
        return code

    def affordable(self, budget: Budget) -> NDArray[np.bool_]:
        """Return whether each channel is open and its call fits the budget, (K, S)."""
        calls = math.inf if budget.calls is None else budget.calls
        cost = math.inf if budget.cost is None else budget.cost
        costs = np.array([channel.cost for channel in self.model.channels])
        fits = self.cost + costs[:, None] <= cost + SLACK
        return np.asarray(~self.asked.T & fits & (self.asked.sum(axis=1) < calls))


def state_space(model: JointModel) -> StateSpace:
    """Return all states of a model.

    Raises:
        InputError: There are more than `MAX_STATES`.
    """
    k, base = len(model.channels), model.alphabet + 1
    if base**k > MAX_STATES:
        most = int(math.log(MAX_STATES) / math.log(base))
        raise InputError(
            f"{len(model.classes)} classes and {k} channels give {base**k:,} states, more than {MAX_STATES:,}: a plan "
            f"over them would be fitted to noise; choose at most {most} channels, or a fixed panel or a voting rule"
        )
    digits = np.indices((base,) * k, dtype=np.int8).reshape(k, -1).T
    asked = digits < model.alphabet
    costs = np.array([channel.cost for channel in model.channels])
    return StateSpace(
        model=model,
        mass=_with_sums(model.table, 1).reshape(len(model.classes), -1),
        rows=_with_sums(model.rows, 0).ravel(),
        asked=asked,
        cost=np.asarray(asked @ costs),
    )


def _with_sums(cells: NDArray[np.float64], first: int) -> NDArray[np.float64]:
    """Append to every symbol axis its sum: the entry for a channel that was not queried."""
    for axis in range(first, cells.ndim):
        cells = np.concatenate([cells, cells.sum(axis=axis, keepdims=True)], axis=axis)
    return cells


@dataclass(frozen=True, slots=True, eq=False)
class StatePlan:
    """What to do in every state, reachable or not.

    Attributes:
        space: The states.
        query: Channel to query, -1 where the plan stops, (S).
        accept: Whether the label is accepted where it stops, (S).
        label: Most probable class, the lowest code of equals, (S), int8.
        confidence: Its probability, (S).
    """

    space: StateSpace
    query: NDArray[np.intp]
    accept: NDArray[np.bool_]
    label: NDArray[np.int8]
    confidence: NDArray[np.float64]

    def walk(self, symbols: NDArray[np.int8]) -> NDArray[np.intp]:
        """Return the number of the state in which each item ends, (N).

        Args:
            symbols: Codes (N, K), every channel queried.
        """
        at = np.full(len(symbols), self.space.start, dtype=np.intp)
        strides = np.array([self.space.stride(j) for j in range(symbols.shape[1])], dtype=np.intp)
        alive = np.arange(len(symbols))
        while alive.size:
            channel = self.query[at[alive]]
            going = channel >= 0
            alive, channel = alive[going], channel[going]
            at[alive] -= (self.space.model.alphabet - symbols[alive, channel].astype(np.intp)) * strides[channel]
        return at


def stopping(space: StateSpace) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """Return the most probable class of each state, the lowest code of equals, and its probability, (S) each."""
    posterior = space.posterior
    return posterior.argmax(axis=0).astype(np.int8), np.asarray(posterior.max(axis=0))
