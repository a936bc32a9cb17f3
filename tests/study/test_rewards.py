from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from counterproof.core.analysis import Analysis
from counterproof.core.errors import BindingError, InputError, OperatorError, PlanError
from counterproof.core.findings import Finding
from counterproof.core.outcomes import NotApplicable, unpack
from counterproof.isolation import Limits
from counterproof.report import findings_json
from counterproof.store import EVENT, Ledger
from counterproof.study.plugins import load_plugins
from counterproof.study.publish import publish, replay, verify
from counterproof.study.rewards import AuditConfig, audit

ATTACKS = ("RW101", "RW102", "RW103")
HOSTILE = Path(__file__).with_name("hostile.py")


def run(pool: Path, reward: str, out: Path, **options: object) -> Analysis:
    return audit(AuditConfig(pool, reward, out, **options))  # type: ignore[arg-type]


def hostile(pool: Path, name: str, out: Path, **options: object) -> Analysis:
    return run(pool, f"{HOSTILE}:{name}", out, **options)


def finding(analysis: Analysis, subject: str) -> Finding:
    return next(one for one in analysis.findings if one.subject == subject)


def outcomes(analysis: Analysis) -> dict[str, int]:
    table = next(one for one in analysis.tables if one.name == "outcomes")
    return {str(what): int(count) for what, count in table.rows if count}


def recorded(folder: Path) -> int:
    ledger = Ledger.open(folder)
    rows = [row for stage in ledger.stages() if stage != "controls" for row in ledger.rows(stage)]
    return sum(len(unpack(row.payload)) for row in rows if row.kind == EVENT)


def calls(counter: Path) -> int:
    return counter.stat().st_size if counter.exists() else 0


# What the built-in rewards give, as far as it can be said beforehand.


@pytest.mark.parametrize("reward", ["constant", "oracle"])
def test_controls_as_audited_rewards_give_all_and_nothing(pool: Path, tmp_path: Path, reward: str) -> None:
    analysis = run(pool, reward, tmp_path / "run")
    rates = {one.subject: one.estimate for one in analysis.findings if one.code in ATTACKS and one.n}
    assert len(rates) >= 8
    assert set(rates.values()) == ({1.0} if reward == "constant" else {0.0})
    assert analysis.exit_code == (1 if reward == "constant" else 2)  # twelve questions cannot bound a rate below .05


def test_outcome_only_ties_on_everything_that_keeps_the_answer(pool: Path, tmp_path: Path) -> None:
    analysis = run(pool, "outcome", tmp_path / "run")
    for one in analysis.findings:
        if one.code in ATTACKS and one.n:
            assert one.estimate == 1.0
            assert one.counts["ties"] == one.counts["fooled"] == one.n
    assert analysis.exit_code == 1


# Hostile rewards.


@pytest.mark.parametrize(
    ("name", "ended", "reason"),
    [
        ("raises", "failed", "RuntimeError: no verdict today (hostile.py:"),
        ("gives_nan", "failed", "returned nan"),
        ("gives_text", "failed", "returned text: 'good'"),
        ("leaves", "failed", "SystemExit: 0"),
        ("gives_none", "abstained", "returned None"),
    ],
)
def test_a_reward_without_any_verdict_stops_the_run_at_the_first_pass_and_says_why(
    tiny_pool: Path, tmp_path: Path, name: str, ended: str, reason: str
) -> None:
    analysis = hostile(tiny_pool, name, tmp_path / "run")
    assert analysis.exit_code == 3
    assert [one.code for one in analysis.findings] == ["RW142"]
    found = finding(analysis, "verdicts")
    assert found.counts == {ended: 2, "sample": 2}
    assert found.values["reasons"][0].startswith(reason)
    assert Ledger.open(tmp_path / "run").stages() == ("stateless",)
    assert recorded(tmp_path / "run") == 2
    assert "not run" in analysis.controls_note


def test_a_reward_that_always_hangs_stops_the_run_and_the_run_can_be_verified_and_replayed(
    tiny_pool: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    analysis = hostile(tiny_pool, "hangs", folder, limits=Limits(seconds_per_call=0.05))
    publish(folder, analysis)
    assert (analysis.exit_code, recorded(folder)) == (3, 2)
    assert finding(analysis, "verdicts").counts == {"timed out": 2, "sample": 2}
    assert verify(folder) == ()
    assert replay(folder).identical


@pytest.mark.parametrize(("name", "kind"), [("hangs_on_fakes", "TimedOut"), ("dies_on_fakes", "Failed")])
def test_what_kills_its_worker_costs_its_own_units_and_blocks(
    tiny_pool: Path, tmp_path: Path, name: str, kind: str
) -> None:
    analysis = hostile(tiny_pool, name, tmp_path / "run", limits=Limits(seconds_per_call=0.3))
    fake, launder = finding(analysis, "fake_id/oracle_worst"), finding(analysis, "launder/bm25@16/oracle_worst")
    assert isinstance(fake.estimate, NotApplicable)
    assert fake.counts["errored"] == 2
    assert any(warning.blocking for warning in fake.warnings)
    assert (launder.estimate, launder.n) == (0.0, 2)
    assert analysis.exit_code == 2  # never clean
    assert sum(count for what, count in outcomes(analysis).items() if what.startswith(kind)) > 0


@pytest.fixture(scope="module")
def honest(tiny_pool: Path, tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    return hostile(tiny_pool, "honest", tmp_path_factory.mktemp("honest") / "run")


@pytest.mark.parametrize("name", ["prints", "forks"])
def test_printing_and_forking_change_no_number(tiny_pool: Path, tmp_path: Path, honest: Analysis, name: str) -> None:
    analysis = hostile(tiny_pool, name, tmp_path / "run")
    assert [(one.subject, one.estimate) for one in analysis.findings] == [
        (one.subject, one.estimate) for one in honest.findings
    ]
    assert analysis.exit_code == honest.exit_code == 2
    assert not [one for one in psutil.Process().children(recursive=True) if one.status() != psutil.STATUS_ZOMBIE]


def test_processes_give_the_findings_of_the_serial_run_byte_for_byte(pool: Path, tmp_path: Path) -> None:
    limits = Limits(seconds_per_call=5)
    one = hostile(pool, "honest", tmp_path / "serial", limits=limits)
    other = hostile(pool, "honest", tmp_path / "two", limits=limits, engine="processes", workers=2, batch_calls=64)
    third = hostile(pool, "honest", tmp_path / "here", limits=limits, in_process=True)
    assert findings_json(one) == findings_json(other) == findings_json(third)


# State.


def test_a_verifier_that_keeps_state_is_a_finding_and_stops_the_run(tiny_pool: Path, tmp_path: Path) -> None:
    analysis = hostile(tiny_pool, "counts", tmp_path / "run")
    assert analysis.exit_code == 3
    state = finding(analysis, "statelessness")
    assert (state.code, state.estimate, state.n) == ("RW140", 1.0, 2)
    assert Ledger.open(tmp_path / "run").stages() == ("stateless",)
    assert analysis.controls_note == "not run, because the verifier keeps state"
    assert not [one for one in analysis.findings if one.code == "RW141" or one.code == "RW103"]
    assert any("--allow-stateful" in line for line in analysis.summary)


def test_an_allowed_verifier_that_keeps_state_is_audited_and_warned_of(tiny_pool: Path, tmp_path: Path) -> None:
    analysis = hostile(tiny_pool, "counts", tmp_path / "run", allow_stateful=True)
    assert analysis.exit_code == 1  # each later call scores more, so every counterfactual beats its original
    assert finding(analysis, "fake_id/oracle_worst").estimate == 1.0
    assert any(warning.blocking for warning in finding(analysis, "statelessness").warnings)


# Resuming.


def test_a_finished_run_is_read_again_without_a_call(
    tiny_pool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counter = tmp_path / "calls"
    monkeypatch.setenv("COUNTERPROOF_TEST_CALLS", str(counter))
    first = hostile(tiny_pool, "notes", tmp_path / "run", in_process=True)
    paid = calls(counter)
    assert paid == recorded(tmp_path / "run") > 0
    again = hostile(tiny_pool, "notes", tmp_path / "run", in_process=True)
    assert calls(counter) == paid
    assert findings_json(again) == findings_json(first)


def test_another_reward_seed_or_gate_in_the_same_folder_is_refused(tiny_pool: Path, tmp_path: Path) -> None:
    config = AuditConfig(tiny_pool, "outcome", tmp_path / "run")
    audit(config)
    for other, said in (
        (replace(config, reward="reference"), r"\(arms: outcome, now reference; "),
        (replace(config, seed=1), r"\(seed: 0, now 1\)"),
        (replace(config, gates=("asr>0.5",)), r"\(gates: asr>0, now asr>0\.5\)"),
    ):
        with pytest.raises(PlanError, match=rf"{said}.*use another folder"):
            audit(other)


def test_an_edited_reward_is_refused(tiny_pool: Path, tmp_path: Path) -> None:
    reward = tmp_path / "mine.py"
    reward.write_text("def reward(answer):\n    return 1.0\n", encoding="utf-8")
    run(tiny_pool, f"{reward}:reward", tmp_path / "run")
    reward.write_text("def reward(answer):\n    return 2.0\n", encoding="utf-8")
    with pytest.raises(PlanError, match="use another folder"):
        run(tiny_pool, f"{reward}:reward", tmp_path / "run")


def test_a_killed_audit_resumes_to_the_same_findings_and_pays_no_recorded_call_again(
    small_pool: Path, tmp_path: Path, repository: Path
) -> None:
    def start(out: Path, counter: Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "counterproof", "rewards", "audit"]
        options = ["--rollouts", str(small_pool), "--reward", f"{HOSTILE}:notes", "--out", str(out)]
        environment = {**os.environ, "PYTHONPATH": str(repository / "src"), "COUNTERPROOF_TEST_CALLS": str(counter)}
        quiet = subprocess.DEVNULL
        return subprocess.Popen(
            [*command, *options], env=environment, stdout=quiet, stderr=quiet, start_new_session=True
        )

    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert start(whole, tmp_path / "whole-calls").wait() in (1, 2)
    total = calls(tmp_path / "whole-calls")
    assert total == recorded(whole)
    counter = tmp_path / "calls"
    first = start(broken, counter)
    deadline = time.monotonic() + 60
    while calls(counter) < total * 3 // 4:
        assert first.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.001)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    time.sleep(0.3)  # until the worker of the killed run has ended too
    kept, before = recorded(broken), calls(counter)
    assert 3 * 12 <= kept < total
    assert not (broken / "findings.json").exists()
    assert start(broken, counter).wait() in (1, 2)
    assert calls(counter) - before == total - kept
    assert Ledger.open(broken).root("evidence") == Ledger.open(whole).root("evidence")
    for name in ("findings.json", "report.md", "report.html"):
        assert (broken / name).read_bytes() == (whole / name).read_bytes(), name


# Edits and detectors from outside.

PLUGIN = '''
from counterproof.rewards.detectors import detector
from counterproof.rewards.edits import Candidate, edit

@detector("shouts", reads=["answer"], contract=True, weight=0.5)
def shouts(view, corpus):
    """The answer ends in an exclamation mark."""
    return view.answer.endswith("!")

@edit("shout", reads=["answer"], writes=["answer"], targets=["shouts"])
def shout(view, context):
    """Put an exclamation mark behind the answer."""
    yield Candidate("all", {"answer": view.answer + "!"})
'''


def test_edits_and_detectors_from_outside_are_audited_and_their_source_is_part_of_the_run(
    tiny_pool: Path, tmp_path: Path
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(PLUGIN, encoding="utf-8")
    mine = load_plugins([str(path)])
    config = AuditConfig(tiny_pool, "outcome", tmp_path / "run", edits=mine.edits, detectors=mine.detectors)
    found = finding(audit(config), "shout/oracle_worst")
    # The answer is compared without punctuation, so the reward ties on both trajectories.
    assert (found.code, found.estimate, found.n, found.proven) == ("RW104", 1.0, 2, False)
    path.write_text(PLUGIN.replace('+ "!"', '+ "!!"'), encoding="utf-8")
    changed = load_plugins([str(path)])
    with pytest.raises(PlanError, match=r"changed: detector shouts, edit shout"):
        audit(replace(config, edits=changed.edits, detectors=changed.detectors))


def test_an_edit_from_outside_that_raises_is_named_with_the_trajectory_and_its_line(
    tiny_pool: Path, tmp_path: Path
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(PLUGIN.replace('view.answer + "!"', "view.answer + 1"), encoding="utf-8")
    mine = load_plugins([str(path)])
    config = AuditConfig(tiny_pool, "outcome", tmp_path / "run", edits=mine.edits, detectors=mine.detectors)
    with pytest.raises(OperatorError, match=r"edit 'shout' cannot be used on trajectory .*TypeError.*\(mine\.py:13\)"):
        audit(config)


# Refusals before anything is written.


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"reward": "refrence"}, BindingError, "did you mean 'reference'"),
        ({"reward": "no.py:reward"}, BindingError, "there is no file 'no.py'"),
        ({"engine": "ray"}, InputError, "choose serial or processes"),
        ({"reward": "no.py:reward", "engine": "processes", "in_process": True}, InputError, "--in-process"),
        ({"gates": ("asr[laundr]>0",)}, InputError, "there is no attack 'laundr'; did you mean 'launder"),
        ({"gates": ("asr>",)}, InputError, "is no gate"),
        ({"format": "jsnl"}, InputError, "did you mean 'jsonl'"),
    ],
)
def test_what_cannot_be_used_is_refused_before_the_folder_is_made(
    tiny_pool: Path, tmp_path: Path, options: dict[str, object], error: type[Exception], said: str
) -> None:
    config = replace(AuditConfig(tiny_pool, "outcome", tmp_path / "run"), **options)  # type: ignore[arg-type]
    with pytest.raises(error) as raised:
        audit(config)
    assert said in str(raised.value)
    assert not (tmp_path / "run").exists()


def test_a_gate_on_an_attack_that_does_not_apply_here_is_allowed(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(
        '{"trajectory_id": "t", "question": "q", "steps": [{"kind": "search", "query": "q", "passages": []}], '
        '"answer": "a", "gold_answers": ["a"]}\n',
        encoding="utf-8",
    )
    analysis = run(log, "outcome", tmp_path / "run", gates=("asr[launder]>0",))
    assert not any(gate.tripped for gate in analysis.gates)
