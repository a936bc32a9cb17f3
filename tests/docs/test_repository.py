"""What the repository must not name, how fragments and decision notes are called, and that links lead somewhere."""

import re
import subprocess
from pathlib import Path

import pytest

FRAGMENT = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\.(added|changed|deprecated|removed|fixed|security)\.md")
DECISION = re.compile(r"\d{4}-[a-z0-9]+(-[a-z0-9]+)*\.md")
DECISION_SECTIONS = ["## Context", "## Decision", "## Consequences"]

# Put together here, so that this file does not name them either.
REGISTRY_HOSTS = re.compile("|".join(["py" + r"pi\.org", "python" + "hosted", "npm" + "js", "debian" + r"\.org"]))
MACHINE_FOLDERS = "|".join(["wo" + "rk", "ro" + "ot", "ho" + "me", "tm" + "p", "Us" + "ers"])
MACHINE_PATH = re.compile(rf"(?<![\w.$}})~*/-])/({MACHINE_FOLDERS})/\w")


def text_files(repository: Path) -> list[tuple[str, str]]:
    """Name and text of every file that is tracked or about to be; binary files are left out."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("a git checkout is needed to list the project's own files")
    found = []
    for name in filter(None, listed.stdout.split("\0")):
        path = repository / name
        if path.is_file() and b"\0" not in (content := path.read_bytes()):
            found.append((name, content.decode("utf-8")))
    return found


def lines_matching(pattern: re.Pattern[str], files: list[tuple[str, str]]) -> list[str]:
    return [
        f"{name}:{number}: {line.strip()[:120]}"
        for name, text in files
        for number, line in enumerate(text.splitlines(), start=1)
        if pattern.search(line)
    ]


def test_no_package_registry_is_named(repository: Path) -> None:
    assert lines_matching(REGISTRY_HOSTS, text_files(repository)) == []


def test_no_path_of_one_machine_is_named(repository: Path) -> None:
    assert lines_matching(MACHINE_PATH, text_files(repository)) == []


def test_constraints_pin_every_package_by_hash(repository: Path) -> None:
    text = (repository / "constraints" / "dev.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    pins = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    assert pins
    assert [pin for pin in pins if not re.match(r"[a-z0-9-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", pin)] == []


def test_changelog_fragments_are_well_named(repository: Path) -> None:
    fragments = [path for path in (repository / "changelog.d").iterdir() if path.name != "README.md"]
    assert [path.name for path in fragments if not FRAGMENT.fullmatch(path.name)] == []
    assert [path.name for path in fragments if not path.read_text(encoding="utf-8").strip()] == []


def test_decision_notes_are_numbered_complete_and_indexed(repository: Path) -> None:
    folder = repository / "docs" / "decisions"
    notes = sorted(path for path in folder.iterdir() if path.name != "README.md")
    index = (folder / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in notes if not DECISION.fullmatch(path.name)] == []
    assert [int(path.name[:4]) for path in notes] == list(range(1, len(notes) + 1))
    assert [path.name for path in notes if f"({path.name})" not in index] == []
    for path in notes:
        sections = re.findall(r"^## .*", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert sections == DECISION_SECTIONS, path.name


def test_relative_links_in_pages_lead_to_a_file(repository: Path) -> None:
    links = [
        (name, target)
        for name, text in text_files(repository)
        if name.endswith(".md")
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
        if "://" not in target
    ]
    dead = [(name, target) for name, target in links if not (repository / name).parent.joinpath(target).exists()]
    assert dead == []


def test_every_page_is_in_the_index(repository: Path) -> None:
    index = (repository / "docs" / "README.md").read_text(encoding="utf-8")
    pages = {path.name for path in (repository / "docs").glob("*.md")} - {"README.md"}
    folders = {path.name for path in (repository / "docs").iterdir() if path.is_dir() and any(path.glob("**/*.md"))}
    assert {name for name in pages if f"({name}" not in index} == set()
    assert {name for name in folders if f"({name}/" not in index} == set()


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("see /ho" + "me/someone/x", True),
        ("cd '/wo" + "rk/a'", True),
        ("docs/work/notes.md", False),
        ("a/home/b", False),
    ],
)
def test_machine_path_is_told_from_a_relative_one(line: str, named: bool) -> None:
    assert bool(MACHINE_PATH.search(line)) is named
