from hypothesis import given
from hypothesis import strategies as st

from counterproof.core.analysis import PairField
from counterproof.report.pairs import Segment, excerpt, word_difference


def text_of(segments: tuple[Segment, ...], part: str) -> str:
    return "".join(segment.text for segment in segments if segment.part == part)


def test_only_the_replaced_word_is_marked() -> None:
    before, after = word_difference(PairField("f", "opened in 1904 [p1] again", "opened in 1904 [p2-x] again"))
    assert before == (Segment("opened in 1904 [", "same"), Segment("p1", "changed"), Segment("] again", "same"))
    assert text_of(after, "changed") == "p2-x"


def test_long_equal_stretches_become_a_note_on_their_length() -> None:
    words = " ".join(f"w{i}" for i in range(1000))
    before, _ = word_difference(PairField("f", words + " old", words + " new"))
    assert text_of(before, "changed") == "old"
    assert "words the same" in text_of(before, "elided")
    assert sum(len(segment.text) for segment in before) < 300


def test_texts_with_little_in_common_are_marked_as_a_whole() -> None:
    before, after = word_difference(PairField("f", "the hall burnt", "of a very different orchestra and the sea"))
    assert text_of(before, "changed") == "the hall burnt"
    assert len(after) == 1


def test_of_a_long_text_only_the_deleted_lines_are_marked() -> None:
    thoughts = [f"I still need to find out more about number {i} of it, and go on." for i in range(200)]
    searches = [f"search: number {i}" for i in range(200)]
    whole = "\n".join(line for pair in zip(thoughts, searches, strict=True) for line in pair)
    before, after = word_difference(PairField("steps", whole, "\n".join(thoughts) + "\n"))
    assert "search: number 7" in text_of(before, "changed")
    assert "I still need" not in text_of(before, "changed")
    assert text_of(after, "changed") == ""


def test_a_deleted_field_has_an_empty_side() -> None:
    before, after = word_difference(PairField("steps", "search: a\n" * 2000, ""))
    assert after == ()
    assert "changed words more" in text_of(before, "elided")


def test_endless_tokens_are_cut() -> None:
    before, _ = word_difference(PairField("f", "x" * 100_000, "y"))
    assert len(before[0].text) < 200
    assert len(excerpt("x" * 100_000)) < 1300


@given(st.text("ab \n[].", max_size=60), st.text("ab \n[].", max_size=60))
def test_short_sides_are_rebuilt_by_their_segments(before: str, after: str) -> None:
    left, right = word_difference(PairField("f", before, after))
    if not any(segment.part == "elided" for segment in (*left, *right)):
        assert "".join(segment.text for segment in left) == before
        assert "".join(segment.text for segment in right) == after
        assert text_of(left, "same") == text_of(right, "same")
