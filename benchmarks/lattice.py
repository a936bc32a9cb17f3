"""What the lattice costs: all eight subsets of U, L, F as repairs against none, one cell.

    python benchmarks/lattice.py [--questions 200] [--samples 50] [--pairs 5]

Two setups that differ in the weights alone: with weights the lattice has 2^3 cells, without it has one. The reward is
called once a record in both. Runs alternate; medians over adjacent pairs, of the whole audit (ledger, freeze, analysis)
and of the analysis alone. Aim: at most 1.1.
"""

from __future__ import annotations

import argparse
import dataclasses
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from material import Spent, Stage, audit_setup, in_process, make_pool, ratio, spend

from counterproof.core.plan import Plan
from counterproof.rewards.analyse import Evidence, analyse
from counterproof.rewards.cells import Setup
from counterproof.rewards.episode import AuditContext, Statelessness
from counterproof.rewards.lattice import lattice_of
from counterproof.rewards.reference import built_in_reward
from counterproof.store import Ledger
from counterproof.study.rewards import edit_context, tally_of

PLAN = Plan("rewards", "question", ("reference",), (), 0, ("scores",))


def unweighted(setup: Setup) -> Setup:
    return dataclasses.replace(setup, detectors=tuple(dataclasses.replace(d, weight=None) for d in setup.detectors))


def analysed(ledger: Ledger, setup: Setup) -> Any:
    tally, _ = tally_of(ledger, "scores", setup, ())
    return analyse(PLAN, Evidence(tally, {}, {}, Statelessness((), ()), (), (), "reference"))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--samples", type=int, default=50)
    parser.add_argument("--pairs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        pool = make_pool(Path(name) / "pool", options.questions, options.samples)
        records = list(pool.trajectories())
        full = audit_setup(pool, 8)
        reward = partial(built_in_reward("reference"), corpus=pool.corpus)
        edits = edit_context(pool, full)
        whole: list[tuple[Spent, ...]] = []
        alone: list[tuple[Spent, ...]] = []
        for _ in range(options.pairs):
            driven, after = [], []
            for setup in (full, unweighted(full)):
                stage = Stage(records, AuditContext(setup, edits), PLAN, Path(name))
                (ledger, _), drove = spend(partial(stage.run, in_process({"verifier": reward})))
                _, read = spend(partial(analysed, ledger, setup))
                driven.append(Spent(drove.wall + read.wall, drove.cpu + read.cpu))
                after.append(read)
            whole.append(tuple(driven))
            alone.append(tuple(after))
    cells = len(lattice_of(full).subsets)
    print(f"{cells} cells against {len(lattice_of(unweighted(full)).subsets)}, whole audit: {ratio(whole)}")
    print(f"{cells} cells against {len(lattice_of(unweighted(full)).subsets)}, analysis alone: {ratio(alone)}")


if __name__ == "__main__":
    main()
