"""Roles of fields, and field views that hold only what an operator declared."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from counterproof.core.errors import BoundaryError, nearest
from counterproof.core.records import FIELD_OF_DERIVED, Trajectory


class Role(enum.Enum):
    """Who may see a field before outcomes are committed."""

    VISIBLE = "visible"
    """The judged party sees it."""
    VERIFIER_ONLY = "verifier-only"
    """The reward may read it, the judged party may not (gold answers)."""
    ORACLE = "oracle"
    """Neither may see it before commitment."""


TRAJECTORY_ROLES: Mapping[str, Role] = {
    "trajectory_id": Role.VISIBLE,
    "question_id": Role.VISIBLE,
    "question": Role.VISIBLE,
    "steps": Role.VISIBLE,
    "answer": Role.VISIBLE,
    "citations": Role.VISIBLE,
    "raw_final": Role.VISIBLE,
    "gold_answers": Role.VERIFIER_ONLY,
    "support_ids": Role.VERIFIER_ONLY,
    "model": Role.VISIBLE,
    "pool": Role.VISIBLE,
    "sample": Role.VISIBLE,
    "group_id": Role.VISIBLE,
    "score": Role.VERIFIER_ONLY,
}
UNTRACKED = "*"
"""Stands in `reads` for what cannot be tracked; it counts as reading labels."""


def reads_labels(reads: frozenset[str]) -> bool:
    """Return whether a set of read fields holds a label, or something that cannot be tracked.

    A derived property counts as the field that it comes from; a name that is no field counts as a label.

    >>> reads_labels(frozenset({"answer"})), reads_labels(frozenset({"answer", "gold_answers"}))
    (False, True)
    """
    return any(
        TRAJECTORY_ROLES.get(FIELD_OF_DERIVED.get(name, name), Role.ORACLE) is not Role.VISIBLE for name in reads
    )


class FieldView:
    """A trajectory through which only the declared fields can be read, and nothing can be written.

    Derived properties (`retrieved`, `cited`) need the field that they come from. The view stops mistakes, not malice:
    Python keeps nothing private.

    Args:
        record: What is looked at.
        reads: Names of the fields that may be read.
        owner: Who looks, as error messages name it.

    Raises:
        BoundaryError: On reading a field that was not declared, and on every write.
        AttributeError: On reading what is no field of a trajectory.
    """

    __slots__ = ("_owner", "_reads", "_record")

    def __init__(self, record: Trajectory, reads: frozenset[str], owner: str) -> None:
        object.__setattr__(self, "_record", record)
        object.__setattr__(self, "_reads", reads)
        object.__setattr__(self, "_owner", owner)

    def __getattr__(self, name: str) -> Any:
        if name in FieldView.__slots__:  # a view that was never filled, as unpickling makes one
            raise AttributeError(name)
        reads = self._reads
        field = FIELD_OF_DERIVED.get(name, name)
        if field in reads:
            return getattr(self._record, name)
        owner = self._owner
        if field in TRAJECTORY_ROLES:
            raise BoundaryError(
                f"{owner} read '{name}', which it did not declare (declared: {', '.join(sorted(reads)) or 'nothing'}); "
                f"add '{field}' to its reads, or do without"
            )
        raise AttributeError(f"a trajectory has no field '{name}'; {nearest(name, TRAJECTORY_ROLES)}")

    def __setattr__(self, name: str, value: object) -> None:
        raise BoundaryError(f"{object.__getattribute__(self, '_owner')} tried to write '{name}' through a field view")
