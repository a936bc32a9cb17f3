import json
import re
from pathlib import Path

import pytest

from counterproof.adapters import open_pool, read_questions
from counterproof.core.errors import InputError
from counterproof.core.records import Trajectory
from counterproof.study.pools import AgentConfig, build_pool, fact_world, make_pool

MARKER = re.compile(r"\[([^\[\]\s]+)\]")
QA = {
    "hotpotqa": ("retrieval_qa/hotpotqa/dev200.jsonl.gz", 200, 5, {2}),
    "2wikimultihopqa": ("retrieval_qa/2wikimultihopqa/dev164.jsonl.gz", 164, 5, {2, 4}),
    "musique": ("retrieval_qa/musique/dev200.jsonl.gz", 200, 8, {2, 3, 4}),
}


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_fact_world_pool_reads_back_as_the_agent_made_it(tmp_path: Path) -> None:
    summary = build_pool(None, tmp_path / "pool", samples=3, seed=5, limit=20)
    reader = open_pool(tmp_path / "pool")
    questions, corpus = fact_world(5, 20)
    expected = list(make_pool(questions, corpus, AgentConfig(), seed=5, samples=3, pool="pool"))
    assert list(reader.trajectories()) == expected
    assert reader.corpus.digest() == corpus.digest()
    assert (summary.trajectories, summary.questions, summary.passages) == (60, 20, len(corpus))
    assert reader.lacks == ()


def test_pool_json_holds_counts_of_the_rows_that_were_written(tmp_path: Path) -> None:
    summary = build_pool(None, tmp_path / "pool", samples=2, limit=10)
    meta = json.loads((tmp_path / "pool" / "pool.json").read_text(encoding="utf-8"))
    assert meta["counts"]["trajectories"] == 20
    assert sum(meta["counts"]["searches"].values()) == 20
    assert meta["counts"] == summary.meta["counts"]
    assert meta["source"] == {"name": "fact world", "seed": 0}


def test_same_arguments_write_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "other"):
        build_pool(None, tmp_path / name / "pool", samples=2, seed=3, limit=10)
    assert content(tmp_path / "one" / "pool") == content(tmp_path / "other" / "pool")


def test_limit_takes_the_first_questions_and_keeps_the_corpus(tmp_path: Path) -> None:
    rows = [
        {
            "id": f"q{i}",
            "question": f"Where does Smith{i} live?",
            "answer": f"Town{i}",
            "passages": [{"id": "p0", "title": f"Smith{i}", "text": f"Lives in Town{i}.", "is_supporting": True}],
        }
        for i in range(4)
    ]
    questions = tmp_path / "qa.jsonl"
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    summary = build_pool(questions, tmp_path / "pool", samples=1, limit=2)
    assert (summary.questions, summary.trajectories, summary.passages) == (2, 2, 4)
    assert summary.meta["source"]["name"] == "qa"
    assert [row.question_id for row in open_pool(tmp_path / "pool").trajectories()] == ["q0", "q1"]


def test_folder_in_use_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "pool").mkdir()
    (tmp_path / "pool" / "mine").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match="not empty"):
        build_pool(None, tmp_path / "pool", limit=2)
    assert [path.name for path in (tmp_path / "pool").iterdir()] == ["mine"]


@pytest.mark.parametrize(("limit", "samples", "depth"), [(0, 8, 5), (3, 0, 5), (3, 8, 0)])
def test_numbers_below_one_are_refused_before_anything_is_written(
    tmp_path: Path, limit: int, samples: int, depth: int
) -> None:
    with pytest.raises(InputError, match="at least"):
        build_pool(None, tmp_path / "pool", samples=samples, depth=depth, limit=limit)
    assert not (tmp_path / "pool").exists()


def share(rows: list[Trajectory], events: int) -> float:
    return events / len(rows)


@pytest.mark.shared_data
@pytest.mark.parametrize("name", QA)
def test_pool_over_real_questions_is_sane(name: str, shared_data: Path, tmp_path: Path) -> None:
    file, count, depth, supports = QA[name]
    if not (shared_data / file).is_file():
        pytest.skip(f"real data needed: {shared_data / file} is missing")
    summary = build_pool(shared_data / file, tmp_path / name, samples=8, depth=depth, seed=1)
    reader = open_pool(tmp_path / name)
    rows = list(reader.trajectories())
    assert (summary.questions, len(rows)) == (count, 8 * count)
    assert {len(row.support_ids) for row in rows} - {1} == supports
    assert {len(row.steps.searches) for row in rows} == {0, 1, 2, 3, 4, 5}
    assert {len(row.cited) for row in rows if row.citations} == {1, 2, 3, 4}
    assert all(tuple(MARKER.findall(row.raw_final)) == row.citations for row in rows)
    # Planted at .015 and .02 of the trajectories that cite; four standard deviations of 1,200 rows are .014 and .016.
    citing = [row for row in rows if row.citations]
    assert share(citing, sum(any(c not in reader.corpus for c in row.citations) for row in citing)) < 0.03
    foreign = [row for row in citing if any(c in reader.corpus and c not in row.retrieved for c in row.citations)]
    assert 0.004 < share(citing, len(foreign)) < 0.036
    # Citations aim at evidence without reading labels: at least half of the citing trajectories cite a support.
    assert share(citing, sum(bool(row.cited & row.support_ids) for row in citing)) > 0.5
    again = read_questions(shared_data / file)
    first = make_pool(again.questions[:5], again.corpus, seed=1, samples=8, depth=depth, pool=name)
    assert list(first) == rows[:40]
