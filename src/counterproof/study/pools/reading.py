"""What the scripted agent sees in a passage: its title, its salient spans, and whether it holds a phrase."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from counterproof.core.records import Corpus
from counterproof.rewards.lexical import STOP_WORDS, tokens

LONGEST_SPAN = 6
"""Words; a longer run of capitalised words is a headline, not a name."""

_EDGES = "\"'“”‘’«»(),.;:!?…-–—*"
_ENDS = tuple(",;:!?)…—–")
_CONNECTORS = frozenset({"of", "the", "de", "la", "von", "van", "and", "in", "for"})
_MARKUP = frozenset("[]<>{}")


@dataclass(frozen=True, slots=True)
class Reading:
    """A passage as the agent sees it.

    Attributes:
        passage: Its id.
        title: Without what stands in parentheses.
        spans: Salient spans of the text, in order.
        phrases: Title and text as one phrase (see `phrase`).
        words: The words of the text, without those that hold markup.
    """

    passage: str
    title: str
    spans: tuple[str, ...]
    phrases: str
    words: tuple[str, ...]


class Reader:
    """Reads passages of a corpus, each of them once."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._read: dict[str, Reading] = {}

    def read(self, passage_id: str) -> Reading:
        """Return the reading of a passage."""
        found = self._read.get(passage_id)
        if found is None:
            passage = self._corpus[passage_id]
            found = self._read[passage_id] = Reading(
                passage_id,
                plain(passage.title.split("(")[0]) or plain(passage.title),
                salient_spans(passage.text),
                phrase(f"{passage.title} {passage.text}"),
                tuple(word for word in passage.text.split() if _MARKUP.isdisjoint(word)),
            )
        return found


def phrase(text: str) -> str:
    """Return the tokens of a text, one space around each, so that `in` compares whole words; a space if there is none.

    >>> phrase("New York") in phrase("The New-York Times"), phrase("art") in phrase("Martin")
    (True, False)
    """
    return f" {' '.join(tokens(text))} ".replace("  ", " ")


def plain(text: str) -> str:
    """Return a text on one line, without the brackets that mark citations and tags."""
    return " ".join("".join(char for char in text if char not in _MARKUP).split())


def is_plain(text: str) -> bool:
    """Return whether a text has a word and nothing that could be read as a citation or a tag."""
    return bool(tokens(text)) and _MARKUP.isdisjoint(text)


def salient_spans(text: str) -> tuple[str, ...]:
    """Return the distinct names and years of a text, in order: runs of capitalised words, and numbers of four digits.

    Function words inside a run connect it; those at its start are left out (they open a sentence).

    >>> salient_spans("In 1975 Rush recorded Fly by Night, produced by the Bank of Toronto.")
    ('1975', 'Rush', 'Fly', 'Night', 'Bank of Toronto')
    """
    found: dict[str, None] = {}
    for run in _runs(text):
        words = list(run)
        while words and words[0].lower() in STOP_WORDS:
            del words[0]
        span = " ".join(words)
        if 0 < len(words) <= LONGEST_SPAN and is_plain(span):
            found[span] = None
    return tuple(found)


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    run: list[str] = []
    joint: list[str] = []
    for word in text.split():
        core = word.strip(_EDGES)
        if core[:1].isupper():
            run += [*joint, core.removesuffix("'s").removesuffix("’s")]
            joint = []
        elif run and core in _CONNECTORS and not joint:
            joint = [core]
            continue
        else:
            yield tuple(run)
            run, joint = [], []
            if len(core) == 4 and core.isdecimal():
                yield (core,)
        # A full stop ends a run, unless it belongs to an initial.
        if word.endswith(_ENDS) or (word.endswith(".") and len(core) > 1):
            yield tuple(run)
            run, joint = [], []
    yield tuple(run)
