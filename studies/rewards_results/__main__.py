"""Write `docs/results/rewards.md` from the real data sets beside the checkout; no network is used."""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from studies.rewards_results.page import page
from studies.rewards_results.sources import SOURCES, run_all

REPOSITORY = Path(__file__).resolve().parents[2]


def main() -> int:
    """Run the study and write its page; 3 when the data are not there."""
    parser = argparse.ArgumentParser(prog="python -m studies.rewards_results", description=__doc__)
    beside = os.environ.get("COUNTERPROOF_SHARED_DATA", REPOSITORY.parent / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(beside), help="folder of real data sets")
    parser.add_argument("--out", type=Path, default=REPOSITORY / "docs" / "results" / "rewards.md", help="the page")
    parser.add_argument("--processes", type=int, default=2, help="sources audited at a time")
    given = parser.parse_args()
    missing = [one.file for one in SOURCES if not (given.data / one.file).is_file()]
    if missing:
        print(f"{given.data} lacks {', '.join(missing)}; COUNTERPROOF_SHARED_DATA or --data names the folder")
        return 3
    with tempfile.TemporaryDirectory(prefix="rewards-results-") as work:
        text = page(run_all(given.data, Path(work), given.processes))
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(text, encoding="utf-8")
    print(f"wrote {given.out}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
