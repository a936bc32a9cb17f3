"""The lattice by one matrix product, minimal subsets and rates, against their slow definitions."""

import hashlib
import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterproof.core.outcomes import Failed, Outcome, Scored, pack
from counterproof.core.records import Corpus, Trajectory
from counterproof.core.seeds import ItemSeed
from counterproof.rewards.attacks import attack_rates
from counterproof.rewards.batch import batch_of
from counterproof.rewards.cells import cells_of, set_up
from counterproof.rewards.detectors import DETECTORS, detector
from counterproof.rewards.edits import EDITS
from counterproof.rewards.lattice import endings, lattice_of, minimal_subsets
from counterproof.rewards.repair import repair_of
from counterproof.rewards.selection import Selector
from counterproof.rewards.tally import Tally
from counterproof.rewards.units import Unit
from tests.rewards.drawing import trajectories
from tests.rewards.records import ALL, CORPUS, SETUP, calls_of, context, made, of_reward, record, unit_of

CONTEXT = context()


@detector("even", reads=["citations"], weight=0.4)
def even(view, corpus: Corpus):  # type: ignore[no-untyped-def]
    """Planted: differs between the candidates of one attack, because it depends on which passage is cited."""
    return any(cited in ("b", "d", "f") for cited in view.citations)


PLANTED = set_up(ALL, EDITS, (*DETECTORS, even))


def with_penalties(subset: tuple[str, ...], one: Trajectory) -> float:
    """R_S, called afresh: the reference less the weight of every detector of S that fires."""
    outcome = of_reward("reference")(one)
    assert isinstance(outcome, Scored)
    weights = {d.name: (d.weight or 0.0, d) for d in PLANTED.detectors}
    return outcome.score - sum(weights[name][0] * weights[name][1](one, CORPUS) for name in subset)


@given(trajectories())
@settings(max_examples=60)
def test_lattice_equals_calling_every_repaired_reward(original: Trajectory) -> None:
    lattice = lattice_of(PLANTED)
    assert lattice.names == ("U", "L", "F", "even")
    unit = unit_of(original, of_reward("reference"), PLANTED, CONTEXT)
    scored = list(calls_of(original, PLANTED, CONTEXT).values())
    batch = batch_of([unit], PLANTED)
    for cell in cells_of(PLANTED):
        members = batch.members(cell).tolist()
        _, fooled, resisted = endings(batch, cell, lattice)
        for row in range(16):
            subset = tuple(name for i, name in enumerate(lattice.names) if row >> i & 1)
            base = with_penalties(subset, original)
            naive = [base - with_penalties(subset, scored[1 + place]) for place in members]
            assert fooled[:, row].tolist() == ([min(naive) <= 1e-9] if naive else [])
            assert resisted[:, row].tolist() == ([min(naive) > 1e-9] if naive else [])


def test_planted_detector_really_differs_among_isolated_candidates_of_one_attack() -> None:
    unit = unit_of(record((("who", "ac"),), citations="a"), of_reward("reference"), PLANTED, CONTEXT)
    flags = {one.flags >> 7 for one in unit.candidates if PLANTED.edits[one.edit].name == "launder"}
    assert flags == {0, 1}


@given(trajectories())
@settings(max_examples=30)
def test_every_record_is_scored_once(original: Trajectory) -> None:
    calls: list[str] = []

    def judge(one: Trajectory) -> Outcome:
        calls.append(one.digest())
        return Scored(0.0)

    unit = unit_of(original, judge, SETUP, CONTEXT)
    tally = Tally(SETUP).add_all([unit])
    repair_of(tally)
    assert len(calls) == tally.calls == 1 + len(unit.candidates)


@given(st.lists(st.booleans(), min_size=8, max_size=8))
def test_minimal_subsets_equal_the_definition_over_sets(sufficient: list[bool]) -> None:
    subsets = [frozenset(i for i in range(3) if s >> i & 1) for s in range(8)]
    good = {subsets[s] for s in range(8) if sufficient[s]}
    expected = {
        one
        for one in good
        if not any(frozenset(other) in good for size in range(len(one)) for other in itertools.combinations(one, size))
    }
    found = minimal_subsets(sufficient)
    assert {subsets[s] for s in found} == expected
    assert [len(subsets[s]) for s in found] == sorted(len(subsets[s]) for s in found)


MARGINS = st.sampled_from([-1.0, -0.25, 0.0, 0.125, 0.5])
ENDINGS = st.one_of(MARGINS, st.just(Failed("no")))


@st.composite
def units(draw: st.DrawFn) -> list[Unit]:
    found = []
    for number in range(draw(st.integers(1, 12))):
        candidates = []
        for key, rank in enumerate(draw(st.lists(st.integers(0, 17), max_size=5, unique=True))):
            ranks = [("bm25", rank)] if rank < 16 else []
            ranks += [("lexical", rank // 2)] if rank % 2 or rank >= 16 else []
            place = {"ranks": tuple(ranks), "position": draw(st.integers(0, 2)), "key": str(key)}
            candidates.append((draw(ENDINGS), place))
        cluster = f"q{draw(st.integers(0, 4))}"
        found.append(made(*candidates, trajectory_id=f"t{number}", cluster=cluster))
    # One unit that both generators propose a candidate for, so that every batch knows both.
    return [*found, made((0.5, {}), trajectory_id="z", cluster="z")]


def rates(found: list[Unit], size: int = 512) -> tuple[object, ...]:
    tally = Tally(SETUP).add_all(found, size)
    return tuple((one.rate, one.margins, one.ties) for one in attack_rates(tally, ItemSeed(0, "x"), 50))


@given(units(), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_rates_do_not_depend_on_the_order_of_rows(found: list[Unit], random) -> None:  # type: ignore[no-untyped-def]
    expected = rates(found)
    shuffled = list(found)
    random.shuffle(shuffled)
    assert rates(shuffled) == expected


@given(units())
@settings(max_examples=60)
def test_oracle_success_does_not_fall_with_the_budget(found: list[Unit]) -> None:
    # Only where every verdict is there: a missing one can hide a unit from a larger budget.
    whole = [one for one in found if all(isinstance(outcome, Scored) for outcome in one.outcomes)]
    tally = Tally(SETUP).add_all(whole)
    columns = {
        one.cell.budget: i
        for i, one in enumerate(tally.columns)
        if one.selector is Selector.ORACLE_WORST and one.cell.generator == "bm25" and not (one.strict or one.common)
    }
    fooled = [int(tally.fooled.table()[:, columns[k]].sum()) for k in (1, 2, 4, 8, 16)]
    assert fooled == sorted(fooled)


@given(units())
@settings(max_examples=60)
def test_selectors_are_bounded_by_the_oracle_and_every_unit_ends_once(found: list[Unit]) -> None:
    tally = Tally(SETUP).add_all(found)
    by_cell: dict[str, dict[Selector, int]] = {}
    for index, one in enumerate(tally.columns):
        if not (one.strict or one.common):
            by_cell.setdefault(one.cell.name, {})[one.selector] = index
    for indices in by_cell.values():
        totals = {selector: sum(tally.endings[index].values()) for selector, index in indices.items()}
        assert len(set(totals.values())) == 1
        worst = tally.endings[indices[Selector.ORACLE_WORST]][0]
        assert all(tally.endings[index][0] <= worst for index in indices.values())


@given(units(), st.sampled_from([-8.0, 0.5, 1024.0]))
@settings(max_examples=40)
def test_constant_added_to_the_reward_changes_no_rate(found: list[Unit], constant: float) -> None:

    def moved(outcome: Outcome) -> Outcome:
        return Scored(outcome.score + constant) if isinstance(outcome, Scored) else outcome

    shifted = [replace(one, packed=pack([moved(outcome) for outcome in one.outcomes])) for one in found]
    assert rates(shifted) == rates(found)


@pytest.mark.parametrize("seed", range(3))
def test_row_zero_of_the_lattice_is_the_oracle_column(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = [made((float(rng.integers(-4, 5)) / 4, {}), (float(rng.integers(-4, 5)) / 4, {})) for _ in range(20)]
    tally = Tally(SETUP).add_all(found)
    for place, cell in enumerate(tally.cells):
        (index,) = [
            i
            for i, one in enumerate(tally.columns)
            if one.cell == cell and one.selector is Selector.ORACLE_WORST and not (one.strict or one.common)
        ]
        assert tally.lattice_fooled.table()[:, place * 8].sum() == tally.fooled.table()[:, index].sum()


def test_hash_of_a_record_is_no_reward_that_any_subset_must_repair() -> None:
    """A reward without structure: the lattice still equals the naive count on it."""

    def score(one: Trajectory) -> Outcome:
        return Scored(int(hashlib.sha256(one.digest().encode()).hexdigest()[:4], 16) / 65536)

    tally = Tally(SETUP).add_all(
        unit_of(record(trajectory_id=f"t{i}", citations=cited), score, SETUP, CONTEXT)
        for i, cited in enumerate(["b", "ab", "a", "bb"])
    )
    repair = repair_of(tally)
    assert all(not any(repair.fooled[s]) for s in range(8) if repair.sufficient[s])
    # Every edit turns its detector on, and scores lie within [0, 1): weights above one close everything.
    assert repair.sufficient[0b111]
