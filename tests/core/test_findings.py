"""The words of a verdict are stable: they stand in findings.json."""

from __future__ import annotations

from counterproof.core import Verdict


def test_words_of_verdicts() -> None:
    assert [verdict.value for verdict in Verdict] == ["supported", "refuted", "inconclusive", "not applicable"]
