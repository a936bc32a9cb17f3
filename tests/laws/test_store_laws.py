"""What holds for every ledger: one root whatever the way, rows come back, no damage passes."""

import random
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from counterproof.core.plan import Plan
from counterproof.store import DONE, EVENT, Ledger, Row
from counterproof.store.rows import decode, encode

PLAN = Plan("rewards", "question", ("edit",), (), 7, ("audit",))
TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
ROWS = st.builds(Row, TEXT, st.integers(-(1 << 63), (1 << 63) - 1), st.sampled_from((EVENT, DONE)), TEXT, st.binary())
ITEMS = st.dictionaries(TEXT, st.lists(st.binary(max_size=30), min_size=1, max_size=4), max_size=8)


def episode(item: str, payloads: list[bytes]) -> list[Row]:
    last = len(payloads) - 1
    return [
        Row(item, seq, DONE if seq == last else EVENT, "" if seq == last else f"r{seq}", payload)
        for seq, payload in enumerate(payloads)
    ]


def interleaved(items: dict[str, list[bytes]], order: random.Random) -> list[Row]:
    """All rows in a random order that keeps each item's own order."""
    queues = [episode(item, payloads) for item, payloads in items.items()]
    rows = []
    while queues := [queue for queue in queues if queue]:
        rows.append(order.choice(queues).pop(0))
    return rows


def recorded(folder: Path, rows: list[Row], batch: int, compact_at: int) -> tuple[str, list[Row]]:
    """Write rows in batches, closing the ledger and resuming once in the middle."""
    ledger = Ledger.create(folder, PLAN, {})
    batches = [rows[start : start + batch] for start in range(0, len(rows), batch)]
    with ledger.writer("audit", compact_at=compact_at) as writer:
        for rows in batches[: len(batches) // 2]:
            writer.append(rows)
    with ledger.writer("audit", compact_at=compact_at) as writer:
        for rows in batches[len(batches) // 2 :]:
            writer.append(rows)
        root = writer.freeze()
    assert ledger.verify() == ()
    return root, list(ledger.rows("audit"))


@given(st.lists(ROWS, max_size=10))
def test_frames_come_back_as_they_went(rows: list[Row]) -> None:
    assert decode(encode(rows)) == rows


@settings(max_examples=15)
@given(ITEMS, st.integers(), st.sampled_from((1, 3, 100)), st.sampled_from((1, 200, 1 << 30)))
def test_root_and_rows_depend_on_no_order_batch_or_segment(
    items: dict[str, list[bytes]], seed: int, batch: int, compact_at: int
) -> None:
    plain = [row for item in sorted(items, reverse=True) for row in episode(item, items[item])]
    mixed = interleaved(items, random.Random(seed))
    with tempfile.TemporaryDirectory() as folder:
        root, rows = recorded(Path(folder, "one"), plain, 1000, 1 << 30)
        assert recorded(Path(folder, "other"), mixed, batch, compact_at) == (root, rows)
    assert rows == [row for item in sorted(items) for row in episode(item, items[item])]


@settings(max_examples=60)
@given(st.data())
def test_no_changed_byte_passes(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger.create(Path(folder), PLAN, {})
        with ledger.writer("audit") as writer:
            writer.append(episode("a", [b"one", b"two"]))
            if data.draw(st.booleans(), label="segment"):
                writer.compact()
        files = sorted(Path(folder, "ledger", "audit").iterdir())
        path = data.draw(st.sampled_from(files))
        content = bytearray(path.read_bytes())
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
        path.write_bytes(content)
        assert [problem.where for problem in ledger.verify()] == [str(path)]
