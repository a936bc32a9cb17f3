"""The shared verdict tables of real judges, rules and crowds, for the studies, benchmarks and tests of the panel.

Every function takes the folder of shared data and returns the table with its gold labels. What a source leaves out is
left out here too; nothing is relabelled.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from counterproof.adapters import ColumnMap, read_verdicts
from counterproof.panel.table import Channel, FailureKind, Gold, VerdictTable

Labelled: TypeAlias = tuple[VerdictTable, Gold]

LLMBAR_SEVEN = (
    "ChatGPT/CoT",
    "ChatGPT/Vanilla",
    "Falcon/Vanilla",
    "GPT-4/Vanilla_NoRules",
    "LLaMA2/Vanilla",
    "PaLM2/Metrics",
    "PaLM2/Vanilla",
)
"""The panel of LLMBar: seven judges of very unequal quality, two models twice."""
LLMBAR_SUBSETS = ("natural", "adv_neighbor", "adv_gptinst", "adv_gptout", "adv_manual")
"""The 419 pairs of LLMBar proper; `mtbench_processed` holds another 200, judged by fewer."""
CROWDS = ("cf_weather", "cf_amt_weather", "ms_music", "sp_sentiment", "zencrowd_in")
SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
"""The question answering systems of EVOUNA."""
HEDGES = ("may", "might", "could", "possibly", "perhaps", "likely", "generally", "typically", "usually")
REFUSALS = ("as an ai", "i cannot", "i can't", "unable to", "i'm sorry", "i am sorry", "unfortunately")


def llmbar(
    folder: Path,
    channels: Sequence[str] | None = LLMBAR_SEVEN,
    *,
    subsets: Sequence[str] = LLMBAR_SUBSETS,
    orders: str = "given",
) -> Labelled:
    """Return LLMBar: which of two outputs is better, by judge and prompting strategy; gold is human.

    Args:
        folder: Shared data.
        channels: `judge/strategy`; None takes all 65.
        subsets: Subsets, each its own kind of adversary.
        orders: `given` takes the calls in the given order, `channels` both as channels, `consistent` merges them.
    """
    rows = [
        row
        for row in _csv(folder / "verdicts/llmbar/verdicts.csv.gz")
        if row["subset"] in subsets
        and (channels is None or f"{row['judge']}/{row['strategy']}" in channels)
        and (orders != "given" or row["swapped"] == "0")
    ]
    columns = ColumnMap(
        item=("subset", "item"), channel=("judge", "strategy"), verdict="verdict", gold="label", order="swapped"
    )
    return _through_reader(
        rows,
        columns,
        classes=("1", "2"),
        failures={"": FailureKind.MALFORMED},
        orders="channels" if orders == "given" else orders,
    )


def pandalm(folder: Path, *, gold: str = "majority") -> Labelled:
    """Return PandaLM: output 1, output 2 or a tie (class 0) of 999 pairs, by two LLM judges and three people.

    Args:
        folder: Shared data.
        gold: `majority` judges the two LLMs by the people's majority; items on which all three differ have no label.
            `annotator1` to `annotator3` judges the LLMs and the other two people by that person.
    """
    people = ("annotator1", "annotator2", "annotator3")
    names = ["gpt_3_5_turbo", "pandalm_7b", *(name for name in people if gold != "majority" and name != gold)]
    rows = []
    for entry in _json_lines(folder / "verdicts/pandalm/testset.jsonl.gz"):
        votes = Counter(str(entry[name]) for name in people)
        label, count = votes.most_common(1)[0]
        truth = str(entry[gold]) if gold != "majority" else (label if count > 1 else "")
        row = {"item": entry["item"], "instruction": _key(entry["instruction"], entry["input"]), "gold": truth}
        for name in names:
            row[name] = "0" if entry[name] == "Tie" else str(entry[name])
        rows.append({name: str(value) for name, value in row.items()})
    columns = ColumnMap(item="item", cluster="instruction", gold="gold", channels=tuple(sorted(names)))
    return _through_reader(rows, columns, classes=("0", "1", "2"), failures={"garbage": FailureKind.MALFORMED})


def crowd(folder: Path, name: str) -> Labelled:
    """Return one of `CROWDS`: a sparse table of workers. Of a worker's repeated labels of one task the first counts."""
    rows: dict[tuple[str, str], Mapping[str, str]] = {}
    for row in _csv(folder / f"verdicts/crowd_labels/{name}.csv.gz"):
        rows.setdefault((row["worker"], row["task"]), row)
    timed = "seconds" if "seconds" in next(iter(rows.values())) else None
    return _through_reader(
        list(rows.values()), ColumnMap(item="task", channel="worker", verdict="label", gold="gold", seconds=timed)
    )


def bluebirds(folder: Path) -> Labelled:
    """Return Bluebirds: 39 workers, 108 photos, every call made."""
    read = read_verdicts(
        folder / "verdicts/bluebirds/labels.csv.gz",
        ColumnMap(item="task", channel="worker", verdict="label", gold="gold"),
    )
    assert read.gold is not None
    return read.table, read.gold


@dataclass(frozen=True, slots=True)
class Answer:
    """A free-form answer beside one accepted answer, both as normalised words."""

    words: tuple[str, ...]
    gold: tuple[str, ...]

    @property
    def text(self) -> str:
        """The answer's words, joined."""
        return " ".join(self.words)

    @property
    def accepted(self) -> str:
        """The accepted answer's words, joined."""
        return " ".join(self.gold)


def f1_of(answer: Answer) -> float:
    """Return the F1 of the answer's words against the accepted ones, as in SQuAD: words count as often as in both."""
    common = sum((Counter(answer.words) & Counter(answer.gold)).values())
    return 2 * common / (len(answer.words) + len(answer.gold)) if common else 0.0


def trigram_share(answer: Answer) -> float:
    """Return the share of the accepted answer's character trigrams that the answer holds; 0 when there are none."""
    wanted = {answer.accepted[i : i + 3] for i in range(len(answer.accepted) - 2)}
    held = {answer.text[i : i + 3] for i in range(len(answer.text) - 2)}
    return len(wanted & held) / len(wanted) if wanted else float(answer.accepted in answer.text)


RULES: Mapping[str, Callable[[Answer], bool]] = {
    "substring": lambda answer: answer.accepted in answer.text,
    "word substring": lambda answer: f" {answer.accepted} " in f" {answer.text} ",
    "all tokens": lambda answer: set(answer.gold) <= set(answer.words),
    "F1 >= .2": lambda answer: f1_of(answer) >= 0.2,
    "3-gram >= .6": lambda answer: trigram_share(answer) >= 0.6,
    "last token": lambda answer: answer.gold[-1] in answer.words,
    "first token": lambda answer: answer.gold[0] in answer.words,
}
"""Rule verifiers of a free-form answer; one accepts when it accepts for any of the accepted answers."""


def evouna(folder: Path, systems: Sequence[str] = SYSTEMS) -> Labelled:
    """Return EVOUNA's Natural Questions: is a system's answer right, by `RULES`; gold is human.

    An item is one system's answer, its cluster the question. Unsuitable questions, answers that nobody judged and
    missing answers are left out. Answers are lower-cased and lose punctuation and articles.
    """
    items, clusters, labels, verdicts = [], [], [], []
    for number, entry in enumerate(_json_lines(folder / "verdicts/evouna/nq.jsonl.gz")):
        accepted = [words for part in (entry["golden_answer"] or "").split("/") if (words := _words(part))]
        if entry["improper"] or not accepted:
            continue
        for system in systems:
            text, judged = entry[f"answer_{system}"], entry[f"judge_{system}"]
            if text is None or judged is None:
                continue
            words = _words(text)
            items.append(f"{number}/{system}")
            clusters.append(str(number))
            labels.append(judged)
            verdicts.append([any(rule(Answer(words, gold)) for gold in accepted) for rule in RULES.values()])
    return _from_arrays(items, clusters, tuple(RULES), ("wrong", "right"), verdicts, labels)


SIGNS: Mapping[str, Callable[[str], bool]] = {
    "long": lambda text: len(text.split()) > 100,
    "no refusal": lambda text: not any(word in text.casefold() for word in REFUSALS),
    "number": lambda text: re.search(r"\d{2,}", text) is not None,
    "address": lambda text: "http" in text or "www." in text,
    "quotation": lambda text: text.count('"') >= 2,
    "no hedge": lambda text: not any(re.search(rf"\b{word}\b", text.casefold()) for word in HEDGES),
    "named": lambda text: re.search(r"[a-z,] [A-Z][a-z]+", text) is not None,
}
"""Surface signs that a naive verifier might take for a hallucination. They are weak on purpose."""


def halueval(folder: Path) -> Labelled:
    """Return HaluEval's general part: does a ChatGPT response hallucinate, by `SIGNS`; gold is the people's majority.

    Items are rows of the file, whose own ids repeat.
    """
    rows = _json_lines(folder / "verdicts/halueval_general/general.jsonl.gz")
    items = [str(number) for number in range(len(rows))]
    verdicts = [[sign(row["chatgpt_response"]) for sign in SIGNS.values()] for row in rows]
    labels = [row["hallucination"] == "yes" for row in rows]
    return _from_arrays(items, items, tuple(SIGNS), ("faithful", "hallucinated"), verdicts, labels)


def _from_arrays(
    items: Sequence[str],
    clusters: Sequence[str],
    channels: Sequence[str],
    classes: tuple[str, str],
    verdicts: Sequence[Sequence[bool]],
    labels: Sequence[bool],
) -> Labelled:
    symbols = np.array(verdicts, dtype=np.int8)
    table = VerdictTable(
        tuple(items),
        tuple(clusters),
        tuple(Channel(name) for name in channels),
        classes,
        symbols,
        np.full_like(symbols, -1),
    )
    return table, Gold(np.array(labels, dtype=np.int8))


def _through_reader(rows: Sequence[Mapping[str, str]], columns: ColumnMap, **options: Any) -> Labelled:
    """Return what the product's reader makes of chosen rows."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "chosen.csv")
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        read = read_verdicts(path, columns, **options)
    assert read.gold is not None
    return read.table, read.gold


def _words(text: str) -> tuple[str, ...]:
    plain = re.sub(r"[^\w\s]", "", text.casefold())
    return tuple(word for word in plain.split() if word not in ("a", "an", "the"))


def _key(*texts: str) -> str:
    return json.dumps(texts, ensure_ascii=False)


def _csv(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _json_lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]
