"""Rows, their bytes, and the root hash over them."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from counterproof.core.errors import CorruptLedgerError, LedgerError

EVENT = "event"
DONE = "done"
_CODES = {EVENT: 0, DONE: 1}
_KINDS = (EVENT, DONE)
_FRAME = struct.Struct("<IIIqB")
_LENGTH = struct.Struct("<Q")
_ROW = struct.Struct("<qQQQQ")
_ROOT_TAG = b"counterproof stage root 1"


@dataclass(frozen=True, slots=True)
class Row:
    """One transition of one item.

    Attributes:
        item: The item's key.
        seq: Number of the transition within the item, from 0.
        kind: `event` (a request was answered) or `done` (the item ended).
        request: Digest of the request; "" for `done`.
        payload: Packed outcomes, or the encoded result.
    """

    item: str
    seq: int
    kind: str
    request: str
    payload: bytes


@dataclass(frozen=True, slots=True)
class Note:
    """A measured quantity that may differ from run to run (a time, a cost); never part of a root."""

    item: str
    seq: int
    name: str
    value: float


def rank(row: Row) -> tuple[str, bool, int]:
    """Return the sort key of canonical order: by item (code points), events before done, then by number."""
    return row.item, row.kind == DONE, row.seq


def encode(rows: Sequence[Row]) -> bytes:
    """Return rows as frames: lengths of item, request and payload (u32), number (i64), kind (u8), then the three.

    Raises:
        LedgerError: A row has a kind, number or text that cannot be recorded.
    """
    parts: list[bytes] = []
    for row in rows:
        try:
            item, request = row.item.encode(), row.request.encode()
            head = _FRAME.pack(len(item), len(request), len(row.payload), row.seq, _CODES[row.kind])
        except (struct.error, KeyError, UnicodeEncodeError) as error:
            raise LedgerError(f"row {row.seq!r} of item {row.item!r:.80} cannot be recorded: {error!r}") from None
        parts += (head, item, request, row.payload)
    return b"".join(parts)


def decode(body: bytes) -> list[Row]:
    """Return the rows that `encode` wrote.

    Raises:
        ValueError: The bytes are not of that form.
    """
    rows: list[Row] = []
    position, size = 0, len(body)
    while position < size:
        try:
            item_size, request_size, payload_size, seq, code = _FRAME.unpack_from(body, position)
        except struct.error as error:
            raise ValueError(str(error)) from None
        item_at = position + _FRAME.size
        request_at = item_at + item_size
        payload_at = request_at + request_size
        position = payload_at + payload_size
        if position > size or code >= len(_KINDS):
            raise ValueError("a frame is longer than its batch or of unknown kind")
        item, request = body[item_at:request_at].decode(), body[request_at:payload_at].decode()
        rows.append(Row(item, seq, _KINDS[code], request, body[payload_at:position]))
    return rows


def distinct(rows: Iterable[Row], where: str) -> Iterator[Row]:
    """Yield rows in canonical order, each once.

    Raises:
        CorruptLedgerError: Two rows of one key differ, or an item is done twice.
    """
    last: Row | None = None
    for row in rows:
        if last is not None and row.item == last.item and row.kind == last.kind:
            if row == last:
                continue
            if row.seq == last.seq or row.kind == DONE:
                raise CorruptLedgerError(f"{where}: item {row.item!r} has two different rows as {row.kind} {row.seq}")
        yield row
        last = row


def stage_root(stage: str, plan: str, source: str, after: Sequence[str], rows: Iterable[Row]) -> str:
    """Return the root of a stage over its rows in canonical order, in hexadecimal.

    With |x| for x as UTF-8 preceded by its length (u64, little-endian), u64 and i64 little-endian:

    - row = SHA-256(i64(seq) u64 u64 u64 u64 item kind request payload), the four being the lengths of what follows
    - item = SHA-256(|item key| row row ...), events by number, then done
    - root = SHA-256(|tag| |stage| |plan hash| |source hash| u64(number of earlier roots) |earlier root| ... item item
      ...), items in code point order of their keys

    So it depends neither on the order in which items ended, nor on batches, segments or the file format.
    """
    root = hashlib.sha256(b"".join(map(_prefixed, (_ROOT_TAG, stage.encode(), plan.encode(), source.encode()))))
    root.update(_LENGTH.pack(len(after)) + b"".join(_prefixed(earlier.encode()) for earlier in after))
    key: str | None = None
    item = hashlib.sha256()
    for row in rows:
        if row.item != key:
            if key is not None:
                root.update(item.digest())
            key = row.item
            item = hashlib.sha256(_prefixed(key.encode()))
        item.update(_row_digest(row))
    if key is not None:
        root.update(item.digest())
    return root.hexdigest()


def _row_digest(row: Row) -> bytes:
    item, kind, request = row.item.encode(), row.kind.encode(), row.request.encode()
    lengths = _ROW.pack(row.seq, len(item), len(kind), len(request), len(row.payload))
    return hashlib.sha256(b"".join((lengths, item, kind, request, row.payload))).digest()


def _prefixed(data: bytes) -> bytes:
    return _LENGTH.pack(len(data)) + data
