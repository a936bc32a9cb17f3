"""Where verifiers run: in this process, or in a worker that can be killed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from counterproof.core.errors import BindingError, nearest
from counterproof.core.outcomes import Outcome
from counterproof.engines.port import Job
from counterproof.isolation import Limits, Worker, guarded


class InProcess:
    """Calls verifiers right here: fast, and for code that you trust. Nothing can stop a call that hangs.

    An exception or SystemExit becomes `Failed`; Ctrl-C passes.

    Args:
        verifiers: Callables by name, whose outcomes were checked where they were made (`binding.bind` does).
    """

    def __init__(self, verifiers: Mapping[str, Callable[[Any], Outcome]]) -> None:
        self._verifiers = dict(verifiers)

    def perform(self, jobs: Sequence[Job]) -> list[Outcome]:
        """Return one outcome per job, in order.

        Raises:
            BindingError: A job names a verifier that is not here.
        """
        verifiers = self._verifiers
        outcomes: list[Outcome] = []
        for name, record in jobs:
            if name not in verifiers:
                raise BindingError(f"there is no verifier '{name}'; {nearest(str(name), verifiers)}")
            outcomes.append(guarded(verifiers[name], record))
        return outcomes

    def close(self) -> None:
        """Do nothing: nothing is held."""


class Isolated:
    """Calls verifiers in a killable worker.

    Args:
        factory: `module:function` that makes `perform(verifier, record)` in the child; see `isolation.Worker`.
        payload: Its argument.
        limits: What the worker may use.

    Raises:
        BindingError: The factory raised.
        IsolationError: The worker cannot be started.
    """

    def __init__(self, factory: str, payload: bytes = b"", limits: Limits | None = None) -> None:
        self._worker = Worker(factory, payload, limits)

    @property
    def greeting(self) -> str:
        """What the factory had to say, for example the printed signature."""
        return self._worker.greeting

    def perform(self, jobs: Sequence[Job]) -> list[Outcome]:
        """Return one outcome per job, in order."""
        return self._worker.perform(jobs)

    def tail(self) -> str:
        """Return the end of what the verifiers printed."""
        return self._worker.tail()

    def close(self) -> None:
        """Kill the worker with everything that it started."""
        self._worker.close()
