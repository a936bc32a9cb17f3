"""What the values of a verdict file mean: classes, failures with their kind, calls that nobody made."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from counterproof.core.errors import InputError, Problem, nearest
from counterproof.panel.table import FailureKind

FAILURES: Mapping[str, FailureKind | None] = {
    "": FailureKind.UNSTATED,
    "none": FailureKind.UNSTATED,
    "null": FailureKind.UNSTATED,
    "nan": FailureKind.UNSTATED,
    "na": FailureKind.UNSTATED,
    "n/a": FailureKind.UNSTATED,
    "failed": FailureKind.UNSTATED,
    "failure": FailureKind.UNSTATED,
    "error": FailureKind.UNSTATED,
    "unstated": FailureKind.UNSTATED,
    "unavailable": FailureKind.UNAVAILABLE,
    "timeout": FailureKind.TIMED_OUT,
    "timed out": FailureKind.TIMED_OUT,
    "malformed": FailureKind.MALFORMED,
    "unparsable": FailureKind.MALFORMED,
    "unparseable": FailureKind.MALFORMED,
    "parse error": FailureKind.MALFORMED,
    "schema disagreement": FailureKind.SCHEMA_DISAGREEMENT,
    "common cause": FailureKind.COMMON_CAUSE,
    "not queried": None,
}
"""Values that are no verdict, in lower case with spaces, and the kind of failure they mean; null counts as empty text.

None means that nobody asked. A value that is neither a class nor listed is a problem, never a failure.
"""
AT_LEAST, BELOW = ">=threshold", "<threshold"
"""What a score becomes: class 1 and class 0 of two classes."""
_TRUTH = {"0": 0, "false": 0, "1": 1, "true": 1}
_PAIRS = (("no", "yes"), ("incorrect", "correct"), ("wrong", "right"), ("reject", "accept"), ("rejected", "accepted"))
"""Names that sort the other way round or leave no third: the second is class 1."""
_UNKNOWN_GOLD = frozenset({"", "nan", "null", "na", "n/a"})
_MOST_CLASSES = 120


@dataclass(frozen=True, slots=True)
class Coding:
    """Classes and failures by the text of a value.

    Attributes:
        classes: Names; class codes are their places.
        failures: As `FAILURES`. A class of the same name goes first.
    """

    classes: tuple[str, ...]
    failures: Mapping[str, FailureKind | None] = field(default_factory=lambda: FAILURES)

    def code(self, text: str) -> int | None:
        """Return the class code, or None when the text names no class.

        Class names go by exact case, then by any case. 0, 1, true and false name the classes of a pair, unless its own
        names say otherwise. AT_LEAST and BELOW are 1 and 0.
        """
        if text in self.classes:
            return self.classes.index(text)
        if len(self.classes) == 2 and text in (AT_LEAST, BELOW):
            return int(text == AT_LEAST)
        folded = [name.casefold() for name in self.classes]
        if folded.count(text.casefold()) == 1:
            return folded.index(text.casefold())
        plain = all(_TRUTH.get(name, code) == code for code, name in enumerate(folded))
        return _TRUTH.get(text.casefold()) if len(folded) == 2 and plain else None

    def is_failure(self, text: str) -> bool:
        """Whether the text is listed as no verdict."""
        return failure_word(text) in self.failures

    def kind(self, text: str) -> FailureKind | None:
        """Return the kind of failure that a listed text means; None when it means that nobody asked."""
        return self.failures[failure_word(text)]


def failure_word(text: str) -> str:
    """Return a value as it is looked up among failures: lower case, `_` and `-` as spaces."""
    return re.sub(r"[\s_\-]+", " ", text.strip().casefold())


def failure_table(changes: Mapping[str, FailureKind | None] | None) -> Mapping[str, FailureKind | None]:
    """Return the default failures with some values added or changed."""
    return {**FAILURES, **{failure_word(word): kind for word, kind in (changes or {}).items()}}


def text_of(value: object) -> str | None:
    """Return a value as trimmed text, null as empty text; None when it is an array, an object or bytes.

    Whole numbers have no decimal point, so that 1, 1.0 and "1.0" are one class.

    >>> text_of(1.0), text_of("1.0"), text_of(True), text_of(None), text_of([1])
    ('1', '1', 'true', '', None)
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return _whole(value.strip())
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (dict, list, tuple, set, bytes)):
        return None
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return _whole(str(value))


def _whole(text: str) -> str:
    found = re.fullmatch(r"([+-]?[0-9]+)\.0*", text) if "." in text else None
    return found[1] if found else text


def number_of(text: str) -> float | None:
    """Return a finite number, None when the text is none."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in text else None


def gold_is_known(text: str) -> bool:
    """Whether a gold value is a label at all; null, empty text and `nan` are none."""
    return text.casefold() not in _UNKNOWN_GOLD


def natural(name: str) -> list[tuple[int, str]]:
    """Return a sorting key by which worker 2 comes before worker 10."""
    parts = re.split(r"([0-9]+)", name)
    return [(int(part), "") if part.isascii() and part.isdigit() else (-1, part) for part in parts]


def declared_classes(classes: Sequence[str] | None, positive: str | None) -> tuple[str, ...] | None:
    """Return declared classes with the positive one last, None when there are none.

    Raises:
        InputError: Fewer than two or more than 120, one twice, or `positive` is not one of two.
    """
    if classes is None:
        return None
    names = tuple(name.strip() for name in classes)
    if not 2 <= len(names) <= _MOST_CLASSES or len(set(names)) < len(names):
        raise InputError(f"classes {', '.join(names) or '(none)'}: name 2 to {_MOST_CLASSES}, each once")
    return positive_last(names, positive)


def infer_classes(verdicts: Collection[str], gold: Collection[str], failures: Collection[str]) -> tuple[str, ...] | str:
    """Return the classes that gold labels name, or without any the verdicts; or why there are none.

    Of a pair the accepting name is class 1 where it is known (1, true, yes, correct, right, accept), else the later in
    natural order. Names that differ in case only are one class.

    Args:
        verdicts: Texts of the verdicts.
        gold: Texts of the known gold labels.
        failures: Values that are no verdicts, as `failure_word` writes them.
    """
    source = set(gold) or {text for text in verdicts if failure_word(text) not in failures} - {AT_LEAST, BELOW}
    if not gold and {AT_LEAST, BELOW} & set(verdicts):
        return ("0", "1")
    seen = {text.casefold(): text for text in sorted(source, reverse=True)}
    if gold and len(seen) == 1:
        return (
            f"every gold label is {next(iter(gold))!r}; with one class only, nothing can be said of the other: add "
            "items of another class, or declare the classes to read the table all the same"
        )
    if set(seen) <= {"false", "true"} and seen:
        return ("false", "true")
    if (seen and set(seen) <= set(_TRUTH)) or (
        not gold and {"0", "1"} <= set(seen) and not _numbers(set(seen) - set(_TRUTH))
    ):
        return ("0", "1")
    for pair in _PAIRS:
        if set(seen) >= set(pair) and not (gold and len(seen) > 2):
            return (seen[pair[0]], seen[pair[1]])
    if any((number := number_of(text)) is not None and number != int(number) for text in seen):
        return "the classes are numbers that look like scores: give a threshold, or declare the classes"
    if not 2 <= len(seen) <= _MOST_CLASSES:
        shown = ", ".join(_sorted(seen.values())[:5]) + (" ..." if len(seen) > 5 else "")
        return (
            f"{len(seen)} classes were found ({shown or 'none'}) and 2 to {_MOST_CLASSES} are possible: declare the "
            "classes, or check which column holds the verdict"
        )
    return _sorted(seen.values())


def _numbers(texts: Collection[str]) -> list[float]:
    return [number for text in texts if (number := number_of(text)) is not None]


def _sorted(names: Collection[str]) -> tuple[str, ...]:
    if len(_numbers(names)) == len(names):
        return tuple(sorted(names, key=float))
    return tuple(sorted(names, key=lambda name: (natural(name), name)))


def positive_last(names: tuple[str, ...], positive: str | None) -> tuple[str, ...]:
    """Return two classes with the positive one as class 1; as they are when none is named.

    Raises:
        InputError: `positive` is not one of two classes.
    """
    if positive is None:
        return names
    code = Coding(names).code(text_of(positive) or "")
    if len(names) != 2 or code is None:
        hint = nearest(positive, names) if len(names) == 2 else f"there are {len(names)} classes"
        raise InputError(f"the positive class {positive!r} must be one of two", [Problem("positive", hint)])
    return (names[1 - code], names[code])
