"""Killing process trees, including processes that detached themselves.

A double fork with setsid leaves both the process group and the list of descendants. Two things find it all the same:
the worker is a *child subreaper* (Linux), so orphans become its children while it lives; and every process inherits an
environment tag, which is looked for once the worker is dead.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

TAG = "COUNTERPROOF_WORKER"
"""Environment variable by which a worker's processes are known."""
_PROC = Path("/proc")  # read directly: a worker must be able to clean up after code that emptied sys.path
_ROUNDS = 100
_PAUSE = 0.01
_PR_SET_CHILD_SUBREAPER = 36


def kill_tree(process: subprocess.Popen[bytes], tag: str) -> int:
    """Kill a worker with everything that it started, reap it, and return its exit code (negative: a signal).

    Descendants go first, while the stopped worker still is what orphans fall back to.
    """
    if process.returncode is None and not has_ended(process.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGSTOP)
        for _ in range(_ROUNDS):
            if not kill_descendants(process.pid):
                break
            time.sleep(_PAUSE)
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    code = process.wait()
    for _ in range(_ROUNDS):
        if not _kill_tagged(tag):
            break
        time.sleep(_PAUSE)
    return code


def kill_descendants(pid: int, kept: frozenset[int] = frozenset()) -> list[int]:
    """Send SIGKILL to all living descendants of `pid` that are not in `kept`, and return their ids."""
    table = _table()
    living = [found for found in _below(pid, table) if found not in kept and not table[found][1]]
    return [found for found in living if _kill(found)]


def descendant_ids(pid: int) -> frozenset[int]:
    """Return the ids of all descendants, dead but unreaped ones included."""
    return frozenset(_below(pid, _table()))


def has_ended(pid: int) -> bool:
    """Return whether this child has ended, without reaping it, so that its id and its group's id stay taken."""
    if not hasattr(os, "waitid"):  # macOS
        import psutil

        try:
            return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
        except psutil.NoSuchProcess:
            return True
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def become_subreaper() -> bool:
    """Let orphaned descendants become children of this process; return whether the system can do that (Linux)."""
    import ctypes

    try:
        return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except (AttributeError, OSError):
        return False


def die_with(lifeline: int) -> None:
    """Have the kernel kill this process group once the other end of the pipe `lifeline` is closed (Linux).

    So a parent that is killed leaves no worker behind, and no thread has to watch.
    """
    import fcntl

    if hasattr(fcntl, "F_SETSIG"):
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(lifeline, fcntl.F_SETSIG, int(signal.SIGKILL))
        flags = fcntl.fcntl(lifeline, fcntl.F_GETFL)
        fcntl.fcntl(lifeline, fcntl.F_SETFL, flags | os.O_ASYNC)


def _table() -> dict[int, tuple[int, bool]]:
    """Return all processes: id to the parent's id and whether it is dead but unreaped."""
    if not _PROC.is_dir():
        import psutil

        found = psutil.process_iter(["ppid", "status"])
        return {p.pid: (p.info["ppid"], p.info["status"] == psutil.STATUS_ZOMBIE) for p in found}
    table: dict[int, tuple[int, bool]] = {}
    for name in os.listdir(_PROC):
        if name.isdecimal():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                state, parent = file.read().rpartition(b")")[2].split()[:2]  # the name before it may hold anything
                table[int(name)] = (int(parent), state in (b"Z", b"X"))
    return table


def _below(pid: int, table: dict[int, tuple[int, bool]]) -> list[int]:
    children: dict[int, list[int]] = {}
    for child, (parent, _) in table.items():
        children.setdefault(parent, []).append(child)
    found = list(children.get(pid, ()))
    for parent in found:  # grows while it is walked
        found.extend(children.get(parent, ()))
    return found


def _kill(pid: int) -> bool:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
        return True
    return False


def _kill_tagged(tag: str) -> list[int]:
    return [pid for pid in _tagged(tag) if _kill(pid)]


def _tagged(tag: str) -> Iterator[int]:
    mark = f"{TAG}={tag}".encode()
    if not _PROC.is_dir():
        yield from _tagged_elsewhere(tag)
        return
    for name in os.listdir(_PROC):
        if name.isdecimal():
            with contextlib.suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
                if mark in file.read().split(b"\0"):
                    yield int(name)


def _tagged_elsewhere(tag: str) -> Iterator[int]:
    import psutil

    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(TAG) == tag:
                yield process.pid
