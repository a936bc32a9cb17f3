"""How parent and worker talk: pickled requests down (the parent is trusted), packed outcomes up (the worker is not)."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from counterproof.core.errors import IsolationError
from counterproof.isolation.limits import Limits

REQUEST = struct.Struct("<IQ")
"""Head of a request: the number of calls, and the size of the pickle that follows."""
REPLY = struct.Struct("<8siI")
"""Head of a reply: the nonce of this worker, the number of the call (or GREETING), and the size of what follows."""
GREETING = -1
"""Number of the reply that says whether the verifier could be imported; JSON, not outcomes."""
LARGEST = 1 << 24
"""Most bytes in one reply."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What the parent sends first.

    Attributes:
        nonce: Stands before each reply.
        factory: `module:function` that makes the callable `perform(verifier, record)`.
        payload: Its argument.
        limits: Resource limits, set before the factory is imported.
        path: The parent's `sys.path`.
    """

    nonce: bytes
    factory: str
    payload: bytes
    limits: Limits
    path: tuple[str, ...]


class ForeignBytes(IsolationError):  # noqa: N818 - names what was found in the pipe
    """The reply pipe holds bytes that the worker's own loop did not write."""


def request(count: int, pickled: bytes) -> bytes:
    """Return the frame of a request for `count` calls."""
    return REQUEST.pack(count, len(pickled)) + pickled


def reply(nonce: bytes, number: int, payload: bytes) -> bytes:
    """Return the frame of the reply to call `number`."""
    return REPLY.pack(nonce, number, len(payload)) + payload


class Replies:
    """Cuts the bytes of the reply pipe into frames and trusts none of them."""

    def __init__(self, nonce: bytes) -> None:
        self._nonce = nonce
        self._buffer = bytearray()

    def feed(self, chunk: bytes) -> None:
        """Append what was read from the pipe."""
        self._buffer += chunk

    def take(self, number: int) -> bytes | None:
        """Return the payload of the reply to call `number`, or None while it is incomplete.

        Raises:
            ForeignBytes: What arrived is not that reply.
        """
        buffer = self._buffer
        if not buffer:
            return None
        if not self._nonce.startswith(buffer[:8]):
            raise ForeignBytes("wrote to the reply channel")
        if len(buffer) < REPLY.size:
            return None
        _, found, size = REPLY.unpack_from(buffer)
        if found != number or size > LARGEST:
            raise ForeignBytes("sent a reply that was not asked for")
        end = REPLY.size + size
        if len(buffer) < end:
            return None
        payload = bytes(buffer[REPLY.size : end])
        del buffer[:end]
        return payload
