"""One trajectory and its corpus, small enough to check by eye."""

from __future__ import annotations

from counterproof.core.records import InvalidAction, Passage, Search, Steps, Text, Trajectory, build_corpus

CORPUS = build_corpus([("a", "Rush", "A band."), ("b", "Moon", "A rock."), ("c", "Sun", "A star.")])
RUSH, MOON, SUN = CORPUS.passages.values()


def passage(found: Passage) -> dict[str, str]:
    return {"id": found.id, "title": found.title, "text": found.text}


TRAJECTORY = Trajectory(
    trajectory_id="t1",
    question_id="q1",
    question="Who plays?",
    steps=Steps(
        (
            Search("who plays", (MOON.id, RUSH.id)),
            Text("hm"),
            Search("rush", (RUSH.id,)),
            InvalidAction("<serch>"),
        )
    ),
    answer="Rush",
    citations=(RUSH.id, RUSH.id),
    raw_final=f"Rush [{RUSH.id}]",
    gold_answers=("Rush", "rush"),
    support_ids=frozenset({RUSH.id}),
    model="tiny",
    score=0.5,
)
