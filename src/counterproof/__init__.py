"""Stress-test a verifier before you optimise against it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from counterproof.adapters import open_pool, write_pool
    from counterproof.core import (
        Abstained,
        Analysis,
        Corpus,
        CounterproofError,
        Failed,
        Finding,
        NotApplicable,
        Scored,
        Trajectory,
    )
    from counterproof.rewards import Candidate, Detector, Edit, detector, edit
    from counterproof.study import AuditConfig, audit, load, publish, replay, verify

_HOMES = {
    "Abstained": "core",
    "Analysis": "core",
    "AuditConfig": "study",
    "Candidate": "rewards",
    "Corpus": "core",
    "CounterproofError": "core",
    "Detector": "rewards",
    "Edit": "rewards",
    "Failed": "core",
    "Finding": "core",
    "NotApplicable": "core",
    "Scored": "core",
    "Trajectory": "core",
    "audit": "study",
    "detector": "rewards",
    "edit": "rewards",
    "load": "study",
    "open_pool": "adapters",
    "publish": "study",
    "replay": "study",
    "verify": "study",
    "write_pool": "adapters",
}

__all__ = [
    "Abstained",
    "Analysis",
    "AuditConfig",
    "Candidate",
    "Corpus",
    "CounterproofError",
    "Detector",
    "Edit",
    "Failed",
    "Finding",
    "NotApplicable",
    "Scored",
    "Trajectory",
    "__version__",
    "audit",
    "detector",
    "edit",
    "load",
    "open_pool",
    "publish",
    "replay",
    "verify",
    "write_pool",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its room when it is first asked for, so that `import counterproof` stays light."""
    if name in _HOMES:
        value = getattr(import_module(f"counterproof.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'counterproof' has no attribute '{name}'")
