"""Which array holds times, points and values: declared, or guessed from common names and then said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from counterproof.core.errors import Problem, nearest

Names: TypeAlias = Mapping[str, str | Sequence[str]]

AXES = ("t", "x", "y", "z")
_COMMON: Mapping[str, tuple[str, ...]] = {
    "t": ("t", "tt", "ts", "time", "times", "tstar", "tcoordinate", "gridt"),
    "x": ("x", "xx", "xs", "xstar", "xcoordinate", "gridx", "space"),
    "y": ("y", "yy", "ys", "ystar", "ycoordinate", "gridy"),
    "z": ("z", "zz", "zs", "zstar", "zcoordinate", "gridz"),
    "u": (
        *("u", "uu", "usol", "ustar", "uexact", "exact", "sol", "solution", "field", "values", "value", "data"),
        *("tensor", "groupdata"),
    ),
}
_REQUIRED = ("t", "x", "u")


@dataclass(frozen=True, slots=True)
class Roles:
    """Which array has which role.

    Attributes:
        axes: Array name by role `t`, `x`, `y`, `z`; what is not there is absent.
        channels: Array names that hold values; empty when none was found.
        notes: What was chosen, and what was not read.
        problems: Names that were given and are not there, and roles that no array fills.
    """

    axes: Mapping[str, str]
    channels: tuple[str, ...]
    notes: tuple[str, ...]
    problems: tuple[Problem, ...]


def find_roles(file: str, shapes: Mapping[str, tuple[int, ...]], names: Names | None = None) -> Roles:
    """Return which array of a file has which role.

    Names given are taken as they are. The others are guessed: capitals, underscores and hyphens do not matter; if no
    array has a common name for values, all arrays of the largest number of axes that share one shape are channels.

    Args:
        file: Name of the file, for messages.
        shapes: Shape of each array in it.
        names: Array name by role `t`, `x`, `y`, `z`, `u`; several names for `u` are several channels.
    """
    given = {role: (name,) if isinstance(name, str) else tuple(name) for role, name in (names or {}).items()}
    problems = [
        Problem(f"names, {role!r}", "is no role", nearest(role, _COMMON)) for role in given if role not in _COMMON
    ]
    for role, wanted in given.items():
        if role in _COMMON and (not wanted or (role != "u" and len(wanted) > 1)):
            problems.append(Problem(f"names, {role!r}", f"names {len(wanted)} arrays", "give one name"))
        problems += [
            Problem(f"{file}, {name}", "is not in the file", nearest(name, shapes) if shapes else "the file is empty")
            for name in wanted
            if name not in shapes
        ]
    free = [name for name in shapes if not any(name in wanted for wanted in given.values())]
    chosen: dict[str, str] = {}
    for role in AXES:
        found = given[role] if role in given else _common(role, free)
        if found and found[0] in shapes:
            chosen[role] = found[0]
    free = [name for name in free if name not in chosen.values()]
    channels = given.get("u") or _common("u", free) or _alike(free, shapes)
    filled = {*chosen, *given, *(("u",) if channels else ())}
    problems += [
        Problem(f"{file}, {role}", f"no array holds {_MEANING[role]}", f"name one of: {', '.join(free) or 'none left'}")
        for role in _REQUIRED
        if role not in filled
    ]
    channels = tuple(name for name in channels if name in shapes)
    told = [f"{role} from {name!r}" for role, name in chosen.items()] + [f"u from {name!r}" for name in channels]
    unread = [name for name in free if name not in channels]
    notes = [f"arrays: {', '.join(told)}"] if told else []
    notes += [f"not read: {', '.join(unread)}"] if unread else []
    return Roles(chosen, channels, tuple(notes), tuple(problems))


_MEANING = {"t": "the times", "x": "the points", "u": "the values"}


def _common(role: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the array that most likely has a role, or nothing; of `t` and `T` the one written like the role."""
    known = _COMMON[role]
    ranked = sorted((known.index(plain), name != plain, name) for name in names if (plain := _plain(name)) in known)
    return (ranked[0][2],) if ranked else ()


def _plain(name: str) -> str:
    return "".join(char for char in name.lower() if char.isalnum())


def _alike(names: Sequence[str], shapes: Mapping[str, tuple[int, ...]]) -> tuple[str, ...]:
    """Return the arrays with most axes, at least two, if they all have one shape."""
    axes = max((len(shapes[name]) for name in names), default=0)
    largest = tuple(name for name in names if len(shapes[name]) == axes)
    return largest if axes >= 2 and len({shapes[name] for name in largest}) == 1 else ()
