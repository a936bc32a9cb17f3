"""Real processes, really killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from counterproof.core.errors import LockedLedgerError
from counterproof.store import Ledger
from tests.store import workload

PROGRAM = Path(workload.__file__)


def program(*args: object) -> list[str]:
    return [sys.executable, str(PROGRAM), *map(str, args)]


def output(*args: object) -> str:
    environment = {**os.environ, "PYTHONPATH": str(PROGRAM.parents[2])}
    done = subprocess.run(program(*args), capture_output=True, text=True, timeout=300, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.slow
def test_killed_at_every_durable_step_it_resumes_to_the_same_root(tmp_path: Path) -> None:
    # Two groups of three batches, a compaction and a freeze: each batch is two writes and a sync, at least.
    assert int(output(tmp_path, 6, "each-step")) > 6 * 3


def test_four_kills_from_outside_lose_no_acknowledged_row(tmp_path: Path) -> None:
    items = 600
    undisturbed = workload.run(tmp_path / "undisturbed", items)
    folder = tmp_path / "killed"
    told: set[tuple[str, int]] = set()
    for kill in range(4):
        child = subprocess.Popen(program(folder, items), stdout=subprocess.DEVNULL)
        wanted = len(told) + 150
        deadline = time.monotonic() + 60
        while len(workload.acknowledged(folder)) < wanted and time.monotonic() < deadline:
            time.sleep(0.002)
        child.send_signal(signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL, f"kill {kill} came too late"
        told = workload.acknowledged(folder)
        kept = {(row.item, row.seq) for row in Ledger.open(folder).rows(workload.STAGE)}
        assert told <= kept
    assert workload.run(folder, items) == undisturbed
    assert Ledger.open(folder).verify() == ()


def test_full_disk_says_that_acknowledged_rows_are_safe_and_the_run_goes_on_later(tmp_path: Path) -> None:
    items = 60
    undisturbed = workload.run(tmp_path / "undisturbed", items)
    folder = tmp_path / "full"
    said = output(folder, items, "full", 7000)
    assert "could not be recorded: File too large; every row acknowledged before is safe" in said
    kept = {(row.item, row.seq) for row in Ledger.open(folder).rows(workload.STAGE)}
    assert workload.acknowledged(folder) <= kept
    assert 0 < len(kept) < items * 3
    assert workload.run(folder, items) == undisturbed


def test_second_writer_is_refused_with_the_process_that_holds_it(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path, workload.PLAN, workload.SOURCE)
    with ledger.writer("audit"):
        with pytest.raises(LockedLedgerError, match=f"process {os.getpid()} is writing"), ledger.writer("audit"):
            pass
        code = (
            "import sys; from tests.store import workload; from pathlib import Path; workload.run(Path(sys.argv[1]), 1)"
        )
        other = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)],
            capture_output=True,
            text=True,
            cwd=PROGRAM.parents[2],
            check=False,
        )
        assert "LockedLedgerError" in other.stderr
        assert str(os.getpid()) in other.stderr
    with ledger.writer("audit"):
        pass


def test_forked_worker_that_outlives_the_writer_does_not_keep_the_lock(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys, time\n"
        "from pathlib import Path\n"
        "from counterproof.store import Ledger\n"
        "from tests.store import workload\n"
        "with Ledger.create(Path(sys.argv[1]), workload.PLAN, workload.SOURCE).writer('audit'):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        time.sleep(60)\n"
        "        os._exit(0)\n"
        "    os.write(1, str(child).encode())\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    with open(tmp_path / "pid", "w+") as pid:
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "run")], stdout=pid, cwd=PROGRAM.parents[2], check=False
        )
        pid.seek(0)
        worker = int(pid.read())
    try:
        os.kill(worker, 0)
        deadline = time.monotonic() + 10
        while True:
            try:
                with Ledger.open(tmp_path / "run").writer("audit"):
                    break
            except LockedLedgerError:
                assert time.monotonic() < deadline
                time.sleep(0.01)
    finally:
        os.kill(worker, signal.SIGKILL)
