"""Audit a reward of your own from Python, and print what fools it and what repairs it."""

from pathlib import Path

from counterproof import AuditConfig, audit, publish
from counterproof.study.pools import build_pool

REWARD = '''
def well_cited(answer, gold_answers, citations, support_ids):
    """Pays a right answer, and citations of supporting passages, wherever they came from."""
    right = answer.strip().lower() in {gold.lower() for gold in gold_answers}
    good = len(set(citations) & support_ids) / max(1, len(set(citations)))
    return {"right": float(right), "support": 0.5 * good}
'''


def main() -> None:
    """Write the reward to a file, make a pool, audit, and look at the findings."""
    Path("rewards.py").write_text(REWARD, encoding="utf-8")
    pool = Path("pool")
    build_pool(None, pool, limit=20, samples=4)
    analysis = audit(AuditConfig(rollouts=pool, reward="rewards.py:well_cited", out=Path("run")))
    print(publish(Path("run"), analysis))
    for finding in analysis.findings:
        print(f"{finding.code} {finding.subject}: {finding.title} -> {finding.estimate}")


if __name__ == "__main__":
    main()
