"""Hypothesis strategies for trajectories over the small corpus of `records`."""

from __future__ import annotations

from hypothesis import strategies as st

from counterproof.core.records import Trajectory
from tests.rewards.records import CORPUS, record, with_others

WORDS = ("who", "drums", "in", "the", "band", "rush", "toronto", "canal")
IDS = sorted(CORPUS.passages)
QUERIES = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
SEARCHES = st.lists(
    st.tuples(QUERIES, st.lists(st.sampled_from(IDS), max_size=3, unique=True).map("".join)), max_size=7
)
CITATIONS = st.lists(st.sampled_from([*IDS, "nonexistent-x"]), max_size=5)
ANSWERS = st.lists(st.sampled_from(["neil", "peart", "rush", "band"]), max_size=4).map(" ".join)
OTHERS = st.lists(st.sampled_from(["hm", "!serch"]), max_size=2)


@st.composite
def trajectories(draw: st.DrawFn) -> Trajectory:
    """Draw a trajectory: any searches, citations (also repeated, unknown and unretrieved ones), answer and message."""
    citations = draw(CITATIONS)
    answer = draw(ANSWERS)
    # Some markers may be missing, stand together, or in another order.
    marked = draw(st.permutations([f"[{one}]" for one in citations[: draw(st.integers(0, 5))]]))
    return record(
        draw(SEARCHES),
        citations=citations,
        answer=answer,
        raw_final=draw(st.sampled_from([" ", ", ", ""])).join([answer, *marked]),
        others=with_others(*draw(OTHERS)),
        support_ids=draw(st.frozensets(st.sampled_from(IDS), max_size=4)),
        trajectory_id=draw(st.sampled_from(["t1", "t2"])),
    )
