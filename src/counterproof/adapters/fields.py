"""Checked access to the fields of a row: every bad field is noted with what to do, none is raised at once."""

from __future__ import annotations

import math
from typing import Any

from counterproof.adapters.lines import Row, kind_of
from counterproof.core.errors import Problem, nearest

_MISSING = object()


class Fields:
    """The fields of one row (or of an object inside it). A bad field reads as its empty value and is noted.

    Args:
        row: The row.
        inside: What precedes a field's name in messages, for example `steps[2]`.

    Attributes:
        problems: All problems noted so far.
    """

    def __init__(self, row: Row, inside: str = "") -> None:
        self._row = row
        self._inside = inside
        self.problems: list[Problem] = []

    def nested(self, name: str, value: Any) -> Fields | None:
        """Return the fields of an object inside the row, noting into the same list; None when it is no object."""
        if not isinstance(value, dict):
            self.note(name, f"is {kind_of(value)}", "give an object")
            return None
        inner = Fields(Row(self._row.where, value), self._name(name))
        inner.problems = self.problems
        return inner

    def note(self, name: str, what: str, remedy: str = "") -> None:
        """Note that a field is bad."""
        self.problems.append(Problem(f"{self._row.where}, {self._name(name)}", what, remedy))

    def has(self, name: str) -> bool:
        """Whether the field is there and not null."""
        return self._row.values.get(name) is not None

    def raw(self, name: str) -> Any:
        """Return the field as it is, None when it is missing."""
        return self._row.values.get(name)

    def required(self, name: str) -> bool:
        """Whether the field is there; notes it with the nearest name of the row when it is not."""
        if name in self._row.values:
            return True
        present = list(self._row.values)
        self.note(name, "is missing", nearest(name, present) if present else "the row is empty")
        return False

    def text(self, name: str, default: str = "") -> str:
        """Return a text field, or `default` when it is missing or null."""
        value = self._row.values.get(name)
        if value is None:
            return default
        if isinstance(value, str):
            return value
        self.note(name, f"is {kind_of(value)}", "give text")
        return default

    def identifier(self, name: str) -> str | None:
        """Return an id: text that is not empty, or a whole number as text; None when it is missing or null."""
        value = self._row.values.get(name)
        if value is None:
            return None
        checked = _identifier(value)
        if checked is None:
            self.note(name, "is empty" if value == "" else f"is {kind_of(value)}", "give an id: text or a whole number")
        return checked

    def texts(self, name: str, *, one: bool = False) -> tuple[str, ...]:
        """Return an array of text; with `one` a single text stands for an array of one."""
        value = self._row.values.get(name)
        if value is None:
            return ()
        if one and isinstance(value, str):
            return (value,)
        if not isinstance(value, list):
            self.note(name, f"is {kind_of(value)}", "give an array of text")
            return ()
        bad = [i for i, entry in enumerate(value) if not isinstance(entry, str)]
        for i in bad[:3]:
            self.note(f"{name}[{i}]", f"is {kind_of(value[i])}", "give text")
        return () if bad else tuple(value)

    def identifiers(self, name: str) -> tuple[str, ...]:
        """Return an array of ids."""
        value = self._row.values.get(name)
        if value is None:
            return ()
        if not isinstance(value, list):
            self.note(name, f"is {kind_of(value)}", "give an array of ids")
            return ()
        checked = [_identifier(entry) for entry in value]
        for i in [i for i, entry in enumerate(checked) if entry is None][:3]:
            self.note(f"{name}[{i}]", f"is {kind_of(value[i])} or empty", "give an id: text or a whole number")
        return tuple(entry for entry in checked if entry is not None)

    def array(self, name: str) -> list[Any]:
        """Return an array of anything."""
        value = self._row.values.get(name)
        if value is None:
            return []
        if isinstance(value, list):
            return value
        self.note(name, f"is {kind_of(value)}", "give an array")
        return []

    def number(self, name: str) -> float | None:
        """Return a finite number; true and false count as 1 and 0. None when it is missing or null."""
        value = self._row.values.get(name)
        if value is None:
            return None
        if isinstance(value, (bool, int, float)):
            try:
                number = float(value)
            except OverflowError:
                number = math.inf
            if math.isfinite(number):
                return number
            self.note(name, "is too large a number", "give a finite number")
            return None
        self.note(name, f"is {kind_of(value)}", "give a number")
        return None

    def whole(self, name: str) -> int | None:
        """Return a whole number; None when it is missing or null."""
        value = self._row.values.get(name)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        self.note(name, f"is {kind_of(value)}", "give a whole number")
        return None

    def _name(self, name: str) -> str:
        return f"{self._inside}.{name}" if self._inside else name


def _identifier(value: object) -> str | None:
    if isinstance(value, str):
        return value or None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return None
