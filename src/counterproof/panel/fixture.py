"""The controlled fixture: 512 records, a known oracle, and ways in which k views of it err together.

Uniforms are keyed by fixture, seed and stream and drawn view by view, so that a view's draws depend neither on the
number of views nor on the family of errors, and every sweep reuses them (common random numbers).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError, nearest
from counterproof.panel.closed_forms import ALIGNED
from counterproof.panel.table import Channel, FailureKind, Gold, VerdictTable

RECORDS = 512
SEEDS = tuple(range(7))
CALIBRATION = 1001
HELD_OUT = (1002, 1003, 1004, 1005)
FIXTURES = (CALIBRATION, *HELD_OUT)
ERROR = 0.35
PANEL = 5
BLOCK_OF_VIEW = (0, 0, 0, 1, 1)
Errors = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Draws:
    """Keyed uniforms of one fixture and seed.

    Attributes:
        fixture: Number of the fixture, 1001 to 1005 for published figures.
        seed: 0 to 6 for published figures.
    """

    fixture: int
    seed: int

    def uniforms(self, stream: str, views: int = 1) -> NDArray[np.float64]:
        """Return uniforms in [0, 1), (views, 512), view by view: the first rows are the same for any number of views.

        Philox, keyed by the first 16 bytes, little-endian, of SHA-256 over `vstress/1|fixture|seed|stream`. Streams:
        u (private), g (gate of a view), c (common), G (gate of an item), w (adversary), b (blocks), f (failures).
        """
        name = f"vstress/1|{self.fixture}|{self.seed}|{stream}".encode()
        key = int.from_bytes(hashlib.sha256(name).digest()[:16], "little")
        return np.random.Generator(np.random.Philox(key=key)).random((views, RECORDS))


@dataclass(frozen=True, slots=True)
class Family:
    """How the views of an item err.

    Attributes:
        kind: A name in `FAMILIES`.
        strength: s, a, w or icc of the family, in [0, 1].
        error: Error rate rho of a view.
        aligned: Only `adversarial`: share of the gated items on which three of five views err together.
    """

    kind: str = "symmetric"
    strength: float = 0.0
    error: float = ERROR
    aligned: float = ALIGNED

    def __post_init__(self) -> None:
        if self.kind not in FAMILIES:
            raise InputError(f"there is no family '{self.kind}'; {nearest(self.kind, FAMILIES)}")
        for name in ("strength", "error", "aligned"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name} is {getattr(self, name)}; give a number between 0 and 1")
        share = max(self.strength, 1 - self.strength)
        if self.kind == "false-positive" and 2 * share * self.error > 1:
            raise InputError(f"2·{share:g}·{self.error:g} is above 1; no class can err that often")
        if self.kind == "adversarial" and 5 * self.error / 3 > 1:
            raise InputError(f"three of five views cannot err with probability 5·{self.error:g}/3; at most rho = .6")
        if self.kind == "beta-binomial" and not (self.strength < 1 and 0 < self.error < 1):
            raise InputError("a beta-binomial family needs an icc below 1 and an error rate inside (0, 1)")


def parse_family(text: str, *, error: float = ERROR) -> Family:
    """Return the family that `kind` or `kind:strength` names, for example `copy-gate:0.5`.

    Raises:
        InputError: It names none, or the strength is no number.
    """
    kind, _, number = text.partition(":")
    try:
        strength = float(number) if number else 0.0
    except ValueError:
        raise InputError(f"family '{text}': write kind:strength with a number, for example copy-gate:0.5") from None
    return Family(kind, strength, error)


def oracle() -> NDArray[np.int8]:
    """Return the label of each record, (512), int8: 1 where i mod 7 is 0 or 3, which gives 147 positives."""
    return np.isin(np.arange(RECORDS) % 7, (0, 3)).astype(np.int8)


def fixture_gold() -> Gold:
    """Return the oracle as labels to join to a table of the fixture."""
    return Gold(oracle())


def errors(draws: Draws, family: Family, k: int = PANEL) -> Errors:
    """Return which views err on which records, (512, k).

    Raises:
        InputError: k is below 1, or the family is defined for five views only and k is above 5.
    """
    if k < 1 or (k > PANEL and family.kind == "adversarial"):
        raise InputError(f"{k} views; give 1 or more, and for the adversarial family at most {PANEL}")
    found: Errors = FAMILIES[family.kind](draws, family, k).T
    return found


def fixture_verdicts(
    draws: Draws, family: Family | None = None, k: int = PANEL, *, failures: float = 0.0
) -> VerdictTable:
    """Return the verdicts of k views, oracle xor error, as a table; records are their own clusters.

    Args:
        draws: Fixture and seed.
        family: How views err; symmetric at .35 by default.
        k: Number of views.
        failures: Share of calls that fail, whatever the record and the view's error.

    Raises:
        InputError: As `errors`, or the share is outside [0, 1].
    """
    if not 0 <= failures <= 1:
        raise InputError(f"a failure rate of {failures}; give one between 0 and 1")
    verdicts = oracle()[:, None] ^ errors(draws, family or Family(), k).astype(np.int8)
    failed = failures > draws.uniforms("f", k).T
    keys = tuple(f"record-{i:03d}" for i in range(RECORDS))
    return VerdictTable(
        items=keys,
        clusters=keys,
        channels=tuple(Channel(f"view-{j + 1}") for j in range(k)),
        classes=("0", "1"),
        symbols=np.where(failed, np.int8(2), verdicts),
        kinds=np.where(failed, np.int8(FailureKind.UNAVAILABLE), np.int8(-1)),
    )


def _symmetric(draws: Draws, family: Family, k: int) -> Errors:
    return draws.uniforms("u", k) < family.error


def _false_positive(draws: Draws, family: Family, k: int) -> Errors:
    share = np.where(oracle() == 0, family.strength, 1 - family.strength)
    return draws.uniforms("u", k) < 2 * share * family.error


def _mixed(draws: Draws, family: Family, common: Errors, k: int) -> Errors:
    """Each view takes the common error where its own gate opens, else its private one."""
    return np.where(draws.uniforms("g", k) < family.strength, common, _symmetric(draws, family, k))


def _common(draws: Draws, family: Family, k: int) -> Errors:
    return _mixed(draws, family, draws.uniforms("c") < family.error, k)


def _copy_gate(draws: Draws, family: Family, k: int) -> Errors:
    private = _symmetric(draws, family, k)
    return np.where(draws.uniforms("G") < family.strength, private[:1], private)


def _block(draws: Draws, family: Family, k: int) -> Errors:
    shared = draws.uniforms("b", max(BLOCK_OF_VIEW) + 1) < family.error
    blocked = min(k, len(BLOCK_OF_VIEW))
    found = _symmetric(draws, family, k)
    found[:blocked] = _mixed(draws, family, shared[list(BLOCK_OF_VIEW[:blocked])], blocked)
    return found


def _class_common(draws: Draws, family: Family, k: int) -> Errors:
    return np.where(oracle() == 0, _common(draws, family, k), _symmetric(draws, family, k))


def _beta_binomial(draws: Draws, family: Family, k: int) -> Errors:
    if family.strength == 0:
        return _symmetric(draws, family, k)
    from scipy.special import betaincinv

    m = (1 - family.strength) / family.strength
    rate = betaincinv(family.error * m, (1 - family.error) * m, draws.uniforms("c"))
    found: Errors = draws.uniforms("u", k) < rate
    return found


def _first_wrong(draws: Draws, family: Family, k: int) -> Errors:
    private = _symmetric(draws, family, k)
    return private | ((draws.uniforms("G") < family.strength) & private[:1])


def _adversarial(draws: Draws, family: Family, k: int) -> Errors:
    """Stream w: who is aligned, whether three err, and five ranks that choose the three."""
    w = draws.uniforms("w", 2 + PANEL)
    chosen = w[2:].argsort(axis=0, kind="stable").argsort(axis=0, kind="stable") < 3
    together = chosen[:k] & (w[1] < 5 * family.error / 3)
    gated = np.where(w[0] < family.aligned, together, _symmetric(draws, family, k)[:1])
    return np.where(draws.uniforms("G") < family.strength, gated, _symmetric(draws, family, k))


FAMILIES: Mapping[str, Callable[[Draws, Family, int], Errors]] = MappingProxyType(
    {
        "symmetric": _symmetric,
        "false-positive": _false_positive,
        "common": _common,
        "copy-gate": _copy_gate,
        "block": _block,
        "class-common": _class_common,
        "beta-binomial": _beta_binomial,
        "first-wrong": _first_wrong,
        "adversarial": _adversarial,
    }
)
"""How each family draws errors, (k, 512), from keyed uniforms."""
