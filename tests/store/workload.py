"""A small study that can be killed anywhere and run again; also a program, for the tests that kill it.

python workload.py FOLDER ITEMS              run, or resume, and print the root
python workload.py FOLDER ITEMS each-step    die at each durable step and again on resuming; print the steps
python workload.py FOLDER ITEMS full BYTES   run with a limit on the size of files, print what the ledger said
"""

import hashlib
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from counterproof.core.errors import LedgerError
from counterproof.core.plan import Plan
from counterproof.store import DONE, EVENT, Ledger, Note, Row, StageWriter

PLAN = Plan("rewards", "question", ("edit",), (), 7, ("audit", "confirm"))
SOURCE = {"reward": "ab" * 32}
STAGE = "audit"
EVENTS = 2


def item_key(number: int) -> str:
    return f"item-{number:04d}"


def transition(item: str, seq: int) -> Row:
    """The row that a deterministic episode of two requests writes at this point."""
    payload = hashlib.sha256(f"{item}/{seq}".encode()).digest() * 8
    if seq == EVENTS:
        return Row(item, seq, DONE, "", payload)
    return Row(item, seq, EVENT, hashlib.sha256(f"request {seq}".encode()).hexdigest(), payload)


def acknowledged(folder: Path) -> set[tuple[str, int]]:
    path = folder / "acknowledged"
    lines = path.read_text().splitlines() if path.exists() else []
    return {(item, int(seq)) for item, seq in map(str.split, lines)}


def run(folder: Path, items: int, group: int = 3) -> str:
    """Run what is left of the study; every acknowledged row is noted in a file beside the ledger."""
    ledger = Ledger.create(folder, PLAN, SOURCE)
    if ledger.is_frozen(STAGE):
        return ledger.root(STAGE)
    notebook = os.open(folder / "acknowledged", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        with ledger.writer(STAGE) as writer:
            for start in range(0, items, group):
                run_group(writer, [item_key(n) for n in range(start, min(start + group, items))], notebook)
                if start % (20 * group) == 0:
                    writer.compact()
            return writer.freeze()
    finally:
        os.close(notebook)


def run_group(writer: StageWriter, keys: list[str], notebook: int) -> None:
    for seq in range(EVENTS + 1):
        rows = [transition(key, seq) for key in keys if key not in writer.finished and len(writer.events(key)) <= seq]
        if rows:
            writer.append(rows)
            os.write(notebook, "".join(f"{row.item} {row.seq}\n" for row in rows).encode())
            writer.note([Note(row.item, row.seq, "seconds", 0.5) for row in rows])


def die_at(step: int) -> None:
    """Make this process kill itself in place of its `step`-th durable step; a write gets half done first."""
    left = [step]

    def dying(real: Callable[..., Any], writes: bool) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            left[0] -= 1
            if left[0] == 0:
                if writes and args[2] > 0:  # the mark at offset 0 fits into a sector, which is written whole or not
                    real(args[0], bytes(args[1])[: len(args[1]) // 2], args[2])
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **kwargs)

        return call

    for name in ("fsync", "replace", "unlink", "ftruncate", "pwrite"):
        setattr(os, name, dying(getattr(os, name), name == "pwrite"))


def each_step(folder: Path, items: int) -> int:
    """Kill the study at each of its durable steps and resume it; return the number of steps."""
    import duckdb  # noqa: F401 - loaded once, before the forks

    undisturbed = run(folder / "undisturbed", items)
    step = 0
    while True:
        step += 1
        run_folder = folder / str(step)
        if not dies(run_folder, items, step):
            return step - 1
        check_crashed(run_folder, step)
        if dies(run_folder, items, 1 + step % 11):  # in the recovery, or soon after
            check_crashed(run_folder, step)
        assert run(run_folder, items) == undisturbed, f"step {step}: another root"
        assert Ledger.open(run_folder).verify() == (), f"step {step}: not sound after the resume"


def dies(folder: Path, items: int, step: int) -> bool:
    """Run the study in a process that dies at its `step`-th durable step; return whether it got that far."""
    child = os.fork()
    if child == 0:
        die_at(step)
        run(folder, items)
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def check_crashed(folder: Path, step: int) -> None:
    told = acknowledged(folder)
    if not (folder / "ledger" / "manifest.json").exists():
        assert not told
        return
    ledger = Ledger.open(folder)
    assert ledger.verify() == (), f"step {step}: {ledger.verify()}"
    kept = {(row.item, row.seq) for row in ledger.rows(STAGE)} if ledger.stages() else set()
    assert told <= kept, f"step {step}: lost {told - kept}"


def lines_of_full_disk(folder: Path, items: int, size: int) -> Iterator[str]:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    try:
        yield run(folder, items)
    except LedgerError as error:
        yield str(error)


if __name__ == "__main__":
    where, count, how = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    if not how:
        print(run(where, count))
    elif how[0] == "each-step":
        print(each_step(where, count))
    else:
        print(*lines_of_full_disk(where, count, int(how[1])))
