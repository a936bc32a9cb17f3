"""One batch after the other, in the caller's thread."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from typing import Self

from counterproof.core.errors import InputError
from counterproof.core.outcomes import Outcome
from counterproof.engines.port import Host, Job


class SerialEngine:
    """Performs batches in the order of their submission, when they are collected.

    Args:
        host: Where verifiers run; closed with the engine.
    """

    slots: int = 1

    def __init__(self, host: Host) -> None:
        self._host = host
        self._waiting: deque[tuple[int, Sequence[Job]]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def submit(self, ticket: int, jobs: Sequence[Job]) -> None:
        """Take a batch."""
        self._waiting.append((ticket, jobs))

    def collect(self) -> tuple[int, list[Outcome], float]:
        """Perform the oldest batch; return its ticket, its outcomes and its seconds.

        Raises:
            InputError: Nothing is submitted.
        """
        if not self._waiting:
            raise InputError("nothing is submitted; submit a batch before collecting one")
        ticket, jobs = self._waiting.popleft()
        begin = time.perf_counter()
        outcomes = self._host.perform(jobs)
        return ticket, outcomes, time.perf_counter() - begin

    def close(self) -> None:
        """Drop what waits and close the host."""
        self._waiting.clear()
        self._host.close()
