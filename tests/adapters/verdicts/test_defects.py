"""Every defect of a verdict file is named with its line and what to do, all of them at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from counterproof.adapters import ColumnMap, guess_columns, read_verdicts
from counterproof.core.errors import InputError

GOOD = "item,judge,verdict,gold\ni1,a,yes,yes\ni2,a,no,no\n"


def refusal(tmp_path: Path, text: str | bytes, *args: Any, name: str = "v.csv", **options: Any) -> str:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(InputError) as caught:
        read_verdicts(path, *args, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("i3,a,maybe,no\n", "v.csv:4: the verdict 'maybe' is no class and no known failure"),
        ("i3,a,yse,no\n", "did you mean 'yes'?"),
        ("i2,a,no,no\n", "v.csv:4: is a second call of channel 'a' on item 'i2', after v.csv:3"),
        ("i2,b,no,yes\n", "v.csv:4, gold: is 'yes' for item 'i2', and 'no' at v.csv:3"),
        (",a,no,no\n", "v.csv:4, item: is empty"),
        ("i3,,no,no\n", "v.csv:4, channel: is empty"),
        ("i3,a,no\n", "v.csv:4: has 3 fields, the header 4"),
        ('i3,a,"no\n', "is not CSV"),
        (b"i3,a,\xff,no\n", "v.csv:4: is not UTF-8"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, rows: str | bytes, said: str) -> None:
    content = GOOD.encode() + (rows if isinstance(rows, bytes) else rows.encode())
    assert said in refusal(tmp_path, content)


def test_all_problems_come_at_once(tmp_path: Path) -> None:
    said = refusal(
        tmp_path,
        "item,judge,verdict,gold,cost,seconds,time,cluster\n"
        "i1,a,1,1,cheap,1,2026-01-01,q\n"
        "i2,a,0,0,-1,soon,7,q\n"
        "i2,b,0,1,1,1,never,r\n"
        "i2,b,2,0,1,1,7,q\n",
    )
    for part in (
        "v.csv:2, cost: is 'cheap'",
        "v.csv:3, cost: is -1, below 0",
        "v.csv:3, seconds: is 'soon'",
        "v.csv:4, gold: is '1' for item 'i2', and '0' at v.csv:3",
        "v.csv:4, cluster: is 'r'",
        "v.csv:4, time: is 'never'",
        "v.csv:5: is a second call of channel 'b'",
        "time: holds numbers in some rows and dates in others",
        "channel 'a': has no cost in any row",
    ):
        assert part in said


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("item,judge,verdict,gold\ni1,a,1,1\ni2,a,0,1\n", {}, "every gold label is '1'"),
        ("item,judge,verdict\ni1,a,x\ni2,a,x\n", {}, "1 classes were found (x)"),
        ("item,judge,verdict\ni1,a,\ni2,a,error\n", {}, "0 classes were found (none)"),
        ("item,judge,verdict\ni1,a,.2\ni2,a,.8\n", {}, "look like scores: give a threshold"),
        ("item,judge,score\ni1,a,.2\ni2,a,.8\n", {}, "score: is a score (give the threshold"),
        ("item,judge,score\ni1,a,high\ni2,a,1\n", {"threshold": 0.5}, "v.csv:2: the verdict 'high' is no class"),
        ("item,judge,score\ni1,ab,1\n", {"threshold": {"aa": 1}}, "channel 'ab' has no threshold"),
        ("item,judge,verdict,failure\ni1,a,1,hiccup\ni2,a,0,\n", {}, "the failure 'hiccup' is of no known kind"),
        ("item,judge,verdict\ni1,a,1\ni2,a,2\n", {"classes": ["0", "1"]}, "'2' is no class"),
        ("item,judge,verdict,gold\ni1,a,1,5\n", {"classes": ["0", "1"]}, "v.csv:2, gold: '5' is none of the classes"),
        ("item,judge,verdict,order\n" + "".join(f"i,a,1,{n}\n" for n in range(3)), {}, "order: has 3 values"),
        ("item,judge,verdict,cost\ni1,a,1,0\ni2,a,0,0\n", {}, "channel 'a': costs nothing"),
        ("item,judge,verdict,time\ni1,a,1,3\ni2,a,0,\n", {}, "time: is missing for 1 items, the first 'i2'"),
        (GOOD, {"classes": ["no"]}, "name 2 to 120"),
        (GOOD, {"positive": "yess"}, "the positive class 'yess' must be one of two"),
        (GOOD, {"orders": "consistant"}, "did you mean 'consistent'?"),
        (GOOD, {"classes": ["a", "b", "c"], "threshold": 1.0}, "a threshold makes two classes"),
        ("item,judge,verdict\n", {}, "holds no row"),
        ("", {}, "holds no row"),
        ("item,item,verdict\ni1,a,1\n", {}, "the header of v.csv repeats 'item'"),
        (
            "item,a,a2\ni1,1,0\ni1,0,1\n",
            {"columns": {"channels": ["a", "a2"]}},
            "v.csv:3: is a second row of item 'i1'",
        ),
    ],
)
def test_a_bad_file_is_refused_with_its_reason(tmp_path: Path, text: str, options: dict[str, Any], said: str) -> None:
    assert said in refusal(tmp_path, text, **options)


def test_a_second_mark_of_a_pair_of_truth_values_is_no_class(tmp_path: Path) -> None:
    said = refusal(tmp_path, "item,judge,verdict\ni1,a,1\ni2,a,0\ni3,a,refused\ni4,a,refused\n")
    assert "v.csv:4: the verdict 'refused' is no class and no known failure (2 calls)" in said


def test_an_array_is_no_value(tmp_path: Path) -> None:
    said = refusal(tmp_path, '{"item": "i1", "judge": "a", "verdict": [1]}\n', name="v.jsonl")
    assert "v.jsonl:1, verdict: is an array" in said


def test_a_wrong_column_is_answered_with_the_nearest(tmp_path: Path) -> None:
    columns = ColumnMap(item="itme", channel="judge", verdict="verdict")
    assert "column 'itme': is not in the file (did you mean 'item'?)" in refusal(tmp_path, GOOD, columns)
    assert "column 'glod': is not in the file" in refusal(tmp_path, GOOD, {"gold": "glod"})


def test_columns_that_cannot_be_guessed_are_listed() -> None:
    with pytest.raises(InputError, match=r"(?s)cannot be guessed from row, foo.*item: was not found.*verdict: was not"):
        guess_columns(["row", "foo"])
    with pytest.raises(InputError, match="did you mean 'verdict'"):
        guess_columns(["item"], {"verdit": "item"})


@pytest.mark.parametrize(
    "content",
    [b"PAR1 and nothing else", b"PAR1" + bytes(range(256)) + b"PAR1", b"\x1f\x8b\x08broken"],
)
def test_damaged_files_are_refused(tmp_path: Path, content: bytes) -> None:
    assert refusal(tmp_path, content, name="v.parquet")


def test_a_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_verdicts(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        read_verdicts(tmp_path / "none.csv")
