"""The declared loss that a policy is frozen for."""

from __future__ import annotations

from dataclasses import dataclass

from counterproof.core.errors import InputError


@dataclass(frozen=True, slots=True)
class Loss:
    """What a policy is judged by; lower is better.

    Attributes:
        kind: `ba`: 1 - balanced accuracy of the forced label on every item. `chow`: P(accepted and wrong) + kappa
            P(abstained).
        kappa: Cost of abstaining, in units of a wrong accept, strictly between 0 and 1; 0 for `ba`.
    """

    kind: str
    kappa: float = 0.0

    @property
    def text(self) -> str:
        """The form that `parse_loss` reads."""
        return self.kind if self.kind == "ba" else f"chow:{self.kappa:g}"


def parse_loss(text: str) -> Loss:
    """Return the loss that `ba` or `chow:KAPPA` names.

    Raises:
        InputError: It names none.

    >>> parse_loss("chow:0.1")
    Loss(kind='chow', kappa=0.1)
    """
    if text == "ba":
        return Loss("ba")
    kind, _, number = text.partition(":")
    try:
        kappa = float(number)
    except ValueError:
        kappa = -1.0
    if kind != "chow" or not 0 < kappa < 1:
        raise InputError(f"loss '{text}': write ba, or chow:KAPPA with the cost of abstaining between 0 and 1")
    return Loss("chow", kappa)
