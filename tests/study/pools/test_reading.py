import pytest

from counterproof.core.records import Corpus, Passage
from counterproof.study.pools.reading import Reader, is_plain, phrase, plain, salient_spans


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("", ()),
        ("nothing here stands out", ()),
        ("The Bank of Toronto opened.", ("Bank of Toronto",)),
        ("He met J. Smith, then Ada Lovelace's aunt.", ("J Smith", "Ada Lovelace")),
        ("Founded in 1871, it moved in 20019.", ("Founded", "1871")),
        ("One Two Three Four Five Six Seven words", ("Two Three Four Five Six Seven",)),
        ("Two Three Four Five Six Seven Eight words", ()),
        ("Rush and Rush, Rush", ("Rush and Rush", "Rush")),
        ("A [Tag] and an <Open> one", ()),
    ],
)
def test_salient_spans_are_capitalised_runs_and_years(text: str, spans: tuple[str, ...]) -> None:
    assert salient_spans(text) == spans


def test_phrase_compares_whole_words_without_case_and_punctuation() -> None:
    assert phrase("Neil Peart!") in phrase("He was NEIL PEART, of Rush")
    assert phrase("eil") not in phrase("Neil")
    assert phrase("?!") == " "


def test_plain_text_holds_no_brackets_and_no_line_breaks() -> None:
    assert plain("a [b]\n <c>  {d}") == "a b c d"
    assert not is_plain("see [p1]")
    assert not is_plain("...")
    assert is_plain("Rush (band)")


def test_reader_drops_what_stands_in_parentheses_from_a_title() -> None:
    corpus = Corpus({"a": Passage("a", "Rush (band)", "From Toronto [1]."), "b": Passage("b", "(500) Days", "")})
    reader = Reader(corpus)
    assert reader.read("a").title == "Rush"
    assert reader.read("a").words == ("From", "Toronto")
    assert reader.read("b").title == "(500) Days"
    assert reader.read("a") is reader.read("a")
