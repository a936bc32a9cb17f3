from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from counterproof.core.episodes import Ask, Call, Done, Event, Fit, Request, Reveal, Verify
from counterproof.core.errors import CorruptLedgerError, PlanError
from counterproof.core.outcomes import Outcome
from counterproof.core.seeds import ItemSeed
from counterproof.engines import InProcess, Isolated, Job, ProcessEngine, SerialEngine
from counterproof.store import DONE, Ledger
from counterproof.study.driver import Means, drive, request_digest
from tests.study.walks import (
    PLAN,
    SEED,
    STAGE,
    Walk,
    Walking,
    calls_of,
    expected,
    halved,
    key_of,
    keyed,
    recorded,
    results,
    walk,
)

NUMBERS = range(40)


def serial(verifier: Callable[[float], Outcome] = halved) -> SerialEngine:
    return SerialEngine(InProcess({"verifier": verifier}))


def rows(folder: Path) -> list:
    return list(Ledger.open(folder).rows(STAGE))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> str:
    return walk(tmp_path_factory.mktemp("undisturbed"), NUMBERS, serial())[1]


def test_results_are_those_of_a_plain_loop_and_every_call_is_made_once(tmp_path: Path) -> None:
    made: list[float] = []

    def counting(record: float) -> Outcome:
        made.append(record)
        return halved(record)

    driven, _ = walk(tmp_path, NUMBERS, serial(counting))
    assert results(rows(tmp_path)) == expected(NUMBERS)
    assert len(made) == calls_of(NUMBERS) == driven.calls
    assert (driven.items, driven.resumed, driven.recalled) == (40, 0, 0)


@pytest.mark.parametrize("batch_calls", [1, 2, 5, 1000])
def test_root_does_not_depend_on_the_batch_size(tmp_path: Path, undisturbed: str, batch_calls: int) -> None:
    assert walk(tmp_path, NUMBERS, serial(), batch_calls)[1] == undisturbed


def test_root_does_not_depend_on_the_order_of_items(tmp_path: Path, undisturbed: str) -> None:
    numbers = list(NUMBERS)
    assert walk(tmp_path / "back", numbers[::-1], serial(), 5)[1] == undisturbed
    random.Random(3).shuffle(numbers)
    assert walk(tmp_path / "shuffled", numbers, serial(), 5)[1] == undisturbed


@pytest.mark.parametrize("slots", [1, 2, 3])
def test_processes_give_the_root_of_the_serial_run(tmp_path: Path, undisturbed: str, slots: int) -> None:
    counter = str(tmp_path / "calls").encode()
    engine = ProcessEngine(lambda: Isolated("tests.study.walks:make", counter), slots)
    driven, root = walk(tmp_path / "run", NUMBERS, engine, batch_calls=9)
    assert root == undisturbed
    assert driven.calls == calls_of(NUMBERS) == (tmp_path / "calls").stat().st_size


@pytest.mark.parametrize("at", [1, 2, 30, 74])
def test_an_interrupted_run_pays_no_recorded_call_again(tmp_path: Path, undisturbed: str, at: int) -> None:
    made: list[float] = []

    def interrupting(record: float) -> Outcome:
        made.append(record)
        if len(made) == at:
            raise KeyboardInterrupt
        return halved(record)

    with pytest.raises(KeyboardInterrupt):
        walk(tmp_path, NUMBERS, serial(interrupting), batch_calls=4)
    kept = recorded(rows(tmp_path))
    # A batch holds at most four calls here, and all batches before the one that was interrupted are on the disk.
    assert at - 4 <= kept < at
    driven, root = walk(tmp_path, NUMBERS, serial(), batch_calls=6)
    assert root == undisturbed
    assert driven.calls == calls_of(NUMBERS) - kept
    assert results(rows(tmp_path)) == expected(NUMBERS)


def test_recalled_calls_and_resumed_items_are_counted(tmp_path: Path) -> None:
    made: list[float] = []

    def interrupting(record: float) -> Outcome:
        made.append(record)
        if len(made) == 60:
            raise KeyboardInterrupt
        return halved(record)

    with pytest.raises(KeyboardInterrupt):
        walk(tmp_path, NUMBERS, serial(interrupting), batch_calls=1)
    before = rows(tmp_path)
    ended = {row.item for row in before if row.kind == DONE}
    open_calls = recorded(row for row in before if row.item not in ended)
    driven, _ = walk(tmp_path, NUMBERS, serial(), batch_calls=1)
    assert (driven.resumed, driven.items) == (len(ended), 40 - len(ended))
    assert driven.recalled == open_calls
    assert driven.calls == calls_of(NUMBERS) - recorded(before)


@dataclass(frozen=True, slots=True)
class Stumbling(Walk):
    """Raises when item 22 has its first answer."""

    def step(self, state: Walking, event: Event | None) -> tuple[Walking, Request | Done[float]]:
        if state.number == 22 and event is not None:
            raise ZeroDivisionError("item 22")
        return Walk().step(state, event)


def test_answers_are_on_the_disk_before_the_episode_sees_them(tmp_path: Path, undisturbed: str) -> None:
    with pytest.raises(ZeroDivisionError, match="item 22"):
        walk(tmp_path, NUMBERS, serial(), batch_calls=3, episode=Stumbling())
    kept = recorded(rows(tmp_path))
    assert any(row.item == "item-022" for row in rows(tmp_path))
    driven, root = walk(tmp_path, NUMBERS, serial(), batch_calls=3)
    assert root == undisturbed
    assert driven.calls == calls_of(NUMBERS) - kept


def test_killed_process_resumes_to_the_same_root_without_paying_a_recorded_call_again(
    tmp_path: Path, undisturbed: str, repository: Path
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    counter = folder / "calls"
    command = [sys.executable, "-m", "tests.study.walks", str(folder), str(len(NUMBERS))]
    environment = {**os.environ, "PYTHONPATH": f"{repository / 'src'}{os.pathsep}{repository}"}
    first = subprocess.Popen(command, cwd=repository, env=environment, start_new_session=True)
    deadline = time.monotonic() + 60
    while not (counter.exists() and counter.stat().st_size >= 30):
        assert first.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.001)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    kept = recorded(rows(folder))
    assert 0 < kept < calls_of(NUMBERS)
    # The worker of a killed run ends by itself; until then it may still answer what it was sent.
    time.sleep(0.3)
    before = counter.stat().st_size
    again = subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, check=True)
    assert again.stdout.strip() == undisturbed
    assert counter.stat().st_size - before == calls_of(NUMBERS) - kept
    assert Ledger.open(folder).verify() == ()


def test_a_ledger_that_answers_another_request_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        walk(tmp_path, NUMBERS, serial(), episode=Stumbling())
    with pytest.raises(CorruptLedgerError, match=r"item item-022: the recorded event 0 answers another request"):
        walk(tmp_path, [22], serial(), episode=Walk("renamed"))


@dataclass(frozen=True, slots=True)
class Hasty(Walk):
    """Ends before it asks anything."""

    def step(self, state: Walking, event: Event | None) -> tuple[Walking, Request | Done[float]]:
        return state, Done(0.0)


def test_a_ledger_with_answers_that_are_not_asked_for_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        walk(tmp_path, NUMBERS, serial(), episode=Stumbling())
    with pytest.raises(CorruptLedgerError, match="item item-022: the recorded event 0 answers another request"):
        walk(tmp_path, [22], serial(), episode=Hasty())


@dataclass(frozen=True, slots=True)
class Asking:
    """Makes one request of a kind."""

    request: Request

    def start(self, item: int, context: object, seed: ItemSeed) -> int:
        return item

    def step(self, state: int, event: Event | None) -> tuple[int, Request | Done[int]]:
        return state, self.request if event is None else Done(state)

    def encode(self, result: int) -> bytes:
        return b"%d" % result


CALLS = (Call("one", 1.0), Call("other", 2.0))


@pytest.mark.parametrize("request_", [Ask(CALLS, "model"), Fit(CALLS), Reveal(CALLS, "label")])
def test_requests_that_nothing_performs_are_refused_by_kind_and_item(tmp_path: Path, request_: Request) -> None:
    with (
        serial() as engine,
        Ledger.create(tmp_path, PLAN, {}).writer(STAGE) as writer,
        pytest.raises(PlanError, match=rf"{type(request_).__name__} request \(item a\)"),
    ):
        drive(Asking(request_), [("a", 1)], None, Means(SEED, engine, writer))


def test_digest_of_a_request_tells_kind_answerer_and_names_apart_and_nothing_else() -> None:
    same = Verify((Call("one", 5.0), Call("other", None)))
    different: list[Request] = [
        Verify(CALLS),
        Verify(CALLS, "another"),
        Verify(CALLS[::-1]),
        Verify(CALLS[:1]),
        Verify((Call("oneother", 1.0),)),
        Ask(CALLS, "model"),
        Reveal(CALLS, "label"),
        Fit(CALLS),
    ]
    assert request_digest(same) == request_digest(different[0])
    assert len({request_digest(one) for one in different}) == len(different)


def test_an_empty_stream_gives_a_frozen_stage_without_rows(tmp_path: Path) -> None:
    driven, root = walk(tmp_path, [], serial())
    assert (driven.items, driven.calls, len(root)) == (0, 0, 64)
    assert rows(tmp_path) == []


def test_items_that_ask_nothing_are_recorded(tmp_path: Path) -> None:
    driven, _ = walk(tmp_path, [0, 4, 8], serial(), batch_calls=2)
    assert (driven.items, driven.calls) == (3, 0)
    assert results(rows(tmp_path)) == expected([0, 4, 8])


class Told:
    """Adds up what it is told."""

    def __init__(self) -> None:
        self.items = self.calls = 0

    def advance(self, items: int, calls: int) -> None:
        self.items += items
        self.calls += calls


def test_progress_adds_up_to_all_calls_and_all_items_those_without_a_call_included(tmp_path: Path) -> None:
    told = Told()
    with serial() as engine, Ledger.create(tmp_path, PLAN, {}).writer(STAGE) as writer:
        drive(Walk(), keyed(NUMBERS), 1.0, Means(SEED, engine, writer, 5, told))
        writer.freeze()
    assert (told.items, told.calls) == (len(NUMBERS), calls_of(NUMBERS))


def test_progress_counts_resumed_items_and_no_call_twice(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        walk(tmp_path, NUMBERS, serial(), batch_calls=3, episode=Stumbling())
    kept = recorded(rows(tmp_path))
    told = Told()
    with serial() as engine, Ledger.create(tmp_path, PLAN, {}).writer(STAGE) as writer:
        driven = drive(Walk(), keyed(NUMBERS), 1.0, Means(SEED, engine, writer, 3, told))
    assert driven.resumed > 0
    assert (told.items, told.calls) == (len(NUMBERS), calls_of(NUMBERS) - kept)


def test_progress_of_a_stage_without_calls_moves_while_it_runs(tmp_path: Path) -> None:
    moves: list[int] = []

    class Noting(Told):
        def advance(self, items: int, calls: int) -> None:
            moves.append(items)

    numbers = range(0, 400, 4)  # none of them asks for anything
    with serial() as engine, Ledger.create(tmp_path, PLAN, {}).writer(STAGE) as writer:
        drive(Walk(), keyed(numbers), 1.0, Means(SEED, engine, writer, 30, Noting()))
    assert moves == [30, 30, 30, 10]


class Clocked:
    """An engine at which every call takes so many seconds by its own clock; notes the size of each batch."""

    slots = 1

    def __init__(self, seconds: float) -> None:
        self.seconds, self.sizes = seconds, list[int]()
        self.waiting: list[tuple[int, list[Outcome]]] = []

    def submit(self, ticket: int, jobs: Sequence[Job]) -> None:
        self.sizes.append(len(jobs))
        self.waiting.append((ticket, [halved(record) for _, record in jobs]))

    def collect(self) -> tuple[int, list[Outcome], float]:
        ticket, outcomes = self.waiting.pop(0)
        return ticket, outcomes, self.seconds * len(outcomes)

    def close(self) -> None: ...


def sizes(folder: Path, seconds: float, most: int = 512) -> list[int]:
    """Sizes of the batches of items that make one request of one call each."""
    engine = Clocked(seconds)
    with Ledger.create(folder, PLAN, {}).writer(STAGE) as writer:
        drive(Walk(), keyed(range(9, 9 + 12 * 400, 12)), 1.0, Means(SEED, engine, writer, most))
    return engine.sizes


def test_batches_of_a_slow_verifier_shrink_to_two_seconds_and_those_of_a_fast_one_grow(tmp_path: Path) -> None:
    # Two batches are in flight, so the second is made before the first one's time is known.
    assert set(sizes(tmp_path / "slow", 0.5)[2:-1]) == {4}
    assert set(sizes(tmp_path / "slower", 60.0)[2:]) == {1}
    assert sizes(tmp_path / "fast", 1e-5, 100) == [8, 8, 32, 100, 100, 100, 52]
    assert max(sizes(tmp_path / "even", 0.02)) == 100


@dataclass(frozen=True, slots=True)
class Mute:
    """Makes one request without a call."""

    def start(self, item: int, context: object, seed: ItemSeed) -> int:
        return item

    def step(self, state: int, event: Event | None) -> tuple[int, Request | Done[int]]:
        return state, Verify(()) if event is None else Done(state)

    def encode(self, result: int) -> bytes:
        return b"%d" % result


def test_requests_without_a_call_do_not_let_the_whole_stream_in(tmp_path: Path) -> None:
    begun, ahead = 0, []

    def stream() -> Iterator[tuple[str, int]]:
        nonlocal begun
        for number in range(200):
            begun += 1
            yield key_of(number), number

    class Watching(Told):
        def advance(self, items: int, calls: int) -> None:
            super().advance(items, calls)
            ahead.append(begun - self.items)

    with serial() as engine, Ledger.create(tmp_path, PLAN, {}).writer(STAGE) as writer:
        driven = drive(Mute(), stream(), None, Means(SEED, engine, writer, 10, Watching()))
    assert (driven.items, driven.calls) == (200, 0)
    assert max(ahead) <= 2 * 10


def test_memory_is_bounded_by_batches_not_by_the_stream(tmp_path: Path) -> None:
    """The stream is taken as items are needed: at most two batches a slot ahead of what is recorded."""
    taken = 0
    ahead = []

    def stream() -> object:
        nonlocal taken
        for number in range(1, 400, 4):  # one request of one to three calls each
            taken += 1
            yield f"item-{number:03d}", number

    class Watching(Told):
        def advance(self, items: int, calls: int) -> None:
            super().advance(items, calls)
            ahead.append(taken - self.items)

    with serial() as engine, Ledger.create(tmp_path, PLAN, {}).writer(STAGE) as writer:
        drive(Walk(), stream(), 1.0, Means(SEED, engine, writer, 6, Watching()))  # type: ignore[arg-type]
        writer.freeze()
    assert taken == 100
    assert max(ahead) <= 3 * 6
