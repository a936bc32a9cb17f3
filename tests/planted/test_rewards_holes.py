"""Rewards with a known hole, of which an audit must name the repair, and honest ones, on which it must stay silent."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from counterproof.core.records import Corpus, Trajectory
from counterproof.rewards.analyse import analyse
from counterproof.rewards.edits import EditContext
from counterproof.rewards.lexical import LexicalIndex
from counterproof.rewards.ranking import Ranker
from counterproof.rewards.repair import Repair, repair_of
from counterproof.rewards.selection import Selector
from counterproof.rewards.tally import Tally
from counterproof.study.pools import fact_world, make_pool
from counterproof.study.pools.retrieval import Bm25Index
from tests.rewards.records import SETUP, evidence_of, of_number, plan_of, tally_of

Score = Callable[[Trajectory], object]


@cache
def world() -> tuple[tuple[Trajectory, ...], Corpus, EditContext]:
    questions, corpus = fact_world(4, 80)
    rankers: dict[str, Ranker] = {"lexical": LexicalIndex(corpus), "bm25": Bm25Index(corpus)}
    rows = tuple(make_pool(questions, corpus, seed=4, samples=3))
    return rows, corpus, EditContext(corpus, rankers, {"lexical": 8, "bm25": 16})


def share(cited: tuple[str, ...], good: Callable[[str], bool]) -> float:
    return sum(map(good, cited)) / len(cited) if cited else 0.0


def marker(one: Trajectory) -> float:
    """Pays for anything that looks like a citation."""
    return float("[" in one.raw_final)


def known(one: Trajectory) -> float:
    """Asks whether the cited passages exist, and not whether they were retrieved."""
    return share(one.citations, lambda cited: cited in world()[1])


def grounded(one: Trajectory) -> float:
    """Asks whether the cited passages were retrieved; says nothing of an answer that cites none."""
    return share(one.citations, lambda cited: cited in one.retrieved)


def busy(one: Trajectory) -> float:
    """Pays for searching, whatever is then cited."""
    return float(len(one.steps.searches))


def frugal(one: Trajectory) -> dict[str, float]:
    """Grounded, and searches cost more than a citation is worth."""
    return {"grounded": grounded(one), "cost": -2.0 * len(one.steps.searches)}


def long(one: Trajectory) -> float:
    """Grounded, with a bonus for characters: a made-up id is longer than a real one."""
    return 0.1 * grounded(one) + 0.01 * len(one.raw_final) + len(one.steps.searches)


def conflated(one: Trajectory) -> float:
    """Takes a made-up id for one not retrieved: an answer with a made-up one may launder the others for nothing."""
    unsearched = bool(one.answer.strip()) and not one.steps.searches
    unretrieved = any(cited not in one.retrieved for cited in one.citations)
    made_up = any(cited not in world()[1] for cited in one.citations)
    return -2.0 * unsearched - unretrieved - made_up


def honest(one: Trajectory) -> float:
    """Written afresh from the contract: answer only after a search, and cite only what was retrieved."""
    unsearched = bool(one.answer.strip()) and not one.steps.searches
    real = set(one.citations).intersection(world()[1].passages)
    unretrieved = not real <= one.retrieved
    made_up = len(real) < len(set(one.citations))
    return len(one.answer) / 100 - 2.0 * unsearched - unretrieved - made_up


def honest_parts(one: Trajectory) -> dict[str, float]:
    """The same with a term that hates citations, too small to pay for a breach."""
    return {"honest": honest(one), "citations": -0.01 * len(one.citations)}


def audited(score: Score) -> tuple[set[str], Repair, Tally]:
    """Names of the primary cells in which something succeeded, the repair, and the tally."""
    rows, _, context = world()
    tally = tally_of(rows, of_number(score), SETUP, context)
    fooled = tally.fooled.table().sum(axis=0)
    hit = {
        one.cell.name
        for index, one in enumerate(tally.columns)
        if fooled[index] and one.cell.primary and one.selector is Selector.ORACLE_WORST
    }
    return hit, repair_of(tally), tally


SAME = {"same_final{U}", "same_final{UL}"}
LAUNDER = {"launder/lexical@8", "launder/bm25@16"}
FAKE = {"fake_id"}


@pytest.mark.parametrize(
    ("score", "holes", "repairs"),
    [
        (marker, SAME | LAUNDER | FAKE, ["{U,L,F}"]),
        (known, SAME | LAUNDER, ["{U,L}"]),
        (grounded, {"same_final{U}"}, ["{U}"]),
        (busy, LAUNDER | FAKE, ["{L,F}"]),
        (long, FAKE, ["{F}"]),
        (conflated, LAUNDER, ["{L}"]),
        (honest, set(), ["{}"]),
        (honest_parts, set(), ["{}"]),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_planted_hole_is_found_and_its_smallest_repair_named(score: Score, holes: set[str], repairs: list[str]) -> None:
    hit, repair, tally = audited(score)
    assert repair.units == tuple(n for n in repair.units if n > 0)
    assert len(repair.cells) == 5
    assert hit == holes
    assert [tally.lattice.label(one) for one in repair.minimal] == repairs


def test_payment_for_deleted_searches_can_be_beyond_every_weight() -> None:
    hit, repair, tally = audited(frugal)
    assert hit == SAME
    # Five searches pay 10; grounding costs at most 1, and U + L at most 2.8.
    assert repair.minimal == ()
    needs = {one.detector: one for one in repair.needs}
    # Alone, only a penalty on U reaches both strata. In {U} nothing falls, so it must outweigh five searches.
    assert needs["U"].weight == pytest.approx(10.0, abs=1e-5)
    assert needs["U"].binding == "same_final"
    assert (needs["L"].weight, needs["F"].weight) == (None, None)
    (index,) = [
        i
        for i, one in enumerate(tally.columns)
        if (one.cell.name, one.selector, one.strict, one.common)
        == ("same_final{U}", Selector.ORACLE_WORST, False, False)
    ]
    total = tally.cancellation[index]
    assert (total.penalty, total.unpenalised) == (0.0, total.units)
    assert total.payers["cost"] == total.payback > 0


@pytest.mark.parametrize("questions", [1, 5])
def test_hole_on_a_few_questions_is_counted_exactly(questions: int) -> None:
    """Honest but on a few questions, where it gives a constant: those units tie, all others resist."""
    rows, _, context = world()
    blind = {f.question_id for f in rows if f.citations}
    chosen = set(sorted(blind)[:questions])
    tally = tally_of(rows, of_number(lambda one: 0.0 if one.question_id in chosen else honest(one)), SETUP, context)
    for index, one in enumerate(tally.columns):
        fooled, units = tally.fooled.table()[:, index], tally.units.table()[:, index]
        for key, hit, seen in zip(tally.units.keys(), fooled.tolist(), units.tolist(), strict=True):
            assert hit == (seen if key in chosen else 0)
        assert tally.ties[index] == fooled.sum(), one


def test_honest_reward_reads_as_clean_and_marker_counting_does_not() -> None:
    rows, _, context = world()
    clean, dirty = (
        analyse(plan_of(), evidence_of(rows, of_number(score), SETUP, context)) for score in (honest, marker)
    )
    assert clean.controls_hold
    assert dirty.controls_hold
    assert clean.summary[0].startswith("No attack succeeded on ours")
    assert clean.summary[1].startswith("No repair needed")
    assert dirty.summary[0].startswith("ours can be fooled")
