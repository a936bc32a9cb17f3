"""A corpus, records and units small enough to check by eye, and the two halves of an audit without a ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from counterproof.core.episodes import Done, Event, Verify
from counterproof.core.outcomes import Outcome, Scored, outcome_of, pack
from counterproof.core.plan import Digest, Plan
from counterproof.core.records import Corpus, InvalidAction, Passage, Search, Step, Steps, Text, Trajectory
from counterproof.core.seeds import ItemSeed
from counterproof.rewards.analyse import Evidence
from counterproof.rewards.cells import Setup, set_up
from counterproof.rewards.edits import EditContext
from counterproof.rewards.episode import AuditContext, AuditEpisode, Statelessness
from counterproof.rewards.lexical import LexicalIndex
from counterproof.rewards.planning import PoolFacts, audit_plan
from counterproof.rewards.ranking import Ranker
from counterproof.rewards.reference import built_in_reward
from counterproof.rewards.tally import Tally
from counterproof.rewards.units import Funnel, Isolated, Unit, decode_unit

ALL = frozenset({"corpus", "passages", "passage_texts", "citations", "gold_answers", "support_ids", "answers"})
"""Traits of a log that can say everything."""
U, L, F = 1, 2, 4
"""Bits of the contract detectors in the built-in order."""

_TEXTS = {
    "a": ("Rush", "A band of three from Toronto."),
    "b": ("Neil Peart", "The drummer of the band Rush."),
    "c": ("Toronto", "A city by a lake."),
    "d": ("Moving Pictures", "An album of the band Rush."),
    "e": ("Drummer", "Who plays the drums in a band."),
    "f": ("Canal", "A waterway."),
}
CORPUS = Corpus({name: Passage(name, title, text) for name, (title, text) in _TEXTS.items()})
SETUP = set_up(ALL)

Verdict = Callable[[Trajectory], Outcome]


def record(searches: Iterable[tuple[str, str]] = (("who drums", "ab"),), **changes: Any) -> Trajectory:
    """Return a trajectory: by default one search that returned a and b, and the right answer with a citation of b.

    Args:
        searches: Query and the (one-letter) ids that it returned, for each search.
        changes: Other values of fields; citations also rewrite the final message, unless that is given too.
    """
    steps: list[Step] = [Search(query, tuple(found)) for query, found in searches]
    citations = tuple(changes.pop("citations", "b"))
    answer = changes.pop("answer", "Neil Peart")
    values: dict[str, Any] = {
        "trajectory_id": "t1",
        "question_id": "q1",
        "question": "Who drums in the band Rush?",
        "steps": Steps([*steps, *changes.pop("others", ())]),
        "answer": answer,
        "citations": citations,
        "raw_final": " ".join([answer, *(f"[{one}]" for one in citations)]).strip(),
        "gold_answers": ("Neil Peart",),
        "support_ids": frozenset("ab"),
    }
    return Trajectory(**(values | changes))


def with_others(*texts: str) -> tuple[Step, ...]:
    """Return steps that are no search: texts that begin with `!` are invalid actions."""
    return tuple(InvalidAction(one[1:]) if one.startswith("!") else Text(one) for one in texts)


def context(depths: Mapping[str, int] | None = None, corpus: Corpus = CORPUS) -> EditContext:
    """Return what the edits may use: by default lexical rankings under both generators' names."""
    rankers: dict[str, Ranker] = {name: LexicalIndex(corpus, name) for name in ("lexical", "bm25")}
    return EditContext(corpus, rankers, depths or {"lexical": 8, "bm25": 16})


def of_reward(spec: str, corpus: Corpus = CORPUS) -> Verdict:
    """Return a built-in reward as a function of the record."""
    reward = built_in_reward(spec)
    return lambda one: reward(one, corpus)


def of_number(function: Callable[[Trajectory], object]) -> Verdict:
    """Return a function that gives numbers, None or a mapping as one that gives outcomes."""
    return lambda one: outcome_of(function(one))


def calls_of(one: Trajectory, setup: Setup = SETUP, using: EditContext | None = None) -> dict[str, Trajectory]:
    """Return what an audit of one trajectory scores, by the name of the call."""
    state = AuditEpisode().start(one, AuditContext(setup, using or context()), ItemSeed(0, "item"))
    _, request = AuditEpisode().step(state, None)
    assert isinstance(request, Verify)
    return {call.name: call.record for call in request.calls}


def unit_of(one: Trajectory, verdict: Verdict, setup: Setup = SETUP, using: EditContext | None = None) -> Unit:
    """Return the unit of one trajectory, as it is read back from its encoded form and the event's outcomes."""
    episode = AuditEpisode()
    state = episode.start(one, AuditContext(setup, using or context()), ItemSeed(0, "item"))
    state, request = episode.step(state, None)
    assert isinstance(request, Verify)
    outcomes = tuple(verdict(call.record) for call in request.calls)
    _, done = episode.step(state, Event(outcomes))
    assert isinstance(done, Done)
    return decode_unit(episode.encode(done.result), pack(outcomes))


def tally_of(
    records: Iterable[Trajectory], verdict: Verdict, setup: Setup = SETUP, using: EditContext | None = None
) -> Tally:
    """Return the tally of an audit of some trajectories."""
    shared = using or context()
    return Tally(setup).add_all(unit_of(one, verdict, setup, shared) for one in records)


def evidence_of(
    records: Sequence[Trajectory], verdict: Verdict, setup: Setup = SETUP, using: EditContext | None = None
) -> Evidence:
    """Return all that an analysis reads, controls included."""
    shared = using or context()
    controls = {
        name: tally_of(records, of_reward(name, shared.corpus), setup, shared) for name in ("constant", "oracle")
    }
    tally = tally_of(records, verdict, setup, shared)
    return Evidence(tally, {}, controls, Statelessness((), ()), (), (), "f(trajectory)")


def plan_of(setup: Setup = SETUP, **options: Any) -> Plan:
    """Return the plan of an audit of `ours`."""
    facts = PoolFacts("pool", "pool", ALL, (), (), 3, 2, (), (Digest("log", "0" * 64),))
    return audit_plan("ours", "f(trajectory)", "1" * 64, facts, setup, seed=3, options=options)


def made(
    *candidates: tuple[float | Outcome, Mapping[str, Any]],
    original: float | Outcome = 0.0,
    targets: Mapping[int, int] | None = None,
    **fields: Any,
) -> Unit:
    """Return a unit made by hand: each candidate is its margin (or its outcome) and the fields of `Isolated`.

    A margin m becomes a score of original - m. `targets` gives the D of an edit's funnel by its index; launder's L is
    the default of edit 2, F of edit 1, and U, L of edit 0.
    """
    base = Scored(original) if isinstance(original, float) else original
    outcomes: list[Outcome] = [base]
    found = []
    for number, (ending, given) in enumerate(candidates):
        values = {"edit": 2, "key": str(number), "position": 0, "flags": L, "strict": True}
        values |= {"ranks": (("lexical", 0), ("bm25", 0))}
        found.append(Isolated(**{**values, **given}))
        start = base.score if isinstance(base, Scored) else 0.0
        outcomes.append(Scored(start - ending) if isinstance(ending, float) else ending)
    wanted = {0: U | L, 1: F, 2: L} | dict(targets or {})
    counts = [sum(one.edit == index for one in found) for index in range(3)]
    funnel = tuple(Funnel(wanted[index], n, n, n, n) for index, n in enumerate(counts))
    values = {"trajectory_id": "t1", "cluster": "q1", "model": "", "flags": 0}
    values |= {"funnel": funnel, "candidates": tuple(found)}
    return decoded(Unit(**{**values, **fields}), outcomes)


def decoded(unit: Unit, outcomes: Sequence[Outcome]) -> Unit:
    """Return the unit with these outcomes."""
    return replace(unit, packed=pack(outcomes))
