"""Sequential rules that see only how many votes each side has, with their exact figures on exchangeable channels.

Counts are indexed [ones, zeros]. On such a panel these are all the rules there are: the order of votes says nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.panel.closed_forms import accuracy_of_accepted
from counterproof.panel.majority import SLACK, THRESHOLD


@dataclass(frozen=True, slots=True, eq=False)
class CountRule:
    """What to do after each count of votes, for a budget of k calls; arrays are (k + 1, k + 1).

    Attributes:
        name: What it is.
        stop: Ask no further; true wherever ones + zeros = k.
        accept: Accept the label when stopped there; otherwise abstain.
        label: Forced label, 1 or 0; -1 for a tie, which a fair coin settles.
    """

    name: str
    stop: NDArray[np.bool_]
    accept: NDArray[np.bool_]
    label: NDArray[np.int8]

    @property
    def budget(self) -> int:
        """Most calls an item, k."""
        return len(self.stop) - 1


@dataclass(frozen=True, slots=True)
class RuleFigures:
    """What a rule does.

    Attributes:
        calls: Mean calls an item.
        coverage: Share of items accepted, in [0, 1].
        right: Accepted and right, a share of all items.
        balanced_accuracy: Mean over classes of the share right, by forced label on every item; a tie counts a half.
    """

    calls: float
    coverage: float
    right: float
    balanced_accuracy: float

    @property
    def accuracy(self) -> float:
        """Share right of the accepted (selective accuracy).

        Raises:
            InputError: Nothing is accepted.
        """
        return accuracy_of_accepted(self.right, self.coverage)


@dataclass(frozen=True, slots=True, eq=False)
class RuleRun:
    """A rule on N items.

    Attributes:
        calls: Calls made, (N).
        accepted: Whether the label was accepted, (N).
        label: Forced label, -1 for a tie, (N), int8.
    """

    calls: NDArray[np.int64]
    accepted: NDArray[np.bool_]
    label: NDArray[np.int8]


def run_rule(rule: CountRule, verdicts: NDArray[np.int8]) -> RuleRun:
    """Return what a rule does on verdicts 0 or 1 in call order, (N, k)."""
    ones = np.cumsum(verdicts, axis=1, dtype=np.intp)
    zeros = np.arange(1, verdicts.shape[1] + 1) - ones
    last = rule.stop[ones, zeros].argmax(axis=1)
    row = np.arange(len(verdicts))
    a, b = ones[row, last], zeros[row, last]
    return RuleRun(last + 1, rule.accept[a, b], rule.label[a, b])


def exact_figures(rule: CountRule, error: float, prior: float = 0.5) -> RuleFigures:
    """Return the figures of a rule on independent channels of one error rate, by summing over all counts.

    Args:
        rule: The rule.
        error: P(verdict differs from the label), in [0, 1], the same for both classes.
        prior: P(label = 1); weighs calls, coverage and selective accuracy.
    """
    by_class = [_class_figures(rule, error, 0), _class_figures(rule, 1 - error, 1)]
    negatives, positives = by_class
    calls, covered, right = ((1 - prior) * a + prior * b for a, b in zip(negatives[:3], positives[:3], strict=True))
    return RuleFigures(calls, covered, right, (negatives[3] + positives[3]) / 2)


def _class_figures(rule: CountRule, one: float, truth: int) -> tuple[float, float, float, float]:
    """Calls, P(accepted), P(accepted and right), P(forced label right) given the class; `one` is P(verdict = 1)."""
    reach = np.zeros((rule.budget + 2, rule.budget + 2))
    reach[0, 0] = 1.0
    calls = covered = right_covered = right = 0.0
    for total in range(rule.budget + 1):
        for ones in range(total + 1):
            zeros, mass = total - ones, float(reach[ones, total - ones])
            if rule.stop[ones, zeros]:
                label = int(rule.label[ones, zeros])
                hit = mass * (0.5 if label < 0 else float(label == truth))
                calls += total * mass
                right += hit
                covered += mass * rule.accept[ones, zeros]
                right_covered += hit * rule.accept[ones, zeros]
            else:
                reach[ones + 1, zeros] += mass * one
                reach[ones, zeros + 1] += mass * (1 - one)
    return calls, covered, right_covered, right


def majority_rule(k: int, threshold: float = THRESHOLD) -> CountRule:
    """Return the rule that asks all k and accepts when the leading side has `threshold` of them."""
    return _rule(f"majority-{k}", k, lambda a, b: False, threshold)


def exact_stop_label(k: int) -> CountRule:
    """Return the rule that stops as soon as no completion changes the majority label, and accepts it."""
    fixed = _fixed(k, lambda ones: _side(ones, k - ones))
    rule = _rule(f"exact-stop(label) k={k}", k, fixed, THRESHOLD)
    return CountRule(rule.name, rule.stop, rule.stop & (rule.label >= 0), rule.label)


def exact_stop_outcome(k: int, threshold: float = THRESHOLD) -> CountRule:
    """Return the rule that stops as soon as every completion is accepted with one label, or every one abstains."""
    return _rule(f"exact-stop(outcome) k={k}", k, _fixed(k, _outcome(k, threshold)), threshold)


def exact_stop_both(k: int, threshold: float = THRESHOLD) -> CountRule:
    """Return the rule that stops as soon as both the label and the accept flag are the same in every completion."""
    outcome = _outcome(k, threshold)
    fixed = _fixed(k, lambda ones: (_side(ones, k - ones), outcome(ones) >= 0))
    return _rule(f"exact-stop(both) k={k}", k, fixed, threshold)


def abstain_certain(k: int, threshold: float = THRESHOLD) -> CountRule:
    """Return the rule that stops early only when no completion can be accepted; its forced label may differ."""
    outcome = _outcome(k, threshold)

    def hopeless(a: int, b: int) -> bool:
        return all(outcome(ones) < 0 for ones in range(a, k - b + 1))

    return _rule(f"abstain-certain k={k}", k, hopeless, threshold)


def prefix_stop(k: int, least: int, threshold: float = THRESHOLD) -> CountRule:
    """Return the rule that accepts the first prefix of at least `least` votes whose own agreement reaches `threshold`.

    Not exact: the label of a short prefix need not be that of all k.
    """

    def agreed(a: int, b: int) -> bool:
        return a + b >= least and max(a, b) >= threshold * (a + b) - SLACK

    rule = _rule(f"prefix-stop m0={least} k={k}", k, agreed, threshold)
    a, b = np.indices(rule.stop.shape)
    accept = rule.stop & (np.maximum(a, b) >= threshold * (a + b) - SLACK) & (a != b)
    return CountRule(rule.name, rule.stop, accept, rule.label)


def adaptive_confidence(k: int, tau: float, error: float, prior: float = 0.5) -> CountRule:
    """Return the rule that accepts once the posterior of either class reaches `tau`; at k calls without it, abstains.

    log P(1)/P(0) = logit(prior) + (ones - zeros)·log((1 - error)/error).

    Raises:
        InputError: `error` or `prior` is not strictly between 0 and 1, or `tau` not in [.5, 1].
    """
    if not (0 < error < 1 and 0 < prior < 1 and 0.5 <= tau <= 1):
        raise InputError(f"tau {tau}, error {error}, prior {prior}; give tau in [.5, 1], the others inside (0, 1)")
    a, b = np.indices((k + 1, k + 1))
    odds = np.log(prior / (1 - prior)) + (a - b) * np.log((1 - error) / error)
    reached = 1 / (1 + np.exp(-np.abs(odds))) >= tau - SLACK
    stop = (reached & (a + b > 0)) | (a + b >= k)
    label = np.where(np.abs(odds) < SLACK, -1, odds > 0).astype(np.int8)
    return CountRule(f"adaptive-confidence tau={tau:g} k={k}", stop, reached & stop, label)


def _side(ones: int, zeros: int) -> int:
    return -1 if ones == zeros else int(ones > zeros)


def _outcome(k: int, threshold: float) -> Callable[[int], int]:
    """The accepted label of a full panel with so many ones, or -1 where it abstains."""

    def outcome(ones: int) -> int:
        enough = max(ones, k - ones) >= threshold * k - SLACK
        return _side(ones, k - ones) if enough else -1

    return outcome


def _fixed(k: int, of: Callable[[int], object]) -> Callable[[int, int], bool]:
    def fixed(a: int, b: int) -> bool:
        return len({of(ones) for ones in range(a, k - b + 1)}) == 1

    return fixed


def _rule(name: str, k: int, stop: Callable[[int, int], bool], threshold: float) -> CountRule:
    """The rule that stops where `stop` says or at k, and accepts where every completion would be."""
    outcome = _outcome(k, threshold)
    shape = (k + 1, k + 1)
    stops, accepts, labels = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_), np.zeros(shape, np.int8)
    for a in range(k + 1):
        for b in range(k + 1):
            labels[a, b] = _side(a, b)
            stops[a, b] = a + b >= k or (a + b > 0 and stop(a, b))
            if a + b <= k and stops[a, b]:
                accepts[a, b] = outcome(a) >= 0 and all(outcome(x) == outcome(a) for x in range(a, k - b + 1))
    return CountRule(name, stops, accepts, labels)
