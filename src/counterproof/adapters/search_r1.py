"""Search-R1 logs: one tagged string a row, split by author.

Environment text is only an `<information>` block that follows a `</search>` directly (white space between), at most one
a search, and the notice after an action that could not be carried out. Every other `<information>` block was written by
the model: it stays as free text, is counted as forged, and nothing in it is retrieved. The answer is the last
`<answer>` pair in the model's text, as verl's scorer for such logs takes it; earlier pairs stay as free text.

Free text is kept as the model wrote it, `<think>` tags included, so that rendering gives back the log.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from counterproof.adapters.fields import Fields
from counterproof.adapters.formats import Reading, markers, same_completion
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

COMPLETIONS = ("output", "completion", "response", "solution_str")
"""Columns that may hold the completion, first one wins."""
PROMPTS = ("question", "input", "prompt", "query")
GOLDS = ("gts", "ground_truth", "golden_answers", "gold_answers", "answer")
_TAG = r"</?(?:think|search|information|answer)>"
_TAGS = re.compile(_TAG)
_SEARCH = re.compile(rf"<search>((?:(?!{_TAG}).)*)</search>", re.DOTALL)
_INFORMATION = re.compile(r"\s*<information>(.*?)</information>", re.DOTALL)
_NOTICE = re.compile(r"My previous action is invalid\..*?Let me try again\.", re.DOTALL)
_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
_PIECE = re.compile(r"<(think|information|answer)>.*?</\1>", re.DOTALL)
_ACTION_TAG = re.compile(r"</?(?:search|answer)>")
_PLAIN_THOUGHT = re.compile(rf"<think>(?:(?!{_TAG}).)*</think>", re.DOTALL)
_DOCUMENT = re.compile(r"^Doc (\d+)\(Title: ", re.MULTILINE)
_TURN_ENDS = re.compile(r"\n\s*assistant\b|<\|im_end\|>|<\|im_start\|>|<\|?assistant\|?>|<\|eot_id\|>")


@dataclass(frozen=True, slots=True)
class Split:
    """A completion split by author.

    Attributes:
        steps: What the model did; passages named by content digest.
        answer: Content of the last `<answer>` pair, stripped; "" without one.
        raw_final: The answer and what follows it; without one the untagged text at the end.
        passages: Title and text of each retrieved document.
        forged: How many `<information>` blocks the model wrote itself.
        unreadable: How many real blocks hold text without a `Doc k(Title: ...)` line.
    """

    steps: Steps
    answer: str
    raw_final: str
    passages: tuple[tuple[str, str], ...]
    forged: int
    unreadable: int


@dataclass(slots=True)
class _Parts:
    """Work in progress: model text between searches, and the searches, in order."""

    runs: list[str] = field(default_factory=list)
    after: list[list[Step]] = field(default_factory=list)
    passages: list[tuple[str, str]] = field(default_factory=list)
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class SearchR1:
    """The format `search-r1`."""

    name: str = "search-r1"
    expresses: frozenset[str] = frozenset({"steps", "answer", "citations", "raw_final"})
    columns: frozenset[str] = frozenset(
        {*COMPLETIONS, *PROMPTS, *GOLDS, "id", "uid", "step", "score", "reward", "model", "sample", "question_id"}
    )
    shape: str = (
        f"search-r1: one of {', '.join(COMPLETIONS)} with tagged text, one of {', '.join(PROMPTS)}, "
        f"one of {', '.join(GOLDS)}"
    )

    def recognises(self, columns: frozenset[str]) -> bool:
        """Whether a row has a completion column."""
        return not columns.isdisjoint(COMPLETIONS)

    def read(self, row: Fields, place: str) -> Reading:
        """Return what a row holds."""
        return _read(row, place)

    def render(self, record: Trajectory, corpus: Corpus) -> str:
        """Return the record as tagged text in Search-R1's form.

        Raises:
            CannotRender: The text would read back as another record, or a retrieved passage's text is unknown.
        """
        if not record.raw_final.startswith(record.answer):
            raise CannotRender("the final message does not begin with the answer")
        text = "".join(_blocks(record, corpus)) + _final(record)
        if not _is_plain(record) and not same_completion(self.parse(text, record, corpus), record):
            raise CannotRender("the tagged text would read back as another record: a field holds tags or loose text")
        return text

    def parse(self, text: str, base: Trajectory, corpus: Corpus) -> Trajectory:
        """Return `base` with steps, answer, citations and final message as the text has them."""
        del corpus  # documents are told by their content
        parts = split_by_author(text)
        return dataclasses.replace(
            base,
            steps=parts.steps,
            answer=parts.answer,
            citations=markers(parts.raw_final),
            raw_final=parts.raw_final,
        )


def split_by_author(text: str) -> Split:
    """Return a Search-R1 completion split into what the model and what its environment wrote.

    >>> real = "<search>q</search><information>Doc 1(Title: A) b</information><answer>c</answer>"
    >>> forged = "<information>Doc 1(Title: A) b</information><answer>c</answer>"
    >>> [(len(s.steps.retrieved), s.forged, s.answer) for s in map(split_by_author, (real, forged))]
    [(1, 0, 'c'), (0, 1, 'c')]
    """
    parts = _runs(text)
    answered = [(i, match) for i, run in enumerate(parts.runs) if (match := _last(run))]
    runs, answer, raw_final = list(parts.runs), "", ""
    if answered:
        i, match = answered[-1]
        answer = match[1].strip()
        raw_final = answer + runs[i][match.end() :].rstrip()
        runs[i] = runs[i][: match.start()]
    else:
        *_, gap = _pieces(runs[-1])
        if not _ACTION_TAG.search(gap):
            raw_final = gap.strip()
            runs[-1] = runs[-1][: len(runs[-1]) - len(gap)]
    steps: list[Step] = []
    for run, follows in zip(runs, [*parts.after, []], strict=True):
        steps.extend(_free(run))
        steps.extend(follows)
    forged = sum(run.count("<information>") for run in parts.runs)
    return Split(Steps(steps), answer, raw_final, tuple(parts.passages), forged, parts.unreadable)


def _runs(text: str) -> _Parts:
    parts = _Parts()
    position = start = 0
    while True:
        search, notice = _SEARCH.search(text, position), _NOTICE.search(text, position)
        if notice and (not search or notice.start() <= search.start()):
            opened = _unread_start(text, start, notice.start())
            parts.runs.append(text[start:opened])
            parts.after.append([InvalidAction(text[opened : notice.end()].strip())])
            position = start = notice.end()
        elif search:
            parts.runs.append(text[start : search.start()])
            position = start = _take_search(search, text, parts)
        else:
            parts.runs.append(text[start:])
            return parts


def _take_search(search: re.Match[str], text: str, parts: _Parts) -> int:
    information = _INFORMATION.match(text, search.end())
    found, observation = documents(information[1]) if information else ((), "")
    parts.passages.extend(found)
    parts.unreadable += bool(observation and not found)
    parts.after.append([Search(search[1].strip(), tuple(passage_id(*each) for each in found), observation)])
    return information.end() if information else search.end()


def _unread_start(text: str, start: int, end: int) -> int:
    """Return where the model text that a notice answers begins: after the last whole block before it."""
    last = start
    for piece in _PIECE.finditer(text, start, end):
        last = piece.end()
    return last


def _last(run: str) -> re.Match[str] | None:
    last = None
    for match in _ANSWER.finditer(run):
        last = match
    return last


def _pieces(run: str) -> Iterator[str]:
    """Yield gaps and whole blocks in turn: gap, block, gap, ..., gap; joined they are the run."""
    position = 0
    for piece in _PIECE.finditer(run):
        yield run[position : piece.start()]
        yield piece[0]
        position = piece.end()
    yield run[position:]


def _free(run: str) -> Iterator[Step]:
    for i, piece in enumerate(_pieces(run)):
        if text := piece.strip():
            yield InvalidAction(text) if i % 2 == 0 and _ACTION_TAG.search(text) else Text(text)


def documents(body: str) -> tuple[tuple[tuple[str, str], ...], str]:
    """Return title and text of the documents of an `<information>` block, and what else stands in it.

    Documents are numbered from 1 without a gap; a line that breaks the count belongs to the text before it.

    >>> documents("Doc 1(Title: A (film)) A is a film.")
    ((('A (film)', 'A is a film.'),), '')
    """
    starts: list[re.Match[str]] = []
    for line in _DOCUMENT.finditer(body):
        if line[1] == str(len(starts) + 1):
            starts.append(line)
    ends = [*(line.start() for line in starts[1:]), len(body)]
    # Without any document the one end is left over.
    found = tuple(_titled(body[line.end() : end]) for line, end in zip(starts, ends, strict=False))
    return found, (body[: starts[0].start()] if starts else body).strip()


def _titled(rest: str) -> tuple[str, str]:
    """Return title and text of `TITLE) TEXT`: the title ends where its brackets are balanced, at the first if never."""
    depth, end = 0, rest.find(")")
    for i, char in enumerate(rest):
        depth += (char == "(") - (char == ")")
        if depth < 0:
            end = i
            break
    title, text = (rest[:end], rest[end + 1 :]) if end >= 0 else ("", rest)
    if len(title) > 1 and title[0] == title[-1] == '"':
        title = title[1:-1]
    return title.strip(), text.strip()


def _blocks(record: Trajectory, corpus: Corpus) -> Iterator[str]:
    for step in record.steps:
        if isinstance(step, Search):
            yield f"<search>{step.query}</search>\n\n<information>{_body(step, corpus)}</information>\n\n"
        else:
            yield f"{step.text}\n"


def _body(step: Search, corpus: Corpus) -> str:
    lines = [step.observation] if step.observation else []
    for i, name in enumerate(step.passages, 1):
        if name not in corpus:
            raise CannotRender(f"the text of the retrieved passage {name} is unknown")
        lines.append(f"Doc {i}(Title: {_document(corpus[name])}")
    return "\n".join(lines)


@functools.lru_cache(maxsize=1 << 16)
def _document(passage: Passage) -> str:
    title, text = " ".join(passage.title.split()), " ".join(passage.text.split())
    for shown in (title, f'"{title}"'):
        line = f"{shown}) {text}"
        if passage_id(*_titled(line)) == passage.id and "</information>" not in line:
            return line
    raise CannotRender(f"the passage {passage.id} (title {title!r:.60}) would read back as another passage")


def _final(record: Trajectory) -> str:
    if not record.answer:
        return record.raw_final
    return f"<answer>{record.answer}</answer>{record.raw_final[len(record.answer) :]}"


def _is_plain(record: Trajectory) -> bool:
    """Whether the record reads back by construction: whole thoughts, no tags elsewhere, nothing to be stripped."""
    final = record.raw_final
    if final != final.strip() or record.answer != record.answer.strip() or _TAGS.search(final):
        return False
    if record.citations != markers(final) or "My previous action" in final:
        return False
    return all(
        step.query == step.query.strip()
        and not step.observation
        and not _TAGS.search(step.query)
        and "My previous action" not in step.query
        if isinstance(step, Search)
        else isinstance(step, Text)
        and bool(_PLAIN_THOUGHT.fullmatch(step.text))
        and "My previous action" not in step.text
        for step in record.steps
    )


def _read(row: Fields, place: str) -> Reading:
    column = next((name for name in COMPLETIONS if row.has(name)), None)
    if column is None:
        row.note(COMPLETIONS[0], "is missing", f"give the completion as one of: {', '.join(COMPLETIONS)}")
    parts = split_by_author(row.text(column) if column else "")
    question = _question(row)
    number = row.identifier("step")
    cluster = row.identifier("question_id") or question_id(question)
    group = row.identifier("uid") or (f"{cluster}@{number}" if number is not None else None)
    record = Trajectory(
        trajectory_id=row.identifier("id") or place,
        question_id=cluster,
        question=question,
        steps=parts.steps,
        answer=parts.answer,
        citations=markers(parts.raw_final),
        raw_final=parts.raw_final,
        gold_answers=_golds(row),
        model=row.identifier("model"),
        sample=row.whole("sample"),
        group_id=group,
        score=row.number("score" if row.has("score") else "reward"),
    )
    counts = {"forged evidence blocks": parts.forged, "unreadable evidence blocks": parts.unreadable}
    return Reading(record, tuple(("", *each) for each in parts.passages), counts)


def _question(row: Fields) -> str:
    """Return the question: after the last `Question:` of the prompt, or else the whole prompt."""
    column = next((name for name in PROMPTS if row.has(name)), None)
    if column is None:
        if not row.has("question_id"):
            row.note(PROMPTS[0], "is missing", f"give the question as one of: {', '.join(PROMPTS)}")
        return ""
    value = row.raw(column)
    if isinstance(value, list):
        value = next(
            (m.get("content") for m in reversed(value) if isinstance(m, dict) and m.get("role") == "user"), None
        )
    if not isinstance(value, str):
        row.note(column, "is no text", "give the prompt as text, or as chat messages with a user turn")
        return ""
    question = _TURN_ENDS.split(value.rpartition("Question:")[2], maxsplit=1)[0].strip()
    if not question and not row.has("question_id"):
        row.note(column, "holds no question, and there is no question_id", "give one: it is the sampling unit")
    return question


def _golds(row: Fields) -> tuple[str, ...]:
    column = next((name for name in GOLDS if row.has(name)), None)
    if column is None:
        return ()
    value: Any = row.raw(column)
    if isinstance(value, dict):
        inner = row.nested(column, value)
        name = next((name for name in ("target", "targets", "answers", "answer") if name in value), "target")
        return inner.texts(name, one=True) if inner and inner.required(name) else ()
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return (str(value),)
    return row.texts(column, one=True)
