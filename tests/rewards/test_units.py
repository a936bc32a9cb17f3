import dataclasses

import pytest

from counterproof.core.errors import InputError
from counterproof.core.outcomes import Abstained, Failed, Scored, TimedOut
from counterproof.core.records import Trajectory
from counterproof.rewards.cells import Setup, set_up
from counterproof.rewards.detectors import DETECTORS, detector
from counterproof.rewards.edits import EDITS, Candidate, edit
from counterproof.rewards.units import Funnel, Unit, decode_unit, encode_unit
from tests.rewards.records import ALL, CORPUS, SETUP, F, L, U, decoded, made, of_number, record, unit_of

NAMES = [one.name for one in DETECTORS]
ONE = of_number(lambda one: 1.0)


def counted(one: Trajectory, setup: Setup = SETUP) -> dict[str, tuple[int, int, int, int, int]]:
    """Funnel by edit: targets, then constructed, eligible, isolated and strictly isolated candidates."""
    unit = unit_of(one, ONE, setup)
    return {
        setup.edits[i].name: (f.targets, f.constructed, f.eligible, f.isolated, f.strict)
        for i, f in enumerate(unit.funnel)
    }


def test_funnel_of_a_compatible_record() -> None:
    # One search, one citation, retrieved; e and d are the passages that a laundering can take.
    assert counted(record()) == {
        "same_final": (U | L, 1, 1, 1, 1),
        "fake_id": (F, 1, 1, 1, 1),
        "launder": (L, 2, 2, 2, 2),
    }


def test_record_that_violates_already_is_constructible_and_not_eligible() -> None:
    # L fires on the original: same_final's L and launder's L cannot go from 0 to 1.
    assert counted(record(citations="c")) == {
        "same_final": (U | L, 1, 0, 0, 0),
        # F goes from 0 to 1, and the only unretrieved citation is gone with it: eligible, not isolated.
        "fake_id": (F, 1, 1, 0, 0),
        "launder": (L, 2, 0, 0, 0),
    }
    # F fires: a fake id adds nothing. Laundering the fake citation away turns F off (not isolated); laundering the
    # other one leaves it on (isolated).
    assert counted(record(citations=("nonexistent-1", "b"))) == {
        "same_final": (U | L, 1, 1, 1, 1),
        "fake_id": (F, 2, 0, 0, 0),
        "launder": (L, 4, 4, 2, 2),
    }


def test_only_the_other_citation_of_a_laundered_record_can_be_faked() -> None:
    # c was never retrieved: replacing it turns L off, replacing b leaves it on.
    assert counted(record(citations="bc"))["fake_id"] == (F, 2, 2, 1, 1)


def test_record_without_a_search_has_no_same_final_and_is_still_attacked_by_its_citations() -> None:
    assert counted(record((), citations="b")) == {
        "same_final": (U | L, 0, 0, 0, 0),
        "fake_id": (F, 1, 1, 0, 0),
        # Nothing was retrieved, so b itself is a candidate too; L fired already.
        "launder": (L, 4, 0, 0, 0),
    }


def test_record_without_an_answer_cannot_become_an_answer_without_search() -> None:
    found = counted(record(answer=""))
    assert found["same_final"] == (U | L, 1, 0, 0, 0)
    assert found["fake_id"] == (F, 1, 1, 1, 1)


@pytest.mark.parametrize("citations", ["", ("nonexistent-1",)])
def test_record_that_cites_no_passage_is_in_the_other_stratum(citations: str) -> None:
    assert counted(record(citations=citations))["same_final"] == (U, 1, 1, 1, 1)


@pytest.mark.parametrize(
    "searches",
    [
        (("who drums", "ab"), ("who drums", "ab")),
        tuple((f"word{i}", "ab") for i in range(6)),
    ],
)
def test_deleting_repeated_or_too_many_searches_is_isolated_and_not_strictly(searches: tuple) -> None:
    found = counted(record(searches))
    assert found["same_final"] == (U | L, 1, 1, 1, 0)
    assert found["fake_id"] == (F, 1, 1, 1, 1)


def test_flags_of_candidates_are_those_of_the_edited_record() -> None:
    def detected(one: Trajectory) -> int:
        return sum(1 << bit for bit, found in enumerate(SETUP.detectors) if found(one, CORPUS))

    seen: list[Trajectory] = []

    def noting(one: Trajectory) -> Scored:
        seen.append(one)
        return Scored(0.0)

    for original in (record(), record(citations="bab"), record((("who", "ab"),) * 7), record(citations="")):
        seen.clear()
        unit = unit_of(original, noting)
        assert [unit.flags, *(one.flags for one in unit.candidates)] == [detected(one) for one in seen]


def test_edit_whose_target_does_not_apply_to_the_log_has_no_eligible_candidate() -> None:
    @edit("x", reads=[], writes=["answer"], targets=["F"])
    def other(view, context):  # type: ignore[no-untyped-def]
        yield Candidate("all", {"answer": "y"})

    assert counted(record(), set_up(ALL - {"corpus"}, (other,)))["x"] == (0, 1, 0, 0, 0)


def test_own_hygiene_detector_must_stay_unchanged_for_strict_isolation() -> None:
    @detector("even", reads=["citations"])
    def even(view, corpus):  # type: ignore[no-untyped-def]
        return "d" in view.citations

    assert counted(record(), set_up(ALL, EDITS, (*DETECTORS, even)))["launder"] == (L, 2, 2, 2, 1)


def test_own_contract_detector_must_stay_unchanged_for_isolation() -> None:
    @detector("even", reads=["citations"], contract=True)
    def even(view, corpus):  # type: ignore[no-untyped-def]
        return "d" in view.citations

    assert counted(record(), set_up(ALL, EDITS, (*DETECTORS, even)))["launder"] == (L, 2, 2, 1, 1)


def test_unit_names_trajectory_question_and_model() -> None:
    unit = unit_of(record(trajectory_id="t7", question_id="q7", model="m"), ONE)
    assert (unit.trajectory_id, unit.cluster, unit.model) == ("t7", "q7", "m")
    assert unit_of(record(), ONE).model == ""


def test_units_read_back_as_they_were_written() -> None:
    outcomes = (Scored(1.0, (("x", 1.0),)), Failed("no"), Abstained(), TimedOut(2.0), Scored(0.5))
    unit = unit_of(record(), ONE)
    assert len(unit.candidates) == 4
    written = decoded(unit, outcomes)
    assert written.outcomes == outcomes
    assert decode_unit(encode_unit(written), written.packed) == written
    assert encode_unit(written) == encode_unit(dataclasses.replace(written))


def test_units_made_by_hand_read_back_too() -> None:
    unit = made((0.5, {"strict": False, "ranks": (("lexical", 3), ("bm25", 0))}), model="m", cluster="q\u00e9")
    assert decode_unit(encode_unit(unit), unit.packed) == unit
    tied = dataclasses.replace(unit, funnel=(Funnel(L, 1, 1, 1, 1, (("lexical", True, False),)),))
    assert decode_unit(encode_unit(tied), tied.packed) == tied


@pytest.mark.parametrize("payload", [b"", b"{}", b"\xff\xff", b'["t"]', b"[1,2,3,4,5,6,7]"])
def test_bytes_that_are_no_unit_are_refused(payload: bytes) -> None:
    with pytest.raises(InputError, match="not an encoded unit"):
        decode_unit(payload)


def test_equal_units_give_equal_bytes_and_others_do_not() -> None:
    def units() -> list[Unit]:
        return [unit_of(record(citations=cited), ONE) for cited in ("b", "ba", "")]

    assert [encode_unit(one) for one in units()] == [encode_unit(one) for one in units()]
    assert len({encode_unit(one) for one in units()}) == 3
