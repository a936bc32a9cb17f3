"""An audit with its ledger against a plain loop that makes the same edited records and the same calls.

    python benchmarks/audit.py [--questions 200] [--samples 50] [--pairs 5]

10,000 trajectories; of each the original, the deletion of its searches, one fake id a citation, and launder candidates
of the lexical generator at K = 8: at most 8 candidates a trajectory, or 8 passages at every citation. The loop is
written out below: `dataclasses.replace`, the same rankings, the same reward object, outcomes kept in a list. Which
edited records are isolated is worked out beforehand by sets, apart from the audit: that count must be the driver's, the
ledger's and the loop's, and the scores must be equal one by one. Runs alternate; what is printed are medians over
adjacent pairs. Aim: at most 1.3.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import pickle
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from material import Spent, Stage, audit_setup, in_process, make_pool, microseconds, ratio, spend

from counterproof.adapters import PoolReader
from counterproof.core.outcomes import unpack
from counterproof.core.plan import Plan
from counterproof.core.records import Corpus, Search, Steps, Trajectory
from counterproof.engines import Isolated, ProcessEngine, SerialEngine
from counterproof.isolation import Limits
from counterproof.rewards.analyse import Evidence, analyse
from counterproof.rewards.episode import AuditContext, Statelessness
from counterproof.rewards.ranking import Ranker
from counterproof.rewards.reference import built_in_reward
from counterproof.store import EVENT, Ledger
from counterproof.study.hosting import FACTORY, Recipe, build
from counterproof.study.rewards import edit_context, tally_of

PLAN = Plan("rewards", "question", ("reference",), (), 0, ("scores",))
TEXT_REWARD = '''
def reward(text, gold_answers):
    """Pay for a gold answer in the text, less a little for its length."""
    return {"hit": float(any(gold in text for gold in gold_answers)), "length": -1e-5 * len(text)}
'''


def replaced(record: Trajectory, position: int, new: str) -> Trajectory:
    """Return a record with one citation replaced, in the list and at its marker in the final message."""
    old = record.citations[position]
    marker, text = f"[{old}]", record.raw_final
    start = -1
    for _ in range(record.citations[: position + 1].count(old)):
        start = text.find(marker, start + 1)
        if start < 0:
            break
    if start >= 0:
        text = f"{text[:start]}[{new}]{text[start + len(marker) :]}"
    citations = (*record.citations[:position], new, *record.citations[position + 1 :])
    return dataclasses.replace(record, citations=citations, raw_final=text)


def edited(record: Trajectory, ranker: Ranker, most: int | None) -> Iterator[tuple[str, Trajectory]]:
    """Yield what each edit must break, and the edited record, in the order of an audit."""
    if record.steps.searches:
        steps = Steps(step for step in record.steps if type(step) is not Search)
        yield "same_final", dataclasses.replace(record, steps=steps)
    places = range(len(record.citations))
    for position in places:
        digest = hashlib.sha256(f"{record.trajectory_id}/{position}/0".encode()).hexdigest()[:12]
        yield "F", replaced(record, position, f"nonexistent-{digest}")
    if record.citations:
        made = 0
        for passage in ranker.rank(record.question, record.answer, record.retrieved, 8).passages:
            for position in places:
                if made == most:
                    return
                made += 1
                yield "L", replaced(record, position, passage)


def broken(record: Trajectory, corpus: Corpus) -> set[str]:
    """Return which of U, L, F a record breaks, by sets."""
    cited, known = set(record.citations), set(record.citations) & corpus.passages.keys()
    found = {"L"} if known - record.retrieved else set()
    if record.answer.strip() and not any(isinstance(step, Search) for step in record.steps):
        found.add("U")
    return found | ({"F"} if cited - known else set())


def isolated(record: Trajectory, corpus: Corpus, ranker: Ranker, most: int | None) -> list[bool]:
    """Return, for each edited record, whether it breaks just what its edit must break and was not broken before."""
    before = broken(record, corpus)
    chosen = []
    for targets, one in edited(record, ranker, most):
        wanted = {targets}
        if targets == "same_final":
            wanted = {"U", "L"} if any(cited in corpus for cited in record.citations) else {"U"}
        chosen.append(not wanted & before and broken(one, corpus) == before | wanted)
    return chosen


Work = list[tuple[Trajectory, list[bool]]]


def plain(work: Work, call: Callable[[Trajectory], Any], ranker: Ranker, most: int | None) -> list[Any]:
    """Build every edited record, call the verifier on the original and on the isolated ones, and keep what it said."""
    outcomes = []
    for record, chosen in work:
        outcomes.append(call(record))
        for isolates, (_, one) in zip(chosen, edited(record, ranker, most), strict=True):
            if isolates:
                outcomes.append(call(one))
    return outcomes


def check(ledger: Ledger, work: Work, outcomes: list[Any], calls: int) -> None:
    """Compare the calls of driver, ledger and loop with the count made apart from all, and every score."""
    expected = sum(1 + sum(chosen) for _, chosen in work)
    recorded = {row.item: unpack(row.payload) for row in ledger.rows("scores") if row.kind == EVENT}
    in_order = [outcome for record, _ in work for outcome in recorded[record.digest()]]
    assert calls == len(in_order) == len(outcomes) == expected, (calls, len(in_order), len(outcomes), expected)
    assert in_order == outcomes, "a call gave another outcome"


def compare(pool: PoolReader, records: list[Trajectory], folder: Path, most: int | None, pairs: int) -> None:
    setup = audit_setup(pool, most)
    stage = Stage(records, AuditContext(setup, edit_context(pool, setup)), PLAN, folder)
    ranker, corpus = stage.context.edits.rankers["lexical"], pool.corpus
    work = [(record, isolated(record, corpus, ranker, most)) for record in records]
    reward = built_in_reward("reference")
    call = partial(reward, corpus=corpus)

    def bare(record: Trajectory) -> Any:
        return reward.components(record, corpus)

    loop = partial(plain, work, call, ranker, most)
    ledger, calls = stage.run(in_process({"verifier": call}))
    check(ledger, work, loop(), calls)
    whole: list[tuple[Spent, Spent]] = []
    bares: list[tuple[Spent, Spent]] = []
    analysis: list[Spent] = []
    for _ in range(pairs):
        (ledger, again), ours = spend(lambda: stage.run(in_process({"verifier": call})))
        outcomes, theirs = spend(loop)
        assert again == len(outcomes) == calls
        _, least = spend(partial(plain, work, bare, ranker, most))
        _, after = spend(partial(analysed, ledger, setup, reward.name))
        whole.append((ours, theirs))
        bares.append((ours, least))
        analysis.append(after)
    print(f"{f'at most {most} candidates' if most else '8 passages a citation'}: {calls:,} calls, as counted apart")
    print(f"  audit, ledger and freeze {microseconds([a for a, _ in whole], calls)}")
    print(f"  plain loop               {microseconds([b for _, b in whole], calls)}")
    print(f"  ratio                    {ratio(whole)}")
    print(f"  against a loop that keeps the bare terms: {ratio(bares)}")
    print(f"  analysis (tally, findings): {statistics.median(one.wall for one in analysis):.2f} s")


def analysed(ledger: Ledger, setup: Any, name: str) -> Any:
    tally, _ = tally_of(ledger, "scores", setup, ())
    return analyse(PLAN, Evidence(tally, {}, {}, Statelessness((), ()), (), (), name))


def text_reward(pool: PoolReader, records: list[Trajectory], folder: Path, pairs: int) -> None:
    """Compare a reward that reads rendered text, in workers, with a loop that renders and calls it in process."""
    file = folder / "text_reward.py"
    file.write_text(TEXT_REWARD)
    setup = audit_setup(pool, 8)
    stage = Stage(records, AuditContext(setup, edit_context(pool, setup)), PLAN, folder)
    ranker = stage.context.edits.rankers["lexical"]
    work = [(record, isolated(record, pool.corpus, ranker, 8)) for record in records]
    space: dict[str, Any] = {}
    exec(TEXT_REWARD, space)
    render, function = pool.format.render, space["reward"]

    def rendered(record: Trajectory) -> Any:
        return function(render(record, pool.corpus), list(record.gold_answers))

    recipe = Recipe(f"{file}:reward", pool.format.name, pool.corpus)
    payload = pickle.dumps(recipe)
    makers: dict[str, Callable[[], Any]] = {
        "in process": lambda: in_process({"verifier": build(recipe)[1]}),
        "in one worker": lambda: SerialEngine(Isolated(FACTORY, payload, Limits())),
        "in two workers": lambda: ProcessEngine(lambda: Isolated(FACTORY, payload, Limits()), slots=2),
    }
    print("a text reward: rendering and the call, workers started anew in every run")
    for name, make in makers.items():
        both: list[tuple[Spent, Spent]] = []
        for _ in range(pairs):
            (_, calls), ours = spend(lambda: stage.run(make()))  # noqa: B023
            outcomes, theirs = spend(partial(plain, work, rendered, ranker, 8))
            assert calls == len(outcomes)
            both.append((ours, theirs))
        wall = statistics.median(a.wall / b.wall for a, b in both)
        us = statistics.median(a.wall for a, _ in both) / calls * 1e6
        loop = statistics.median(b.wall for _, b in both) / calls * 1e6
        print(f"  {name:15} {us:6.1f} us a call, plain loop {loop:.1f}: ratio {wall:.2f} by wall time")


def whole_command(pool: Path, folder: Path) -> None:
    """Time the command as a user runs it: every generator, every stage, analysis and reports."""
    command = [sys.executable, "-m", "counterproof", "rewards", "audit", "--rollouts", str(pool)]
    command += ["--reward", "reference", "--out", str(folder / "command")]
    done, spent = spend(partial(subprocess.run, command, capture_output=True, text=True, check=False))
    assert done.returncode in (0, 1, 2), done.stderr
    calls = sum(len(unpack(row.payload)) for row in Ledger.open(folder / "command").rows("scores") if row.kind == EVENT)
    print(f"the whole command, lexical@8 and bm25@16: {spent.wall:.1f} s, {calls:,} calls of the audited reward")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--samples", type=int, default=50)
    parser.add_argument("--pairs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pool = make_pool(folder / "pool", options.questions, options.samples)
        records = list(pool.trajectories())
        for most in (8, None):
            compare(pool, records, folder, most, options.pairs)
        text_reward(pool, records[:2000], folder, options.pairs)
        whole_command(folder / "pool", folder)


if __name__ == "__main__":
    main()
