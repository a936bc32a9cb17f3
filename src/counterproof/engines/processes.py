"""Several hosts at once: a thread a slot, which mostly waits for the process that its host owns."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import Self, TypeAlias

from counterproof.core.errors import InputError, Problem
from counterproof.core.outcomes import Outcome
from counterproof.engines.port import Host, Job

_Result: TypeAlias = tuple[int, list[Outcome] | BaseException, float]
_PATIENCE = 5.0  # seconds that close waits for a thread


class ProcessEngine:
    """Performs batches on `slots` hosts; they are collected in the order in which they finish.

    A host is made by the first batch that its slot takes, so unused slots cost nothing.

    Args:
        make_host: Makes the host of one slot, called in that slot's thread.
        slots: How many, from 1.

    Raises:
        InputError: There are no slots.
    """

    def __init__(self, make_host: Callable[[], Host], slots: int) -> None:
        if slots < 1:
            raise InputError("a process engine", [Problem("slots", f"is {slots}", "give a whole number from 1")])
        self.slots = slots
        self._make_host = make_host
        self._todo: queue.SimpleQueue[tuple[int, Sequence[Job]] | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[_Result] = queue.SimpleQueue()
        self._submitted = 0
        self._closed = False
        self._lock = threading.Lock()
        self._hosts: list[Host] = []
        self._threads = [
            threading.Thread(target=self._run, name=f"counterproof-slot-{i}", daemon=True) for i in range(slots)
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def submit(self, ticket: int, jobs: Sequence[Job]) -> None:
        """Take a batch; a free slot begins at once.

        Raises:
            InputError: The engine is closed.
        """
        if self._closed:
            raise InputError("the engine is closed; make a new one")
        self._submitted += 1
        self._todo.put((ticket, jobs))

    def collect(self) -> tuple[int, list[Outcome], float]:
        """Wait for the next batch to finish; return its ticket, its outcomes and its seconds.

        What a host raised over a batch is raised here, once a batch.

        Raises:
            InputError: Nothing is submitted.
        """
        if not self._submitted:
            raise InputError("nothing is submitted; submit a batch before collecting one")
        ticket, result, seconds = self._done.get()
        self._submitted -= 1
        if isinstance(result, BaseException):
            raise result
        return ticket, result, seconds

    def close(self) -> None:
        """Drop what waits, kill what runs and close every host, even when interrupted by a second Ctrl-C."""
        with contextlib.ExitStack() as stack:
            for thread in self._threads:
                stack.callback(thread.join, _PATIENCE)
            with self._lock:
                self._closed = True
                for host in self._hosts:
                    stack.callback(host.close)
                self._hosts = []
            self._submitted = 0
            with contextlib.suppress(queue.Empty):
                while True:
                    self._todo.get_nowait()
            for _ in self._threads:
                self._todo.put(None)

    def _run(self) -> None:
        host: Host | None = None
        while (batch := self._todo.get()) is not None:
            ticket, jobs = batch
            begin = time.perf_counter()
            result: list[Outcome] | BaseException
            try:
                if host is None:
                    host = self._hired()
                result = host.perform(jobs)
            except BaseException as error:  # noqa: BLE001 - carried to `collect`, which raises it
                result = error
            self._done.put((ticket, result, time.perf_counter() - begin))

    def _hired(self) -> Host:
        """Make a host and note it, so that `close` finds it."""
        host = self._make_host()
        with self._lock:
            if not self._closed:
                self._hosts.append(host)
                return host
        host.close()
        raise InputError("the engine is closed")
