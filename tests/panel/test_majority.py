import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.panel.majority import Ties, forced_labels, majority
from tests.panel.verdicts import table_of


def test_label_agreement_and_acceptance() -> None:
    found = majority(table_of([[1, 1, 1, 1, 0], [1, 1, 1, 0, 0], [0, 0, 0, 0, 0]]))
    assert found.label.tolist() == [1, 1, 0]
    assert found.agreement.tolist() == [0.8, 0.6, 1.0]
    assert found.accepted.tolist() == [True, False, True]
    assert found.shares[0].tolist() == [0.2, 0.8]


def test_failures_stay_in_the_denominator_and_calls_never_made_do_not() -> None:
    found = majority(table_of([[1, 1, 1, 1, 2], [1, 1, 1, 2, 2], [1, 1, -1, -1, -1]]))
    assert found.agreement.tolist() == [0.8, 0.6, 1.0]
    assert found.accepted.tolist() == [True, False, True]
    assert found.shares[1].tolist() == [0.0, 1.0]


def test_many_classes_take_the_most_votes() -> None:
    found = majority(table_of([[2, 2, 0, 1, 3], [3, 3, 3, 3, 1]], classes=4))
    assert found.label.tolist() == [2, 3]
    assert found.tied.tolist() == [False, False]


@pytest.mark.parametrize("row", [[0, 1, -1], [0, 1, 2], [2, 2, 2], [-1, -1, -1]])
def test_ties_and_silence_are_rejected_or_tossed(row: list[int]) -> None:
    table = table_of([row] * 400)
    rejected, tossed = majority(table, ties="reject"), majority(table, ties="coin", seed=3)
    assert rejected.label.tolist() == [-1] * 400
    assert rejected.tied.all()
    assert not rejected.accepted.any()
    assert set(tossed.label.tolist()) == {0, 1}
    assert abs(tossed.label.mean() - 0.5) < 4 * 0.5 / 20  # four standard errors of 400 fair coins


def test_a_tie_is_not_accepted_however_low_the_threshold() -> None:
    assert not majority(table_of([[0, 1]]), threshold=0.5).accepted.any()


def test_a_coin_depends_on_seed_and_key_alone() -> None:
    table = table_of([[0, 1]] * 50)
    order = np.random.default_rng(0).permutation(50)
    labels = majority(table, seed=1).label
    assert np.array_equal(majority(table.rows(order), seed=1).label, labels[order])
    assert not np.array_equal(majority(table, seed=2).label, labels)


def test_posteriors_are_labelled_by_the_same_rule() -> None:
    scores = np.array([[0.2, 0.5, 0.3], [0.4, 0.4 - 1e-12, 0.2]])
    assert forced_labels(scores, ["a", "b"], ties="reject").tolist() == [1, -1]
    assert forced_labels(scores, ["a", "b"], seed=0)[1] in (0, 1)


@pytest.mark.parametrize("threshold", [0.0, 1.5])
def test_threshold_out_of_range_is_refused(threshold: float) -> None:
    with pytest.raises(InputError, match="threshold"):
        majority(table_of([[0]]), threshold=threshold)


def test_unknown_rule_and_missing_keys_are_refused() -> None:
    unknown: Ties = "guess"  # type: ignore[assignment]  # what a caller without types may pass
    with pytest.raises(InputError, match="'coin' and 'reject'"):
        majority(table_of([[0]]), ties=unknown)
    with pytest.raises(InputError, match="item keys"):
        forced_labels(np.zeros((2, 2)), ["a"])
