"""inspect_ai logs, `.eval` and `.json`, read without inspect_ai: each scorer a channel, each epoch a repeated call."""

from __future__ import annotations

import hashlib
import json
import math
import sys
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from counterproof.adapters.lines import existing, kind_of
from counterproof.adapters.verdicts.calls import Call
from counterproof.adapters.verdicts.coding import AT_LEAST, BELOW, failure_table, natural, number_of, text_of
from counterproof.adapters.verdicts.gathering import Gathering, Rules
from counterproof.adapters.verdicts.reading import Threshold, VerdictFile, lacks_of, timestamp
from counterproof.core.errors import InputError, Problem, nearest
from counterproof.core.plan import Digest

EPOCHS = ("calls", "items")
"""What an epoch is: a repeated call on the same item, or an item of its own in the cluster of its sample."""
CLASSES = ("incorrect", "correct")
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_REASONS = {"grader_failed": "malformed", "scoring_failed": "unavailable"}
_ZIP = b"PK"


def is_inspect_log(path: Path) -> bool:
    """Whether a file is an inspect log: named `.eval`, or JSON whose first bytes name its version and status."""
    if path.suffix == ".eval":
        return True
    try:
        with path.open("rb") as raw:
            head = raw.read(4096)
    except OSError:
        return False
    return head.lstrip().startswith(b"{") and all(key in head for key in (b'"version"', b'"status"', b'"eval"'))


def read_inspect(
    path: Path,
    *,
    threshold: Threshold | None = None,
    epochs: str = "calls",
    gold: str | None = None,
    scorers: Sequence[str] | None = None,
) -> VerdictFile:
    """Return the verdicts of an inspect_ai log; the classes are incorrect and correct.

    C is correct, I and N are incorrect, P counts .5; numbers, true and false count as they are. A value strictly
    between needs a threshold. Each part of a dict or list value is a channel of its own (`scorer.part`, `scorer[0]`).
    Unscored values (NaN), null scores and samples that ended in an error are failures. Epochs that differ in the
    model's output are no repetitions of one judgement: a note says so, and `epochs="items"` keeps them apart.

    Args:
        path: An `.eval` or `.json` log.
        threshold: A value of at least this is correct; one number, or one for each channel that needs it.
        epochs: One of `EPOCHS`.
        gold: What holds the oracle label: a channel, or `metadata.<key>` of the sample.
        scorers: The channels to take; all by default.

    Raises:
        InputError: This is no log, or values cannot be read as verdicts; everything is listed.
    """
    if epochs not in EPOCHS:
        raise InputError(f"epochs {epochs!r} is unknown; {nearest(epochs, EPOCHS)}")
    path = existing(Path(path), "inspect log")
    hasher = hashlib.sha256()
    try:
        content = path.read_bytes()
        hasher.update(content)
        samples = list(_samples(path, content))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    gathering = Gathering(path.name)
    reader = _Reader(gathering, threshold, epochs, gold, scorers)
    for sample in sorted(samples, key=_place):
        reader.take(sample)
    reader.finish()
    table, labels = gathering.finish(Rules(failure_table(None), CLASSES))
    return VerdictFile(
        table,
        labels,
        (Digest("verdicts", hasher.hexdigest()),),
        tuple(gathering.notes),
        lacks_of(table, labels, clustered=epochs == "items", priced=False),
    )


@dataclass(frozen=True, slots=True)
class _Sample:
    where: str
    values: Mapping[str, Any]


def _samples(path: Path, content: bytes) -> Iterator[_Sample]:
    """Yield the samples of a log."""
    if content[:2] == _ZIP:
        yield from _members(path)
        return
    log = _json(path.name, content)
    samples = log.get("samples") if isinstance(log, dict) and "eval" in log else None
    if not isinstance(samples, list):
        raise InputError(f"{path.name} is no inspect log with samples; give an .eval or .json log of inspect_ai")
    for number, values in enumerate(samples, 1):
        yield _sample(f"{path.name}, sample {number}", values)


def _members(path: Path) -> Iterator[_Sample]:
    # From 3.14 on the standard library reads zstd members; before, its backport does.
    if sys.version_info >= (3, 14):
        from zipfile import BadZipFile, ZipFile

        from compression.zstd import ZstdError
    else:
        from backports.zstd import ZstdError
        from backports.zstd.zipfile import BadZipFile, ZipFile

    broken = (BadZipFile, zipfile.BadZipFile, ZstdError, zlib.error, EOFError, NotImplementedError, RuntimeError)
    try:
        with ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.startswith("samples/") and name.endswith(".json")]
            if not names:
                raise InputError(f"{path.name} holds no samples: the run has not finished one, or this is no .eval log")
            for name in names:
                yield _sample(f"{path.name}, {name}", _json(f"{path.name}, {name}", archive.read(name)))
    except (*broken, ValueError, KeyError, IndexError, OverflowError) as error:
        raise InputError(f"{path.name} is a damaged .eval log: {type(error).__name__}: {error}") from None


def _sample(where: str, values: object) -> _Sample:
    if not isinstance(values, dict):
        raise InputError(f"{where} is {kind_of(values)}; a sample is an object")
    return _Sample(where, values)


def _json(where: str, content: bytes) -> Any:
    """Return a JSON value in which NaN and infinity may stand, as inspect writes them."""
    try:
        return json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} is not JSON: {error}") from None


@dataclass(slots=True)
class _Seen:
    """What was met over all samples."""

    channels: dict[str, None] = field(default_factory=dict)
    between: dict[str, str] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)
    outputs: dict[str, set[str]] = field(default_factory=dict)
    unanswered: int = 0


class _Reader:
    """Takes samples apart into items and calls."""

    def __init__(
        self,
        gathering: Gathering,
        threshold: Threshold | None,
        epochs: str,
        gold: str | None,
        scorers: Sequence[str] | None,
    ) -> None:
        self._into = gathering
        self._threshold = threshold
        self._epochs = epochs
        self._gold = gold
        self._scorers = scorers
        self._seen = _Seen()
        self._failed: list[tuple[str, str, str, str]] = []

    def take(self, sample: _Sample) -> None:
        """Take the scores of one sample."""
        values = sample.values
        name, epoch = text_of(values.get("id")), text_of(values.get("epoch", 1))
        if not name or not epoch:
            self._note(sample.where, "has no id or no epoch", "give a whole log of inspect_ai")
            return
        item = name if self._epochs == "calls" else f"{name}@{epoch}"
        repeat = epoch if self._epochs == "calls" else ""
        self._seen.outputs.setdefault(name, set()).add(_said(values.get("output")))
        scores = values.get("scores") or {}
        if not isinstance(scores, dict):
            self._note(f"{sample.where}, scores", f"is {kind_of(scores)}", "give an object of scores")
            return
        facts = {"cluster": name}
        label = self._metadata(sample)
        for channel, raw, reason in _flat(scores):
            self._seen.channels[channel] = None
            verdict, failure = self._verdict(sample.where, channel, raw, reason)
            if channel == self._gold:
                label = "" if failure else verdict
            elif self._scorers is None or channel in self._scorers:
                self._into.add_call(Call(item, channel, sample.where, verdict, failure, repeat=repeat))
        if self._gold is not None:
            facts["gold"] = {AT_LEAST: "1", BELOW: "0"}.get(label, label)
        self._into.add_item(item, sample.where, facts, self._started(values))
        if values.get("error") and not scores:
            failure = "timeout" if "timeout" in json.dumps(values["error"]).casefold() else "unavailable"
            self._failed.append((item, repeat, sample.where, failure))

    def finish(self) -> None:
        """Add the failed calls of samples that ended in an error, and note what was met."""
        seen = self._seen
        choices = list(seen.channels)
        for role, names in (
            ("scorers", self._scorers or ()),
            ("threshold", self._threshold if isinstance(self._threshold, Mapping) else ()),
            ("gold", [self._gold] if self._gold and not self._gold.startswith("metadata.") else ()),
        ):
            for name in names:
                if name not in seen.channels:
                    self._note(role, f"{name!r} is no channel of the log", nearest(name, choices))
        for channel in choices:
            if channel != self._gold and (self._scorers is None or channel in self._scorers):
                for item, repeat, where, failure in self._failed:
                    self._into.add_call(Call(item, channel, where, "", failure, repeat=repeat))
        for channel, where in seen.between.items():
            self._note(
                f"{where}, {channel}",
                "is neither 0 nor 1",
                "give a threshold for it, or leave this channel out of scorers",
            )
        if seen.reasons:
            listed = ", ".join(f"{count} {reason}" for reason, count in sorted(seen.reasons.items()))
            self._into.notes.append(f"unscored: {listed}")
        if self._failed:
            self._into.notes.append(f"{len(self._failed)} samples ended in an error; all their calls count as failed")
        if seen.unanswered:
            self._into.notes.append(f"{seen.unanswered} scores are N (no answer); they count as incorrect")
        varied = sum(len(outputs) > 1 for outputs in seen.outputs.values())
        if varied and self._epochs == "calls":
            self._into.notes.append(
                f"the output of {varied} samples differs between epochs: their calls judge different answers, and only "
                "epochs as items keeps those apart"
            )

    def _verdict(self, where: str, channel: str, raw: Any, reason: str) -> tuple[str, str]:
        """Return the text of a verdict and of a failure."""
        if raw is None or (isinstance(raw, float) and math.isnan(raw)):
            self._seen.reasons[reason or "no reason given"] += 1
            return "", _REASONS.get(reason, "unstated")
        text = text_of(raw)
        number = _LETTERS.get(text or "", number_of(text or ""))
        if text is None or number is None:
            what = f"is {text!r}" if text else f"is {kind_of(raw)}"
            self._note(f"{where}, {channel}", what, "scores are C, I, P, N, numbers, true or false")
            return "", "unstated"
        self._seen.unanswered += text == "N"
        cut = self._threshold.get(channel) if isinstance(self._threshold, Mapping) else self._threshold
        if cut is not None:
            return AT_LEAST if number >= cut else BELOW, ""
        taken = self._scorers is None or channel in self._scorers or channel == self._gold
        if number not in (0.0, 1.0) and taken:
            self._seen.between.setdefault(channel, where)
        return (AT_LEAST if number == 1.0 else BELOW), ""

    def _metadata(self, sample: _Sample) -> str:
        prefix, _, key = (self._gold or "").partition(".")
        if prefix != "metadata" or not key:
            return ""
        metadata = sample.values.get("metadata")
        if not isinstance(metadata, dict) or key not in metadata:
            hint = nearest(key, metadata) if isinstance(metadata, dict) and metadata else "there is none"
            self._note(f"{sample.where}, metadata", f"has no {key!r}", hint)
            return ""
        text = text_of(metadata[key])
        number = _LETTERS.get(text or "")
        return (text or "") if number is None else str(number).removesuffix(".0")

    def _started(self, values: Mapping[str, Any]) -> float | None:
        started = values.get("started_at")
        if not isinstance(started, str):
            return None
        try:
            return timestamp(started)
        except (ValueError, OverflowError):
            return None

    def _note(self, where: str, what: str, remedy: str) -> None:
        self._into.problems.add(Problem(where, what, remedy))


def _place(sample: _Sample) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Return the sorting key by which both log formats list samples alike: by id, then by epoch."""
    return natural(str(sample.values.get("id"))), natural(str(sample.values.get("epoch")))


def _said(output: object) -> str:
    """Return what the model said, without the ids and times that differ from run to run."""
    choices = output.get("choices") if isinstance(output, dict) else None
    messages = (
        [choice.get("message") for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []
    )
    return json.dumps([message.get("content") for message in messages if isinstance(message, dict)], sort_keys=True)


def _flat(scores: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
    """Yield channel, value and reason of each score and of each part of a composed one."""
    for scorer, score in scores.items():
        held = score if isinstance(score, dict) else {"value": score}
        value, reason = held.get("value"), held.get("reason")
        words = reason if isinstance(reason, str) else ""
        if isinstance(value, dict):
            yield from ((f"{scorer}.{part}", entry, words) for part, entry in value.items())
        elif isinstance(value, list):
            yield from ((f"{scorer}[{number}]", entry, words) for number, entry in enumerate(value))
        else:
            yield scorer, value, words
