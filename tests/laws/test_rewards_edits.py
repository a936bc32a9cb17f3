"""Laws of the built-in edits on any record: what they keep, what they cannot see, and what they must break."""

import dataclasses
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterproof.core.records import Trajectory
from counterproof.core.views import TRAJECTORY_ROLES
from counterproof.rewards.edits import EDITS, Edit
from tests.rewards.drawing import IDS, trajectories
from tests.rewards.records import CORPUS, SETUP, context, of_number, unit_of

CONTEXT = context()
BY_NAME = {one.name: one for one in EDITS}
every_edit = pytest.mark.parametrize("one", EDITS, ids=lambda one: one.name)


def edited(one: Edit, given_record: Trajectory) -> list[Trajectory]:
    return [one.apply(given_record, candidate) for candidate in one.make(one.view(given_record), CONTEXT)]


def flags(one: Trajectory) -> int:
    return sum(1 << bit for bit, found in enumerate(SETUP.detectors) if found(one, CORPUS))


@every_edit
@given(original=trajectories())
def test_fields_that_are_not_declared_stay_as_they_are(one: Edit, original: Trajectory) -> None:
    kept = TRAJECTORY_ROLES.keys() - one.writes
    for after in edited(one, original):
        assert {name: getattr(after, name) for name in kept} == {name: getattr(original, name) for name in kept}
        assert after != original or one.name == "launder"


@every_edit
@given(
    original=trajectories(),
    golds=st.lists(st.sampled_from(["x", "rush"]), max_size=2),
    support=st.frozensets(st.sampled_from(IDS)),
    score=st.none() | st.floats(-1, 1),
)
def test_labels_change_no_candidate(
    one: Edit, original: Trajectory, golds: list[str], support: frozenset[str], score: float | None
) -> None:
    other = dataclasses.replace(original, gold_answers=tuple(golds), support_ids=support, score=score)
    assert list(one.make(one.view(original), CONTEXT)) == list(one.make(one.view(other), CONTEXT))


@every_edit
@given(original=trajectories())
def test_candidates_have_distinct_keys_and_come_again(one: Edit, original: Trajectory) -> None:
    first = list(one.make(one.view(original), CONTEXT))
    assert list(one.make(one.view(original), CONTEXT)) == first
    assert len({candidate.key for candidate in first}) == len(first)


@given(trajectories())
def test_deleting_searches_is_idempotent_and_keeps_other_steps(original: Trajectory) -> None:
    for after in edited(BY_NAME["same_final"], original):
        assert tuple(after.steps) == tuple(step for step in original.steps if step not in original.steps.searches)
        assert edited(BY_NAME["same_final"], after) == []


@pytest.mark.parametrize("name", ["fake_id", "launder"])
@given(original=trajectories())
def test_one_citation_is_replaced_and_the_number_of_tokens_stays(name: str, original: Trajectory) -> None:
    one = BY_NAME[name]
    for candidate in one.make(one.view(original), CONTEXT):
        after = one.apply(original, candidate)
        changed = [i for i, (a, b) in enumerate(zip(original.citations, after.citations, strict=True)) if a != b]
        assert changed in ([candidate.position], [])
        assert len(after.raw_final.split()) == len(original.raw_final.split())


@given(trajectories())
def test_marker_of_the_citation_follows_it(original: Trajectory) -> None:
    for candidate, after in zip(
        BY_NAME["fake_id"].make(BY_NAME["fake_id"].view(original), CONTEXT),
        edited(BY_NAME["fake_id"], original),
        strict=True,
    ):
        old, new = original.citations[candidate.position], after.citations[candidate.position]
        earlier = original.citations[: candidate.position].count(old)
        had = original.raw_final.count(f"[{old}]")
        if had > earlier:
            assert after.raw_final.count(f"[{old}]") == had - 1
            assert after.raw_final.replace(f"[{new}]", f"[{old}]") == original.raw_final
            head = after.raw_final.partition(f"[{new}]")[0]
            assert head.count(f"[{old}]") == earlier
        else:
            assert after.raw_final == original.raw_final


@given(trajectories())
def test_fabricated_ids_are_no_passage_and_laundered_ones_were_never_retrieved(original: Trajectory) -> None:
    for after in edited(BY_NAME["fake_id"], original):
        new = set(after.citations) - set(original.citations)
        assert len(new) == 1
        assert new.isdisjoint(CORPUS.passages)
    for candidate, after in zip(
        BY_NAME["launder"].make(BY_NAME["launder"].view(original), CONTEXT),
        edited(BY_NAME["launder"], original),
        strict=True,
    ):
        passage = after.citations[candidate.position]
        assert passage in CORPUS
        assert passage not in original.retrieved


@given(trajectories())
def test_laundered_candidates_come_by_rank_and_then_position(original: Trajectory) -> None:
    found = list(BY_NAME["launder"].make(BY_NAME["launder"].view(original), CONTEXT))
    for generator in ("lexical", "bm25"):
        order = [(dict(one.ranks)[generator], one.position) for one in found if generator in dict(one.ranks)]
        assert all(one < other for one, other in pairwise(order))
        ranks = {rank for rank, _ in order}
        assert ranks == set(range(len(ranks)))
        assert len(order) == len(ranks) * len(original.citations)


@given(trajectories())
def test_funnel_narrows_and_isolated_candidates_break_their_target_alone(original: Trajectory) -> None:
    unit = unit_of(original, of_number(lambda one: 0.0), SETUP, CONTEXT)
    assert unit.flags == flags(original)
    for index, stage in enumerate(unit.funnel):
        own = [one for one in unit.candidates if one.edit == index]
        assert stage.constructed >= stage.eligible >= stage.isolated >= stage.strict
        assert len(own) == stage.isolated
        assert sum(one.strict for one in own) == stage.strict
        for one in own:
            assert unit.flags & stage.targets == 0
            assert (one.flags ^ unit.flags) & SETUP.contract_mask == stage.targets
            assert one.strict == (not (one.flags ^ unit.flags) & SETUP.strict_mask)


@given(trajectories())
def test_isolated_candidates_are_exactly_those_that_the_definition_names(original: Trajectory) -> None:
    """The slow definition, with every detector computed on every edited record."""
    expected = []
    before = flags(original)
    for index, one in enumerate(SETUP.edits):
        targets = SETUP.mask(one.targets(one.view(original), CONTEXT))
        for candidate in one.make(one.view(original), CONTEXT):
            after = flags(one.apply(original, candidate))
            if not before & targets and (after ^ before) & SETUP.contract_mask == targets == after & targets:
                expected.append((index, candidate.key, after))
    unit = unit_of(original, of_number(lambda one: 0.0), SETUP, CONTEXT)
    assert [(one.edit, one.key, one.flags) for one in unit.candidates] == expected
