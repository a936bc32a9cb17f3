"""The one driver of episodes: it performs requests in batches, records each transition, and feeds outcomes back."""

from __future__ import annotations

import gc
import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from counterproof.core.episodes import Ask, Done, Episode, Event, Request, Verify
from counterproof.core.errors import CorruptLedgerError, PlanError
from counterproof.core.outcomes import Outcome, pack, unpack
from counterproof.core.seeds import ItemSeed
from counterproof.engines import Engine
from counterproof.store import Note, Row, StageWriter

BATCH_CALLS = 512
"""The most calls and the most episodes a batch: enough to spread the cost of an fsync, few enough to bound memory."""

BATCH_SECONDS = 2.0
"""What a batch should take at most: after Ctrl-C or a kill no more than the batches in progress is paid again."""

FIRST_CALLS = 8
"""Calls of the first batches, when nothing is known of how long a call takes."""

GROWTH = 4
"""How many times larger than the last ones the next batches may be."""

SWEEP = 32
"""Batches between two collections of young garbage."""

Item = TypeVar("Item")
Context = TypeVar("Context")


class Progress(Protocol):
    """Told how a stage gets on."""

    def advance(self, items: int, calls: int) -> None:
        """Note that so many more items have ended, or had ended before, and calls were answered."""
        ...


@dataclass(frozen=True, slots=True)
class Driven:
    """What a stage took.

    Attributes:
        items: Items that ended in this run.
        resumed: Items that had ended before.
        calls: Calls paid in this run.
        recalled: Calls whose outcomes came from the ledger.
    """

    items: int
    resumed: int
    calls: int
    recalled: int


@dataclass(frozen=True, slots=True)
class _Live:
    """An episode that waits for the answer to a request."""

    key: str
    state: Any
    request: Verify | Ask
    seq: int


@dataclass(frozen=True, slots=True)
class Means:
    """What a stage is driven with.

    Attributes:
        seed: The run's seed.
        engine: Performs `Verify` requests, and `Ask` requests where `answers` says so.
        writer: The open stage of the ledger.
        batch_calls: The most calls a batch; slow verifiers get fewer, so that a batch takes `BATCH_SECONDS`.
        progress: Told how it gets on.
        answers: Whether the engine's verifiers include those whom `Ask` requests name.
    """

    seed: int
    engine: Engine
    writer: StageWriter
    batch_calls: int = BATCH_CALLS
    progress: Progress | None = None
    answers: bool = False


class _Drive(Generic[Item, Context]):
    """One stage in progress: episodes waiting for a batch, batches in flight, ended items not yet recorded."""

    def __init__(self, episode: Episode[Item, Context, Any, Any], context: Context, means: Means) -> None:
        self.episode, self.context, self.means = episode, context, means
        self.waiting: deque[_Live] = deque()
        self.waiting_calls = 0
        self.pace = min(FIRST_CALLS, means.batch_calls)
        self.flying: dict[int, list[_Live]] = {}
        self.ended: list[Row] = []
        self.items = self.resumed = self.calls = self.recalled = 0
        self.told_items = self.told_calls = 0

    def submit(self, ticket: int, stream: Iterator[tuple[str, Item]]) -> bool:
        """Fill one batch from the stream and hand it to the engine; return whether there was anything to hand over."""
        most = self.means.batch_calls
        while self.waiting_calls < self.pace and len(self.waiting) < most and (entry := next(stream, None)) is not None:
            self._begin(*entry)
            if len(self.ended) >= most:
                self.finish()
            if self.items + self.resumed - self.told_items >= most:
                self.tell()
        lives = self._batch()
        if lives:
            self.flying[ticket] = lives
            jobs = [(_answerer(live.request), call.record) for live in lives for call in live.request.calls]
            self.means.engine.submit(ticket, jobs)
        return bool(lives)

    def collect(self) -> None:
        """Wait for a batch, record its answers durably, and only then feed them back."""
        ticket, outcomes, seconds = self.means.engine.collect()
        self._answer(self.flying.pop(ticket), outcomes)
        self._keep_pace(len(outcomes), seconds)
        self.means.writer.note([Note(f"batch {ticket}", 0, "seconds", seconds)])
        self.tell()

    def tell(self) -> None:
        """Tell the progress what it was not told yet."""
        items, calls = self.items + self.resumed - self.told_items, self.calls - self.told_calls
        if self.means.progress is not None and (items or calls):
            self.means.progress.advance(items, calls)
        self.told_items += items
        self.told_calls += calls

    def finish(self) -> None:
        """Record the items that ended since the last batch."""
        if self.ended:
            self.means.writer.append(self.ended)
            self.ended = []

    def _keep_pace(self, calls: int, seconds: float) -> None:
        """Set the size of the next batches by what one took."""
        if calls:
            affordable = int(BATCH_SECONDS * calls / max(seconds, 1e-6))
            self.pace = max(1, min(affordable, GROWTH * self.pace, self.means.batch_calls))

    def _begin(self, key: str, item: Item) -> None:
        """Start an item, and feed it what the ledger already holds."""
        if key in self.means.writer.finished:
            self.resumed += 1
            return
        state = self.episode.start(item, self.context, ItemSeed(self.means.seed, key))
        state, answer = self.episode.step(state, None)
        seq = 0
        for row in self.means.writer.events(key):
            if isinstance(answer, Done) or row.request != request_digest(answer):
                raise CorruptLedgerError(
                    f"item {key}: the recorded event {row.seq} answers another request than the one made now; "
                    "data, settings or source changed"
                )
            outcomes = unpack(row.payload)
            self.recalled += len(outcomes)
            state, answer = self.episode.step(state, Event(outcomes))
            seq = row.seq + 1
        self._next(key, state, answer, seq)

    def _next(self, key: str, state: Any, answer: Request | Done[Any], seq: int) -> None:
        if isinstance(answer, Done):
            self.ended.append(Row(key, seq, "done", "", self.episode.encode(answer.result)))
            self.items += 1
        elif isinstance(answer, Verify) or (self.means.answers and isinstance(answer, Ask)):
            self.waiting.append(_Live(key, state, answer, seq))
            self.waiting_calls += len(answer.calls)
        else:
            raise PlanError(f"nothing in this study performs a {type(answer).__name__} request (item {key})")

    def _batch(self) -> list[_Live]:
        """Take waiting episodes with about as many calls as a batch should hold; at least one, whatever it asks."""
        taken: list[_Live] = []
        calls = 0
        while self.waiting and len(taken) < self.means.batch_calls:
            asked = len(self.waiting[0].request.calls)
            if taken and calls + asked > self.pace:
                break
            taken.append(self.waiting.popleft())
            calls += asked
        self.waiting_calls -= calls
        return taken

    def _answer(self, lives: list[_Live], outcomes: list[Outcome]) -> None:
        rows, events, start = self.ended, [], 0
        self.ended = []
        for live in lives:
            end = start + len(live.request.calls)
            event = Event(tuple(outcomes[start:end]))
            rows.append(Row(live.key, live.seq, "event", request_digest(live.request), pack(event.outcomes)))
            events.append(event)
            start = end
        self.means.writer.append(rows)
        self.calls += start
        for live, event in zip(lives, events, strict=True):
            state, answer = self.episode.step(live.state, event)
            self._next(live.key, state, answer, live.seq + 1)


def drive(
    episode: Episode[Item, Context, Any, Any], items: Iterable[tuple[str, Item]], context: Context, means: Means
) -> Driven:
    """Run the episodes of all items to their end, and return what it took.

    Items are taken from the stream as they are needed. What an item gets depends on its key and the run's seed alone,
    so batches, order and engines do not matter; a batch holds about `BATCH_SECONDS` of calls as measured. A request is
    never split: its answers are recorded together. After a crash or Ctrl-C the same call goes on where the ledger ends.

    Args:
        episode: The state machine that every item runs through.
        items: Key and item; keys are unique.
        context: What all episodes share.
        means: Seed, engine, ledger stage, and how large a batch is.

    Raises:
        PlanError: An episode asks for what nothing here performs.
        CorruptLedgerError: The ledger answers another request than the one made now.
    """
    run = _Drive(episode, context, means)
    stream = iter(items)
    ticket = 0
    with _young_garbage_only() as sweep:
        while True:
            while len(run.flying) < 2 * means.engine.slots and run.submit(ticket, stream):
                ticket += 1
            if not run.flying:
                break
            run.collect()
            if ticket % SWEEP == 0:
                sweep()
        run.finish()
        run.tell()
    return Driven(run.items, run.resumed, run.calls, run.recalled)


@contextmanager
def _young_garbage_only() -> Iterator[Callable[[], object]]:
    """Keep the cyclic collector from walking the whole heap while a stage runs; yields what to call now and then.

    What an episode makes is freed by reference counts. With the collector on, the many short-lived records of a batch
    make it walk the corpus and the pool again and again (what that costs: docs/decisions/0006).
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield lambda: gc.collect(0)
    finally:
        if was_on:
            gc.enable()


def _answerer(request: Verify | Ask) -> str:
    return request.verifier if isinstance(request, Verify) else request.model


def request_digest(request: Request) -> str:
    """Return the SHA-256 of what identifies a request: its kind, who answers it, and the names of its calls."""
    who = getattr(request, "verifier", getattr(request, "model", getattr(request, "oracle", "")))
    text = "\x1f".join((type(request).__name__, who, *[call.name for call in request.calls]))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
