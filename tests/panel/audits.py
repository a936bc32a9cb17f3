"""Small audits for tests: a plan, a split and planted panels."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from counterproof.core.plan import Digest, Plan
from counterproof.panel.loss import parse_loss
from counterproof.panel.planning import TableFacts, panel_plan
from counterproof.panel.table import Gold, Split, VerdictTable, split_items
from tests.panel.judged import judged


def plan_of(table: VerdictTable, split: Split, *, loss: str = "ba", budget: float = 99.0, seed: int = 0) -> Plan:
    facts = TableFacts((Digest("verdicts", "0" * 64),), ("columns: item = item",), ())
    return panel_plan(table, split, facts, parse_loss(loss), seed=seed, budget=budget, options={})


def split_of(table: VerdictTable, gold: Gold, share: float = 0.5, seed: int = 0) -> Split:
    return split_items(table, share, np.random.default_rng(seed), labelled=gold)


def labels_of(n: int) -> NDArray[np.int8]:
    return (np.arange(n) % 2).astype(np.int8)


@cache
def independent(n: int = 800, errors: tuple[float, ...] = (0.3, 0.3, 0.3, 0.3, 0.3)) -> tuple[VerdictTable, Gold]:
    """Channels that err independently."""
    rng = np.random.default_rng(11)
    return judged(labels_of(n), rng.random((n, len(errors))) < np.array(errors))


@cache
def one_judge(n: int = 800, noise: int = 3) -> tuple[VerdictTable, Gold]:
    """One channel of error .1, and coins."""
    return independent(n, (0.1, *(0.5,) * noise))


@cache
def copies(n: int = 800, k: int = 3, error: float = 0.3) -> tuple[VerdictTable, Gold]:
    """The same verdicts under several names."""
    wrong = np.random.default_rng(12).random(n) < error
    return judged(labels_of(n), np.repeat(wrong[:, None], k, axis=1))
