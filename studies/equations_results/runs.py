"""The runs that the page reads: every one a run folder that is verified before a number is taken from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from counterproof.core.analysis import Analysis
from counterproof.core.errors import CorruptLedgerError
from counterproof.equations.diffusion2d import Admission, ContractResult
from counterproof.equations.episodes1d import LabResult
from counterproof.store import Ledger
from counterproof.study.equation_choices import ChoiceConfig, run_choices
from counterproof.study.equation_fields import FieldConfig, run_field
from counterproof.study.equations import LabConfig, frozen_lab, frozen_transfer, run_study
from counterproof.study.publish import publish, verify

FIELDS: Mapping[str, str] = {
    "Burgers": "pde/pysindy/burgers.npz",
    "KdV": "pde/pysindy/kdv.npz",
    "Kuramoto-Sivashinsky": "pde/pysindy/kuramoto_sivashinsky.npz",
}
"""Observed trajectories, as files of the shared data."""
BENCHMARKS = ("spectral", "fd64")


@dataclass(frozen=True, slots=True)
class Runs:
    """All that was run.

    Attributes:
        mechanism: The mechanism study.
        benchmarks: The benchmark by implementation.
        transfer: Admission and contracts of the transfer.
        choice: The choice study.
        fields: Observed fields by name.
        analyses: The analysis of every study of the lab, by name.
    """

    mechanism: LabResult
    benchmarks: Mapping[str, LabResult]
    transfer: tuple[Admission, tuple[ContractResult, ...]]
    choice: Analysis
    fields: Mapping[str, Analysis]
    analyses: Mapping[str, Analysis]


def run_all(data: Path, work: Path, seeds: int | None = None) -> Runs:
    """Run every study below `work`, verify its folder, and return what the page needs.

    Args:
        data: The folder of shared data.
        work: An empty folder.
        seeds: Seeds of every study, in place of their own; for tests.

    Raises:
        CorruptLedgerError: A run does not verify.
    """
    analyses: dict[str, Analysis] = {}

    def kept(name: str, analysis: Analysis) -> Path:
        folder = work / name
        publish(folder, analysis)
        if problems := verify(folder):
            raise CorruptLedgerError(f"{name} does not verify: {problems[0]}")
        analyses[name] = analysis
        return folder

    labs = {"mechanism": LabConfig("mechanism", work / "mechanism", seeds=seeds)}
    for name in BENCHMARKS:
        labs[name] = LabConfig("benchmark", work / name, name, seeds)
    results = {name: frozen_lab(Ledger.open(kept(name, run_study(one))))[0] for name, one in labs.items()}
    folder = kept("transfer", run_study(LabConfig("transfer", work / "transfer", seeds=seeds)))
    kept("choice", run_choices(ChoiceConfig(work / "choice", seeds=seeds)))
    for name, file in FIELDS.items():
        kept(name, run_field(FieldConfig(data / file, work / name)))
    return Runs(
        results["mechanism"],
        {name: results[name] for name in BENCHMARKS},
        frozen_transfer(Ledger.open(folder)),
        analyses["choice"],
        {name: analyses[name] for name in FIELDS},
        analyses,
    )
