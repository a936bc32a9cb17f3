import hashlib
import struct

import pytest

from counterproof.core.errors import CorruptLedgerError, LedgerError
from counterproof.store.rows import DONE, EVENT, Row, decode, distinct, encode, stage_root


def prefixed(data: bytes) -> bytes:
    return struct.pack("<Q", len(data)) + data


def row_digest(seq: int, item: bytes, kind: bytes, request: bytes, payload: bytes) -> bytes:
    lengths = struct.pack("<qQQQQ", seq, len(item), len(kind), len(request), len(payload))
    return hashlib.sha256(lengths + item + kind + request + payload).digest()


def test_root_is_the_documented_formula() -> None:
    rows = [Row("a", 0, EVENT, "q", b"x"), Row("a", 1, DONE, "", b"yz"), Row("é", 0, DONE, "", b"")]
    first = hashlib.sha256(
        prefixed(b"a") + row_digest(0, b"a", b"event", b"q", b"x") + row_digest(1, b"a", b"done", b"", b"yz")
    ).digest()
    second = hashlib.sha256(prefixed("é".encode()) + row_digest(0, "é".encode(), b"done", b"", b"")).digest()
    head = b"".join(map(prefixed, (b"counterproof stage root 1", b"audit", b"plan", b"source")))
    expected = hashlib.sha256(head + struct.pack("<Q", 1) + prefixed(b"earlier") + first + second).hexdigest()
    assert stage_root("audit", "plan", "source", ("earlier",), rows) == expected


@pytest.mark.parametrize(
    ("stage", "plan", "source", "after", "rows"),
    [
        ("other", "p", "s", (), [Row("a", 0, DONE, "", b"x")]),
        ("audit", "other", "s", (), [Row("a", 0, DONE, "", b"x")]),
        ("audit", "p", "other", (), [Row("a", 0, DONE, "", b"x")]),
        ("audit", "p", "s", ("r",), [Row("a", 0, DONE, "", b"x")]),
        ("audit", "p", "s", (), []),
        ("audit", "p", "s", (), [Row("b", 0, DONE, "", b"x")]),
        ("audit", "p", "s", (), [Row("a", 1, DONE, "", b"x")]),
        ("audit", "p", "s", (), [Row("a", 0, EVENT, "", b"x")]),
        ("audit", "p", "s", (), [Row("a", 0, DONE, "x", b"")]),
        ("audit", "p", "s", (), [Row("a", 0, DONE, "", b"x"), Row("b", 0, DONE, "", b"x")]),
    ],
)
def test_root_depends_on_every_part(
    stage: str, plan: str, source: str, after: tuple[str, ...], rows: list[Row]
) -> None:
    assert stage_root(stage, plan, source, after, rows) != stage_root(
        "audit", "p", "s", (), [Row("a", 0, DONE, "", b"x")]
    )


@pytest.mark.parametrize(
    "row",
    [
        Row("a", 0, "other", "", b""),
        Row("a", 1 << 63, EVENT, "", b""),
        Row("\ud800", 0, EVENT, "", b""),
    ],
    ids=["kind", "number", "surrogate"],
)
def test_row_that_cannot_be_recorded_is_named(row: Row) -> None:
    with pytest.raises(LedgerError, match=r"row \d+ of item .* cannot be recorded"):
        encode([row])


@pytest.mark.parametrize("cut", [1, 10, 24, 26])
def test_cut_frames_are_no_rows(cut: int) -> None:
    body = encode([Row("item", 3, EVENT, "r", b"payload")])
    with pytest.raises(ValueError, match=r"a frame is longer than its batch|unpack_from requires a buffer"):
        decode(body[:cut])


def test_equal_rows_count_once() -> None:
    row = Row("a", 0, EVENT, "", b"x")
    assert list(distinct([row, row], "here")) == [row]


@pytest.mark.parametrize(
    "rows",
    [
        [Row("a", 0, EVENT, "", b"x"), Row("a", 0, EVENT, "", b"y")],
        [Row("a", 1, DONE, "", b"x"), Row("a", 2, DONE, "", b"x")],
    ],
    ids=["event", "done twice"],
)
def test_two_rows_under_one_key_are_corruption(rows: list[Row]) -> None:
    with pytest.raises(CorruptLedgerError, match="here: item 'a' has two different rows"):
        list(distinct(rows, "here"))
