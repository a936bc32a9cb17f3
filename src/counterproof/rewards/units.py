"""Units of an audit: one trajectory with its funnel, its isolated candidates and what the reward said of each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from counterproof.core.errors import InputError
from counterproof.core.outcomes import Outcome, pack, unpack
from counterproof.core.records import Trajectory
from counterproof.rewards.cells import Setup
from counterproof.rewards.detectors import flags_of
from counterproof.rewards.edits import EditContext


@dataclass(frozen=True, slots=True)
class Isolated:
    """One isolated candidate.

    Attributes:
        edit: Index of the edit.
        key: The candidate's key.
        position: Where in the record it was made.
        flags: Detector bits of the edited record.
        strict: Whether it is strictly isolated too.
        ranks: Generator name and rank, for each generator that proposed it.
    """

    edit: int
    key: str
    position: int
    flags: int
    strict: bool
    ranks: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Funnel:
    """Candidates of one edit on one trajectory, by how far they came.

    Attributes:
        targets: D as a bit mask.
        constructed: Candidates that could be made.
        eligible: Those that turn every detector of D from 0 to 1.
        isolated: Those that leave the rest of the contract unchanged too.
        strict: Those that leave hygiene unchanged too.
        ties: Generator name, whether its two best passages tie, and whether its budget's edge falls in a tie.
    """

    targets: int
    constructed: int
    eligible: int
    isolated: int
    strict: int
    ties: tuple[tuple[str, bool, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Unit:
    """The audit of one trajectory.

    Attributes:
        trajectory_id: Which one.
        cluster: Its sampling unit, the question.
        model: Which model produced it ("" when unknown).
        flags: Detector bits of the original.
        funnel: One entry an edit.
        candidates: The isolated ones, grouped by edit in order.
        outcomes: Of the original, then of each candidate.
    """

    trajectory_id: str
    cluster: str
    model: str
    flags: int
    funnel: tuple[Funnel, ...]
    candidates: tuple[Isolated, ...]
    outcomes: tuple[Outcome, ...]


def counterfactuals(
    record: Trajectory, setup: Setup, context: EditContext
) -> tuple[int, tuple[Funnel, ...], list[Isolated], list[Trajectory]]:
    """Return the original's flags, the funnel, the isolated candidates and their edited records.

    Detectors that read none of the fields that an edit writes keep the original's value; the others are computed.
    """
    corpus = context.corpus
    original = flags_of(record, corpus, setup.detectors)
    contract, hygiene = setup.contract_mask, setup.strict_mask
    funnels: list[Funnel] = []
    kept: list[Isolated] = []
    records: list[Trajectory] = []
    for index, one in enumerate(setup.edits):
        view = one.view(record)
        targets = setup.mask(one.targets(view, context))
        touched = [(1 << bit, d) for bit, d in enumerate(setup.detectors) if d.reads & one.writes]
        untouched = original & ~sum(bit for bit, _ in touched)
        constructed = eligible = isolated = strictly = 0
        ties: tuple[tuple[str, bool, bool], ...] = ()
        for candidate in one.make(view, context):
            constructed += 1
            ties = candidate.ties
            edited = one.apply(record, candidate)
            flags = untouched
            for bit, detect in touched:
                if detect(edited, corpus):
                    flags |= bit
            if not targets or original & targets or flags & targets != targets:
                continue
            eligible += 1
            if (flags ^ original) & contract & ~targets:
                continue
            isolated += 1
            strict = not (flags ^ original) & hygiene
            strictly += strict
            kept.append(Isolated(index, candidate.key, candidate.position, flags, strict, candidate.ranks))
            records.append(edited)
        funnels.append(Funnel(targets, constructed, eligible, isolated, strictly, ties))
    return original, tuple(funnels), kept, records


def encode_unit(unit: Unit) -> bytes:
    """Return a unit as bytes: a length, a JSON head, then the packed outcomes. Equal units give equal bytes."""
    head = [
        unit.trajectory_id,
        unit.cluster,
        unit.model,
        unit.flags,
        [[f.targets, f.constructed, f.eligible, f.isolated, f.strict, f.ties] for f in unit.funnel],
        [[c.edit, c.key, c.position, c.flags, int(c.strict), c.ranks] for c in unit.candidates],
    ]
    text = json.dumps(head, separators=(",", ":")).encode()
    return len(text).to_bytes(4, "little") + text + pack(unit.outcomes)


def decode_unit(payload: bytes) -> Unit:
    """Return the unit that `encode_unit` wrote.

    Raises:
        InputError: The bytes are not of that form.
    """
    try:
        size = int.from_bytes(payload[:4], "little")
        trajectory, cluster, model, flags, funnel, candidates = json.loads(payload[4 : 4 + size])
        return Unit(
            trajectory,
            cluster,
            model,
            flags,
            tuple(Funnel(d, c, e, i, s, tuple(map(tuple, ties))) for d, c, e, i, s, ties in funnel),
            tuple(
                Isolated(e, key, position, f, bool(strict), tuple((name, rank) for name, rank in ranks))
                for e, key, position, f, strict, ranks in candidates
            ),
            unpack(payload[4 + size :]),
        )
    except (ValueError, TypeError) as error:
        raise InputError(f"not an encoded unit of a rewards audit: {error}") from None


def call_names(setup: Setup, candidates: Sequence[Isolated]) -> list[str]:
    """Return the names of the calls of a unit: `original`, then `edit/key` of each candidate."""
    names = [one.name for one in setup.edits]
    return ["original", *(f"{names[c.edit]}/{c.key}" for c in candidates)]
