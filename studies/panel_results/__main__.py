"""Write `docs/results/panel.md` from the fixture and the real tables beside the checkout; no network is used."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from studies.panel_results.page import page
from studies.panel_results.results import run_all
from studies.panel_results.sentiment import FILE
from studies.panel_results.sources import SOURCES

REPOSITORY = Path(__file__).resolve().parents[2]
RIVALS = REPOSITORY / ".venv-rivals" / "bin" / "python"


def main() -> int:
    """Run the study and write its page; 3 when the data are not there."""
    parser = argparse.ArgumentParser(prog="python -m studies.panel_results", description=__doc__)
    beside = os.environ.get("COUNTERPROOF_SHARED_DATA", REPOSITORY.parent / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(beside), help="folder of real data sets")
    parser.add_argument("--out", type=Path, default=REPOSITORY / "docs" / "results" / "panel.md", help="the page")
    parser.add_argument("--rivals", type=Path, default=RIVALS, help="Python of the rivals' environment")
    parser.add_argument("--processes", type=int, default=2, help="tables compared at a time")
    given = parser.parse_args()
    missing = [name for name in (*(one.file for one in SOURCES), FILE) if not (given.data / name).is_file()]
    if missing:
        print(f"{given.data} lacks {', '.join(missing)}; COUNTERPROOF_SHARED_DATA or --data names the folder")
        return 3
    python = given.rivals if given.rivals.is_file() else None
    if python is None:
        print("no rivals' environment (bash benchmarks/rivals/build.sh builds it): crowd-kit and Snorkel are left out")
    text = page(run_all(given.data, python, given.processes))
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(text, encoding="utf-8")
    print(f"wrote {given.out}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
