"""Documentation pages of finding codes, cut into blocks so that a template can set them with everything escaped."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ITEM = re.compile(r"^\s*(?:[-*]|\d+\.)\s+")


@dataclass(frozen=True, slots=True)
class Block:
    """A heading, a paragraph, a list or preformatted text; `lines` are its items or its single text."""

    kind: str
    lines: tuple[str, ...]


def blocks(text: str) -> tuple[Block, ...]:
    r"""Return the blocks of a plain Markdown page: `#` headings, paragraphs, lists and fenced code; no other syntax.

    >>> [block.kind for block in blocks("# A\n\nSome `code`.\n\n- one\n- two")]
    ['heading', 'paragraph', 'list']
    """
    found: list[Block] = []
    for i, part in enumerate(re.split(r"^```.*$", text, flags=re.MULTILINE)):
        if i % 2:
            found.append(Block("code", (part.strip("\n"),)))
        else:
            found.extend(_block(chunk.strip("\n")) for chunk in re.split(r"\n\s*\n", part) if chunk.strip())
    return tuple(found)


def inline(text: str) -> tuple[tuple[str, bool], ...]:
    """Return stretches of text and whether each is code, by single backticks."""
    return tuple((part, bool(i % 2)) for i, part in enumerate(text.split("`")) if part)


def _block(chunk: str) -> Block:
    if chunk.startswith("#"):
        return Block("heading", (chunk.lstrip("# "),))
    lines = chunk.splitlines()
    if _ITEM.match(lines[0]):
        items: list[str] = []
        for line in lines:
            if _ITEM.match(line):
                items.append(_ITEM.sub("", line))
            else:
                items[-1] += " " + line.strip()
        return Block("list", tuple(items))
    return Block("paragraph", (" ".join(line.strip() for line in lines),))
