from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from counterproof.core.errors import BindingError
from counterproof.core.outcomes import NotApplicable, Scored
from counterproof.core.records import Corpus, Passage, Search, Steps, Trajectory
from counterproof.study.hosting import Recipe, VerifierSource, build, built_in, is_built_in, make_perform

CORPUS = Corpus({"p1": Passage("p1", "Rush", "A band from Toronto.")})
RECORD = Trajectory(
    "t",
    "q",
    "Where is Rush from?",
    Steps([Search("Rush band", ("p1",))]),
    "Toronto",
    ("p1",),
    "It is Toronto [p1].",
    ("Toronto",),
)


def reward_file(folder: Path, source: str, name: str = "mine") -> str:
    path = folder / f"{name}.py"
    path.write_text(source, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("spec", ["reference", "reference+L", "reference+full", "outcome", "outcome+cost", "constant"])
def test_names_of_ours_are_built_in(spec: str) -> None:
    assert is_built_in(spec)
    source, call = built_in(spec, CORPUS)
    assert (source.name, source.built_in) == (spec, True)
    assert isinstance(call(RECORD), Scored)


@pytest.mark.parametrize("spec", ["mine.py:reward", "package.module:reward", "reference.py:reference", "installed"])
def test_other_names_are_foreign(spec: str) -> None:
    assert not is_built_in(spec)


def test_a_near_miss_of_a_built_in_names_it() -> None:
    with pytest.raises(BindingError, match=r"did you mean .*'reference\+full'"):
        built_in("reference+ful", CORPUS)
    with pytest.raises(BindingError, match="did you mean 'outcome'"):
        build(Recipe("outcme", "jsonl", CORPUS))


def test_a_file_is_bound_by_parameter_name_and_shown_without_its_folder(tmp_path: Path) -> None:
    path = reward_file(tmp_path, "def reward(answer, gold_answers):\n    return answer in gold_answers\n")
    source, call = build(Recipe(f"{path}:reward", "jsonl", CORPUS))
    assert source.name == "mine.py:reward"
    assert str(tmp_path) not in source.signature
    assert "gold_answers" in source.signature
    assert source.line == 1
    outcome = call(RECORD)
    assert isinstance(outcome, Scored)
    assert (outcome.score, outcome.reads) == (1.0, frozenset({"answer", "gold_answers"}))


def test_the_digest_follows_the_file(tmp_path: Path) -> None:
    path = reward_file(tmp_path, "def reward(answer):\n    return 1.0\n")
    one, _ = build(Recipe(f"{path}:reward", "jsonl", CORPUS))
    reward_file(tmp_path, "def reward(answer):\n    return 2.0\n")
    other, _ = build(Recipe(f"{path}:reward", "jsonl", CORPUS))
    assert len(one.sha256) == 64
    assert one.sha256 != other.sha256


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("mine.py:rewrad", "did you mean 'reward'"),
        ("mien.py:reward", "did you mean 'mine.py'"),
        ("mine.py", "names a file and no function in it; give mine.py:function"),
        ("no_such_package_here.module:reward", "no module"),
        ("mine.py:CONSTANT", "cannot be called"),
    ],
)
def test_near_misses_of_a_spec_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str, said: str) -> None:
    reward_file(tmp_path, "CONSTANT = 3\n\ndef reward(answer):\n    return 1.0\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BindingError) as error:
        build(Recipe(spec, "jsonl", CORPUS))
    assert said in str(error.value)


def test_a_parameter_that_nothing_can_fill_is_refused(tmp_path: Path) -> None:
    path = reward_file(tmp_path, "def reward(anwser, weather):\n    return 1.0\n")
    with pytest.raises(BindingError, match="did you mean 'answer'"):
        build(Recipe(f"{path}:reward", "jsonl", CORPUS))


def test_an_entry_point_gives_a_reward_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reward_file(tmp_path, "def reward(answer):\n    return 0.25\n", "reward_by_entry")
    info = tmp_path / "toy_reward-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-reward\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(
        "[counterproof.rewards]\ntoy_reward = reward_by_entry:reward\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    source, call = build(Recipe("toy_reward", "jsonl", CORPUS))
    assert source.name == "reward_by_entry:reward"
    assert call(RECORD) == Scored(0.25, (), frozenset({"answer"}))
    with pytest.raises(BindingError, match="did you mean 'toy_reward'"):
        build(Recipe("toy_rewrad", "jsonl", CORPUS))


def test_a_text_reward_reads_what_the_format_renders(tmp_path: Path) -> None:
    path = reward_file(tmp_path, "def reward(completion):\n    return completion.count('[p1]')\n")
    _, call = build(Recipe(f"{path}:reward", "jsonl", CORPUS))
    outcome = call(RECORD)
    assert isinstance(outcome, Scored)
    assert outcome.score == 2.0  # the passage that the search returned, and the citation


def test_a_record_that_no_text_can_show_is_not_applicable_and_never_scored(tmp_path: Path) -> None:
    path = reward_file(tmp_path, "def reward(completion):\n    return 1.0\n")
    _, call = build(Recipe(f"{path}:reward", "jsonl", CORPUS))
    unmarked = replace(RECORD, citations=("p1", "p2"))  # p2 stands nowhere in the final message
    spaced = replace(RECORD, citations=("a b",), raw_final="It is Toronto [a b].")
    for record in (unmarked, spaced):
        assert isinstance(call(record), NotApplicable)
    _, search_r1 = build(Recipe(f"{path}:reward", "search-r1", CORPUS))
    assert isinstance(search_r1(RECORD), NotApplicable)  # that format has no citations


def test_a_worker_greets_with_what_was_bound(tmp_path: Path) -> None:
    path = reward_file(tmp_path, "def reward(answer):\n    return 0.5\n")
    recipe = Recipe(f"{path}:reward", "jsonl", CORPUS)
    perform = make_perform(pickle.dumps(recipe))
    source, _ = build(recipe)
    assert VerifierSource(**json.loads(perform.greeting)) == source  # type: ignore[attr-defined]
    assert perform("verifier", RECORD) == Scored(0.5, (), frozenset({"answer"}))


def test_a_partial_of_compiled_code_has_a_digest_too(tmp_path: Path) -> None:
    path = reward_file(tmp_path, "import operator\nfrom functools import partial\n\nreward = partial(operator.truth)\n")
    source, _ = build(Recipe(f"{path}:reward", "jsonl", CORPUS))
    bare, _ = build(Recipe("operator:truth", "jsonl", CORPUS))
    assert len(source.sha256) == len(bare.sha256) == 64
    assert source.sha256 != bare.sha256
