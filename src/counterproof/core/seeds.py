"""Keyed seeds: one derivation, from the run's seed and the item's key, so that order and machine do not matter."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class ItemSeed:
    """The randomness of one item: `run` is the run's seed, `key` the item's key (with any purpose appended)."""

    run: int
    key: str

    def child(self, purpose: str) -> ItemSeed:
        """Return the seed for one named purpose of this item; distinct purposes are independent."""
        return ItemSeed(self.run, f"{self.key}\x1f{purpose}")

    def integer(self) -> int:
        """Return 128 bits: the first half of SHA-256 over run seed and key."""
        return int.from_bytes(hashlib.sha256(f"{self.run}\x1e{self.key}".encode()).digest()[:16], "little")

    def fraction(self) -> float:
        """Return a number in [0, 1), uniform over keys."""
        return (self.integer() >> 75) / float(1 << 53)

    def generator(self) -> np.random.Generator:
        """Return a fresh generator (PCG64) for this seed."""
        import numpy as np

        return np.random.Generator(np.random.PCG64(self.integer()))
