"""The downstream comparison on real verdicts: weak channels label review sentences, a learner is trained on them.

The 3,000 sentences are dealt out by their text: to training the channels (in parts that do not meet), to calibrating
the policies, to the pool and to the test. Each repetition deals anew.
"""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from counterproof.core.outcomes import NotApplicable
from counterproof.core.seeds import ItemSeed
from counterproof.panel.cmd import CmdSettings, cmd_policy
from counterproof.panel.joint import choose_joint
from counterproof.panel.likelihoods import class_likelihoods
from counterproof.panel.loss import Loss
from counterproof.panel.policy import PolicyTable
from counterproof.panel.rules import Keep, VoteRule, exact_stop_policy, majority_policy
from counterproof.panel.states import Budget
from counterproof.panel.table import Channel, FailureKind, Gold, VerdictTable
from counterproof.panel.weighted import weighted_policy
from counterproof.stats import RatioEstimate, paired_difference
from counterproof.study.downstream import CandidateCache, Downstream, LogisticLearner, Unit, compare_downstream
from studies.panel_results.points import best_order
from studies.panel_results.sources import SEED

Array: TypeAlias = NDArray[np.float64]
FILE = "text/sentiment_sentences/sentences.csv.gz"
REPEATS = 6
SEEDS = (0, 1)
PARTS = {"words A": 150, "words B": 150, "letters": 150, "calibration": 400, "pool": 1400, "test": 700}
CALLS = 1400
COST = 2000
TAU = 0.8
KAPPA = 0.2
DIMENSIONS = 2048
GOOD = re.compile(r"\b(good|great|excellent|loved?|best|amazing|nice|perfect|wonderful|happy|works|well|delicious)\b")
BAD = re.compile(r"\b(bad|worst|terrible|awful|poor|not|waste|disappoint(ed|ing)|don't|never|horrible|slow)\b")
CHANNELS = (
    Channel("word list"),
    Channel("negations"),
    Channel("words A"),
    Channel("words A again"),
    Channel("words B", 2.0),
    Channel("letters", 3.0),
)


@dataclass(frozen=True, slots=True, eq=False)
class Sentences:
    """Texts with labels, one a distinct text."""

    texts: tuple[str, ...]
    labels: NDArray[np.int8]

    def rows(self, index: NDArray[np.intp]) -> Sentences:
        """Return some of them."""
        return Sentences(tuple(self.texts[i] for i in index.tolist()), self.labels[index])


@dataclass(frozen=True, slots=True)
class PooledArm:
    """One aggregator over all repetitions.

    Attributes:
        name: The aggregator.
        verified: Mean items that the budget paid for.
        spent: Mean calls and cost.
        right: Accepted and right by class, mean.
        wrong: Accepted and wrong by class, mean.
        accuracy: Of the learner on test sentences.
        against: Less that of the single call, paired over sentences.
    """

    name: str
    verified: float
    spent: tuple[float, float]
    right: tuple[float, ...]
    wrong: tuple[float, ...]
    accuracy: float
    against: RatioEstimate | NotApplicable


@dataclass(frozen=True, slots=True)
class Study:
    """The comparison at equal calls and at equal cost.

    Attributes:
        arms: By unit.
        ceiling: Accuracy of the same learner on the gold labels of the whole pool.
        contracts: Digests, one a repetition, by unit.
        channels: Name, cost and mean pool accuracy of each channel, failures counted as wrong.
        budgets: What each arm may spend, by unit.
        sentences: Distinct texts.
    """

    arms: Mapping[str, tuple[PooledArm, ...]]
    ceiling: float
    contracts: Mapping[str, tuple[str, ...]]
    channels: tuple[tuple[str, float, float], ...]
    budgets: Mapping[str, float]
    sentences: int


def read(folder: Path) -> Sentences:
    """Return the sentences; of texts that occur twice the first counts."""
    with gzip.open(folder / FILE, "rt", encoding="utf-8", newline="") as file:
        first: dict[str, str] = {}
        for row in csv.DictReader(file):
            first.setdefault(row["text"], row["label"])
    return Sentences(tuple(first), np.array([int(label) for label in first.values()], dtype=np.int8))


def run(folder: Path) -> Study:
    """Return the comparison over all repetitions."""
    sentences = read(folder)
    found: dict[str, list[Downstream]] = {"calls": [], "cost": []}
    tests: list[NDArray[np.intp]] = []
    ceiling, accuracy = [], []
    units: tuple[tuple[Unit, float], ...] = (("calls", CALLS), ("cost", COST))
    for repeat in range(REPEATS):
        cache, policies, test = _prepared(sentences, repeat)
        tests.append(test)
        rng = ItemSeed(SEED, f"sentiment {repeat}").generator()
        for unit, budget in units:
            found[unit].append(
                compare_downstream(cache, policies, LogisticLearner(), SEEDS, budget=budget, unit=unit, rng=rng)
            )
        predict = LogisticLearner().fit(cache.features, cache.gold.labels, SEEDS[0])
        ceiling.append(float((predict(cache.test_features) == cache.test_labels).mean()))
        accuracy.append((cache.table.symbols == cache.gold.labels[:, None]).mean(axis=0))
    return Study(
        {unit: _pooled(each, tests, len(sentences.texts)) for unit, each in found.items()},
        float(np.mean(ceiling)),
        {unit: tuple(one.contract.digest() for one in each) for unit, each in found.items()},
        tuple(
            (channel.name, channel.cost, float(share))
            for channel, share in zip(CHANNELS, np.mean(accuracy, axis=0), strict=True)
        ),
        dict(units),
        len(sentences.texts),
    )


def _prepared(sentences: Sentences, repeat: int) -> tuple[CandidateCache, dict[str, PolicyTable], NDArray[np.intp]]:
    order = np.random.default_rng((SEED, repeat)).permutation(len(sentences.texts))
    ends = np.cumsum(list(PARTS.values()))
    if ends[-1] > len(order):
        raise AssertionError("the parts need more sentences than there are")
    index = dict(zip(PARTS, np.split(order[: ends[-1]], ends[:-1]), strict=True))
    parts = {name: sentences.rows(rows) for name, rows in index.items()}
    channels = _channels(parts)
    calibration, pool = (_verdicts(parts[name], channels) for name in ("calibration", "pool"))
    features, test_features = _features(parts["pool"].texts), _features(parts["test"].texts)
    clusters = tuple(map(str, index["test"].tolist()))
    cache = CandidateCache(pool, Gold(parts["pool"].labels), features, test_features, parts["test"].labels, clusters)
    return cache, _policies(calibration, Gold(parts["calibration"].labels)), index["test"]


def _policies(table: VerdictTable, gold: Gold) -> dict[str, PolicyTable]:
    order = best_order(table, gold)
    loss = Loss("chow", KAPPA)
    model = choose_joint(table, gold, seed=SEED).model
    cheap = tuple(sorted(order, key=lambda j: table.channels[j].cost))
    classes = table.classes
    return {
        "best single call": majority_policy(table.channels, classes, VoteRule(order[:1], threshold=1.0)),
        "cheapest single call": majority_policy(table.channels, classes, VoteRule(cheap[:1], threshold=1.0)),
        "majority of best 3": majority_policy(table.channels, classes, VoteRule(order[:3], threshold=0.6)),
        "majority of best 5, .8": majority_policy(table.channels, classes, VoteRule(order[:5])),
        "exact-stop of best 3": exact_stop_policy(table.channels, classes, VoteRule(order[:3]), Keep.LABEL),
        "weighted best 3, .8": weighted_policy(
            table.channels, classes, class_likelihoods(table, gold), order[:3], tau=TAU, calibrated_prior=True
        ),
        "CMD": cmd_policy(model, loss, CmdSettings(TAU, eta=0.002, budget=Budget(calls=4))),
    }


Channels: TypeAlias = Sequence[Callable[[Sequence[str]], NDArray[np.int8]]]


def _channels(parts: Mapping[str, Sentences]) -> Channels:
    """Return the channels: two rules, and four classifiers, of which two saw the same sentences."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import MultinomialNB

    return (
        _word_list,
        _negations,
        _trained(parts["words A"], MultinomialNB(), "word", (1, 1)),
        _trained(parts["words A"], LogisticRegression(), "word", (1, 1)),
        _trained(parts["words B"], MultinomialNB(), "word", (1, 2)),
        _trained(parts["letters"], LogisticRegression(), "char_wb", (2, 4)),
    )


def _trained(
    part: Sentences, model: Any, analyzer: str, grams: tuple[int, int]
) -> Callable[[Sequence[str]], NDArray[np.int8]]:
    from sklearn.feature_extraction.text import CountVectorizer

    counts = CountVectorizer(analyzer=analyzer, ngram_range=grams, binary=True)
    model.fit(counts.fit_transform(part.texts), part.labels)

    def verdict(texts: Sequence[str]) -> NDArray[np.int8]:
        return np.asarray(model.predict(counts.transform(texts)), dtype=np.int8)

    return verdict


def _word_list(texts: Sequence[str]) -> NDArray[np.int8]:
    """More good words than bad ones, or fewer; no verdict (2) where they are as many."""
    net = np.array([_times(GOOD, text) - _times(BAD, text) for text in texts])
    return np.where(net == 0, 2, net > 0).astype(np.int8)


def _times(words: re.Pattern[str], text: str) -> int:
    return sum(1 for _ in words.finditer(text.casefold()))


def _negations(texts: Sequence[str]) -> NDArray[np.int8]:
    """A sentence is negative where it negates something."""
    return np.array([re.search(r"\b(no|not|never)\b|n't\b", text.casefold()) is None for text in texts], dtype=np.int8)


def _verdicts(part: Sentences, channels: Channels) -> VerdictTable:
    symbols = np.stack([channel(part.texts) for channel in channels], axis=1).astype(np.int8)
    kinds = np.where(symbols == 2, np.int8(FailureKind.UNSTATED), np.int8(-1)).astype(np.int8)
    names = tuple(f"{i}" for i in range(len(part.texts)))
    return VerdictTable(names, names, CHANNELS, ("negative", "positive"), symbols, kinds)


def _features(texts: Sequence[str]) -> Array:
    from sklearn.feature_extraction.text import HashingVectorizer

    hashed = HashingVectorizer(n_features=DIMENSIONS, alternate_sign=False)
    return np.asarray(hashed.transform(texts).toarray(), dtype=np.float64)


def _pooled(found: Sequence[Downstream], tests: Sequence[NDArray[np.intp]], size: int) -> tuple[PooledArm, ...]:
    units = sum((np.bincount(test, minlength=size) for test in tests), np.zeros(size))
    names = [arm.name for arm in found[0].arms]
    sums = [
        sum((np.bincount(test, one.arms[a].correct, size) for one, test in zip(found, tests, strict=True)), 0 * units)
        for a in range(len(names))
    ]
    pooled = []
    for a, name in enumerate(names):
        arms = [one.arms[a] for one in found]
        pooled.append(
            PooledArm(
                name,
                float(np.mean([arm.verified for arm in arms])),
                (float(np.mean([arm.calls for arm in arms])), float(np.mean([arm.cost for arm in arms]))),
                tuple(float(np.mean([arm.accepted[c].right for arm in arms])) for c in (0, 1)),
                tuple(float(np.mean([arm.accepted[c].wrong for arm in arms])) for c in (0, 1)),
                float(sums[a].sum() / units.sum()),
                paired_difference(sums[a], sums[0], units, rng=np.random.default_rng(SEED), replicates=2000),
            )
        )
    return tuple(pooled)
