"""The import contracts of pyproject.toml hold for the real rooms and break on a planted violation."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

PURE_ROOMS = {"core", "stats", "rewards", "pressure", "rationale", "panel", "harness", "equations"}

# Effects that need no import of ours: builtins, and what numpy offers for files and entropy.
EFFECTFUL_BUILTINS = {"open", "print", "input", "exec", "eval", "compile", "__import__", "breakpoint"}
EFFECTFUL_ATTRIBUTES = {"fromfile", "genfromtxt", "load", "loadtxt", "memmap", "save", "savetxt", "savez", "tofile"}
CONSTANTS_OF_SYS = {"byteorder", "float_info", "hash_info", "int_info", "intern", "maxsize", "maxunicode"}


def contracts(repository: Path) -> list[dict[str, Any]]:
    settings = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = settings["tool"]["importlinter"]["contracts"]
    return found


def rooms(repository: Path) -> set[str]:
    return {path.parent.name for path in (repository / "src" / "counterproof").glob("*/__init__.py")}


def rooms_named_in(layers: list[str]) -> list[str]:
    return re.findall(r"\w+", " ".join(layers))


def pure_modules(repository: Path) -> Iterator[Path]:
    for room in sorted(PURE_ROOMS):
        yield from sorted((repository / "src" / "counterproof" / room).rglob("*.py"))


def plant(folder: Path, repository: Path, modules: Mapping[str, str]) -> Path:
    """A small package of the same name with the same contracts: every room is there, empty but for `modules`."""
    layers = next(c["layers"] for c in contracts(repository) if c["id"] == "layers")
    package = folder / "src" / "counterproof"
    for room in rooms_named_in(layers):
        (package / room).mkdir(parents=True)
        (package / room / "__init__.py").touch()
    (package / "__init__.py").touch()
    for name, source in modules.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    settings = (repository / "pyproject.toml").read_text(encoding="utf-8")
    (folder / "pyproject.toml").write_text(settings, encoding="utf-8")
    return folder / "src"


def broken_contracts(source_root: Path) -> set[str]:
    """Names of the contracts that the tool calls broken in a planted package."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    tool = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [tool, "--no-cache", "--config", "../pyproject.toml"],
        cwd=source_root,
        env=environment | {"NO_COLOR": "1", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    broken = set(re.findall(r"^(.+?) BROKEN", done.stdout, flags=re.MULTILINE))
    assert done.returncode == bool(broken), done.stdout + done.stderr
    assert "Contracts: " in done.stdout, done.stdout + done.stderr
    return broken


LAYERS = "Imports point down only"
PURE = "Pure rooms import nothing with effects, even indirectly"
ACYCLIC = "No import cycles, at any depth"


def test_rooms_in_order_break_nothing(tmp_path: Path, repository: Path) -> None:
    modules = {
        "cli/__init__.py": "from counterproof import study",
        "study/__init__.py": "from counterproof import rewards, store",
        "store/ledger.py": "import os",
        "rewards/__init__.py": "import numpy\nfrom counterproof import core",
        "__main__.py": "from counterproof import cli",
    }
    assert broken_contracts(plant(tmp_path, repository, modules)) == set()


@pytest.mark.parametrize(
    ("modules", "broken"),
    [
        pytest.param({"core/plan.py": "import counterproof.store"}, {LAYERS}, id="import-that-points-up"),
        pytest.param({"rewards/a.py": "import counterproof.panel"}, {LAYERS}, id="audits-that-know-each-other"),
        pytest.param({"utils/__init__.py": ""}, {LAYERS}, id="room-without-a-layer"),
        pytest.param({"stats/a.py": "import time"}, {PURE}, id="clock-in-a-pure-room"),
        pytest.param({"stats/a.py": "def f():\n    import os.path"}, {PURE}, id="late-import-in-a-pure-room"),
        pytest.param({"stats/a.py": "import concurrent.futures"}, {PURE}, id="submodule-of-an-effectful-package"),
        pytest.param(
            {"stats/a.py": "import counterproof.store", "store/__init__.py": "import duckdb"},
            {LAYERS, PURE},
            id="effect-behind-another-room",
        ),
        pytest.param(
            {"store/a.py": "import counterproof.store.b", "store/b.py": "import counterproof.store.a"},
            {ACYCLIC},
            id="cycle-inside-a-room",
        ),
        pytest.param(
            {"store/__init__.py": "import counterproof.study", "study/__init__.py": "import counterproof.store"},
            {LAYERS, ACYCLIC},
            id="cycle-between-rooms",
        ),
    ],
)
def test_planted_violation_is_reported(
    tmp_path: Path, repository: Path, modules: Mapping[str, str], broken: set[str]
) -> None:
    assert broken_contracts(plant(tmp_path, repository, modules)) == broken


def test_every_pure_room_with_code_is_listed(repository: Path) -> None:
    pure = next(c for c in contracts(repository) if c["id"] == "pure")
    assert {name.removeprefix("counterproof.") for name in pure["source_modules"]} == PURE_ROOMS & rooms(repository)


def test_every_folder_of_the_package_is_a_room(repository: Path) -> None:
    layers = next(c["layers"] for c in contracts(repository) if c["id"] == "layers")
    assert rooms(repository) <= set(rooms_named_in(layers))


def effect_of_call(node: ast.Call) -> str | None:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name == "default_rng" and not node.args and not node.keywords:
        return "default_rng() seeded from the machine"
    effectful = EFFECTFUL_ATTRIBUTES if isinstance(node.func, ast.Attribute) else EFFECTFUL_BUILTINS
    return f"{name}()" if name in effectful else None


def effects_without_import(source: str) -> list[str]:
    """Calls and names in a module that have an effect, or read the process, though no import gives them away."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and (effect := effect_of_call(node)):
            found.append(f"line {node.lineno}: {effect}")
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "sys" and node.attr not in CONSTANTS_OF_SYS:
            found.append(f"line {node.lineno}: sys.{node.attr}")
        if isinstance(node, ast.ImportFrom) and node.module == "sys":
            found.append(f"line {node.lineno}: write sys.name, so that it can be seen which names are read")
    return found


def test_pure_rooms_have_no_effects_that_need_no_import(repository: Path) -> None:
    effects = {}
    for path in pure_modules(repository):
        if found := effects_without_import(path.read_text(encoding="utf-8")):
            effects[path.relative_to(repository).as_posix()] = found
    assert effects == {}


@pytest.mark.parametrize(
    "line",
    [
        "open('a')",
        "np.load('a')",
        "print(1)",
        "np.random.default_rng()",
        "default_rng()",
        "sys.argv",
        "from sys import stdin",
    ],
)
def test_effect_that_needs_no_import_is_seen(line: str) -> None:
    assert len(effects_without_import(line)) == 1


@pytest.mark.parametrize("line", ["np.random.default_rng(seed)", "sys.byteorder", "re.compile('a')", "rows.open"])
def test_arithmetic_is_no_effect(line: str) -> None:
    assert effects_without_import(line) == []
