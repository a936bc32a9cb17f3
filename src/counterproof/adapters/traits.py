"""What a log can say, and for each thing that it cannot: what that makes impossible, and what to log."""

from __future__ import annotations

from collections.abc import Mapping

from counterproof.core.analysis import Lack

_LACKS: Mapping[str, tuple[str, str]] = {
    "corpus": (
        (
            "P is only the passages seen, so that a citation of a passage outside P (F, fake_id) is not applicable, "
            "and laundering can only use passages that other trajectories retrieved"
        ),
        "give the whole searched corpus with --corpus: JSON lines with id, title and text",
    ),
    "passages": (
        "what the searches returned is unknown, so that cited-but-not-retrieved (L, launder) is not applicable",
        "log the ids or the text of the passages that each search returned",
    ),
    "passage_texts": (
        "laundering ranks passages by their text, so that launder is not applicable",
        "log the text of the passages that each search returned, or give --corpus",
    ),
    "citations": (
        "L, F, answer-without-citation and the citation edits (launder, fake_id) are not applicable",
        "log which passages the final message cites, as [id] or as a list",
    ),
    "gold_answers": (
        "a reward that compares the answer with gold answers is not applicable",
        "log the accepted answers with each trajectory, or join the data set",
    ),
    "support_ids": (
        "a reward that compares citations with supporting passages, and support-id mismatch, are not applicable",
        "log the ids of the supporting passages with each trajectory, or join the data set",
    ),
    "answers": (
        "no trajectory gives an answer, so that under-retrieval (U, same_final) is not applicable",
        "log the final answer",
    ),
}
TRAITS: frozenset[str] = frozenset(_LACKS)
"""Everything that a log may be able to say."""


def lacks_of(traits: frozenset[str]) -> tuple[Lack, ...]:
    """Return one `Lack` for each of `TRAITS` that a log does not have.

    >>> [lack.field for lack in lacks_of(TRAITS - {"citations"})]
    ['citations']
    """
    return tuple(Lack(name, *words) for name, words in _LACKS.items() if name not in traits)
