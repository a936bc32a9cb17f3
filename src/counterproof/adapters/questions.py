"""Reading multi-hop QA files (HotpotQA, 2WikiMultiHopQA, MuSiQue) into questions and the corpus of all of them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from counterproof.adapters.corpus import Triple, read_passage
from counterproof.adapters.fields import Fields
from counterproof.adapters.lines import ProblemList, existing, read_rows
from counterproof.core.errors import InputError, Problem
from counterproof.core.plan import Digest
from counterproof.core.records import Corpus, build_corpus, normalise_text, passage_id, question_id

SHAPES = (
    "accepted rows: id, question, answer and passages, with supports either as supporting_facts "
    "[[title, sentence index]] over passages [{id, title, sentences}] (HotpotQA, 2WikiMultiHopQA), or as "
    "is_supporting in passages [{id, title, text, is_supporting}] with answer_aliases (MuSiQue)"
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question with what answers it.

    Attributes:
        question_id: The file's id, or a hash of the normalised question.
        question: As asked.
        gold_answers: The answer, then its aliases.
        support_ids: Content ids of the passages that support the answer.
        passages: Content ids of the question's own passages, in file order, each once.
    """

    question_id: str
    question: str
    gold_answers: tuple[str, ...]
    support_ids: frozenset[str]
    passages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """The questions of a file and P, the passages of all of them, merged by content.

    Attributes:
        name: The file's name without suffixes.
        questions: In file order.
        corpus: All passages; complete.
        unsupported: Ids of the questions of which some support is not among their own passages.
        digest: SHA-256 of the file's decompressed content.
    """

    name: str
    questions: tuple[Question, ...]
    corpus: Corpus = field(repr=False)
    unsupported: tuple[str, ...]
    digest: Digest


def read_questions(path: Path) -> QuestionSet:
    """Return the questions of a multi-hop QA file, JSON lines or a JSON array, plain or gzip.

    Raises:
        InputError: Rows are bad, repeat an id, or there are none; every problem has file, line and what to do.
    """
    problems, hasher = ProblemList(), hashlib.sha256()
    questions: list[Question] = []
    triples: dict[Triple, None] = {}
    unsupported: list[str] = []
    places: dict[str, str] = {}
    for row in read_rows(existing(path, "question file"), hasher.update):
        if isinstance(row, Problem):
            problems.add(row)
            continue
        fields = Fields(row)
        question, found, whole = _question(fields)
        problems.add(*fields.problems)
        if fields.problems:
            continue
        if question.question_id in places:
            first = places[question.question_id]
            problems.add(Problem(row.where, f"repeats the id {question.question_id!r} of {first}", "make ids unique"))
        places.setdefault(question.question_id, row.where)
        questions.append(question)
        triples.update(dict.fromkeys(found))
        if not whole:
            unsupported.append(question.question_id)
    problems.raise_if_any(f"{path} cannot be used as a question file; {SHAPES}")
    if not questions:
        raise InputError(f"{path} is empty; {SHAPES}")
    return QuestionSet(
        path.name.split(".")[0],
        tuple(questions),
        build_corpus(triples),
        tuple(unsupported),
        Digest("questions", hasher.hexdigest()),
    )


def _question(row: Fields) -> tuple[Question, list[Triple], bool]:
    for name in ("question", "answer"):
        row.required(name)
    text = row.text("question")
    found: list[Triple] = []
    flagged: list[str] = []
    sentences: list[int] = []
    for i, entry in enumerate(row.array("passages") if row.required("passages") else []):
        inner = row.nested(f"passages[{i}]", entry)
        if inner is None or (passage := read_passage(inner)) is None:
            continue
        found.append(passage)
        sentences.append(len(inner.texts("sentences")) if inner.has("sentences") else 0)
        if inner.raw("is_supporting") is True:
            flagged.append(passage_id(*passage[1:]))
    if row.has("supporting_facts"):
        supports, whole = _by_title(row, found, sentences)
    else:
        supports, whole = frozenset(flagged), bool(flagged)
        if not flagged and found and not row.problems:
            row.note("supporting_facts", "is missing, and no passage has is_supporting", "give one of the two")
    question = Question(
        question_id=row.identifier("id") or question_id(text),
        question=text,
        gold_answers=tuple(dict.fromkeys((row.text("answer"), *row.texts("answer_aliases")))),
        support_ids=supports,
        passages=tuple(dict.fromkeys(passage_id(*passage[1:]) for passage in found)),
    )
    return question, found, whole


def _by_title(row: Fields, found: list[Triple], sentences: list[int]) -> tuple[frozenset[str], bool]:
    """Return the question's own passages that supporting facts name, and whether each fact names one.

    Where two passages share a title, the fact means those that have a sentence of that index.
    """
    supports: set[str] = set()
    whole = True
    for i, fact in enumerate(row.array("supporting_facts")):
        if not (isinstance(fact, list) and len(fact) == 2 and isinstance(fact[0], str) and type(fact[1]) is int):
            row.note(f"supporting_facts[{i}]", "is no [title, sentence index]", "give a title and a whole number")
            continue
        title, index = normalise_text(fact[0]), fact[1]
        named = [(p, n) for p, n in zip(found, sentences, strict=True) if normalise_text(p[1]) == title]
        holding = [p for p, n in named if index < n] or [p for p, _ in named]
        supports |= {passage_id(*passage[1:]) for passage in holding}
        whole &= bool(holding)
    return frozenset(supports), whole
