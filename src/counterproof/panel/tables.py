"""Tables of a panel audit."""

from __future__ import annotations

from collections.abc import Sequence

from counterproof.core.analysis import Cell, Table
from counterproof.core.outcomes import NotApplicable
from counterproof.panel.contest import Contest
from counterproof.panel.controls import PanelControl
from counterproof.panel.evaluate import PanelScores
from counterproof.panel.evidence import PanelEvidence
from counterproof.panel.measured import Measured
from counterproof.panel.pairs import MEASURES
from counterproof.panel.policy import PolicyTable, Replay
from counterproof.panel.table import VerdictTable
from counterproof.panel.tree import words_of
from counterproof.stats import RatioEstimate

Rows = tuple[tuple[Cell, ...], ...]


def all_tables(evidence: PanelEvidence, table: VerdictTable) -> tuple[Table, ...]:
    """Return the tables that have anything to show, in reading order."""
    contest = evidence.contest
    made = [
        *((policy_table(contest), words_table(contest)) if isinstance(contest, Contest) else ()),
        channel_table(evidence),
        pair_table(evidence),
        test_table(evidence),
        order_table(evidence),
        breadth_table(evidence),
        *((class_table(contest, table),) if isinstance(contest, Contest) else ()),
    ]
    return tuple(one for one in made if one.rows)


def _number(value: float | NotApplicable | None) -> float | None:
    return None if value is None or isinstance(value, NotApplicable) else float(value)


def _ends(measured: Measured) -> tuple[Cell, Cell]:
    interval = measured.interval
    return (None, None) if interval is None else (interval.lower, interval.upper)


def policy_table(contest: Contest) -> Table:
    """Return every policy at its own mean calls, with its held-out difference to the recommended one."""
    rows = []
    for index, one in enumerate(contest.contestants):
        gap, scores = contest.against[index], one.scores
        ends: tuple[Cell, ...] = (None, None, None)
        if isinstance(gap, RatioEstimate) and index != contest.recommended:
            ends = (gap.estimate, gap.interval.lower, gap.interval.upper)
        mark = {contest.lowest: "lowest on calibration", contest.recommended: "recommended"}.get(index, "")
        rows.append(
            (
                *(one.name, one.family, scores.mean_calls, scores.mean_cost, _number(scores.loss)),
                *(_number(scores.balanced_accuracy), scores.coverage, _number(scores.selective_accuracy)),
                *(scores.accuracy_at_share, one.crossfit_loss if one.crossfit_loss < 1e9 else None, *ends, mark),
            )
        )
    rows.sort(key=lambda row: (float(row[3] or 0), float(row[4] if row[4] is not None else 9)))
    return Table(
        "policies",
        "All policies on held-out items, cheapest first",
        (
            *("policy", "family", "mean calls", "mean cost", "loss", "balanced accuracy", "coverage"),
            *("selective accuracy", "accuracy on the surest 60 %", "cross-fitted loss"),
            *("recommended less this", "lower", "upper", "remark"),
        ),
        tuple(rows),
        note=(
            "Fitted on calibration items. The recommendation is the cheapest policy whose cross-fitted loss is within "
            "one standard error of the lowest one within the budget. Differences in held-out loss are paired over "
            "clusters; negative means that the recommended policy loses less."
        ),
        formats={
            **dict.fromkeys(("mean calls", "mean cost"), ".2f"),
            **dict.fromkeys(("loss", "balanced accuracy", "coverage", "selective accuracy"), ".4f"),
            **dict.fromkeys(("accuracy on the surest 60 %", "cross-fitted loss"), ".4f"),
            **dict.fromkeys(("recommended less this", "lower", "upper"), "+.4f"),
        },
    )


def words_table(contest: Contest) -> Table:
    """Return the recommended policy in sentences."""
    policy = contest.contestants[contest.recommended].policy
    rows: Rows = tuple((line,) for line in words_of(policy))
    return Table("recommended policy", f"The recommended policy, {policy.name}, in words", ("what it does",), rows)


def class_table(contest: Contest, table: VerdictTable) -> Table:
    """Return class-wise figures of the recommended policy."""
    rows: list[tuple[Cell, ...]] = []
    for name, scores in zip(table.classes, contest.contestants[contest.recommended].scores.by_class, strict=True):
        if isinstance(scores, NotApplicable):
            rows.append((name, 0, None, None, None, None))
        else:
            selective = _number(scores.selective_accuracy)
            rows.append((name, scores.items, scores.accuracy, scores.coverage, selective, scores.wrong_accepts))
    return Table(
        "classes",
        "The recommended policy by class, held-out items",
        ("class", "items", "accuracy", "coverage", "selective accuracy", "accepted and wrong"),
        tuple(rows),
        formats=dict.fromkeys(("accuracy", "coverage", "selective accuracy", "accepted and wrong"), ".4f"),
    )


def channel_table(evidence: PanelEvidence) -> Table:
    """Return each channel's error, balanced accuracy and failures."""
    rows = tuple(
        (
            *(one.name, one.calls, one.verdicts, _number(one.error.estimate), *_ends(one.error)),
            *(_number(one.balanced_accuracy.estimate), *_ends(one.balanced_accuracy), _number(one.failure.estimate)),
        )
        for one in evidence.diagnostics.channels
    )
    shares = ("error", "lower", "upper", "balanced accuracy", "BA lower", "BA upper", "failures")
    return Table(
        "channels",
        "Channels on labelled items",
        ("channel", "calls", "verdicts", *shares),
        rows,
        note="Error and balanced accuracy are of verdicts; failures are of calls. Intervals (95 %) are over clusters.",
        formats=dict.fromkeys(shares, ".1%"),
    )


def pair_table(evidence: PanelEvidence) -> Table:
    """Return every measure of every pair."""
    rows = tuple(
        (one.a, one.b, *(_number(one.measures[name].estimate) for name in MEASURES), *_ends(one.measures["error_phi"]))
        for one in evidence.diagnostics.pairs
    )
    words = tuple(name.replace("_", " ") for name in MEASURES)
    return Table(
        "pairs",
        "Dependence of every pair of channels",
        ("a", "b", *words, "phi lower", "phi upper"),
        rows,
        note="Information in bits. Overlap, phi and kappa say how alike two channels are; the gains say what one adds.",
        formats=dict.fromkeys((*words, "phi lower", "phi upper"), ".4f"),
    )


def test_table(evidence: PanelEvidence) -> Table:
    """Return the tests of every pair with their adjusted p values, and the realised gains."""
    rows: list[tuple[Cell, ...]] = []
    for one in evidence.diagnostics.pairs:
        gains: list[Cell] = []
        for name in ("gain_b_given_a", "gain_a_given_b"):
            realised = one.realised[name]
            gains += [_number(one.gains[name].holm), realised.estimate if isinstance(realised, RatioEstimate) else None]
        rows.append((one.a, one.b, _number(one.independence.holm), _number(one.max_t), *gains))
    columns = (
        *("independence, Holm p", "independence, max-T p", "b adds to a, Holm p", "b adds to a, held-out BA"),
        *("a adds to b, Holm p", "a adds to b, held-out BA"),
    )
    return Table(
        "tests",
        "Are two channels independent within a class, and does one add to the other?",
        ("a", "b", *columns),
        tuple(rows),
        note="G-tests on counts; p values are adjusted over all pairs. A gain is positive where the channel helps.",
        formats={name: "+.4f" if "BA" in name else ".4f" for name in columns},
    )


def order_table(evidence: PanelEvidence) -> Table:
    """Return what each further call adds, in buying order."""
    rows = tuple((i, one.channel, one.cost, one.adds, one.total) for i, one in enumerate(evidence.order, 1))
    return Table(
        "information",
        "What each further call adds",
        ("call", "channel", "cost", "adds (bits)", "known so far (bits)"),
        rows,
        note=f"Joint model of calibration items; the label itself has {evidence.entropy:.3f} bits.",
        formats={"cost": "g", "adds (bits)": ".4f", "known so far (bits)": ".4f"},
    )


def breadth_table(evidence: PanelEvidence) -> Table:
    """Return breadth against redundancy at equal calls."""
    found = evidence.breadth
    if isinstance(found, NotApplicable):
        return Table("breadth", "Breadth against redundancy", ("way",), ())
    rows = tuple((one.name, one.verified, one.accepted, one.wrong, one.pool_ba) for one in found.ways)
    cost = found.break_even.estimate
    words = cost.reason if isinstance(cost, NotApplicable) else f"{cost:.3f} right ones"
    return Table(
        "breadth",
        f"What {found.calls} calls buy: many items once, or few items {found.k} times",
        ("way", "items verified", "accepted", "of these wrong", "balanced accuracy of the whole pool"),
        rows,
        note=f"A majority is worth more than breadth once a wrong accept costs more than {words}.",
        formats={
            **dict.fromkeys(("items verified", "accepted", "of these wrong"), ".1f"),
            "balanced accuracy of the whole pool": ".4f",
        },
    )


def control_table(controls: Sequence[PanelControl]) -> Table:
    """Return what the control channels showed."""
    rows = tuple((one.name, one.expected, one.wanted, one.value, one.holds) for one in controls)
    return Table(
        "controls",
        "Control channels through the same path",
        ("control", "must show", "bits expected", "bits", "holds"),
        rows,
        formats={"bits expected": ".6f", "bits": ".6f"},
    )


def replay_tables(run: Replay, scores: PanelScores | None, policy: PolicyTable) -> tuple[Table, ...]:
    """Return what a replayed policy asked of the items that it could finish, and its figures where labels are known."""
    done = run.leaf >= 0
    asked = run.asked[done].mean(axis=0).tolist() if done.any() else [None] * len(policy.channels)
    rows: Rows = tuple(
        (name, cost, share) for name, cost, share in zip(policy.channels, policy.costs, asked, strict=True)
    )
    calls = Table(
        "calls",
        "How often each channel is asked",
        ("channel", "cost", "share of items"),
        rows,
        formats={"cost": "g", "share of items": ".1%"},
    )
    if scores is None:
        return (calls,)
    figures: Rows = (
        ("items", scores.items),
        ("declared loss", _number(scores.loss)),
        ("accuracy", scores.accuracy),
        ("balanced accuracy", _number(scores.balanced_accuracy)),
        ("coverage", scores.coverage),
        ("selective accuracy", _number(scores.selective_accuracy)),
        ("accepted and wrong", scores.wrong_accepts),
        ("mean calls", scores.mean_calls),
        ("mean cost", scores.mean_cost),
        ("unlabelled items", scores.unlabelled),
        ("items not replayed", scores.unreplayed),
    )
    return (
        Table("figures", "Figures on labelled items", ("figure", "value"), figures, formats={"value": ".4g"}),
        calls,
    )
