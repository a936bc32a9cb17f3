"""Units of an audit: one trajectory with its funnel, its isolated candidates and what the reward said of each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from counterproof.core.errors import InputError
from counterproof.core.outcomes import Outcome, unpack
from counterproof.core.records import Corpus, Trajectory
from counterproof.rewards.cells import Setup
from counterproof.rewards.edits import Edit, EditContext

_JSON = json.JSONEncoder(separators=(",", ":"))


class Isolated(NamedTuple):
    """One isolated candidate. A named tuple, because an audit makes one for nearly every call.

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


class Funnel(NamedTuple):
    """Candidates of one edit on one trajectory, by how far they came. A named tuple, for the same reason.

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
        packed: Packed outcomes of the original, then of each candidate; empty before they are known.
    """

    trajectory_id: str
    cluster: str
    model: str
    flags: int
    funnel: tuple[Funnel, ...]
    candidates: tuple[Isolated, ...]
    packed: bytes = b""

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Outcomes of the original, then of each candidate."""
        return unpack(self.packed)


class PreparedEdit(NamedTuple):
    """An edit with what is the same for all trajectories.

    Attributes:
        edit: The edit.
        touched: Bit and statement of each detector that reads what the edit writes; the others keep their value.
        kept: Bits of those others.
    """

    edit: Edit
    touched: tuple[tuple[int, Callable[[Trajectory, Corpus], bool]], ...]
    kept: int


class Prepared(NamedTuple):
    """A setup with what is the same for all trajectories.

    Attributes:
        setup: The setup.
        edits: Its edits, prepared.
        detectors: Bit and statement of every detector.
        contract: Bits of the contract detectors.
        hygiene: Bits that a strictly isolated edit leaves unchanged.
        bits: Bit of each detector by name.
    """

    setup: Setup
    edits: tuple[PreparedEdit, ...]
    detectors: tuple[tuple[int, Callable[[Trajectory, Corpus], bool]], ...]
    contract: int
    hygiene: int
    bits: dict[str, int]

    def flags(self, record: Trajectory, corpus: Corpus) -> int:
        """Return a bit mask of the detectors that fire."""
        return sum([bit for bit, detect in self.detectors if detect(record, corpus)])

    def mask(self, names: Iterable[str]) -> int:
        """Return the bits of the named detectors; those that do not apply have none."""
        return sum([self.bits[name] for name in names if name in self.bits])


def prepare(setup: Setup) -> Prepared:
    """Return a setup prepared for many trajectories."""
    detectors = tuple((1 << bit, one) for bit, one in enumerate(setup.detectors))
    edits = []
    for one in setup.edits:
        touched = tuple((bit, detect.callable) for bit, detect in detectors if detect.reads & one.writes)
        edits.append(PreparedEdit(one, touched, sum(bit for bit, detect in detectors if not detect.reads & one.writes)))
    called = tuple((bit, detect.callable) for bit, detect in detectors)
    bits = {detect.name: bit for bit, detect in detectors}
    return Prepared(setup, tuple(edits), called, setup.contract_mask, setup.strict_mask, bits)


def counterfactuals(
    record: Trajectory, prepared: Prepared, context: EditContext
) -> tuple[int, tuple[Funnel, ...], list[Isolated], list[Trajectory]]:
    """Return the original's flags, the funnel, the isolated candidates and their edited records.

    Detectors that read none of the fields that an edit writes keep the original's value; the others are computed.

    Raises:
        BoundaryError: An edit or a detector read or changed a field that it did not declare.
        OperatorError: One from outside raised or made what cannot be used.
    """
    original = prepared.flags(record, context.corpus)
    funnels: list[Funnel] = []
    kept: list[Isolated] = []
    records: list[Trajectory] = []
    for index, one in enumerate(prepared.edits):
        try:
            funnel, ways = _attacked(record, original, prepared, index, context)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - an edit from outside is foreign code
            one.edit.blame(record, error)
        funnels.append(funnel)
        for candidate, edited in ways:
            kept.append(candidate)
            records.append(edited)
    return original, tuple(funnels), kept, records


def _attacked(
    record: Trajectory, original: int, prepared: Prepared, index: int, context: EditContext
) -> tuple[Funnel, list[tuple[Isolated, Trajectory]]]:
    """Return the funnel of one edit, and its isolated candidates with their records."""
    one, touched, untouched = prepared.edits[index]
    corpus = context.corpus
    view = one.view(record)
    targets = prepared.mask(one.targets(view, context))
    possible = bool(targets) and not original & targets
    constructed = eligible = isolated = strictly = 0
    ties: tuple[tuple[str, bool, bool], ...] = ()
    unaffected = original & untouched
    others = prepared.contract & ~targets
    found: list[tuple[Isolated, Trajectory]] = []
    for candidate in one.make(view, context):
        constructed += 1
        ties = candidate.ties
        edited = one.apply(record, candidate)
        if not possible:
            continue
        flags = unaffected
        for bit, detect in touched:
            if detect(edited, corpus):
                flags |= bit
        if flags & targets != targets:
            continue
        eligible += 1
        changed = flags ^ original
        if changed & others:
            continue
        isolated += 1
        strict = not changed & prepared.hygiene
        strictly += strict
        found.append((Isolated(index, candidate.key, candidate.position, flags, strict, candidate.ranks), edited))
    return Funnel(targets, constructed, eligible, isolated, strictly, ties), found


def encode_unit(unit: Unit) -> bytes:
    """Return a unit without its outcomes, which the ledger holds already; equal units give equal bytes."""
    return _JSON.encode(
        [
            unit.trajectory_id,
            unit.cluster,
            unit.model,
            unit.flags,
            unit.funnel,
            unit.candidates,
        ]
    ).encode()


def decode_unit(payload: bytes, packed: bytes = b"") -> Unit:
    """Return the unit that `encode_unit` wrote, with the packed outcomes of its request.

    Raises:
        InputError: The bytes are not of that form.
    """
    try:
        trajectory, cluster, model, flags, funnel, candidates = json.loads(payload)
        return Unit(
            trajectory,
            cluster,
            model,
            flags,
            tuple(Funnel(d, c, e, i, s, tuple(map(tuple, ties))) for d, c, e, i, s, ties in funnel),
            tuple(
                Isolated(e, key, position, f, strict, tuple((name, rank) for name, rank in ranks))
                for e, key, position, f, strict, ranks in candidates
            ),
            packed,
        )
    except (ValueError, TypeError) as error:
        raise InputError(f"not an encoded unit of a rewards audit: {error}") from None


def call_names(setup: Setup, candidates: Sequence[Isolated]) -> list[str]:
    """Return the names of the calls of a unit: `original`, then `edit/key` of each candidate."""
    names = [one.name for one in setup.edits]
    return ["original", *(f"{names[c.edit]}/{c.key}" for c in candidates)]
