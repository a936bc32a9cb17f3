"""What an engine and a host are. Both are small, so that a cluster can be one too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

from counterproof.core.outcomes import Outcome

Job: TypeAlias = tuple[str, Any]
"""The name of a verifier, and the record that it is to judge."""


class Host(Protocol):
    """A place where verifiers run, one call at a time."""

    def perform(self, jobs: Sequence[Job]) -> list[Outcome]:
        """Return one outcome per job, in order; what a verifier does never raises here."""
        ...

    def close(self) -> None:
        """Let go of everything; may be called again, and from another thread to end a running `perform`."""
        ...


class Engine(Protocol):
    """Performs batches. Which outcomes a job gets depends on the job alone, never on slots, batches or order.

    Attributes:
        slots: How many batches run at once; keep about two tickets a slot submitted.
    """

    slots: int

    def submit(self, ticket: int, jobs: Sequence[Job]) -> None:
        """Take a batch under a number of the caller's choice; returns at once."""
        ...

    def collect(self) -> tuple[int, list[Outcome], float]:
        """Wait for any submitted batch; return its ticket, an outcome per job in order, and its seconds.

        Raises:
            InputError: Nothing is submitted.
            IsolationError: A host cannot run.
            BindingError: A host cannot import its verifiers.
        """
        ...

    def close(self) -> None:
        """Stop, drop what was not collected and close the hosts; may be called again."""
        ...
