"""Live panels: failures and time-outs of real callables, allotted budgets, kills that cost nothing, labels last."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from counterproof.core.errors import InputError, LedgerError, PlanError
from counterproof.panel.episode import LiveVerdict, Reading
from counterproof.panel.policy import Action, Move, PolicyTable
from counterproof.panel.rules import Keep, VoteRule, exact_stop_policy, majority_policy
from counterproof.panel.table import Channel, FailureKind
from counterproof.store import Ledger
from counterproof.study.panel_live import LiveSettings, run_live, score_live

CHANNELS = tuple(Channel(name) for name in "abc")
STOP = exact_stop_policy(CHANNELS, ("no", "yes"), VoteRule((0, 1, 2)), Keep.LABEL)
ALL = majority_policy(CHANNELS, ("no", "yes"), VoteRule((0, 1, 2), threshold=0.6))
ITEMS = [(f"i{n:02d}", n) for n in range(12)]


class Judges:
    """Three judges that count their calls: a says whether a number is odd, b fails on every third, c times out late."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[str, int]] = Counter()
        self._lock = threading.Lock()

    def _count(self, name: str, number: int) -> None:
        with self._lock:
            self.calls[name, number] += 1

    def a(self, number: int) -> bool:
        self._count("a", number)
        return number % 2 == 1

    def b(self, number: int) -> float:
        self._count("b", number)
        if number % 3 == 0:
            raise ConnectionError("down")
        return float(number % 2)

    def c(self, number: int) -> object:
        self._count("c", number)
        if number >= 9:
            raise TimeoutError("too slow")
        return {"score": number % 2}

    @property
    def bound(self) -> dict[str, Callable[[Any], object]]:
        return {"a": self.a, "b": self.b, "c": self.c}


def test_every_item_ends_as_its_verdicts_say(tmp_path: Path) -> None:
    judges = Judges()
    ended = run_live(STOP, ITEMS, judges.bound, tmp_path / "run")
    assert list(ended) == [key for key, _ in ITEMS]
    # b fails on 0, 3, 6, 9; only then is c asked, and c times out on 9.
    assert ended["i01"] == LiveVerdict((1, 1, -1), (-1, -1, -1), 1, True, 1.0, 2.0, "policy")
    assert ended["i03"].symbols == (1, 2, 1)
    assert ended["i03"].kinds == (-1, FailureKind.UNAVAILABLE, -1)
    assert ended["i09"].symbols == (1, 2, 2)
    assert ended["i09"].kinds == (-1, FailureKind.UNAVAILABLE, FailureKind.TIMED_OUT)
    assert ended["i09"].cost == 3.0
    assert judges.calls.total() == 2 * 12 + 4
    assert set(judges.calls.values()) == {1}


def test_failed_calls_lower_agreement_and_are_paid(tmp_path: Path) -> None:
    ended = run_live(ALL, ITEMS, Judges().bound, tmp_path / "run")
    assert [key for key, one in ended.items() if not one.accepted] == ["i09"]  # one vote of three
    assert {one.cost for one in ended.values()} == {3.0}


def test_a_second_run_of_the_same_command_calls_nobody(tmp_path: Path) -> None:
    judges = Judges()
    first = run_live(STOP, ITEMS, judges.bound, tmp_path / "run")
    before = judges.calls.total()
    assert run_live(STOP, ITEMS, judges.bound, tmp_path / "run") == first
    assert judges.calls.total() == before


def test_threads_give_what_one_thread_gives(tmp_path: Path) -> None:
    one = run_live(STOP, ITEMS, Judges().bound, tmp_path / "one")
    judges = Judges()
    four = run_live(STOP, ITEMS, judges.bound, tmp_path / "four", LiveSettings(concurrency=4))
    assert four == one
    assert set(judges.calls.values()) == {1}


def test_calls_wait_for_each_other_only_within_an_item(tmp_path: Path) -> None:
    """Both threads are inside a call at once, or the barrier breaks."""
    barrier = threading.Barrier(2, timeout=20)

    def meets(number: int) -> bool:
        barrier.wait()
        return True

    policy = majority_policy(CHANNELS[:1], ("no", "yes"), VoteRule((0,), threshold=1.0))
    items = [(f"{n}", n) for n in range(16)]  # two batches of eight, one a thread
    ended = run_live(policy, items, {"a": meets}, tmp_path / "run", LiveSettings(concurrency=2))
    assert {one.label for one in ended.values()} == {1}


def test_a_budget_is_allotted_in_plan_order(tmp_path: Path) -> None:
    judges = Judges()
    ended = run_live(STOP, ITEMS, judges.bound, tmp_path / "run", LiveSettings(budget=8.0))
    # Three a piece for i00 and i01, two for i02, nothing for the rest; i02 needs no more than two.
    assert [one.stopped for one in ended.values()] == ["policy"] * 3 + ["budget"] * 9
    assert [one.cost for one in ended.values()] == [3.0, 2.0, 2.0] + [0.0] * 9
    assert all(one.label == -1 and not one.accepted for one in list(ended.values())[3:])
    assert judges.calls.total() == 7


def test_scores_are_read_as_declared(tmp_path: Path) -> None:
    policy = majority_policy(CHANNELS[:1], ("no", "yes"), VoteRule((0,), threshold=1.0))
    settings = LiveSettings({"a": Reading(0.8)})
    ended = run_live(policy, [("x", 0.79), ("y", 0.8)], {"a": float}, tmp_path / "run", settings)
    assert [one.label for one in ended.values()] == [0, 1]
    with pytest.raises(PlanError):
        run_live(policy, [("x", 0.79), ("y", 0.8)], {"a": float}, tmp_path / "run")


def test_three_classes_are_read_by_their_codes(tmp_path: Path) -> None:
    policy = majority_policy(CHANNELS[:1], ("bad", "fair", "good"), VoteRule((0,), threshold=1.0))
    ended = run_live(policy, [("x", 2), ("y", 0), ("z", 3)], {"a": float}, tmp_path / "run")
    assert [one.symbols for one in ended.values()] == [(2,), (0,), (3,)]
    assert ended["z"].kinds == (FailureKind.MALFORMED,)


@pytest.mark.parametrize("settings", [LiveSettings(seed=1), LiveSettings(budget=5.0)])
def test_a_folder_keeps_to_its_settings_and_items(tmp_path: Path, settings: LiveSettings) -> None:
    run_live(STOP, ITEMS, Judges().bound, tmp_path / "run")
    with pytest.raises(PlanError):
        run_live(STOP, ITEMS, Judges().bound, tmp_path / "run", settings)
    with pytest.raises(PlanError):
        run_live(STOP, [*ITEMS[1:], ("other", 0)], Judges().bound, tmp_path / "run")


def test_missing_channels_and_repeated_keys_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="without a verifier: b, c"):
        run_live(STOP, ITEMS, {"a": bool}, tmp_path / "run")
    with pytest.raises(InputError, match="repeat"):
        run_live(STOP, [("x", 1), ("x", 2)], Judges().bound, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def interrupted(out: Path, judges: Judges, after: int) -> None:
    """Run until a judge was called so often, then stop as Ctrl-C does."""

    def stopping(channel: Callable[[Any], object]) -> Callable[[Any], object]:
        def call(number: int) -> object:
            if judges.calls.total() >= after:
                raise KeyboardInterrupt
            return channel(number)

        return call

    with pytest.raises(KeyboardInterrupt):
        run_live(STOP, ITEMS, {name: stopping(call) for name, call in judges.bound.items()}, out)


@pytest.mark.parametrize("after", [8, 16, 24])
def test_after_ctrl_c_no_recorded_call_is_paid_again(tmp_path: Path, after: int) -> None:
    """The first batch has eight calls; what was recorded when the run stopped is known to the call."""
    judges = Judges()
    interrupted(tmp_path / "run", judges, after)
    recorded = sum(row.kind == "event" for row in Ledger.open(tmp_path / "run").rows("calls"))
    assert recorded <= judges.calls.total()
    again = Judges()
    ended = run_live(STOP, ITEMS, again.bound, tmp_path / "run")
    assert again.calls.total() == 28 - recorded
    assert ended == run_live(STOP, ITEMS, Judges().bound, tmp_path / "whole")


SLOW = """
import sys, time
from pathlib import Path
from tests.study.test_panel_live import ITEMS, STOP, Judges
from counterproof.study.panel_live import run_live

log, judges = Path(sys.argv[2]), Judges()

def logged(name, channel):
    def call(number):
        with log.open("a") as out:
            out.write(f"{name} {number}\\n")
        time.sleep(float(sys.argv[3]))
        return channel(number)
    return call

run_live(STOP, ITEMS, {name: logged(name, call) for name, call in judges.bound.items()}, Path(sys.argv[1]))
"""


def test_after_kill_9_at_most_the_batch_in_progress_is_paid_again(tmp_path: Path, repository: Path) -> None:
    """Killed inside the second batch: of 28 calls those of the first are paid once, and the results are the same."""
    log, out = tmp_path / "calls.txt", tmp_path / "run"

    def start(pause: str) -> subprocess.Popen[bytes]:
        environment = os.environ | {"PYTHONPATH": f"{repository / 'src'}{os.pathsep}{repository}"}
        command = [sys.executable, "-c", SLOW, str(out), str(log), pause]
        return subprocess.Popen(command, env=environment, cwd=tmp_path)

    def made() -> list[str]:
        return log.read_text().splitlines() if log.exists() else []

    process = start("0.05")
    deadline = time.monotonic() + 60
    while len(made()) < 10 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    before = made()
    recorded = sum(row.kind == "event" for row in Ledger.open(out).rows("calls"))
    assert 8 <= recorded < len(before)
    assert start("0").wait() == 0
    assert len(made()) == len(before) + 28 - recorded
    assert max(Counter(made()).values()) == 2  # only those in flight
    run_live(STOP, ITEMS, Judges().bound, tmp_path / "whole")
    assert list(Ledger.open(out).results("calls")) == list(Ledger.open(tmp_path / "whole").results("calls"))


LABELS = {key: "yes" if number % 2 else "no" for key, number in ITEMS}


def test_labels_join_a_frozen_run(tmp_path: Path) -> None:
    run_live(ALL, ITEMS, Judges().bound, tmp_path / "run")
    scores = score_live(tmp_path / "run", LABELS)
    assert scores.balanced_accuracy == 1.0  # i09 abstains, and its forced label is right
    assert scores.coverage == pytest.approx(11 / 12)
    assert (scores.mean_calls, scores.mean_cost) == (3.0, 3.0)
    ledger = Ledger.open(tmp_path / "run")
    labels = ledger.manifest.stage("labels")
    assert labels is not None
    assert labels.after == (ledger.root("calls"),)
    assert ledger.verify() == ()


def test_what_a_budget_stopped_is_abstained_and_a_coin(tmp_path: Path) -> None:
    run_live(STOP, ITEMS, Judges().bound, tmp_path / "run", LiveSettings(budget=8.0))
    scores = score_live(tmp_path / "run", LABELS)
    assert scores.coverage == pytest.approx(3 / 12)
    # Two of six even and one of six odd numbers are right, the rest are coins.
    assert scores.balanced_accuracy == pytest.approx(((2 + 4 / 2) / 6 + (1 + 5 / 2) / 6) / 2)


def test_no_label_meets_a_run_that_can_still_call(tmp_path: Path) -> None:
    interrupted(tmp_path / "run", Judges(), 8)
    with pytest.raises(LedgerError, match="not frozen"):
        score_live(tmp_path / "run", LABELS)


def test_labels_are_joined_once(tmp_path: Path) -> None:
    run_live(STOP, ITEMS, Judges().bound, tmp_path / "run")
    root = Ledger.open(tmp_path / "run").root("calls")
    first = score_live(tmp_path / "run", LABELS)
    assert score_live(tmp_path / "run", LABELS) == first
    with pytest.raises(InputError, match="other labels"):
        score_live(tmp_path / "run", {**LABELS, "i00": "yes"})
    assert Ledger.open(tmp_path / "run").root("calls") == root


def test_labels_that_do_not_fit_are_named_together(tmp_path: Path) -> None:
    run_live(STOP, ITEMS, Judges().bound, tmp_path / "run")
    with pytest.raises(InputError) as caught:
        score_live(tmp_path / "run", {"i0": "no", "i01": "Yes"})
    assert [problem.where for problem in caught.value.problems] == ["i0", "i01"]


def test_unlabelled_items_are_left_out(tmp_path: Path) -> None:
    run_live(STOP, ITEMS, Judges().bound, tmp_path / "run")
    scores = score_live(tmp_path / "run", {"i01": "yes", "i02": "no"})
    assert (scores.items, scores.unlabelled) == (2.0, 10)


def test_a_policy_that_asks_nobody_spends_nothing(tmp_path: Path) -> None:
    nobody = PolicyTable("none", ("a",), (1.0,), ("no", "yes"), {(-1,): Action(Move.ABSTAIN, label=0, confidence=0.5)})
    ended = run_live(nobody, ITEMS, {"a": bool}, tmp_path / "run", LiveSettings(budget=1.0))
    assert {(one.label, one.cost, one.stopped) for one in ended.values()} == {(0, 0.0, "policy")}
