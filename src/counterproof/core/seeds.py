"""Keyed seeds: one derivation, from the run's seed and the item's key, so that order and machine do not matter."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class ItemSeed:
    """The randomness of one item.

    Attributes:
        run: The run's seed.
        key: The item's key; `child` appends its purpose after a unit separator (U+001F).
    """

    run: int
    key: str

    def child(self, purpose: str) -> ItemSeed:
        """Return the seed for one named purpose of this item; distinct purposes are independent."""
        return ItemSeed(self.run, f"{self.key}\x1f{purpose}")

    def integer(self) -> int:
        """Return 128 bits: the first 16 bytes, little-endian, of SHA-256 over run, U+001E and key in UTF-8.

        A key out of a log may hold a lone surrogate; it is encoded as the three bytes that it would have in UTF-8.
        """
        text = f"{self.run}\x1e{self.key}".encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.sha256(text).digest()[:16], "little")

    def fraction(self) -> float:
        """Return a number in [0, 1), uniform over keys: the upper 53 bits of `integer`, over 2^53."""
        return (self.integer() >> 75) / float(1 << 53)

    def generator(self) -> np.random.Generator:
        """Return a fresh generator (PCG64) for this seed."""
        import numpy as np

        return np.random.Generator(np.random.PCG64(self.integer()))
