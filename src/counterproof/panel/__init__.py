"""Correlation-aware audits of panels: does another call, or another judge, add evidence, and which one comes next?"""

from __future__ import annotations

from counterproof.panel.analyse import analyse_panel
from counterproof.panel.contest import Contest, run_contest
from counterproof.panel.dawid_skene import DawidSkene, dawid_skene
from counterproof.panel.diagnostics import Diagnostics, diagnose
from counterproof.panel.episode import LivePanelEpisode, LiveVerdict, Reading
from counterproof.panel.joint import JointModel, choose_joint, fit_joint
from counterproof.panel.loss import Loss, parse_loss
from counterproof.panel.policy import Action, Move, PolicyTable, Replay, replay
from counterproof.panel.table import Channel, FailureKind, Gold, Split, VerdictTable, split_items

__all__ = [
    "Action",
    "Channel",
    "Contest",
    "DawidSkene",
    "Diagnostics",
    "FailureKind",
    "Gold",
    "JointModel",
    "LivePanelEpisode",
    "LiveVerdict",
    "Loss",
    "Move",
    "PolicyTable",
    "Reading",
    "Replay",
    "Split",
    "VerdictTable",
    "analyse_panel",
    "choose_joint",
    "dawid_skene",
    "diagnose",
    "fit_joint",
    "parse_loss",
    "replay",
    "run_contest",
    "split_items",
]
