from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from counterproof.engines import Host, InProcess, Isolated, Job, ProcessEngine, SerialEngine
from tests.engines.verifiers import VERIFIERS


@pytest.fixture(scope="module")
def hosts() -> Iterator[list[Host]]:
    made: list[Host] = [Isolated("tests.engines.verifiers:make") for _ in range(3)]
    yield made
    for host in made:
        host.close()


class Lent:
    """A host that stays open when its engine closes, so that examples can share it."""

    def __init__(self, host: Host) -> None:
        self.perform = host.perform

    def close(self) -> None:
        pass


def jobs() -> st.SearchStrategy[list[list[Job]]]:
    job = st.tuples(st.sampled_from(["square", "odd"]), st.integers(0, 50).map(float))
    return st.lists(st.lists(job, max_size=9), max_size=9)


@given(batches=jobs(), slots=st.integers(1, 3))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_serial_and_processes_agree_for_any_slots_and_batches(
    hosts: list[Host], batches: list[list[Job]], slots: int
) -> None:
    free = list(hosts)
    with SerialEngine(InProcess(VERIFIERS)) as serial, ProcessEngine(lambda: Lent(free.pop()), slots) as processes:
        for engine in (serial, processes):
            for ticket, batch in enumerate(batches):
                engine.submit(ticket, batch)
        one = sorted((serial.collect()[:2] for _ in batches), key=lambda found: found[0])
        other = sorted((processes.collect()[:2] for _ in batches), key=lambda found: found[0])
    assert one == other
    assert [ticket for ticket, _ in one] == list(range(len(batches)))
