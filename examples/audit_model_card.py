"""A model card as a verifier: does the choice of metric window or of cross-validation folds flip "A beats B"?

The verifier compares two classifiers by cross-validation and says which one is better when its statistic is large
enough, else nothing. Its views are the fold counts and metrics that a card's author may choose from. What is right is
what a large test set says, which no author sees. Needs scikit-learn, the extra `ml`; its data ship with it.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from counterproof.equations import audit_evidence, build_evidence, tabulate

FOLDS, METRICS = (3, 6), ("accuracy", "recall", "precision")
SHOWN, ITEMS = 90, 20
SURE = 1.0
"""Standard errors of the folds' differences from which the verifier calls a winner."""


def models(seed: int) -> tuple:
    """Return the two classifiers that are compared."""
    return make_pipeline(StandardScaler(), LogisticRegression(C=0.01)), DecisionTreeClassifier(
        max_depth=3, random_state=seed
    )


def verifier(record: tuple, view: tuple) -> tuple:
    """Return the winner on one view, or None, and the statistic that a card's author would like to be large."""
    x, y, seed = record
    folds, metric = view
    split = StratifiedKFold(folds, shuffle=True, random_state=seed)
    first, second = (cross_val_score(model, x, y, cv=split, scoring=metric) for model in models(seed))
    gaps = first - second
    t = float(gaps.mean() / (gaps.std(ddof=1) / np.sqrt(folds) + 1e-3))
    return ("linear" if t > 0 else "tree") if abs(t) >= SURE else None, abs(t)


def evidence():
    """Return the evidence table of all draws: what every view says, and the winner by accuracy on unseen rows."""
    x, y = load_breast_cancer(return_X_y=True)
    items, truth = {}, {}
    for seed in range(ITEMS):
        order = np.random.default_rng(seed).permutation(len(y))
        shown, unseen = order[:SHOWN], order[SHOWN:]
        items[f"draw {seed}"] = (x[shown], y[shown], seed)
        score = get_scorer("accuracy")
        first, second = (score(model.fit(x[shown], y[shown]), x[unseen], y[unseen]) for model in models(seed))
        truth[f"draw {seed}"] = "linear" if first >= second else "tree"
    views = {f"{metric}, {folds} folds": (folds, metric) for metric in METRICS for folds in FOLDS}
    return build_evidence(tabulate(verifier, items, views), truth=truth)


def groups() -> dict[str, tuple[str, ...]]:
    """Return the views that must agree: all fold counts of one metric."""
    return {metric: tuple(f"{metric}, {folds} folds" for folds in FOLDS) for metric in METRICS}


def main() -> None:
    """Audit the card and print what choosing the view can do."""
    audit = audit_evidence(evidence(), rng=np.random.default_rng(0), groups=groups())
    print(f"views disagree on {audit.flippable.n_events} of {audit.flippable.n_units} draws")
    for one in audit.policies:
        print(f"{one.name:32} wrong {one.wrong.estimate:6.1%}   decides {one.coverage.estimate:6.1%}")
    print(f"agreement rule that helps: {audit.helps}")


if __name__ == "__main__":
    main()
