"""Evidence tables from cells, from a callable, from episodes and from the lab."""

from typing import Any

import numpy as np
import pytest

from counterproof.core.episodes import Done, Event, Verify
from counterproof.core.errors import InputError
from counterproof.core.outcomes import Abstained, Failed, NotQueried, Scored, TimedOut, outcome_of
from counterproof.core.seeds import ItemSeed
from counterproof.equations.evidence import (
    NO_VERDICT,
    OPEN,
    UNKNOWN,
    Cell,
    EvidenceEpisode,
    build_evidence,
    decode_cells,
    lab_evidence,
    tabulate,
)
from tests.equations.laboratory import study


def test_cells_become_a_table_with_typed_gaps() -> None:
    cells = [
        Cell("a", "x", "yes", Scored(1.0)),
        Cell("a", "y", None, Scored(2.0)),
        Cell("b", "x", "no"),
        Cell("b", "y", None, TimedOut(3.0)),
        Cell("c", "x", None, Abstained()),
    ]
    table = build_evidence(cells, clusters={"a": "q", "b": "q"}, truth={"a": "maybe"})
    assert table.verdicts == ("maybe", "no", "yes")
    assert table.verdict.tolist() == [[2, OPEN], [1, NO_VERDICT], [OPEN, NO_VERDICT]]
    assert table.scored.tolist() == [[True, True], [False, False], [False, False]]
    assert table.missing == {(1, 1): TimedOut(3.0), (2, 1): NotQueried("no cell for this item and view")}
    assert table.reason(1, 1) == "TimedOut: no reply in time"
    assert table.reason(0, 0) == ""
    assert table.cluster.tolist() == [1, 1, 0]
    assert table.truth.tolist() == [0, UNKNOWN, UNKNOWN]


def test_problems_are_named_together() -> None:
    cell = Cell("a", "x", "yes")
    with pytest.raises(InputError) as caught:
        build_evidence([cell, cell], clusters={"z": "q"}, truth={"w": "yes"})
    assert len(caught.value.problems) == 3
    with pytest.raises(InputError, match="no cell"):
        build_evidence([])


def mean_is_positive(record: list[float], view: int) -> object:
    """A verifier of another kind: a one-sample test on the first so many numbers."""
    shown = np.array(record[:view])
    if view == 1:
        raise ZeroDivisionError("no spread")
    if view == 2:
        return None
    if view == 3:
        return "positive", float("nan")
    if view == 4:
        return 1
    if view == 5:
        return "positive"
    return ("positive" if shown.mean() > 0 else "not positive"), abs(float(shown.mean()))


def test_a_callable_becomes_cells_and_its_failures_become_types() -> None:
    record = {"a": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}
    cells = tabulate(mean_is_positive, record, {str(n): n for n in range(1, 7)})
    table = build_evidence(cells)
    assert isinstance(cells[0].score, Failed)
    assert "ZeroDivisionError: no spread" in cells[0].score.reason
    assert isinstance(cells[2].score, Failed)
    assert isinstance(cells[3].score, Failed)
    assert table.verdict[0].tolist() == [NO_VERDICT, OPEN, NO_VERDICT, NO_VERDICT, 0, 0]
    assert table.score[0, 5] == 3.5


def test_an_episode_asks_for_every_view_in_one_request() -> None:
    episode = EvidenceEpisode()
    state = episode.start("record", {"x": 1, "y": 2, "z": 3}, ItemSeed(0, "a"))
    state, request = episode.step(state, None)
    assert isinstance(request, Verify)
    assert [(call.name, call.record) for call in request.calls] == [
        ("x", ("record", 1)), ("y", ("record", 2)), ("z", ("record", 3)),
    ]  # fmt: skip
    replies: list[Any] = [{"verdict": 2, "score": 0.5}, {"verdict": -1, "score": 0.0}, {"score": 1.0}]
    state, done = episode.step(state, Event(tuple(outcome_of(one) for one in replies)))
    assert isinstance(done, Done)
    assert [(cell.verdict, cell.has_verdict) for cell in done.result] == [("2", True), (None, True), (None, False)]
    assert decode_cells(episode.encode(done.result)) == done.result
    with pytest.raises(InputError):
        decode_cells(b"\x03\x00\x00\x00{]}")


def test_the_lab_is_a_client() -> None:
    result = study()
    table = lab_evidence(result.permitted, result.truth, result.family * 10_000 + result.seed)
    assert table.verdict.shape == (180, 12)
    assert table.cluster.max() + 1 == 30
    assert table.verdicts[table.truth[-1]] == "outside"
    assert table.verdicts[table.truth[0]] == "u_x + u_xx"
