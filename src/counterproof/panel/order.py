"""The information that each further call adds, in the order in which a fixed panel would buy it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterproof.panel.information import conditional_information, subset_information
from counterproof.panel.joint import JointModel
from counterproof.panel.static import static_subset

BITS = float(np.log2(np.e))


@dataclass(frozen=True, slots=True)
class Step:
    """One more call.

    Attributes:
        channel: Its name.
        cost: Its declared cost.
        adds: I(Y; V_j | those before), bits.
        total: I(Y; all so far), bits.
    """

    channel: str
    cost: float
    adds: float
    total: float


def buying_order(model: JointModel) -> tuple[Step, ...]:
    """Return what each channel adds to those before it, chosen greedily; adds sum to the total (chain rule)."""
    order = static_subset(model, len(model.channels))
    return tuple(
        Step(
            model.channels[j].name,
            model.channels[j].cost,
            BITS * conditional_information(model, j, order[:i]),
            BITS * subset_information(model, order[: i + 1]),
        )
        for i, j in enumerate(order)
    )


def label_entropy(model: JointModel) -> float:
    """Return H(Y) under the model, bits: what all calls together could tell at most."""
    prior = model.prior[model.prior > 0]
    return float(-(prior * np.log2(prior)).sum())
