"""Canonical JSON and content digests: the same value gives the same hash on every machine."""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any


def canonical(value: object) -> bytes:
    """Return `value` as canonical JSON: sorted keys, no white space, UTF-8, sets sorted, dataclasses tagged by name.

    A tuple is written as a list, an enum as its value, bytes as {"bytes": hexadecimal}, a dataclass as its fields
    beside {"type": its name}. Numbers keep their kind: 1, 1.0 and true are three texts.

    Raises:
        TypeError: `value` holds something that has no canonical form (a path, an open file, a function), a mapping with
            a key that is no text, or a dataclass with a field called `type`.
        ValueError: `value` holds NaN or infinity.
    """
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode(
        "utf-8", "surrogatepass"
    )


def digest(value: object) -> str:
    """Return the SHA-256 of the canonical form, in hexadecimal.

    Raises:
        TypeError: As `canonical`.
        ValueError: As `canonical`.

    >>> digest({"b": 1, "a": (1, 2)}) == digest({"a": [1, 2], "b": 1})
    True
    """
    return hashlib.sha256(canonical(value)).hexdigest()


def digest_bytes(data: bytes) -> str:
    """Return the SHA-256 of bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def _plain(value: object) -> Any:
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} has no canonical form")
        return value
    if isinstance(value, enum.Enum):
        return _plain(value.value)
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, Mapping):
        return {_key(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, (set, frozenset)):
        return sorted((_plain(entry) for entry in value), key=lambda entry: json.dumps(entry, sort_keys=True))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        if "type" in fields:
            raise TypeError(f"{type(value).__name__} has no canonical form; its field 'type' would hide what it is")
        return {"type": type(value).__name__, **fields}
    raise TypeError(
        f"{type(value).__name__} has no canonical form; use numbers, text, sequences, mappings or dataclasses"
    )


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a mapping with the key {key!r} has no canonical form; keys must be text")
    return key
