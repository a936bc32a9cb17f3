"""Reading verdict files, one row a call or one column a channel, into the table that a panel audit works on."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TypeAlias

from counterproof.adapters.lines import Row, existing, kind_of
from counterproof.adapters.verdicts.calls import Call
from counterproof.adapters.verdicts.coding import (
    AT_LEAST,
    BELOW,
    declared_classes,
    failure_table,
    number_of,
    text_of,
)
from counterproof.adapters.verdicts.columns import ColumnMap, check_names, guess_columns, joined
from counterproof.adapters.verdicts.gathering import Gathering, Rules
from counterproof.adapters.verdicts.tables import read_table
from counterproof.core.analysis import Lack
from counterproof.core.errors import InputError, Problem, nearest
from counterproof.core.plan import Digest
from counterproof.panel.table import FailureKind, Gold, VerdictTable

ORDERS = ("channels", "consistent")
"""What becomes of pairs judged in both orders: a channel for each order, or one call that fails on disagreement."""
_PEEKED = 1000
Threshold: TypeAlias = float | Mapping[str, float]


@dataclass(frozen=True, slots=True)
class VerdictFile:
    """What a file of verdicts holds.

    Attributes:
        table: The verdicts; channels in natural order of their names, items in file order.
        gold: Oracle labels, or None when there are none; they stay out of the table.
        digests: SHA-256 of the decompressed content.
        notes: What a reader should know: which column is which, the classes, failures, calls never made.
        lacks: What the file does not hold, what that makes not applicable, and what to log.
    """

    table: VerdictTable
    gold: Gold | None
    digests: tuple[Digest, ...]
    notes: tuple[str, ...]
    lacks: tuple[Lack, ...]


def read_verdicts(
    path: Path,
    columns: ColumnMap | Mapping[str, str | Sequence[str]] | None = None,
    *,
    threshold: Threshold | None = None,
    positive: str | None = None,
    classes: Sequence[str] | None = None,
    failures: Mapping[str, FailureKind | None] | None = None,
    orders: str = "channels",
) -> VerdictFile:
    """Return the verdicts of a CSV, JSON lines, JSON or Parquet file; the text formats may be gzip.

    In long format an absent (item, channel) row is a call that nobody made. An empty or null verdict is a failed call
    in either format; `failures={"": None}` says that it was never made. A call with a failure is failed whatever its
    verdict. Channels are `judge`, with orders `judge/given` and `judge/swapped`, with repetitions `judge#1`,
    `judge#2`. The verdicts of a pair must name the same output in both orders.

    Args:
        path: The file.
        columns: Which column is which; roles that a plain mapping leaves out are guessed, and the choice is noted.
        threshold: A score of at least this is class 1 of two; one number, or one for each channel. Read from the score
            column, or from the verdict column where there is none.
        positive: Which of two classes is class 1, the accepted one.
        classes: Names of the classes; without them those of the gold labels, else of the verdicts.
        failures: Values that are no verdict, added to `FAILURES` or changing it; None means never made.
        orders: One of `ORDERS`.

    Raises:
        InputError: Columns are missing or rows are bad: unknown labels or failures, repeated calls, gold that differs
            within an item, one class only, text for a number. All are listed, with file, line and what to do.
    """
    if orders not in ORDERS:
        raise InputError(f"orders {orders!r} is unknown; {nearest(orders, ORDERS)}")
    hasher = hashlib.sha256()
    rows = read_table(existing(Path(path), "verdict file"), hasher.update)
    chosen, rows = _columns(path.name, rows, columns)
    gathering = Gathering(path.name)
    rules = Rules(
        failure_table(failures),
        declared_classes(classes, positive),
        None if classes else positive,
        orders == "consistent",
    )
    gathering.notes.append(f"columns: {chosen.described()}")
    if chosen.verdict and chosen.score:
        unread = ("verdict", "a") if threshold is not None else ("score", "no")
        gathering.notes.append("the {} column is not read, because {} threshold was given".format(*unread))
    if threshold is not None and classes is not None and len(classes) != 2:
        raise InputError(f"a threshold makes two classes of a score, and {len(classes)} are declared")
    _Reader(chosen, threshold, gathering).take(rows)
    table, gold = gathering.finish(rules)
    return VerdictFile(
        table,
        gold,
        (Digest("verdicts", hasher.hexdigest()),),
        tuple(gathering.notes),
        lacks_of(table, gold, clustered=chosen.cluster is not None, priced=chosen.cost is not None),
    )


def lacks_of(table: VerdictTable, gold: Gold | None, *, clustered: bool, priced: bool) -> tuple[Lack, ...]:
    """Return what a table lacks."""
    absent = {
        "gold": (gold is None, "errors, calibrated posteriors and policies are not applicable", "add a gold column"),
        "cluster": (
            not clustered,
            "each item counts as its own sampling unit, so that intervals are too narrow where items share a source",
            "add a cluster column: the question, document or person that items share",
        ),
        "cost": (not priced, "every call costs 1", "add a cost column, the same units for all channels"),
        "time": (table.order is None, "a split by time is not applicable", "add the time of each item"),
        "seconds": (table.seconds is None, "latency is not applicable", "log how long each call took"),
    }
    return tuple(Lack(name, *words) for name, (lacking, *words) in absent.items() if lacking)


def _columns(
    file: str, rows: Iterator[Row | Problem], columns: ColumnMap | Mapping[str, str | Sequence[str]] | None
) -> tuple[ColumnMap, Iterator[Row | Problem]]:
    """Return the columns, guessed from the first rows where they are not given, and all rows."""
    if isinstance(columns, ColumnMap):
        return columns, rows
    first = list(islice(rows, _PEEKED))
    names = dict.fromkeys(name for row in first if isinstance(row, Row) for name in row.values)
    if not names:
        problems = [row for row in first if isinstance(row, Problem)]
        raise InputError(f"{file} holds no row that can be read", problems[:20], len(problems))
    return guess_columns(list(names), columns), chain(first, rows)


class _Reader:
    """Takes rows apart into items and calls."""

    def __init__(self, columns: ColumnMap, threshold: Threshold | None, gathering: Gathering) -> None:
        self._columns = columns
        self._threshold = threshold
        self._into = gathering
        self._names: dict[str, None] = {}
        self._seen: dict[str, str] = {}
        self._dated: set[bool] = set()

    def take(self, rows: Iterator[Row | Problem]) -> None:
        """Take all rows.

        Raises:
            InputError: A column that was named is in no row.
        """
        read = self._wide if self._columns.channels else self._long
        count = 0
        for row in rows:
            if isinstance(row, Problem):
                self._into.problems.add(row)
                continue
            count += 1
            if len(row.values) != len(self._names) or not self._names.keys() >= row.values.keys():
                self._names.update(dict.fromkeys(row.values))
            read(row)
        if count:
            check_names(list(self._names), self._columns.names())
        if len(self._dated) > 1:
            self._note("time", "holds numbers in some rows and dates in others", "use one of the two")

    def _long(self, row: Row) -> None:
        columns = self._columns
        item = self._item(row)
        channel = self._key(row, "channel", columns.channel)
        if item is None or channel is None:
            return
        score, verdict = self._text(row, columns.score), self._text(row, columns.verdict)
        if self._threshold is not None:
            verdict = self._cut(row, channel, score if columns.score is not None else verdict)
        elif columns.verdict is None:
            if not self._seen:
                self._note(columns.score or "score", "is a score", "give the threshold that makes it a verdict")
            verdict = BELOW
        self._seen[item] = row.where
        call = Call(
            item,
            channel,
            row.where,
            verdict,
            failure=self._text(row, columns.failure),
            side=self._text(row, columns.order),
            repeat=self._text(row, columns.repeat),
            cost=self._amount(row, columns.cost),
            seconds=self._amount(row, columns.seconds),
        )
        self._into.add_call(call)

    def _wide(self, row: Row) -> None:
        item = self._item(row)
        if item is None:
            return
        first = self._seen.setdefault(item, row.where)
        if first != row.where:
            self._into.problems.add(
                Problem(row.where, f"is a second row of item {item!r}, after {first}", "keep one row an item")
            )
            return
        for channel in self._columns.channels:
            verdict = self._text(row, channel)
            if self._threshold is not None:
                verdict = self._cut(row, channel, verdict)
            self._into.add_call(Call(item, channel, row.where, verdict))

    def _item(self, row: Row) -> str | None:
        columns = self._columns
        key = self._key(row, "item", columns.item)
        if key is None:
            return None
        values = {"gold": self._text(row, columns.gold)} if columns.gold else {}
        if columns.cluster is not None:
            values["cluster"] = self._key(row, "cluster", columns.cluster) or ""
        self._into.add_item(key, row.where, values, self._moment(row))
        return key

    def _key(self, row: Row, role: str, names: str | tuple[str, ...] | None) -> str | None:
        parts = [self._text(row, name) for name in joined(names)]
        if "" not in parts:
            return "/".join(parts)
        self._into.problems.add(Problem(f"{row.where}, {role}", "is empty", f"give every row its {role}"))
        return None

    def _text(self, row: Row, name: str | None) -> str:
        if name is None:
            return ""
        value = row.values.get(name)
        text = text_of(value)
        if text is None:
            self._into.problems.add(Problem(f"{row.where}, {name}", f"is {kind_of(value)}", "give text or a number"))
        return text or ""

    def _cut(self, row: Row, channel: str, text: str) -> str:
        """Return the verdict of a score, or the text itself when it is no number: a failure, or a problem later."""
        number = number_of(text)
        cut = self._threshold.get(channel) if isinstance(self._threshold, Mapping) else self._threshold
        if cut is None:
            named = list(self._threshold) if isinstance(self._threshold, Mapping) else []
            hint = nearest(channel, named) if named else "none is given"
            self._into.problems.add(Problem(row.where, f"channel {channel!r} has no threshold", hint))
            return BELOW
        if number is None:
            return text
        return AT_LEAST if number >= cut else BELOW

    def _amount(self, row: Row, name: str | None) -> float | None:
        text = self._text(row, name)
        if name is None or text == "":
            return None
        number = number_of(text)
        if number is None or number < 0:
            what = f"is {text!r}" if number is None else f"is {text}, below 0"
            self._into.problems.add(Problem(f"{row.where}, {name}", what, "give a number of at least 0, or nothing"))
            return None
        return number

    def _moment(self, row: Row) -> float | None:
        name = self._columns.time
        text = self._text(row, name)
        if name is None or text == "":
            return None
        number = number_of(text)
        try:
            found = number if number is not None else timestamp(text)
        except (ValueError, OverflowError):
            self._into.problems.add(
                Problem(f"{row.where}, {name}", f"is {text!r}", "give a number or an ISO 8601 date, such as 2026-01-31")
            )
            return None
        self._dated.add(number is None)
        return found

    def _note(self, where: str, what: str, remedy: str) -> None:
        self._into.problems.add(Problem(where, what, remedy))


def timestamp(text: str) -> float:
    """Return an ISO 8601 date as seconds since 1970; one without a zone is read as UTC.

    Raises:
        ValueError: The text is no such date.
    """
    moment = datetime.datetime.fromisoformat(text)
    aware = moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)
    return (aware - datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)).total_seconds()
