"""Evidence-view audits: can an agent flip a fixed numerical verifier's verdict by choosing which evidence it shows?"""

from __future__ import annotations

from counterproof.equations.agreement import agreed, four_view_agreement, grid_groups
from counterproof.equations.choice import CHOICE_GOALS, ChoiceContext, ChoiceEpisode, ChoiceQuestion, Goal, public_rows
from counterproof.equations.choice_audit import Joined, audit_choices, order_effect
from counterproof.equations.construct import ViewSpace, climb, constructible, exhaustive, omission_labs
from counterproof.equations.diffusion2d import TransferStudy, run_transfer
from counterproof.equations.discrepancies import nominal_discrepancies, own_discrepancies, reference_discrepancies
from counterproof.equations.episodes1d import Lab, LabResult, run_lab
from counterproof.equations.evidence import Cell, EvidenceEpisode, EvidenceTable, build_evidence, lab_evidence, tabulate
from counterproof.equations.evidence_audit import EvidenceAudit, audit_evidence
from counterproof.equations.families import FAMILIES, Family
from counterproof.equations.guarded import guarded_choice, guarded_scores, guarded_signatures, measurement_error
from counterproof.equations.library import DEFAULT_LIBRARY, EXTENDED_LIBRARY, Library, Term, parse_library, parse_term
from counterproof.equations.observed import ObservedField, ObservedResult, assess_field, check_field
from counterproof.equations.scores import (
    PUBLIC_SCORE,
    Counts,
    ScoreRule,
    chosen_signatures,
    count,
    retune,
    score_max,
    scores,
)
from counterproof.equations.scripted import AGENTS, ScriptedAgent, answer
from counterproof.equations.trajectories import IMPLEMENTATIONS, trajectories
from counterproof.equations.verdicts import (
    INCONCLUSIVE,
    OUTSIDE,
    EquationVerdict,
    Identified,
    Inconclusive,
    OutsideLibrary,
    Rule,
)
from counterproof.equations.verifier import Verifier, ViewTable
from counterproof.equations.views import TimeGrid, View, lab_views, reference_views
from counterproof.equations.weakform import WeakForm, build_weakform

__all__ = [
    "AGENTS",
    "CHOICE_GOALS",
    "DEFAULT_LIBRARY",
    "EXTENDED_LIBRARY",
    "FAMILIES",
    "IMPLEMENTATIONS",
    "INCONCLUSIVE",
    "OUTSIDE",
    "PUBLIC_SCORE",
    "Cell",
    "ChoiceContext",
    "ChoiceEpisode",
    "ChoiceQuestion",
    "Counts",
    "EquationVerdict",
    "EvidenceAudit",
    "EvidenceEpisode",
    "EvidenceTable",
    "Family",
    "Goal",
    "Identified",
    "Inconclusive",
    "Joined",
    "Lab",
    "LabResult",
    "Library",
    "ObservedField",
    "ObservedResult",
    "OutsideLibrary",
    "Rule",
    "ScoreRule",
    "ScriptedAgent",
    "Term",
    "TimeGrid",
    "TransferStudy",
    "Verifier",
    "View",
    "ViewSpace",
    "ViewTable",
    "WeakForm",
    "agreed",
    "answer",
    "assess_field",
    "audit_choices",
    "audit_evidence",
    "build_evidence",
    "build_weakform",
    "check_field",
    "chosen_signatures",
    "climb",
    "constructible",
    "count",
    "exhaustive",
    "four_view_agreement",
    "grid_groups",
    "guarded_choice",
    "guarded_scores",
    "guarded_signatures",
    "lab_evidence",
    "lab_views",
    "measurement_error",
    "nominal_discrepancies",
    "omission_labs",
    "order_effect",
    "own_discrepancies",
    "parse_library",
    "parse_term",
    "public_rows",
    "reference_discrepancies",
    "reference_views",
    "retune",
    "run_lab",
    "run_transfer",
    "score_max",
    "scores",
    "tabulate",
    "trajectories",
]
