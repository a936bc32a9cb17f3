from counterproof.report.code_pages import Block, blocks, inline


def test_blocks_of_a_page() -> None:
    page = "# Attack\n\nA record that\nis `wrong`.\n\n- one\n  more\n- two\n\n```python\nx < y\n\nz\n```\n"
    assert blocks(page) == (
        Block("heading", ("Attack",)),
        Block("paragraph", ("A record that is `wrong`.",)),
        Block("list", ("one more", "two")),
        Block("code", ("x < y\n\nz",)),
    )


def test_inline_code() -> None:
    assert inline("a `b` c") == (("a ", False), ("b", True), (" c", False))
