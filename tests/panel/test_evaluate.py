"""Figures of a replay, by hand on ten items."""

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.core.outcomes import NotApplicable
from counterproof.panel.evaluate import ClassScores, evaluate
from counterproof.panel.loss import Loss
from counterproof.panel.policy import Replay
from counterproof.panel.table import Gold

BA, CHOW = Loss("ba"), Loss("chow", 0.1)


def made(label: list[int], accepted: list[int], confidence: list[float] | None = None, leaf: list[int] | None = None):  # type: ignore[no-untyped-def]
    n = len(label)
    return Replay(
        label=np.array(label, dtype=np.int8),
        accepted=np.array(accepted, dtype=np.bool_),
        confidence=np.array([0.9] * n if confidence is None else confidence),
        calls=np.arange(1, n + 1),
        cost=np.arange(2, 2 * n + 1, 2).astype(np.float64),
        leaf=np.array([0] * n if leaf is None else leaf, dtype=np.intp),
        leaves=((0,),),
        asked=np.ones((n, 1), dtype=np.bool_),
    )


GOLD = Gold(np.array([0, 0, 0, 0, 1, 1], dtype=np.int8))


def test_figures_overall_and_by_class() -> None:
    # Right: items 0, 1, 2 and 4; accepted: 0, 1, 3, 4 (one of them wrong).
    found = evaluate(made([0, 0, 0, 1, 1, 0], [1, 1, 0, 1, 1, 0]), GOLD, 2, CHOW)
    assert found.accuracy == pytest.approx(4 / 6)
    assert found.balanced_accuracy == pytest.approx((3 / 4 + 1 / 2) / 2)
    assert found.coverage == pytest.approx(4 / 6)
    assert found.selective_accuracy == pytest.approx(3 / 4)
    assert found.wrong_accepts == pytest.approx(1 / 6)
    assert found.loss == pytest.approx(1 / 6 + 0.1 * 2 / 6)
    assert (found.mean_calls, found.mean_cost) == (3.5, 7.0)
    assert found.by_class == (ClassScores(4.0, 3 / 4, 3 / 4, 2 / 3, 1 / 4), ClassScores(2.0, 1 / 2, 1 / 2, 1.0, 0.0))


def test_balanced_loss_is_one_less_balanced_accuracy() -> None:
    assert evaluate(made([0, 0, 0, 1, 1, 0], [0] * 6), GOLD, 2, BA).loss == pytest.approx(1 - 0.625)


def test_items_without_a_label_are_wrong_or_a_coin() -> None:
    replayed = made([0, 0, 0, 0, -1, -1], [0] * 6)
    assert evaluate(replayed, GOLD, 2, BA).balanced_accuracy == pytest.approx(0.5)
    assert evaluate(replayed, GOLD, 2, BA, ties="coin").balanced_accuracy == pytest.approx(0.75)


def test_most_confident_share_counts_ties_with_their_mean() -> None:
    replayed = made([0, 1, 0, 0, 1, 0], [1] * 6, [0.9, 0.8, 0.7, 0.7, 0.7, 0.5])
    # Half of six: the first (right), the second (wrong), and one of three tied (all right).
    assert evaluate(replayed, GOLD, 2, BA, share=0.5).accuracy_at_share == pytest.approx(2 / 3)
    # Two thirds: two of the three tied.
    assert evaluate(replayed, GOLD, 2, BA, share=4 / 6).accuracy_at_share == pytest.approx(3 / 4)
    # With ties of one right and one wrong, one of them counts a half.
    tied = made([0, 1, 0, 0, 1, 0], [1] * 6, [0.9, 0.9, 0.5, 0.5, 0.5, 0.5])
    assert evaluate(tied, GOLD, 2, BA, share=1 / 6).accuracy_at_share == pytest.approx(0.5)


def test_items_that_cannot_be_scored_are_counted_apart() -> None:
    gold = Gold(np.array([0, -1, 0, 0, 1, 1], dtype=np.int8))
    found = evaluate(made([0, 0, 0, -1, 1, 0], [1, 1, 1, 0, 1, 0], leaf=[0, 0, 0, -1, 0, 0]), gold, 2, BA)
    assert (found.items, found.unlabelled, found.unreplayed) == (4.0, 1, 1)
    assert found.accuracy == pytest.approx(3 / 4)


def test_weights_are_probabilities_of_items() -> None:
    found = evaluate(made([0, 0, 0, 1, 1, 0], [1] * 6), GOLD, 2, CHOW, weights=np.array([1, 0, 0, 1, 2, 0]) / 4)
    assert found.accuracy == pytest.approx(3 / 4)
    assert found.mean_calls == pytest.approx((1 + 4 + 2 * 5) / 4)


def test_what_cannot_be_said_has_a_reason() -> None:
    none = evaluate(made([0, 0], [0, 0]), Gold(np.array([0, 0], dtype=np.int8)), 2, BA)
    assert none.selective_accuracy == NotApplicable("nothing was accepted")
    assert none.balanced_accuracy == NotApplicable("no item of class 1")
    assert isinstance(none.loss, NotApplicable)


def test_bad_arguments_are_refused() -> None:
    replayed = made([0, 0], [1, 1])
    with pytest.raises(InputError, match="2 replayed items"):
        evaluate(replayed, GOLD, 2, BA)
    with pytest.raises(InputError, match="share of 0"):
        evaluate(replayed, Gold(np.array([0, 1], dtype=np.int8)), 2, BA, share=0)
    with pytest.raises(InputError, match="no item has both"):
        evaluate(replayed, Gold(np.array([-1, -1], dtype=np.int8)), 2, BA)
