from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from counterproof.core.errors import BindingError, InputError, IsolationError
from counterproof.core.outcomes import Abstained, Failed, Outcome, Scored, TimedOut
from counterproof.isolation import Limits, Worker

FACTORY = "tests.isolation.hostile:make"
ONE = Scored(1.0)
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    """One worker for all misdeeds: each test also shows that it survived the ones before."""
    with Worker(FACTORY, limits=Limits(seconds_per_call=0.7)) as worker:
        yield worker


def between(worker: Worker, verifier: str, record: object = None) -> Outcome:
    """Perform one call between two honest ones, which must come out as ever."""
    before, outcome, after = worker.perform([("echo", 1.0), (verifier, record), ("echo", 2)])
    assert (before, after) == (Scored(1.0), Scored(2.0))
    return outcome


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def dead_soon(pid: int) -> bool:
    end = time.monotonic() + 2
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.01)
    return not alive(pid)


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        (True, Scored(1.0)),
        (3, Scored(3.0)),
        (0.25, Scored(0.25)),
        (None, Abstained()),
        ({"score": 2.0, "style": 1}, Scored(2.0, (("style", 1.0),))),
        ({"a": 1.0, "b": 0.5}, Scored(1.5, (("a", 1.0), ("b", 0.5)))),
        ("0.9", Failed("returned text: '0.9'")),
        (float("nan"), Failed("returned nan")),
        (float("-inf"), Failed("returned -inf")),
        ([1.0], Failed("returned list, which is no number")),
    ],
)
def test_returned_values_become_typed_outcomes(worker: Worker, value: object, outcome: Outcome) -> None:
    assert worker.perform([("echo", value)]) == [outcome]


@pytest.mark.parametrize(
    ("verifier", "reason"),
    [
        ("exit_now", "the worker died: exit code 3"),
        ("kill_itself", "the worker died: signal SIGKILL"),
        ("crash", "the worker died: signal SIGSEGV"),
        ("system_exit", "SystemExit: 7 (hostile.py:"),
        ("interrupt", "KeyboardInterrupt (hostile.py:"),
        ("raise_error", "ValueError: bad None (hostile.py:"),
        ("raise_unprintable", "UnprintableError: <no message: RuntimeError> (hostile.py:"),
        ("no_such_verifier", "KeyError: 'no_such_verifier' (hostile.py:"),
        ("recurse", "RecursionError: maximum recursion depth exceeded"),
        ("recurse_without_end", "the worker died: signal SIGSEGV"),
        ("close_everything", "the worker died: exit code 71"),
        ("close_everything_and_hang", "the worker died: closed its channel"),
        ("write_everywhere", "the verifier wrote to the reply channel"),
        ("forge", "the verifier sent a reply that was not asked for"),
        ("forge_payload", "the verifier sent a reply that holds no outcome"),
        ("forge_nan", "returned a Scored without a finite score"),
        ("forge_text", "returned a Scored without a finite score"),
        ("forge_reason", "returned Failed with a reason that is no text"),
        ("huge", "returned an outcome of more than 16777216 bytes"),
    ],
)
def test_misdeeds_fail_their_own_call_only(worker: Worker, verifier: str, reason: str) -> None:
    outcome = between(worker, verifier)
    assert isinstance(outcome, Failed)
    assert outcome.reason.startswith(reason)


@pytest.mark.parametrize("verifier", ["hang", "hang_deaf"])
def test_hanging_call_times_out_and_the_next_goes_on(worker: Worker, verifier: str) -> None:
    begin = time.monotonic()
    assert between(worker, verifier) == TimedOut(0.7)
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize("verifier", ["close_stdout", "print_much", "leave_threads", "change_the_world"])
def test_disorder_that_a_worker_outlives(worker: Worker, verifier: str) -> None:
    assert between(worker, verifier) == ONE
    assert between(worker, "echo", 1.0) == ONE


def test_each_call_has_a_clock_of_its_own() -> None:
    with Worker("tests.isolation.test_worker:make_sleeper", limits=Limits(seconds_per_call=0.4)) as worker:
        assert worker.perform([("", 0.15)] * 4) == [ONE] * 4


def make_sleeper(_: bytes) -> object:
    def perform(_: str, seconds: float) -> float:
        time.sleep(seconds)
        return 1.0

    return perform


def test_children_left_behind_are_dead_after_the_call(worker: Worker, tmp_path: Path) -> None:
    assert between(worker, "fork_three", str(tmp_path / "pids")) == ONE
    pids = [int(line) for line in (tmp_path / "pids").read_text().split()]
    assert len(pids) == 3
    assert not any(map(alive, pids))


@pytest.mark.parametrize(
    ("verifier", "outcome"),
    [
        ("daemon", ONE),
        ("daemon_and_hang", TimedOut(0.7)),
        ("daemon_and_exit", Failed("the worker died: exit code 3")),
    ],
)
def test_detached_daemons_are_found(worker: Worker, tmp_path: Path, verifier: str, outcome: Outcome) -> None:
    assert between(worker, verifier, str(tmp_path / "pid")) == outcome
    assert dead_soon(int((tmp_path / "pid").read_text()))


def test_a_fork_that_comes_back_answers_once(worker: Worker) -> None:
    assert between(worker, "fork_and_return") == Scored(5.0)
    first, *rest = worker.perform([("count", None)] * 3)
    assert isinstance(first, Scored)
    assert rest == [Scored(first.score + 1), Scored(first.score + 2)]


def test_processes_from_before_the_first_call_stay() -> None:
    with Worker(FACTORY, b"server") as worker:
        (child,) = _children_of(worker)
        assert worker.perform([("echo", 1.0), ("fork_and_return", None), ("echo", 1.0)])[2] == ONE
        assert alive(child)
    assert dead_soon(child)


def _children_of(worker: Worker) -> list[int]:
    assert worker._process is not None
    return [child.pid for child in psutil.Process(worker._process.pid).children()]


def test_memory_limit_fails_the_call() -> None:
    with Worker(FACTORY, limits=Limits(seconds_per_call=5, memory_bytes=1 << 30)) as worker:
        outcome = between(worker, "hog")
    assert isinstance(outcome, Failed)
    assert outcome.reason.startswith("MemoryError")


def test_file_limit_fails_the_call(tmp_path: Path) -> None:
    with Worker(FACTORY, limits=Limits(file_bytes=1000)) as worker:
        outcome = between(worker, "big_file", str(tmp_path / "big"))
    assert isinstance(outcome, Failed)
    assert outcome.reason.startswith("OSError: [Errno 27] File too large")


def test_limits_must_be_positive() -> None:
    with pytest.raises(InputError) as caught:
        Limits(seconds_per_call=0, memory_bytes=-1)
    assert [problem.where for problem in caught.value.problems] == ["seconds_per_call", "memory_bytes"]


def test_records_that_cannot_travel_fail_alone(worker: Worker) -> None:
    outcome = between(worker, "echo", lambda: 1)
    assert isinstance(outcome, Failed)
    assert outcome.reason.startswith("the record cannot be sent to the worker")


class Unreadable:
    def __reduce__(self) -> tuple[type[int], tuple[str]]:
        return int, ("no number",)


def test_records_that_the_worker_cannot_read_fail(worker: Worker) -> None:
    (outcome,) = worker.perform([("echo", Unreadable())])
    assert isinstance(outcome, Failed)
    assert outcome.reason.startswith("the worker cannot read the record: ValueError: invalid literal for int()")
    assert worker.perform([("echo", 1.0)]) == [ONE]


def test_large_batches_and_records_pass(worker: Worker) -> None:
    jobs = [("echo", {"score": float(i), "text": "x" * 10_000}) for i in range(300)]
    assert worker.perform(jobs) == [Scored(float(i)) for i in range(300)]
    assert worker.perform([]) == []


def test_prints_are_kept_as_a_tail() -> None:
    with Worker(FACTORY) as worker:
        worker.perform([("print_much", None), ("print_line", "the answer")])
        tail = worker.tail()
    assert tail.endswith("judging the answer\n")
    assert len(tail) <= 8192


def test_greeting_comes_back() -> None:
    with Worker(FACTORY) as worker:
        assert worker.greeting == "reward(answer)"


@pytest.mark.parametrize(
    ("factory", "payload", "error", "message"),
    [
        (FACTORY, b"raise", BindingError, r"ValueError: no such reward \(hostile.py:\d+\)\nTraceback"),
        (FACTORY, b"exit", BindingError, "SystemExit: 4"),
        (
            FACTORY,
            b"die",
            IsolationError,
            "died while importing the verifier: exit code 5\nIt had printed:\n  | last w",
        ),
        (FACTORY, b"hang", IsolationError, "did not start within 0.7 s"),
        ("no_such_package_at_all:make", b"", BindingError, "ModuleNotFoundError: No module named 'no_such_package"),
        ("tests.isolation.hostile:mkae", b"", BindingError, "AttributeError: module .* has no attribute 'mkae'"),
    ],
)
def test_failing_start_is_a_typed_error(factory: str, payload: bytes, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Worker(factory, payload, Limits(start_seconds=0.7 if payload == b"hang" else 60))


def test_close_kills_and_reaps_and_may_be_repeated() -> None:
    worker = Worker(FACTORY)
    worker.perform([("leave_threads", None)])
    assert worker._process is not None
    pid = worker._process.pid
    worker.close()
    worker.close()
    assert not psutil.pid_exists(pid)
    with pytest.raises(IsolationError, match="closed"):
        worker.perform([("echo", 1)])


def test_close_from_another_thread_ends_a_running_call() -> None:
    worker = Worker(FACTORY, limits=Limits(seconds_per_call=30))
    raised: list[Exception] = []

    def run() -> None:
        try:
            worker.perform([("hang", None), ("echo", 1.0)])
        except IsolationError as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.2)
    worker.close()
    thread.join(5)
    assert not thread.is_alive()
    assert len(raised) == 1


def test_no_descriptor_is_leaked_by_restarts() -> None:
    with Worker(FACTORY) as worker:
        worker.perform([("exit_now", None)] * 2)
        before = len(os.listdir("/proc/self/fd"))
        worker.perform([("exit_now", None)] * 3)
        assert len(os.listdir("/proc/self/fd")) == before


_PROGRAM = """
import os, sys, time
from counterproof.isolation import Limits, Worker
worker = Worker("tests.isolation.hostile:make", limits=Limits(seconds_per_call=60))
print(worker._process.pid, flush=True)
if sys.argv[1] == "hang":
    worker.perform([("hang", None)])
"""


def _program(mode: str) -> tuple[subprocess.Popen[str], int]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    program = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, mode],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=env,
        cwd=ROOT,
    )
    assert program.stdout is not None
    return program, int(program.stdout.readline())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_its_parent(number: signal.Signals) -> None:
    program, pid = _program("hang")
    with program:
        time.sleep(0.2)
        program.send_signal(number)
        assert program.wait(10) != 0
    assert dead_soon(pid)


def test_a_program_that_forgets_to_close_leaves_nothing() -> None:
    program, pid = _program("forget")
    with program:
        assert program.wait(10) == 0
    assert dead_soon(pid)
