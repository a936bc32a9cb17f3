"""Policies that weigh each verdict by its calibrated likelihood and take channels as independent given the label.

Letters: C classes, K channels, A = C + 1 symbols; failure is a symbol like others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.panel.compile import compile_rule
from counterproof.panel.likelihoods import Likelihoods
from counterproof.panel.majority import SLACK
from counterproof.panel.policy import Action, Move, PolicyTable, State
from counterproof.panel.table import NOT_QUERIED, Channel


def weighted_scores(likelihoods: Likelihoods, symbols: NDArray[np.int8]) -> NDArray[np.float64]:
    """Return sum_j log P(v_j | y) over the verdicts queried, nats, (N, C).

    For two classes the difference of the columns is the weighted vote: sum_j log P(v_j | y=1) / P(v_j | y=0).

    Args:
        likelihoods: From calibration.
        symbols: Codes (N, K).
    """
    logs = np.log(likelihoods.table)
    total = np.zeros((len(symbols), likelihoods.table.shape[1]))
    for j in range(symbols.shape[1]):
        asked = symbols[:, j] != NOT_QUERIED
        total[asked] += logs[j][:, symbols[asked, j].astype(np.intp)].T
    return total


def weighted_policy(
    channels: Sequence[Channel],
    classes: Sequence[str],
    likelihoods: Likelihoods,
    order: tuple[int, ...],
    *,
    tau: float = 0.0,
    calibrated_prior: bool = False,
) -> PolicyTable:
    """Return the weighted control: ask all of `order`, then take the class of highest score.

    Args:
        channels: The channels.
        classes: Class names.
        likelihoods: From calibration, of all channels.
        order: Channels to ask, each once.
        tau: Accept from this posterior on; 0 accepts all.
        calibrated_prior: Start from the calibrated class shares; else from equal ones, which suits balanced accuracy.

    Raises:
        InputError: The order does not fit the channels, or too many states can be reached.
    """
    prior = _prior(likelihoods, calibrated_prior)
    _check_order(order, channels, likelihoods)

    def decide(state: State) -> Action:
        label, confidence = _best(likelihoods, prior, state)
        for j in order:
            if state[j] == NOT_QUERIED:
                return Action(Move.QUERY, channel=j, confidence=confidence)
        return Action(Move.ACCEPT if confidence >= tau - SLACK else Move.ABSTAIN, label=label, confidence=confidence)

    settings = _plain("weighted", order, tau, prior)
    return compile_rule(f"weighted-{len(order)}", channels, classes, decide, provenance=settings)


def adaptive_confidence_policy(
    channels: Sequence[Channel],
    classes: Sequence[str],
    likelihoods: Likelihoods,
    order: tuple[int, ...],
    *,
    tau: float,
    calibrated_prior: bool = True,
) -> PolicyTable:
    """Return the rule that stops and accepts once the largest posterior reaches tau, and abstains after the last call.

    The first channel is always asked. Arguments as `weighted_policy`.

    Raises:
        InputError: As `weighted_policy`.
    """
    prior = _prior(likelihoods, calibrated_prior)
    _check_order(order, channels, likelihoods)

    def decide(state: State) -> Action:
        label, confidence = _best(likelihoods, prior, state)
        waiting = [j for j in order if state[j] == NOT_QUERIED]
        if len(waiting) < len(order) and confidence >= tau - SLACK:
            return Action(Move.ACCEPT, label=label, confidence=confidence)
        if waiting:
            return Action(Move.QUERY, channel=waiting[0], confidence=confidence)
        return Action(Move.ABSTAIN, label=label, confidence=confidence)

    settings = _plain("adaptive-confidence", order, tau, prior)
    name = f"adaptive-confidence-{len(order)} tau={tau:g}"
    return compile_rule(name, channels, classes, decide, provenance=settings)


def _best(likelihoods: Likelihoods, prior: tuple[float, ...], state: State) -> tuple[int, float]:
    """Return the most probable class, the lowest code of equals, and its posterior."""
    known = [(j, symbol) for j, symbol in enumerate(state) if symbol != NOT_QUERIED]
    scores = [
        math.fsum([math.log(share), *(math.log(likelihoods.table[j, c, symbol]) for j, symbol in known)])
        for c, share in enumerate(prior)
    ]
    top = max(scores)
    label = next(c for c, score in enumerate(scores) if score >= top - SLACK)
    return label, 1 / math.fsum(math.exp(score - top) for score in scores)


def _prior(likelihoods: Likelihoods, calibrated: bool) -> tuple[float, ...]:
    c = len(likelihoods.prior)
    return tuple(float(share) for share in likelihoods.prior) if calibrated else (1 / c,) * c


def _check_order(order: tuple[int, ...], channels: Sequence[Channel], likelihoods: Likelihoods) -> None:
    k = len(channels)
    if len(likelihoods.table) != k:
        raise InputError(f"likelihoods of {len(likelihoods.table)} channels for a panel of {k}")
    if not order or len(set(order)) != len(order) or not all(0 <= j < k for j in order):
        raise InputError(f"an order of {order}: name at least one channel, each once, by a number from 0 to {k - 1}")


def _plain(policy: str, order: tuple[int, ...], tau: float, prior: tuple[float, ...]) -> dict[str, Any]:
    return {"policy": policy, "order": list(order), "tau": tau, "prior": list(prior)}
