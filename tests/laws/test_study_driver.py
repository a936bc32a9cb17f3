from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterproof.core.outcomes import Outcome
from counterproof.engines import Engine, InProcess, ProcessEngine, SerialEngine
from counterproof.store import Ledger
from tests.study.walks import STAGE, calls_of, expected, halved, recorded, results, walk

NUMBERS = st.lists(st.integers(0, 60), unique=True, max_size=14)


def engine_of(slots: int, verifier: object = halved) -> Engine:
    host = InProcess({"verifier": verifier})  # type: ignore[dict-item]
    return ProcessEngine(lambda: host, slots) if slots else SerialEngine(host)


@given(numbers=NUMBERS, order=st.randoms(use_true_random=False), batch=st.integers(1, 30), slots=st.integers(0, 3))
@settings(max_examples=25)
def test_one_root_and_one_set_of_results_over_order_batches_and_engines(
    numbers: list[int], order: object, batch: int, slots: int
) -> None:
    shuffled = list(numbers)
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    with tempfile.TemporaryDirectory() as folder:
        one, other = Path(folder, "one"), Path(folder, "other")
        _, root = walk(one, numbers, engine_of(0))
        driven, same = walk(other, shuffled, engine_of(slots), batch)
        assert same == root
        assert driven.calls == calls_of(numbers)
        assert results(Ledger.open(other).rows(STAGE)) == expected(numbers)


@given(
    numbers=NUMBERS.filter(lambda numbers: calls_of(numbers) > 1),
    stops=st.lists(st.tuples(st.integers(1, 12), st.integers(1, 8)), min_size=1, max_size=3),
)
@settings(max_examples=25)
def test_any_interruptions_end_at_the_root_of_the_undisturbed_run_and_no_recorded_call_is_paid_again(
    numbers: list[int], stops: list[tuple[int, int]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _, root = walk(Path(folder, "whole"), numbers, engine_of(0))
        broken, kept = Path(folder, "broken"), 0
        for at, batch in stops:
            left = [at]

            def interrupting(record: float, left: list[int] = left) -> Outcome:
                left[0] -= 1
                if left[0] == 0:
                    raise KeyboardInterrupt
                return halved(record)

            if calls_of(numbers) - kept < at:
                continue
            with pytest.raises(KeyboardInterrupt):
                walk(broken, numbers, engine_of(0, interrupting), batch)
            now = recorded(Ledger.open(broken).rows(STAGE))
            assert kept <= now <= kept + at - 1
            assert kept + at - 1 - now < max(batch, 3)  # only the interrupted batch; a request has up to three calls
            kept = now
        driven, same = walk(broken, numbers, engine_of(0))
        assert same == root
        assert driven.calls == calls_of(numbers) - kept
