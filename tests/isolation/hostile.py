"""Verifiers that misbehave, one each; a worker imports this file and calls them by name."""

from __future__ import annotations

import ctypes
import itertools
import os
import random
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from counterproof.core.outcomes import Failed, Scored


class Perform:
    greeting = "reward(answer)"

    def __call__(self, verifier: str, record: Any) -> Any:
        return globals()[verifier](record)


def make(payload: bytes) -> Callable[[str, Any], Any]:
    if payload == b"raise":
        raise ValueError("no such reward")
    if payload == b"exit":
        sys.exit(4)
    if payload == b"die":
        print("last words", flush=True)
        os._exit(5)
    if payload == b"hang":
        time.sleep(60)
    if payload == b"server":
        _sleeping_child()
    return Perform()


def echo(record: Any) -> Any:
    return record


def hang(record: Any) -> Any:
    while True:
        time.sleep(0.01)


def hang_deaf(record: Any) -> Any:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    return hang(record)


def exit_now(record: Any) -> Any:
    os._exit(3)


def crash(record: Any) -> Any:
    return ctypes.string_at(0)


def kill_itself(record: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def system_exit(record: Any) -> Any:
    sys.exit(7)


def interrupt(record: Any) -> Any:
    raise KeyboardInterrupt


def raise_error(record: Any) -> Any:
    raise ValueError(f"bad {record}")


def raise_unprintable(record: Any) -> Any:
    class UnprintableError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    raise UnprintableError


def recurse(record: Any) -> Any:
    return recurse(record)


def recurse_without_end(record: Any) -> Any:
    sys.setrecursionlimit(1 << 30)
    return list(map(recurse_without_end, [record]))


def print_much(record: Any) -> Any:
    sys.stdout.write("x" * 5_000_000)
    sys.stderr.write("y" * 5_000_000)
    print("the end")
    return 1.0


def print_line(record: Any) -> Any:
    print(f"judging {record}")
    return 1.0


def close_stdout(record: Any) -> Any:
    sys.stdout.close()
    os.close(2)
    return 1.0


def close_everything(record: Any) -> Any:
    os.closerange(0, 1024)
    return 1.0


def close_everything_and_hang(record: Any) -> Any:
    os.closerange(0, 1024)
    return hang(record)


def write_everywhere(record: Any) -> Any:
    for descriptor in range(3, 256):
        try:
            os.write(descriptor, b"noise")
        except OSError:
            continue
    return 1.0


def forge(record: Any) -> Any:
    """Reply in the worker's stead: the right nonce (found in memory), the wrong call number."""
    frame = sys._getframe()
    while "nonce" not in frame.f_locals:
        frame = frame.f_back  # type: ignore[assignment]
    os.write(frame.f_locals["replies"], struct.pack("<8siI", frame.f_locals["nonce"], 77, 2) + b"{}")
    return 1.0


def forge_payload(record: Any) -> Any:
    """The right head with a payload that holds no outcome: nested JSON, which a naive parser falls over."""
    frame = sys._getframe()
    while "nonce" not in frame.f_locals:
        frame = frame.f_back  # type: ignore[assignment]
    body = b"[" * 100_000
    payload = struct.pack("<I", len(body)) + body
    head = struct.pack("<8siI", frame.f_locals["nonce"], frame.f_locals["number"], len(payload))
    os.write(frame.f_locals["replies"], head + payload)
    return 1.0


def forge_nan(record: Any) -> Any:
    return Scored(float("nan"))


def forge_text(record: Any) -> Any:
    return Scored("1.0")  # type: ignore[arg-type]


def forge_reason(record: Any) -> Any:
    return Failed(["a", "list"])  # type: ignore[arg-type]


def huge(record: Any) -> Any:
    return Scored(1.0, (("x" * (1 << 25), 1.0),))


def hog(record: Any) -> Any:
    return len(bytearray(1 << 31))


def big_file(record: Any) -> Any:
    Path(record).write_bytes(b"x" * 1_000_000)
    return 1.0


def _sleeping_child() -> int:
    pid = os.fork()
    if pid == 0:
        time.sleep(60)
        os._exit(0)
    return pid


def fork_three(record: str) -> Any:
    Path(record).write_text("\n".join(str(_sleeping_child()) for _ in range(3)))
    return 1.0


def _daemon(path: str) -> None:
    """Detach by the book: fork, setsid, fork; the process that remains writes its id."""
    if os.fork():
        while not Path(path).exists():
            time.sleep(0.005)
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    Path(path + ".part").write_text(str(os.getpid()))
    os.rename(path + ".part", path)
    time.sleep(60)
    os._exit(0)


def daemon(record: str) -> Any:
    _daemon(record)
    return 1.0


def daemon_and_hang(record: str) -> Any:
    _daemon(record)
    return hang(record)


def daemon_and_exit(record: str) -> Any:
    _daemon(record)
    os._exit(3)


def fork_and_return(record: Any) -> Any:
    os.fork()
    return 5.0


def leave_threads(record: Any) -> Any:
    for daemonic in (True, False):
        threading.Thread(target=time.sleep, args=(60,), daemon=daemonic).start()
    return 1.0


def change_the_world(record: Any) -> Any:
    os.chdir("/")
    os.environ.clear()
    random.seed(0)
    sys.path.clear()
    sys.modules.pop("json", None)
    return 1.0


_counter = itertools.count()


def count(record: Any) -> Any:
    return next(_counter)
