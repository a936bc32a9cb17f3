"""Panel runs on disk: verdicts frozen before labels, a sealed split, replay byte for byte, and reading of all files."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from counterproof.core.errors import CorruptLedgerError, InputError, LedgerError, PlanError
from counterproof.core.outcomes import NotApplicable
from counterproof.panel.loss import Loss
from counterproof.panel.planning import TableFacts, panel_plan
from counterproof.panel.policy import PolicyTable
from counterproof.panel.table import Gold, VerdictTable
from counterproof.report import analysis_from_json, findings_json
from counterproof.store import Ledger
from counterproof.study.panel import (
    PanelConfig,
    audit_panel,
    audit_table,
    finish_panel,
    freeze_table,
    frozen_table,
    plan_policy,
    read_panel,
)
from counterproof.study.panel_policies import FixtureConfig, replay_policy, run_fixture
from counterproof.study.publish import publish, replay, verify
from counterproof.study.rooms import FINISHERS, finish_run
from tests.panel.audits import independent, one_judge, split_of

FACTS = TableFacts((), (), ())


def written(path: Path, table: VerdictTable, gold: Gold | None, *, extra: Sequence[Sequence[object]] = ()) -> Path:
    """A long CSV file of a table."""
    with path.open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out)
        rows.writerow(["item", "channel", "verdict", *(["gold"] if gold else [])])
        for i, item in enumerate(table.items):
            for j, channel in enumerate(table.channels):
                symbol = int(table.symbols[i, j])
                verdict = "" if symbol == table.failure else symbol
                rows.writerow([item, channel.name, verdict, *([int(gold.labels[i])] if gold else [])])
        rows.writerows(extra)
    return path


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("files") / "verdicts.csv", *independent(240, (0.2, 0.3, 0.3)))


@pytest.fixture(scope="module")
def finished(verdicts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "run"
    publish(out, audit_panel(PanelConfig(verdicts, out)))
    return out


def begun(out: Path, table: VerdictTable, gold: Gold) -> Ledger:
    split = split_of(table, gold)
    return Ledger.create(out, panel_plan(table, split, FACTS, Loss("ba"), seed=0, budget=9.0, options={}), {})


def test_labels_are_a_later_stage_that_builds_on_the_frozen_verdicts(finished: Path) -> None:
    ledger = Ledger.open(finished)
    assert ledger.stages() == ("verdicts", "labels")
    labels = ledger.manifest.stage("labels")
    assert labels is not None
    assert labels.after == (ledger.root("verdicts"),)
    assert all(ledger.is_frozen(stage) for stage in ledger.stages())


def test_the_root_of_the_verdicts_does_not_see_the_labels(tmp_path: Path) -> None:
    table, gold = independent(120, (0.2, 0.3, 0.3))
    flipped = Gold((1 - gold.labels).astype(np.int8))
    roots = []
    for name, labels in (("one", gold), ("two", flipped)):
        ledger = begun(tmp_path / name, table, labels)
        freeze_table(ledger, table, labels, split_of(table, labels))
        roots.append([ledger.root(stage) for stage in ("verdicts", "labels")])
    assert roots[0][0] == roots[1][0]
    assert roots[0][1] != roots[1][1]


def test_nothing_is_scored_before_all_is_frozen(tmp_path: Path) -> None:
    table, gold = independent(120, (0.2, 0.3, 0.3))
    ledger = begun(tmp_path / "run", table, gold)
    with pytest.raises(LedgerError, match="was not begun"):
        finish_panel(ledger, ())
    with ledger.writer("verdicts"), pytest.raises(LedgerError, match="not frozen"):
        ledger.root("verdicts")
    with pytest.raises(LedgerError):
        finish_panel(ledger, ())


def test_what_is_frozen_reads_back(tmp_path: Path) -> None:
    """Keys of any text, failures, calls never made, times."""
    table, gold = independent(120, (0.2, 0.3, 0.3))
    symbols, kinds = table.symbols.copy(), table.kinds.copy()
    symbols[0, 0], kinds[0, 0], symbols[1, 1] = 2, 1, -1
    items = ("nul\x00", "trailing \x00", "\ud800 alone", "\u202e", *table.items[4:])
    table = replace(table, items=items, symbols=symbols, kinds=kinds, order=np.arange(120))
    ledger = begun(tmp_path / "run", table, gold)
    freeze_table(ledger, table, gold, split_of(table, gold))
    again, labels, split = frozen_table(ledger, ledger.plan)
    assert again.digest() == table.digest()
    assert again.items == items
    assert labels.digest() == gold.digest()
    assert split.digest() == split_of(table, gold).digest()


def test_a_split_other_than_the_sealed_one_is_noticed(tmp_path: Path) -> None:
    table, gold = independent(120, (0.2, 0.3, 0.3))
    ledger = begun(tmp_path / "run", table, gold)
    freeze_table(ledger, table, gold, split_of(table, gold, seed=7))
    with pytest.raises(CorruptLedgerError, match="not the one that the plan sealed"):
        finish_panel(ledger, ())


def test_calibration_and_held_out_share_no_cluster(finished: Path) -> None:
    ledger = Ledger.open(finished)
    table, _, split = frozen_table(ledger, ledger.plan)
    sides = [{table.clusters[i] for i in side.tolist()} for side in (split.calibration, split.held_out)]
    assert not sides[0] & sides[1]


def test_a_run_verifies_and_replays_byte_for_byte(finished: Path) -> None:
    assert verify(finished) == ()
    assert replay(finished).identical
    assert replay(finished, ("loss>0.01",)).analysis.exit_code == 1


def test_a_changed_label_on_disk_is_noticed(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "run")
    segment = next((tmp_path / "run" / "ledger" / "labels").glob("*.parquet"))
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 1
    segment.write_bytes(bytes(data))
    assert verify(tmp_path / "run")


def test_the_same_file_gives_the_same_findings(finished: Path, verdicts: Path, tmp_path: Path) -> None:
    again = audit_panel(PanelConfig(verdicts, tmp_path / "run"))
    assert findings_json(again) == (finished / "findings.json").read_bytes()
    assert audit_panel(PanelConfig(verdicts, finished)) == again  # resumed: nothing is run twice
    with pytest.raises(PlanError):
        audit_panel(PanelConfig(verdicts, finished, seed=1))


def test_findings_survive_their_file(finished: Path) -> None:
    analysis = analysis_from_json((finished / "findings.json").read_bytes())
    assert {finding.code for finding in analysis.findings} >= {"PN101", "PN102", "PN110", "PN112"}


def test_a_plan_recommends_what_the_audit_recommends(finished: Path, verdicts: Path) -> None:
    policy, why = plan_policy(PanelConfig(verdicts, Path("unused")))
    analysis = analysis_from_json((finished / "findings.json").read_bytes())
    assert f"{policy.name}: " in why
    assert [finding.subject for finding in analysis.findings if finding.code == "PN110"] == [policy.name]
    assert policy.provenance["seed"] == 0
    assert len(policy.provenance["verdicts"][0]) == 64


def test_a_planned_policy_is_replayed_from_its_file(verdicts: Path, tmp_path: Path) -> None:
    policy, _ = plan_policy(PanelConfig(verdicts, Path("unused"), budget=2.0, loss="chow:0.2"))
    (tmp_path / "policy.json").write_text(policy.to_json(), encoding="utf-8")
    config = PanelConfig(verdicts, tmp_path / "run")
    analysis = replay_policy(config, tmp_path / "policy.json")
    publish(config.out, analysis)
    assert verify(config.out) == ()
    assert replay(config.out).identical
    assert Ledger.open(config.out).plan.settings["loss"] == "chow:0.2"
    assert analysis.exit_code == 0
    names = [name for name, _ in analysis.provenance]
    assert {"input policy", "input verdicts", "root of stage verdicts"} <= set(names)


def test_a_replay_without_labels_reports_calls_and_concludes_nothing(verdicts: Path, tmp_path: Path) -> None:
    policy, _ = plan_policy(PanelConfig(verdicts, Path("unused")))
    (tmp_path / "policy.json").write_text(policy.to_json(), encoding="utf-8")
    table, _ = independent(240, (0.2, 0.3, 0.3))
    plain = written(tmp_path / "plain.csv", table, None)
    analysis = replay_policy(PanelConfig(plain, tmp_path / "run"), tmp_path / "policy.json")
    assert isinstance(analysis.findings[0].estimate, NotApplicable)
    assert analysis.findings[0].values["mean calls"] >= 1
    assert analysis.exit_code == 3


def test_a_missing_policy_file_is_said_to_be_missing(verdicts: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such policy file"):
        replay_policy(PanelConfig(verdicts, tmp_path / "run"), tmp_path / "none.json")


def test_settings_are_refused_before_anything_is_written(verdicts: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    for config in (
        PanelConfig(verdicts, out, loss="bad"),
        PanelConfig(verdicts, out, share=1.0),
        PanelConfig(verdicts, out, gates=("loss>>1",)),
        PanelConfig(verdicts, out, by_time=True),
        PanelConfig(verdicts, out, columns={"gold": "nowhere"}),
    ):
        with pytest.raises(InputError):
            audit_panel(config)
    assert not out.exists()


def test_a_file_without_gold_says_which_option_names_it(tmp_path: Path) -> None:
    plain = written(tmp_path / "plain.csv", independent(40, (0.2,))[0], None)
    for run in (audit_panel, plan_policy):
        with pytest.raises(InputError, match="--gold"):
            run(PanelConfig(plain, tmp_path / "run"))


def test_a_table_at_hand_is_audited_by_time(tmp_path: Path) -> None:
    table, gold = one_judge()
    table = replace(table, order=np.arange(len(table)))
    config = PanelConfig(Path("unused"), tmp_path / "run", by_time=True, share=0.25)
    analysis = audit_table(table, gold, config, FACTS)
    assert any("200 calibration and 600 held-out items, split by time" in note for note in analysis.notes)


def test_a_small_fixture_run_verifies(tmp_path: Path) -> None:
    config = FixtureConfig(tmp_path / "run", fixtures=(1001,), seeds=(0, 1, 2))
    analysis = run_fixture(config)
    publish(config.out, analysis)
    assert verify(config.out) == ()
    (finding,) = analysis.findings
    assert finding.code == "PN150"
    assert finding.n == len(analysis.tables[0].rows) >= 15


def test_runs_of_unknown_rooms_are_refused(tmp_path: Path) -> None:
    table, gold = independent(40, (0.2,))
    plan = panel_plan(table, split_of(table, gold), FACTS, Loss("ba"), seed=0, budget=9.0, options={"kind": "odd"})
    with pytest.raises(PlanError, match="panel/odd"):
        finish_run(Ledger.create(tmp_path / "run", plan, {}), ())
    assert {room.partition("/")[0] for room in FINISHERS} >= {"panel", "rewards"}


LOGS = Path(__file__).parents[3] / "shared" / "data" / "ecosystem" / "inspect" / "logs"
needs_logs = pytest.mark.skipif(not LOGS.is_dir(), reason="the shared inspect_ai logs are not on this machine")


@needs_logs
@pytest.mark.parametrize("kind", ["eval", "json"])
def test_inspect_logs_are_audited(kind: str, tmp_path: Path) -> None:
    (log,) = LOGS.glob(f"*multi*.{kind}")
    columns = {"gold": "exact", "channels": ("includes", "model_graded_qa")}
    config = PanelConfig(log, tmp_path / "run", columns, threshold=0.5)
    file = read_panel(config)
    assert file.table.classes == ("incorrect", "correct")
    assert {channel.name.partition("#")[0] for channel in file.table.channels} == {"includes", "model_graded_qa"}
    analysis = audit_panel(config)
    assert analysis.room == "panel"
    assert "few-calibration-rows" in {warning.name for one in analysis.findings for warning in one.warnings}
    publish(config.out, analysis)
    assert verify(config.out) == ()


@needs_logs
def test_settings_that_an_inspect_log_cannot_have_are_refused_at_once(tmp_path: Path) -> None:
    (log,) = LOGS.glob("*multi*.eval")
    columns = {"gold": "exact", "item": "id", "cost": "usd"}
    with pytest.raises(InputError) as caught:
        read_panel(PanelConfig(log, tmp_path / "run", columns, positive="correct"))
    assert [problem.where for problem in caught.value.problems] == ["role 'item'", "role 'cost'", "positive"]


def test_a_policy_file_is_checked_before_it_is_replayed(verdicts: Path, tmp_path: Path) -> None:
    (tmp_path / "policy.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="no policy file"):
        replay_policy(PanelConfig(verdicts, tmp_path / "run"), tmp_path / "policy.json")
    policy, _ = plan_policy(PanelConfig(verdicts, Path("unused")))
    other = PolicyTable.from_json(policy.to_json().replace('"c0"', '"judge"'))
    (tmp_path / "policy.json").write_text(other.to_json(), encoding="utf-8")
    with pytest.raises(InputError, match="lacks channels"):
        replay_policy(PanelConfig(verdicts, tmp_path / "run"), tmp_path / "policy.json")
