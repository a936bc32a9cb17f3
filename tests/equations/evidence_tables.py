"""Small evidence tables whose rates are known by hand."""

from __future__ import annotations

from counterproof.core.outcomes import Scored
from counterproof.equations.evidence import Cell, EvidenceTable, build_evidence

SAID = {
    "coarse": ("no", "no", "no", "no"),
    "middle": ("yes", "yes", "no", "no"),
    "fine": ("yes", "yes", "yes", None),
}
"""Verdicts by view on the items i0..i3; the truth is `yes` throughout."""
PAID = {"coarse": 14.0, "middle": 11.0, "fine": 10.5}


def flipped(times: int = 1) -> EvidenceTable:
    """Four items, so often: score-max always takes the coarse view, which is always wrong; the fine one never is."""
    items = [f"i{i}" for i in range(4 * times)]
    cells = [
        Cell(item, view, verdicts[i % 4], Scored(PAID[view] if verdicts[i % 4] else 0.0))
        for i, item in enumerate(items)
        for view, verdicts in SAID.items()
    ]
    return build_evidence(cells, truth=dict.fromkeys(items, "yes"))
