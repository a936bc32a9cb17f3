from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from counterproof.study.codes import code_pages
from counterproof.study.source import package_digest, source_digest


def test_digest_of_the_package_is_over_names_and_contents_of_its_python_files(repository: Path) -> None:
    folder = repository / "src" / "counterproof"
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*.py"), key=lambda path: path.relative_to(folder).as_posix()):
        content = path.read_bytes()
        whole.update(f"{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode() + content)
    package_digest.cache_clear()
    assert package_digest() == whole.hexdigest()


def test_digest_of_a_function_is_that_of_its_file() -> None:
    expected = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()

    @functools.wraps(test_digest_of_a_function_is_that_of_its_file)
    def wrapped() -> None: ...

    assert source_digest(test_digest_of_a_function_is_that_of_its_file) == expected
    assert source_digest(wrapped) == expected


def test_what_has_no_file_has_no_digest() -> None:
    made: dict[str, object] = {}
    exec("def function(): ...", made)
    assert source_digest(made["function"]) == ""  # type: ignore[arg-type]
    assert source_digest(len) == ""


def test_every_finding_code_of_the_rewards_room_has_a_page() -> None:
    pages = code_pages()
    assert {"RW101", "RW102", "RW103", "RW104", "RW110", "RW130", "RW140", "RW141", "RW150"} <= pages.keys()
    assert all(page.startswith("# ") for page in pages.values())
