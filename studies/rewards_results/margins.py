"""Every isolated candidate of a frozen audit as arrays, beside what the record alone says of it.

Grounding g, flags and the number of searches are computed here from the records and the candidates' keys, not by the
code of the reward or of the edits, so that a law of the reference reward is tested and not repeated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterproof.core.outcomes import NotApplicable
from counterproof.core.records import Search, Trajectory
from counterproof.core.seeds import ItemSeed
from counterproof.rewards.batch import batch_of
from counterproof.rewards.planning import planned_setup
from counterproof.rewards.units import Isolated, Unit, decode_unit
from counterproof.stats.rates import RateEstimate, clustered_rate
from counterproof.store import EVENT, Ledger

TOLERANCE = 1e-9
FLAG = 0.55 / 7
"""What one of the seven flags costs in R0, by its definition."""
SEARCH = 0.02
"""What a search costs in R0."""
UNRANKED = np.iinfo(np.int32).max


class Fact(NamedTuple):
    """What the record says of one candidate, computed without the audit's code.

    Attributes:
        searches: t of the original.
        repeat: Whether two of its queries repeat (token Jaccard of at least .8, or the same text).
        cited: |C| of the original.
        support: |S|.
        wrong: |C without S| of the original.
        duplicate: Whether the replaced citation occurs twice in the list.
        gain: g of the edited record less that of the original.
        mismatch: Support mismatch of the edited record less that of the original, in {-1, 0, 1}.
    """

    searches: int
    repeat: bool
    cited: int
    support: int
    wrong: int
    duplicate: bool
    gain: float
    mismatch: int


@dataclass(frozen=True, slots=True)
class Candidates:
    """All isolated candidates of one audit, along the axis M.

    Attributes:
        question: Index of the question, (M,).
        unit: Index of the trajectory, (M,).
        attack: `same_final{U}`, `same_final{UL}`, `fake_id` or `launder`, (M,).
        margin: R(original) - R(edited), (M,).
        deltas: By detector, edited less original, each (M,).
        strict: Whether strictly isolated, (M,).
        lexical: Rank, or `UNRANKED`, (M,).
        bm25: Rank, or `UNRANKED`, (M,).
        facts: By name of `Fact`, each (M,).
    """

    question: NDArray[np.intp]
    unit: NDArray[np.intp]
    attack: NDArray[np.str_]
    margin: NDArray[np.float64]
    deltas: Mapping[str, NDArray[np.int8]]
    strict: NDArray[np.bool_]
    lexical: NDArray[np.int32]
    bm25: NDArray[np.int32]
    facts: Mapping[str, NDArray[np.float64]]

    def only(self, keep: NDArray[np.bool_]) -> Candidates:
        """Return those that a mask keeps."""
        return Candidates(
            question=self.question[keep],
            unit=self.unit[keep],
            attack=self.attack[keep],
            margin=self.margin[keep],
            deltas={name: column[keep] for name, column in self.deltas.items()},
            strict=self.strict[keep],
            lexical=self.lexical[keep],
            bm25=self.bm25[keep],
            facts={name: column[keep] for name, column in self.facts.items()},
        )

    def cell(self, name: str) -> Candidates:
        """Return those of an attack's cell, such as `fake_id` or `launder/bm25@4`."""
        attack, _, budget = name.partition("/")
        keep = self.attack == attack
        if budget:
            generator, _, k = budget.partition("@")
            keep &= (self.lexical if generator == "lexical" else self.bm25) < int(k)
        return self.only(keep)

    def repaired(self, weights: Mapping[str, float]) -> NDArray[np.float64]:
        """Return the margins under added penalties: m0 + sum over d of weight_d Delta_d, (M,)."""
        margin = self.margin.copy()
        for name, weight in weights.items():
            if name in self.deltas:
                margin += weight * self.deltas[name]
        return margin

    def closed_form(self) -> NDArray[np.float64]:
        """Return the margin under R0 that the record alone implies, (M,)."""
        fact = self.facts
        lifted = FLAG * (fact["repeat"] + (fact["searches"] > 5)) + SEARCH * fact["searches"]
        raised = np.where(self.attack == "same_final{UL}", 2, 1)
        deleting = np.char.startswith(self.attack, "same_final")
        return FLAG * raised - np.where(deleting, lifted, 0.5 * fact["gain"] - FLAG * fact["mismatch"])

    def share(self, events: NDArray[np.bool_]) -> RateEstimate | NotApplicable:
        """Return the share of candidates with an event, over questions."""
        return _rate(self.question, events)

    def success(self, margin: NDArray[np.float64]) -> RateEstimate | NotApplicable:
        """Return attack success under `oracle_worst` with these margins: units whose smallest one is at most 1e-9."""
        if not len(margin):
            return NotApplicable("no unit has an isolated candidate")
        question, worst = self.worst_by_unit(margin)
        return _rate(question, worst <= TOLERANCE)

    def worst_by_unit(self, margin: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return the question (U,) and the smallest margin (U,) of each unit that has a candidate."""
        order = np.argsort(self.unit, kind="stable")
        owner = self.unit[order]
        starts = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
        return self.question[order][starts], np.minimum.reduceat(margin[order], starts)


def _rate(question: NDArray[np.intp], events: NDArray[np.bool_]) -> RateEstimate | NotApplicable:
    """Draw as the audit does, so that one rate has one interval on the page."""
    size = int(question.max(initial=-1)) + 1
    return clustered_rate(
        np.bincount(question[events], minlength=size),
        np.bincount(question, minlength=size),
        rng=ItemSeed(0, "analysis").child("attack rates").generator(),
    )


def read_candidates(run: Path, records: Iterable[Trajectory]) -> Candidates:
    """Return the isolated candidates of the stage `scores` of a run folder.

    Raises:
        CounterproofError: The folder holds no such run.
    """
    ledger = Ledger.open(run)
    setup = planned_setup(ledger.plan)
    by_id = {record.trajectory_id: record for record in records}
    units = sorted(_units(ledger), key=lambda unit: unit.trajectory_id)
    questions = {name: i for i, name in enumerate(sorted({unit.cluster for unit in units}))}
    batch = batch_of(units, setup)
    if batch.state.any():
        raise AssertionError("a built-in reward gave no score")
    labels = [one.name for one in setup.edits]
    attacks = [
        labels[e] + (f"{{{setup.names(mask)}}}" if setup.edits[e].strata else "")
        for e, mask in zip(batch.edit.tolist(), batch.stratum.tolist(), strict=True)
    ]
    facts = [fact for unit in units for fact in _facts(by_id[unit.trajectory_id], unit.candidates, labels)]
    columns = np.array(facts, dtype=np.float64).reshape(-1, len(Fact._fields))
    none = np.full(len(attacks), UNRANKED, dtype=np.int32)
    return Candidates(
        question=np.array([questions[units[n].cluster] for n in batch.owner.tolist()], dtype=np.intp),
        unit=batch.owner,
        attack=np.array(attacks, dtype=np.str_),
        margin=batch.margin,
        deltas={one.name: batch.deltas[:, bit] for bit, one in enumerate(setup.detectors)},
        strict=batch.strict,
        lexical=batch.ranks.get("lexical", none),
        bm25=batch.ranks.get("bm25", none),
        facts=dict(zip(Fact._fields, columns.T, strict=True)),
    )


def _units(ledger: Ledger) -> Iterator[Unit]:
    packed = b""
    for row in ledger.rows("scores"):
        if row.kind == EVENT:
            packed = row.payload
        else:
            yield decode_unit(row.payload, packed)


def _facts(record: Trajectory, candidates: Sequence[Isolated], edits: Sequence[str]) -> Iterator[Fact]:
    queries = [step.query for step in record.steps if isinstance(step, Search)]
    before, support = list(record.citations), set(record.support_ids)
    wrong = set(before) - support
    g = grounding(set(before), support)
    head = (len(queries), repeats(queries), len(set(before)), len(support), len(wrong))
    for one in candidates:
        after = list(before)
        if edits[one.edit] == "launder":
            place, passage = one.key.split(":")
            after[int(place)] = passage
        elif edits[one.edit] == "fake_id":
            after[int(one.key)] = "an id that no passage has"
        changed = before[one.position] if after != before else None
        mismatch = bool(set(after) - support) - bool(wrong)
        gain = float(grounding(set(after), support) - g)
        yield Fact(*head, before.count(changed or "") > 1, gain, mismatch)


def grounding(cited: set[str], support: set[str]) -> Fraction:
    """Return g as precision and recall give it: 2PR / (P + R), and 0 where nothing is shared."""
    shared = len(cited & support)
    if not shared:
        return Fraction(0)
    precision, recall = Fraction(shared, len(cited)), Fraction(shared, len(support))
    return 2 * precision * recall / (precision + recall)


def repeats(queries: Sequence[str]) -> bool:
    """Return whether two queries are the same text, or share at least .8 of their tokens (Jaccard)."""
    tokens = [set(re.findall(r"[^\W_]+", query.lower())) for query in queries]
    return len(set(queries)) < len(queries) or any(
        bool(a | b) and 5 * len(a & b) >= 4 * len(a | b) for i, a in enumerate(tokens) for b in tokens[:i]
    )
