"""What crowd-kit's Dawid-Skene and Snorkel's LabelModel make of verdicts; it runs in the rivals' environment.

    .venv-rivals/bin/python benchmarks/rivals/aggregate.py jobs.npz answers.npz

A job i is `i/symbols` (N, K), class codes with all others (failed, never asked) below 0, and `i/prior` (C), the class
shares of calibration, which LabelModel is given. An answer is `i/crowdkit` and `i/snorkel`, probabilities (N, C), and
`i/steps`, those that crowd-kit took. Items without any verdict, which it drops, keep the prior. LabelModel needs three
channels; below that it has no answer.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

EPOCHS = 200
ITERATIONS = 50


def crowdkit(symbols: Any, prior: Any) -> Any:
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    task, worker = np.nonzero(symbols >= 0)
    table = pd.DataFrame({"task": task, "worker": worker, "label": symbols[task, worker]})
    model = DawidSkene(n_iter=ITERATIONS, tol=0).fit(table)
    found = model.probas_
    answer = np.tile(prior, (len(symbols), 1))
    answer[found.index.to_numpy()] = found.reindex(columns=range(len(prior)), fill_value=0.0).to_numpy()
    return answer, len(model.loss_history_)


def snorkel(symbols: Any, prior: Any) -> Any:
    import torch
    from snorkel.labeling.model import LabelModel

    torch.set_num_threads(1)
    model = LabelModel(cardinality=len(prior), verbose=False)
    model.fit(L_train=symbols, n_epochs=EPOCHS, seed=0, class_balance=prior.tolist(), progress_bar=False)
    return model.predict_proba(symbols)


def main() -> None:
    jobs = np.load(sys.argv[1])
    answers = {}
    for i in range(len([name for name in jobs.files if name.endswith("/symbols")])):
        symbols, prior = jobs[f"{i}/symbols"].astype(int), jobs[f"{i}/prior"]
        answers[f"{i}/crowdkit"], answers[f"{i}/steps"] = crowdkit(symbols, prior)
        if symbols.shape[1] > 2:
            answers[f"{i}/snorkel"] = snorkel(symbols, prior)
    np.savez(sys.argv[2], **answers)


if __name__ == "__main__":
    main()
