"""Closed forms of the reference reward's margins under each edit, on any record."""

import pytest
from hypothesis import assume, given

from counterproof.core.outcomes import Scored
from counterproof.core.records import Trajectory
from counterproof.rewards.batch import batch_of
from counterproof.rewards.reference import citation_f1
from tests.rewards.drawing import trajectories
from tests.rewards.records import CORPUS, SETUP, U, calls_of, context, made, of_reward, record, unit_of

FLAG = 0.55 / 7
EXACT = 1e-9
BY_NAME = {one.name: one for one in SETUP.detectors}
CONTEXT = context()


def margins(original: Trajectory, reward: str = "reference") -> dict[str, list[tuple[float, Trajectory, bool]]]:
    """Margin, edited record and strictness of each isolated candidate, by edit."""
    records = list(calls_of(original, SETUP, CONTEXT).values())
    unit = unit_of(original, of_reward(reward), SETUP, CONTEXT)
    found: dict[str, list[tuple[float, Trajectory, bool]]] = {one.name: [] for one in SETUP.edits}
    base = unit.outcomes[0]
    for candidate, outcome, after in zip(unit.candidates, unit.outcomes[1:], records[1:], strict=True):
        assert isinstance(base, Scored)
        assert isinstance(outcome, Scored)
        name = SETUP.edits[candidate.edit].name
        found[name].append((base.score - outcome.score, after, candidate.strict))
    return found


def fires(name: str, one: Trajectory) -> int:
    return int(BY_NAME[name](one, CORPUS))


def gain(original: Trajectory, after: Trajectory) -> float:
    """By how much the edit raises g."""
    return citation_f1(after.cited, original.support_ids) - citation_f1(original.cited, original.support_ids)


@given(trajectories())
def test_deleting_searches_pays_their_cost_and_the_flags_that_go_with_them(original: Trajectory) -> None:
    for margin, _, strict in margins(original)["same_final"]:
        t = len(original.steps.searches)
        repeat, over = fires("repeated_query", original), fires("over_retrieval", original)
        flags = 2 if any(one in CORPUS for one in original.citations) else 1
        assert margin == pytest.approx((flags - repeat - over) * FLAG - 0.02 * t, abs=EXACT)
        if flags == 2:
            # U and L: only six searches, or four of which two repeat, and never strictly isolated.
            assert (margin <= EXACT) == (t >= 6 or (t >= 4 and bool(repeat)))
            assert not (strict and margin <= EXACT)
        else:
            # U alone: any repeat, or four searches, which are strictly isolated.
            assert (margin <= EXACT) == (t >= 4 or bool(repeat))


@given(trajectories())
def test_fake_citation_costs_its_flag_and_whatever_else_it_spoils(original: Trajectory) -> None:
    for margin, after, _ in margins(original)["fake_id"]:
        clean = 1 - fires("support_mismatch", original)
        lost = -gain(original, after)
        assert lost >= -EXACT
        assert margin == pytest.approx((1 + clean) * FLAG + 0.5 * lost, abs=EXACT)
        assert margin >= FLAG - EXACT
        # It is the flag alone exactly where a citation was wrong before and g stays: nothing cited supports, or the
        # one replaced does not and is cited once.
        shared = original.cited & original.support_ids
        (old,) = original.cited - after.cited or {None}
        stays = not shared or (old is not None and old not in original.support_ids)
        assert (margin <= FLAG + EXACT) == (not clean and stays)


@given(trajectories())
def test_laundered_citation_costs_its_flag_and_is_paid_by_grounding(original: Trajectory) -> None:
    C, S = len(original.cited), len(original.support_ids)
    for margin, after, _ in margins(original)["launder"]:
        cleared = fires("support_mismatch", original) - fires("support_mismatch", after)
        raised = gain(original, after)
        assert margin == pytest.approx((1 - cleared) * FLAG - 0.5 * raised, abs=EXACT)
        assert raised <= 0 or 0.5 * raised <= 1 / (C + S) + EXACT
        if margin <= EXACT:
            assert raised > 0
        repeated = len(original.citations) > C
        if raised > 0 and not repeated:
            assert 0.5 * raised == pytest.approx(1 / (C + S), abs=EXACT)
            # 1/12 pays for a flag, 1/13 does not.
            assert (margin <= EXACT) == (cleared == 1 or C + S <= 12)


def test_gain_from_a_repeated_citation_may_be_too_small_to_pay_for_the_flag() -> None:
    # C = {a, b, c, d} = all but one of S, with a cited twice: replacing the second a by f makes |C| = 5, shared 5 of
    # |S| = 5, so g rises from 8/9 to 1 and pays .5/9 = .0556 < .0786. "Succeeds iff g rises" needs distinct citations.
    one = record(
        (("who", "abcd"),),
        citations="abcda",
        support_ids=frozenset("abcde"),
        question="Drummer who plays drums",
        answer="Drummer",
    )
    found = [(m, after) for m, after, _ in margins(one)["launder"] if after.citations == ("a", "b", "c", "d", "e")]
    ((margin, after),) = found
    assert gain(one, after) == pytest.approx(1 / 9)
    assert margin == pytest.approx(FLAG - 0.5 / 9)


@given(trajectories())
def test_penalty_on_laundering_leaves_no_success_where_a_passage_is_cited(original: Trajectory) -> None:
    found = margins(original, "reference+L")
    assert all(margin > EXACT for margin, _, _ in found["launder"])
    assert all(margin > EXACT for margin, _, _ in found["fake_id"])
    assert all(margin > EXACT for margin, after, _ in found["same_final"] if fires("L", after))


@given(trajectories())
def test_penalties_on_u_and_l_leave_no_success_at_all(original: Trajectory) -> None:
    found = margins(original, "reference+U+L")
    assert all(margin > EXACT for one in found.values() for margin, _, _ in one)


@given(trajectories())
def test_every_candidate_ties_under_the_constant_and_loses_under_the_oracle(original: Trajectory) -> None:
    assert {margin for one in margins(original, "constant").values() for margin, _, _ in one} <= {0.0}
    oracle = margins(original, "oracle")
    assert {margin for name in ("fake_id", "launder") for margin, _, _ in oracle[name]} <= {1.0}
    unit = unit_of(original, of_reward("oracle"), SETUP, CONTEXT)
    expected = 1.0 if unit.funnel[0].targets == U else 2.0
    assert {margin for margin, _, _ in oracle["same_final"]} <= {expected}


@given(trajectories())
def test_margin_is_antisymmetric(original: Trajectory) -> None:
    unit = unit_of(original, of_reward("reference"), SETUP, CONTEXT)
    forward = batch_of([unit], SETUP)
    assume(len(unit.candidates) > 0)
    for place, outcome in enumerate(unit.outcomes[1:]):
        backward = batch_of([made((unit.outcomes[0], {}), original=outcome)], SETUP)
        assert backward.margin[0] == -forward.margin[place]
        assert backward.payments[0].tolist() == pytest.approx((-forward.payments[place]).tolist(), abs=0)
