"""Verifiers for the engines' tests, made alike in process and in a worker."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from counterproof.core.errors import BindingError
from counterproof.core.outcomes import Outcome, outcome_of


def square(record: float) -> Outcome:
    return outcome_of({"score": record * record, "term": record}, frozenset({"answer"}))


def odd(record: float) -> Outcome:
    """Every kind of outcome that code can cause, by the number."""
    kinds: list[Callable[[], object]] = [
        lambda: record,
        lambda: None,
        lambda: float("nan"),
        lambda: 1 // 0,
        lambda: "text",
    ]
    return outcome_of(kinds[int(record) % 5]())


def slow(record: float) -> Outcome:
    time.sleep(record)
    return outcome_of(record)


def leave(record: float) -> Outcome:
    os._exit(int(record))


VERIFIERS: dict[str, Callable[[Any], Outcome]] = {"square": square, "odd": odd, "slow": slow, "leave": leave}


def make(payload: bytes) -> Callable[[str, Any], Outcome]:
    if payload == b"unbound":
        raise BindingError("reward cannot be called with what there is")

    def perform(verifier: str, record: Any) -> Outcome:
        return VERIFIERS[verifier](record)

    perform.greeting = "four verifiers"  # type: ignore[attr-defined]
    return perform
