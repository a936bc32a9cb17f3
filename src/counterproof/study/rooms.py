"""The audits by room and kind of run: how a finished one is analysed again. A further audit is one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module

from counterproof.core.analysis import Analysis
from counterproof.core.errors import PlanError, nearest
from counterproof.store import Ledger

FINISHERS: Mapping[str, str] = {
    "equations/audit": "counterproof.study.equations:finish_audit",
    "equations/choice": "counterproof.study.equation_choices:finish_choices",
    "equations/field": "counterproof.study.equation_fields:finish_field",
    "equations/lab": "counterproof.study.equations:finish_lab",
    "equations/transfer": "counterproof.study.equations:finish_transfer",
    "panel": "counterproof.study.panel:finish_panel",
    "panel/fixture": "counterproof.study.panel_policies:finish_fixture",
    "panel/replay": "counterproof.study.panel_policies:finish_replay",
    "rewards": "counterproof.study.rewards:finish",
}


def finish_run(ledger: Ledger, post_hoc: Sequence[str]) -> Analysis:
    """Return the analysis of a run of any room from its folder alone; `post_hoc` gates were added after it.

    Raises:
        PlanError: The plan is of a room that this version does not know.
    """
    plan = ledger.plan
    kind = plan.settings.get("kind")
    room = f"{plan.room}/{kind}" if kind else plan.room
    if room not in FINISHERS:
        raise PlanError(f"the plan is of room '{room}', which this version does not know; {nearest(room, FINISHERS)}")
    module, _, name = FINISHERS[room].partition(":")
    finisher: Callable[[Ledger, Sequence[str]], Analysis] = getattr(import_module(module), name)
    return finisher(ledger, post_hoc)
