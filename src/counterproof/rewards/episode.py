"""The episode of a rewards audit: one trajectory, one request with the original and all its isolated candidates."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from counterproof.core.episodes import Call, Done, Event, Request, Verify
from counterproof.core.outcomes import Failed, Outcome, Scored, TimedOut, pack, unpack
from counterproof.core.records import Trajectory
from counterproof.core.seeds import ItemSeed
from counterproof.rewards.cells import Setup
from counterproof.rewards.edits import EditContext
from counterproof.rewards.units import (
    Funnel,
    Isolated,
    Prepared,
    Unit,
    call_names,
    counterfactuals,
    encode_unit,
    prepare,
)


@dataclass(frozen=True, slots=True)
class AuditContext:
    """What every trajectory of an audit shares: edits, detectors and what edits may use."""

    setup: Setup
    edits: EditContext
    prepared: Prepared = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "prepared", prepare(self.setup))


@dataclass(frozen=True, slots=True)
class AuditState:
    """A trajectory whose candidates were built and, after the first step, are being scored."""

    record: Trajectory
    flags: int
    funnel: tuple[Funnel, ...]
    candidates: tuple[Isolated, ...]
    request: Verify


@dataclass(frozen=True, slots=True)
class AuditEpisode:
    """Score a trajectory and its isolated counterfactuals in one request."""

    verifier: str = "verifier"

    def start(self, item: Trajectory, context: AuditContext, seed: ItemSeed) -> AuditState:
        """Return the state with all candidates built."""
        flags, funnel, kept, records = counterfactuals(item, context.prepared, context.edits)
        names = call_names(context.setup, kept)
        calls = tuple(map(Call, names, (item, *records)))
        return AuditState(item, flags, funnel, tuple(kept), Verify(calls, self.verifier))

    def step(self, state: AuditState, event: Event | None) -> tuple[AuditState, Request | Done[Unit]]:
        """Return the request, then the unit."""
        if event is None:
            return state, state.request
        record = state.record
        unit = Unit(
            record.trajectory_id,
            record.question_id,
            record.model or "",
            state.flags,
            state.funnel,
            state.candidates,
        )
        return state, Done(unit)

    def encode(self, result: Unit) -> bytes:
        """Return the unit as bytes for the ledger, without outcomes: those of the event stand beside it."""
        return encode_unit(result)


SLICE = 8
"""Originals that are asked for at once before anything is audited; what was answered is recorded slice by slice."""
PATIENCE = 16
"""When so many originals all failed or timed out, the rest of the sample is not asked."""


@dataclass(frozen=True, slots=True)
class Statelessness:
    """What scoring the same originals three times gave: in order, in order again, shuffled.

    Where no original got a score in the first pass, it is the only one, and `names` are the originals that it came to.

    Attributes:
        names: Trajectory ids, in the first order.
        passes: Outcomes of each pass, put back into the first order.
    """

    names: tuple[str, ...]
    passes: tuple[tuple[Outcome, ...], ...]

    @property
    def mismatches(self) -> tuple[str, ...]:
        """Ids whose outcome was not the same in every pass (what was read is left out of the comparison)."""
        views = [[_comparable(outcome) for outcome in one] for one in self.passes]
        return tuple(name for i, name in enumerate(self.names) if len({view[i] for view in views}) > 1)

    @property
    def speechless(self) -> bool:
        """Whether originals were asked and none of them got a score."""
        return bool(self.names) and not any(isinstance(one, Scored) for outcomes in self.passes for one in outcomes)


def _comparable(outcome: Outcome) -> object:
    return (outcome.score, outcome.components) if isinstance(outcome, Scored) else (type(outcome).__name__,)


@dataclass(frozen=True, slots=True)
class StatelessState:
    """Originals, the order of the shuffled pass, and all outcomes so far, in the order in which they were asked for."""

    records: tuple[Trajectory, ...]
    order: tuple[int, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def done(self) -> bool:
        """Whether there is no more to ask: three passes, a first one without a score, or nothing but failures."""
        asked, size = len(self.outcomes), len(self.records)
        if asked >= 3 * size:
            return True
        if asked == size:
            return not any(isinstance(one, Scored) for one in self.outcomes)
        return PATIENCE <= asked < size and all(isinstance(one, (Failed, TimedOut)) for one in self.outcomes)

    def asked(self, number: int) -> int:
        """Return which original the call of that number is for."""
        number, place = divmod(number, len(self.records))
        return self.order[place] if number == 2 else place

    @property
    def result(self) -> Statelessness:
        """What the passes gave, in the first order."""
        size = min(len(self.records), len(self.outcomes))
        passes = [self.outcomes[start : start + size] for start in range(0, len(self.outcomes), size or 1)]
        if len(passes) == 3:
            where = {original: place for place, original in enumerate(self.order)}
            passes[2] = tuple(passes[2][where[i]] for i in range(size))
        return Statelessness(tuple(one.trajectory_id for one in self.records[:size]), tuple(passes))


@dataclass(frozen=True, slots=True)
class StatelessEpisode:
    """Score the same originals twice in order and once shuffled, to see whether the verifier keeps state.

    It ends after the first pass when no original got a score, and after `PATIENCE` originals when each of them failed
    or timed out: a verifier that always hangs must not be waited for 64 times. That is then said with its counts. One
    that abstains is asked about the whole sample.
    """

    verifier: str = "verifier"

    def start(self, item: tuple[Trajectory, ...], context: object, seed: ItemSeed) -> StatelessState:
        """Return the state with the shuffled order drawn."""
        order = tuple(int(i) for i in seed.child("shuffle").generator().permutation(len(item)))
        if order == tuple(range(len(item))):
            order = order[::-1]
        return StatelessState(item, order, ())

    def step(self, state: StatelessState, event: Event | None) -> tuple[StatelessState, Request | Done[Statelessness]]:
        """Return the next slice of a pass, or what the passes gave."""
        if event is not None:
            state = StatelessState(state.records, state.order, (*state.outcomes, *event.outcomes))
        if state.done:
            return state, Done(state.result)
        start, size = len(state.outcomes), len(state.records)
        number = start // size
        asked = [state.records[state.asked(i)] for i in range(start, min(start + SLICE, (number + 1) * size))]
        calls = tuple(Call(f"pass {number}: {record.trajectory_id}", record) for record in asked)
        return state, Verify(calls, self.verifier)

    def encode(self, result: Statelessness) -> bytes:
        """Return the result as bytes for the ledger."""
        head = json.dumps([result.names, len(result.passes)], separators=(",", ":")).encode()
        body = pack([outcome for one in result.passes for outcome in one])
        return len(head).to_bytes(4, "little") + head + body


def decode_statelessness(payload: bytes) -> Statelessness:
    """Return what `StatelessEpisode.encode` wrote."""
    size = int.from_bytes(payload[:4], "little")
    names, passes = json.loads(payload[4 : 4 + size])
    outcomes = unpack(payload[4 + size :])
    count = len(names)
    return Statelessness(tuple(names), tuple(outcomes[i * count : (i + 1) * count] for i in range(passes)))
