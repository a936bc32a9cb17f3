"""The corridor: plan, run, freeze, join, analyse, report. It drives the episodes of the audit rooms."""

from __future__ import annotations

from counterproof.study.driver import Driven, Means, drive
from counterproof.study.gates import check_gates, parse_gate
from counterproof.study.panel import PanelConfig, audit_panel
from counterproof.study.panel_live import LiveSettings, run_live, score_live
from counterproof.study.publish import load, publish, replay, verify
from counterproof.study.rewards import AuditConfig, audit, finish

__all__ = [
    "AuditConfig",
    "Driven",
    "LiveSettings",
    "Means",
    "PanelConfig",
    "audit",
    "audit_panel",
    "check_gates",
    "drive",
    "finish",
    "load",
    "parse_gate",
    "publish",
    "replay",
    "run_live",
    "score_live",
    "verify",
]
