"""Counterfactual audits of rewards on logged trajectories: where a reward prefers a broken record, and its repair."""

from __future__ import annotations

from counterproof.rewards.analyse import Evidence, analyse
from counterproof.rewards.cells import Setup, set_up
from counterproof.rewards.detectors import DETECTORS, Detector, detector
from counterproof.rewards.edits import EDITS, Candidate, Edit, EditContext, edit
from counterproof.rewards.episode import AuditContext, AuditEpisode, StatelessEpisode
from counterproof.rewards.reference import REWARDS, Reward, built_in_reward
from counterproof.rewards.selection import Selector
from counterproof.rewards.tally import Tally
from counterproof.rewards.units import Unit

__all__ = [
    "DETECTORS",
    "EDITS",
    "REWARDS",
    "AuditContext",
    "AuditEpisode",
    "Candidate",
    "Detector",
    "Edit",
    "EditContext",
    "Evidence",
    "Reward",
    "Selector",
    "Setup",
    "StatelessEpisode",
    "Tally",
    "Unit",
    "analyse",
    "built_in_reward",
    "detector",
    "edit",
    "set_up",
]
