"""Dawid-Skene row by row and call by call, as slow and as plain as it can be written."""

from collections.abc import Sequence
from math import exp, log

FLOOR = 1e-10


def row_em(
    rows: Sequence[Sequence[int]], classes: int, iterations: int, *, failures: bool
) -> tuple[list[list[float]], list[float]]:
    """Posteriors of every row, and the log-likelihood at each E-step.

    Every class must get a vote somewhere, and every row a verdict.
    """
    last = classes if failures else classes - 1
    calls = [[(j, v) for j, v in enumerate(row) if 0 <= v <= last] for row in rows]
    said = sorted({call for row in calls for call in row})
    posterior = []
    for row in calls:
        votes = [sum(v == c for _, v in row) for c in range(classes)]
        posterior.append([n / sum(votes) for n in votes])
    history = []
    for _ in range(iterations):
        prior = [max(sum(q[c] for q in posterior) / len(rows), FLOOR) for c in range(classes)]
        theta: dict[tuple[int, int], list[float]] = {}
        for call in said:
            mine = [q for row, q in zip(calls, posterior, strict=True) if call in row]
            theta[call] = [max(sum(q[c] for q in mine), FLOOR) for c in range(classes)]
        totals = {j: [sum(theta[s][c] for s in said if s[0] == j) for c in range(classes)] for j, _ in said}
        theta = {call: [n / t for n, t in zip(theta[call], totals[call[0]], strict=True)] for call in said}
        posterior, total = [], 0.0
        for row in calls:
            logs = [log(prior[c]) + sum(log(theta[call][c]) for call in row) for c in range(classes)]
            top = max(logs)
            mass = sum(exp(x - top) for x in logs)
            posterior.append([exp(x - top) / mass for x in logs])
            total += top + log(mass)
        history.append(total)
    return posterior, history
