"""The documentation pages of finding codes, by code."""

from __future__ import annotations

from importlib.resources import files


def code_pages() -> dict[str, str]:
    """Return the Markdown page of every finding code, as shipped in the package."""
    folder = files("counterproof.study") / "pages"
    return {
        entry.name.removesuffix(".md"): entry.read_text(encoding="utf-8")
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".md")
    }
