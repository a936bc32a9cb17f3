"""How the scripted agent answers and cites: from what it retrieved, with every planted fault at its rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterproof.core.records import Steps
from counterproof.rewards.reference import LONGEST_ANSWER
from counterproof.study.pools.reading import Reading, is_plain, phrase, salient_spans
from counterproof.study.pools.searching import Toolbox, draw, pick

_FINALS = (
    "The answer is {answer}{cited}.",
    "Based on the passages, the answer is {answer}{cited}.",
    "{answer}{cited}",
    "It is {answer}, as the sources say{cited}.",
)
_UNCITED = ("The answer is {answer}.", "I believe that it is {answer}.", "{answer}")
_ABSTENTIONS = ("I could not find the answer.", "The passages do not say.")
_OPPOSITE = {"yes": "no", "no": "yes"}


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The end of an attempt: the answer, the citations in order, and the final message that holds both."""

    answer: str
    citations: tuple[str, ...]
    raw_final: str


def conclude(question: str, golds: tuple[str, ...], steps: Steps, box: Toolbox, rng: np.random.Generator) -> Conclusion:
    """Return answer, citations and final message for the steps taken.

    The gold answers decide one thing: whether a correct answer can be planted, and which. Citations go to retrieved
    passages by what the agent can see (they hold the answer, their title stands in the question or in a query, they
    ranked high); support ids are never read.
    """
    evidence = [box.reader.read(passage) for passage in _in_order(steps)]
    if rng.random() < box.config.abstain:
        return Conclusion("", (), pick(_ABSTENTIONS, rng))
    answer = _answer(question, tuple(filter(is_plain, golds)), evidence, box, rng)
    likely = _by_evidence(question, answer, evidence, steps)
    if rng.random() < box.config.long_answer:
        answer = _drawn_out(answer, evidence, rng)
    citations = _cite(likely, box, rng) if likely and rng.random() >= box.config.no_citation else ()
    cited = "".join(f" [{passage}]" for passage in citations)
    return Conclusion(answer, citations, pick(_FINALS if cited else _UNCITED, rng).format(answer=answer, cited=cited))


def _in_order(steps: Steps) -> list[str]:
    return list(dict.fromkeys(passage for search in steps.searches for passage in search.passages))


def _answer(
    question: str, golds: tuple[str, ...], evidence: list[Reading], box: Toolbox, rng: np.random.Generator
) -> str:
    found = [gold for gold in golds if evidence and _stands_in(gold, evidence)]
    options, rate = (found, box.config.accuracy) if found else (list(golds), box.config.closed_book)
    if rng.random() < rate and options and (found or not evidence):
        return pick(options, rng)
    opposite = [_OPPOSITE[gold.lower()] for gold in golds if gold.lower() in _OPPOSITE]
    return opposite[0] if opposite else _wrong(question, golds, evidence, rng)


def _stands_in(gold: str, evidence: list[Reading]) -> bool:
    return gold.lower() in _OPPOSITE or any(phrase(gold) in reading.phrases for reading in evidence)


def _wrong(question: str, golds: tuple[str, ...], evidence: list[Reading], rng: np.random.Generator) -> str:
    accepted = {phrase(gold) for gold in golds}
    asked = phrase(question)
    for place in rng.permutation(len(evidence)).tolist():
        reading = evidence[int(place)]
        spans = [span for span in (reading.title, *reading.spans) if is_plain(span)]
        options = [span for span in spans if phrase(span) not in accepted and phrase(span) not in asked]
        if options:
            return pick(options, rng)
    guesses = [span for span in salient_spans(question) if phrase(span) not in accepted]
    return pick(guesses, rng) if guesses else "unknown"


def _drawn_out(answer: str, evidence: list[Reading], rng: np.random.Generator) -> str:
    words = [word for reading in evidence for word in reading.words]
    wanted = LONGEST_ANSWER + 1 + int(rng.integers(15))
    drawn = " ".join([answer, "because", *words[:wanted]]).rstrip(".,;:")
    return drawn if len(drawn.split()) > LONGEST_ANSWER else answer


def _by_evidence(question: str, answer: str, evidence: list[Reading], steps: Steps) -> list[str]:
    asked, followed = phrase(question), [phrase(search.query) for search in steps.searches[1:]]
    wanted = phrase(answer)
    scored: list[tuple[float, str]] = []
    for place, reading in enumerate(evidence):
        title = phrase(reading.title)
        named = title.strip() != ""
        score = 2.0 * (wanted in reading.phrases) + 1.5 * (named and title in asked)
        score += 1.0 * (named and any(title in query for query in followed)) + 0.5 / (1 + place)
        scored.append((-score, reading.passage))
    return [passage for _, passage in sorted(scored, key=lambda one: one[0])]


def _cite(likely: list[str], box: Toolbox, rng: np.random.Generator) -> tuple[str, ...]:
    config = box.config
    count = min(1 + draw(config.citations, rng), len(likely))
    cited, spare = likely[:count], likely[count:]
    free = rng.permutation(count).tolist()
    if rng.random() < config.stray_citation and spare:
        cited[free.pop()] = pick(spare, rng)
    for rate, replacement in ((config.unretrieved_citation, _unretrieved), (config.fake_citation, _fake)):
        if rng.random() < rate and (passage := replacement(frozenset(likely), box.index.passages, rng)):
            # No two faults hit one citation, so that each keeps its rate.
            place = free.pop() if free else len(cited)
            cited[place : place + 1] = [passage]
    if rng.random() < config.duplicate_citation:
        cited.append(pick(cited, rng))
    return tuple(cited)


def _unretrieved(retrieved: frozenset[str], passages: tuple[str, ...], rng: np.random.Generator) -> str | None:
    others = [passage for passage in passages if passage not in retrieved]
    return pick(others, rng) if others else None


def _fake(retrieved: frozenset[str], passages: tuple[str, ...], rng: np.random.Generator) -> str:
    while True:
        name = f"p{rng.integers(16**12):012x}"
        if name not in retrieved and name not in passages:
            return name
