"""Field views hold only what was declared; tracking notes what was read."""

from __future__ import annotations

import dataclasses

import pytest

from counterproof.core import BoundaryError, FieldView, Role, Search, Steps, Trajectory, reads_labels
from counterproof.core.records import FIELD_OF_DERIVED
from counterproof.core.views import TRAJECTORY_ROLES, UNTRACKED

RECORD = Trajectory(
    trajectory_id="t1",
    question_id="q1",
    question="Who directed Jaws?",
    steps=Steps((Search("Jaws", ("p1", "p2")),)),
    answer="Spielberg",
    citations=("p1", "p1"),
    raw_final="Spielberg [p1] [p1]",
    gold_answers=("Steven Spielberg",),
    score=0.5,
)


def view(*reads: str) -> FieldView:
    return FieldView(RECORD, frozenset(reads), "edit 'swap'")


@pytest.mark.parametrize("name", sorted(TRAJECTORY_ROLES))
def test_a_declared_field_can_be_read_and_no_other(name: str) -> None:
    assert getattr(view(name), name) == getattr(RECORD, name)
    with pytest.raises(BoundaryError, match=f"edit 'swap' read '{name}'"):
        getattr(view(*(TRAJECTORY_ROLES.keys() - {name})), name)


def test_the_error_says_what_was_declared_and_what_to_do() -> None:
    with pytest.raises(BoundaryError) as caught:
        _ = view("steps", "answer").gold_answers
    assert str(caught.value) == (
        "edit 'swap' read 'gold_answers', which it did not declare (declared: answer, steps); "
        "add 'gold_answers' to its reads, or do without"
    )
    with pytest.raises(BoundaryError, match="declared: nothing"):
        _ = view().answer


def test_asking_whether_a_field_is_there_is_reading_it() -> None:
    with pytest.raises(BoundaryError):
        hasattr(view("answer"), "gold_answers")


def test_a_derived_field_needs_the_one_that_it_comes_from() -> None:
    assert view("steps").retrieved == {"p1", "p2"}
    assert view("citations").cited == {"p1"}
    with pytest.raises(BoundaryError, match="add 'steps' to its reads"):
        _ = view("citations").retrieved
    with pytest.raises(BoundaryError, match="add 'citations' to its reads"):
        _ = view("steps").cited


def test_what_is_no_field_is_answered_with_the_nearest() -> None:
    with pytest.raises(AttributeError, match="no field 'anwser'; did you mean 'answer'"):
        _ = view("answer").anwser
    with pytest.raises(AttributeError, match="no field 'digest'"):
        view(*TRAJECTORY_ROLES).digest()


@pytest.mark.parametrize("name", ["answer", "gold_answers", "new", "_reads"])
def test_writes_are_refused(name: str) -> None:
    with pytest.raises(BoundaryError, match=f"edit 'swap' tried to write '{name}'"):
        setattr(view("answer"), name, "x")
    assert RECORD.answer == "Spielberg"


def test_every_field_of_a_trajectory_has_a_role() -> None:
    assert {field.name for field in dataclasses.fields(Trajectory)} == TRAJECTORY_ROLES.keys()
    assert FIELD_OF_DERIVED.keys().isdisjoint(TRAJECTORY_ROLES)
    assert set(FIELD_OF_DERIVED.values()) <= TRAJECTORY_ROLES.keys()


def test_labels_are_what_the_judged_party_must_not_see() -> None:
    hidden = {name for name, role in TRAJECTORY_ROLES.items() if role is not Role.VISIBLE}
    assert hidden == {"gold_answers", "support_ids", "score"}


@pytest.mark.parametrize(
    ("reads", "labels"),
    [
        (set(), False),
        ({"answer", "steps", "citations"}, False),
        ({"retrieved", "cited"}, False),
        ({"gold_answers"}, True),
        ({"answer", "support_ids"}, True),
        ({"score"}, True),
        ({UNTRACKED}, True),
        ({"answer", "something else"}, True),
    ],
)
def test_reads_labels(reads: set[str], labels: bool) -> None:
    assert reads_labels(frozenset(reads)) is labels
