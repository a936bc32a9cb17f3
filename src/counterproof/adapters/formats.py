"""What a log format must offer: reading a row, and the native completion text both ways (the render law)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from counterproof.adapters.fields import Fields
from counterproof.core.errors import CannotRender
from counterproof.core.records import Corpus, Trajectory

MARKER = re.compile(r"\[([^\[\]\s]+)\]")
"""A citation in a final message: an id in square brackets, without white space or further brackets inside."""


class Format(Protocol):
    """The native completion text of a log format, both ways.

    Render law: `parse(render(t, corpus), base, corpus)` equals `t` on every field of `expresses`, whatever `base` is,
    or `render` raises `CannotRender`. What `expresses` lacks, `parse` takes from `base`.
    """

    @property
    def name(self) -> str:
        """The format's name, as given to `--format`."""
        ...

    @property
    def expresses(self) -> frozenset[str]:
        """The record fields that the completion text can express."""
        ...

    def render(self, record: Trajectory, corpus: Corpus) -> str:
        """Return the completion as the model and its environment wrote it.

        Raises:
            CannotRender: The text would not read back as this record.
        """
        ...

    def parse(self, text: str, base: Trajectory, corpus: Corpus) -> Trajectory:
        """Return the record that a completion text stands for."""
        ...


@dataclass(frozen=True, slots=True)
class Reading:
    """What one row of a log holds.

    Attributes:
        record: The trajectory, with passage ids as the row names them.
        passages: Passages whose text came with the row: source id ("" when it had none), title, text.
        counts: Named numbers for the pool's notes, for example how many evidence blocks were forged.
    """

    record: Trajectory
    passages: tuple[tuple[str, str, str], ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)


class LogFormat(Format, Protocol):
    """A format that can also read the rows of a log."""

    @property
    def columns(self) -> frozenset[str]:
        """The columns that are read; others are reported."""
        ...

    @property
    def shape(self) -> str:
        """The rows that are accepted, in words, for error messages."""
        ...

    def recognises(self, columns: frozenset[str]) -> bool:
        """Whether a row with these columns is of this format."""
        ...

    def read(self, row: Fields, place: str) -> Reading:
        """Return what the row holds; bad fields are noted in it. `place` is unique to the row in its log."""
        ...


def expressible(log_format: Format, record: Trajectory, corpus: Corpus) -> str | None:
    """Return why the format cannot express a record, or None when it can.

    A record that holds something in a field outside `expresses` is refused by `render`, and so is one whose text would
    read back as another record: its outcome is then not applicable, because a reward never saw the difference.
    """
    try:
        log_format.render(record, corpus)
    except CannotRender as reason:
        return str(reason)
    return None


def same_completion(one: Trajectory, other: Trajectory) -> bool:
    """Return whether two records agree in all that a completion can say: steps, answer, citations, final message."""
    return all(getattr(one, name) == getattr(other, name) for name in ("steps", "answer", "citations", "raw_final"))


def markers(text: str) -> tuple[str, ...]:
    """Return the ids in square brackets, in order.

    >>> markers("Rush [p1], says [p2] and [p1].")
    ('p1', 'p2', 'p1')
    """
    return tuple(MARKER.findall(text))
