"""Keyed seeds: golden values from hashlib and sha256sum, uniformity and independence within derived bounds."""

from __future__ import annotations

import hashlib
import math

import numpy as np

from counterproof.core import ItemSeed

KEYS = [f"q{number}" for number in range(4000)]


def test_integer_is_the_first_half_of_sha256() -> None:
    by_hand = int.from_bytes(hashlib.sha256(b"7\x1eq1").digest()[:16], "little")
    assert ItemSeed(7, "q1").integer() == by_hand
    # The same by another program: sha256sum gives b52949516c1aa702058fbb68c269ba98 first.
    assert by_hand.to_bytes(16, "little").hex() == "b52949516c1aa702058fbb68c269ba98"


def test_child_appends_its_purpose() -> None:
    # sha256sum of "7", U+001E, "q1", U+001F, "shuffle".
    child = ItemSeed(7, "q1").child("shuffle")
    assert child.integer().to_bytes(16, "little").hex() == "75650b735c6c082425470246a15771d4"
    assert child == ItemSeed(7, "q1").child("shuffle")


def test_fraction_is_the_upper_53_bits() -> None:
    # The last seven bytes of the golden value are its upper 56 bits: 98ba69c268bb8f; without the lower three, 53.
    assert ItemSeed(7, "q1").fraction() == (0x98BA69C268BB8F >> 3) / 2**53


def test_run_key_and_purpose_all_matter() -> None:
    seed = ItemSeed(7, "q1")
    seeds = [seed, ItemSeed(8, "q1"), ItemSeed(7, "q2"), seed.child("a"), seed.child("b"), seed.child("a").child("b")]
    assert len({one.integer() for one in seeds}) == len(seeds)


def test_run_and_key_do_not_run_together() -> None:
    assert ItemSeed(1, "1").integer() != ItemSeed(11, "").integer()


def test_a_key_with_a_lone_surrogate_has_a_seed() -> None:
    # U+D800 in the pattern of UTF-8 is ED A0 80.
    by_hand = int.from_bytes(hashlib.sha256(b"1\x1e\xed\xa0\x80").digest()[:16], "little")
    assert ItemSeed(1, "\ud800").integer() == by_hand


def test_generators_are_fresh_and_equal() -> None:
    seed = ItemSeed(7, "q1")
    first, second = seed.generator(), seed.generator()
    assert first is not second
    assert first.random(5).tolist() == second.random(5).tolist()
    assert first.random() != seed.child("other").generator().random()


def test_order_of_use_does_not_matter() -> None:
    forward = {key: ItemSeed(3, key).generator().integers(2**32) for key in KEYS[:50]}
    backward = {key: ItemSeed(3, key).generator().integers(2**32) for key in reversed(KEYS[:50])}
    assert forward == backward


def test_fractions_are_uniform() -> None:
    # Dvoretzky-Kiefer-Wolfowitz (Massart 1990): P(sup |F_n - F| > e) <= 2 exp(-2 n e^2); one in a million at this e.
    values = np.sort([ItemSeed(11, key).fraction() for key in KEYS])
    n = len(values)
    bound = math.sqrt(math.log(2e6) / (2 * n))
    ranks = np.arange(n)
    distance = max(np.max((ranks + 1) / n - values), np.max(values - ranks / n))
    assert distance <= bound
    assert values[0] >= 0.0
    assert values[-1] < 1.0


def test_purposes_are_uncorrelated() -> None:
    # A correlation of n independent pairs has the standard error 1/sqrt(n); chance passes five once in 1.7 million.
    one = [ItemSeed(11, key).child("a").fraction() for key in KEYS]
    other = [ItemSeed(11, key).child("b").fraction() for key in KEYS]
    assert abs(float(np.corrcoef(one, other)[0, 1])) <= 5 / math.sqrt(len(KEYS))
