"""Voting rules over a budget of k calls, as policies: majority, its exact early stops, and stops that are not exact.

Letters: C classes, k calls. Agreement is the votes of the leading class over calls; failed calls stay below the line.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from counterproof.core.errors import InputError
from counterproof.core.seeds import ItemSeed
from counterproof.panel.compile import compile_rule
from counterproof.panel.majority import SLACK, THRESHOLD, Ties
from counterproof.panel.policy import Action, Move, PolicyTable, State
from counterproof.panel.table import NOT_QUERIED, Channel

Votes: TypeAlias = tuple[int, ...]
"""Verdicts seen for each class, then failures."""
TIE = -1


class Keep(enum.Enum):
    """What an exact stop must leave as the full panel would have it."""

    LABEL = "label"
    OUTCOME = "outcome"
    """The label where it is accepted, else that it abstains."""
    BOTH = "label+outcome"


@dataclass(frozen=True, slots=True)
class VoteRule:
    """What all voting rules share.

    Attributes:
        order: Channels in the order in which they are asked; its length is k.
        threshold: Least agreement over all k calls, above 0 and at most 1; 4/5 reaches .8.
        ties: What an item is given where no class leads: `reject` no label; `coin` one of the leading classes, tossed
            once per state, so that all items that end in one state share it.
        seed: Keys the coin.
    """

    order: tuple[int, ...]
    threshold: float = THRESHOLD
    ties: Ties = "reject"
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.order or len(set(self.order)) != len(self.order) or min(self.order) < 0:
            raise InputError(f"an order of {self.order}: name at least one channel, each once")
        if not 0 < self.threshold <= 1 or self.ties not in ("reject", "coin"):
            raise InputError(
                f"threshold {self.threshold}, ties '{self.ties}': give a number above 0 and at most 1; reject or coin"
            )

    def reaches(self, votes: int, calls: int) -> bool:
        """Whether so many votes of so many calls reach the threshold."""
        return calls > 0 and votes / calls >= self.threshold - SLACK


@dataclass(frozen=True, slots=True)
class _Stop:
    """That the rule stops, and whether it accepts the leading class."""

    accept: bool


def majority_policy(channels: Sequence[Channel], classes: Sequence[str], rule: VoteRule) -> PolicyTable:
    """Return majority-k: ask all; accept the class that leads if its agreement reaches the threshold.

    Raises:
        InputError: The order names a channel that is not there, or too many states can be reached.
    """
    k = len(rule.order)

    def step(votes: Votes) -> _Stop | None:
        return _Stop(rule.reaches(max(votes[:-1]), k)) if sum(votes) == k else None

    return _compile(f"majority-{k}", channels, classes, rule, step)


def exact_stop_policy(
    channels: Sequence[Channel], classes: Sequence[str], rule: VoteRule, keep: Keep = Keep.LABEL
) -> PolicyTable:
    """Return the rule that stops as soon as every completion, failures included, leaves the same result as majority-k.

    To keep the label is to stop when the lead over every other class exceeds the calls left; it accepts every label,
    because whether the full panel would accept is then not known. The other two accept where the full panel would.
    Where only the outcome is kept and it is to abstain, the forced label is that of the votes so far.

    Raises:
        InputError: As `majority_policy`.
    """
    k = len(rule.order)
    fates = _fates(rule)

    def step(votes: Votes) -> _Stop | None:
        ends = fates(votes)
        if keep is Keep.LABEL:
            return _Stop(True) if len({label for label, _ in ends}) == 1 else None
        seen = {(label if accepted or keep is Keep.BOTH else TIE, accepted) for label, accepted in ends}
        return _Stop(next(iter(seen))[1]) if len(seen) == 1 else None

    return _compile(f"exact-stop({keep.value})-{k}", channels, classes, rule, step)


def abstain_certain_policy(channels: Sequence[Channel], classes: Sequence[str], rule: VoteRule) -> PolicyTable:
    """Return the rule that stops early only when no completion would be accepted. Its forced label is not exact.

    Raises:
        InputError: As `majority_policy`.
    """
    k = len(rule.order)
    fates = _fates(rule)

    def step(votes: Votes) -> _Stop | None:
        if sum(votes) == k:
            return _Stop(rule.reaches(max(votes[:-1]), k))
        return None if any(accepted for _, accepted in fates(votes)) else _Stop(False)

    return _compile(f"abstain-certain-{k}", channels, classes, rule, step)


def confirmed_policy(
    channels: Sequence[Channel], classes: Sequence[str], rule: VoteRule, unanimous: int = 3
) -> PolicyTable:
    """Return the rule that asks `unanimous` channels, one more if they are of one mind, and all k if they are not.

    It accepts where agreement over the calls made reaches the threshold. With 3 of 5 the label is that of majority-5.

    Raises:
        InputError: As `majority_policy`, or `unanimous` is not below k.
    """
    k = len(rule.order)
    if not 0 < unanimous < k:
        raise InputError(f"{unanimous} unanimous calls and one more do not fit into {k}")

    def step(votes: Votes, verdicts: tuple[int, ...]) -> _Stop | None:
        calls, first = len(verdicts), set(verdicts[:unanimous])
        confirmed = calls == unanimous + 1 and len(first) == 1 and first != {len(classes)}
        return _Stop(rule.reaches(max(votes[:-1]), calls)) if confirmed or calls == k else None

    return _compile_ordered(f"confirmed-{unanimous}+1-{k}", channels, classes, rule, step)


def prefix_stop_policy(channels: Sequence[Channel], classes: Sequence[str], rule: VoteRule, m0: int) -> PolicyTable:
    """Return the rule that accepts the first prefix of at least m0 calls whose own agreement reaches the threshold.

    Otherwise it goes on to k. Not exact: it accepts items that majority-k would not, and m0 = 2 of 5 changes labels.

    Raises:
        InputError: As `majority_policy`, or m0 is not between 1 and k.
    """
    k = len(rule.order)
    if not 1 <= m0 <= k:
        raise InputError(f"a least prefix of {m0} calls out of {k}")

    def step(votes: Votes) -> _Stop | None:
        calls, lead = sum(votes), max(votes[:-1])
        if calls >= m0 and rule.reaches(lead, calls):
            return _Stop(True)
        return _Stop(False) if calls == k else None

    return _compile(f"prefix-stop-{m0}-{k}", channels, classes, rule, step)


def vote_label(votes: Votes) -> int:
    """Return the class that leads, or `TIE`."""
    counts = votes[:-1]
    leader = max(range(len(counts)), key=counts.__getitem__)
    return leader if counts.count(counts[leader]) == 1 else TIE


def _fates(rule: VoteRule) -> Callable[[Votes], frozenset[tuple[int, bool]]]:
    """Return what majority-k can still say, as (label, accepted), by trying every completion once."""
    k = len(rule.order)
    known: dict[Votes, frozenset[tuple[int, bool]]] = {}

    def of(votes: Votes) -> frozenset[tuple[int, bool]]:
        if votes not in known:
            if sum(votes) == k:
                label = vote_label(votes)
                known[votes] = frozenset({(label, label != TIE and rule.reaches(max(votes[:-1]), k))})
            else:
                after = ((*votes[:i], votes[i] + 1, *votes[i + 1 :]) for i in range(len(votes)))
                known[votes] = frozenset[tuple[int, bool]]().union(*map(of, after))
        return known[votes]

    return of


def _compile(
    name: str,
    channels: Sequence[Channel],
    classes: Sequence[str],
    rule: VoteRule,
    step: Callable[[Votes], _Stop | None],
) -> PolicyTable:
    return _compile_ordered(name, channels, classes, rule, lambda votes, verdicts: step(votes))


def _compile_ordered(
    name: str,
    channels: Sequence[Channel],
    classes: Sequence[str],
    rule: VoteRule,
    step: Callable[[Votes, tuple[int, ...]], _Stop | None],
) -> PolicyTable:
    """Compile a rule that says, from votes and the verdicts in order, that it stops, or None for the next call."""
    if max(rule.order) >= len(channels):
        raise InputError(f"the order names channel {max(rule.order)}; there are {len(channels)}, counted from 0")

    def decide(state: State) -> Action:
        verdicts = tuple(state[j] for j in rule.order if state[j] != NOT_QUERIED)
        votes = tuple(verdicts.count(symbol) for symbol in range(len(classes) + 1))
        stop = step(votes, verdicts)
        confidence = max(votes[:-1]) / max(len(verdicts), 1)
        if stop is None:
            return Action(Move.QUERY, channel=rule.order[len(verdicts)], confidence=confidence)
        settled = vote_label(votes) != TIE
        label = vote_label(votes) if settled or rule.ties == "reject" else _toss(rule.seed, state, votes)
        return Action(Move.ACCEPT if stop.accept and settled else Move.ABSTAIN, label=label, confidence=confidence)

    return compile_rule(name, channels, classes, decide, provenance=_plain(rule))


def _toss(seed: int, state: State, votes: Votes) -> int:
    counts = votes[:-1]
    leaders = [c for c, count in enumerate(counts) if count == max(counts)]
    key = ",".join(map(str, state))
    return leaders[int(ItemSeed(seed, key).child("tie").fraction() * len(leaders))]


def _plain(rule: VoteRule) -> dict[str, Any]:
    return {
        "policy": "vote",
        "order": list(rule.order),
        "threshold": rule.threshold,
        "ties": rule.ties,
        "seed": rule.seed,
    }
