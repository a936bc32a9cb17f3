"""Killable workers: one persistent process each, in which foreign code runs under limits and with a clock per call."""

from counterproof.isolation.attempts import attempt, guarded
from counterproof.isolation.limits import Limits
from counterproof.isolation.worker import Worker

__all__ = ["Limits", "Worker", "attempt", "guarded"]
