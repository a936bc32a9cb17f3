"""Engines perform batches of jobs: one after the other, or on several processes, with equal outcomes."""

from counterproof.engines.hosts import InProcess, Isolated
from counterproof.engines.port import Engine, Host, Job
from counterproof.engines.processes import ProcessEngine
from counterproof.engines.serial import SerialEngine

__all__ = ["Engine", "Host", "InProcess", "Isolated", "Job", "ProcessEngine", "SerialEngine"]
