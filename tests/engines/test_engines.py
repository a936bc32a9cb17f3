from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence

import pytest

from counterproof.core.errors import BindingError, InputError
from counterproof.core.outcomes import Abstained, Failed, Outcome, Scored, TimedOut
from counterproof.engines import Engine, Host, InProcess, Isolated, Job, ProcessEngine, SerialEngine
from counterproof.isolation import Limits
from tests.engines.verifiers import VERIFIERS

FACTORY = "tests.engines.verifiers:make"


def isolated() -> Host:
    return Isolated(FACTORY, limits=Limits(seconds_per_call=0.5))


@pytest.fixture(params=["serial", "serial isolated", "one process", "two processes"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    made: Engine
    if request.param == "serial":
        made = SerialEngine(InProcess(VERIFIERS))
    elif request.param == "serial isolated":
        made = SerialEngine(isolated())
    else:
        made = ProcessEngine(isolated, 1 if request.param == "one process" else 2)
    yield made
    made.close()


def collect_all(engine: Engine, batches: Sequence[Sequence[Job]]) -> list[list[Outcome]]:
    """Submit everything, collect everything, return the outcomes in ticket order."""
    for ticket, jobs in enumerate(batches):
        engine.submit(ticket, jobs)
    found = {}
    for _ in batches:
        ticket, outcomes, seconds = engine.collect()
        assert seconds >= 0
        found[ticket] = outcomes
    return [found[ticket] for ticket in range(len(batches))]


def test_every_engine_gives_the_outcomes_of_the_plain_loop(engine: Engine) -> None:
    jobs = [(name, float(i)) for i in range(20) for name in ("square", "odd")]
    expected = InProcess(VERIFIERS).perform(jobs)
    for size in (1, 7, 40):
        batches = [jobs[i : i + size] for i in range(0, len(jobs), size)]
        assert [outcome for batch in collect_all(engine, batches) for outcome in batch] == expected


def test_in_process_outcomes_by_hand() -> None:
    host = InProcess(VERIFIERS)
    first, declined, third, failed, text = host.perform([("odd", float(i)) for i in range(5)])
    assert (first, declined, third, text) == (
        Scored(0.0),
        Abstained(),
        Failed("returned nan"),
        Failed("returned text: 'text'"),
    )
    assert isinstance(failed, Failed)
    assert failed.reason.startswith("ZeroDivisionError: ")
    assert host.perform([("square", 3.0)]) == [Scored(9.0, (("term", 3.0),), frozenset({"answer"}))]


def test_an_unknown_verifier_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(BindingError, match="did you mean 'square'"):
        InProcess(VERIFIERS).perform([("sqare", 1.0)])


def test_collecting_nothing_is_an_error(engine: Engine) -> None:
    with pytest.raises(InputError, match="nothing is submitted"):
        engine.collect()


def test_an_interrupt_in_process_reaches_the_caller() -> None:
    def interrupt(_: object) -> Outcome:
        raise KeyboardInterrupt

    for engine in (SerialEngine(InProcess({"v": interrupt})), ProcessEngine(lambda: InProcess({"v": interrupt}), 1)):
        engine.submit(0, [("v", 1)])
        with pytest.raises(KeyboardInterrupt):
            engine.collect()
        engine.close()


def test_slots_work_at_the_same_time() -> None:
    with ProcessEngine(isolated, 3) as engine:
        collect_all(engine, [[("slow", 0.1)]] * 3)
        begin = time.monotonic()
        collect_all(engine, [[("slow", 0.4)]] * 3)
        assert time.monotonic() - begin < 0.9  # one after the other takes 1.2 s


def test_dying_and_hanging_calls_cost_themselves_only() -> None:
    with ProcessEngine(isolated, 2) as engine:
        batch = [("square", 1.0), ("leave", 3.0), ("slow", 9.0), ("slow", 0.0)]
        one = Scored(1.0, (("term", 1.0),), frozenset({"answer"}))
        expected = [one, Failed("the worker died: exit code 3"), TimedOut(0.5), Scored(0.0)]
        assert collect_all(engine, [batch, batch]) == [expected, expected]


def test_what_a_slot_raises_is_raised_by_collect() -> None:
    with ProcessEngine(lambda: Isolated(FACTORY, b"unbound"), 2) as engine:
        engine.submit(0, [("square", 1.0)])
        with pytest.raises(BindingError, match="reward cannot be called with what there is"):
            engine.collect()


def test_close_ends_running_calls_and_drops_the_rest() -> None:
    engine = ProcessEngine(lambda: Isolated(FACTORY, limits=Limits(seconds_per_call=60)), 2)
    for ticket in range(6):
        engine.submit(ticket, [("slow", 50.0)])
    time.sleep(0.3)
    begin = time.monotonic()
    engine.close()
    engine.close()
    assert time.monotonic() - begin < 3
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("counterproof-slot")]
    with pytest.raises(InputError, match="closed"):
        engine.submit(7, [])


def test_close_while_hosts_are_being_made_leaves_none() -> None:
    made: list[Closing] = []

    class Closing(InProcess):
        closed = False

        def close(self) -> None:
            self.closed = True

    def make() -> Host:
        time.sleep(0.3)
        made.append(Closing(VERIFIERS))
        return made[-1]

    engine = ProcessEngine(make, 2)
    engine.submit(0, [("square", 1.0)])
    time.sleep(0.05)
    engine.close()
    assert [host.closed for host in made] == [True]


def test_unused_slots_make_no_host() -> None:
    made: list[int] = []

    def make() -> Host:
        made.append(1)
        return InProcess(VERIFIERS)

    with ProcessEngine(make, 5) as engine:
        assert engine.slots == 5
        collect_all(engine, [[("square", 1.0)]])
    assert made == [1]


def test_at_least_one_slot() -> None:
    with pytest.raises(InputError, match="slots: is 0"):
        ProcessEngine(lambda: InProcess(VERIFIERS), 0)


def test_isolated_host_carries_greeting_and_prints() -> None:
    host = Isolated(FACTORY)
    assert host.greeting == "four verifiers"
    assert host.tail() == ""
    host.close()
