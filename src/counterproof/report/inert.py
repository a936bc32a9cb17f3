"""Text from logs made inert: control, bidi and invisible characters are shown by name instead of taking effect."""

from __future__ import annotations

import re

_UNSEEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls but tab and line feed: escape sequences start here
    "\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff"  # bidi, zero width, noncharacters
    "\ud800-\udfff"  # lone surrogates, which no file can hold as UTF-8
    "\U000e0000-\U000e007f"  # tags: text that no reader sees
    "]"
)


def visible(text: str) -> str:
    r"""Return `text` with each character that acts unseen written as `⟨U+202E⟩`; tab and line feed stay.

    >>> visible("a\x1b[31mb")
    'a⟨U+001B⟩[31mb'
    """
    return _UNSEEN.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text)


def one_line(text: str, limit: int | None = None) -> str:
    """Return `text` made visible, on one line, and cut to `limit` characters with an ellipsis where longer."""
    line = " ".join(visible(text).split())
    return line if limit is None or len(line) <= limit else line[: limit - 1] + "…"
