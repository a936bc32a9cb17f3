from hypothesis import given
from hypothesis import strategies as st

from counterproof.report.inert import one_line, visible


def test_escapes_bidi_and_nul_are_named() -> None:
    assert visible("\x1b[0m\u202e\x00\u200b\ud800") == "⟨U+001B⟩[0m⟨U+202E⟩⟨U+0000⟩⟨U+200B⟩⟨U+D800⟩"


def test_ordinary_text_of_any_script_stays() -> None:
    text = "naïve עברית العربية 日本語 👩\u200d🔬\n\ttab"
    assert visible(text) == text


@given(st.text(alphabet=st.characters()))
def test_visible_text_is_idempotent_and_encodable(text: str) -> None:
    shown = visible(text)
    assert visible(shown) == shown
    shown.encode("utf-8")


def test_one_line_is_cut_with_an_ellipsis() -> None:
    assert one_line("a\nb\tc") == "a b c"
    assert one_line("abcdef", 4) == "abc…"
