import hashlib

import numpy as np
import pytest

from counterproof.core.errors import InputError
from counterproof.panel import closed_forms as exact
from counterproof.panel import count_rules as rules
from counterproof.panel.fixture import (
    FAMILIES,
    FIXTURES,
    SEEDS,
    Draws,
    Errors,
    Family,
    errors,
    fixture_gold,
    fixture_verdicts,
    oracle,
    parse_family,
)
from counterproof.panel.majority import majority

REPLICATES = [Draws(fixture, seed) for fixture in FIXTURES for seed in SEEDS]


def drawn(family: Family, k: int = 5) -> Errors:
    """All 35 replicates on top of one another, (17920, k)."""
    return np.concatenate([errors(draws, family, k) for draws in REPLICATES])


def balanced(wrong: np.ndarray) -> float:
    y = np.tile(oracle(), len(wrong) // 512)
    return 1 - float(wrong[y == 0].mean() + wrong[y == 1].mean()) / 2


def test_oracle_has_147_positives() -> None:
    assert oracle()[:8].tolist() == [1, 0, 0, 1, 0, 0, 0, 1]
    assert oracle().sum() == fixture_gold().labels.sum() == 147


def test_draws_are_keyed_as_stated() -> None:
    key = int.from_bytes(hashlib.sha256(b"vstress/1|1001|0|u").digest()[:16], "little")
    expected = np.random.Generator(np.random.Philox(key=key)).random(3 * 512).reshape(3, 512)
    assert np.array_equal(Draws(1001, 0).uniforms("u", 3), expected)


@pytest.mark.parametrize("kind", sorted(FAMILIES))
def test_a_view_does_not_depend_on_the_number_of_views(kind: str) -> None:
    family, draws = Family(kind, 0.6), Draws(1003, 2)
    whole = errors(draws, family, 5)
    for k in (1, 2, 3, 4):
        assert np.array_equal(errors(draws, family, k), whole[:, :k])


def test_a_view_does_not_depend_on_seed_order_or_family() -> None:
    forwards = {seed: errors(Draws(1001, seed), Family()) for seed in (0, 1, 2)}
    backwards = {seed: errors(Draws(1001, seed), Family()) for seed in (2, 1, 0)}
    assert all(np.array_equal(forwards[seed], backwards[seed]) for seed in forwards)
    # At strength 0 every family with a gate is the symmetric one, draw for draw.
    for kind in ("common", "copy-gate", "block", "class-common", "first-wrong", "adversarial", "beta-binomial"):
        assert np.array_equal(errors(Draws(1001, 0), Family(kind, 0.0)), forwards[0])
    assert not np.array_equal(forwards[0], forwards[1])


def test_a_copied_record_repeats_the_first_view_and_no_other_changes() -> None:
    draws = Draws(1002, 1)
    plain, half = errors(draws, Family()), errors(draws, Family("copy-gate", 0.5))
    gated = draws.uniforms("G")[0] < 0.5
    assert (half[gated] == plain[gated, :1]).all()
    assert np.array_equal(half[~gated], plain[~gated])
    whole = errors(draws, Family("copy-gate", 1.0))
    assert np.array_equal(whole.sum(axis=1) > 2, whole[:, 0])  # no gain, row by row


def test_copy_gain_is_linear_in_expectation() -> None:
    for s in (0.25, 0.5, 0.75):
        found = drawn(Family("copy-gate", s))
        gain = balanced(found.sum(axis=1) > 2) - balanced(found[:, 0])
        assert gain == pytest.approx((1 - s) * exact.symmetric_gain(0.35), abs=4 * standard_error(found))


def standard_error(found: Errors) -> float:
    """Of the gain over 35 replicates, from the spread of the paired differences within classes."""
    change = (found.sum(axis=1) > 2).astype(float) - found[:, 0]
    y = np.tile(oracle(), len(found) // 512)
    return float(np.sqrt(sum(change[y == c].var() / (y == c).sum() for c in (0, 1))) / 2)


def test_one_common_cause_makes_every_view_equal() -> None:
    draws = Draws(1001, 3)
    found = errors(draws, Family("common", 1.0))
    assert (found == found[:, :1]).all()
    table = fixture_verdicts(draws, Family("common", 1.0))
    assert majority(table).accepted.all()
    run = rules.run_rule(rules.exact_stop_label(5), table.symbols)
    assert (run.calls == 3).all()


@pytest.mark.parametrize("kind", [kind for kind in sorted(FAMILIES) if kind != "first-wrong"])
def test_marginals_stay_at_the_error_rate(kind: str) -> None:
    found = drawn(Family(kind, 0.75))
    # A view's errors are independent over records; four standard errors of a balanced rate over 17,920 rows.
    limit = 4 * 0.5 * np.sqrt(0.35 * 0.65 * (1 / (35 * 147) + 1 / (35 * 365)))
    for j in range(5):
        assert balanced(found[:, j]) == pytest.approx(0.65, abs=limit)


@pytest.mark.parametrize("rho", [0.1, 0.2, 0.35, 0.5, 0.65])
def test_majority_coverage_and_selective_accuracy_meet_the_closed_form(rho: float) -> None:
    wrong = drawn(Family(error=rho)).sum(axis=1)
    agreed = (wrong <= 1) | (wrong >= 4)
    closed, n = exact.majority_acceptance(rho), len(wrong)
    right = exact.majority_accuracy(rho)
    spread = 0.5 * np.sqrt(right * (1 - right) * (1 / (35 * 147) + 1 / (35 * 365)))
    assert balanced(wrong > 2) == pytest.approx(right, abs=4 * spread)
    assert agreed.mean() == pytest.approx(closed.coverage, abs=4 * np.sqrt(closed.coverage * (1 - closed.coverage) / n))
    accuracy = closed.accuracy
    spread = np.sqrt(accuracy * (1 - accuracy) / (n * closed.coverage))
    assert (wrong <= 2)[agreed].mean() == pytest.approx(accuracy, abs=4 * spread)


def test_aligned_records_have_exactly_three_errors_or_none() -> None:
    family = Family("adversarial", 1.0, aligned=1.0)
    assert set(drawn(family).sum(axis=1).tolist()) == {0, 3}


def test_failures_are_typed_and_common_to_all_families() -> None:
    draws = Draws(1001, 0)
    plain, copied = (fixture_verdicts(draws, family, failures=0.2) for family in (Family(), Family("copy-gate", 1.0)))
    assert np.array_equal(plain.symbols == plain.failure, copied.symbols == copied.failure)
    assert (plain.symbols == plain.failure).mean() == pytest.approx(0.2, abs=4 * np.sqrt(0.2 * 0.8 / 2560))
    untouched = plain.symbols != plain.failure
    assert np.array_equal(plain.symbols[untouched], fixture_verdicts(draws).symbols[untouched])
    assert fixture_verdicts(draws, failures=1.0).kinds.min() >= 0


def test_failures_never_raise_coverage() -> None:
    coverage = [
        majority(fixture_verdicts(Draws(1001, 0), failures=rate), ties="reject").accepted.mean()
        for rate in (0.0, 0.05, 0.1426, 0.5)
    ]
    assert coverage == sorted(coverage, reverse=True)


def test_families_are_read_from_text() -> None:
    assert parse_family("copy-gate:0.5") == Family("copy-gate", 0.5)
    assert parse_family("symmetric", error=0.2) == Family(error=0.2)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("copy-gat:0.5", 0.35, "did you mean 'copy-gate'"),
        ("common:half", 0.35, "with a number"),
        ("common:1.5", 0.35, "between 0 and 1"),
        ("false-positive:1", 0.6, "above 1"),
        ("adversarial:0.5", 0.7, "at most rho = .6"),
        ("beta-binomial:1", 0.35, "icc below 1"),
    ],
)
def test_a_family_that_cannot_be_is_refused(text: str, error: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_family(text, error=error)


def test_a_panel_that_cannot_be_is_refused() -> None:
    with pytest.raises(InputError, match="at most 5"):
        errors(Draws(1, 0), Family("adversarial", 0.5), 7)
    with pytest.raises(InputError, match="failure rate"):
        fixture_verdicts(Draws(1, 0), failures=1.5)
