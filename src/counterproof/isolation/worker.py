"""One persistent, killable worker that outlives the crashes of what it runs."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import pickle
import sys
import threading
import time
import weakref
from collections.abc import Iterator, Sequence

from counterproof.core.errors import BindingError, InputError, IsolationError, describe
from counterproof.core.outcomes import Failed, Outcome, TimedOut, sound, unpack
from counterproof.isolation import frames
from counterproof.isolation.limits import Limits
from counterproof.isolation.process import Event, Process

_UNSENDABLE = (pickle.PicklingError, AttributeError, TypeError, ValueError, RecursionError, OverflowError)
_LIVE: weakref.WeakSet[Worker] = weakref.WeakSet()


class Worker:
    """Runs verifiers in one child process: its own session, resource limits, and a clock and a reply per call.

    A call that does not answer in time gives `TimedOut` and costs the whole process tree; one in which the process dies
    gives `Failed`. Either way a fresh process goes on at the next call, so an outcome belongs to its call alone. State
    that the verifier keeps (caches, a global) is lost with the process.

    What escapes on Linux: a process that both replaced its environment and detached itself, once the worker is dead.

    Args:
        factory: `module:function`, imported in the child and called with `payload`. It returns
            `perform(verifier: str, record: object) -> Outcome`; an attribute `greeting` (text) of it comes back.
        payload: Bytes for the factory.
        limits: What the child may use.

    Attributes:
        greeting: The text that `perform` carried, for example the printed signature.

    Raises:
        BindingError: The factory raised; the message is the child's.
        IsolationError: The process could not be started, died while starting or did not start in time.
    """

    def __init__(self, factory: str, payload: bytes = b"", limits: Limits | None = None) -> None:
        self.greeting = ""
        self._factory = factory
        self._payload = payload
        self._limits = limits or Limits()
        self._owner = os.getpid()
        self._closed = False
        self._busy = threading.Lock()
        self._process: Process | None = None
        _LIVE.add(self)
        with self._busy, self._killed_on_error():
            self._started()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def perform(self, jobs: Sequence[tuple[str, object]]) -> list[Outcome]:
        """Return one outcome per (verifier, record), in order.

        Raises:
            IsolationError: The worker is closed, or cannot be started again.
            BindingError: The verifier cannot be imported again.
        """
        outcomes: list[Outcome] = []
        with self._busy, self._killed_on_error():
            while len(outcomes) < len(jobs):
                outcomes.extend(self._perform(jobs[len(outcomes) :] if outcomes else jobs))
        return outcomes

    def tail(self) -> str:
        """Return the end of what the present process wrote to standard output and error."""
        return self._process.tail() if self._process is not None else ""

    def close(self) -> None:
        """Kill the process tree; may be called again, and from another thread while a call is running."""
        self._closed = True
        process = self._process
        if process is None:
            return
        if os.getpid() != self._owner:
            process.abandon()
            self._process = None
            return
        process.kill()  # wakes a thread that waits for a reply
        with self._busy:
            self._drop()
        _LIVE.discard(self)

    @contextlib.contextmanager
    def _killed_on_error(self) -> Iterator[None]:
        """Leave no process whose replies nobody will read: on Ctrl-C, above all."""
        try:
            yield
        except BaseException:
            self._drop()
            raise

    def _perform(self, jobs: Sequence[tuple[str, object]]) -> list[Outcome]:
        try:
            frame = frames.request(len(jobs), pickle.dumps(list(jobs), pickle.HIGHEST_PROTOCOL))
        except _UNSENDABLE as error:
            if len(jobs) == 1:
                return [Failed(f"the record cannot be sent to the worker: {describe(error)}")]
            return [outcome for job in jobs for outcome in self._perform([job])]
        process = self._started()
        process.send(frame)
        return self._collect(process, len(jobs))

    def _collect(self, process: Process, count: int) -> list[Outcome]:
        """Return the outcomes of the calls up to the first that cost the process, or of all."""
        outcomes: list[Outcome] = []
        seconds = self._limits.seconds_per_call
        deadline = time.monotonic() + seconds
        try:
            while len(outcomes) < count:
                payload = process.replies.take(len(outcomes))
                if payload is not None:
                    outcomes.append(_outcome(payload))
                    deadline = time.monotonic() + seconds
                    continue
                event = process.wait(deadline)
                if event is Event.EXPIRED:
                    outcomes.append(TimedOut(float(seconds)))
                elif event is Event.DIED:
                    outcomes.append(Failed(f"the worker died: {process.obituary()}"))
                else:
                    continue
                self._drop()
                return outcomes
        except frames.ForeignBytes as error:
            outcomes.append(Failed(f"the verifier {error}"))
            self._drop()
        return outcomes

    def _started(self) -> Process:
        """Return the running process; start one if there is none."""
        if self._closed:
            raise IsolationError("the worker is closed")
        if self._process is not None:
            return self._process
        process = self._process = Process()
        if self._closed:  # by another thread, which saw no process to kill
            raise IsolationError("the worker is closed")
        setup = frames.Setup(process.nonce, self._factory, self._payload, self._limits, tuple(sys.path))
        process.send(frames.request(0, pickle.dumps(setup)))
        deadline = time.monotonic() + self._limits.start_seconds
        while (payload := process.replies.take(frames.GREETING)) is None:
            event = process.wait(deadline)
            if event is Event.EXPIRED:
                raise IsolationError(
                    f"the worker did not start within {self._limits.start_seconds:g} s"
                    f"{_quoted(process.tail())}; raise start_seconds if the verifier takes long to import"
                )
            if event is Event.DIED:
                ending = process.obituary()
                raise IsolationError(f"the worker died while importing the verifier: {ending}{_quoted(process.tail())}")
        self.greeting = _greeting(payload, process)
        return process

    def _drop(self) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            process.close()


def _outcome(payload: bytes) -> Outcome:
    try:
        (outcome,) = unpack(payload)
        return sound(outcome)
    except (InputError, ValueError, TypeError, RecursionError, MemoryError):
        raise frames.ForeignBytes("sent a reply that holds no outcome") from None


def _greeting(payload: bytes, process: Process) -> str:
    greeting = json.loads(payload)
    if greeting["ready"]:
        return str(greeting["text"])
    trace = f"\n{greeting['trace'].rstrip()}" if greeting["trace"] else ""
    raise BindingError(f"{greeting['text']}{trace}{_quoted(process.tail())}")


def _quoted(output: str) -> str:
    lines = output.strip().splitlines()[-10:]
    return "\nIt had printed:\n" + "\n".join(f"  | {line[:200]}" for line in lines) if lines else ""


@atexit.register
def _close_all() -> None:
    for worker in list(_LIVE):
        worker.close()
