"""Reading a pool: a log of any known format, its corpus, what it can say and what it lacks."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from counterproof.adapters.corpus import AmbiguousId, Names, Triple, names_of, read_corpus, translate
from counterproof.adapters.fields import Fields
from counterproof.adapters.fireact import FireAct
from counterproof.adapters.formats import Format, LogFormat, Reading
from counterproof.adapters.lines import ProblemList, Row, existing, read_rows
from counterproof.adapters.search_r1 import SearchR1
from counterproof.adapters.tagged import TaggedJsonl
from counterproof.adapters.traits import lacks_of
from counterproof.core.analysis import Lack
from counterproof.core.errors import InputError, Problem, nearest
from counterproof.core.plan import Digest
from counterproof.core.records import Corpus, Passage, Trajectory, build_corpus, passage_id

FORMATS: Mapping[str, LogFormat] = {entry.name: entry for entry in (TaggedJsonl(), SearchR1(), FireAct())}
"""The known log formats by name, in the order in which a log is tried against them."""
_DUPLICATES_NAMED = 10
_SUFFIXES = (".jsonl", ".jsonl.gz", ".json", ".json.gz")


@dataclass(frozen=True, slots=True)
class _Source:
    """Where a pool comes from: files of one format, and what its `pool.json` says."""

    name: str
    files: tuple[Path, ...]
    log_format: LogFormat
    corpus: Path | None
    complete: bool


@dataclass(frozen=True, slots=True)
class PoolReader:
    """A pool that has been read through once and found sound. Made by `open_pool`.

    Attributes:
        name: From `pool.json`, or the name of the file or folder.
        format: The log's native completion text.
        corpus: P: the corpus given and every passage seen; `complete` is False when none was given.
        count: Number of trajectories.
        questions: Number of questions, the sampling units.
        lacks: What the log does not hold, what that makes not applicable, and what to log.
        notes: What else the reader should know: forged evidence, columns not read, citations of unknown passages.
        traits: What the log can say at all, out of `corpus`, `passages` (which were retrieved), `passage_texts`,
            `citations`, `gold_answers`, `support_ids` and `answers`.
        digests: SHA-256 of the decompressed content of the log and of its corpus.
    """

    name: str
    format: Format
    corpus: Corpus = field(repr=False)
    count: int
    questions: int
    lacks: tuple[Lack, ...]
    notes: tuple[str, ...]
    traits: frozenset[str]
    digests: tuple[Digest, ...]
    _source: _Source = field(repr=False)
    _names: Names = field(repr=False)

    def trajectories(self) -> Iterator[Trajectory]:
        """Yield all trajectories from the start, holding one row at a time; may be called again.

        Raises:
            InputError: The log has changed since it was opened.
        """
        hasher = hashlib.sha256()
        for row, reading in _readings(self._source, hasher, ProblemList()):
            try:
                yield translate(reading.record, _own(reading), self._names, self.corpus)
            except AmbiguousId as reason:
                raise InputError(f"{row.where}: {reason}") from None
        if hasher.hexdigest() != self.digests[0].sha256:
            raise InputError(f"{self.name} has changed since it was opened; open it again")


def open_pool(path: Path, *, corpus: Path | None = None, format: str | None = None) -> PoolReader:  # noqa: A002
    """Return a reader of a pool after one pass over it that checks every row.

    Args:
        path: A pool folder (`trajectories.jsonl`, `corpus.jsonl`, `pool.json`), a folder of log files of one format,
            or one file; gzip is recognised.
        corpus: All that the agent could search: JSON lines with id, title, and text or sentences, or a QA file.
        format: `jsonl`, `search-r1` or `fireact`; told from the first row's columns when None.

    Raises:
        InputError: Nothing is there, or rows are bad; every problem has file, line and what to do.
    """
    source = _locate(Path(path), corpus, format)
    triples, scoped, digests = _given_corpus(source)
    given = len({passage_id(*triple[1:]) for triple in triples})
    survey = _survey(source, triples)
    whole = build_corpus(triples, complete=source.corpus is not None and source.complete)
    whole = _with_bare_ids(whole, survey.bare_ids) if not whole.complete else whole
    names = names_of(whole, scoped)
    _translate_all(source, names, whole, survey)
    if source.corpus is not None and survey.triples_seen and len(whole) > given:
        survey.notes.append(f"{len(whole) - given} passages that searches returned are not in the corpus given; added")
    if whole.complete:
        survey.traits.add("corpus")
    if any(passage.text for passage in whole.passages.values()):
        survey.traits.add("passage_texts")
    return PoolReader(
        name=source.name,
        format=source.log_format,
        corpus=whole,
        count=survey.count,
        questions=len(survey.questions),
        lacks=lacks_of(frozenset(survey.traits)),
        notes=tuple(survey.all_notes(whole)),
        traits=frozenset(survey.traits),
        digests=(Digest("trajectories", survey.sha256), *digests),
        _source=source,
        _names=names,
    )


@dataclass(slots=True)
class _Survey:
    """What the passes over a log add up; memory grows with ids as 8 bytes each, questions and passages."""

    count: int = 0
    ids: set[int] = field(default_factory=set)
    repeated: Counter[str] = field(default_factory=Counter)
    questions: set[int] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    unread: set[str] = field(default_factory=set)
    traits: set[str] = field(default_factory=set)
    bare_ids: dict[str, None] = field(default_factory=dict)
    triples_seen: int = 0
    citations: int = 0
    unknown: int = 0
    notes: list[str] = field(default_factory=list)
    sha256: str = ""

    def take(self, row: Row, reading: Reading, known: frozenset[str]) -> None:
        """Add one row."""
        record = reading.record
        self.count += 1
        key = _short(record.trajectory_id)
        if key in self.ids:
            self.repeated[record.trajectory_id] += 1
        self.ids.add(key)
        self.questions.add(_short(record.question_id))
        self.counts.update(reading.counts)
        self.unread |= row.values.keys() - known
        self.triples_seen += len(reading.passages)
        for name in ("citations", "gold_answers", "support_ids"):
            if getattr(record, name):
                self.traits.add(name)
        if record.answer:
            self.traits.add("answers")

    def all_notes(self, corpus: Corpus) -> Iterator[str]:
        """Yield the notes in words."""
        yield from self.notes
        if forged := self.counts["forged evidence blocks"]:
            yield f"{forged} <information> blocks were written by the model itself: forged, kept as text, not retrieved"
        if unreadable := self.counts["unreadable evidence blocks"]:
            yield f"{unreadable} <information> blocks hold no 'Doc 1(Title: ...)' line: their passages are not known"
        if invalid := self.counts["invalid actions"]:
            yield f"{invalid} actions are invalid: neither search[...] nor finish[...] on one line, or refused"
        if built := self.counts["final messages built"]:
            yield f"{built} rows have no raw_final: it was built as the answer followed by its citations as [id]"
        if self.unread:
            yield f"columns that were not read: {', '.join(sorted(self.unread))}"
        if self.citations and corpus.complete and 2 * self.unknown > self.citations:
            yield f"{self.unknown} of {self.citations} citations name no passage of the corpus: is it the right corpus?"


def _short(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def _locate(path: Path, corpus: Path | None, name: str | None) -> _Source:
    if name is not None and name not in FORMATS:
        raise InputError(f"there is no log format '{name}'; {nearest(name, FORMATS)}")
    existing(path, "log")
    if path.is_dir():
        files, own_corpus, meta = _folder(path)
    else:
        files, own_corpus, meta = (path,), None, {}
    chosen = corpus or own_corpus
    label = meta.get("name", path.name if path.is_dir() else re.sub(r"(\.jsonl?)?(\.gz)?$", "", path.name))
    log_format = FORMATS[name] if name else FORMATS["jsonl"] if meta else _sniff(files)
    complete = bool(meta.get("complete", True)) if corpus is None else True
    return _Source(str(label), files, log_format, chosen, complete)


def _folder(path: Path) -> tuple[tuple[Path, ...], Path | None, dict[str, Any]]:
    try:
        entries = {entry.name: entry for entry in path.iterdir()}
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    pool = [entries[name] for name in ("trajectories.jsonl", "trajectories.jsonl.gz") if name in entries]
    if len(pool) > 1:
        raise InputError(f"{path} holds both trajectories.jsonl and trajectories.jsonl.gz; keep one of them")
    if pool:
        found = next((entries[name] for name in ("corpus.jsonl", "corpus.jsonl.gz") if name in entries), None)
        return tuple(pool), found, _meta(entries.get("pool.json"))
    logs = sorted((name for name in entries if name.endswith((".jsonl", ".jsonl.gz"))), key=_natural)
    logs = [name for name in logs if not name.startswith("corpus.jsonl")]
    if not logs:
        raise InputError(
            f"{path} holds no trajectories: no trajectories.jsonl[.gz] and no other .jsonl[.gz] log "
            f"(it holds {', '.join(sorted(entries)[:10]) or 'nothing'})"
        )
    return tuple(entries[name] for name in logs), None, {}


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isascii() and part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def _meta(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    rows = list(read_rows(path))
    if len(rows) != 1 or not isinstance(rows[0], Row):
        problem = [row for row in rows if isinstance(row, Problem)][:1]
        raise InputError(f"{path} must hold one JSON object; write the pool again", problem)
    return dict(rows[0].values)


def _sniff(files: tuple[Path, ...]) -> LogFormat:
    problems = ProblemList()
    for path in files:
        for row in read_rows(path):
            if isinstance(row, Row):
                columns = frozenset(row.values)
                found = next((entry for entry in FORMATS.values() if entry.recognises(columns)), None)
                if found:
                    return found
                shapes = [Problem(entry.name, f"needs {entry.shape}") for entry in FORMATS.values()]
                raise InputError(
                    f"{row.where} has the columns {', '.join(sorted(columns)) or '(none)'}, which no known log format "
                    "has; rename them or convert the log to one of these",
                    shapes,
                )
            problems.add(row)
    problems.raise_if_any(f"no row of {files[0].name} can be read")
    raise InputError(f"{', '.join(path.name for path in files[:3])} is empty: no trajectory to audit")


def _readings(source: _Source, hasher: Any, problems: ProblemList) -> Iterator[tuple[Row, Reading]]:
    """Yield the sound rows; the problems of the others go into `problems`."""
    number = 0
    for path in source.files:
        for row in read_rows(path, hasher.update):
            number += 1
            if isinstance(row, Problem):
                problems.add(row)
                continue
            fields = Fields(row)
            reading = source.log_format.read(fields, f"row-{number:06d}")
            if fields.problems:
                problems.add(*fields.problems)
            else:
                yield row, reading


def _own(reading: Reading) -> dict[str, str]:
    return {source_id: passage_id(title, text) for source_id, title, text in reading.passages if source_id}


def _given_corpus(source: _Source) -> tuple[dict[Triple, None], dict[str, dict[str, str]], tuple[Digest, ...]]:
    if source.corpus is None:
        return {}, {}, ()
    hasher = hashlib.sha256()
    corpus, scoped = read_corpus(source.corpus, hasher.update)
    triples = {
        (alias, passage.title, passage.text): None
        for passage in corpus.passages.values()
        for alias in passage.aliases or ("",)
    }
    return triples, scoped, (Digest("corpus", hasher.hexdigest()),)


def _survey(source: _Source, triples: dict[Triple, None]) -> _Survey:
    """Pass over the log once: check every row, and collect the passages seen into `triples`."""
    survey, problems, hasher = _Survey(), ProblemList(), hashlib.sha256()
    for row, reading in _readings(source, hasher, problems):
        survey.take(row, reading, source.log_format.columns)
        triples.update(dict.fromkeys(reading.passages))
        if not (source.corpus and source.complete):
            survey.bare_ids.update(dict.fromkeys(sorted(reading.record.retrieved - {t[0] for t in reading.passages})))
    problems.raise_if_any(
        f"{source.name} cannot be used as a {source.log_format.name} log; it needs {source.log_format.shape}"
    )
    if not survey.count:
        raise InputError(f"{source.name} is empty: no trajectory to audit")
    if survey.repeated:
        _raise_duplicates(source, survey.repeated)
    survey.sha256 = hasher.hexdigest()
    return survey


def _raise_duplicates(source: _Source, repeated: Counter[str]) -> None:
    wanted = set(list(repeated)[:_DUPLICATES_NAMED])
    rows: dict[str, list[str]] = {}
    for row, reading in _readings(source, hashlib.sha256(), ProblemList()):
        name = reading.record.trajectory_id
        if name in wanted:
            rows.setdefault(name, []).append(row.where)
    problems = [
        Problem(f"trajectory {name!r}", f"stands in {', '.join(places[:5])}", "give each trajectory its own id")
        for name, places in rows.items()
    ]
    raise InputError(f"{source.name} holds the same trajectory id more than once", problems, len(repeated))


def _with_bare_ids(corpus: Corpus, names: Mapping[str, None]) -> Corpus:
    """Return the corpus with the ids that a log names without text, so that what was retrieved is at least known."""
    aliases = {alias for passage in corpus.passages.values() for alias in passage.aliases}
    bare = {name: Passage(name, "", "") for name in names if name not in corpus and name not in aliases}
    return Corpus({**corpus.passages, **bare}, complete=False)


def _translate_all(source: _Source, names: Names, corpus: Corpus, survey: _Survey) -> None:
    """Pass over the log again with all names known: ambiguous ones are problems, unknown citations are counted."""
    problems = ProblemList()
    for row, reading in _readings(source, hashlib.sha256(), ProblemList()):
        try:
            record = translate(reading.record, _own(reading), names, corpus)
        except AmbiguousId as reason:
            problems.add(
                Problem(row.where, str(reason), "give the corpus rows a question_id, or the passages in the row")
            )
            continue
        survey.citations += len(record.citations)
        survey.unknown += sum(name not in corpus for name in record.citations)
        if any(name in corpus for name in record.retrieved):
            survey.traits.add("passages")
    problems.raise_if_any(f"{source.name} names passages that cannot be told apart")
