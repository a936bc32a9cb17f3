from __future__ import annotations

from pathlib import Path

import pytest

from counterproof import __version__
from tests.cli.conftest import Cli

HELP = {
    "": ("Stress-test a verifier", "rewards", "demo", "show", "verify", "replay", "Exit codes"),
    "rewards": ("audit", "pool"),
    "rewards audit": (
        *("--rollouts", "--reward", "--out", "--corpus", "--format", "--fail-on", "--plugin", "--engine", "--workers"),
        *("--timeout", "--in-process", "--allow-stateful", "--seed", "asr.upper>0.05", "Exit codes", "DIR", "SPEC"),
    ),
    "rewards pool": ("QUESTIONS", "--samples", "--depth", "--limit", "--out", "HotpotQA", "fact world"),
    "demo": ("rewards", "offline"),
    "demo rewards": ("--out", "--seed", "repair"),
    "show": ("RUN", "one screen"),
    "verify": ("RUN", "hash"),
    "replay": ("RUN", "--fail-on", "byte for byte"),
}


@pytest.mark.parametrize("command", HELP)
def test_help_names_what_can_be_given(cli: Cli, command: str) -> None:
    done = cli(*command.split(), "--help", code=0)
    said = " ".join(done.stdout.split())
    for word in HELP[command]:
        assert word in said
    assert done.stderr == ""


def test_version_is_printed(cli: Cli) -> None:
    assert cli("--version", code=0).stdout == f"counterproof {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("", "Usage: "),
        ("rewards", "audit"),
        ("shwo run", "No such command 'shwo'. Did you mean 'show'?"),
        ("rewards audti", "Did you mean 'audit'?"),
        ("rewards audit --reword reference", "No such option: --reword (Possible options: --reward)"),
        ("rewards audit --rollouts pool --out run", "Missing option '--reward'"),
        ("rewards audit -r pool --reward outcome -o run --seed -1", "greater than or equal to 0"),
        ("rewards audit -r pool --reward outcome -o run --workers many", "Invalid value for '--workers'"),
        ("rewards audit -r pool --reward outcome -o run --timeout 0", "Invalid value for '--timeout'"),
        ("rewards pool --samples 0", "Invalid value for '--samples'"),
        ("show", "Missing argument 'RUN'"),
        ("show one two", "unexpected extra argument"),
    ],
)
def test_usage_errors_exit_3_and_point_to_the_help(cli: Cli, tmp_path: Path, arguments: str, said: str) -> None:
    done = cli(*arguments.split(), code=3)
    assert done.stdout == ""
    assert said in done.stderr
    assert "--help" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"-r": "poool"}, "log poool does not exist; in .: did you mean 'pool'?"),
        ({"--reward": "refrence"}, "did you mean 'reference' or 'reference+L'"),
        ({"--reward": "mine.py:rewrad"}, "did you mean 'reward'?"),
        ({"--reward": "mien.py:reward"}, "did you mean 'mine.py'?"),
        ({"--corpus": "corpsu.jsonl"}, "corpsu.jsonl does not exist"),
        ({"--format": "jsnl"}, "did you mean 'jsonl'?"),
        ({"--fail-on": "asx>0"}, "did you mean 'asr'?"),
        ({"--fail-on": "asr.uper>0"}, "did you mean 'upper'?"),
        ({"--fail-on": "asr[laundr]>0"}, "there is no attack 'laundr'; did you mean 'launder"),
        ({"--plugin": "mien.py"}, "did you mean 'mine.py'?"),
        ({"--plugin": "mine.py"}, "neither an edit nor a detector"),
        ({"--engine": "ray"}, "choose serial or processes"),
        ({"--timeout": "inf"}, "finite"),
    ],
)
def test_what_cannot_be_used_is_answered_with_the_nearest_and_writes_nothing(
    cli: Cli, pool: Path, tmp_path: Path, change: dict[str, str], said: str
) -> None:
    (tmp_path / "pool").symlink_to(pool)
    (tmp_path / "mine.py").write_text("def reward(answer):\n    return 1.0\n", encoding="utf-8")
    options = {"-r": "pool", "--reward": "outcome", "-o": "run", **change}
    done = cli("rewards", "audit", *(word for option in options.items() for word in option), code=3)
    assert said in done.stderr
    assert done.stderr.startswith("error: ")
    assert done.stdout == ""
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("command", ["show", "verify", "replay"])
def test_folders_that_are_no_run_are_answered_with_the_nearest(
    cli: Cli, pool: Path, tmp_path: Path, command: str
) -> None:
    (tmp_path / "runs").mkdir()
    assert "rnus is no run folder; did you mean 'runs'?" in cli(command, "rnus", code=3).stderr
    assert "runs has no findings.json; it is no run folder" in cli(command, "runs", code=3).stderr
    assert "no such path" in cli(command, "nowhere/at/all", code=3).stderr
    assert "it is no run folder" in cli(command, pool, code=3).stderr
