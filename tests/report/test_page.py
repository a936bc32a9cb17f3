import html as markup
import json
import re
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from counterproof.core.analysis import Analysis, Lack, Pair, PairField
from counterproof.report import html
from counterproof.report.page import script_json
from tests.report.example import charts, more_charts, pair, rewards_audit

HOSTILE = (
    "</script></noscript></style><script>document.documentElement.dataset.owned=1</script>"
    '<img src=x onerror="document.documentElement.dataset.owned=1">\'"\u202etxt\x00\x1b[31m{{ 7*7 }}' + "y" * 30_000
)
PAGES = {"rewards.attack": "# Attack\n\nA record that `is <b>wrong</b>`.\n\n- one\n- two", "unused": "never shown"}


def hostile_audit() -> Analysis:
    analysis = rewards_audit()
    chart = replace(
        charts()[0],
        title=HOSTILE,
        caption=HOSTILE,
        x_title=HOSTILE,
        rows=({"label": HOSTILE, "estimate": 0.5, "lower": 0.1, "upper": 0.9, "series": HOSTILE},),
    )
    finding = replace(analysis.findings[0], code=HOSTILE, subject=HOSTILE, title=HOSTILE, values={HOSTILE: HOSTILE})
    return replace(
        analysis,
        room=HOSTILE,
        title=HOSTILE,
        summary=(HOSTILE,),
        findings=(finding, *analysis.findings),
        charts=(chart,),
        pairs=(Pair(HOSTILE, HOSTILE, (PairField(HOSTILE, HOSTILE, HOSTILE + "z"), PairField("s", HOSTILE, HOSTILE))),),
        lacks=(Lack(HOSTILE, HOSTILE, HOSTILE),),
        notes=(HOSTILE,),
        signature=HOSTILE,
        provenance=((HOSTILE, HOSTILE),),
    )


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))


def elements(page: str) -> list[tuple[str, dict[str, str]]]:
    parser = Elements()
    parser.feed(page)
    return parser.found


def without_scripts(page: str) -> str:
    return re.sub(r"<script[^>]*>.*?</script>", "", page, flags=re.DOTALL)


@pytest.fixture(scope="module")
def page() -> str:
    return html(rewards_audit(), code_pages=PAGES)


def test_nothing_is_fetched(page: str) -> None:
    for _, attributes in elements(without_scripts(page)):
        for name in ("src", "href", "action", "data", "poster", "xlink:href"):
            assert attributes.get(name, "#").startswith(("#", "data:,"))
    assert not re.search(r"url\((?!#)", without_scripts(page))
    assert "@import" not in page.split("</style>", maxsplit=1)[0]
    assert any(attributes.get("content", "").startswith("default-src 'none'") for _, attributes in elements(page))


def test_links_inside_the_page_have_targets_and_ids_are_unique(page: str) -> None:
    found = elements(without_scripts(page))
    ids = [attributes["id"] for _, attributes in found if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in found:
        if attributes.get("href", "").startswith("#"):
            assert attributes["href"][1:] in ids


def test_shown_and_raw_number_stand_together(page: str) -> None:
    assert '<p class="figure" data-raw="0.125">12.5 % [9.1, 16.4]' in page
    assert "not applicable: no trajectory is in this stratum" in page


def test_code_pages_are_embedded_and_linked(page: str) -> None:
    assert re.search(r'<a class="mono" href="#code-0">rewards.attack</a>', page)
    assert "<code>is &lt;b&gt;wrong&lt;/b&gt;</code>" in page
    assert "never shown" not in page


def test_pairs_mark_what_changed_and_fold_what_did_not(page: str) -> None:
    assert "<del>p77aa01bc52d1</del>" in page
    assert "<ins>p0b51c0ffee12</ins>" in page
    assert "3 fields unchanged: question, steps, answer" in page
    assert '<td class="text">support f1</td>' in page


def test_every_chart_has_words_a_name_and_its_data(page: str) -> None:
    assert page.count('role="img" aria-label=') >= 3
    for chart in charts():
        assert markup.escape(chart.caption) in page
    assert page.count("The data of this chart") == 3
    assert page.count("<noscript><svg") == 3


def test_the_library_is_inlined_once_and_only_with_charts(page: str) -> None:
    assert page.count("window.vegaEmbed=") == 1
    bare = html(replace(rewards_audit(), charts=()))
    assert "window.vegaEmbed=" not in bare


def test_thirty_pairs_without_charts_stay_small() -> None:
    pairs = tuple(pair(f"k{i}", f"Question number {i}?", f"p{i:012d}") for i in range(30))
    bare = html(replace(rewards_audit(), charts=(), pairs=pairs), code_pages=PAGES)
    assert len(bare.encode()) < 200_000


def test_equal_analyses_give_equal_pages(page: str) -> None:
    assert html(rewards_audit(), code_pages=PAGES) == page


def test_no_rate_when_a_control_failed() -> None:
    bare = without_scripts(html(replace(rewards_audit(), controls_hold=False, exit_code=3)))
    shown = bare.split("</style>")[1].split('id="evidence"')[0]
    assert "no rate is shown" in shown
    assert not re.search(r"\d\s*%", shown)


def test_hostile_text_becomes_no_element() -> None:
    page = html(hostile_audit(), code_pages={HOSTILE: HOSTILE})
    calm = [tag for tag, _ in elements(page) if tag in ("script", "style", "noscript", "img")]
    assert calm.count("script") == 3  # our own, the data, the library
    assert calm.count("style") == 1
    assert "img" not in calm
    assert "\x00" not in page
    assert "\x1b" not in page
    assert "\u202e" not in without_scripts(page)
    assert "49" not in re.findall(r"\[31m(.{0,4})", page)
    page.encode("utf-8")


def test_script_data_cannot_end_its_element() -> None:
    value = ["</script><!--", "\u2028&"]
    text = script_json(value)
    assert not set(text) & set("<>&\u2028")
    assert json.loads(text) == value


def opened(chromium: str, path: Path, profile: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [
        *(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
        *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions"),
        *("--enable-logging=stderr", "--v=0", "--virtual-time-budget=20000", f"--user-data-dir={profile}"),
        *(*options, path.as_uri()),
    ]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120, check=True)


@pytest.mark.browser
@pytest.mark.parametrize("name", ["plain", "hostile"])
def test_a_browser_renders_it_without_errors(chromium: str, tmp_path: Path, name: str) -> None:
    analysis = hostile_audit() if name == "hostile" else replace(rewards_audit(), charts=(*charts(), *more_charts()))
    path = tmp_path / "report.html"
    path.write_text(html(analysis, code_pages=PAGES), encoding="utf-8")
    done = opened(chromium, path, tmp_path / "profile", "--dump-dom")
    (_, root) = next(entry for entry in elements(done.stdout) if entry[0] == "html")
    assert root.get("data-ready") == "true"
    assert root.get("data-errors") == ""
    assert "data-owned" not in root
    assert not [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    live = re.sub(r"<noscript>.*?</noscript>", "", done.stdout, flags=re.DOTALL)
    drawn = [attributes for tag, attributes in elements(live) if tag == "svg"]
    assert sum("marks" in attributes.get("class", "") for attributes in drawn) == len(analysis.charts)
    assert not [tag for tag, _ in elements(done.stdout) if tag == "img"]


@pytest.mark.browser
def test_light_and_dark_give_different_pictures(chromium: str, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(html(replace(rewards_audit(), charts=())), encoding="utf-8")
    pictures = []
    for scheme in ("0", "1"):
        target = tmp_path / f"{scheme}.png"
        options = (f"--screenshot={target}", f"--blink-settings=preferredColorScheme={scheme}")
        opened(chromium, path, tmp_path / f"profile-{scheme}", *options)
        pictures.append(target.read_bytes())
    assert all(picture.startswith(b"\x89PNG") for picture in pictures)
    assert pictures[0] != pictures[1]


def test_controls_that_were_not_run_are_said_so() -> None:
    text = html(replace(rewards_audit(), controls_note="not run, because of this"))
    assert "Controls: not run, because of this" in text
