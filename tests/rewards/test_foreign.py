"""What edits and detectors from outside do wrong is told with their name, the trajectory and their own line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from counterproof.core.errors import BoundaryError, OperatorError
from counterproof.core.records import Corpus
from counterproof.rewards.cells import set_up
from counterproof.rewards.detectors import DETECTORS, Detector, detector
from counterproof.rewards.edits import EDITS, Candidate, Edit, edit
from counterproof.rewards.evidence import pairs_of
from counterproof.rewards.tally import Example
from tests.rewards.records import ALL, SETUP, calls_of, context, record


def line_of(function: Callable[..., Any], offset: int) -> int:
    return function.__code__.co_firstlineno + offset


def edit_of(make: Callable[[Any, Any], Any]) -> Edit:
    return edit("mine", reads=["answer"], writes=["answer"], targets=["U"])(make)


def detector_of(detect: Callable[[Any, Corpus], Any]) -> Detector:
    return detector("mine", reads=["answer"], contract=True)(detect)


def divides(view: Any, *_: Any) -> Iterator[Candidate]:
    yield Candidate("all", {"answer": str(1 // len(view.answer[:0]))})


def deep(view: Any, *_: Any) -> Iterator[Candidate]:
    json.loads("{" + view.answer)
    yield Candidate("all", {"answer": ""})


def leaves(view: Any, *_: Any) -> bool:
    raise SystemExit(2)


def yields_text(view: Any, *_: Any) -> Iterator[Any]:
    yield view.answer


def gives_nothing(view: Any, *_: Any) -> None:
    return None


@pytest.mark.parametrize(
    ("make", "said", "offset"),
    [
        (divides, "ZeroDivisionError: ", 1),
        (deep, "JSONDecodeError: ", 1),
        (leaves, "SystemExit: 2", 1),
        (yields_text, "AttributeError: ", 0),
        (gives_nothing, "TypeError: ", 0),
    ],
)
def test_edit_that_breaks_is_named_with_trajectory_and_line(
    make: Callable[[Any, Any], Any], said: str, offset: int
) -> None:
    with pytest.raises(OperatorError) as raised:
        calls_of(record(trajectory_id="t7"), set_up(ALL, (*EDITS, edit_of(make))))
    message = str(raised.value)
    assert message.startswith(f"edit 'mine' cannot be used on trajectory 't7': {said}")
    assert f"(test_foreign.py:{line_of(make, offset)})" in message
    assert raised.value.__cause__ is not None


@pytest.mark.parametrize("detect", [leaves, lambda view, corpus: view.answer.no_such_thing])
def test_detector_that_breaks_is_named_with_trajectory_and_line(detect: Callable[[Any, Corpus], Any]) -> None:
    setup = set_up(ALL, EDITS, (*DETECTORS, detector_of(detect)))
    with pytest.raises(OperatorError, match=r"^detector 'mine' cannot be used on trajectory 't7': .*test_foreign\.py:"):
        calls_of(record(trajectory_id="t7"), setup)


def test_detector_that_breaks_under_an_edit_of_ones_own_is_blamed_itself() -> None:
    def picky(view: Any, corpus: Corpus) -> bool:
        return bool(view.answer == "changed" and 1 // 0)

    def change(view: Any, context: Any) -> Iterator[Candidate]:
        yield Candidate("all", {"answer": "changed"})

    own = edit("own", reads=["answer"], writes=["answer"], targets=["mine"])(change)
    with pytest.raises(OperatorError, match=r"^detector 'mine' cannot be used"):
        calls_of(record(), set_up(ALL, (own,), (*DETECTORS, detector_of(picky))))


def test_reading_what_was_not_declared_passes_as_it_is() -> None:
    def peeks(view: Any, *_: Any) -> Iterator[Candidate]:
        yield Candidate("all", {"answer": view.gold_answers[0]})

    def writes(view: Any, *_: Any) -> Iterator[Candidate]:
        yield Candidate("all", {"question": ""})

    for make in (peeks, writes):
        with pytest.raises(BoundaryError, match=r"^edit 'mine' (read|changed)"):
            calls_of(record(), set_up(ALL, (*EDITS, edit_of(make))))


def test_built_in_edits_are_not_blamed_on_anybody(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ZeroDivisionError):
        EDITS[0].blame(record(), ZeroDivisionError())


def test_edit_that_breaks_only_when_evidence_is_built_is_named_too() -> None:
    setup = set_up(ALL, (*EDITS, edit_of(divides)))
    with pytest.raises(OperatorError, match=r"^edit 'mine' cannot be used on trajectory 't1'"):
        pairs_of(record(), [Example(0.0, "t1", "all", len(SETUP.edits), ())], setup, context())  # type: ignore[arg-type]
