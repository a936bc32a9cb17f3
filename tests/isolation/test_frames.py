from __future__ import annotations

import pytest

from counterproof.isolation import frames

NONCE = b"12345678"


def test_replies_arrive_whole_however_they_are_cut() -> None:
    stream = frames.reply(NONCE, 0, b"first") + frames.reply(NONCE, 1, b"")
    replies = frames.Replies(NONCE)
    taken: list[bytes] = []
    for i in range(len(stream)):
        replies.feed(stream[i : i + 1])
        payload = replies.take(len(taken))
        if payload is not None:
            taken.append(payload)
    assert taken == [b"first", b""]
    assert replies.take(2) is None


@pytest.mark.parametrize(
    "stream",
    [
        b"x",
        b"1234x",
        frames.reply(b"87654321", 0, b""),
        frames.reply(NONCE, 1, b""),
        frames.REPLY.pack(NONCE, 0, frames.LARGEST + 1),
    ],
)
def test_foreign_bytes_are_refused_at_once(stream: bytes) -> None:
    replies = frames.Replies(NONCE)
    replies.feed(stream)
    with pytest.raises(frames.ForeignBytes):
        replies.take(0)
