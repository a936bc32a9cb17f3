"""Our own JSONL: one trajectory a row, with tagged completion text in which whatever looks like a tag is escaped.

The text is a strict grammar. Each step is one block, then comes the final message:

    <think>TEXT</think>
    <search>QUERY</search>

    <information>Doc 1 [ID](Title: TITLE) TEXT</information>

    <invalid>TEXT</invalid>
    ... <answer>ANSWER</answer> ... [ID] ...

A tag inside a field is written `&lt;think>`, a bracket in the final message that is no citation `&#91;`, and what
already looks like such an escape gets one `amp;` more, so that every field reads back as it was.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from counterproof.adapters.fields import Fields
from counterproof.adapters.formats import MARKER, Reading
from counterproof.core.errors import CannotRender
from counterproof.core.records import (
    Corpus,
    InvalidAction,
    Passage,
    Search,
    Step,
    Steps,
    Text,
    Trajectory,
    passage_id,
    question_id,
)

_TAG = r"/?(?:think|search|information|answer|invalid)>"
_TAGS = re.compile(f"<(?={_TAG})")
_LOOKS_ESCAPED = re.compile(f"&(?=(?:amp;)*(?:lt;{_TAG}|#91;))")
_ESCAPED = re.compile(f"&((?:amp;)*)(lt;(?={_TAG})|#91;)")
_BLOCK = re.compile(
    r"<(think|invalid)>(.*?)</\1>\n|<search>(.*?)</search>\n\n<information>(.*?)</information>\n\n", re.DOTALL
)
_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
_DOCUMENT = re.compile(r"Doc \d+ \[([^\[\]\s]+)\]")
_MOST_PLACES = 64


@dataclass(frozen=True, slots=True)
class TaggedJsonl:
    """The format `jsonl`: rows of our own, and their rendering as tagged text."""

    name: str = "jsonl"
    expresses: frozenset[str] = frozenset({"steps", "answer", "citations", "raw_final"})
    columns: frozenset[str] = frozenset(field.name for field in dataclasses.fields(Trajectory)) | {"passages"}
    shape: str = (
        "jsonl: trajectory_id, question, steps [{kind: search, query, passages} | {kind: text | invalid, text}], "
        "answer, citations, raw_final, gold_answers, support_ids"
    )

    def recognises(self, columns: frozenset[str]) -> bool:
        """Whether a row has steps."""
        return "steps" in columns

    def read(self, row: Fields, place: str) -> Reading:
        """Return what a row holds."""
        return _read(row, place)

    def render(self, record: Trajectory, corpus: Corpus) -> str:
        """Return the record as tagged text.

        Raises:
            CannotRender: A passage id holds brackets or white space, the answer does not stand in the final message,
                or a citation does not.
        """
        return "".join(_blocks(record.steps, corpus)) + _final(record)

    def parse(self, text: str, base: Trajectory, corpus: Corpus) -> Trajectory:
        """Return `base` with steps, answer, citations and final message as the text has them."""
        del corpus  # the text names passages by id
        steps: list[Step] = []
        position = 0
        while block := _BLOCK.match(text, position):
            steps.append(_step(block))
            position = block.end()
        answer, citations, raw_final = _parse_final(text[position:])
        return dataclasses.replace(base, steps=Steps(steps), answer=answer, citations=citations, raw_final=raw_final)


def escape(text: str) -> str:
    """Return text in which nothing reads as a tag; `unescape` gives it back.

    >>> escape("a < b <search> &lt;search>")
    'a < b &lt;search> &amp;lt;search>'
    """
    return _TAGS.sub("&lt;", _LOOKS_ESCAPED.sub("&amp;", text)) if "<" in text or "&" in text else text


def unescape(text: str) -> str:
    """Return what was escaped."""
    return _ESCAPED.sub(_unescaped, text) if "&" in text else text


def _unescaped(match: re.Match[str]) -> str:
    more, what = match.groups()
    if more:
        return f"&{more[4:]}{what}"
    return "<" if what == "lt;" else "["


def _blocks(steps: Steps, corpus: Corpus) -> Iterator[str]:
    for step in steps:
        if isinstance(step, Search):
            documents = "\n".join(f"Doc {i} {_shown(id_, corpus)}" for i, id_ in enumerate(step.passages, 1))
            more = f"\n\n{escape(step.observation)}" if step.observation else ""
            yield f"<search>{escape(step.query)}</search>\n\n<information>{documents}{more}</information>\n\n"
        elif isinstance(step, Text):
            yield f"<think>{escape(step.text)}</think>\n"
        else:
            yield f"<invalid>{escape(step.text)}</invalid>\n"


def _shown(name: str, corpus: Corpus) -> str:
    return _document(corpus[name]) if name in corpus else _marker(name)


@functools.lru_cache(maxsize=1 << 16)
def _document(passage: Passage) -> str:
    one_line = " ".join(passage.text.split())
    return f"{_marker(passage.id)}(Title: {escape(' '.join(passage.title.split()))}) {escape(one_line)}"


def _marker(name: str) -> str:
    marker = f"[{name}]"
    if not MARKER.fullmatch(marker):
        raise CannotRender(f"the passage id {name!r} holds brackets or white space, so no text can show it")
    return escape(marker)


def _step(block: re.Match[str]) -> Step:
    kind, text, query, body = block.groups()
    if kind is None:
        documents, _, observation = body.partition("\n\n")
        found = (_DOCUMENT.match(line) for line in documents.split("\n"))
        passages = tuple(unescape(document[1]) for document in found if document)
        return Search(unescape(query), passages, unescape(observation))
    return Text(unescape(text)) if kind == "think" else InvalidAction(unescape(text))


def _final(record: Trajectory) -> str:
    """Return the final message with the answer in tags: at its first place that leaves every citation whole."""
    raw, answer = record.raw_final, record.answer
    for pieces in _divisions(raw, answer):
        cited = _cite(pieces, record.citations)
        if cited is not None:
            return cited[0] if len(cited) == 1 else f"{cited[0]}<answer>{cited[1]}</answer>{cited[2]}"
    if answer not in raw:
        raise CannotRender("the final message does not hold the answer word for word")
    raise CannotRender("the final message does not hold the citations as [id], in their order")


def _divisions(raw: str, answer: str) -> Iterator[tuple[str, ...]]:
    if not answer:
        yield (raw,)
        return
    start = raw.find(answer)
    for _ in range(_MOST_PLACES):
        if start < 0:
            return
        yield raw[:start], answer, raw[start + len(answer) :]
        start = raw.find(answer, start + 1)


def _cite(pieces: tuple[str, ...], citations: tuple[str, ...]) -> list[str] | None:
    """Return the pieces escaped, with brackets left only around the citations; None when a citation is missing."""
    waiting = list(reversed(citations))
    done: list[str] = []
    for piece in pieces:
        parts: list[str] = []
        last = 0
        for marker in MARKER.finditer(piece):
            if waiting and marker[1] == waiting[-1]:
                waiting.pop()
                parts += (_uncited(piece[last : marker.start()]), escape(marker[0]))
                last = marker.end()
        parts.append(_uncited(piece[last:]))
        done.append("".join(parts))
    return None if waiting else done


def _uncited(text: str) -> str:
    return escape(text).replace("[", "&#91;")


def _parse_final(text: str) -> tuple[str, tuple[str, ...], str]:
    tagged = _ANSWER.search(text)
    pieces = (text[: tagged.start()], tagged[1], text[tagged.end() :]) if tagged else (text, "", "")
    citations = tuple(unescape(marker) for piece in pieces for marker in MARKER.findall(piece))
    before, answer, after = map(unescape, pieces)
    return answer, citations, before + answer + after


def _read(row: Fields, place: str) -> Reading:
    if not row.has("question_id") and row.required("question") and not row.text("question").strip():
        row.note("question", "is empty, and there is no question_id", "give one of the two: it is the sampling unit")
    for name in ("steps", "answer"):
        row.required(name)
    seen: dict[tuple[str, str, str], None] = {}
    for i, entry in enumerate(row.array("passages")):
        _passage(row, f"passages[{i}]", entry, seen)
    steps = Steps(
        step for i, entry in enumerate(row.array("steps")) if (step := _read_step(row, f"steps[{i}]", entry, seen))
    )
    question = row.text("question")
    answer = row.text("answer")
    citations = row.identifiers("citations")
    built = not row.has("raw_final")
    raw_final = " ".join(filter(None, (answer, *(f"[{id_}]" for id_ in citations)))) if built else row.text("raw_final")
    record = Trajectory(
        trajectory_id=row.identifier("trajectory_id") or place,
        question_id=row.identifier("question_id") or question_id(question),
        question=question,
        steps=steps,
        answer=answer,
        citations=citations,
        raw_final=raw_final,
        gold_answers=row.texts("gold_answers", one=True),
        support_ids=frozenset(row.identifiers("support_ids")),
        model=row.identifier("model"),
        pool=row.identifier("pool"),
        sample=row.whole("sample"),
        group_id=row.identifier("group_id"),
        score=row.number("score"),
    )
    return Reading(record, tuple(seen), {"final messages built": int(built)})


def _read_step(row: Fields, name: str, entry: object, seen: dict[tuple[str, str, str], None]) -> Step | None:
    step = row.nested(name, entry)
    if step is None:
        return None
    kind = step.text("kind") or ("search" if step.has("query") else "text")
    if kind == "search":
        step.required("query")
        passages = [
            id_
            for i, value in enumerate(step.array("passages"))
            if (id_ := _passage(step, f"passages[{i}]", value, seen)) is not None
        ]
        return Search(step.text("query"), tuple(passages), step.text("observation"))
    if kind in ("text", "invalid"):
        step.required("text")
        return (Text if kind == "text" else InvalidAction)(step.text("text"))
    step.note("kind", f"is {kind!r}", "choose from: search, text, invalid")
    return None


def _passage(row: Fields, name: str, value: object, seen: dict[tuple[str, str, str], None]) -> str | None:
    """Return the id of a passage named or given whole; a whole one is noted as seen."""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, dict):
        row.note(name, "is no passage", "give an id, or an object with id, title and text")
        return None
    passage = row.nested(name, value)
    if passage is None or not passage.required("text"):
        return None
    title, text = passage.text("title"), passage.text("text")
    id_ = passage.identifier("id") or passage_id(title, text)
    seen[id_, title, text] = None
    return id_


def to_row(record: Trajectory) -> dict[str, object]:
    """Return a trajectory as a row that `TaggedJsonl.read` reads back; fields at their default are left out."""
    row: dict[str, object] = {}
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        if field.name == "steps":
            row["steps"] = [_step_row(step) for step in record.steps]
        elif field.name == "support_ids":
            row["support_ids"] = sorted(value)
        elif value is not None:
            row[field.name] = list(value) if isinstance(value, tuple) else value
    return row


def _step_row(step: Step) -> dict[str, object]:
    if isinstance(step, Search):
        row: dict[str, object] = {"kind": "search", "query": step.query, "passages": list(step.passages)}
        return row | ({"observation": step.observation} if step.observation else {})
    return {"kind": "text" if isinstance(step, Text) else "invalid", "text": step.text}
