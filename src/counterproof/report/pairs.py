"""Word-level differences between the two sides of an evidence pair."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, TypeAlias

from counterproof.core.analysis import PairField
from counterproof.report.inert import visible
from counterproof.report.numbers import count

Part: TypeAlias = Literal["same", "changed", "elided"]

_Opcode: TypeAlias = tuple[str, int, int, int, int]

_TOKEN = re.compile(r"\s+|[\w-]+|[^\w\s]")
_CONTEXT = 24  # tokens kept on either side of a difference
_LONGEST_TOKEN = 120
_MOST_COMPARED = 1500  # difflib is quadratic: longer stretches are compared line by line, or marked as a whole
_LEAST_ALIKE = 0.4  # below, shared words are chance and marking around them reads as confetti: whole lines are not
_MOST_SHOWN = 400


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of one side: the same on both, changed, or a note on what was left out."""

    text: str
    part: Part


def word_difference(field: PairField) -> tuple[tuple[Segment, ...], tuple[Segment, ...]]:
    """Return both sides of a field cut into segments, with long equal stretches replaced by a note on their length."""
    before, after = _tokens(field.before), _tokens(field.after)
    left: list[Segment] = []
    right: list[Segment] = []
    codes = _opcodes(before, after)
    for position, (tag, i1, i2, j1, j2) in enumerate(codes):
        if tag == "equal":
            same = _shortened(before[i1:i2], first=position == 0, last=position == len(codes) - 1)
            left.extend(same)
            right.extend(same)
        else:
            left.extend(_changed(before[i1:i2]))
            right.extend(_changed(after[j1:j2]))
    return tuple(left), tuple(right)


def excerpt(text: str, limit: int = 1200) -> str:
    """Return the beginning of a text, with a note on how much was left out."""
    shown = visible(text[:limit])
    return shown if len(text) <= limit else f"{shown} … ({count(len(text) - limit)} characters more)"


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(visible(text))


def _opcodes(before: list[str], after: list[str]) -> list[_Opcode]:
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    b, a = before[start : len(before) - end], after[start : len(after) - end]
    matcher = difflib.SequenceMatcher(None, b, a, autojunk=False)
    if len(a) + len(b) <= _MOST_COMPARED and matcher.ratio() >= _LEAST_ALIKE:
        codes: list[_Opcode] = [*matcher.get_opcodes()]
    else:
        codes = _by_lines(b, a)
    codes = [(tag, i1 + start, i2 + start, j1 + start, j2 + start) for tag, i1, i2, j1, j2 in codes]
    if start:
        codes.insert(0, ("equal", 0, start, 0, start))
    if end:
        codes.append(("equal", len(before) - end, len(before), len(after) - end, len(after)))
    return codes


def _by_lines(before: list[str], after: list[str]) -> list[_Opcode]:
    """Return the difference of two stretches in whole lines; one replacement where there are too many of them."""
    b, a = _lines(before), _lines(after)
    if len(b) + len(a) > _MOST_COMPARED:
        return [("replace", 0, len(before), 0, len(after))]
    at_b = [0, *accumulate(map(len, b))]
    at_a = [0, *accumulate(map(len, a))]
    matcher = difflib.SequenceMatcher(None, b, a, autojunk=False)
    return [(tag, at_b[i1], at_b[i2], at_a[j1], at_a[j2]) for tag, i1, i2, j1, j2 in matcher.get_opcodes()]


def _lines(tokens: list[str]) -> list[tuple[str, ...]]:
    lines: list[tuple[str, ...]] = []
    start = 0
    for place, token in enumerate(tokens, 1):
        if "\n" in token or place == len(tokens):
            lines.append(tuple(tokens[start:place]))
            start = place
    return lines


def _shortened(tokens: list[str], *, first: bool, last: bool) -> list[Segment]:
    head, tail = (0 if first else _CONTEXT), (0 if last else _CONTEXT)
    if len(tokens) <= head + tail + _CONTEXT:
        return [Segment(_join(tokens), "same")]
    words = sum(not token.isspace() for token in tokens[head : len(tokens) - tail])
    parts = [
        Segment(_join(tokens[:head]), "same"),
        Segment(f" … {count(words)} words the same … ", "elided"),
        Segment(_join(tokens[len(tokens) - tail :]), "same"),
    ]
    return [part for part in parts if part.text]


def _changed(tokens: list[str]) -> list[Segment]:
    if not tokens:
        return []
    parts = [Segment(_join(tokens[:_MOST_SHOWN]), "changed")]
    if len(tokens) > _MOST_SHOWN:
        words = sum(not token.isspace() for token in tokens[_MOST_SHOWN:])
        parts.append(Segment(f" … {count(words)} changed words more", "elided"))
    return parts


def _join(tokens: list[str]) -> str:
    return "".join(
        token if len(token) <= _LONGEST_TOKEN else f"{token[:_LONGEST_TOKEN]}…(+{count(len(token) - _LONGEST_TOKEN)})"
        for token in tokens
    )
