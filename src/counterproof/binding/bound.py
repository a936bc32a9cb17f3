"""Bind a callable to records by the names of its parameters."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from counterproof.binding.offers import Offer, roles_of
from counterproof.binding.tracking import TrackedArguments, stand_in, taking_dict
from counterproof.core.errors import BindingError, CannotRender, Problem, nearest
from counterproof.core.outcomes import NotApplicable, Outcome, Scored, outcome_of
from counterproof.core.views import UNTRACKED, reads_labels

_Make = Callable[[Any, set[str]], Any]
_KINDS = inspect.Parameter


@dataclass(frozen=True, slots=True)
class Bound:
    """A verifier that takes records.

    Attributes:
        signature: What each parameter is bound to and the role of that, a line each, then whether labels are read.
        reads: Fields that every call counts as reading: those of all named parameters, used or not. What a call reads
            beyond that, through a whole record or `**kwargs`, is in its outcome.
        call: Returns the outcome for a record. What the verifier raises is not caught here.
        tracked: Whether a call may read more than `reads`.
    """

    signature: str
    reads: frozenset[str]
    call: Callable[[Any], Outcome] = field(repr=False, compare=False)
    tracked: bool = False


@dataclass(frozen=True, slots=True)
class _Slot:
    """A parameter and what it gets. Without `make` it keeps its default, or gets nothing."""

    parameter: inspect.Parameter
    said: str
    fields: frozenset[str] = frozenset()
    make: _Make | None = None
    tracked: bool = False


def bind(function: Callable[..., Any], offers: Mapping[str, Offer], name: str = "") -> Bound:
    """Return `function` bound to the offers by parameter name.

    A parameter without an offer keeps its default. A function whose only required parameter has a name that is not
    known and not close to one that is gets the whole record, or its text if annotated as `str`; the signature says so.
    Coroutines are awaited.

    Args:
        function: Any callable.
        offers: By parameter name.
        name: How the signature calls it; by default its own name.

    Raises:
        BindingError: Parameters that have neither offer nor default, all at once; or no signature can be read.
    """
    title = name or getattr(function, "__name__", type(function).__name__)
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        raise BindingError(f"the parameters of {title} cannot be read ({error}); wrap it in a function") from None
    target: Callable[..., Any] = function
    slots: list[_Slot] = []
    problems: list[Problem] = []
    required = [parameter for parameter in parameters if _is_required(parameter)]
    taken = frozenset(parameter.name for parameter in parameters)
    for parameter in parameters:
        if parameter.kind is _KINDS.VAR_KEYWORD:
            rest = {key: offer for key, offer in offers.items() if key not in taken and not offer.lack}
            target, slot = _keywords(function, parameter, rest)
            slots.append(slot)
            continue
        found = _slot(parameter, offers, alone=len(required) == 1)
        if isinstance(found, Problem):
            problems.append(found)
        else:
            slots.append(found)
    if problems:
        raise BindingError(_refusal(title, problems, offers))
    reads = frozenset[str]().union(*(slot.fields for slot in slots))
    tracked = any(slot.tracked for slot in slots)
    return Bound(_signature(title, slots, reads, tracked), reads, _caller(target, slots, reads, tracked), tracked)


def _is_required(parameter: inspect.Parameter) -> bool:
    return parameter.default is _KINDS.empty and parameter.kind not in (_KINDS.VAR_POSITIONAL, _KINDS.VAR_KEYWORD)


def _slot(parameter: inspect.Parameter, offers: Mapping[str, Offer], *, alone: bool) -> _Slot | Problem:
    if parameter.kind is _KINDS.VAR_POSITIONAL:
        return _Slot(parameter, "gets nothing")
    offer = offers.get(parameter.name)
    has_default = parameter.default is not _KINDS.empty
    if offer is not None and not offer.lack and not (offer.shy and has_default):
        return _filled(parameter, offer, "")
    if has_default:
        other = f", not the record's {offer.name}" if offer is not None and not offer.lack else ""
        return _Slot(parameter, f"keeps its default {repr(parameter.default)[:60]}{other}")
    if offer is not None:
        return Problem(parameter.name, offer.lack)
    annotation = _annotated(parameter)
    whole = offers.get("record")
    if annotation == "Trajectory" and whole is not None:
        return _filled(parameter, whole, " (by its annotation)")
    hint = nearest(parameter.name, offers)
    if alone and not hint.startswith("did you mean"):
        text = offers.get("text")
        if annotation == "str" and text is not None and not text.lack:
            return _filled(parameter, text, " (a guess: the only parameter, annotated as str)")
        if whole is not None and annotation != "str":
            return _filled(parameter, whole, " (a guess: the only parameter, and its name is not known)")
    return Problem(parameter.name, "is not on offer", hint if hint.startswith("did you mean") else "")


def _annotated(parameter: inspect.Parameter) -> str:
    annotation = parameter.annotation
    if annotation is _KINDS.empty:
        return ""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return str(text).strip("'\"").rpartition(".")[2]


def _filled(parameter: inspect.Parameter, offer: Offer, why: str) -> _Slot:
    role = "noted as it is read" if offer.tracked else roles_of(offer.fields)
    own = "" if offer.name == parameter.name else f"{offer.name}: "
    said = f"<- {own}{offer.note}{why} [{role}]"
    return _Slot(parameter, said, offer.fields, _maker(offer), offer.tracked)


def _maker(offer: Offer) -> _Make:
    if offer.tracked:
        return stand_in
    make = offer.make
    return lambda record, _: make(record)


def _keywords(
    function: Callable[..., Any], parameter: inspect.Parameter, rest: Mapping[str, Offer]
) -> tuple[Callable[..., Any], _Slot]:
    """Return what to call and the slot of `**kwargs`: tracked where Python allows that, else all of it is read."""
    changed = taking_dict(function)
    if changed is not None:
        said = "<- everything else by name [noted as it is read]"
        return changed[0], _Slot(parameter, said, make=lambda r, reads: TrackedArguments(rest, r, reads), tracked=True)
    said = "<- everything else by name [not tracked: counts as reading labels]"
    return function, _Slot(parameter, said, frozenset({UNTRACKED}), lambda r, reads: dict(_untracked(rest, r, reads)))


def _untracked(rest: Mapping[str, Offer], record: Any, reads: set[str]) -> list[tuple[str, Any]]:
    made = []
    for key, offer in rest.items():
        try:
            made.append((key, _maker(offer)(record, reads)))
        except CannotRender:  # may never be looked at
            continue
    return made


def _caller(
    target: Callable[..., Any], slots: list[_Slot], reads: frozenset[str], tracked: bool
) -> Callable[[Any], Outcome]:
    spread = [slot for slot in slots if slot.parameter.kind is _KINDS.VAR_KEYWORD and not slot.tracked]
    first = [s.make for s in slots if s.make is not None and s.parameter.kind is _KINDS.POSITIONAL_ONLY]
    named = [
        (slot.parameter.name, slot.make)
        for slot in slots
        if slot.make is not None and slot.parameter.kind is not _KINDS.POSITIONAL_ONLY and slot not in spread
    ]

    def call(record: Any) -> Outcome:
        noted: set[str] = set()
        try:
            arguments = {name: make(record, noted) for name, make in named}
            for slot in spread:
                if slot.make is not None:
                    arguments.update(slot.make(record, noted))
            value = target(*[make(record, noted) for make in first], **arguments)
            if inspect.isawaitable(value):
                value = asyncio.run(_awaited(value))
        except CannotRender as error:
            return NotApplicable(str(error))
        return _with_reads(outcome_of(value), reads | noted if tracked else reads)

    return call


def _with_reads(outcome: Outcome, reads: frozenset[str]) -> Outcome:
    """Return the outcome with what was read; a verifier that states its reads itself can only add to that."""
    if not isinstance(outcome, Scored) or not reads:
        return outcome
    return Scored(outcome.score, outcome.components, reads | outcome.reads if outcome.reads else reads)


async def _awaited(value: Awaitable[Any]) -> Any:
    return await value


def _signature(title: str, slots: list[_Slot], reads: frozenset[str], tracked: bool) -> str:
    marks: dict[Any, str] = {_KINDS.VAR_POSITIONAL: "*", _KINDS.VAR_KEYWORD: "**"}
    names = [marks.get(slot.parameter.kind, "") + slot.parameter.name for slot in slots]
    width = max(map(len, names), default=0)
    lines = [f"{title}({', '.join(names)})"]
    lines += [f"  {name:<{width}} {slot.said}" for name, slot in zip(names, slots, strict=True)]
    labels = sorted(name for name in reads if reads_labels(frozenset({name})))
    if labels:
        said = "yes (" + ", ".join("not tracked" if name == UNTRACKED else name for name in labels) + ")"
    else:
        said = "as seen in its calls" if tracked else "no"
    return "\n".join([*lines, f"  reads labels: {said}"])


def _refusal(title: str, problems: list[Problem], offers: Mapping[str, Offer]) -> str:
    lines = [f"{title} cannot be called with what there is:", *(f"  - {problem}" for problem in problems)]
    on_offer = ", ".join(sorted(name for name, offer in offers.items() if not offer.lack))
    return "\n".join([*lines, f"  on offer: {on_offer}; and **kwargs for everything by name"])
