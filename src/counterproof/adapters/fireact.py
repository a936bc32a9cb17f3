"""FireAct logs: ReAct lines (Thought, Action, Observation) whose observations are snippets without ids.

A snippet is a passage without a title, known by its content. There are no citations. An action line that is neither
`search[...]` nor `finish[...]` is invalid, with whatever the environment said to it. The environment's last line
("Episode finished, reward = ...") holds the reward and is no part of the completion.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass

from counterproof.adapters.fields import Fields
from counterproof.adapters.formats import Reading, same_completion
from counterproof.core.errors import CannotRender
from counterproof.core.records import (
    Corpus,
    InvalidAction,
    Search,
    Step,
    Steps,
    Text,
    Trajectory,
    passage_id,
    question_id,
)

_LINE = re.compile(r"^(Thought|Action|Observation):", re.MULTILINE)
_SEARCH = re.compile(r"search\[(.*)\]")
_FINISH = re.compile(r"finish\[(.*)\]", re.DOTALL)
_ENDED = re.compile(r"Episode finished, reward = \S*")
_ERROR = "generated an exception:"


@dataclass(frozen=True, slots=True)
class ReactText:
    """A ReAct log as parsed: steps with snippets as passages, the final message, and the snippets' text."""

    steps: Steps
    final: str
    snippets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FireAct:
    """The format `fireact`."""

    name: str = "fireact"
    expresses: frozenset[str] = frozenset({"steps", "answer", "raw_final"})
    columns: frozenset[str] = frozenset(
        {"model", "index", "question", "gold", "pred", "em", "f1", "reward", "searches", "observations", "log"}
    )
    shape: str = "fireact: model, index, question, log (Thought/Action/Observation lines), gold, reward"

    def recognises(self, columns: frozenset[str]) -> bool:
        """Whether a row has a log and a question."""
        return {"log", "question"} <= columns

    def read(self, row: Fields, place: str) -> Reading:
        """Return what a row holds."""
        return _read(row, place)

    def render(self, record: Trajectory, corpus: Corpus) -> str:
        """Return the record as ReAct lines, without the environment's closing line.

        Raises:
            CannotRender: It has citations, titles or several passages a search, the final message is not the answer
                alone, or the lines would read back as another record.
        """
        if record.citations:
            raise CannotRender("a FireAct log has no citations")
        if record.raw_final != record.answer:
            raise CannotRender("a FireAct log's final message is the answer alone")
        text = "\n".join([*_rendered(record.steps, corpus), f"Action: finish[{record.answer}]"])
        if not _is_plain(record) and not same_completion(self.parse(text, record, corpus), record):
            raise CannotRender("the lines would read back as another record: a field holds line breaks or line names")
        return text

    def parse(self, text: str, base: Trajectory, corpus: Corpus) -> Trajectory:
        """Return `base` with steps, answer and final message as the text has them."""
        del corpus  # snippets are told by their content
        read = read_react(text)
        return dataclasses.replace(base, steps=read.steps, answer=read.final, raw_final=read.final)


def read_react(log: str) -> ReactText:
    r"""Return what ReAct lines say; text before the first of them is the prompt and is left out.

    The last `finish[...]` is the final message; an earlier one did not end the episode and counts as invalid.

    >>> read = read_react("Q?\nThought: look\nAction: search[a]\nObservation: b\nAction: finish[b]")
    >>> [type(step).__name__ for step in read.steps], read.final, read.snippets
    (['Text', 'Search'], 'b', ('b',))
    """
    lines = list(_lines(log))
    ends = [i for i, (name, text) in enumerate(lines) if name == "Action" and _FINISH.fullmatch(text)]
    final = _FINISH.fullmatch(lines[ends[-1]][1]) if ends else None
    steps: list[Step] = []
    snippets: list[str] = []
    for i, (name, text) in enumerate(lines):
        if ends and i == ends[-1]:
            continue
        if name == "Observation":
            _observe(steps, text, snippets)
        elif name == "Thought":
            steps.append(Text(text))
        else:
            search = _SEARCH.fullmatch(text)
            steps.append(Search(search[1]) if search else InvalidAction(f"Action: {text}"))
    return ReactText(Steps(steps), final[1].strip() if final else "", tuple(snippets))


def _lines(log: str) -> Iterator[tuple[str, str]]:
    starts = list(_LINE.finditer(log))
    ends = [*(line.start() for line in starts[1:]), len(log)]
    for line, end in zip(starts, ends, strict=False):  # without any line, the one end belongs to the prompt
        text = log[line.end() : end].strip()
        if not (line[1] == "Observation" and _ENDED.fullmatch(text)):
            yield line[1], text


def _observe(steps: list[Step], text: str, snippets: list[str]) -> None:
    """Give an observation to the step that it answers: the last one, when it is an action without one yet."""
    last = steps[-1] if steps else None
    if isinstance(last, Search) and not last.passages and not last.observation:
        if _ERROR in text:
            steps[-1] = Search(last.query, (), text)
        elif text:
            snippets.append(text)
            steps[-1] = Search(last.query, (passage_id("", text),))
    elif isinstance(last, InvalidAction) and "\nObservation:" not in last.text:
        steps[-1] = InvalidAction(f"{last.text}\nObservation: {text}")
    else:
        steps.append(InvalidAction(f"Observation: {text}"))


def _rendered(steps: Steps, corpus: Corpus) -> Iterator[str]:
    for step in steps:
        if isinstance(step, Text):
            yield f"Thought: {step.text}"
        elif isinstance(step, InvalidAction):
            yield step.text
        else:
            yield f"Action: search[{step.query}]"
            if shown := _observation(step, corpus):
                yield f"Observation: {shown}"


def _observation(step: Search, corpus: Corpus) -> str:
    if not step.passages:
        return step.observation
    if len(step.passages) > 1 or step.observation:
        raise CannotRender("a FireAct search returns one snippet")
    name = step.passages[0]
    if name not in corpus:
        raise CannotRender(f"the text of the retrieved passage {name} is unknown")
    if corpus[name].title.strip():
        raise CannotRender("a FireAct snippet has no title")
    return corpus[name].text


def _is_plain(record: Trajectory) -> bool:
    """Whether the record reads back by construction: one stripped line a field, and no invalid action."""
    return _one_line(record.answer) and all(
        (_one_line(step.query) and not step.observation and not step.passages)
        if isinstance(step, Search)
        else isinstance(step, Text) and _one_line(step.text)
        for step in record.steps
    )


def _one_line(text: str) -> bool:
    return "\n" not in text and text == text.strip()


def _read(row: Fields, place: str) -> Reading:
    for name in ("question", "log"):
        row.required(name)
    read = read_react(row.text("log"))
    question = row.text("question")
    model, index = row.identifier("model"), row.identifier("index")
    named = "/".join(part for part in (model, index) if part is not None)
    record = Trajectory(
        trajectory_id=named if index is not None else place,
        question_id=question_id(question),
        question=question,
        steps=read.steps,
        answer=read.final,
        citations=(),
        raw_final=read.final,
        gold_answers=row.texts("gold", one=True),
        model=model,
        score=row.number("reward"),
    )
    return Reading(
        record,
        tuple(("", "", snippet) for snippet in read.snippets),
        {"invalid actions": record.steps.invalid_actions},
    )
