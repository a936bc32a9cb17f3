"""From calls in any order to a verdict table: duplicates, orders of a pair, repetitions, costs and times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from counterproof.adapters.lines import ProblemList
from counterproof.adapters.verdicts.calls import NO_FAILURE, SIDES, Call, Coded, channel_names, has_failed, symbol_of
from counterproof.adapters.verdicts.coding import (
    AT_LEAST,
    Coding,
    failure_word,
    gold_is_known,
    infer_classes,
    natural,
    positive_last,
)
from counterproof.adapters.verdicts.orders import agreement_notes, merge_orders
from counterproof.core.errors import InputError, Problem, nearest
from counterproof.panel.table import NOT_QUERIED, Channel, FailureKind, Gold, VerdictTable


@dataclass(frozen=True, slots=True)
class Rules:
    """How the texts of a file become a table.

    Attributes:
        failures: Values that are no verdict.
        classes: Declared classes, or None to find them.
        positive: Class 1 of two.
        merge_orders: Whether the orders of a pair count as one call that failed when they disagree.
    """

    failures: Mapping[str, FailureKind | None]
    classes: tuple[str, ...] | None = None
    positive: str | None = None
    merge_orders: bool = False


@dataclass(slots=True)
class _Item:
    """What the rows of one item agree on, each with the place where it was first said."""

    values: dict[str, tuple[str, str]] = field(default_factory=dict)
    time: float | None = None


class Gathering:
    """Takes calls and facts of items in; every defect is noted and none raised before the end.

    Args:
        name: The file, for messages.

    Attributes:
        problems: What is wrong so far.
        notes: What a reader should know.
    """

    def __init__(self, name: str) -> None:
        self.problems = ProblemList()
        self.notes: list[str] = []
        self._name = name
        self._items: dict[str, _Item] = {}
        self._calls: dict[tuple[str, str, str, str], Call] = {}

    def add_item(self, key: str, where: str, values: Mapping[str, str], time: float | None = None) -> None:
        """Note what a row says of its item: gold and cluster, the same wherever said, and its earliest time."""
        item = self._items.setdefault(key, _Item())
        for role, text in values.items():
            if role == "gold" and not gold_is_known(text):
                continue
            first, place = item.values.setdefault(role, (text, where))
            if first != text:
                what = f"is {text!r} for item {key!r}, and {first!r} at {place}"
                self.problems.add(Problem(f"{where}, {role}", what, f"give each item one {role}"))
        if time is not None:
            item.time = time if item.time is None else min(time, item.time)

    def add_call(self, call: Call) -> None:
        """Take one call in; a second one of the same item, channel, order and repetition is a problem."""
        side = SIDES.get(call.side.casefold())
        call = replace(call, side=side) if side else call
        first = self._calls.setdefault((call.item, call.channel, call.side, call.repeat), call)
        if first is not call:
            what = f"is a second call of channel {call.channel!r} on item {call.item!r}, after {first.where}"
            self.problems.add(Problem(call.where, what, "keep one, or name the column that numbers repeated calls"))

    def finish(self, rules: Rules) -> tuple[VerdictTable, Gold | None]:
        """Return the table and the gold labels, None without any.

        Raises:
            InputError: Something is wrong, in any row or with the whole; everything is listed.
        """
        if not self.problems.total and not self._calls:
            raise InputError(f"{self._name} holds no call: no verdict to read")
        coding = self._coding(rules)
        coded = list(self._coded(coding)) if coding else []
        gold = self._gold(coding) if coding else None
        sides = len({call.side for call in self._calls.values()})
        if sides > 2:
            listed = ", ".join(sorted({call.side for call in self._calls.values()})[:4])
            self.problems.add(Problem("order", f"has {sides} values ({listed} ...)", "a pair has two orders"))
        elif sides == 2:
            self.notes += agreement_notes(coded)
            if rules.merge_orders:
                coded, note = merge_orders(coded)
                self.notes.append(note)
        names = channel_names(coded)
        if len(set(names)) < len({(entry.call.channel, entry.call.side, entry.call.repeat) for entry in coded}):
            self.problems.add(Problem("channel", "names run into those of orders or repeats", "rename the channels"))
        costs = self._costs(coded, names)
        order = self._order()
        self.problems.raise_if_any(f"{self._name} cannot be used as a table of verdicts")
        assert coding is not None
        table = self._table(coding, coded, names, costs, order)
        self._note_symbols(table)
        return table, gold

    def _coding(self, rules: Rules) -> Coding | None:
        gold = [text for text in self._said("gold") if gold_is_known(text)]
        classes: tuple[str, ...] | str
        if rules.classes is not None:
            classes = rules.classes
            if len(set(gold)) == 1:
                self.notes.append(f"every gold label is {gold[0]!r}")
        else:
            verdicts = {call.verdict for call in self._calls.values() if not has_failed(call)}
            classes = infer_classes(verdicts, set(gold), rules.failures)
        try:
            if not isinstance(classes, str):
                return Coding(positive_last(classes, rules.positive), rules.failures)
        except InputError as error:
            classes = str(error)
        self.problems.add(Problem(self._name, classes))
        return None

    def _coded(self, coding: Coding) -> Iterator[Coded]:
        known: dict[tuple[str, str], tuple[int, FailureKind | None] | None] = {}
        strange: dict[tuple[str, str], list[str]] = {}
        both = 0
        for call in self._calls.values():
            key = (call.verdict, call.failure)
            if key not in known:
                known[key] = symbol_of(call, coding)
            symbol = known[key]
            if symbol is None:
                strange.setdefault(key, []).append(call.where)
                continue
            both += has_failed(call) and coding.code(call.verdict) is not None
            yield Coded(call, *symbol)
        for (verdict, failure), places in strange.items():
            self.problems.add(_unknown(verdict, failure, places, coding))
        if both:
            self.notes.append(f"{both} calls have a verdict and a failure; they count as failed")

    def _gold(self, coding: Coding) -> Gold | None:
        labels = np.full(len(self._items), -1, dtype=np.int8)
        for i, item in enumerate(self._items.values()):
            text, where = item.values.get("gold", ("", ""))
            if not gold_is_known(text):
                continue
            code = coding.code(text)
            if code is None:
                hint = nearest(text, coding.classes)
                self.problems.add(Problem(f"{where}, gold", f"{text!r} is none of the classes", hint))
            else:
                labels[i] = code
        if not (labels >= 0).any():
            return None
        unknown = int((labels < 0).sum())
        if unknown:
            self.notes.append(f"{unknown} of {len(labels)} items have no gold label")
        return Gold(labels)

    def _costs(self, coded: Sequence[Coded], names: Sequence[str]) -> dict[str, float]:
        given: dict[str, list[float]] = {name: [] for name in names}
        for entry, name in zip(coded, names, strict=True):
            if entry.call.cost is not None:
                given[name].append(entry.call.cost)
        if not any(given.values()):
            return {}
        for name, values in given.items():
            if not values or sum(values) <= 0:
                what = "costs nothing" if values else "has no cost in any row"
                self.problems.add(Problem(f"channel {name!r}", what, "give its calls a positive cost"))
        varying = [name for name, values in given.items() if len(set(values)) > 1]
        if varying:
            shown = ", ".join(sorted(varying, key=natural)[:5])
            self.notes.append(f"the cost of a call varies within {shown}; a channel costs the mean of its calls")
        return {name: sum(values) / len(values) for name, values in given.items() if values}

    def _order(self) -> NDArray[np.int64] | None:
        times = [item.time for item in self._items.values()]
        known = [time for time in times if time is not None]
        if not known:
            return None
        if len(known) < len(times):
            missing = [key for key, item in self._items.items() if item.time is None]
            what = f"is missing for {len(missing)} items, the first {missing[0]!r}"
            self.problems.add(Problem("time", what, "give the time of each item, or of none"))
            return None
        return np.unique(np.array(known), return_inverse=True)[1].astype(np.int64)

    def _table(
        self,
        coding: Coding,
        coded: Sequence[Coded],
        names: Sequence[str],
        costs: Mapping[str, float],
        order: NDArray[np.int64] | None,
    ) -> VerdictTable:
        channels = sorted(set(names), key=lambda name: (natural(name), name))
        column = {name: j for j, name in enumerate(channels)}
        row = {key: i for i, key in enumerate(self._items)}
        shape = (len(row), len(column))
        symbols, kinds = np.full(shape, NOT_QUERIED, dtype=np.int8), np.full(shape, -1, dtype=np.int8)
        seconds = np.full(shape, np.nan)
        for entry, name in zip(coded, names, strict=True):
            at = row[entry.call.item], column[name]
            if entry.kind is not None:
                symbols[at], kinds[at] = len(coding.classes), entry.kind
            else:
                symbols[at] = entry.code
            if entry.call.seconds is not None:
                seconds[at] = entry.call.seconds
        return VerdictTable(
            items=tuple(row),
            clusters=tuple(item.values.get("cluster", (key, ""))[0] for key, item in self._items.items()),
            channels=tuple(Channel(name, costs.get(name, 1.0)) for name in channels),
            classes=coding.classes,
            symbols=symbols,
            kinds=kinds,
            order=order,
            seconds=None if np.isnan(seconds).all() else seconds,
        )

    def _note_symbols(self, table: VerdictTable) -> None:
        self.notes.append("classes: " + ", ".join(f"{code} = {name}" for code, name in enumerate(table.classes)))
        counts = Counter(table.kinds[table.kinds >= 0].tolist())
        if counts:
            listed = ", ".join(f"{n} {FailureKind(kind).name.lower()}" for kind, n in sorted(counts.items()))
            self.notes.append(f"{sum(counts.values())} calls failed: {listed}")
        absent = int((table.symbols == NOT_QUERIED).sum())
        if absent:
            self.notes.append(f"{absent} of {table.symbols.size} calls were never made")

    def _said(self, role: str) -> list[str]:
        return [item.values[role][0] for item in self._items.values() if role in item.values]


def _unknown(verdict: str, failure: str, places: Sequence[str], coding: Coding) -> Problem:
    times = f" ({len(places)} calls)" if len(places) > 1 else ""
    if failure and failure.casefold() not in NO_FAILURE:
        what, choices = f"the failure {failure!r} is of no known kind{times}", [*coding.failures]
    else:
        what, choices = f"the verdict {verdict!r} is no class and no known failure{times}", [*coding.classes]
        if verdict == AT_LEAST or len(coding.classes) > 10:
            choices = choices[:10]
    close = nearest(failure_word(failure) if choices and failure else verdict, [word for word in choices if word])
    return Problem(places[0], what, f"{close}; or declare it a class or a failure")
