r"""The reference reward R0, its repaired variants, and the control rewards.

R0 = 1.0 a + 0.5 g + 0.1 c - 0.02 t - 0.1 v - 0.55 h - 0.0002 len, where *a* is the largest (exact match + token F1) / 2
over the golds, *g* the F1 of the cited set against the support ids (reads labels), *c* a well-formed cited answer, *t*
searches, *v* invalid actions, *h* the mean of seven flags, and *len* the whitespace tokens of the final message. Each
flag is a component of its own (-0.55 / 7), so that what cancels inside *h* is seen.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import fsum

from counterproof.core.errors import BindingError, nearest
from counterproof.core.outcomes import Scored
from counterproof.core.records import Corpus, Trajectory
from counterproof.rewards.detectors import DETECTORS

ANSWER, GROUNDING, WELL_FORMED = 1.0, 0.5, 0.1
SEARCH_COST, INVALID_COST, LENGTH_COST = 0.02, 0.1, 0.0002
FLAG_COST = 0.55 / len(DETECTORS)
LONGEST_ANSWER = 30
FULL_WEIGHTS: Mapping[str, float] = {"answer_without_citation": 0.5, "repeated_query": 0.3, "over_retrieval": 0.3}
MISMATCH_WEIGHT = 1.5
_CONTRACT = {one.name: one for one in DETECTORS if one.contract}
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True, slots=True)
class Reward:
    """A built-in reward.

    Attributes:
        name: The name that `--reward` takes.
        components: Its named terms for a record, in reward units; the reward is their sum.
        reads: Fields of the record that it reads.
        title: What it is, in words.
    """

    name: str
    components: Callable[[Trajectory, Corpus], Mapping[str, float]]
    reads: frozenset[str]
    title: str

    def __call__(self, record: Trajectory, corpus: Corpus) -> Scored:
        """Return the typed outcome for a record; the terms are finite by construction."""
        terms = self.components(record, corpus)
        return Scored(fsum(terms.values()), tuple(terms.items()), self.reads)


def normalise_answer(text: str) -> str:
    """Return an answer as SQuAD compares it: lower case, without punctuation, articles and extra white space.

    Source: Rajpurkar et al. 2016, arXiv:1606.05250 (the evaluation's normalisation).

    >>> normalise_answer("The  Beatles!")
    'beatles'
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def answer_score(answer: str, golds: tuple[str, ...]) -> float:
    """Return *a*: the maximum over golds of (exact match + token F1) / 2, in [0, 1]; 0 without golds.

    A gold of which normalisation leaves nothing ("The") matches nothing, so that no answer at all never matches it.

    >>> answer_score("Paris, France", ("Paris",)) == (0 + 2 / 3) / 2
    True
    """
    given = normalise_answer(answer)
    best = 0.0
    for gold in golds:
        wanted = normalise_answer(gold)
        best = max(best, (float(given == wanted and bool(wanted)) + _token_f1(given, wanted)) / 2)
    return best


def _token_f1(given: str, wanted: str) -> float:
    left, right = given.split(), wanted.split()
    common = sum((Counter(left) & Counter(right)).values())
    return 2 * common / (len(left) + len(right)) if common else 0.0


def citation_f1(cited: frozenset[str], support: frozenset[str]) -> float:
    """Return *g*: 2 |C and S| / (|C| + |S|), in [0, 1]; 0 when nothing is shared.

    >>> citation_f1(frozenset("ab"), frozenset("bc"))
    0.5
    """
    shared = len(cited & support)
    return 2 * shared / (len(cited) + len(support)) if shared else 0.0


def _outcome(record: Trajectory, corpus: Corpus) -> dict[str, float]:
    return {"answer": ANSWER * answer_score(record.answer, record.gold_answers)}


def _outcome_and_cost(record: Trajectory, corpus: Corpus) -> dict[str, float]:
    return {**_outcome(record, corpus), **_costs(record)}


def _costs(record: Trajectory) -> dict[str, float]:
    return {
        "searches": -SEARCH_COST * len(record.steps.searches),
        "invalid_actions": -INVALID_COST * record.steps.invalid_actions,
    }


def _reference(record: Trajectory, corpus: Corpus) -> dict[str, float]:
    cited = record.cited
    well_formed = bool(cited) and 0 < len(record.answer.split()) <= LONGEST_ANSWER
    terms = {
        "answer": ANSWER * answer_score(record.answer, record.gold_answers),
        "grounding": GROUNDING * citation_f1(cited, record.support_ids),
        "well_formed": WELL_FORMED * well_formed,
        "searches": -SEARCH_COST * len(record.steps.searches),
        "invalid_actions": -INVALID_COST * record.steps.invalid_actions,
        "length": -LENGTH_COST * len(record.raw_final.split()),
    }
    for one in DETECTORS:
        terms[f"flag_{one.name}"] = -FLAG_COST * one.detect(record, corpus)
    return terms


def repaired(names: tuple[str, ...]) -> Reward:
    """Return R_S = R0 - sum over d in S of lambda_d d(t), for detector names S out of U, L, F."""

    def components(record: Trajectory, corpus: Corpus) -> Mapping[str, float]:
        terms = _reference(record, corpus)
        for name in names:
            one = _CONTRACT[name]
            terms[f"penalty_{name}"] = -(one.weight or 0.0) * one.detect(record, corpus)
        return terms

    title = f"R0 with penalties on {', '.join(names)}" if names else "R0, the reference reward"
    return Reward("+".join(("reference", *names)), components, _READS, title)


def full(mismatch_weight: float = MISMATCH_WEIGHT) -> Reward:
    """Return R_full: R_ULF less .5 answer without citation, .3 repeated query, .3 over-retrieval, w mismatch."""
    base = repaired(("U", "L", "F"))
    weights = {**FULL_WEIGHTS, "support_mismatch": mismatch_weight}
    extra = [one for one in DETECTORS if one.name in weights]

    def components(record: Trajectory, corpus: Corpus) -> Mapping[str, float]:
        terms = dict(base.components(record, corpus))
        for one in extra:
            terms[f"penalty_{one.name}"] = -weights[one.name] * one.detect(record, corpus)
        return terms

    return Reward("reference+full", components, _READS, f"R_full (mismatch weight {mismatch_weight:g})")


def _oracle(record: Trajectory, corpus: Corpus) -> dict[str, float]:
    return {f"flag_{name}": -float(one.detect(record, corpus)) for name, one in _CONTRACT.items()}


_READS = frozenset({"answer", "gold_answers", "support_ids", "citations", "steps", "raw_final"})
_FIXED: tuple[Reward, ...] = (
    repaired(()),
    repaired(("L",)),
    full(),
    Reward("outcome", _outcome, frozenset({"answer", "gold_answers"}), "answer correctness only"),
    Reward(
        "outcome+cost",
        _outcome_and_cost,
        frozenset({"answer", "gold_answers", "steps"}),
        "answer correctness less the cost of searches and invalid actions",
    ),
    Reward("constant", lambda record, corpus: {"constant": 0.0}, frozenset(), "control: the same for every record"),
    Reward("oracle", _oracle, frozenset({"answer", "citations", "steps"}), "control: -(U + L + F)"),
)
REWARDS: Mapping[str, Reward] = {one.name: one for one in _FIXED}
"""The built-in rewards by the name that `--reward` takes; `reference+` takes any of U, L, F too."""


def built_in_reward(spec: str) -> Reward:
    """Return the built-in reward of that name: one of `REWARDS`, or `reference+` with any of U, L, F joined by `+`.

    Raises:
        BindingError: There is none; the message names the nearest.
    """
    if spec in REWARDS:
        return REWARDS[spec]
    head, _, tail = spec.partition("+")
    names = tuple(tail.split("+")) if tail else ()
    if head == "reference" and names and all(name in _CONTRACT for name in names) and len(set(names)) == len(names):
        return repaired(tuple(sorted(names, key=list(_CONTRACT).index)))
    raise BindingError(
        f"'{spec}' is no built-in reward; {nearest(spec, REWARDS)} "
        "(your own: package.module:function or path.py:function)"
    )
