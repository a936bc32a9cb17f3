"""Stand-ins for a record and for keyword arguments that note what foreign code reads of them."""

from __future__ import annotations

import types
from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, ValuesView
from functools import cache
from typing import Any, Self

from counterproof.binding.offers import Offer
from counterproof.core.records import FIELD_OF_DERIVED
from counterproof.core.views import TRAJECTORY_ROLES, UNTRACKED

_VARKEYWORDS = 0x08
_VARARGS = 0x04


def stand_in(record: object, reads: set[str]) -> TrackedRecord:
    """Return a stand-in for `record` that adds what is read of it to `reads`."""
    kind: Any = type(record)
    return _tracker(kind)(record, reads)


@cache
def _tracker(kind: Any) -> type[TrackedRecord]:
    """Return the class of stand-ins for records of this class; `dataclasses` asks the class what its fields are."""
    return type(TrackedRecord.__name__, (TrackedRecord,), {"__slots__": (), **_dataclass_fields(kind)})


def _dataclass_fields(kind: Any) -> dict[str, Any]:
    name = "__dataclass_fields__"
    return {name: getattr(kind, name)} if hasattr(kind, name) else {}


class TrackedRecord:
    """A record through which every read is noted; `isinstance` sees the record's own class.

    A read of a field is noted under its name, of a derived property under the field that it comes from. Methods,
    comparison, hashing, printing and copying read everything, and are noted as `UNTRACKED`.
    """

    __slots__ = ("_tracked_reads", "_tracked_record")

    def __init__(self, record: object, reads: set[str]) -> None:
        object.__setattr__(self, "_tracked_record", record)
        object.__setattr__(self, "_tracked_reads", reads)

    def __getattr__(self, name: str) -> Any:
        field = FIELD_OF_DERIVED.get(name, name)
        self._tracked_reads.add(field if field in TRAJECTORY_ROLES else UNTRACKED)
        return getattr(self._tracked_record, name)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a verifier may not write '{name}': records are frozen")

    @property
    def __class__(self) -> Any:
        return type(self._tracked_record)

    @__class__.setter
    def __class__(self, value: type) -> None:
        raise AttributeError("records are frozen")

    def _whole(self) -> Any:
        self._tracked_reads.add(UNTRACKED)
        return self._tracked_record

    def __eq__(self, other: object) -> bool:
        if issubclass(type(other), TrackedRecord):
            other = object.__getattribute__(other, "_tracked_record")
        return bool(self._whole() == other)

    def __hash__(self) -> int:
        return hash(self._whole())

    def __repr__(self) -> str:
        return repr(self._whole())

    def __copy__(self) -> Any:
        return self._whole()

    def __deepcopy__(self, memo: object) -> Any:
        return self._whole()

    def __reduce_ex__(self, protocol: object) -> Any:
        return self._whole().__reduce_ex__(protocol)


class TrackedArguments(dict[str, Any]):
    """Keyword arguments as a real dict that notes which are read, and makes each when it is first read.

    Looking at the keys reads nothing: they are the same for every record.
    """

    def __init__(self, offers: Mapping[str, Offer], record: object, reads: set[str]) -> None:
        super().__init__(dict.fromkeys(offers))
        self._offers = offers
        self._record = record
        self._reads = reads
        self._made: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        offer = self._offers.get(key)
        if offer is not None and key in self and key not in self._made:
            self._reads |= offer.fields
            value = stand_in(self._record, self._reads) if offer.tracked else offer.make(self._record)
            super().__setitem__(key, value)
            self._made.add(key)
        return super().__getitem__(key)

    def __setitem__(self, key: str, value: Any) -> None:
        self._made.add(key)
        super().__setitem__(key, value)

    def __iter__(self) -> Iterator[str]:  # its presence keeps `**` and dict() from copying unmade values
        return super().__iter__()

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of `key`, noted as read, or the default."""
        return self[key] if key in self else default  # noqa: SIM401 - this is what `get` does here

    def pop(self, key: str, *default: Any) -> Any:
        """Remove `key` and return its value, noted as read."""
        if key in self:
            value = self[key]
            del self[key]
            return value
        return super().pop(key, *default)

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value of `key`, noted as read, after setting it to the default if absent."""
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, *others: Any, **more: Any) -> None:
        """Set what is given."""
        for key, value in dict(*others, **more).items():
            self[key] = value

    def keys(self) -> KeysView[str]:  # type: ignore[override]
        """Return the keys; nothing counts as read."""
        return KeysView(self)

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]
        """Return all items: each counts as read when it is reached."""
        return ItemsView(self)

    def values(self) -> ValuesView[Any]:  # type: ignore[override]
        """Return all values: each counts as read when it is reached."""
        return ValuesView(self)

    def popitem(self) -> tuple[str, Any]:
        """Remove the last item and return it, noted as read."""
        key = next(reversed(self))
        return key, self.pop(key)

    def copy(self) -> dict[str, Any]:
        """Return a plain copy; everything counts as read."""
        return {key: self[key] for key in self}

    def __or__(self, other: Any) -> Any:
        return self.copy() | other

    def __ror__(self, other: Any) -> Any:
        return other | self.copy()

    def __ior__(self, other: Any) -> Self:  # type: ignore[override]
        self.update(other)
        return self

    def __eq__(self, other: object) -> bool:
        return self.copy() == other

    __hash__ = None

    def __repr__(self) -> str:
        return repr(self.copy())

    def __reduce__(self) -> Any:
        return dict, (self.copy(),)


def taking_dict(function: Callable[..., Any]) -> tuple[Callable[..., Any], str] | None:
    """Return `function` with its `**kwargs` turned into an ordinary keyword-only parameter, and that one's name.

    Python copies what is passed by `**` into a fresh dict, so that a dict which notes its reads never arrives; given as
    an ordinary argument it does. None where that cannot be done: for what is no plain function or method (a partial,
    a wrapper, C code), or one that takes `*args` too.
    """
    if isinstance(function, types.MethodType):
        inner = taking_dict(function.__func__)
        return None if inner is None else (types.MethodType(inner[0], function.__self__), inner[1])
    if not isinstance(function, types.FunctionType) and hasattr(type(function), "__call__"):  # noqa: B004
        call = getattr(function, "__call__", None)  # noqa: B004 - the bound method itself is wanted
        return taking_dict(call) if isinstance(call, types.MethodType) else None
    if not isinstance(function, types.FunctionType) or hasattr(function, "__wrapped__"):
        return None
    code = function.__code__
    if not code.co_flags & _VARKEYWORDS or code.co_flags & _VARARGS:
        return None
    changed = code.replace(co_flags=code.co_flags & ~_VARKEYWORDS, co_kwonlyargcount=code.co_kwonlyargcount + 1)
    copy = types.FunctionType(
        changed, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__dict__.update(function.__dict__)
    return copy, code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
