"""The worker's side: import the verifiers, then answer one call after the other.

Started by `Worker` as a program of its own; everything that foreign code can break is expected to break here.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib
import json
import os
import pickle
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

from counterproof.core.errors import CounterproofError, describe
from counterproof.core.outcomes import Failed, Outcome, pack
from counterproof.isolation import frames
from counterproof.isolation.attempts import attempt
from counterproof.isolation.limits import Limits
from counterproof.isolation.trees import become_subreaper, descendant_ids, die_with, kill_descendants

_LOWEST = 100  # protocol descriptors sit above the numbers that foreign code opens, guesses or closes
_ROUNDS = 200
_PAUSE = 0.005


def main() -> None:
    """Run the worker on the descriptors named on the command line: requests, replies, lifeline."""
    requests, replies, lifeline = (_moved(int(argument)) for argument in sys.argv[1:4])
    output = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, _LOWEST)
    die_with(lifeline)
    become_subreaper()
    frame = _read_request(requests)
    if frame is None:
        os._exit(0)
    setup: frames.Setup = pickle.loads(frame[1])
    sys.argv = [setup.factory]
    sys.path[:] = setup.path
    _limit(setup.limits)
    perform = _construct(setup, replies)
    _flush(output)
    code = 71  # foreign code broke the loop itself, by closing its pipes for instance
    try:
        if perform is not None:
            serve(requests, replies, output, setup.nonce, perform)
        code = 0
    finally:
        os._exit(code)  # threads and exit functions that foreign code left behind do not keep the worker


def serve(requests: int, replies: int, output: int, nonce: bytes, perform: Callable[[str, object], object]) -> None:
    """Answer requests until the parent closes their pipe: a reply per call, written as soon as it is known.

    Args:
        requests: Descriptor to read frames of pickled `(verifier, record)` lists from.
        replies: Descriptor to write packed outcomes to.
        output: Descriptor that prints go to.
        nonce: Stands before each reply.
        perform: Foreign code.
    """
    own = os.getpid()
    kept = descendant_ids(own) if _has_children() else frozenset()
    while (frame := _read_request(requests)) is not None:
        count, pickled = frame
        try:
            jobs: list[tuple[str, object]] = pickle.loads(pickled)
        except Exception as error:  # noqa: BLE001 - records may be of foreign classes
            outcome = Failed(f"the worker cannot read the record: {describe(error)}")
            for number in range(count):
                _write(replies, frames.reply(nonce, number, pack([outcome])))
            continue
        for number, (verifier, record) in enumerate(jobs):
            outcome_bytes = _packed(attempt(perform, verifier, record, swallowed=(BaseException,)))
            if os.getpid() != own:  # foreign code forked and both copies came back
                os._exit(0)
            _flush(output)
            if _has_children():
                _sweep(kept)
            _write(replies, frames.reply(nonce, number, outcome_bytes))


def _construct(setup: frames.Setup, replies: int) -> Callable[[str, object], object] | None:
    try:
        module, _, name = setup.factory.partition(":")
        perform: Any = getattr(importlib.import_module(module), name)(setup.payload)
        greeting = {"ready": True, "text": str(getattr(perform, "greeting", ""))}
    except BaseException as error:  # noqa: BLE001 - importing foreign code may raise anything
        perform = None
        message = str(error) if isinstance(error, CounterproofError) else describe(error)
        trace = "" if isinstance(error, CounterproofError) else "".join(traceback.format_exception(error)[-6:])
        greeting = {"ready": False, "text": message, "trace": trace[-4000:]}
    _write(replies, frames.reply(setup.nonce, frames.GREETING, json.dumps(greeting).encode()))
    return perform  # type: ignore[no-any-return]


def _packed(outcome: Outcome) -> bytes:
    try:
        payload = pack([outcome])
    except (TypeError, ValueError, KeyError, OverflowError, RecursionError) as error:
        return pack([Failed(f"returned an outcome that cannot be sent: {describe(error)}")])
    if len(payload) > frames.LARGEST:
        return pack([Failed(f"returned an outcome of more than {frames.LARGEST} bytes")])
    return payload


def _has_children() -> bool:
    """Return whether this process has any child, dead or alive. As a subreaper it has one if any descendant lives."""
    try:
        if hasattr(os, "waitid"):
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        else:  # macOS
            os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True


def _sweep(kept: frozenset[int]) -> None:
    """Kill and reap what a call left behind; processes that were there before the first call stay.

    Leaves the process when that does not succeed: the parent then kills the tree.
    """
    try:
        for _ in range(_ROUNDS):
            kill_descendants(os.getpid(), kept)
            left = descendant_ids(os.getpid()) - kept
            for pid in left:
                try:
                    os.waitpid(pid, os.WNOHANG)
                except ChildProcessError:
                    continue
            if not left:
                return
            time.sleep(_PAUSE)
    except BaseException:  # noqa: BLE001 - out of memory or of descriptors, for instance
        os._exit(70)
    os._exit(70)


def _limit(limits: Limits) -> None:
    import resource

    for kind, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_NPROC, limits.processes),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
    ):
        if value is not None:
            hard = resource.getrlimit(kind)[1]
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (bound, bound))


def _moved(descriptor: int) -> int:
    """Return a copy of a descriptor with a high number that programs started from here do not inherit."""
    copy = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _LOWEST)
    os.close(descriptor)
    return copy


def _flush(output: int) -> None:
    """Flush what was printed, and open again on `output` what foreign code closed: the next call may print too."""
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        try:
            getattr(sys, name).flush()
            os.fstat(descriptor)
        except Exception:  # noqa: BLE001 - whatever foreign code did to it or put in its place
            with contextlib.suppress(OSError):
                os.dup2(output, descriptor)
                stream = open(descriptor, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115 - stays
                setattr(sys, name, stream)


def _read_request(descriptor: int) -> tuple[int, bytes] | None:
    head = _read(descriptor, frames.REQUEST.size)
    if head is None:
        return None
    count, size = frames.REQUEST.unpack(head)
    body = _read(descriptor, size)
    return None if body is None else (count, body)


def _read(descriptor: int, size: int) -> bytes | None:
    chunks = []
    while size:
        chunk = os.read(descriptor, min(size, 1 << 20))
        if not chunk:
            return None
        chunks.append(chunk)
        size -= len(chunk)
    return b"".join(chunks)


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


if __name__ == "__main__":
    main()
