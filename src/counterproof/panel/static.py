"""A fixed panel chosen by what its channels tell together: the baseline that an adaptive policy has to beat."""

from __future__ import annotations

from counterproof.core.errors import InputError
from counterproof.panel.compile import compile_rule, model_settings
from counterproof.panel.information import conditional_information
from counterproof.panel.joint import JointModel
from counterproof.panel.loss import Loss
from counterproof.panel.policy import Action, Move, PolicyTable, State
from counterproof.panel.states import SLACK, state_space, stopping
from counterproof.panel.table import NOT_QUERIED

ROUNDED = 12


def static_subset(model: JointModel, k: int) -> tuple[int, ...]:
    """Return k channels by forward selection on I(Y; V_S), in the order chosen; equals go by name.

    Raises:
        InputError: k is not between 0 and the number of channels.
    """
    if not 0 <= k <= len(model.channels):
        raise InputError(f"a fixed panel of {k} channels out of {len(model.channels)}")
    chosen: tuple[int, ...] = ()
    while len(chosen) < k:
        rest = [j for j in range(len(model.channels)) if j not in chosen]
        gain = {j: round(conditional_information(model, j, chosen), ROUNDED) for j in rest}
        chosen += (min(rest, key=lambda j: (-gain[j], model.channels[j].name)),)
    return chosen


def static_policy(model: JointModel, k: int, loss: Loss, *, tau: float | None = None) -> PolicyTable:
    """Return static-CMD-k: ask the chosen k channels of every item, then accept by the joint posterior on them.

    Args:
        model: The joint model; its classes are weighted equally first when the loss is `ba`.
        k: How many channels.
        loss: The declared loss.
        tau: Accept from this posterior on; by default always for `ba`, from 1 - kappa on for Chow's loss.

    Raises:
        InputError: k is out of range, or the model has too many states.
    """
    weighted = model.for_loss(loss)
    return subset_policy(weighted, static_subset(weighted, k), loss, name=f"static-cmd-{k}", tau=tau)


def subset_policy(
    model: JointModel, subset: tuple[int, ...], loss: Loss, *, name: str, tau: float | None = None
) -> PolicyTable:
    """Return the policy that asks these channels of every item, in this order, then accepts by the joint posterior.

    Args:
        model: The joint model, weighted for the loss already.
        subset: Channels, by number.
        loss: The declared loss.
        name: What the policy is.
        tau: As `static_policy`.

    Raises:
        InputError: The model has too many states.
    """
    space = state_space(model)
    label, confidence = stopping(space)
    least = (0.0 if loss.kind == "ba" else 1 - loss.kappa) if tau is None else tau

    def decide(state: State) -> Action:
        at = space.number(state)
        sure = float(confidence[at])
        for j in subset:
            if state[j] == NOT_QUERIED:
                return Action(Move.QUERY, channel=j, confidence=sure)
        move = Move.ACCEPT if sure >= least - SLACK else Move.ABSTAIN
        return Action(move, label=int(label[at]), confidence=sure)

    settings = {**model_settings(model), "policy": "static", "subset": list(subset), "tau": least}
    return compile_rule(name, model.channels, model.classes, decide, loss=loss, provenance=settings)
