"""Write `docs/results/equations.md` from simulations and the fields beside the checkout; no network is used."""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from studies.equations_results.page import page
from studies.equations_results.runs import FIELDS, run_all

REPOSITORY = Path(__file__).resolve().parents[2]


def main() -> int:
    """Run the studies and write the page; 3 when the data are not there."""
    parser = argparse.ArgumentParser(prog="python -m studies.equations_results", description=__doc__)
    beside = os.environ.get("COUNTERPROOF_SHARED_DATA", REPOSITORY.parent / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(beside), help="folder of real data sets")
    parser.add_argument("--out", type=Path, default=REPOSITORY / "docs" / "results" / "equations.md", help="the page")
    given = parser.parse_args()
    missing = [file for file in FIELDS.values() if not (given.data / file).is_file()]
    if missing:
        print(f"{given.data} lacks {', '.join(missing)}; COUNTERPROOF_SHARED_DATA or --data names the folder")
        return 3
    with tempfile.TemporaryDirectory(prefix="equations-results-") as work:
        text = page(run_all(given.data, Path(work)))
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(text, encoding="utf-8")
    print(f"wrote {given.out}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
