"""A toy study of several steps an item; also a program, for the test that kills it.

python walks.py FOLDER ITEMS    run, or resume, in a killable worker, and print the root

An item is a whole number n. Its episode makes n % 4 requests of n % 3 + 1 calls each, and what it asks depends on what
was answered before, so that resuming in mid-episode must rebuild the state.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from counterproof.core.episodes import Call, Done, Event, Request, Verify
from counterproof.core.outcomes import Outcome, Scored, unpack
from counterproof.core.plan import Plan
from counterproof.core.seeds import ItemSeed
from counterproof.engines import Engine, Isolated, SerialEngine
from counterproof.store import DONE, EVENT, Ledger, Row
from counterproof.study.driver import BATCH_CALLS, Driven, Means, drive

SEED = 11
STAGE = "walk"
PLAN = Plan("rewards", "question", ("walk",), (), SEED, (STAGE,))


@dataclass(frozen=True, slots=True)
class Walking:
    """How far an item got, and the sum of its scores."""

    number: int
    salt: float
    total: float = 0.0
    step: int = 0


@dataclass(frozen=True, slots=True)
class Walk:
    """The toy episode; `word` is part of the names of its calls."""

    word: str = "call"

    def start(self, item: int, context: float, seed: ItemSeed) -> Walking:
        return Walking(item, context * seed.fraction())

    def step(self, state: Walking, event: Event | None) -> tuple[Walking, Request | Done[float]]:
        if event is not None:
            scores = [one.score for one in event.outcomes if isinstance(one, Scored)]
            state = Walking(state.number, state.salt, state.total + sum(scores), state.step + 1)
        if state.step == state.number % 4:
            return state, Done(state.total)
        records = [state.number + state.salt + state.total + i for i in range(state.number % 3 + 1)]
        return state, Verify(tuple(Call(f"{self.word} {state.step}.{i}", one) for i, one in enumerate(records)))

    def encode(self, result: float) -> bytes:
        return json.dumps(result).encode()


def key_of(number: int) -> str:
    return f"item-{number:03d}"


def keyed(numbers: Iterable[int]) -> Iterable[tuple[str, int]]:
    return ((key_of(number), number) for number in numbers)


def halved(record: float) -> Outcome:
    return Scored(record / 2)


def expected(numbers: Iterable[int], context: float = 1.0) -> dict[str, bytes]:
    """The result of every item, by a plain loop."""
    found = {}
    for number in numbers:
        salt = context * ItemSeed(SEED, key_of(number)).fraction()
        total = 0.0
        for _ in range(number % 4):
            total += sum((number + salt + total + i) / 2 for i in range(number % 3 + 1))
        found[key_of(number)] = json.dumps(total).encode()
    return found


def calls_of(numbers: Iterable[int]) -> int:
    return sum((number % 4) * (number % 3 + 1) for number in numbers)


def recorded(rows: Iterable[Row]) -> int:
    """How many calls the ledger holds the outcomes of."""
    return sum(len(unpack(row.payload)) for row in rows if row.kind == EVENT)


def results(rows: Iterable[Row]) -> dict[str, bytes]:
    return {row.item: row.payload for row in rows if row.kind == DONE}


def walk(
    folder: Path, numbers: Sequence[int], engine: Engine, batch_calls: int = BATCH_CALLS, episode: Any = None
) -> tuple[Driven, str]:
    """Run, or go on with, the toy study, freeze it, and return what it took and its root."""
    with engine, Ledger.create(folder, PLAN, {}).writer(STAGE) as writer:  # type: ignore[attr-defined]
        driven = drive(episode or Walk(), keyed(numbers), 1.0, Means(SEED, engine, writer, batch_calls))
        return driven, writer.freeze()


def make(payload: bytes) -> Callable[[str, Any], Outcome]:
    """What a worker calls: a slow verifier that notes each call in a file before it answers."""
    counter = os.open(payload.decode(), os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def perform(verifier: str, record: Any) -> Outcome:
        time.sleep(0.002)
        os.write(counter, b".")
        return halved(record)

    return perform


if __name__ == "__main__":
    where, count = Path(sys.argv[1]), int(sys.argv[2])
    host = Isolated("tests.study.walks:make", str(where / "calls").encode())
    where.mkdir(exist_ok=True)
    print(walk(where, range(count), SerialEngine(host), batch_calls=7)[1])
