"""The parent's side of one worker process: its pipes, its output, its death."""

from __future__ import annotations

import contextlib
import enum
import os
import secrets
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from counterproof.core.errors import IsolationError
from counterproof.isolation import frames
from counterproof.isolation.trees import TAG, has_ended, kill_tree

_CHUNK = 1 << 16
_TAIL = 8192
_SLICE = 0.05  # seconds between looks at a process whose death the system cannot announce
_MODULE = "counterproof.isolation.child"


class Event(enum.Enum):
    """What waiting ended with."""

    ARRIVED = "arrived"
    EXPIRED = "expired"
    DIED = "died"


class Process:
    """A started worker process.

    Attributes:
        nonce: What its replies begin with.
        replies: The frames that it sent.

    Raises:
        IsolationError: The system refuses to start it.
    """

    def __init__(self) -> None:
        self.nonce = secrets.token_bytes(8)
        self.replies = frames.Replies(self.nonce)
        self._tag = secrets.token_hex(16)
        self._tail = b""
        self._pending = memoryview(b"")
        self._lock = threading.Lock()
        self._code: int | None = None
        self._own: list[int] = []
        self._start()
        self._poll = select.poll()
        for descriptor in (self._replies, self._output, self._pidfd):
            if descriptor >= 0:
                self._poll.register(descriptor, select.POLLIN)

    def _start(self) -> None:
        theirs: list[int] = []
        try:
            ends = [os.pipe() for _ in range(4)]
            (requests, self._requests), (self._replies, replies), (self._output, output), (lifeline, kept) = ends
            theirs += [requests, replies, output, lifeline]
            self._own += [self._requests, self._replies, self._output, kept]
            self._popen = subprocess.Popen(
                [sys.executable, "-P", "-X", "faulthandler", "-m", _MODULE, str(requests), str(replies), str(lifeline)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(requests, replies, lifeline),
                start_new_session=True,
                env=_environment(self._tag),
            )
        except OSError as error:
            self._close_descriptors()
            raise IsolationError(f"the worker process cannot be started: {error}") from error
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        self._pidfd = -1
        if hasattr(os, "pidfd_open"):
            with contextlib.suppress(OSError):  # an old kernel
                self._pidfd = os.pidfd_open(self._popen.pid)
                self._own.append(self._pidfd)
        for descriptor in (self._requests, self._replies, self._output):
            os.set_blocking(descriptor, False)

    @property
    def pid(self) -> int:
        """Its process id, which is its session's and its group's id too."""
        return self._popen.pid

    def tail(self) -> str:
        """Return the end of what was written to standard output and error, at most 8 KiB."""
        self._drain()
        return self._tail.decode("utf-8", "replace")

    def send(self, frame: bytes) -> None:
        """Begin to send a request; `wait` goes on with it."""
        self._pending = memoryview(frame)
        self._push()
        if self._pending:
            self._poll.register(self._requests, select.POLLOUT)

    def wait(self, deadline: float) -> Event:
        """Wait until bytes arrive in `replies`, the process dies, or `time.monotonic()` reaches `deadline`."""
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return Event.EXPIRED
            ready = dict(self._poll.poll(1000 * (left if self._pidfd >= 0 else min(left, _SLICE))))
            if self._requests in ready:
                self._push()
            if self._output in ready and not self._drain():
                self._poll.unregister(self._output)
            if self._replies in ready:
                chunk = _read(self._replies)
                if chunk:
                    self.replies.feed(chunk)
                    return Event.ARRIVED
                if chunk is not None:
                    self._linger()
                    return Event.DIED
            elif self._pidfd in ready or (self._pidfd < 0 and has_ended(self.pid)):
                chunk = _read(self._replies)  # what it wrote just before it died
                if not chunk:
                    return Event.DIED
                self.replies.feed(chunk)
                return Event.ARRIVED

    def kill(self) -> int:
        """Kill the whole tree, reap it and return the exit code; may be called again, and from any thread."""
        with self._lock:
            if self._code is None:
                self._code = kill_tree(self._popen, self._tag)
            return self._code

    def obituary(self) -> str:
        """Kill what is left and return how the process ended, in words."""
        if not has_ended(self.pid):
            self.kill()
            return "closed its channel to counterproof"
        code = self.kill()
        if code >= 0:
            return f"exit code {code}"
        with contextlib.suppress(ValueError):
            return f"signal {signal.Signals(-code).name}"
        return f"signal {-code}"

    def close(self) -> None:
        """Kill the tree and close the pipes."""
        try:
            self.kill()
        finally:
            self._drain()
            self._close_descriptors()

    def abandon(self) -> None:
        """Close the pipes only: in a fork of the process that owns the worker."""
        self._close_descriptors()

    def _linger(self) -> None:
        """Give a process whose pipe closed a moment to end: pipes close a little before a process does."""
        end = time.monotonic() + 0.5
        while not has_ended(self.pid) and time.monotonic() < end:
            time.sleep(0.002)

    def _push(self) -> None:
        try:
            while self._pending:
                self._pending = self._pending[os.write(self._requests, self._pending[:_CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # it died: `wait` will see that
            self._pending = memoryview(b"")
        with contextlib.suppress(KeyError):
            self._poll.unregister(self._requests)

    def _drain(self) -> bool:
        """Take what was printed; False once nobody can print any more."""
        if self._output not in self._own:
            return False
        for _ in range(16):  # no flood of prints keeps the caller from looking at the clock
            chunk = _read(self._output)
            if not chunk:
                return chunk is None
            self._tail = (self._tail + chunk)[-_TAIL:]
        return True

    def _close_descriptors(self) -> None:
        while self._own:
            os.close(self._own.pop())


def _read(descriptor: int) -> bytes | None:
    """Return bytes, b"" at the end, or None when there is nothing yet."""
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return None


def _environment(tag: str) -> dict[str, str]:
    environment = {"PYTHONHASHSEED": "0", **os.environ, TAG: tag}
    root = Path(__file__).resolve().parents[2]
    if root.name not in ("site-packages", "dist-packages"):  # run from a checkout
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))
    return environment
