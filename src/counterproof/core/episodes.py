"""Requests, events and the episode protocol: an audit item is a pure state machine that asks the world for outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from counterproof.core.outcomes import Outcome
from counterproof.core.seeds import ItemSeed

I_contra = TypeVar("I_contra", contravariant=True)
C_contra = TypeVar("C_contra", contravariant=True)
S = TypeVar("S")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Call(NamedTuple):
    """One unit of work inside a request. A named tuple, because a study makes one for every call.

    Attributes:
        name: What identifies the call within its item (the edit's name, say); it goes into the ledger's hashes.
        record: What is judged; it never goes into the ledger.
    """

    name: str
    record: Any


@dataclass(frozen=True, slots=True)
class Verify:
    """Score these records with the verifier called `verifier`; one outcome per call, in call order."""

    calls: tuple[Call, ...]
    verifier: str = "verifier"


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask a model; `schema` is the JSON schema that the reply must satisfy."""

    calls: tuple[Call, ...]
    model: str
    schema: Mapping[str, Any] | None = field(default=None, hash=False)


@dataclass(frozen=True, slots=True)
class Fit:
    """Train this pipeline and return its score."""

    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Reveal:
    """Disclose an oracle field, after everything before has been made durable."""

    calls: tuple[Call, ...]
    oracle: str


Request: TypeAlias = Verify | Ask | Fit | Reveal


@dataclass(frozen=True, slots=True)
class Event:
    """The answer to a request: one outcome per call, in call order."""

    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class Done(Generic[R_co]):
    """The end of an episode and its result."""

    result: R_co


class Episode(Protocol[I_contra, C_contra, S, R]):
    """A pure state machine over one item. The driver in `study` performs what it requests.

    `start` and `step` must be deterministic in their arguments: after a crash the state is rebuilt by feeding the
    recorded events again. `step` is called first with None.
    """

    def start(self, item: I_contra, context: C_contra, seed: ItemSeed) -> S:
        """Return the state before anything was asked."""
        ...

    def step(self, state: S, event: Event | None) -> tuple[S, Request | Done[R]]:
        """Return the next state, and what is needed next or the result."""
        ...

    def encode(self, result: R) -> bytes:
        """Return the result as bytes for the ledger; equal results give equal bytes."""
        ...
