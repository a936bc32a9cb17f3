"""The blocks of README.md do what they show, and the Python blocks of every page run."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
TIMEOUT_SECONDS = 120

# Shown in README.md but not run there: they fetch or install something.
NOT_RUN = ("git clone ", "cd ", "pip install ", "python -m pip install ")


@dataclass(frozen=True, slots=True)
class Block:
    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass(frozen=True, slots=True)
class Command:
    line: str
    expected: str
    exit_code: int


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(page.relative_to(REPOSITORY).as_posix(), text.count("\n", 0, match.start()) + 1, match[1], match[2])
        for match in re.finditer(r"^```(\w+)\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    ]


def commands_of(text: str) -> list[Command]:
    """Lines that begin with `$ `, each with the output below it and the code of a trailing `# exit N`."""
    commands = []
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, output = part.replace("\\\n", " ").partition("\n")
        stated = re.search(r"#\s*exit (\d+)\s*$", line)
        commands.append(Command(line.partition(" #")[0].strip(), output, int(stated[1]) if stated else 0))
    return commands


BLOCKS = [block for page in PAGES for block in blocks_of(page)]
PYTHON = [block for block in BLOCKS if block.language in {"python", "pycon"}]
README_CONSOLE = [block for block in BLOCKS if block.page == "README.md" and block.language == "console"]


@pytest.mark.parametrize("block", PYTHON, ids=str)
def test_python_block_runs(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if ">>>" in block.text:
        test = doctest.DocTestParser().get_doctest(block.text, {}, str(block), block.page, block.line)
        assert doctest.DocTestRunner(optionflags=FLAGS).run(test).failed == 0
    else:
        exec(compile(block.text, str(block), "exec"), {"__name__": "__readme__"})


def test_console_blocks_of_the_readme_do_what_they_show(tmp_path: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", (REPOSITORY / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    for block in BLOCKS:
        named = re.match(r"# (\w+\.py)\n", block.text)
        if block.page == "README.md" and named:  # a file that the commands use
            (tmp_path / named[1]).write_text(block.text, encoding="utf-8")
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for block in README_CONSOLE:
        for command in commands_of(block.text):
            words = shlex.split(command.line)
            if words[0] == "make":  # runs this test, so only the target's name is checked
                assert set(words[1:]) <= targets, f"{block}: {command.line}"
                continue
            if command.line.startswith(NOT_RUN):
                continue
            assert words[0] == "counterproof", f"{block}: no rule for running {command.line!r}"
            done = subprocess.run(
                words,
                cwd=tmp_path,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
            said = f"{block}: {command.line}\n{done.stdout}\n{done.stderr}"
            assert done.returncode == command.exit_code, said
            if command.expected.strip():
                assert doctest.OutputChecker().check_output(command.expected, done.stdout, FLAGS), said


def test_command_is_read_with_its_output_and_exit_code() -> None:
    text = "$ counterproof show a \\\n    --all\nasr 1.0\n$ counterproof verify a   # exit 1\n"
    assert commands_of(text) == [
        Command("counterproof show a      --all", "asr 1.0\n", 0),
        Command("counterproof verify a", "", 1),
    ]
