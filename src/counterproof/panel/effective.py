"""How many independent channels a panel is worth: two numbers that answer different questions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterproof.core.errors import InputError
from counterproof.core.findings import Interval
from counterproof.core.outcomes import NotApplicable
from counterproof.panel.measured import Measured, cluster_sums, resampled_profiles
from counterproof.panel.table import Gold, VerdictTable
from counterproof.stats import percentile_interval

Array = NDArray[np.float64]
LARGEST = 1e6
"""A majority-equivalent number above this is no number that data could tell from infinity."""
CHANCE = 1e-9


@dataclass(frozen=True, slots=True)
class EffectiveNumber:
    """A number of independent channels.

    Attributes:
        value: The number, or why there is none.
        interval: Over clusters, where one exists.
        channels: K, for comparison.
        capped: Whether a negative mean correlation gave more than K, which is reported as K.
        note: What a reader must know about this value; empty for an ordinary one.
    """

    value: float | NotApplicable
    interval: Interval | None
    channels: int
    capped: bool = False
    note: str = ""


def effective_channels(mean_error_phi: Measured, channels: int) -> EffectiveNumber:
    """Return n_eff = K/(1 + (K - 1) mean error phi): how many independent channels give a mean error as steady.

    1 when all channels err together, K when errors are uncorrelated. With a negative mean it would exceed K: it is then
    flagged and capped at K. It knows correlations only, not how good the channels are:

    - A perfect channel never errs, so its pairs define no correlation and leave the mean: n_eff is that of the others.
    - A constant channel errs on one whole class; its correlation with the others is that of a class indicator and says
      nothing about shared mistakes. n_eff may count it as nearly a full channel although it carries no information.

    Args:
        mean_error_phi: As in `Diagnostics`, of the same panel.
        channels: K, at least 1.

    Raises:
        InputError: There is no channel.

    Source:
        The design effect of Kish 1965, Survey Sampling, ch. 5, with error phi as the intraclass correlation.
    """
    if channels < 1:
        raise InputError(f"{channels} channels; a panel has at least one")
    if channels == 1:
        return EffectiveNumber(1.0, None, 1)
    mean = mean_error_phi.estimate
    if isinstance(mean, NotApplicable):
        return EffectiveNumber(mean, None, channels)

    def number(phi: float) -> float:
        below = 1 + (channels - 1) * phi
        return channels / below if below > 1 else float(channels)

    interval = mean_error_phi.interval
    if interval is not None:
        method = f"ends of the mean error phi ({interval.method})"
        interval = Interval(number(interval.upper), number(interval.lower), interval.level, method)
    capped = mean < 0
    note = "the mean error correlation is negative; capped at the number of channels" if capped else ""
    return EffectiveNumber(number(mean), interval, channels, capped, note)


def majority_accuracy(n: ArrayLike, accuracy: ArrayLike) -> Array:
    """Return the accuracy of a majority of n independent channels of one accuracy p, for real n >= 0.

        M(n, p) = I_p((n + 1)/2, (n + 1)/2)

    with I the regularised incomplete beta function: P(Bin(n, p) > n/2) at every odd n, and a smooth curve between. (An
    even n with fair coins for ties is worth no more than n - 1, so odd n say all.) Rises in n for p > 1/2.

    >>> majority_accuracy([1, 5], 0.65).round(4).tolist()
    [0.65, 0.7648]
    """
    from scipy.special import betainc

    half = (np.asarray(n, dtype=np.float64) + 1) / 2
    return np.asarray(betainc(half, half, np.asarray(accuracy, dtype=np.float64)), dtype=np.float64)


def majority_equivalent(panel: ArrayLike, mean: ArrayLike) -> Array:
    """Return the n at which `majority_accuracy(n, mean)` is the panel's accuracy, to within 1e-9 relative.

    0 where even n = 0 is too good, infinite where no n is good enough; NaN where the mean accuracy is one half, which
    no number of channels improves, or 1 or 0. For a mean below one half more channels do worse, and n solves the same
    equation.

    Args:
        panel: Accuracy of the majority of the panel.
        mean: Mean accuracy of its channels, of the same shape.
    """
    target, p = np.broadcast_arrays(np.asarray(panel, dtype=np.float64), np.asarray(mean, dtype=np.float64))
    # A mean below one half is the mirror image: M(n, 1 - p) = 1 - M(n, p).
    target, p = np.where(p < 0.5, 1 - target, target), np.maximum(p, 1 - p)
    lower, upper = np.zeros(p.shape), np.full(p.shape, LARGEST)
    for _ in range(80):
        # Halving in log(1 + n) gives a relative precision at any size.
        middle = np.sqrt((1 + lower) * (1 + upper)) - 1
        high = majority_accuracy(middle, p) >= target
        lower, upper = np.where(high, lower, middle), np.where(high, middle, upper)
    n = np.where(majority_accuracy(0.0, p) >= target, 0.0, upper)
    n = np.where(majority_accuracy(LARGEST, p) < target, np.inf, n)
    # A majority that is never wrong, at any accuracy below 1, needs infinitely many.
    n = np.where(target >= 1, np.inf, n)
    undefined = (p - 0.5 < CHANCE) | (p >= 1)
    return np.where(undefined, np.nan, n)


def panel_equivalent(
    table: VerdictTable, gold: Gold, *, rng: np.random.Generator, level: float = 0.95, replicates: int = 2000
) -> EffectiveNumber:
    """Return the majority-equivalent number of a panel of two classes on its labelled items.

    The n of independent channels with the same mean accuracy whose majority is as accurate as this panel's, real-valued
    along `majority_accuracy`. A panel's majority counts a half on ties and on items without a verdict (a fair coin), a
    channel's failure a half likewise, so that both sides decide every item.

    Below 1 the panel's majority is worse than its average channel. It knows what voting makes of the panel, not what a
    better rule could make of it:

    - A perfect channel raises the mean accuracy that the equivalent channels are given, and is outvoted all the same:
      the number stays small although one call of the right channel would do. All perfect: no number, nothing to gain.
    - A constant channel lowers the mean and turns ties into its favourite class; the number may come out above 1 while
      the panel is worse than without it. At a mean of one half no number of channels helps, and there is none.

    Args:
        table: The verdicts; every channel asked on every labelled item.
        gold: Labels.
        rng: Source of the bootstrap's draws (percentile, over clusters).
        level: Confidence level.
        replicates: Bootstrap replicates.
    """
    k = len(table.channels)
    if len(table.classes) != 2:
        reason = f"{len(table.classes)}-classes: a majority of independent channels has this closed form for two"
        return EffectiveNumber(NotApplicable(reason), None, k)
    rows = gold.labels >= 0
    symbols, labels = table.symbols[rows], gold.labels[rows]
    if not len(labels) or (symbols < 0).any():
        return EffectiveNumber(NotApplicable("not-queried: some channel was not asked on a labelled item"), None, k)
    margin = (symbols == labels[:, None]).sum(axis=1) - (symbols == 1 - labels[:, None]).sum(axis=1)
    values = np.c_[(np.sign(margin) + 1) / 2, (margin / k + 1) / 2, np.ones(len(labels))]
    names = np.array(table.clusters, dtype=object)[rows].astype(str)
    numbers = np.unique(names, return_inverse=True)[1].astype(np.intp)
    # Half votes and shares are made whole, so that equal clusters are equal to the last bit.
    sums = cluster_sums(np.rint(values * 2 * k), numbers, int(numbers.max()) + 1)
    panel, mean = (float(sums[:, i].sum() / sums[:, 2].sum()) for i in (0, 1))
    value = float(majority_equivalent(panel, mean))
    if np.isnan(value):
        reason = "no-room: " + ("every channel is always right" if mean >= 1 else "the mean accuracy is 0 or one half")
        return EffectiveNumber(NotApplicable(reason), None, k)
    if np.isinf(value):
        return EffectiveNumber(NotApplicable("no-finite-number: the panel's majority is never wrong"), None, k)
    replicated = resampled_profiles(sums, rng=rng, replicates=replicates)
    numbers_of = majority_equivalent(replicated[:, 0] / replicated[:, 2], replicated[:, 1] / replicated[:, 2])
    interval = percentile_interval(np.minimum(numbers_of, LARGEST), level=level)
    note = "the panel's majority is worse than its average channel" if value < 1 - CHANCE else ""
    if mean < 0.5:
        note = "channels are wrong more often than right; more of them, or more independent ones, do worse"
    return EffectiveNumber(value, interval, k, note=note)
