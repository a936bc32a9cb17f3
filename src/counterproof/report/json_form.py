"""findings.json: an analysis as canonical JSON with a schema version, and back without loss."""

from __future__ import annotations

import dataclasses
import enum
import json
import math
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from counterproof.core.analysis import Analysis
from counterproof.core.errors import InputError, Problem, nearest
from counterproof.core.outcomes import NotApplicable

KIND = "counterproof.findings"
SCHEMA = 1
_NOT_APPLICABLE = "not_applicable"
_T = TypeVar("_T")


def findings_json(analysis: Analysis) -> bytes:
    """Return an analysis as JSON: sorted keys, one space of indent, ASCII only, one line feed at the end.

    Equal analyses give equal bytes. An estimate that does not apply is `{"not_applicable": reason}`, never null or NaN.
    Under `values`, sequences come back as tuples and must be given so for an exact round trip.

    Raises:
        InputError: A value is NaN, infinite or no plain value, or a mapping's key is no text.
    """
    problems: list[Problem] = []
    plain = {"kind": KIND, "schema": SCHEMA, **_plain(analysis, "", problems)}
    if problems:
        raise InputError("this analysis cannot be written as findings.json", problems[:20], len(problems))
    return json.dumps(plain, sort_keys=True, indent=1, ensure_ascii=True, allow_nan=False).encode("ascii") + b"\n"


def analysis_from_json(data: bytes) -> Analysis:
    """Return the analysis that `findings_json` wrote.

    Raises:
        InputError: The bytes are no JSON, of another kind, of a schema version unknown here, or a field is missing,
            unknown or of another type; the message names the field.
    """
    try:
        plain = json.loads(data, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise InputError(f"this is no findings.json: {error}") from None
    if not isinstance(plain, dict) or plain.get("kind") != KIND:
        raise InputError(f"this is no findings.json: its kind is not '{KIND}'")
    version = plain.get("schema")
    if isinstance(version, bool) or version != SCHEMA:
        raise InputError(
            f"findings.json has schema version {version!r}, and this counterproof reads {SCHEMA}; "
            "read it with the version that wrote it, or replay the run"
        )
    return _record(Analysis, {key: plain[key] for key in plain if key not in ("kind", "schema")}, "")


def findings_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of findings.json, which ships with the package."""
    from importlib.resources import files

    schema: dict[str, Any] = json.loads(files(__package__).joinpath("findings.schema.json").read_text("utf-8"))
    return schema


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _plain(value: object, where: str, problems: list[Problem]) -> Any:
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            problems.append(Problem(where, f"is {value}", "give NotApplicable with the reason"))
        return float(value)
    if isinstance(value, NotApplicable):
        return {_NOT_APPLICABLE: value.reason}
    if isinstance(value, enum.Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [entry.name for entry in dataclasses.fields(value)]
        return {name: _plain(getattr(value, name), _under(where, name), problems) for name in names}
    if isinstance(value, Mapping):
        if any(not isinstance(key, str) for key in value) or set(value) == {_NOT_APPLICABLE}:
            problems.append(
                Problem(where, f"has the keys {list(value)!r:.80}", f"use text other than {_NOT_APPLICABLE}")
            )
        return {str(key): _plain(entry, _under(where, str(key)), problems) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry, f"{where}[{i}]", problems) for i, entry in enumerate(value)]
    problems.append(Problem(where, f"is {type(value).__name__}", "give text, numbers, tuples or mappings"))
    return None


def _under(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _record(kind: type[_T], value: object, where: str) -> _T:
    """Return the dataclass that a mapping stands for, each field read by its annotation."""
    if not isinstance(value, dict):
        raise _mismatch(kind.__name__, value, where)
    hints = typing.get_type_hints(kind)
    unknown, missing = sorted(set(value) - set(hints)), sorted(set(hints) - set(value))
    if unknown:
        raise InputError(f"findings.json: {_under(where, unknown[0])} is no known field; {nearest(unknown[0], hints)}")
    if missing:
        raise InputError(f"findings.json: {_under(where, missing[0])} is missing")
    return kind(**{name: _read(hint, value[name], _under(where, name)) for name, hint in hints.items()})


def _read(hint: Any, value: Any, where: str) -> Any:
    if hint is Any:
        return _free(value)
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _read_one_of(inner, value, where)
    if origin is tuple:
        return _read_tuple(inner, value, where)
    if origin is Mapping:
        if not isinstance(value, dict):
            raise _mismatch("a mapping", value, where)
        return {key: _read(inner[1], entry, _under(where, key)) for key, entry in value.items()}
    if hint is NotApplicable:
        if not isinstance(value, dict) or set(value) != {_NOT_APPLICABLE}:
            raise _mismatch("a reason", value, where)
        return NotApplicable(_read(str, value[_NOT_APPLICABLE], where))
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        try:
            return hint(value)
        except ValueError:
            choices = [str(member.value) for member in hint]
            raise InputError(f"findings.json: {where} is {value!r:.80}; {nearest(str(value), choices)}") from None
    if dataclasses.is_dataclass(hint):
        return _record(typing.cast("type[Any]", hint), value, where)
    return _read_plain(hint, value, where)


def _read_plain(hint: Any, value: Any, where: str) -> Any:
    allowed: tuple[type, ...] = (int, float) if hint is float else (hint,)
    if type(value) in allowed:
        return value
    raise _mismatch("null" if hint is type(None) else hint.__name__, value, where)


def _read_one_of(choices: tuple[Any, ...], value: Any, where: str) -> Any:
    failure: InputError | None = None
    for choice in choices:
        try:
            return _read(choice, value, where)
        except InputError as error:
            failure = failure or error
    raise failure or _mismatch("something", value, where)


def _read_tuple(inner: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise _mismatch("a list", value, where)
    hints = (inner[0],) * len(value) if len(inner) == 2 and inner[1] is Ellipsis else inner
    if len(hints) != len(value):
        raise InputError(f"findings.json: {where} has {len(value)} entries, not {len(hints)}")
    return tuple(_read(hint, entry, f"{where}[{i}]") for i, (hint, entry) in enumerate(zip(hints, value, strict=True)))


def _free(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_free, value))
    if isinstance(value, dict):
        if set(value) == {_NOT_APPLICABLE}:
            return NotApplicable(str(value[_NOT_APPLICABLE]))
        return {key: _free(entry) for key, entry in value.items()}
    return value


def _mismatch(expected: str, value: object, where: str) -> InputError:
    return InputError(f"findings.json: {where or 'the whole'} is {value!r:.80}, and {expected} is expected")
