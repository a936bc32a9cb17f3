"""The commands of the equations room by real processes: output, exit codes, and input that is no good."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.cli.conftest import Cli
from tests.equations.evidence_tables import PAID, SAID

Arrays = dict[str, NDArray[np.float64]]
GOOD: list[dict[str, object]] = [
    {"item": f"i{i}", "view": view, "verdict": said[i % 4], "score": PAID[view], "truth": "yes"}
    for i in range(40)
    for view, said in SAID.items()
]


def table(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def field(points: int = 32, times: int = 49) -> Arrays:
    """u_t = .1 u_xx from two modes."""
    x, t = np.arange(points) * 2 * np.pi / points, np.linspace(0, 2, times)
    u = sum((np.exp(-0.1 * k * k * t)[:, None] * np.cos(k * x + k) for k in (1, 3)), np.zeros((times, points)))
    return {"x": x, "t": t, "u": u}


def test_an_audit_says_what_flips_and_trips_its_gate(cli: Cli, tmp_path: Path) -> None:
    views = table(tmp_path / "views.jsonl", list(GOOD))
    done = cli("equations", "audit", views, "--out", "run", "--fixed", "fine", "--group", "both=middle+fine", code=1)
    assert "On 30 of 40 items two permitted views give different definitive verdicts." in " ".join(done.stdout.split())
    assert "wrong>0" in done.stdout
    cli("verify", "run", code=0)
    assert "byte for byte" in cli("replay", "run", code=1).stdout
    cli("equations", "audit", views, "--out", "other", "--fail-on", "flippable>0.9", code=2)


def test_a_study_of_the_lab_runs_from_the_command_line(cli: Cli) -> None:
    done = cli(
        "equations", "run", "--study", "benchmark", "--implementation", "fd64", "--seeds", "1", "--out", "r", code=1
    )
    assert "30 of 36 items" in done.stdout
    done = cli("equations", "run", "--study", "choice", "--agent", "random", "--seeds", "1", "--out", "c", code=0)
    assert "random" in done.stdout


def test_an_observed_field_names_its_law(cli: Cli, tmp_path: Path) -> None:
    np.savez(tmp_path / "heat.npz", **field())  # type: ignore[arg-type]  # savez takes arrays by any name
    done = cli("equations", "fields", "heat.npz", "--out", "run", "--term", "u_x", "--term", "u_xx")
    assert "u_t = +0.1 u_xx" in done.stdout


def bent(arrays: Arrays, name: str) -> Arrays:
    return {**arrays, name: arrays[name] ** 1.3}


def holed(arrays: Arrays) -> Arrays:
    u = arrays["u"].copy()
    u[3, 5] = np.nan
    return {**arrays, "u": u}


BAD_FIELDS: dict[str, tuple[Callable[[Arrays], Arrays], str]] = {
    "non-uniform times": (lambda a: bent(a, "t"), "interpolate to equispaced values"),
    "non-uniform points": (lambda a: bent(a, "x"), "interpolate to equispaced values"),
    "NaN": (holed, "u[t=3, x=5]: is nan"),
    "too few times": (lambda a: {**a, "t": a["t"][:9], "u": a["u"][:9]}, "9"),
    "a constant field": (lambda a: {**a, "u": np.ones_like(a["u"])}, "constant"),
    "a steady field": (lambda a: {**a, "u": np.tile(a["u"][:1], (49, 1))}, "steady"),
    "one mode": (lambda a: {**a, "u": np.exp(-0.1 * a["t"])[:, None] * np.cos(a["x"])}, "proportional"),
    "no values": (lambda a: {"x": a["x"], "t": a["t"]}, "values"),
}


@pytest.mark.parametrize("what", BAD_FIELDS)
def test_a_field_that_cannot_be_tested_is_refused_with_a_reason(cli: Cli, tmp_path: Path, what: str) -> None:
    change, said = BAD_FIELDS[what]
    np.savez(tmp_path / "field.npz", **change(field()))  # type: ignore[arg-type]  # savez takes arrays by any name
    done = cli("equations", "fields", "field.npz", "--out", "run", code=3)
    assert said in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_field_that_is_not_periodic_is_refused_where_it_must_be(cli: Cli, tmp_path: Path) -> None:
    arrays = field()
    ramp = arrays["u"] + 5 * arrays["x"]
    np.savez(tmp_path / "field.npz", x=arrays["x"], t=arrays["t"], u=ramp)
    assert "not periodic" in cli("equations", "fields", "field.npz", "--periodic", "--out", "run", code=3).stderr


BAD_TABLES: dict[str, tuple[list[dict[str, object]], str]] = {
    "wrong columns": ([{"case": "a", "grid": "b"}], "column 'item'"),
    "no rows": ([], "empty"),
    "a row twice": ([dict(GOOD[0]), dict(GOOD[0])], "stands again"),
    "a score in words": ([{**GOOD[0], "score": "high"}], "is no number"),
    "two truths of one item": ([dict(GOOD[0]), {**GOOD[1], "truth": "no"}], "truth 'no'"),
    "no truth": ([{**row, "truth": ""} for row in GOOD], "--reference"),
    "a row without a view": ([{**GOOD[0], "view": ""}], "has no view"),
    "some clusters": ([{**GOOD[0], "cluster": "c"}, dict(GOOD[3])], "no cluster"),
}


@pytest.mark.parametrize("what", BAD_TABLES)
def test_a_table_that_cannot_be_audited_is_refused_with_its_line(cli: Cli, tmp_path: Path, what: str) -> None:
    rows, said = BAD_TABLES[what]
    done = cli("equations", "audit", table(tmp_path / "views.jsonl", rows), "--out", "run", code=3)
    assert said in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "--study", "mechanics"), "mechanism"),
        (("run", "--implementation", "fd65"), "fd64"),
        (("run", "--agent", "random"), "--study choice"),
        (("audit", "views.jsonl", "--fixed", "finer"), "'finer'"),
        (("audit", "views.jsonl", "--group", "a"), "--group a"),
        (("audit", "views.jsonl", "--column", "itm=item"), "item"),
        (("audit", "nothing.csv"), "does not exist"),
        (("fields", "nothing.npz"), "does not exist"),
    ],
)
def test_options_that_mean_nothing_are_named(cli: Cli, tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    table(tmp_path / "views.jsonl", list(GOOD))
    assert said in cli("equations", *arguments, "--out", "run", code=3).stderr
