"""Laws of agreement: it only demotes, and the order of views within a group does not matter."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from counterproof.equations.agreement import agreed
from counterproof.equations.evidence import NO_VERDICT, OPEN, Cell, build_evidence
from counterproof.equations.evidence_audit import grouped, majority, unanimous
from counterproof.equations.verdicts import INCONCLUSIVE

GROUPS = ((0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11))
SIGNATURES = arrays.arrays(np.int64, (5, 12), elements=st.sampled_from([INCONCLUSIVE, -1, 0, 7]))
SCORES = arrays.arrays(np.float64, (5, 12), elements=st.floats(-3, 14))


@given(SIGNATURES, SCORES)
def test_every_emitted_signature_occurs_in_all_views_of_one_group(signature: np.ndarray, score: np.ndarray) -> None:
    for row, emitted in zip(signature, agreed(signature, score, GROUPS), strict=True):
        if emitted != INCONCLUSIVE:
            assert any((row[list(group)] == emitted).all() for group in GROUPS)
        else:
            assert not any((row[list(group)] == row[group[0]]).all() and row[group[0]] != -2 for group in GROUPS)


@given(SIGNATURES, SCORES, st.permutations(range(4)), st.permutations(range(12)))
def test_order_of_views_within_a_group_changes_nothing(
    signature: np.ndarray, score: np.ndarray, within: list[int], columns: list[int]
) -> None:
    expected = agreed(signature, score, GROUPS).tolist()
    assert agreed(signature, score, [[group[i] for i in within] for group in GROUPS]).tolist() == expected
    moved = [[columns.index(v) for v in group] for group in GROUPS]
    assert agreed(signature[:, columns], score[:, columns], moved).tolist() == expected


@given(SIGNATURES, SCORES)
def test_open_views_can_only_demote(signature: np.ndarray, score: np.ndarray) -> None:
    before = agreed(signature, score, GROUPS[:1])
    demoted = signature.copy()
    demoted[:, 2] = INCONCLUSIVE
    after = agreed(demoted, score, GROUPS[:1])
    assert ((after == before) | (after == INCONCLUSIVE)).all()


@given(arrays.arrays(np.int64, (6, 5), elements=st.sampled_from([NO_VERDICT, OPEN, 0, 1, 2])))
def test_general_rules_emit_only_what_enough_views_said(said: np.ndarray) -> None:
    for row, all_said, most_said in zip(said, unanimous(said), majority(said), strict=True):
        told = row[row != NO_VERDICT]
        if all_said >= 0:
            assert (told == all_said).all()
        if most_said >= 0:
            assert 2 * (told == most_said).sum() > told.size
        assert (all_said == NO_VERDICT) == (told.size == 0) == (most_said == NO_VERDICT)
        if all_said >= 0:
            assert most_said == all_said


@given(arrays.arrays(np.int64, (4, 6), elements=st.sampled_from([OPEN, 0, 1])))
def test_rules_within_groups_agree_between_the_lab_and_the_general_audit(said: np.ndarray) -> None:
    cells = [
        Cell(str(i), str(v), None if code < 0 else f"v{code}")
        for i, row in enumerate(said)
        for v, code in enumerate(row)
    ]
    truth = {"0": "v0", "1": "v1"}
    table = build_evidence(cells, truth=truth)
    groups = [[0, 1, 2], [3, 4, 5]]
    signature = np.where(table.verdict == OPEN, INCONCLUSIVE, table.verdict)
    expected = agreed(signature, np.zeros(signature.shape), groups)
    assert np.where(expected == INCONCLUSIVE, OPEN, expected).tolist() == grouped(table, groups).tolist()
