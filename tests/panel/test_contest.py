"""The contest of policies: item losses and weights by hand, cross-fitting, and a choice that sees calibration alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.core.outcomes import NotApplicable
from counterproof.panel.contest import MAKERS, Contest, class_weights, item_losses, run_contest
from counterproof.panel.joint import cluster_folds
from counterproof.panel.loss import Loss
from counterproof.panel.policy import Replay
from counterproof.panel.table import Channel, Gold, Split, VerdictTable
from tests.panel.audits import copies, independent, labels_of, one_judge, split_of
from tests.panel.judged import judged, of_symbols

BA, CHOW = Loss("ba"), Loss("chow", 0.1)


def held(
    table: VerdictTable, gold: Gold, loss: Loss = BA, *, budget: float = 99.0, split: Split | None = None
) -> Contest:
    chosen = split_of(table, gold) if split is None else split
    return run_contest(table, gold, chosen, loss, budget=budget, seed=0, rng=np.random.default_rng(0))


def ended(label: list[int], accepted: list[bool], leaf: list[int]) -> Replay:
    n = len(label)
    return Replay(
        np.array(label, dtype=np.int8), np.array(accepted), np.ones(n), np.ones(n, dtype=np.int64), np.ones(n),
        np.array(leaf, dtype=np.intp), ((0,),), np.ones((n, 1), dtype=np.bool_),
    )  # fmt: skip


RUN = ended([0, 1, 0, -1, 1, -1], [True, True, False, False, True, False], [0, 0, 0, 0, 0, -1])
GOLD = Gold(np.array([0, 0, 1, 1, -1, 1], dtype=np.int8))


def test_item_losses_by_hand() -> None:
    # Right; wrong; wrong and abstained; no label; no gold; not replayed.
    assert item_losses(RUN, GOLD, 2, BA) == pytest.approx([0, 1, 1, 0.5, np.nan, np.nan], nan_ok=True)
    assert item_losses(RUN, GOLD, 4, BA)[3] == pytest.approx(0.75)
    assert item_losses(RUN, GOLD, 2, CHOW) == pytest.approx([0, 1, 0.1, 0.1, np.nan, np.nan], nan_ok=True)


def test_weights_by_hand() -> None:
    gold = Gold(np.array([0, 0, 0, 1, -1], dtype=np.int8))
    assert class_weights(gold, 2, BA) == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 2, 0])
    assert class_weights(gold, 2, CHOW) == pytest.approx([1, 1, 1, 1, 0])
    assert class_weights(Gold(np.zeros(2, dtype=np.int8)), 3, BA) == pytest.approx([0.5, 0.5])


def test_weighted_item_losses_are_one_less_balanced_accuracy() -> None:
    # Class 0: one of two right. Class 1: wrong, and half of a coin: .25. Balanced accuracy .375.
    gold = Gold(np.array([0, 0, 1, 1, -1, -1], dtype=np.int8))
    losses, weights = item_losses(RUN, gold, 2, BA), class_weights(gold, 2, BA)
    known = ~np.isnan(losses)
    assert losses[known] @ weights[known] == pytest.approx(1 - 0.375)


def test_every_family_enters_and_the_policies_are_named_once() -> None:
    found = held(*independent())
    assert {one.family for one in found.contestants} == set(MAKERS)
    names = [one.name for one in found.contestants]
    assert len(set(names)) == len(names)
    assert all(one.policy.name == one.name for one in found.contestants)
    assert all(one.policy.loss == "ba" for one in found.contestants)
    assert found.refused == ()


def test_stop_at_one_where_one_judge_knows_and_the_others_toss_coins() -> None:
    found = held(*one_judge())
    chosen = found.contestants[found.recommended]
    assert chosen.scores.mean_calls == pytest.approx(1.0)
    asked = [action.channel for action in chosen.policy.actions.values() if action.channel >= 0]
    assert {chosen.policy.channels[j] for j in asked} == {"c0"}


def test_more_calls_pay_where_judges_are_independent() -> None:
    # One call errs on .3; the majority of five on .163, so .137 less, about four standard errors of 400 items.
    found = held(*independent())
    chosen = found.contestants[found.recommended]
    assert chosen.scores.mean_calls > 2
    single = next(i for i, one in enumerate(found.contestants) if one.family == "single")
    gap = found.against[single]
    assert not isinstance(gap, NotApplicable)
    assert gap.interval.upper < 0


def test_copies_are_not_bought() -> None:
    assert held(*copies()).contestants[0].scores.loss == pytest.approx(0.3, abs=0.1)
    chosen = held(*copies())
    assert chosen.contestants[chosen.recommended].scores.mean_calls == pytest.approx(1.0)


def test_the_choice_sees_calibration_items_alone() -> None:
    """Held-out verdicts and labels are turned round: figures change, the choice and every policy do not."""
    table, gold = independent()
    split = split_of(table, gold)
    symbols, labels = table.symbols.copy(), gold.labels.copy()
    symbols[split.held_out] = 1 - symbols[split.held_out][:, ::-1]
    labels[split.held_out[::3]] = 1 - labels[split.held_out[::3]]
    other = held(replace(table, symbols=symbols), Gold(labels), split=split)
    before = held(table, gold, split=split)
    assert (other.recommended, other.lowest) == (before.recommended, before.lowest)
    for one, two in zip(before.contestants, other.contestants, strict=True):
        assert one.policy == two.policy
        assert (one.crossfit_loss, one.crossfit_cost) == (two.crossfit_loss, two.crossfit_cost)
    assert before.contestants[0].scores != other.contestants[0].scores


def test_of_policies_within_one_standard_error_the_cheapest_is_chosen() -> None:
    """Written out: the lowest loss within the budget, and the cheapest whose paired difference is within its error."""
    table, gold = independent(400, (0.2, 0.25, 0.3))
    found = held(table, gold, budget=2.5)
    lowest, chosen = found.contestants[found.lowest], found.contestants[found.recommended]
    allowed = [one for one in found.contestants if one.crossfit_cost <= 2.5 + 1e-9]
    assert lowest.crossfit_loss == min(one.crossfit_loss for one in allowed)
    assert chosen.crossfit_cost <= min(lowest.crossfit_cost, 2.5)
    # No two item losses differ by more than 1, so one standard error of 200 items is at most 1/sqrt(200).
    assert chosen.crossfit_loss - lowest.crossfit_loss <= 200**-0.5


def test_each_half_is_judged_by_what_the_other_half_fitted() -> None:
    """The single call needs no fit, so its cross-fitted loss is its plain balanced error on calibration items."""
    table, gold = independent()
    split = split_of(table, gold)
    part, truth = table.rows(split.calibration), gold.rows(split.calibration)
    wrong = part.symbols != truth.labels[:, None]
    for one in held(table, gold, split=split).contestants:
        if one.family == "single":
            j = int(one.name.removeprefix("one call of c"))
            expected = np.mean([wrong[truth.labels == c, j].mean() for c in (0, 1)])
            assert one.crossfit_loss == pytest.approx(expected)
            assert one.crossfit_cost == 1.0


def test_the_same_data_give_the_same_contest() -> None:
    one, two = held(*independent(200)), held(*independent(200))
    assert one.contestants == two.contestants
    assert one.against == two.against


def test_a_budget_holds_on_calibration_items() -> None:
    found = held(*independent(), budget=1.0)
    assert found.contestants[found.recommended].crossfit_cost <= 1.0 + 1e-9
    with pytest.raises(InputError, match="pays for no call"):
        held(*independent(), budget=0.5)


def test_dear_channels_lose_against_cheap_ones_of_the_same_worth() -> None:
    table, gold = independent(600, (0.2, 0.2, 0.2))
    table = replace(table, channels=(Channel("dear", 10.0), Channel("cheap", 1.0), Channel("middling", 5.0)))
    found = held(table, gold, budget=1.5)
    chosen = found.contestants[found.recommended]
    assert chosen.scores.mean_cost <= 1.5
    assert "cheap" in chosen.name or chosen.family in ("static-cmd", "cmd", "dp")


def test_a_half_that_lacks_a_class_judges_nothing() -> None:
    """Fitted on the other half and judged on one class, whoever always says that class would look perfect."""
    n = 40
    clusters = [f"q{i}" for i in range(n)]
    split = Split(np.arange(n // 2), np.arange(n // 2, n), "time")
    fold = cluster_folds(clusters[: n // 2], 2, 0)
    labels = labels_of(n)
    labels[: n // 2] = np.where(fold == 0, 0, labels[: n // 2])
    assert len(set(labels[: n // 2].tolist())) == 2
    table, gold = judged(labels, np.random.default_rng(3).random((n, 3)) < 0.3, clusters=clusters)
    with pytest.raises(InputError, match="each half needs items of every class"):
        held(table, gold, split=split)


def test_calibration_without_a_class_is_refused() -> None:
    table, gold = independent(100)
    negatives = np.flatnonzero(gold.labels == 0)
    with pytest.raises(InputError):
        held(table, gold, split=Split(negatives[:30], negatives[30:], "random"))


def test_sparse_tables_enter_without_a_joint_model() -> None:
    """No item has a verdict of every channel: what needs complete rows is refused with its reason, the rest enters."""
    table, gold = independent(400, (0.2, 0.2, 0.2))
    symbols = table.symbols.copy()
    symbols[np.arange(400), np.arange(400) % 3] = -1
    found = held(replace(table, symbols=symbols), gold)
    refused = dict(found.refused)
    assert "complete rows" in refused["static-cmd, cmd, dp"]
    assert refused["best-3 majority"] == "no held-out item has every verdict that it asks for"
    assert found.contestants[found.recommended].family == "single"


def test_many_classes_enter_with_the_panels_that_fit_a_table() -> None:
    # Twenty classes: three calls reach 1 + 21 + 441 + 9261 states, four 204,205, more than a policy may have.
    rng = np.random.default_rng(5)
    labels = (np.arange(400) % 20).astype(np.int8)
    wrong = rng.random((400, 4)) < 0.3
    symbols = np.where(wrong, rng.integers(0, 20, (400, 4)), labels[:, None]).astype(np.int8)
    found = held(of_symbols(symbols, classes=20), Gold(labels))
    names = {one.name for one in found.contestants}
    assert {"best-3 majority", "best-3 weighted"} <= names
    assert "best-4 majority" not in names
    assert [family for family, _ in found.refused] == ["static-cmd, cmd, dp", "fixed panels of more than 3 calls"]


def test_a_channel_that_always_fails_and_a_constant_one_are_survived() -> None:
    table, gold = independent(300, (0.2, 0.3, 0.5))
    symbols, kinds = table.symbols.copy(), table.kinds.copy()
    symbols[:, 1], kinds[:, 1], symbols[:, 2] = 2, 1, 0
    found = held(replace(table, symbols=symbols, kinds=kinds), gold)
    chosen = found.contestants[found.recommended]
    assert chosen.scores.mean_calls == pytest.approx(1.0)
    assert not isinstance(chosen.scores.loss, NotApplicable)
    assert chosen.scores.loss < 0.3


def test_chow_loss_may_abstain_and_never_loses_more_than_kappa_on_calibration() -> None:
    found = held(*independent(600, (0.45, 0.45, 0.45)), CHOW)
    assert found.contestants[found.lowest].crossfit_loss <= CHOW.kappa + 1e-9
