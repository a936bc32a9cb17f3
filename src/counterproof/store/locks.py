"""One writer at a time: an exclusive lock that the operating system gives up when its holder dies."""

from __future__ import annotations

import fcntl
import os
import weakref
from pathlib import Path

from counterproof.core.errors import LockedLedgerError


class WriterLock:
    """An exclusive `flock` on a file that names its holder.

    It is free again as soon as the holder ends, even by SIGKILL; what the file says is only for the message.

    Raises:
        LockedLedgerError: Somebody holds it.
        OSError: The file cannot be made.
    """

    __slots__ = ("__weakref__", "_descriptor")

    def __init__(self, path: Path) -> None:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 32).decode("ascii", "replace").strip()
            os.close(descriptor)
            raise LockedLedgerError(
                f"{path.parent}: process {holder or '(unknown)'} is writing here; wait for it, or stop it and resume"
            ) from None
        except OSError:
            os.close(descriptor)
            raise
        self._descriptor: int | None = descriptor
        _HELD.add(self)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Give the lock up; again is harmless."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


_HELD: weakref.WeakSet[WriterLock] = weakref.WeakSet()


def _let_go_in_child() -> None:
    for lock in list(_HELD):
        lock.release()


# A forked worker shares the open file: if it outlived a killed writer it would keep the ledger locked. Closing the
# worker's copy leaves the writer's lock in place.
os.register_at_fork(after_in_child=_let_go_in_child)
