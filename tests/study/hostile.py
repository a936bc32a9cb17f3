"""Rewards that misbehave; loaded by path, in killable workers."""

from __future__ import annotations

import os
import time
from typing import Any

FAKE = "nonexistent-"


def honest(retrieved: set[str], cited: set[str], corpus: Any, n_searches: int) -> float:
    """Pays for nothing but an unbroken contract."""
    unseen = any(one in corpus and one not in retrieved for one in cited)
    return -float(n_searches == 0) - float(unseen) - float(any(one not in corpus for one in cited))


def has_fake(citations: list[str]) -> bool:
    return any(one.startswith(FAKE) for one in citations)


def hangs(answer: str) -> float:
    time.sleep(60)
    return 1.0


def hangs_on_fakes(retrieved: set[str], cited: set[str], corpus: Any, n_searches: int, citations: list[str]) -> float:
    if has_fake(citations):
        time.sleep(60)
    return honest(retrieved, cited, corpus, n_searches)


def dies_on_fakes(retrieved: set[str], cited: set[str], corpus: Any, n_searches: int, citations: list[str]) -> float:
    if has_fake(citations):
        os._exit(5)
    return honest(retrieved, cited, corpus, n_searches)


def raises(answer: str) -> float:
    raise RuntimeError("no verdict today")


def gives_nan(answer: str) -> float:
    return float("nan")


def gives_none(answer: str) -> None:
    return None


def gives_text(answer: str) -> str:
    return "good"


def leaves(answer: str) -> float:
    raise SystemExit(0)


def prints(retrieved: set[str], cited: set[str], corpus: Any, n_searches: int) -> float:
    os.write(1, b"x" * 5_000_000)
    print("y" * 1000)
    return honest(retrieved, cited, corpus, n_searches)


def forks(retrieved: set[str], cited: set[str], corpus: Any, n_searches: int) -> float:
    if os.fork() == 0:
        time.sleep(30)
        os._exit(0)
    return honest(retrieved, cited, corpus, n_searches)


COUNT = [0]


def counts(answer: str) -> float:
    COUNT[0] += 1
    return float(COUNT[0])


def notes(answer: str, gold_answers: list[str], citations: list[str]) -> float:
    """Notes each call in a file, slowly enough to be killed in between."""
    time.sleep(0.001)
    with open(os.environ["COUNTERPROOF_TEST_CALLS"], "ab", buffering=0) as file:
        file.write(b".")
    return float(answer in gold_answers) + 0.1 * len(citations)
