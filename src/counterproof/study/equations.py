"""Runs of the `equations` room: studies of the lab, its transfer, and a user's own table of evidence views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterproof.adapters.evidence_views import read_evidence
from counterproof.core.analysis import Analysis
from counterproof.core.errors import CorruptLedgerError, InputError
from counterproof.core.outcomes import pack, unpack
from counterproof.core.plan import Gate
from counterproof.equations.analyse import analyse_lab, analyse_transfer, analyse_views
from counterproof.equations.diffusion2d import (
    TERMS,
    Admission,
    Contract,
    ContractResult,
    admission,
    contracts,
    run_transfer,
)
from counterproof.equations.draws import add_noise
from counterproof.equations.episodes1d import Lab, LabResult, run_lab
from counterproof.equations.evidence import UNKNOWN, EvidenceTable, build_evidence, lab_evidence
from counterproof.equations.guarded import measurement_error
from counterproof.equations.joining import join_evidence, with_truth
from counterproof.equations.planning import (
    AuditSettings,
    audit_plan,
    check_settings,
    lab_plan,
    planned_lab,
    planned_transfer,
    transfer_plan,
    view_groups,
)
from counterproof.equations.trajectories import trajectories
from counterproof.equations.verifier import ViewTable
from counterproof.equations.views import View, reference_views
from counterproof.store import Ledger
from counterproof.study.arrays import freeze_arrays, frozen_arrays
from counterproof.study.gates import check_gates, parse_gate
from counterproof.study.source import package_digest

CELLS = ("best", "residual", "support", "gap", "condition", "signature")
"""The arrays of a table of views."""


@dataclass(frozen=True, slots=True)
class LabConfig:
    """What a study of the lab is asked to do.

    Attributes:
        study: `mechanism`, `benchmark` or `transfer`.
        out: The run folder.
        implementation: `spectral`, `fd64` or `fd192`; the transfer has its own.
        seeds: How many seeds, in place of the study's own number.
        gates: Expressions that decide the exit code.
        seed: The run's seed, for resampling and controls; the lab's draws do not depend on it.
    """

    study: str
    out: Path
    implementation: str = "spectral"
    seeds: int | None = None
    gates: tuple[str, ...] = ()
    seed: int = 0


def run_study(config: LabConfig) -> Analysis:
    """Run a study of the lab, and return its analysis.

    Raises:
        CounterproofError: Study, settings or folder cannot be used.
    """
    for expression in config.gates:
        parse_gate(expression)
    if config.study == "transfer":
        plan = transfer_plan(seeds=config.seeds, seed=config.seed, gates=config.gates)
        ledger = Ledger.create(config.out, plan, {"counterproof": package_digest()})
        _freeze_transfer(ledger)
        return finish_transfer(ledger, ())
    plan = lab_plan(
        config.study,
        implementation=config.implementation,
        seeds=config.seeds,
        seed=config.seed,
        gates=config.gates,
    )
    ledger = Ledger.create(config.out, plan, {"counterproof": package_digest()})
    freeze_lab(ledger, planned_lab(plan))
    return finish_lab(ledger, ())


def freeze_lab(ledger: Ledger, lab: Lab) -> None:
    """Freeze what the verifier says on permitted views, and then, in the last stage, truth and reference views."""
    if ledger.is_frozen("truth"):
        return
    freeze_evidence(ledger, lab)
    result = run_lab(lab)
    parts = ("truth", "family", "seed", "noise", "spatial")
    arrays: dict[str, NDArray[Any]] = {name: getattr(result, name) for name in parts}
    arrays |= {f"reference {name}": array for name, array in _cells(result.reference).items()}
    freeze_arrays(ledger, "truth", arrays, after=tuple(name for name in ledger.plan.stages if name != "truth"))


def freeze_evidence(ledger: Ledger, lab: Lab) -> None:
    """Freeze what the verifier says on permitted views, and the error that each view itself shows."""
    if not ledger.is_frozen("evidence"):
        freeze_arrays(ledger, "evidence", {**_cells(run_lab(lab).permitted), "error": lab_errors(lab)})


def frozen_permitted(ledger: Ledger, lab: Lab) -> ViewTable:
    """Return the frozen table of permitted views."""
    return _view_table(lab.views, lab.library.names, lab.library.supports, frozen_arrays(ledger, "evidence"))


def lab_errors(lab: Lab) -> NDArray[np.float64]:
    """Return the error of every permitted cell as the view itself shows it, (E, V), in the order of `run_lab`."""
    draws = lab.draws()
    clean = trajectories(draws, lab.implementation, lab.grid)
    noisy = [add_noise(clean, draws, level, lab=lab.constant) for level in lab.noise]
    found = []
    for spatial in lab.sets:
        verifier = lab.verifier(spatial)
        found += [measurement_error(verifier, lab.grid.t, one, verifier.assess(one)) for one in noisy]
    errors: NDArray[np.float64] = np.concatenate(found)[:, : len(lab.views)]
    return errors


def _cells(table: ViewTable) -> dict[str, NDArray[Any]]:
    return {name: getattr(table, name) for name in CELLS}


def _view_table(views: Sequence[View], terms: tuple[str, ...], supports: Any, arrays: Mapping[str, Any]) -> ViewTable:
    try:
        return ViewTable(tuple(views), terms, supports, *(arrays[name] for name in CELLS))
    except KeyError as error:
        raise CorruptLedgerError(f"the ledger lacks {error} of a table of views") from None


def frozen_lab(ledger: Ledger) -> tuple[LabResult, NDArray[np.float64]]:
    """Return the tables, truth and measurement errors that a study of the lab froze.

    Raises:
        CorruptLedgerError: The stages do not hold them.
    """
    lab = planned_lab(ledger.plan)
    evidence, truth = frozen_arrays(ledger, "evidence"), frozen_arrays(ledger, "truth")
    names, supports = lab.library.names, lab.library.supports
    modes = tuple(sorted({view.modes for view in lab.views}))
    behind = {name.removeprefix("reference "): array for name, array in truth.items() if name.startswith("reference ")}
    permitted = _view_table(lab.views, names, supports, evidence)
    reference = _view_table(reference_views(lab.grid.intervals, modes), names, supports, behind)
    try:
        parts = (truth[name] for name in ("truth", "family", "seed", "noise", "spatial"))
        return LabResult(permitted, reference, *parts), evidence["error"]
    except KeyError as error:
        raise CorruptLedgerError(f"the ledger lacks {error} of a study") from None


def finish_lab(ledger: Ledger, post_hoc: Sequence[str]) -> Analysis:
    """Return the analysis of a study of the lab from its run folder alone."""
    return finished(ledger, analyse_lab(ledger.plan, *frozen_lab(ledger)), post_hoc)


def finished(ledger: Ledger, analysis: Analysis, post_hoc: Sequence[str]) -> Analysis:
    """Return an analysis with its provenance, gates and exit code; `post_hoc` gates were added after the run."""
    plan = ledger.plan
    roots = tuple((f"root of stage {name}", ledger.root(name)) for name in ledger.stages())
    inputs = tuple((f"input {one.role}", one.sha256) for one in plan.inputs)
    source = tuple((f"source of {name}", sha) for name, sha in sorted(ledger.manifest.source.items()))
    provenance = (("plan", plan.digest()), ("seed", str(plan.seed)), *inputs, *roots, *source)
    gates = (*plan.gates, *(Gate(expression, post_hoc=True) for expression in post_hoc))
    return check_gates(replace(analysis, provenance=provenance), gates)


def _freeze_transfer(ledger: Ledger) -> None:
    if ledger.is_frozen("truth"):
        return
    result = run_transfer(planned_transfer(ledger.plan))
    reference = {one.contract.name: one.reference for one in result.contracts}
    freeze_arrays(ledger, "admission", reference)
    evidence = {
        f"{one.contract.name}/{name}": array
        for one in result.contracts
        for name, array in _cells(one.permitted).items()
    }
    freeze_arrays(ledger, "evidence", evidence, after=("admission",))
    first = result.contracts[0]
    truth = {one.contract.name: one.truth for one in result.contracts}
    freeze_arrays(
        ledger,
        "truth",
        {**truth, "seed of episode": first.seed, "noise of episode": first.noise},
        after=("admission", "evidence"),
    )


def frozen_transfer(ledger: Ledger) -> tuple[Admission, tuple[ContractResult, ...]]:
    """Return the admission and the tables of all contracts that a transfer froze.

    Raises:
        CorruptLedgerError: The stages do not hold them.
    """
    study = planned_transfer(ledger.plan)
    stages = (frozen_arrays(ledger, name) for name in ("admission", "evidence", "truth"))
    reference, evidence, truth = stages
    found = []
    try:
        for contract in contracts():
            cells = {name: evidence[f"{contract.name}/{name}"] for name in CELLS}
            table = _view_table(study.views, _terms(contract), contract.supports, cells)
            seed, noise = truth["seed of episode"], truth["noise of episode"]
            found.append(ContractResult(contract, table, reference[contract.name], seed, noise))
    except KeyError as error:
        raise CorruptLedgerError(f"the ledger lacks {error} of a transfer") from None
    return admission([(one.contract, one.reference) for one in found]), tuple(found)


def _terms(contract: Contract) -> tuple[str, ...]:
    return tuple(TERMS[j] for j in contract.columns)


def finish_transfer(ledger: Ledger, post_hoc: Sequence[str]) -> Analysis:
    """Return the analysis of a transfer from its run folder alone."""
    admitted, parts = frozen_transfer(ledger)
    cluster = np.unique(parts[0].seed, return_inverse=True)[1]
    tables = [lab_evidence(one.permitted, one.truth, cluster) for one in parts]
    table = join_evidence(tables, [one.contract.name for one in parts])
    views = parts[0].permitted.views
    settings = AuditSettings(view_groups(views), fixed=views[-1].name)
    return finished(ledger, analyse_transfer(ledger.plan, table, admitted, settings), post_hoc)


@dataclass(frozen=True, slots=True)
class ViewsConfig:
    """What an audit of a table of evidence views is asked to do.

    Attributes:
        views: A CSV, JSON lines, JSON or Parquet file with one row for each item and view.
        out: The run folder.
        columns: Column name by role: item, view, verdict, score, truth, cluster.
        groups: Views that must agree, by group.
        reference: A view whose verdict counts as right where no truth is known.
        fixed: The view that would be fixed beforehand.
        open_price: Cost of leaving an item open, in units of a wrong verdict.
        gates: Expressions that decide the exit code.
        seed: The run's seed.
    """

    views: Path
    out: Path
    columns: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    reference: str | None = None
    fixed: str | None = None
    open_price: float = 0.1
    gates: tuple[str, ...] = ()
    seed: int = 0


def audit_views(config: ViewsConfig) -> Analysis:
    """Audit a user's table of evidence views, and return the analysis.

    Verdicts and scores are frozen first; the truth joins them in a later stage.

    Raises:
        CounterproofError: File, columns, settings or folder cannot be used.
    """
    for expression in config.gates:
        parse_gate(expression)
    file = read_evidence(config.views, config.columns)
    table = build_evidence(file.cells, clusters=file.clusters)
    words = [file.truth.get(item, "") for item in table.items]
    if config.reference is None and not any(words):
        raise InputError("nothing says which verdict is right: add a column `truth`, or name a view with --reference")
    settings = AuditSettings(config.groups, config.reference, config.fixed, config.open_price)
    check_settings(settings, table.views)
    plan = audit_plan(file.digests, table.views, settings, file.notes, seed=config.seed, gates=config.gates)
    ledger = Ledger.create(config.out, plan, {"counterproof": package_digest()})
    freeze_arrays(ledger, "evidence", packed_evidence(table))
    freeze_arrays(ledger, "truth", {"truth": np.array(words, dtype=np.str_)}, after=("evidence",))
    return finish_audit(ledger, ())


def packed_evidence(table: EvidenceTable) -> dict[str, NDArray[Any]]:
    """Return a table without its truth as named arrays."""
    places = sorted(table.missing)
    outcomes = pack([table.missing[place] for place in places])
    return {
        "items": np.array(table.items, dtype=np.str_),
        "views": np.array(table.views, dtype=np.str_),
        "verdicts": np.array(table.verdicts, dtype=np.str_),
        "verdict": table.verdict,
        "score": table.score,
        "scored": table.scored,
        "cluster": table.cluster,
        "missing": np.array(places, dtype=np.int64).reshape(-1, 2),
        "reasons": np.frombuffer(outcomes, dtype=np.uint8),
    }


def frozen_evidence(ledger: Ledger) -> EvidenceTable:
    """Return the table that an audit froze, truth joined.

    Raises:
        CorruptLedgerError: The stages do not hold one.
    """
    data, truth = frozen_arrays(ledger, "evidence"), frozen_arrays(ledger, "truth")
    try:
        places = [(int(i), int(v)) for i, v in data["missing"]]
        table = EvidenceTable(
            items=tuple(data["items"].tolist()),
            views=tuple(data["views"].tolist()),
            verdicts=tuple(data["verdicts"].tolist()),
            verdict=data["verdict"],
            score=data["score"],
            scored=data["scored"],
            missing=dict(zip(places, unpack(data["reasons"].tobytes()), strict=True)),
            cluster=data["cluster"],
            truth=np.full(len(data["items"]), UNKNOWN, dtype=np.int64),
        )
        return with_truth(table, truth["truth"].tolist())
    except KeyError as error:
        raise CorruptLedgerError(f"the ledger lacks {error} of an evidence table") from None


def finish_audit(ledger: Ledger, post_hoc: Sequence[str]) -> Analysis:
    """Return the analysis of an audited table from its run folder alone."""
    return finished(ledger, analyse_views(ledger.plan, frozen_evidence(ledger)), post_hoc)
