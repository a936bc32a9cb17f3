import pytest

from counterproof.core.errors import InputError
from counterproof.rewards.cells import cells_of, set_up
from counterproof.rewards.detectors import DETECTORS, detector
from counterproof.rewards.edits import EDITS, edit
from tests.rewards.records import ALL, SETUP, F, L, U


def test_cells_of_the_built_in_edits() -> None:
    found = [(cell.name, cell.stratum, cell.budget, cell.primary) for cell in cells_of(SETUP)]
    assert found == [
        ("same_final{U}", U, None, True),
        ("same_final{UL}", U | L, None, True),
        ("fake_id", None, None, True),
        ("launder/lexical@8", None, 8, True),
        *[(f"launder/bm25@{k}", None, k, k == 16) for k in (1, 2, 4, 8, 16)],
    ]


def test_masks() -> None:
    assert SETUP.contract_mask == U | L | F
    # Repeated query, over-retrieval, answer without citation; the support mismatch is free to change.
    assert SETUP.strict_mask == 0b1110000
    assert SETUP.lattice == (0, 1, 2)
    assert SETUP.mask(frozenset({"U", "F", "unknown"})) == U | F
    assert SETUP.names(U | L) == "UL"
    assert SETUP.names(0b1001) == "U,support_mismatch"


def test_log_without_citations_leaves_one_stratum_of_one_edit() -> None:
    setup = set_up(ALL - {"citations"})
    assert [cell.name for cell in cells_of(setup)] == ["same_final{U}"]
    assert dict(setup.skipped).keys() == {
        *("detector L", "detector F", "detector support_mismatch", "detector answer_without_citation"),
        *("edit fake_id", "edit launder"),
    }
    assert dict(setup.skipped)["edit fake_id"] == "the log has no citations"


def test_log_without_a_corpus_has_no_fake_citations() -> None:
    setup = set_up(ALL - {"corpus"})
    assert "F" not in [one.name for one in setup.detectors]
    assert "fake_id" not in [one.name for one in setup.edits]
    assert "corpus" in dict(setup.skipped)["edit fake_id"]
    assert "L" in [one.name for one in setup.detectors]


def test_log_without_passages_cannot_say_what_was_retrieved() -> None:
    setup = set_up(ALL - {"passages"})
    assert [cell.name for cell in cells_of(setup)] == ["same_final{U}", "fake_id"]


def test_log_of_bare_passage_ids_knows_what_was_retrieved_but_cannot_launder() -> None:
    setup = set_up(ALL - {"passage_texts", "corpus"})
    assert "L" in [one.name for one in setup.detectors]
    assert [cell.name for cell in cells_of(setup)] == ["same_final{U}", "same_final{UL}"]
    assert dict(setup.skipped)["edit launder"] == "the log has no texts of passages"


def test_own_edit_has_a_cell_for_each_budget_and_the_largest_is_primary() -> None:
    @edit("x", reads=[], writes=[], targets=["U"], generators={"lexical": (2, 4)})
    def x(view, context):  # type: ignore[no-untyped-def]
        return []

    @edit("y", reads=[], writes=[], targets=["U"])
    def y(view, context):  # type: ignore[no-untyped-def]
        return []

    found = [(cell.name, cell.primary) for cell in cells_of(set_up(ALL, (x, y)))]
    assert found == [("x/lexical@2", False), ("x/lexical@4", True), ("y", True)]


def test_an_edit_that_targets_no_detector_is_refused_with_the_nearest() -> None:
    @edit("x", reads=[], writes=[], targets=["support_mismatsh"])
    def x(view, context):  # type: ignore[no-untyped-def]
        return []

    with pytest.raises(InputError) as caught:
        set_up(ALL, (x,))
    assert "edit 'x': targets 'support_mismatsh', which is no detector (did you mean 'support_mismatch'?)" in str(
        caught.value
    )


def test_own_detectors_are_hygiene_unless_they_are_contract() -> None:
    @detector("mine", reads=["answer"])
    def mine(view, corpus):  # type: ignore[no-untyped-def]
        return False

    @detector("ours", reads=["answer"], contract=True, weight=2.0)
    def ours(view, corpus):  # type: ignore[no-untyped-def]
        return False

    setup = set_up(ALL, EDITS, (*DETECTORS, mine, ours))
    assert setup.strict_mask >> 7 == 0b01
    assert setup.contract_mask >> 7 == 0b10
    assert setup.lattice == (0, 1, 2, 8)


def test_names_that_are_given_twice_are_refused() -> None:
    with pytest.raises(InputError, match=r"(?s)'launder' is defined more than once.*'U' is defined more than once"):
        set_up(ALL, (*EDITS, EDITS[2]), (*DETECTORS, DETECTORS[0]))


def test_more_detectors_than_bits_are_refused() -> None:
    many = [detector(f"d{i}", reads=[])(lambda view, corpus: False) for i in range(63)]
    with pytest.raises(InputError, match="at most 62"):
        set_up(ALL, EDITS, tuple(many))


def test_nothing_applies_to_a_log_that_says_nothing() -> None:
    setup = set_up(frozenset(), EDITS[1:], DETECTORS[1:3])
    assert (setup.edits, setup.detectors, cells_of(setup)) == ((), (), ())
    assert dict(setup.skipped)["detectors"] == "none applies"
