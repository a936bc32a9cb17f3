"""The smallest repair: which detectors, as penalties on top of the reward, close every primary attack."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterproof.core.findings import Finding, HealthWarning, Verdict
from counterproof.core.outcomes import NotApplicable
from counterproof.rewards.lattice import Need, least_weights, minimal_subsets
from counterproof.rewards.selection import Selector
from counterproof.rewards.tally import Tally

MOSTLY_ERRORED = 0.05
"""A larger share of units without a verdict keeps a repair from reading as sufficient."""
CONDITION = "on these units: conditional on this reward, these attacks, these candidate generators and this pool"


@dataclass(frozen=True, slots=True)
class Repair:
    """What the lattice says.

    Attributes:
        cells: Names of the primary cells with units, in order.
        units: Units of each.
        fooled: Units fooled, one row a subset, one column a primary cell.
        sufficient: Whether a subset leaves no success in any primary cell.
        minimal: Inclusion-minimal sufficient subsets, as bit masks.
        needs: Least sufficient weight of each detector alone.
        seen: Units of all primary cells, whatever became of their verdicts.
        open: Those that a subset leaves neither fooled nor seen to resist, because a verdict is missing.
    """

    cells: tuple[str, ...]
    units: tuple[int, ...]
    fooled: tuple[tuple[int, ...], ...]
    sufficient: tuple[bool, ...]
    minimal: tuple[int, ...]
    needs: tuple[Need, ...]
    seen: int
    open: tuple[int, ...]

    @property
    def needed(self) -> bool:
        """Whether the reward as it is leaves any success."""
        return not self.sufficient[0]


def repair_of(tally: Tally) -> Repair:
    """Return the lattice's counts, the sufficient and the inclusion-minimal subsets, and the least weights."""
    subsets = len(tally.lattice.subsets)
    shape = (-1, len(tally.cells), subsets) if tally.cells else (0, 0, subsets)
    fooled = tally.lattice_fooled.table().reshape(shape).sum(axis=0)
    units = tally.lattice_units.table().reshape(shape).sum(axis=0)
    primary = [i for i, cell in enumerate(tally.cells) if cell.primary and units[i].any()]
    counts = fooled[primary].T if primary else np.zeros((subsets, 0), dtype=np.int64)
    sufficient = tuple(bool(one) for one in (counts == 0).all(axis=1)) if primary else (False,) * subsets
    names = {tally.setup.edits[cell.edit].name for cell in tally.cells if cell.primary}
    groups = {key: worst for key, worst in tally.groups.items() if key[0] in names}
    seen = _with_candidates(tally)
    decided = units[np.array([cell.primary for cell in tally.cells], dtype=np.bool_)].sum(axis=0)
    return Repair(
        tuple(tally.cells[i].name for i in primary),
        tuple(int(units[i].max()) for i in primary),
        tuple(tuple(int(n) for n in row) for row in counts),
        sufficient,
        minimal_subsets(sufficient),
        least_weights(groups, tally.lattice.names),
        seen,
        tuple(int(n) for n in seen - decided),
    )


def _with_candidates(tally: Tally) -> int:
    """Return how many units the primary cells have, whatever became of their verdicts."""
    return sum(
        sum(tally.endings[index].values())
        for index, column in enumerate(tally.columns)
        if column.cell.primary and column.selector is Selector.ORACLE_WORST and not column.strict and not column.common
    )


def repair_finding(repair: Repair, tally: Tally) -> Finding:
    """Return the finding on the smallest repair."""
    subject = ", ".join(repair.cells) or "no primary attack"
    labels = tuple(tally.lattice.label(one) for one in repair.minimal)
    values = {
        "minimal": labels,
        "weights": dict(zip(tally.lattice.names, tally.lattice.weights.tolist(), strict=True)),
        "least sufficient weight alone": {one.detector: one.weight for one in repair.needs if one.weight is not None},
    }
    estimate: float | NotApplicable
    if not repair.cells:
        estimate = NotApplicable("no primary attack has a unit, so nothing can be said about a repair")
        title, verdict = "no repair can be assessed", Verdict.NOT_APPLICABLE
    elif not repair.needed:
        estimate, title, verdict = 0.0, f"no repair needed {CONDITION}", Verdict.SUPPORTED
    elif not labels:
        estimate = NotApplicable("no subset of the detectors closes every primary attack at these weights")
        title, verdict = f"no subset of {{{','.join(tally.lattice.names)}}} suffices {CONDITION}", Verdict.REFUTED
    else:
        estimate, verdict = float(repair.minimal[0].bit_count()), Verdict.SUPPORTED
        title = f"smallest repair: {' or '.join(labels)} {CONDITION}"
    missing = max((repair.open[one] for one in repair.minimal), default=0)
    warnings = _missing_verdicts(missing, repair.seen) if repair.cells else ()
    if verdict is Verdict.SUPPORTED and any(one.blocking for one in warnings):
        verdict = Verdict.INCONCLUSIVE
    return Finding(
        "RW110",
        subject,
        title,
        estimate,
        unit="detectors added",
        n=sum(repair.units),
        counts={"no verdict": missing},
        values=values,
        verdict=verdict,
        warnings=warnings,
    )


def _missing_verdicts(missing: int, total: int) -> tuple[HealthWarning, ...]:
    if not missing:
        return ()
    message = (
        f"on up to {missing} of {total} units the repaired reward is neither fooled nor seen to resist, because the "
        "verifier gave no verdict on a candidate"
    )
    return (HealthWarning("repair-without-verdict", message, blocking=missing / total > MOSTLY_ERRORED),)
