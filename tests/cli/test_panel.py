"""The commands of the panel room by real processes: what they write, how they end, and what they say of bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

HEADER = "item,channel,verdict,gold\n"


def verdicts(n: int = 60, *, wrong: tuple[int, ...] = (5, 4, 3)) -> str:
    """Judge j errs on every wrong[j]-th item; labels alternate."""
    lines = [HEADER]
    for i in range(n):
        gold = (i // 2) % 2
        for j, every in enumerate(wrong):
            lines.append(f"q{i},judge-{j},{gold ^ (i % every == j)},{gold}\n")
    return "".join(lines)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "verdicts.csv"
    path.write_text(verdicts(), encoding="utf-8")
    return path


def warnings_in(run: Path) -> dict[str, bool]:
    findings = json.loads((run / "findings.json").read_text(encoding="utf-8"))["findings"]
    return {warning["name"]: warning["blocking"] for finding in findings for warning in finding["warnings"]}


def test_audit_plan_replay_show_verify(cli: Cli, file: Path, tmp_path: Path) -> None:
    said = cli("panel", "audit", file, "--gold", "gold", "--out", "run", code=0).stdout
    assert "counterproof panel: Audit of a panel of 3 channels" in said
    assert "advice     recommended: " in said
    assert "repair" not in said
    assert sorted(entry.name for entry in (tmp_path / "run").iterdir()) == [
        *("findings.json", "ledger", "plan.json", "report.html", "report.md")
    ]
    planned = cli(
        "panel", "plan", file, "--gold", "gold", "--budget", "2", "--loss", "chow:0.2", "--out", "p.json", code=0
    )
    assert planned.stdout.startswith("p.json: ")
    replayed = cli("panel", "replay", file, "--gold", "gold", "--policy", "p.json", "--out", "again", code=0)
    assert "Replay of " in replayed.stdout
    for run in ("run", "again"):
        assert "every hash holds" in cli("verify", run, code=0).stdout
        assert "identical to findings.json, byte for byte" in cli("replay", run, code=0).stdout
        cli("show", run, code=0)
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "The recommended policy" in page
    assert "What each further call adds" in page


def test_gates_decide_the_exit_code(cli: Cli, file: Path) -> None:
    cli("panel", "audit", file, "-o", "run", "--fail-on", "loss>0.001", code=1)
    cli("panel", "audit", file, "-o", "other", "--fail-on", "neff<1", code=0)
    said = cli("panel", "audit", file, "-o", "third", "--fail-on", "lost>1", code=3).stderr
    assert "'lost' is no metric" in said


def test_demo_finds_the_planted_dependence(cli: Cli, tmp_path: Path) -> None:
    said = cli("demo", "panel", code=0).stdout
    assert "half of the time all others follow it" in said
    assert "Recommended: " in said
    findings = json.loads((tmp_path / "demo-panel" / "run" / "findings.json").read_text(encoding="utf-8"))["findings"]
    (dependence,) = [finding for finding in findings if finding["code"] == "PN101"]
    assert dependence["verdict"] == "refuted"
    cli("demo", "panel", code=0)  # goes on from what is there


def test_fixture_holds_within_sampling_error(cli: Cli) -> None:
    said = cli("panel", "fixture", "--out", "fixture", code=0).stdout
    assert "controlled figures lie within 4 standard errors" in said
    cli("verify", "fixture", code=0)


@pytest.mark.parametrize("command", ["audit", "plan", "replay", "fixture"])
def test_every_command_has_help(cli: Cli, command: str) -> None:
    assert "--out" in cli("panel", command, "--help", code=0).stdout


BAD: dict[str, tuple[str, tuple[str, ...]]] = {
    "an empty file": ("", ("verdicts.csv",)),
    "a heading alone": (HEADER, ("verdicts.csv",)),
    "one class only": (
        HEADER + "".join(f"q{i},a,{i % 2},1\n" for i in range(30)),
        ("every gold label is '1'", "nothing can be said of the other"),
    ),
    "an unknown label": (verdicts() + "q99,judge-0,maybe,1\n", ("'maybe' is no class and no known failure", ":182")),
    "a call twice": (
        verdicts() + "q0,judge-0,1,0\nq0,judge-1,1,0\n",
        ("is a second call of channel 'judge-0' on item 'q0'", "channel 'judge-1'"),
    ),
    "gold that differs within an item": (verdicts() + "q0,judge-9,1,1\n", ("give each item one gold",)),
    "no channel column": ("item,verdict,gold\nq0,1,1\n", ("channel: was not found",)),
    "every call failed": (HEADER + "".join(f"q{i},a,,{i % 2}\n" for i in range(30)), ("no channel gives a class",)),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_file_is_explained(cli: Cli, tmp_path: Path, what: str) -> None:
    content, said = BAD[what]
    (tmp_path / "verdicts.csv").write_text(content, encoding="utf-8")
    done = cli("panel", "audit", "verdicts.csv", "--gold", "gold", "-o", "run", code=3)
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    for words in said:
        assert words in done.stderr
    assert not (tmp_path / "run" / "findings.json").exists()


def test_a_gold_label_that_occurs_once_is_a_class_of_which_nothing_can_be_learnt(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "verdicts.csv").write_text(verdicts() + "q99,judge-0,1,2\n", encoding="utf-8")
    said = cli("panel", "audit", "verdicts.csv", "-o", "run", code=3).stdout
    assert "No policy can be recommended: " in said
    assert "class 2" in said


def test_all_bad_rows_are_named_at_once(cli: Cli, tmp_path: Path) -> None:
    rows = "q99,judge-0,maybe,1\nq98,judge-0,perhaps,1\nq0,judge-0,1,0\n"
    (tmp_path / "verdicts.csv").write_text(verdicts() + rows, encoding="utf-8")
    said = cli("panel", "audit", "verdicts.csv", "-o", "run", code=3).stderr
    assert all(word in said for word in ("maybe", "perhaps", "second call"))


def test_a_channel_that_always_fails_is_a_blocking_warning(cli: Cli, tmp_path: Path) -> None:
    broken = "".join(f"q{i},broken,timeout,{(i // 2) % 2}\n" for i in range(60))
    (tmp_path / "verdicts.csv").write_text(verdicts() + broken, encoding="utf-8")
    said = cli("panel", "audit", "verdicts.csv", "-o", "run", code=2).stdout
    assert "channel-always-fails: broken never gave a class" in said
    assert warnings_in(tmp_path / "run")["channel-always-fails"]


def test_constant_verdicts_are_a_warning(cli: Cli, tmp_path: Path) -> None:
    constant = "".join(f"q{i},flatterer,1,{(i // 2) % 2}\n" for i in range(60))
    (tmp_path / "verdicts.csv").write_text(verdicts() + constant, encoding="utf-8")
    cli("panel", "audit", "verdicts.csv", "-o", "run", code=0)
    assert warnings_in(tmp_path / "run")["constant-verdicts"] is False


def test_too_few_calibration_rows_are_a_blocking_warning(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "verdicts.csv").write_text(verdicts(36), encoding="utf-8")
    said = cli("panel", "audit", "verdicts.csv", "-o", "run", code=2).stdout
    assert "few-calibration-rows: 18 calibration items" in said


def test_no_gold_column_is_said_with_its_option(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "plain.csv").write_text("item,channel,verdict\nq0,a,1\nq1,a,0\n", encoding="utf-8")
    assert "name their column with --gold" in cli("panel", "audit", "plain.csv", "-o", "run", code=3).stderr
    assert "--gold" in cli("panel", "plan", "plain.csv", "-o", "p.json", code=3).stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--loss", "accuracy"), "write ba, or chow:KAPPA"),
        (("--share", "1"), "between 0 and 1"),
        (("--by-time",), "time column"),
        (("--column", "channel"), "ROLE=COL"),
        (("--column", "gold=verdict"), "again"),
        (("--column", "judge=channel"), "'judge'"),
        (("--gold", "golden"), "did you mean 'gold'?"),
        (("--budget", "-1"), "--budget"),
    ],
)
def test_bad_options_are_refused_and_nothing_is_written(
    cli: Cli, file: Path, tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    given = options if "--gold" in options else ("--gold", "gold", *options)
    assert said in cli("panel", "audit", file, "-o", "run", *given, code=3).stderr
    assert not (tmp_path / "run").exists()


def test_a_budget_below_the_cheapest_call_recommends_nothing(cli: Cli, file: Path) -> None:
    assert "pays for no call" in cli("panel", "audit", file, "-o", "run", "--budget", "0.5", code=3).stdout
    assert "pays for no call" in cli("panel", "plan", file, "-o", "p.json", "--budget", "0.5", code=3).stderr


def test_a_policy_of_other_channels_or_no_policy_is_refused(cli: Cli, file: Path, tmp_path: Path) -> None:
    assert "no such policy file" in cli("panel", "replay", file, "--policy", "p.json", "-o", "run", code=3).stderr
    cli("panel", "plan", file, "-o", "p.json", code=0)
    text = (tmp_path / "p.json").read_text(encoding="utf-8").replace("judge-", "grader-")
    (tmp_path / "p.json").write_text(text, encoding="utf-8")
    assert "lacks channels" in cli("panel", "replay", file, "--policy", "p.json", "-o", "run", code=3).stderr
    assert not (tmp_path / "run").exists()


LOGS = Path(__file__).parents[3] / "shared" / "data" / "ecosystem" / "inspect" / "logs"


@pytest.mark.skipif(not LOGS.is_dir(), reason="the shared inspect_ai logs are not on this machine")
def test_an_inspect_log_is_audited(cli: Cli, tmp_path: Path) -> None:
    (log,) = LOGS.glob("*multi*.eval")
    done = cli("panel", "audit", log, "--gold", "exact", "--threshold", "0.5", "-o", "run")
    assert done.returncode in (2, 3)  # four calibration samples: nothing is clean
    assert "few-calibration-rows" in warnings_in(tmp_path / "run")
    said = cli("panel", "audit", log, "--gold", "exact", "--column", "item=id", "-o", "no", code=3).stderr
    assert "is an inspect log" in said
