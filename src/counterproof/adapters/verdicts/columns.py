"""Which column of a verdict file holds what: declared, or guessed from common names and then said."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from counterproof.core.errors import InputError, Problem, nearest

_COMMON: Mapping[str, tuple[str, ...]] = {
    "item": ("item", "item_id", "task", "task_id", "sample_id", "example_id", "question_id", "prompt_id", "uid", "id"),
    "channel": (
        *("channel", "judge", "verifier", "grader", "scorer", "annotator", "worker", "rater", "labeler", "labeller"),
        *("evaluator", "judge_model"),
    ),
    "verdict": ("verdict", "judgement", "judgment", "vote", "decision", "winner", "preference", "choice", "label"),
    "score": ("score", "reward", "probability", "prob"),
    "gold": ("gold", "gold_label", "ground_truth", "truth", "oracle", "human", "human_label", "target", "label"),
    "cluster": ("cluster", "cluster_id", "group", "group_id", "question_id", "document_id"),
    "cost": ("cost", "price", "usd"),
    "seconds": ("seconds", "latency", "latency_s", "duration", "elapsed"),
    "time": ("time", "timestamp", "created_at", "created", "started_at", "date"),
    "failure": ("failure", "failure_kind", "error", "error_type", "failed"),
    "order": ("swapped", "order", "presentation"),
    "repeat": ("repeat", "repetition", "replicate", "epoch", "call", "attempt", "trial"),
}
"""Names by role, the likeliest first; roles pick in this order and no column is picked twice."""
_JOINED = ("item", "channel", "cluster")
_PER_CALL = ("channel", "verdict", "score", "cost", "seconds", "failure", "order", "repeat")


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """The columns of a verdict file. Long format has one row a call, wide format one column a channel.

    Attributes:
        item: The item's key; several columns are joined with `/`.
        channel: Long format: who judged; several columns are joined with `/`.
        verdict: Long format: a class name, or 0, 1, true or false.
        gold: The oracle label, the same in every row of an item; empty where unknown.
        cluster: The sampling unit; each item is its own without it.
        score: A number that a threshold turns into a verdict.
        cost: What the call cost, in declared units.
        seconds: How long the call took.
        time: When the item came in: numbers, or ISO 8601 dates.
        failure: Why the call gave no verdict; empty where it did.
        order: Which order of a pair the judge saw. Verdicts name the same output in both orders.
        repeat: Which repetition of the same call it is.
        channels: Wide format: the columns that each hold one channel's verdicts.

    Raises:
        InputError: Neither format is complete, the two are mixed, or one column plays two parts.
    """

    item: str | tuple[str, ...]
    channel: str | tuple[str, ...] | None = None
    verdict: str | None = None
    gold: str | None = None
    cluster: str | tuple[str, ...] | None = None
    score: str | None = None
    cost: str | None = None
    seconds: str | None = None
    time: str | None = None
    failure: str | None = None
    order: str | None = None
    repeat: str | None = None
    channels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        problems = list(_defects(self))
        if problems:
            raise InputError("these columns make no verdict file", problems)

    def names(self) -> tuple[str, ...]:
        """Return every column that is read, in the order of the roles, each once."""
        found = (name for entry in fields(self) for name in joined(getattr(self, entry.name)))
        return tuple(dict.fromkeys(found))

    def described(self) -> str:
        """Return one line that says which column plays which part.

        >>> ColumnMap(item="task", channel=("judge", "prompt"), verdict="label").described()
        'item = task, channel = judge + prompt, verdict = label'
        """
        parts = ((entry.name, joined(getattr(self, entry.name))) for entry in fields(self))
        return ", ".join(f"{role} = {' + '.join(names)}" for role, names in parts if names)


def guess_columns(names: Sequence[str], given: Mapping[str, str | Sequence[str]] | None = None) -> ColumnMap:
    """Return the columns by their common names; case, spaces and hyphens do not matter.

    Args:
        names: The columns of the file.
        given: Columns by role that are known; they are not guessed. With `channels` the file is wide.

    Raises:
        InputError: A role is unknown, a given column is not there, or what a verdict file needs was not found; each
            with the names that come near.
    """
    known: dict[str, Any] = dict(given or {})
    roles = {entry.name for entry in fields(ColumnMap)}
    unknown = [Problem(f"role {role!r}", "is unknown", nearest(role, roles)) for role in known if role not in roles]
    if unknown:
        raise InputError("these columns play no part in a verdict file", unknown)
    known = {role: name if isinstance(name, str) else tuple(name) for role, name in known.items() if name}
    check_names(names, [name for value in known.values() for name in joined(value)])
    taken = {name for value in known.values() for name in joined(value)}
    wide = "channels" in known
    for role, common in _COMMON.items():
        if role in known or (wide and role in _PER_CALL):
            continue
        free = {_folded(name): name for name in reversed(names) if name not in taken}
        found = next((free[name] for name in common if name in free), None)
        if found is not None:
            known[role] = found
            taken.add(found)
    missing = [role for role in (("item",) if wide else ("item", "channel")) if role not in known]
    if not wide and not {"verdict", "score"} & set(known):
        missing.append("verdict")
    if missing:
        listed = ", ".join(names) or "(none)"
        raise InputError(
            f"which column is which cannot be guessed from {listed}",
            [Problem(role, "was not found", f"name its column; tried {', '.join(_COMMON[role])}") for role in missing],
        )
    return ColumnMap(**known)


def check_names(present: Collection[str], wanted: Sequence[str]) -> None:
    """Check that columns are there.

    Raises:
        InputError: Some are not; each with the nearest that is.
    """
    problems = [
        Problem(f"column {name!r}", "is not in the file", nearest(name, present))
        for name in dict.fromkeys(wanted)
        if name not in present
    ]
    if problems:
        raise InputError("the file lacks columns that were named", problems)


def joined(names: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the one or several columns of a role as a tuple."""
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else names


def _folded(name: str) -> str:
    return re.sub(r"[\s.\-]+", "_", name.strip().casefold())


def _defects(columns: ColumnMap) -> Iterator[Problem]:
    if not joined(columns.item) or "" in columns.names():
        yield Problem("item", "is empty", "name the column of the item's key")
    if columns.channels:
        for role in _PER_CALL:
            if joined(getattr(columns, role)):
                yield Problem(role, "is given beside channels", "one row holds all calls; use the long format for it")
    else:
        if not joined(columns.channel):
            yield Problem("channel", "is not given", "name the column of who judged, or list channels for a wide file")
        if columns.verdict is None and columns.score is None:
            yield Problem("verdict", "is not given", "name the column of the verdict, or of the score")
    places: dict[str, list[str]] = {}
    for entry in fields(columns):
        for name in joined(getattr(columns, entry.name)):
            places.setdefault(name, []).append(entry.name)
    for name, roles in places.items():
        if len(roles) > 1 and not set(roles) <= set(_JOINED):
            yield Problem(f"column {name!r}", f"plays several parts: {', '.join(roles)}", "give each part its own")
