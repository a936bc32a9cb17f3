from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from counterproof.core.errors import BindingError, InputError
from counterproof.study.plugins import Plugins, load_plugins

MINE = """
from counterproof.rewards.detectors import DETECTORS, detector
from counterproof.rewards.edits import EDITS, Candidate, edit
from {beside} import LIMIT

@detector("long_answer", reads=["answer"], weight=0.5)
def long_answer(view, corpus):
    '''The answer has many words.'''
    return len(view.answer.split()) > LIMIT

@edit("shout", reads=["answer"], writes=["answer"], targets=["long_answer"])
def shout(view, context):
    '''Say it ten times.'''
    yield Candidate("all", {{"answer": " ".join([view.answer] * 10)}})
"""


def plugin(folder: Path, name: str = "mine", beside: str = "limits_beside") -> Path:
    path = folder / f"{name}.py"
    path.write_text(MINE.format(beside=beside), encoding="utf-8")
    (folder / f"{beside}.py").write_text("LIMIT = 5\n", encoding="utf-8")
    return path


def names(found: Plugins) -> tuple[list[str], list[str]]:
    return [one.name for one in found.edits], [one.name for one in found.detectors]


def test_nothing_named_gives_nothing() -> None:
    assert load_plugins(()) == Plugins()


def test_a_file_gives_its_own_edits_and_detectors_and_may_import_what_lies_beside_it(tmp_path: Path) -> None:
    found = load_plugins([str(plugin(tmp_path))])
    assert names(found) == (["shout"], ["long_answer"])  # not the built-in ones that it imported
    assert (found.edits[0].title, found.edits[0].code, found.edits[0].proven) == ("Say it ten times.", "RW104", False)
    assert (found.detectors[0].weight, found.detectors[0].trusted) == (0.5, False)


def test_a_module_of_the_current_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin(tmp_path, "plugin_by_module", "limits_by_module")
    monkeypatch.chdir(tmp_path)
    assert names(load_plugins(["plugin_by_module"])) == (["shout"], ["long_answer"])


def installed(folder: Path, points: str) -> None:
    info = folder / "toy_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-plugin\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(textwrap.dedent(points), encoding="utf-8")


def test_entry_points_are_loaded_by_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin(tmp_path, "plugin_by_entry", "limits_by_entry")
    installed(
        tmp_path,
        """
        [counterproof.edits]
        shout = plugin_by_entry:shout
        [counterproof.detectors]
        long = plugin_by_entry:long_answer
        """,
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert names(load_plugins(())) == (["shout"], ["long_answer"])


def test_an_entry_point_that_is_neither_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, "[counterproof.edits]\nwrong = json:dumps\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match=r"entry point wrong = json:dumps of counterproof\.edits is function"):
        load_plugins(())


def test_an_entry_point_that_cannot_be_imported_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, "[counterproof.detectors]\ngone = no_such_module_here:thing\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BindingError, match=r"entry point gone .* cannot be imported: ModuleNotFoundError"):
        load_plugins(())


def test_a_missing_file_is_answered_with_the_nearest(tmp_path: Path) -> None:
    plugin(tmp_path)
    with pytest.raises(BindingError, match=r"mien\.py: no such file; did you mean 'mine\.py'"):
        load_plugins([str(tmp_path / "mien.py")])


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("import sys; sys.exit(0)", "SystemExit: 0"),
        ("def (", "SyntaxError"),
        ("import no_such_module_here", "ModuleNotFoundError"),
    ],
)
def test_a_file_that_cannot_be_imported_is_a_clear_error(tmp_path: Path, source: str, said: str) -> None:
    path = tmp_path / "broken.py"
    path.write_text(source, encoding="utf-8")
    with pytest.raises(BindingError, match=rf"broken\.py cannot be imported: {said}"):
        load_plugins([str(path)])


def test_a_missing_module_is_a_clear_error() -> None:
    with pytest.raises(BindingError, match="plug-in no_such_module_here cannot be imported"):
        load_plugins(["no_such_module_here"])


def test_a_file_without_either_is_refused_with_the_cure(tmp_path: Path) -> None:
    path = tmp_path / "empty.py"
    path.write_text("from counterproof.rewards.edits import EDITS\nSAME = EDITS[0]\n", encoding="utf-8")
    with pytest.raises(InputError, match="neither an edit nor a detector; make one with @edit or @detector"):
        load_plugins([str(path)])


def test_two_plugins_of_one_name_are_refused_together(tmp_path: Path) -> None:
    from counterproof.rewards.cells import set_up

    first = load_plugins([str(plugin(tmp_path))])
    with pytest.raises(InputError, match="'shout' is defined more than once"):
        set_up(frozenset(), first.edits * 2, ())
