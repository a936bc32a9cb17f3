"""The verdict tables of this study, and how each is split."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from counterproof.panel.majority import majority
from counterproof.panel.table import NOT_QUERIED, Gold, Split, VerdictTable, split_items
from studies import panel_tables
from studies.panel_tables import Labelled

SEED = 0
SPLITS = 5


@dataclass(frozen=True, slots=True)
class Source:
    """A full table: every channel asked on every item.

    Attributes:
        name: As the page shows it.
        file: Below the folder of real data; its absence stops the study.
        load: From the folder to the table.
        share: Share of clusters for calibration.
        note: What it is.
    """

    name: str
    file: str
    load: Callable[[Path], Labelled]
    share: float
    note: str


def densest(labelled: Labelled, k: int) -> Labelled:
    """Return the k channels with the most calls, on the items that all of them judged."""
    table, gold = labelled
    calls = (table.symbols != NOT_QUERIED).sum(axis=0)
    chosen = sorted(sorted(range(len(calls)), key=lambda j: (-calls[j], table.channels[j].name))[:k])
    part = table.columns(chosen)
    rows = np.flatnonzero((part.symbols != NOT_QUERIED).all(axis=1))
    return part.rows(rows), gold.rows(rows)


def most_agreeing(labelled: Labelled, k: int) -> Labelled:
    """Return the k channels that agree most with the majority of all; labels have no part in the choice."""
    table, gold = labelled
    vote = majority(table, ties="reject").label
    agreement = (table.symbols == vote[:, None]).mean(axis=0)
    chosen = sorted(range(len(agreement)), key=lambda j: (-agreement[j], table.channels[j].name))[:k]
    return table.columns(sorted(chosen)), gold


SOURCES = (
    Source(
        "LLMBar",
        "verdicts/llmbar/verdicts.csv.gz",
        panel_tables.llmbar,
        0.5,
        "which of two outputs follows the instruction, by seven LLM judges in the given order; gold is human",
    ),
    Source(
        "EVOUNA",
        "verdicts/evouna/nq.jsonl.gz",
        panel_tables.evouna,
        0.2,
        "is a free-form answer right, by seven rules, near-copies of each other; gold is human, clusters are questions",
    ),
    Source(
        "HaluEval",
        "verdicts/halueval_general/general.jsonl.gz",
        panel_tables.halueval,
        0.25,
        "does a response hallucinate, by seven surface signs that are weak on purpose; gold is human",
    ),
    Source(
        "PandaLM",
        "verdicts/pandalm/testset.jsonl.gz",
        lambda folder: panel_tables.pandalm(folder, gold="annotator1"),
        0.5,
        "better, worse or a tie, by two LLM judges and two people; gold is a third person, clusters are instructions",
    ),
    Source(
        "Bluebirds",
        "verdicts/bluebirds/labels.csv.gz",
        lambda folder: most_agreeing(panel_tables.bluebirds(folder), 7),
        0.5,
        "is the bird of one kind, by the seven of 39 workers who agree most with the majority",
    ),
    Source(
        "ZenCrowd",
        "verdicts/crowd_labels/zencrowd_in.csv.gz",
        lambda folder: densest(panel_tables.crowd(folder, "zencrowd_in"), 4),
        0.5,
        "is a link right, by the four busiest workers on the items that all four judged",
    ),
    Source(
        "SP sentiment",
        "verdicts/crowd_labels/sp_sentiment.csv.gz",
        lambda folder: densest(panel_tables.crowd(folder, "sp_sentiment"), 3),
        0.5,
        "is a sentence positive, by the three busiest workers on the items that all three judged",
    ),
)


def splits(source: Source, table: VerdictTable, gold: Gold) -> tuple[Split, ...]:
    """Return the seeded splits of a source, by whole clusters."""
    return tuple(
        split_items(table, source.share, np.random.default_rng((SEED, number)), labelled=gold)
        for number in range(SPLITS)
    )
