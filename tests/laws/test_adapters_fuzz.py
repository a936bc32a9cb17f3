"""Any bytes give a reader or an InputError; what was written reads back; the order of the passes does not matter."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from counterproof.adapters import open_pool, read_questions, write_pool
from counterproof.core.errors import InputError
from counterproof.core.records import InvalidAction, Search, Steps, Text, Trajectory, build_corpus

JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["query", "text", "kind", "id", "title", "passages", "target", "sentences"]),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=6,
)
COLUMNS = [
    *(
        "question",
        "steps",
        "answer",
        "citations",
        "raw_final",
        "trajectory_id",
        "output",
        "gts",
        "input",
        "log",
        "model",
    ),
    *(
        "index",
        "reward",
        "score",
        "passages",
        "supporting_facts",
        "id",
        "text",
        "support_ids",
        "sample",
        "gold_answers",
    ),
]
ROWS = st.dictionaries(st.sampled_from(COLUMNS), JSON, max_size=8).map(lambda row: json.dumps(row).encode())
LINES = st.lists(st.one_of(ROWS, st.binary(max_size=20)), max_size=5).map(b"\n".join)
CUT = st.tuples(LINES, st.integers(0, 60)).map(lambda pair: gzip.compress(pair[0], mtime=0)[: -pair[1] or None])
CONTENT = st.one_of(
    st.binary(max_size=200), LINES, CUT, LINES.map(lambda body: b"[" + body.replace(b"\n", b",") + b"]")
)


def tried(path: Path, **options: object) -> None:
    try:
        pool = open_pool(path, **options)  # type: ignore[arg-type]
    except InputError:
        return
    assert len(list(pool.trajectories())) == pool.count > 0


@given(
    CONTENT,
    st.sampled_from(["log.jsonl", "log.json", "log.jsonl.gz"]),
    st.sampled_from([None, "jsonl", "search-r1", "fireact"]),
)
def test_any_bytes_give_a_reader_or_an_input_error(content: bytes, name: str, log_format: str | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        tried(path, format=log_format)


@given(CONTENT, CONTENT)
def test_any_bytes_in_a_pool_folder_give_a_reader_or_an_input_error(corpus: bytes, meta: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        row = {"trajectory_id": "t", "question": "Q?", "steps": [], "answer": "a", "citations": ["x"]}
        Path(folder, "trajectories.jsonl").write_text(json.dumps(row))
        Path(folder, "corpus.jsonl").write_bytes(corpus)
        tried(Path(folder))
        Path(folder, "corpus.jsonl").unlink()
        Path(folder, "pool.json").write_bytes(meta)
        tried(Path(folder))


@given(CONTENT)
def test_any_bytes_give_questions_or_an_input_error(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "questions.jsonl")
        path.write_bytes(content)
        try:
            questions = read_questions(path)
        except InputError:
            return
        assert questions.questions


WORDS = st.text(alphabet="abé [](<>)&\n", max_size=8)


@st.composite
def pools(draw: st.DrawFn) -> tuple[list[Trajectory], list[tuple[str, str, str]]]:
    triples = draw(
        st.lists(
            st.tuples(st.sampled_from(["", "p0", "p1", "c"]), WORDS, WORDS.map("x".__add__)), min_size=1, max_size=4
        )
    )
    ids = sorted(build_corpus(triples).passages)
    named = st.lists(st.sampled_from(ids), max_size=3).map(tuple)
    steps = st.lists(
        st.one_of(st.builds(Search, WORDS, named, WORDS), st.builds(Text, WORDS), st.builds(InvalidAction, WORDS)),
        max_size=3,
    ).map(Steps)
    optional = st.one_of(st.none(), st.text("ab", min_size=1, max_size=2))
    records = [
        draw(
            st.builds(
                Trajectory,
                trajectory_id=st.just(f"t{i}"),
                question_id=st.sampled_from(["q1", "q2"]),
                question=WORDS,
                steps=steps,
                answer=WORDS,
                citations=named,
                raw_final=WORDS,
                gold_answers=st.lists(WORDS, max_size=2).map(tuple),
                support_ids=st.frozensets(st.sampled_from(ids)),
                model=optional,
                pool=optional,
                sample=st.one_of(st.none(), st.integers(0, 9)),
                group_id=optional,
                score=st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)),
            )
        )
        for i in range(draw(st.integers(1, 3)))
    ]
    return records, triples


@given(pools(), st.booleans())
def test_a_written_pool_reads_back_whole_and_in_the_same_bytes(
    pool: tuple[list[Trajectory], list[tuple[str, str, str]]], complete: bool
) -> None:
    records, triples = pool
    corpus = build_corpus(triples, complete=complete)
    with tempfile.TemporaryDirectory() as folder:
        one, two = Path(folder, "a", "pool"), Path(folder, "b", "pool")
        assert write_pool(one, records, corpus, {"samples": 2}) == len(records)
        read = open_pool(one)
        assert list(read.trajectories()) == records == list(read.trajectories())
        assert read.corpus == corpus
        write_pool(two, read.trajectories(), read.corpus, {"samples": 2})
        for path in one.iterdir():
            assert path.read_bytes() == (two / path.name).read_bytes()
