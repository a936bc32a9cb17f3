"""Rows out of files: what is allowed, and what each kind of broken file is answered with."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from counterproof.adapters import open_pool
from counterproof.core.errors import InputError

ROW = {"trajectory_id": "t1", "question": "Who?", "steps": [], "answer": "Rush"}


def rows(count: int) -> list[bytes]:
    return [json.dumps({**ROW, "trajectory_id": f"t{i}"}).encode() for i in range(count)]


def refused(path: Path, **options: str) -> InputError:
    with pytest.raises(InputError) as caught:
        open_pool(path, **options)  # type: ignore[arg-type]
    return caught.value


@pytest.mark.parametrize(
    ("content", "count"),
    [
        (b"\xef\xbb\xbf" + b"\n".join(rows(2)), 2),
        (b"\r\n".join(rows(3)) + b"\r\n", 3),
        (b"\n\n  \n" + b"\n \n".join(rows(2)) + b"\n\n", 2),
        (b"[" + b",\n".join(rows(2)) + b"]", 2),
        (b"\xef\xbb\xbf [" + b",".join(rows(1)) + b"]", 1),
        (gzip.compress(b"\n".join(rows(2))), 2),
        (gzip.compress(rows(1)[0] + b"\n") + gzip.compress(rows(2)[1]), 2),
        (gzip.compress(b"\n".join(rows(2))) + b"\0" * 300_000, 2),
    ],
    ids=[
        "byte-order mark",
        "CRLF",
        "blank lines",
        "array",
        "array with mark",
        "gzip",
        "two gzip members",
        "padded gzip",
    ],
)
def test_what_editors_and_tools_leave_in_a_file_is_allowed(tmp_path: Path, content: bytes, count: int) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(content)
    assert open_pool(path).count == count


def test_a_json_file_may_be_spread_over_lines(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps([ROW], indent=2))
    assert open_pool(path).count == 1
    path.write_text(json.dumps(ROW, indent=2))
    assert open_pool(path).count == 1


def test_a_line_of_ten_megabytes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    step = {"kind": "text", "text": "word " * 2_000_000}
    path.write_text(json.dumps({**ROW, "steps": [step]}) + "\n")
    assert path.stat().st_size > 10_000_000
    (record,) = open_pool(path).trajectories()
    assert record.steps[0].text == step["text"]  # type: ignore[union-attr]


@pytest.mark.parametrize("content", [b"", b"\n\n \n", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0), b"[]"])
def test_an_empty_file_is_called_empty(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(content)
    assert "log.jsonl is empty" in str(refused(path)) or "log is empty" in str(refused(path))


def test_broken_utf8_is_named_by_file_line_and_byte(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    good = rows(1)[0]
    path.write_bytes(good + b"\n" + b'{"question": "\xff"}\n')
    error = refused(path)
    # The line starts after the first one and its line break; its 15th byte is the bad one.
    offset = len(good) + 1 + 14
    assert f"log.jsonl:2: is not UTF-8 at byte {offset} of the file" in str(error)
    assert error.total == 1


def test_a_byte_order_mark_counts_in_the_byte_offset(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": "\xff"}')
    assert "log.jsonl:1: is not UTF-8 at byte 10 of the file" in str(refused(path))


def test_every_line_that_is_not_json_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"\n".join([rows(1)[0], b"{oops}", b"[1]", b'{"score": NaN}', b'{"question": "\\ud800"}', b"7"]))
    error = refused(path)
    assert [problem.where for problem in error.problems] == [f"log.jsonl:{n}" for n in (2, 3, 4, 5, 6)]
    assert "is not JSON" in error.problems[0].what
    assert error.problems[1].what == "is an array"
    assert "NaN is no JSON number" in error.problems[2].what
    assert "surrogate" in error.problems[3].what
    assert error.problems[4].what == "is a number"


def test_deep_nesting_is_a_problem_of_its_line(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(rows(1)[0] + b'\n{"a": ' + b"[" * 200_000)
    assert "log.jsonl:2" in str(refused(path))


def test_a_long_list_of_problems_is_counted_and_cut(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(rows(1)[0] + b"\nx" * 30)
    error = refused(path)
    assert (len(error.problems), error.total) == (20, 30)
    assert "and 10 more" in str(error)


def test_a_truncated_gzip_is_named_with_the_rows_that_were_readable(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl.gz"
    # Two members, so that the first one's rows are readable for certain.
    whole = gzip.compress(b"\n".join(rows(3)) + b"\n") + gzip.compress(b"\n".join(rows(40)))
    path.write_bytes(whole[:-12])
    message = str(refused(path))
    assert "log.jsonl.gz is a truncated or damaged gzip file" in message
    found = re.search(r"; (\d+) rows were readable before", message)
    assert found
    assert 3 <= int(found[1]) <= 43


def test_a_damaged_gzip_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl.gz"
    content = bytearray(gzip.compress(b"\n".join(rows(40))))
    content[-6] ^= 255  # inside the checksum
    path.write_bytes(content)
    assert "truncated or damaged gzip" in str(refused(path))


def test_a_missing_path_is_answered_with_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "rollouts.jsonl").write_bytes(rows(1)[0])
    message = str(refused(tmp_path / "rolouts.jsonl"))
    assert "does not exist" in message
    assert "did you mean 'rollouts.jsonl'?" in message


def test_a_missing_folder_above_is_answered_with_its_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "pools").mkdir()
    assert "did you mean 'pools'?" in str(refused(tmp_path / "pool" / "a.jsonl"))


def test_an_empty_folder_above_is_called_empty(tmp_path: Path) -> None:
    assert "the folder is empty" in str(refused(tmp_path / "a.jsonl"))
