"""Requests and events are values."""

from __future__ import annotations

from counterproof.core import Ask, Call, Done, Event, Fit, Reveal, Scored, Verify


def test_a_call_carries_its_record_as_it_is() -> None:
    record = ["anything"]
    call = Call("q1/swap", record)
    assert call.name == "q1/swap"
    assert call.record is record


def test_requests_of_different_kinds_differ() -> None:
    calls = (Call("q1", None),)
    requests = [Verify(calls), Verify(calls, "other"), Ask(calls, "m"), Fit(calls), Reveal(calls, "label")]
    assert len(set(requests)) == len(requests)
    assert Verify(calls).verifier == "verifier"


def test_a_request_with_a_schema_can_be_a_key() -> None:
    ask = Ask((Call("q1", None),), "m", {"type": "object"})
    assert hash(ask) == hash(Ask((Call("q1", None),), "m", {"type": "array"}))
    assert ask != Ask((Call("q1", None),), "m", {"type": "array"})


def test_events_and_results_are_values() -> None:
    assert Event((Scored(1.0),)) == Event((Scored(1.0),))
    assert Done(3) == Done(3)
