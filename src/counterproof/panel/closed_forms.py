"""What panels of k channels with one error rate do, in closed form: the yardstick of every figure on the fixture.

rho is the error rate of a channel, k the panel's size (odd unless said), s a strength of dependence. A *gain* is the
balanced accuracy of the majority minus that of one channel. Where classes have the same error rate, balanced accuracy
is accuracy. All are probabilities or differences of two, computed by finite sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, exp, lgamma

import numpy as np

from counterproof.core.errors import InputError
from counterproof.panel.majority import SLACK, THRESHOLD

BLOCKS = (3, 2)
ALIGNED = 0.1142
"""Share of aligned items at which the adversarial family of strength .9 gives the published gain of -.0125."""


def majority_accuracy(error: float, k: int = 5) -> float:
    """Return M(e) = P(Bin(k, e) < k/2) + P(Bin(k, e) = k/2)/2: the chance that the majority is right, coin for ties."""
    _check_rate("error", error)
    return float(_majority_right(_binomial(k, error)))


def symmetric_gain(rho: float, k: int = 5) -> float:
    """Return g0 = M(rho) - (1 - rho), for independent errors.

    >>> round(symmetric_gain(0.35), 4)
    0.1148
    """
    return majority_accuracy(rho, k) - (1 - rho)


def false_positive_gain(w: float, rho: float, k: int = 5) -> float:
    """Return [M(2w·rho) + M(2(1-w)·rho)]/2 - (1 - rho): a share w of the errors falls on negatives."""
    return (majority_accuracy(2 * w * rho, k) + majority_accuracy(2 * (1 - w) * rho, k)) / 2 - (1 - rho)


def common_gain(s: float, rho: float, k: int = 5) -> float:
    """Return rho·M(s + (1-s)rho) + (1-rho)·M((1-s)rho) - (1-rho): each view takes a common error with chance s."""
    _check_rate("s", s)
    failing = majority_accuracy(s + (1 - s) * rho, k)
    return rho * failing + (1 - rho) * majority_accuracy((1 - s) * rho, k) - (1 - rho)


def copy_gain(s: float, rho: float, k: int = 5) -> float:
    """Return (1-s)·g0: on a share s of items every view repeats the first."""
    _check_rate("s", s)
    return (1 - s) * symmetric_gain(rho, k)


def block_gain(s: float, rho: float, blocks: tuple[int, ...] = BLOCKS) -> float:
    """Return the gain when `common` acts inside each block by itself: a convolution of mixtures of binomials."""
    _check_rate("s", s)
    errors = np.ones(1)
    for size in blocks:
        mixture = rho * _binomial(size, s + (1 - s) * rho) + (1 - rho) * _binomial(size, (1 - s) * rho)
        errors = np.convolve(errors, mixture)
    return float(_majority_right(errors)) - (1 - rho)


def class_common_gain(s: float, rho: float, k: int = 5) -> float:
    """Return the mean over classes: `common` on negatives, independent errors on positives."""
    return (common_gain(s, rho, k) + symmetric_gain(rho, k)) / 2


def beta_binomial_gain(icc: float, rho: float, k: int = 5) -> float:
    """Return the gain when an item's error rate is Beta(rho·m, (1-rho)·m) with m = (1 - icc)/icc; g0 at icc = 0.

    Raises:
        InputError: `icc` is outside [0, 1), or `rho` not strictly between 0 and 1.
    """
    if not (0 <= icc < 1 and 0 < rho < 1):
        raise InputError(f"icc {icc} and rho {rho}; give icc in [0, 1) and rho inside (0, 1)")
    if icc == 0:
        return symmetric_gain(rho, k)
    m = (1 - icc) / icc
    a, b = rho * m, (1 - rho) * m

    def log_beta(x: float, y: float) -> float:
        return lgamma(x) + lgamma(y) - lgamma(x + y)

    errors = np.array([comb(k, x) * exp(log_beta(a + x, b + k - x) - log_beta(a, b)) for x in range(k + 1)])
    return float(_majority_right(errors)) - (1 - rho)


def first_wrong_gain(a: float, rho: float, k: int = 5) -> float:
    """Return g0 - a·rho·P(Bin(k-1, 1-rho) > k/2), over the first view: on a share a, all err where the first does."""
    _check_rate("a", a)
    rescued = float(_binomial(k - 1, 1 - rho)[k // 2 + 1 :].sum())
    return symmetric_gain(rho, k) - a * rho * rescued


def adversarial_gain(a: float, aligned: float = ALIGNED, rho: float = 0.35) -> float:
    """Return (1-a)·g0 - a·aligned·rho·(5/3 - 1), for five views: exactly three err together, every marginal at rho."""
    _check_rate("a", a)
    _check_rate("aligned", aligned)
    return (1 - a) * symmetric_gain(rho) - a * aligned * rho * (5 / 3 - 1)


def accuracy_of_accepted(right: float, coverage: float) -> float:
    """Return right/coverage, the selective accuracy.

    Raises:
        InputError: Nothing is accepted.
    """
    if not coverage:
        raise InputError("nothing is accepted, so the accepted have no accuracy")
    return right / coverage


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What a threshold on agreement accepts.

    Attributes:
        coverage: Accepted share of all items.
        right: Accepted and right, a share of all items.
    """

    coverage: float
    right: float

    @property
    def accuracy(self) -> float:
        """Share right of the accepted (selective accuracy).

        Raises:
            InputError: Nothing is accepted.
        """
        return accuracy_of_accepted(self.right, self.coverage)


def majority_acceptance(
    rho: float,
    k: int = 5,
    *,
    threshold: float = THRESHOLD,
    failure: float = 0.0,
    valid_only: bool = False,
    copied: float = 0.0,
) -> Acceptance:
    """Return coverage and selective accuracy of a majority-k at an agreement threshold: a trinomial sum.

    A call is right with (1-f)(1-rho), wrong with (1-f)·rho, or fails with f, independently. Accepted when
    max(right, wrong) >= threshold·k; a tie is not accepted.

    Args:
        rho: Error rate of a verdict.
        k: Panel size.
        threshold: Least agreement.
        failure: Failure rate f of a call.
        valid_only: Put only verdicts in the denominator, which lets failures raise coverage; to show what that does.
        copied: Share of items on which every view repeats the first; failures must be 0 then.

    Raises:
        InputError: A rate is outside [0, 1], or both `failure` and `copied` are above 0.
    """
    for name, rate in (("rho", rho), ("failure", failure), ("copied", copied)):
        _check_rate(name, rate)
    if failure and copied:
        raise InputError("failures of copied views have no closed form here; set one of failure and copied to 0")
    covered = right = 0.0
    for wrong in range(k + 1):
        for good in range(k + 1 - wrong):
            lost = k - wrong - good
            least = threshold * (k - lost if valid_only else k) - SLACK
            if good == wrong or max(good, wrong) < least:
                continue
            ways = comb(k, wrong) * comb(k - wrong, good)
            mass = ways * ((1 - failure) * rho) ** wrong * ((1 - failure) * (1 - rho)) ** good * failure**lost
            covered += mass
            right += mass * (good > wrong)
    covered = (1 - copied) * covered + copied
    right = (1 - copied) * right + copied * (1 - rho)
    return Acceptance(covered, right)


def exact_stop_calls(rho: float, k: int = 5) -> float:
    """Return the mean calls until one side has q = (k + 1)/2 votes.

    The sum over n = q .. k of n·C(n-1, q-1)·[rho^q (1-rho)^(n-q) + (1-rho)^q rho^(n-q)]

    Raises:
        InputError: k is even, so that a tie can end it.

    >>> [round(exact_stop_calls(0.35, k), 4) for k in (3, 5, 7, 9)]
    [2.455, 3.993, 5.5595, 7.1369]
    """
    _check_rate("rho", rho)
    if k % 2 == 0:
        raise InputError(f"a panel of {k} can end in a tie; the closed form is for odd panels")
    q = k // 2 + 1
    return sum(
        n * comb(n - 1, q - 1) * (rho**q * (1 - rho) ** (n - q) + (1 - rho) ** q * rho ** (n - q))
        for n in range(q, k + 1)
    )


def confirmed_calls(rho: float) -> float:
    """Return 5 - rho^3 - (1-rho)^3: five calls, but four where the first three agree, which fixes the label."""
    _check_rate("rho", rho)
    return 5 - rho**3 - (1 - rho) ** 3


def _binomial(n: int, p: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([comb(n, x) * p**x * (1 - p) ** (n - x) for x in range(n + 1)])


def _majority_right(errors: np.ndarray[tuple[int], np.dtype[np.float64]]) -> np.float64:
    """P(fewer than half err) + P(half err)/2, from the distribution of the number of errors (k + 1)."""
    k = len(errors) - 1
    right = errors[: (k + 1) // 2].sum()
    return np.float64(right + errors[k // 2] / 2 if k % 2 == 0 else right)


def _check_rate(name: str, rate: float) -> None:
    if not 0 <= rate <= 1:
        raise InputError(f"{name} is {rate}; give a probability between 0 and 1")
