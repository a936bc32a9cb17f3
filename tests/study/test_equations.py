from __future__ import annotations

import csv
import shutil
from pathlib import Path

import numpy as np
import pytest

from counterproof.core.errors import CorruptLedgerError, InputError, PlanError
from counterproof.core.outcomes import Failed, Outcome, Scored
from counterproof.equations.choice import ChoiceQuestion
from counterproof.report import findings_json
from counterproof.store import Ledger
from counterproof.study.arrays import freeze_arrays, frozen_arrays
from counterproof.study.equation_choices import ChoiceConfig, run_choices
from counterproof.study.equation_fields import FieldConfig, run_field
from counterproof.study.equations import LabConfig, ViewsConfig, audit_views, run_study
from counterproof.study.publish import publish, replay, verify
from tests.equations.evidence_tables import PAID, SAID


def write_views(path: Path, copies: int = 10, truth: bool = True) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["item", "view", "verdict", "score", *(["truth"] if truth else [])])
        for i in range(4 * copies):
            for view, said in SAID.items():
                verdict = said[i % 4] or "open"
                writer.writerow([f"i{i}", view, verdict, PAID[view], *(["yes"] if truth else [])])
    return path


def sealed(out: Path, code: int) -> None:
    """A run can be analysed again to the same bytes, and all of its hashes hold."""
    replayed = replay(out)
    assert replayed.identical
    assert replayed.analysis.exit_code == code
    assert verify(out) == ()


def test_a_study_runs_is_replayed_and_goes_on(tmp_path: Path) -> None:
    config = LabConfig("mechanism", tmp_path / "run", seeds=2, gates=("wrong>0.5",))
    analysis = run_study(config)
    publish(config.out, analysis)
    sealed(config.out, 1)
    assert findings_json(run_study(config)) == findings_json(analysis)
    with pytest.raises(PlanError):
        run_study(LabConfig("mechanism", tmp_path / "run", seeds=3))


def test_implementations_agree_on_what_score_max_gets_wrong(tmp_path: Path) -> None:
    events = []
    for name in ("spectral", "fd64"):
        analysis = run_study(LabConfig("benchmark", tmp_path / name, name, seeds=1))
        events.append(next(one.counts["events"] for one in analysis.findings if one.code == "EQ102"))
    assert events == [30, 30]  # five families in the library, two sets, three noise levels


def test_admission_of_the_transfer_is_frozen_first(tmp_path: Path) -> None:
    out = tmp_path / "run"
    analysis = run_study(LabConfig("transfer", out, seeds=2))
    publish(out, analysis)
    assert Ledger.open(out).stages() == ("admission", "evidence", "truth")
    assert any(one.code == "EQ120" for one in analysis.findings)
    sealed(out, 0)


def test_choices_are_frozen_before_truth_and_asked_through_the_ledger(tmp_path: Path) -> None:
    out = tmp_path / "run"
    analysis = run_choices(ChoiceConfig(out, seeds=1))
    publish(out, analysis)
    ledger = Ledger.open(out)
    assert ledger.stages()[-1] == "truth"
    rows = list(ledger.rows("choices-random"))
    assert len(rows) == 2 * 36  # the answers and the end of every case
    by_subject = {one.subject: one for one in analysis.findings if one.code == "EQ130"}
    assert by_subject["score-maximiser/maximise"].counts == {"events": 30}
    assert by_subject["trust-ranker/accurate"].counts == {"events": 0}
    assert analysis.controls_hold
    sealed(out, 0)


def test_a_recorded_run_of_another_agent_takes_the_same_path(tmp_path: Path) -> None:
    def recorded(question: ChoiceQuestion) -> Outcome:
        return Scored(12.0, (("row", 12.0),)) if question.goal.label != "decisive" else Failed("no reply was recorded")

    analysis = run_choices(ChoiceConfig(tmp_path / "run", ("random",), seeds=1), {"recorded": recorded})
    goals = {one.subject: one for one in analysis.findings if one.code == "EQ130"}
    assert goals["recorded/accurate"].n == 36
    assert goals["recorded/decisive"].n == 0
    trust = {one.subject: one for one in analysis.findings if one.code == "EQ131"}
    assert trust["recorded/accurate"].estimate == 1.0


def test_an_unknown_agent_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="random"):
        run_choices(ChoiceConfig(tmp_path / "run", ("ramdom",)))


def test_a_table_of_ones_own_is_audited(tmp_path: Path) -> None:
    views = write_views(tmp_path / "views.csv")
    config = ViewsConfig(views, tmp_path / "run", groups={"all": ("middle", "fine")}, fixed="fine", gates=("wrong>0",))
    analysis = audit_views(config)
    publish(config.out, analysis)
    sealed(config.out, 1)
    wrong = next(one for one in analysis.findings if one.code == "EQ102")
    assert (wrong.estimate, wrong.n) == (1.0, 40)


def test_a_reference_view_stands_in_for_truth(tmp_path: Path) -> None:
    views = write_views(tmp_path / "views.csv", truth=False)
    with pytest.raises(InputError, match="--reference"):
        audit_views(ViewsConfig(views, tmp_path / "none"))
    analysis = audit_views(ViewsConfig(views, tmp_path / "run", reference="fine"))
    assert next(one for one in analysis.findings if one.code == "EQ102").n == 30
    assert not (tmp_path / "none").exists()


def heat(points: int = 64, times: int = 65) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """u_t = .1 u_xx, exactly, from two modes."""
    x, t = np.arange(points) * 2 * np.pi / points, np.linspace(0, 2, times)
    modes = (np.exp(-0.1 * k * k * t)[:, None] * np.cos(k * x + k) for k in (1, 3))
    return x, t, sum(modes, np.zeros((times, points)))


def test_the_law_of_an_observed_field_is_named(tmp_path: Path) -> None:
    x, t, u = heat()
    np.savez(tmp_path / "heat.npz", x=x, t=t, u=u)
    config = FieldConfig(tmp_path / "heat.npz", tmp_path / "run", terms=("u_x", "u_xx"))
    analysis = run_field(config)
    publish(config.out, analysis)
    assert "own library, all stored times: u_t = +0.1 u_xx." in analysis.summary
    sealed(config.out, 0)


def test_a_library_with_a_collinear_pair_is_refused(tmp_path: Path) -> None:
    x, t, _ = heat()
    np.savez(tmp_path / "one.npz", x=x, t=t, u=np.exp(-0.1 * t)[:, None] * np.cos(x))
    with pytest.raises(InputError, match="apart"):
        run_field(FieldConfig(tmp_path / "one.npz", tmp_path / "run", terms=("u", "u_xx")))


def test_arrays_survive_the_ledger_and_other_bytes_do_not(tmp_path: Path) -> None:
    run_study(LabConfig("mechanism", tmp_path / "run", seeds=1))
    ledger = Ledger.open(tmp_path / "run")
    assert frozen_arrays(ledger, "truth")["seed"].tolist() == [0] * 36
    freeze_arrays(ledger, "truth", {})  # frozen already: nothing happens
    out = tmp_path / "choices"
    run_choices(ChoiceConfig(out, ("random",), seeds=1))
    with pytest.raises(CorruptLedgerError, match="no arrays"):
        frozen_arrays(Ledger.open(out), "choices-random")


def test_a_changed_byte_is_found(tmp_path: Path) -> None:
    out = tmp_path / "run"
    publish(out, run_study(LabConfig("mechanism", out, seeds=1)))
    copy = tmp_path / "copy"
    shutil.copytree(out, copy)
    target = next((copy / "ledger" / "truth").glob("*.parquet"))
    data = bytearray(target.read_bytes())
    data[len(data) // 2] ^= 1
    target.write_bytes(bytes(data))
    assert verify(copy) != ()
