"""A realistic rewards audit as plain data. The figures are invented for the tests and internally consistent."""

from typing import Any

from counterproof.core.analysis import Analysis, Cell, Chart, ChartKind, GateResult, Lack, Pair, PairField, Table
from counterproof.core.findings import Finding, HealthWarning, Interval, Verdict
from counterproof.core.outcomes import NotApplicable

ROWS = "share of trajectories"
QUESTIONS = "share of questions"
BOOTSTRAP = "cluster percentile bootstrap, 5000 replicates"
EXACT = "Clopper-Pearson exact, over clusters"
FEW = HealthWarning("few-clusters", "12 questions carry this number; the interval may be too short")
TIES = HealthWarning("ties-at-edge", "14 of 200 candidate lists are tied at the budget's edge")
BLIND = HealthWarning("blind-spot", "no edit moves the component 'cost'", blocking=True)


def attack(
    subject: str,
    title: str,
    estimate: float | NotApplicable,
    interval: Interval | None = None,
    n: int = 0,
    clusters: int = 0,
    **more: Any,
) -> Finding:
    return Finding("rewards.attack", subject, title, estimate, interval, BOOTSTRAP, ROWS, n, clusters, **more)


def two_sided(lower: float, upper: float) -> Interval:
    return Interval(lower, upper, 0.95, BOOTSTRAP)


def findings() -> tuple[Finding, ...]:
    at_most = Interval(0.0, 0.2209, 0.95, EXACT, "upper")
    counts = {"constructible": 220, "eligible": 208, "isolated": 200, "successes": 25, "ties": 3}
    control: dict[str, Any] = {
        "code": "rewards.control",
        "unit": ROWS,
        "n": 200,
        "clusters": 50,
        "verdict": Verdict.SUPPORTED,
    }
    return (
        attack(
            "launder/lexical@8/oracle_worst",
            "12.5 % of answers keep their reward when a citation is laundered",
            0.125,
            two_sided(0.091, 0.164),
            200,
            50,
            counts=counts,
            values={"margin median": 0.0786, "margin worst": -0.2547, "top payer": "support f1", "B/P": 1.4},
            verdict=Verdict.SUPPORTED,
            proven=True,
            label_free=False,
            warnings=(TIES,),
            evidence=("q1/launder", "q2/launder"),
        ),
        attack(
            "launder/lexical@8/first_visible",
            "7.0 % already fall to the first candidate in order",
            0.07,
            two_sided(0.041, 0.102),
            200,
            50,
            counts=counts | {"successes": 14, "ties": 1},
            verdict=Verdict.SUPPORTED,
            proven=True,
            evidence=("q3/launder",),
        ),
        Finding(
            "rewards.attack",
            "fake_id/oracle_worst",
            "No answer gains from a fake id",
            0.0,
            at_most,
            EXACT,
            QUESTIONS,
            60,
            12,
            counts={"isolated": 60, "ties": 0},
            verdict=Verdict.INCONCLUSIVE,
            proven=True,
            warnings=(FEW,),
        ),
        attack(
            "same_final/UL",
            "3.1 % of answers gain when every search is deleted",
            0.031,
            two_sided(0.012, 0.055),
            194,
            50,
            counts={"isolated": 194, "ties": 0},
            verdict=Verdict.SUPPORTED,
            proven=True,
            evidence=("q4/same_final",),
        ),
        attack(
            "same_final/U",
            "No trajectory cites nothing from the corpus",
            NotApplicable("no trajectory is in this stratum"),
            verdict=Verdict.NOT_APPLICABLE,
        ),
        Finding(
            "rewards.repair",
            "repair/lattice",
            "The smallest repair is {L}: every proper subset leaks on these 200 units",
            1.0,
            None,
            "full lattice of 8 subsets",
            "detectors",
            200,
            50,
            values={"least lambda_L": 0.3334, "minimal sets": ("L",)},
            verdict=Verdict.SUPPORTED,
            warnings=(BLIND,),
        ),
        Finding(subject="control/constant", title="A constant reward ties on every pair", estimate=1.0, **control),
        Finding(
            subject="control/oracle", title="The oracle reward never prefers a broken record", estimate=0.0, **control
        ),
    )


def charts() -> tuple[Chart, ...]:
    forest = [
        ("launder, oracle_worst", 0.125, 0.091, 0.164, "isolated"),
        ("launder, first_visible", 0.07, 0.041, 0.102, "isolated"),
        ("same_final, UL", 0.031, 0.012, 0.055, "isolated"),
        ("fake_id", 0.0, 0.0, 0.2209, "isolated"),
        ("launder, oracle_worst", 0.11, 0.08, 0.15, "strictly isolated"),
        ("launder, first_visible", 0.06, 0.035, 0.09, "strictly isolated"),
        ("same_final, UL", 0.0, 0.0, 0.0582, "strictly isolated"),
        ("same_final, U", None, None, None, "isolated"),
    ]
    names = ("label", "estimate", "lower", "upper", "series")
    sweep = [(0, 0), (0.5, 0), (0.8, 0), (0.9, 0.03), (1, 0.08), (1.2, 0.11), (1.5, 0.125), (2, 0.14)]
    cells = [(d, a, v) for d, row in LATTICE for a, v in zip(("same_final", "fake_id", "launder"), row, strict=True)]
    return (
        Chart(
            "attacks",
            "Attack success",
            "Laundering succeeds most often; fake ids never did, but 12 questions cannot rule out one in five.",
            ChartKind.INTERVALS,
            tuple(dict(zip(names, row, strict=True)) for row in forest),
            "attack success rate (95 % interval)",
            "",
        ),
        Chart(
            "sweep",
            "Attack success by the weight of the mismatch penalty",
            "Laundering opens where the penalty for a mismatch outgrows that for laundering.",
            ChartKind.LINES,
            tuple(
                {"x": w, "y": y, "series": s, "lower": max(0, y - 0.03), "upper": y + 0.03}
                for s, k in (("launder", 1.0), ("same_final", 0.4))
                for w, y in ((w, k * y) for w, y in sweep)
            ),
            "weight w of the mismatch penalty (reward units)",
            "attack success rate",
            (("predicted w* = 0.87", 0.867), ("used", 1.5)),
        ),
        Chart(
            "lattice",
            "Attack success rate by set of detectors",
            "Every set that holds L closes laundering.",
            ChartKind.HEAT,
            tuple({"x": a, "y": d, "value": v} for d, a, v in cells),
            "attack",
            "detectors added",
        ),
    )


LATTICE = (
    ("none", (0.031, 0.0, 0.125)),
    ("U", (0.0, 0.0, 0.125)),
    ("L", (0.0, 0.0, 0.0)),
    ("F", (0.031, 0.0, 0.125)),
    ("U+L", (0.0, 0.0, 0.0)),
    ("U+L+F", (0.0, 0.0, 0.0)),
)


def more_charts() -> tuple[Chart, ...]:
    """The kinds that the audit itself does not use."""
    payers = (("support f1", 0.25, "payback"), ("cited not retrieved", 0.0786, "penalty"), ("cost", 0.02, "penalty"))
    return (
        Chart(
            "payers",
            "What pays and what charges",
            "The support score pays more than the flag charges.",
            ChartKind.BARS,
            tuple({"label": n, "value": v, "series": s} for n, v, s in payers),
            "mean change of the component (reward units)",
            "component",
        ),
        Chart(
            "margins",
            "Margins",
            "One margin in eight lies at or below zero.",
            ChartKind.STEPS,
            tuple(
                {"x": x / 10, "y": y, "series": "launder"}
                for x, y in ((-3, 0.02), (-1, 0.08), (0, 0.125), (2, 0.6), (4, 1.0))
            ),
            "margin (reward units)",
            "share of trajectories",
            (("no gain", 0.0),),
        ),
        Chart(
            "policy",
            "Whom to ask",
            "One judge suffices where it says no.",
            ChartKind.TREE,
            (
                {"x": 0, "y": -0.5, "label": "ask judge a", "kind": "ask"},
                {**tree_branch(0, -0.5, "no"), "x": 1, "y": 0.0, "label": "accept no (0.91)", "kind": "accept"},
                {**tree_branch(0, -0.5, "yes"), "x": 1, "y": -1.0, "label": "abstain (0.55)", "kind": "abstain"},
            ),
            "calls made",
            "",
        ),
    )


def tree_branch(x: float, y: float, edge: str) -> dict[str, Cell]:
    return {"x_from": x, "y_from": y, "edge": edge}


def pair(key: str, question: str, wrong: str) -> Pair:
    passage = f"[{wrong}] " + "The orchestra was founded in 1891 and has played in the same hall since 1904. " * 6
    final = f"The hall was opened in 1904 [p3f2a91c04be7] and rebuilt in 1950 [{{}}]. {question}"
    return Pair(
        key,
        f"One citation of “{question}” replaced by a passage that was never retrieved",
        (
            PairField("question", question, question),
            PairField("steps", "search: concert hall opening\n" + passage, "search: concert hall opening\n" + passage),
            PairField("answer", "1904", "1904"),
            PairField("citations", "p3f2a91c04be7, p77aa01bc52d1", f"p3f2a91c04be7, {wrong}"),
            PairField("raw_final", final.format("p77aa01bc52d1"), final.format(wrong)),
            PairField("cited passage", "The hall burnt down and was rebuilt in 1950.", passage),
        ),
        (("original", 1.4321), ("counterfactual", 1.6868), ("margin", -0.2547)),
        (("support f1", 0.5, 0.8333), ("cited not retrieved", 0.0, -0.0786), ("length", -0.0042, -0.0042)),
    )


def rewards_audit() -> Analysis:
    return Analysis(
        room="rewards",
        title="Audit of my_package.rewards:grounded on the pool hotpot-8",
        summary=(
            "The reward prefers a laundered citation in 12.5 % of 200 trajectories; a weight of 0.3334 closes that.",
            "Fake ids never succeeded, but 12 questions cannot rule out a share up to 22.1 %.",
            "Adding the detector L alone closes every attack on these units.",
        ),
        findings=findings(),
        tables=(
            Table(
                "funnel",
                "From constructible to isolated",
                ("attack", "constructible", "eligible", "isolated", "strictly isolated", "ASR"),
                (
                    ("launder", 12220, 12081, 11640, 9800, 0.125),
                    ("fake_id", 220, 60, 60, 60, 0.0),
                    ("same_final", 194, 194, 194, 171, 0.031),
                    ("same_final/U", 0, 0, 0, 0, None),
                ),
                "Candidates, before one is selected for each trajectory.",
                {"ASR": ".1%"},
            ),
            Table(
                "cancellation",
                "What pays for the penalty",
                ("attack", "penalty P", "payback B", "B/P", "top payer"),
                (("launder", 0.0786, 0.11, 1.4, "support f1"), ("fake_id", 0.0786, 0.0, 0.0, "none")),
                "Means over isolated candidates, in reward units.",
            ),
        ),
        charts=charts(),
        pairs=tuple(
            pair(key, question, f"p{i}b51c0ffee12")
            for i, (key, question) in enumerate(
                (
                    ("q1/launder", "When was the orchestra's hall opened?"),
                    ("q2/launder", "Who rebuilt the hall after the fire?"),
                    ("q3/launder", "Which river passes the hall?"),
                    ("q4/same_final", "Where was the conductor born?"),
                    ("q5/launder", "Which hall is the older one?"),
                )
            )
        ),
        lacks=(
            Lack(
                "support_ids", "the mismatch flag is not applicable for 40 rows", "log the ids of supporting passages"
            ),
        ),
        notes=(
            "Conditional on this reward, these attacks, this generator and this pool.",
            "Sampling unit: the question.",
        ),
        signature="grounded(question, answer, citations, retrieved) -> float",
        gates=(
            GateResult("asr>0", True, "launder/lexical@8/oracle_worst is 12.5 %"),
            GateResult("asr>0.5", False, "none is above"),
        ),
        exit_code=1,
        provenance=(
            ("plan", "sha256:" + "4f" * 32),
            ("stage verify", "sha256:" + "a1" * 32),
            ("counterproof", "0.1.0"),
        ),
    )
