import pytest

from counterproof.core.errors import BindingError
from counterproof.core.outcomes import Scored
from counterproof.rewards.reference import (
    FLAG_COST,
    REWARDS,
    answer_score,
    built_in_reward,
    citation_f1,
    full,
    normalise_answer,
)
from tests.rewards.records import CORPUS, record, with_others

# .55 / 7, published as .0786.
FLAG = 0.55 / 7


def terms(spec: str, **changes: object) -> dict[str, float]:
    return dict(built_in_reward(spec).components(record(**changes), CORPUS))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The  Beatles!", "beatles"),
        ("An apple a day, the end.", "apple day end"),
        ("U.S.A.", "usa"),
        ("theatre another", "theatre another"),
        ("the", ""),
        ("", ""),
    ],
)
def test_answers_are_compared_without_case_punctuation_and_articles(text: str, expected: str) -> None:
    assert normalise_answer(text) == expected


@pytest.mark.parametrize(
    ("answer", "golds", "expected"),
    [
        ("the Neil Peart", ("Neil Peart",), 1.0),
        # No exact match; F1 of {neil, peart, drums} and {neil, peart}: 2 * 2 / 5.
        ("Neil Peart drums", ("Neil Peart",), 0.4),
        # A repeated token counts once for each time that both have it: 2 * 1 / (2 + 1), halved.
        ("Rush Rush", ("Rush",), 1 / 3),
        # The best gold counts, not the first.
        ("Geddy", ("Neil Peart", "Geddy"), 1.0),
        ("Geddy", ("Neil Peart",), 0.0),
        ("", ("Neil Peart",), 0.0),
        ("", ("The",), 0.0),
        ("Neil Peart", (), 0.0),
    ],
)
def test_answer_score_is_the_best_mean_of_exact_match_and_token_f1(
    answer: str, golds: tuple[str, ...], expected: float
) -> None:
    assert answer_score(answer, golds) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    ("cited", "support", "expected"),
    [("ab", "ab", 1.0), ("a", "ab", 2 / 3), ("ac", "ab", 0.5), ("c", "ab", 0.0), ("", "ab", 0.0), ("", "", 0.0)],
)
def test_grounding_is_the_f1_of_two_sets(cited: str, support: str, expected: float) -> None:
    assert citation_f1(frozenset(cited), frozenset(support)) == pytest.approx(expected, rel=1e-15)


def test_every_term_of_a_good_record_by_hand() -> None:
    # Right answer (1), cites b of the support a, b (F1 2/3), well formed, one search, "Neil Peart [b]" is 3 tokens.
    assert terms("reference") == pytest.approx(
        {
            "answer": 1.0,
            "grounding": 1 / 3,
            "well_formed": 0.1,
            "searches": -0.02,
            "invalid_actions": 0.0,
            "length": -0.0006,
            "flag_U": 0.0,
            "flag_L": 0.0,
            "flag_F": 0.0,
            "flag_support_mismatch": 0.0,
            "flag_repeated_query": 0.0,
            "flag_over_retrieval": 0.0,
            "flag_answer_without_citation": 0.0,
        },
        rel=1e-12,
    )
    outcome = built_in_reward("reference")(record(), CORPUS)
    assert isinstance(outcome, Scored)
    assert outcome.score == pytest.approx(1.0 + 1 / 3 + 0.1 - 0.02 - 0.0006, rel=1e-12)


@pytest.mark.parametrize(
    ("changes", "flags"),
    [
        ({"searches": (), "citations": ""}, "U answer_without_citation"),
        ({"citations": "c"}, "L support_mismatch"),
        ({"citations": ("nonexistent-1",)}, "F support_mismatch"),
        ({"searches": (("who drums", "ab"), ("who drums", ""))}, "repeated_query"),
        (
            {"searches": [(f"query {word}", "b") for word in ["one", "two", "three", "four", "five", "six"]]},
            "over_retrieval",
        ),
        ({"citations": ""}, "answer_without_citation"),
    ],
)
def test_each_flag_costs_a_seventh_of_55_hundredths(changes: dict[str, object], flags: str) -> None:
    found = {name: value for name, value in terms("reference", **changes).items() if name.startswith("flag_") and value}
    assert found == pytest.approx({f"flag_{name}": -FLAG for name in flags.split()}, rel=1e-12)
    assert pytest.approx(FLAG, rel=1e-15) == FLAG_COST


def test_empty_searches_and_invalid_actions_cost() -> None:
    found = terms("reference", searches=(("who", ""), ("drums", "b")), others=with_others("hm", "!serch", "!find"))
    assert found["searches"] == pytest.approx(-0.04)
    assert found["invalid_actions"] == pytest.approx(-0.2)


@pytest.mark.parametrize(("tokens", "bonus"), [(0, 0.0), (1, 0.1), (30, 0.1), (31, 0.0)])
def test_well_formed_answers_have_one_to_thirty_tokens(tokens: int, bonus: float) -> None:
    assert terms("reference", answer=" ".join(["word"] * tokens))["well_formed"] == bonus


def test_answer_without_citation_is_not_well_formed() -> None:
    assert terms("reference", citations="")["well_formed"] == 0.0


def test_repeated_citations_are_one_member_of_the_set() -> None:
    assert terms("reference", citations="bb")["grounding"] == terms("reference", citations="b")["grounding"]


def test_penalties_of_a_repair_stand_beside_the_reference() -> None:
    base, repaired = terms("reference", citations="c"), terms("reference+U+L+F", citations="c")
    assert {name: value for name, value in repaired.items() if name in base} == base
    assert {name: value for name, value in repaired.items() if name not in base} == {
        "penalty_U": 0.0,
        "penalty_L": -1.2,
        "penalty_F": 0.0,
    }
    assert terms("reference+U", searches=(), citations="")["penalty_U"] == -1.6
    assert terms("reference+F", citations=("nonexistent-1",))["penalty_F"] == -1.0


def test_full_repair_adds_hygiene_and_mismatch() -> None:
    found = {name: value for name, value in terms("reference+full", citations="c").items() if name[:8] == "penalty_"}
    assert found == {
        "penalty_U": 0.0,
        "penalty_L": -1.2,
        "penalty_F": 0.0,
        "penalty_support_mismatch": -1.5,
        "penalty_repeated_query": 0.0,
        "penalty_over_retrieval": 0.0,
        "penalty_answer_without_citation": 0.0,
    }
    many = [("who drums", "b")] * 6
    assert sum(terms("reference+full", searches=many, citations="").values()) == pytest.approx(
        # answer 1, six searches, "Neil Peart" is 2 tokens, three hygiene flags, and .5 + .3 + .3 of R_full.
        1.0 - 0.12 - 0.0004 - 3 * FLAG - 1.1
    )
    assert full(0.25).components(record(citations="c"), CORPUS)["penalty_support_mismatch"] == -0.25


def test_controls_are_what_they_say() -> None:
    assert terms("outcome") == {"answer": 1.0}
    assert terms("outcome+cost", others=with_others("!x")) == {
        "answer": 1.0,
        "searches": -0.02,
        "invalid_actions": -0.1,
    }
    assert terms("constant") == {"constant": 0.0}
    assert terms("oracle") == {"flag_U": 0.0, "flag_L": 0.0, "flag_F": 0.0}
    assert terms("oracle", searches=(), citations=("b", "nonexistent-1")) == {
        "flag_U": -1.0,
        "flag_L": -1.0,
        "flag_F": -1.0,
    }


def test_named_rewards_are_found_and_detectors_are_put_in_order() -> None:
    assert built_in_reward("reference+F+U").name == "reference+U+F"
    assert all(built_in_reward(name) is one for name, one in REWARDS.items())


@pytest.mark.parametrize("spec", ["refrence", "reference+X", "reference+L+L", "reference+", "outcome+L", ""])
def test_unknown_rewards_are_refused(spec: str) -> None:
    with pytest.raises(BindingError, match="is no built-in reward"):
        built_in_reward(spec)
