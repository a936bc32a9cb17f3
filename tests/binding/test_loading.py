from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from counterproof.binding import load_function
from counterproof.core.errors import BindingError

SOURCE = '''"""A reward."""
import functools


def reward(answer):
    return 1.0


def late(answer):
    import neighbour_of_late
    return neighbour_of_late.VALUE


class Judge:
    def __call__(self, answer):
        return 2.0

    def method(self, answer):
        return 3.0


class Needy(Judge):
    def __init__(self, key):
        self.key = key


class Silent:
    pass


class Scope:
    judge = Judge()


judge = Judge()
limit = 3
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a reward file and a package, as the current folder; the interpreter forgets both afterwards."""
    (tmp_path / "rewards.py").write_text(SOURCE)
    (tmp_path / "someones_package").mkdir()
    (tmp_path / "someones_package" / "__init__.py").write_text("")
    (tmp_path / "someones_package" / "scoring.py").write_text(SOURCE)
    (tmp_path / "someones_package" / "broken.py").write_text("import a_module_that_is_not_there\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_function_of_a_file(folder: Path) -> None:
    loaded = load_function("rewards.py:reward")
    assert loaded.function("x") == 1.0
    assert loaded.spec == "rewards.py:reward"
    assert loaded.source_path == str(folder / "rewards.py")
    assert loaded.source_line == 5
    assert loaded.source_sha256 == hashlib.sha256(SOURCE.encode()).hexdigest()


def test_function_of_a_module_in_the_current_folder(folder: Path) -> None:
    loaded = load_function("someones_package.scoring:reward")
    assert loaded.function("x") == 1.0
    assert loaded.source_path == str(folder / "someones_package" / "scoring.py")
    assert loaded.source_line == 5


@pytest.mark.parametrize(
    ("name", "score", "line"),
    [("judge", 2.0, 15), ("Judge", 2.0, 15), ("judge.method", 3.0, 18), ("Scope.judge.method", 3.0, 18)],
)
def test_objects_methods_and_classes(folder: Path, name: str, score: float, line: int) -> None:
    loaded = load_function(f"rewards.py:{name}")
    assert loaded.function("x") == score
    assert loaded.source_line == line


def test_a_partial_is_described_by_the_file_that_makes_it(folder: Path) -> None:
    text = "from functools import partial\nfrom rewards import reward\n\nfixed = partial(reward)\n"
    (folder / "fixing.py").write_text(text)
    loaded = load_function("fixing.py:fixed")
    assert loaded.function("x") == 1.0
    assert (loaded.source_path, loaded.source_line) == (str(folder / "fixing.py"), 0)
    assert loaded.source_sha256 == hashlib.sha256(text.encode()).hexdigest()


def test_code_without_a_source_file() -> None:
    loaded = load_function("math:sqrt")
    assert (loaded.source_path, loaded.source_line, loaded.source_sha256) == (None, 0, "")


def test_a_file_imports_its_neighbours_now_and_later(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "neighbour_now.py").write_text("VALUE = 0.5\n")
    (folder / "sub" / "neighbour_of_late.py").write_text("VALUE = 0.25\n")
    (folder / "sub" / "mine.py").write_text("from neighbour_now import VALUE\n" + SOURCE)
    before = list(sys.path)
    assert load_function("sub/mine.py:late").function("x") == 0.25
    assert sys.path == [*before, str(folder / "sub")]


def test_an_edited_file_is_read_again(folder: Path) -> None:
    old = load_function("rewards.py:reward")
    (folder / "rewards.py").write_text(SOURCE.replace("1.0", "9.0"))
    new = load_function("rewards.py:reward")
    assert (old.function("x"), new.function("x")) == (1.0, 9.0)
    assert old.source_sha256 != new.source_sha256
    assert not (folder / "__pycache__").exists()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("rewards.py:rewrad", "rewards.py has no 'rewrad'; did you mean 'reward'?"),
        ("rewards.py:judge.methd", "rewards.py:judge has no 'methd'; did you mean 'method'?"),
        ("rewards.py:zzz", "rewards.py has no 'zzz'; choose from: Judge, Needy, Scope, Silent, judge, late, reward"),
        ("reward.py:reward", "there is no file 'reward.py'; did you mean 'rewards.py'?"),
        ("nowhere/reward.py:reward", "its folder 'nowhere' does not exist either"),
        ("someones_package/nothing/x.py:f", "its folder 'someones_package/nothing' does not exist either"),
        ("someones_package.scorign:reward", "no module 'someones_package.scorign'; did you mean 'scoring'?"),
        ("someone_package.scoring:reward", "no module 'someone_package'; did you mean 'someones_package'?"),
        ("zzqqxx:reward", "there is no module 'zzqqxx'; give package.module:function or path.py:function"),
        ("someones_package.broken:reward", "it needs the module 'a_module_that_is_not_there'"),
        ("rewards.py", "'rewards.py' names no function (for example rewards.py:reward)"),
        ("reward", "'reward' names no function; give package.module:function or path.py:function"),
        ("rewards.py:", "names no function"),
        (".relative:reward", "'.relative' is no module name"),
        ("rewards.py:limit", "is int, which cannot be called"),
        ("rewards.py:Silent", "is a class whose objects cannot be called"),
        ("rewards.py:Needy", "making an object of it without arguments failed: TypeError"),
    ],
)
def test_what_cannot_be_found_is_told_with_the_nearest(folder: Path, spec: str, message: str) -> None:
    with pytest.raises(BindingError) as caught:
        load_function(spec)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = (\n", "SyntaxError: '(' was never closed (bad.py, line 1)"),
        ("import sys\nsys.exit(3)\n", "SystemExit: 3 (bad.py:2)"),
        ("\n1 / 0\n", "ZeroDivisionError: division by zero (bad.py:2)"),
        ("import not_installed_anywhere\n", "ModuleNotFoundError: No module named 'not_installed_anywhere' (bad.py:1)"),
    ],
)
def test_a_file_that_cannot_be_imported_says_why(folder: Path, source: str, message: str) -> None:
    (folder / "bad.py").write_text(source)
    with pytest.raises(BindingError) as caught:
        load_function("bad.py:reward")
    assert str(caught.value) == f"'bad.py:reward' cannot be imported: {message}"


def test_an_empty_folder_has_nothing_near(folder: Path) -> None:
    (folder / "empty").mkdir()
    with pytest.raises(BindingError, match=r"'empty' holds no \.py file"):
        load_function("empty/reward.py:reward")
