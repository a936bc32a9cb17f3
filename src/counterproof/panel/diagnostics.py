"""Who is wrong, how often, and with whom: diagnostics of every channel and every pair, with intervals over clusters."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.core.findings import HealthWarning
from counterproof.core.outcomes import NotApplicable
from counterproof.panel.gains import realised_gains
from counterproof.panel.measured import (
    T_BELOW,
    Measured,
    cluster_sums,
    direct_rate,
    left_out,
    rates,
    resampled,
    resampled_profiles,
)
from counterproof.panel.pairs import (
    INFORMATION,
    MEASURES,
    SHARES,
    PairTables,
    pair_measures,
    pair_tables,
    resampled_measures,
)
from counterproof.panel.permutation import PermutationTest, permutation_test
from counterproof.panel.table import NOT_QUERIED, FailureKind, Gold, Split, VerdictTable
from counterproof.stats import (
    GTest,
    RatioEstimate,
    alpha_of,
    alpha_parts,
    conditional_g_test,
    holm,
    paired_difference,
)

Array = NDArray[np.float64]
FEW = 15
"""Below this many clusters every interval carries the warning `few-clusters`."""
FEW_ROWS = 20
"""Below this many calibration rows the blocking warning `few-calibration-rows` stands."""
TOGETHER = 64
"""Pairs resampled at a time; bounds memory, changes no draw."""
LIMITS = {"jaccard": (0.0, 1.0), "error_phi": (-1.0, 1.0), "verdict_phi": (-1.0, 1.0), "kappa": (-1.0, 1.0)}


@dataclass(frozen=True, slots=True)
class ChannelDiagnostics:
    """One channel on labelled items.

    Attributes:
        name: Of the channel.
        calls: Items on which it was asked; the rest was never queried, which is no failure.
        verdicts: Calls that gave a class.
        abstentions: Calls that gave none, for whatever reason: the channel's decision is missing there.
        failures: Of these, how many of each kind; only kinds that occur.
        error: Share of verdicts that are wrong.
        class_error: The same for items of each gold class.
        balanced_accuracy: Mean over classes of 1 - class error.
        failure: Share of calls that gave no class.
        class_failure: The same for items of each gold class: failures that depend on the label bias what is left.
    """

    name: str
    calls: int
    verdicts: int
    abstentions: int
    failures: Mapping[FailureKind, int]
    error: Measured
    class_error: tuple[Measured, ...]
    balanced_accuracy: Measured
    failure: Measured
    class_failure: tuple[Measured, ...]


@dataclass(frozen=True, slots=True)
class AdjustedTest:
    """A G-test, and its p-value adjusted by Holm over all tests of its family.

    The families are the K(K-1)/2 tests of independence, and the K(K-1) tests of gain.
    """

    test: GTest | NotApplicable
    holm: float | NotApplicable


@dataclass(frozen=True, slots=True, eq=False)
class PairDiagnostics:
    """Two channels on the labelled items on which both gave a class.

    Attributes:
        a: First channel.
        b: Second channel.
        table: Counts [gold, verdict of a, verdict of b].
        measures: Each measure of `pairs.MEASURES`, by name.
        independence: Are their verdicts independent once the class is known?
        gains: Does `gain_b_given_a`, `gain_a_given_b` differ from 0? The test; an interval on a gain is none.
        max_t: The permutation test of independence within classes, adjusted over all pairs by the maximum.
        realised: Held-out gain in balanced accuracy of `gain_b_given_a` and of `gain_a_given_b`.
    """

    a: str
    b: str
    table: Array
    measures: Mapping[str, Measured]
    independence: AdjustedTest
    gains: Mapping[str, AdjustedTest]
    max_t: float | NotApplicable
    realised: Mapping[str, RatioEstimate | NotApplicable]


@dataclass(frozen=True, slots=True, eq=False)
class Diagnostics:
    """A panel's diagnostics.

    Attributes:
        channels: One a channel, in order.
        pairs: One an unordered pair, in order.
        agreement: Krippendorff's alpha of the verdicts, labels unseen. It cannot tell channels that are right
            together from channels that are wrong together.
        mean_error_phi: Mean error correlation over the pairs that define one.
        permutation: The permutation test behind `max_t`, or why it was left out.
        items: Labelled items.
        clusters: Clusters of these.
        warnings: Named health warnings.
    """

    channels: tuple[ChannelDiagnostics, ...]
    pairs: tuple[PairDiagnostics, ...]
    agreement: Measured
    mean_error_phi: Measured
    permutation: PermutationTest | NotApplicable
    items: int
    clusters: int
    warnings: tuple[HealthWarning, ...]


def diagnose(
    table: VerdictTable,
    gold: Gold,
    *,
    rng: np.random.Generator,
    split: Split | None = None,
    level: float = 0.95,
    replicates: int = 10_000,
    permutations: int = 1000,
) -> Diagnostics:
    """Return the diagnostics of every channel and pair on the labelled items of a table.

    Failures and calls never made are left out pair by pair (a pair's items are those on which both gave a class), and
    are counted by kind and class beside it.

    Intervals are over clusters, and all pairs and measures share the resampled clusters. From 40 clusters on they are
    bootstrap percentiles, below that cluster t from the jackknife; shares with a rare side get exact bounds over
    clusters. Information measures are biased upwards: their percentile interval is moved down by twice the bootstrap's
    bias, at any number of clusters. No interval on an information measure is a test: the G-test is. Where clusters hold
    several items, G is divided by the design effect that the bootstrap's bias shows, n ln 4 bias/df, if above 1.

    Args:
        table: The verdicts.
        gold: Labels of the same items; unlabelled ones are ignored.
        rng: Source of all draws.
        split: For realised gains; without one they are not applicable.
        level: Confidence level, strictly between 0 and 1.
        replicates: Bootstrap replicates.
        permutations: Permutations of the max-T test; 0 leaves it out.

    Raises:
        InputError: Labels do not fit the table, or no item has one.

    Source:
        Measures: `pairs.pair_measures`. Kuncheva and Whitaker 2003, doi:10.1023/A:1022859003006, on why diversity
        measures predict so little of what a combination gains.
    """
    if len(gold.labels) != len(table) or (len(table) and int(gold.labels.max()) >= len(table.classes)):
        raise InputError(f"{len(gold.labels)} labels for {len(table)} items of {len(table.classes)} classes do not fit")
    labelled = np.flatnonzero(gold.labels >= 0)
    if not labelled.size:
        raise InputError("no item has a gold label; diagnostics of errors need some")
    symbols, labels = table.symbols[labelled], gold.labels[labelled]
    names = np.array(table.clusters, dtype=object)[labelled].astype(str)
    clusters = np.unique(names, return_inverse=True)[1].astype(np.intp)
    setting = _Setting(level, replicates, copy.deepcopy(rng))
    tables = pair_tables(symbols, labels, clusters, len(table.classes))
    permutation = _permutation(symbols, labels, clusters, len(table.classes), rng, permutations)
    realised = _realised(table, gold, split, tables, setting)
    pairs, mean_phi = _pairs(table, tables, permutation, realised, setting)
    return Diagnostics(
        channels=_channels(table.rows(labelled), labels, clusters, setting),
        pairs=pairs,
        agreement=_agreement(symbols, clusters, len(table.classes), setting),
        mean_error_phi=mean_phi,
        permutation=permutation,
        items=len(labelled),
        clusters=int(clusters.max()) + 1,
        warnings=(*_warnings(table, symbols, labels, int(clusters.max()) + 1, split), *_degenerate(pairs)),
    )


@dataclass(frozen=True, slots=True)
class _Setting:
    level: float
    replicates: int
    start: np.random.Generator

    def rng(self) -> np.random.Generator:
        """A generator at the common start: all measures see the same resamples."""
        return copy.deepcopy(self.start)


def _channels(
    table: VerdictTable, labels: NDArray[np.int8], clusters: NDArray[np.intp], setting: _Setting
) -> tuple[ChannelDiagnostics, ...]:
    classes, size = len(table.classes), int(clusters.max()) + 1
    of_class = labels[:, None] == np.arange(classes)
    found = []
    for j, channel in enumerate(table.channels):
        verdict, kinds = table.symbols[:, j], table.kinds[:, j]
        asked, failed = verdict != NOT_QUERIED, verdict == table.failure
        given, wrong = asked & ~failed, asked & ~failed & (verdict != labels)
        among = np.c_[np.ones(len(labels), dtype=np.bool_), of_class]
        events = np.c_[among & wrong[:, None], among & failed[:, None]]
        units = np.c_[among & given[:, None], among & asked[:, None]]
        y, n = (cluster_sums(values, clusters, size) for values in (events, units))
        shares = rates(y, n, rng=setting.rng(), level=setting.level, replicates=setting.replicates)
        right = (n - y)[:, 1 : classes + 1]
        found.append(
            ChannelDiagnostics(
                name=channel.name,
                calls=int(asked.sum()),
                verdicts=int(given.sum()),
                abstentions=int(failed.sum()),
                failures={kind: int((kinds == kind).sum()) for kind in FailureKind if (kinds == kind).any()},
                error=shares[0],
                class_error=shares[1 : classes + 1],
                balanced_accuracy=_balanced(right, n[:, 1 : classes + 1], setting),
                failure=shares[classes + 1],
                class_failure=shares[classes + 2 :],
            )
        )
    return tuple(found)


def _balanced(right: Array, units: Array, setting: _Setting) -> Measured:
    result = paired_difference(
        right,
        np.zeros_like(right),
        units,
        rng=setting.rng(),
        level=setting.level,
        replicates=setting.replicates,
    )
    if isinstance(result, NotApplicable):
        return Measured(result)
    return Measured(result.estimate, result.interval, 0.0, int(units.sum()), result.n_clusters)


def _agreement(symbols: NDArray[np.int8], clusters: NDArray[np.intp], classes: int, setting: _Setting) -> Measured:
    counts = np.stack([(symbols == c).sum(axis=1) for c in range(classes)], axis=1)
    parts = cluster_sums(alpha_parts(counts), clusters, int(clusters.max()) + 1)
    estimate = float(alpha_of(parts.sum(axis=0)))
    if math.isnan(estimate):
        return Measured(NotApplicable("no-variation: no item has two verdicts, or all verdicts are the same"))
    n, q = int((counts.sum(axis=1) >= 2).sum()), int((parts[:, 1:].sum(axis=1) > 0).sum())
    if len(parts) < T_BELOW:
        without = alpha_of(parts.sum(axis=0) - parts)
        return left_out(estimate, without, level=setting.level, limits=(-1.0, 1.0), n=n, clusters=q)
    sums = resampled_profiles(parts, rng=setting.rng(), replicates=setting.replicates)
    return resampled(estimate, alpha_of(sums), level=setting.level, n=n, clusters=q)


def _permutation(
    symbols: NDArray[np.int8],
    labels: NDArray[np.int8],
    clusters: NDArray[np.intp],
    classes: int,
    rng: np.random.Generator,
    permutations: int,
) -> PermutationTest | NotApplicable:
    if symbols.shape[1] < 2:
        return NotApplicable("one-channel: there is no pair")
    known = (symbols >= 0) & (symbols < classes)
    errors = (known & (symbols != labels[:, None])).astype(np.float64)
    return permutation_test(errors, known, labels, clusters, rng=rng, permutations=permutations)


def _realised(
    table: VerdictTable, gold: Gold, split: Split | None, tables: PairTables, setting: _Setting
) -> tuple[RatioEstimate | NotApplicable, ...]:
    """Return for each pair the gain of b over a, then of a over b, (2P)."""
    if split is None or not len(tables.pairs):
        return (NotApplicable("no-split: realised gains need calibration and held-out items"),) * (
            2 * len(tables.pairs)
        )
    ordered = [(a, b) for first, second in tables.pairs.tolist() for a, b in ((first, second), (second, first))]
    return realised_gains(
        table, gold, split, ordered, rng=setting.rng(), level=setting.level, replicates=setting.replicates
    )


def _pairs(
    table: VerdictTable,
    tables: PairTables,
    permutation: PermutationTest | NotApplicable,
    realised: tuple[RatioEstimate | NotApplicable, ...],
    setting: _Setting,
) -> tuple[tuple[PairDiagnostics, ...], Measured]:
    measured: list[dict[str, Measured]] = []
    phis: list[Array] = []
    column = MEASURES.index("error_phi")
    few = int(tables.often.sum()) < T_BELOW
    for at in range(0, len(tables.pairs), TOGETHER):
        part = tables.some(slice(at, at + TOGETHER))
        replicated = resampled_measures(part, rng=setting.rng(), replicates=setting.replicates)
        without = pair_measures(part.totals - part.per_cluster()) if few else None
        measured += [_measured(part, p, replicated[:, p], without, setting) for p in range(len(part.pairs))]
        phis.append((replicated if without is None else without)[:, :, column])
    totals = tables.totals
    independence = _tests(tables, totals, measured, "conditional_information")
    gain_b = _tests(tables, np.swapaxes(totals, 1, 2), measured, "gain_b_given_a")
    gain_a = _tests(tables, np.moveaxis(totals, 3, 1), measured, "gain_a_given_b")
    gains = _adjusted([test for both in zip(gain_b, gain_a, strict=True) for test in both])
    names = [channel.name for channel in table.channels]
    pairs = tuple(
        PairDiagnostics(
            a=names[a],
            b=names[b],
            table=totals[p],
            measures=measured[p],
            independence=tested,
            gains={"gain_b_given_a": gains[2 * p], "gain_a_given_b": gains[2 * p + 1]},
            max_t=permutation if isinstance(permutation, NotApplicable) else float(permutation.p_value[p]),
            realised={"gain_b_given_a": realised[2 * p], "gain_a_given_b": realised[2 * p + 1]},
        )
        for p, ((a, b), tested) in enumerate(zip(tables.pairs.tolist(), _adjusted(independence), strict=True))
    )
    return pairs, _mean_phi(measured, phis, int(tables.often.sum()), setting)


def _measured(
    tables: PairTables, p: int, replicated: Array, without: Array | None, setting: _Setting
) -> dict[str, Measured]:
    cells = tables.classes**3
    counts = tables.cells[:, p * cells : (p + 1) * cells].toarray()
    one = tables.shaped(counts)[:, 0]
    n, q = int(tables.often @ counts.sum(axis=1)), int(tables.often[counts.any(axis=1)].sum())
    estimates = pair_measures(np.tensordot(tables.often.astype(np.float64), one, axes=1))
    found: dict[str, Measured] = {}
    for m, name in enumerate(MEASURES):
        value = float(estimates[m])
        if math.isnan(value):
            reason = "no-rows: no item has both verdicts" if not n else "no-variation: a constant defines none"
            found[name] = Measured(NotApplicable(reason), None, 0.0, n, q)
        elif name in SHARES and (direct := _direct_share(tables, one, name, setting)) is not None:
            found[name] = direct
        elif without is not None and name not in INFORMATION:
            limits = LIMITS.get(name, (-1.0, 1.0))
            found[name] = left_out(value, without[:, p, m], level=setting.level, limits=limits, n=n, clusters=q)
        else:
            found[name] = resampled(
                value, replicated[:, m], level=setting.level, information=name in INFORMATION, n=n, clusters=q
            )
    return found


def _direct_share(tables: PairTables, one: Array, name: str, setting: _Setting) -> Measured | None:
    # On a single cluster's table the share times its size is its number of events.
    units = one.sum((1, 2, 3))
    shares = np.nan_to_num(pair_measures(one)[:, MEASURES.index(name)])
    events = np.rint(shares * units)
    return direct_rate(events[tables.profile], units[tables.profile], level=setting.level)


def _tests(
    tables: PairTables, arranged: Array, measured: list[dict[str, Measured]], name: str
) -> list[GTest | NotApplicable]:
    """Return the G-test of each pair on its counts, arranged as [given, one, other]."""
    tests = []
    for counts, pair in zip(arranged, measured, strict=True):
        test = conditional_g_test(counts)
        if not tables.singletons and isinstance(test, GTest):
            effect = max(1.0, 2 * test.n * math.log(2) * pair[name].bias / test.df)
            test = conditional_g_test(counts, design_effect=effect)
        tests.append(test)
    return tests


def _adjusted(tests: list[GTest | NotApplicable]) -> list[AdjustedTest]:
    adjusted = iter(holm([test.p_value for test in tests if isinstance(test, GTest)]).tolist())
    return [AdjustedTest(test, next(adjusted) if isinstance(test, GTest) else test) for test in tests]


def _mean_phi(measured: list[dict[str, Measured]], phis: list[Array], clusters: int, setting: _Setting) -> Measured:
    values = [pair["error_phi"].estimate for pair in measured]
    defined = [p for p, value in enumerate(values) if not isinstance(value, NotApplicable)]
    if not defined:
        return Measured(NotApplicable("no-pair: no two channels both err on some items and not on others"))
    estimate = float(np.mean([values[p] for p in defined]))
    replicated = np.concatenate(phis, axis=1)[:, defined]
    seen = ~np.isnan(replicated)
    total = np.where(seen, replicated, 0.0).sum(axis=1)
    means = np.divide(total, seen.sum(axis=1), out=np.full(len(total), np.nan), where=seen.any(axis=1))
    if clusters < T_BELOW:
        limits = (-1.0, 1.0)
        return left_out(estimate, means, level=setting.level, limits=limits, n=len(defined), clusters=clusters)
    return resampled(estimate, means, level=setting.level, n=len(defined), clusters=clusters)


def _warnings(
    table: VerdictTable, symbols: NDArray[np.int8], labels: NDArray[np.int8], clusters: int, split: Split | None
) -> tuple[HealthWarning, ...]:
    found = []
    if clusters < FEW:
        found.append(HealthWarning("few-clusters", f"{clusters} clusters; intervals over so few are rough"))
    seen = np.unique(labels)
    if len(seen) < 2:
        text = f"every gold label is '{table.classes[int(seen[0])]}'; nothing tells a judge from a constant"
        found.append(HealthWarning("one-class", text, blocking=True))
    if split is not None and len(split.calibration) < FEW_ROWS:
        text = f"{len(split.calibration)} calibration items; policies and realised gains fitted on them are guesses"
        found.append(HealthWarning("few-calibration-rows", text, blocking=True))
    for j, channel in enumerate(table.channels):
        verdicts = symbols[:, j][(symbols[:, j] >= 0) & (symbols[:, j] < len(table.classes))]
        if not verdicts.size:
            found.append(HealthWarning("no-verdicts", f"'{channel.name}' gave no verdict on any labelled item"))
        elif len(np.unique(verdicts)) == 1:
            text = f"'{channel.name}' always says '{table.classes[int(verdicts[0])]}'; it carries no information"
            found.append(HealthWarning("constant-verdicts", text))
    return tuple(found)


def _degenerate(pairs: tuple[PairDiagnostics, ...]) -> list[HealthWarning]:
    found = []
    for pair in pairs:
        flat = [
            name
            for name, measure in pair.measures.items()
            if measure.interval is not None and measure.interval.lower == measure.interval.upper
        ]
        if flat:
            text = f"'{pair.a}' and '{pair.b}': no resample varies {', '.join(flat)}; that is no evidence of precision"
            found.append(HealthWarning("degenerate-interval", text))
    return found
