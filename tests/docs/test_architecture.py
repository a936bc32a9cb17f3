"""docs/architecture.md draws the rooms as they are: its arrows are the imports, its layers the import contract's."""

import re
import tomllib
from pathlib import Path

import grimp
import pytest

PACKAGE = "counterproof"
ENTRY_POINTS = {"__main__"}


def rooms_of(graph: grimp.ImportGraph) -> set[str]:
    return {child.removeprefix(f"{PACKAGE}.") for child in graph.find_children(PACKAGE)} - ENTRY_POINTS


def room_of(module: str) -> str | None:
    """The first-level room of a module, or None for the root, an entry point or another package."""
    parts = module.split(".")
    if parts[0] != PACKAGE or len(parts) == 1 or parts[1] in ENTRY_POINTS:
        return None
    return parts[1]


def imports_between_rooms(graph: grimp.ImportGraph) -> set[tuple[str, str]]:
    arrows = set()
    for importer in graph.modules:
        for imported in graph.find_modules_directly_imported_by(importer):
            source, target = room_of(importer), room_of(imported)
            if source and target and source != target:
                arrows.add((source, target))
    return arrows


def mermaid_lines(page: str) -> list[str]:
    blocks = re.findall(r"^```mermaid\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    return [line.strip() for block in blocks for line in block.splitlines()]


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(PACKAGE, cache_dir=None)


@pytest.fixture(scope="module")
def page(repository: Path) -> str:
    return (repository / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_arrows_are_the_imports_between_rooms(graph: grimp.ImportGraph, page: str) -> None:
    drawn = set()
    for line in mermaid_lines(page):
        if match := re.fullmatch(r"(\w+) --> (\w+)", line):
            drawn.add((match[1], match[2]))
    real = imports_between_rooms(graph)
    listing = "\n".join(f"    {source} --> {target}" for source, target in sorted(real))
    assert drawn == real, (
        f"docs/architecture.md draws {sorted(drawn - real)} that no module imports and lacks {sorted(real - drawn)}."
        f"\nThe arrows are:\n{listing}"
    )


def test_every_arrow_line_is_understood(page: str) -> None:
    strange = [line for line in mermaid_lines(page) if "--" in line and not re.fullmatch(r"\w+ --> \w+", line)]
    assert strange == [], "write one plain 'importer --> imported' a line"


def test_layers_on_the_page_are_the_contract(page: str, repository: Path) -> None:
    settings = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))
    contract = next(c for c in settings["tool"]["importlinter"]["contracts"] if c["id"] == "layers")
    wanted = [re.sub(r"[()]", "", layer) for layer in contract["layers"]]
    block = re.search(r"^```text\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    assert block is not None
    assert [line.split("  ")[0].strip() for line in block[1].splitlines() if line.strip()] == wanted


def test_every_room_has_a_row_in_the_table(graph: grimp.ImportGraph, page: str) -> None:
    described = set(re.findall(r"^\| `(\w+)` \|", page, flags=re.MULTILINE))
    assert rooms_of(graph) <= described


def test_no_room_imports_the_root(graph: grimp.ImportGraph) -> None:
    importers = {module for module in graph.find_modules_that_directly_import(PACKAGE) if room_of(module)}
    assert importers == set(), "the root only re-exports; import the room that owns the name"
