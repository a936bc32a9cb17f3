"""inspect logs without inspect: scorers are channels, epochs repeated calls, unscored values failures."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from counterproof.adapters import is_inspect_log, read_inspect
from counterproof.core.errors import InputError
from counterproof.panel.table import FailureKind

NAN = float("nan")


def sample(name: str, scores: dict[str, Any] | None, epoch: int = 1, **more: Any) -> dict[str, Any]:
    held = None if scores is None else {k: v if isinstance(v, dict) else {"value": v} for k, v in scores.items()}
    return {"id": name, "epoch": epoch, "scores": held, **more}


def log(tmp_path: Path, *samples: Any, name: str = "log.json") -> Path:
    path = tmp_path / name
    path.write_text(json.dumps({"version": 2, "status": "success", "eval": {}, "samples": samples}))
    return path


def test_values_are_verdicts_and_unscored_ones_failures(tmp_path: Path) -> None:
    values: list[Any] = ["C", "I", "N", True, 0.0, 1, "yes", None, {"value": NAN, "reason": "grader_failed"}]
    read = read_inspect(log(tmp_path, *(sample(f"s{i}", {"judge": v}) for i, v in enumerate(values))))
    assert read.table.classes == ("incorrect", "correct")
    assert read.table.symbols[:, 0].tolist() == [1, 0, 0, 1, 0, 1, 1, 2, 2]
    assert read.table.kinds[7:, 0].tolist() == [FailureKind.UNSTATED, FailureKind.MALFORMED]
    assert "unscored: 1 grader_failed, 1 no reason given" in read.notes
    assert any(note.startswith("1 scores are N") for note in read.notes)


def test_partial_values_need_a_threshold(tmp_path: Path) -> None:
    path = log(tmp_path, sample("s1", {"a": "P", "b": "C"}), sample("s2", {"a": 0.3, "b": "I"}))
    with pytest.raises(InputError, match="sample 1, a: is neither 0 nor 1"):
        read_inspect(path)
    assert read_inspect(path, threshold=0.5).table.symbols.tolist() == [[1, 1], [0, 0]]
    assert read_inspect(path, threshold={"a": 0.2}).table.symbols.tolist() == [[1, 1], [1, 0]]
    assert [c.name for c in read_inspect(path, scorers=["b"]).table.channels] == ["b"]


def test_composed_values_are_channels_of_their_own(tmp_path: Path) -> None:
    path = log(tmp_path, sample("s", {"x": {"value": {"right": 1, "short": 0}}, "y": {"value": [1, 0]}}))
    assert [c.name for c in read_inspect(path).table.channels] == ["x.right", "x.short", "y[0]", "y[1]"]


def test_epochs_are_repeated_calls_or_items(tmp_path: Path) -> None:
    said = [{"choices": [{"message": {"id": str(n), "content": text}}]} for n, text in enumerate(("Rome", "Oslo"))]
    path = log(
        tmp_path,
        sample("s", {"a": "C"}, 1, output=said[0], started_at="2026-01-01T00:00:01Z"),
        sample("s", {"a": "I"}, 2, output=said[1], started_at="2026-01-01T00:00:00+00:00"),
    )
    calls, items = read_inspect(path), read_inspect(path, epochs="items")
    assert [c.name for c in calls.table.channels] == ["a#1", "a#2"]
    assert any("output of 1 samples differs between epochs" in note for note in calls.notes)
    assert items.table.items == ("s@1", "s@2")
    assert items.table.clusters == ("s", "s")
    assert items.table.symbols.tolist() == [[1], [0]]
    assert items.table.order is not None
    assert items.table.order.tolist() == [1, 0]


def test_equal_outputs_of_epochs_need_no_warning(tmp_path: Path) -> None:
    said = [{"choices": [{"message": {"id": str(n), "content": "Rome"}}]} for n in range(2)]
    path = log(tmp_path, sample("s", {"a": "C"}, 1, output=said[0]), sample("s", {"a": "I"}, 2, output=said[1]))
    assert not any("differs" in note for note in read_inspect(path).notes)


@pytest.mark.parametrize("gold", ["human", "metadata.truth"])
def test_gold_is_a_scorer_or_metadata(tmp_path: Path, gold: str) -> None:
    path = log(
        tmp_path,
        sample("s1", {"a": "I", "human": "C"}, metadata={"truth": True}),
        sample("s2", {"a": "C", "human": "I"}, metadata={"truth": False}),
        sample("s3", {"a": "C", "human": NAN}, metadata={"truth": None}),
    )
    read = read_inspect(path, gold=gold, scorers=["a"])
    assert read.gold is not None
    assert read.gold.labels.tolist() == [1, 0, -1]
    assert [c.name for c in read.table.channels] == ["a"]


def test_a_sample_that_ended_in_an_error_failed_in_every_channel(tmp_path: Path) -> None:
    path = log(
        tmp_path,
        sample("s1", {"a": "C", "b": "I"}),
        sample("s2", None, error={"message": "no sandbox"}),
        sample("s3", {"a": "C"}),
    )
    table = read_inspect(path).table
    assert table.symbols.tolist() == [[1, 0], [2, 2], [1, -1]]
    assert table.kinds[1].tolist() == [FailureKind.UNAVAILABLE] * 2


@pytest.mark.parametrize(
    ("samples", "options", "said"),
    [
        ([sample("s", {"a": "X"})], {}, "sample 1, a: is 'X'"),
        ([sample("s", {"a": "C"}), sample("s", {"a": "C"})], {}, "is a second call of channel 'a'"),
        ([sample("s", {"alpha": "C"})], {"gold": "alhpa"}, "did you mean 'alpha'?"),
        ([sample("s", {"a": "C"})], {"gold": "metadata.x"}, "metadata: has no 'x'"),
        ([sample("s", {"a": "C"})], {"scorers": ["b"]}, "scorers: 'b' is no channel"),
        ([sample("s", {"a": "C"})], {"epochs": "item"}, "did you mean 'items'?"),
        ([sample("", {"a": "C"})], {}, "has no id"),
        ([3], {}, "sample 1 is a number"),
        ([sample("s", None) | {"scores": [1]}], {}, "scores: is an array"),
        ([], {}, "holds no call"),
    ],
)
def test_bad_logs_are_refused(tmp_path: Path, samples: list[Any], options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        read_inspect(log(tmp_path, *samples), **options)
    assert said in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"PK", b"PK\x03\x04broken", b"[1]", b"{}", b'{"eval": 1}', b"\xff"])
def test_what_is_no_log_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.eval"
    path.write_bytes(content)
    with pytest.raises(InputError):
        read_inspect(path)


def test_an_archive_without_samples_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.eval", "w") as archive:
        archive.writestr("header.json", "{}")
    with pytest.raises(InputError, match="holds no samples"):
        read_inspect(tmp_path / "x.eval")


def test_logs_are_told_from_other_files(tmp_path: Path) -> None:
    assert is_inspect_log(log(tmp_path))
    assert is_inspect_log(tmp_path / "x.eval")
    (tmp_path / "v.jsonl").write_text('{"item": 1}')
    assert not is_inspect_log(tmp_path / "v.jsonl")
    assert not is_inspect_log(tmp_path / "missing.json")


@pytest.mark.shared_data
def test_the_real_logs_read_alike_in_both_formats(shared_data: Path) -> None:
    folder = shared_data / "ecosystem" / "inspect" / "logs"
    paths = sorted(folder.glob("*multi*"))
    if not paths:
        pytest.skip(f"real data needed: {folder} holds no log")
    both = [read_inspect(path, threshold=0.9) for path in paths]
    # 8 samples; exact, includes, model_graded_qa and the three parts of components, in 3 epochs.
    assert [read.table.symbols.shape for read in both] == [(8, 18), (8, 18)]
    assert (both[0].table.symbols == both[1].table.symbols).all()
    # The README's policy: samples 0, 1, 5, 6 are honest, 2 and 7 shotgun, 3 wrong, 4 inject; exact sees only honesty.
    exact = [c.name for c in both[0].table.channels].index("exact#1")
    assert both[0].table.symbols[:, exact].tolist() == [1, 1, 0, 0, 0, 1, 1, 0]
    judge = [c.name for c in both[0].table.channels].index("model_graded_qa#1")
    assert both[0].table.symbols[:, judge].tolist() == [1, 1, 1, 0, 1, 1, 1, 1]


@pytest.mark.shared_data
def test_the_real_agent_log_has_its_stated_accuracy(shared_data: Path) -> None:
    paths = sorted((shared_data / "ecosystem" / "inspect" / "logs").glob("*agent*.eval"))
    if not paths:
        pytest.skip("real data needed: there is no agent log")
    assert read_inspect(paths[0]).table.symbols.mean() == 0.6  # the README's accuracy of 20 samples
