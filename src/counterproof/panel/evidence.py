"""All that a panel analysis measures, before it is put in words."""

from __future__ import annotations

from dataclasses import dataclass

from counterproof.core.outcomes import NotApplicable
from counterproof.panel.breadth import Breadth
from counterproof.panel.contest import Contest
from counterproof.panel.controls import PanelControl
from counterproof.panel.diagnostics import Diagnostics
from counterproof.panel.effective import EffectiveNumber
from counterproof.panel.order import Step


@dataclass(frozen=True, slots=True, eq=False)
class PanelEvidence:
    """The measurements of a panel.

    Attributes:
        diagnostics: Channels and pairs, all labelled items.
        correlations: n_eff from the mean error correlation.
        equivalent: The majority-equivalent number, or why there is none.
        controls: Control channels.
        contest: All policies, or why there is no contest.
        order: What each further call adds, by the joint model on calibration items; empty where no table fits.
        entropy: H(Y) in bits under that model.
        breadth: Breadth against redundancy at equal calls, or why not.
    """

    diagnostics: Diagnostics
    correlations: EffectiveNumber
    equivalent: EffectiveNumber | NotApplicable
    controls: tuple[PanelControl, ...]
    contest: Contest | NotApplicable
    order: tuple[Step, ...]
    entropy: float
    breadth: Breadth | NotApplicable
