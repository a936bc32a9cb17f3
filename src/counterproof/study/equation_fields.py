"""A user's own field u(t, x): which laws the verifier names at which views, under one library and another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterproof.adapters.spacetime import read_field
from counterproof.core.analysis import Analysis
from counterproof.core.errors import CorruptLedgerError, InputError
from counterproof.core.outcomes import NotApplicable
from counterproof.equations.analyse_field import FieldEvidence, analyse_field
from counterproof.equations.library import DEFAULT_TERMS, EXTENDED_LIBRARY, Library, parse_library
from counterproof.equations.observed import ObservedResult, assess_field, check_field
from counterproof.equations.planning import field_plan
from counterproof.equations.verifier import ViewTable
from counterproof.equations.views import lab_views, reference_views
from counterproof.store import Ledger
from counterproof.study.arrays import freeze_arrays, frozen_arrays
from counterproof.study.equations import CELLS, finished
from counterproof.study.gates import parse_gate
from counterproof.study.source import package_digest


@dataclass(frozen=True, slots=True)
class FieldConfig:
    """What a test of an observed field is asked to do.

    Attributes:
        field: An npz, HDF5 or Parquet file.
        out: The run folder.
        channel: Which channel, where the file holds several.
        axes: Order of the stored axes where the sizes do not tell it, for example `xt`.
        periodic: Whether the domain is a circle; None decides from the data.
        terms: Candidate terms of a library of one's own, beside the default and the extended one.
        gates: Expressions that decide the exit code.
        seed: The run's seed.
    """

    field: Path
    out: Path
    channel: str | None = None
    axes: str | None = None
    periodic: bool | None = None
    terms: tuple[str, ...] = ()
    gates: tuple[str, ...] = ()
    seed: int = 0


def run_field(config: FieldConfig) -> Analysis:
    """Test which laws a field obeys at which views, and return the analysis.

    Raises:
        CounterproofError: The file, its grid or a library cannot be used, or the folder belongs to another run.
    """
    for expression in config.gates:
        parse_gate(expression)
    libraries = {"default": DEFAULT_TERMS, "extended": EXTENDED_LIBRARY.names}
    if config.terms:
        libraries["own"] = config.terms
    results, read = observe(config, {name: searched(terms) for name, terms in libraries.items()})
    used = next(iter(results.values())).times_used
    settings = {
        "field": read.name,
        "libraries": [[name, list(terms)] for name, terms in libraries.items()],
        "times": used,
        "notes": [*read.notes, f"{used} stored times used."],
    }
    plan = field_plan(read.digest, settings, seed=config.seed, gates=config.gates)
    ledger = Ledger.create(config.out, plan, {"counterproof": package_digest()})
    freeze_arrays(ledger, "evidence", _packed(results))
    return finish_field(ledger, ())


def searched(terms: Sequence[str]) -> Library:
    """Return the library of these terms, searched for laws of up to three of them."""
    return parse_library(terms, min(3, max(1, len(terms))))


def observe(config: FieldConfig, libraries: dict[str, Library]) -> tuple[dict[str, ObservedResult], Any]:
    """Return what the verifier says of a field under each library, and the field as it was read.

    Raises:
        InputError: The field cannot be read or tested.
    """
    read = read_field(config.field, axes=config.axes)
    if len(read.space) != 1:
        raise InputError(f"{read.name} has {len(read.space)} space axes; the verifier tests one, u(t, x)")
    checked = check_field(read.x, read.t, read.channel(config.channel), periodic=config.periodic)
    if isinstance(checked, NotApplicable):
        raise InputError(f"{read.name} cannot be tested: {checked.reason}")
    return {name: assess_field(checked, library) for name, library in libraries.items()}, read


def _packed(results: dict[str, ObservedResult]) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {}
    for name, one in results.items():
        for cell in CELLS:
            parts = (getattr(one.permitted, cell), getattr(one.reference, cell))
            arrays[f"{name}/{cell}"] = np.concatenate(parts, axis=1)
        arrays[f"{name}/coefficients"] = one.coefficients
    return arrays


def finish_field(ledger: Ledger, post_hoc: Sequence[str]) -> Analysis:
    """Return the analysis of an observed field from its run folder alone."""
    settings, data = ledger.plan.settings, frozen_arrays(ledger, "evidence")
    intervals = int(settings["times"]) - 1
    permitted = lab_views(intervals, tuple(intervals // coarse + 1 for coarse in (8, 4, 2)))
    views = (*permitted, *reference_views(intervals))
    found = []
    try:
        for name, terms in settings["libraries"]:
            library = searched(terms)
            cells = (data[f"{name}/{cell}"] for cell in CELLS)
            table = ViewTable(views, library.names, library.supports, *cells)
            found.append(FieldEvidence(name, table, len(permitted), data[f"{name}/coefficients"]))
    except KeyError as error:
        raise CorruptLedgerError(f"the ledger lacks {error} of a field's tables") from None
    return finished(ledger, analyse_field(ledger.plan, found), post_hoc)
