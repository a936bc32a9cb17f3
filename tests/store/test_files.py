import hashlib
from pathlib import Path

import pytest

from counterproof.store.files import sha256_file, write_atomically


def test_content_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "findings.json"
    write_atomically(path, b"old")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_failed_write_leaves_the_target_and_no_temporary_file(tmp_path: Path) -> None:
    path = tmp_path / "target"
    path.mkdir()
    with pytest.raises(OSError, match="target"):
        write_atomically(path, b"data")
    assert list(tmp_path.iterdir()) == [path]


def test_sha256_is_that_of_the_content(tmp_path: Path) -> None:
    data = bytes(range(256)) * 5000
    (tmp_path / "file").write_bytes(data)
    assert sha256_file(tmp_path / "file") == hashlib.sha256(data).hexdigest()
