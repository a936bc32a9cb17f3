"""What the reference reward does on the scripted agent's trajectories over real questions, against closed forms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from counterproof.adapters import open_pool
from counterproof.core.outcomes import Scored
from counterproof.core.records import Corpus, Trajectory
from counterproof.core.seeds import ItemSeed
from counterproof.rewards.cells import Setup, set_up
from counterproof.rewards.checks import control_of
from counterproof.rewards.edits import EditContext
from counterproof.rewards.episode import AuditContext, AuditEpisode
from counterproof.rewards.reference import citation_f1, full
from counterproof.rewards.repair import repair_of
from counterproof.rewards.selection import Selector
from counterproof.rewards.tally import Tally
from counterproof.rewards.units import Unit
from counterproof.study.pools import build_pool
from counterproof.study.rewards import AuditConfig, audit, edit_context
from tests.rewards.records import of_reward, unit_of

pytestmark = [pytest.mark.shared_data, pytest.mark.slow]

FLAG = 0.55 / 7
EXACT = 1e-9
POOLS = {
    "hotpotqa": ("retrieval_qa/hotpotqa/dev200.jsonl.gz", 5),
    "2wikimultihopqa": ("retrieval_qa/2wikimultihopqa/dev164.jsonl.gz", 5),
    "musique": ("retrieval_qa/musique/dev200.jsonl.gz", 8),
}
SWEEP = (0.0, 0.5, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.5, 2.0)


@dataclass(frozen=True)
class Row:
    """One isolated candidate under the reference reward, with what the closed forms need."""

    edit: str
    original: Trajectory
    edited: Trajectory
    before: frozenset[str]
    after: frozenset[str]
    margin: float
    strict: bool

    @property
    def gain(self) -> float:
        support = self.original.support_ids
        return citation_f1(self.edited.cited, support) - citation_f1(self.original.cited, support)

    @property
    def sizes(self) -> int:
        return len(self.original.cited) + len(self.original.support_ids)

    @property
    def success(self) -> bool:
        return self.margin <= EXACT


@dataclass(frozen=True)
class Audited:
    folder: Path
    setup: Setup
    corpus: Corpus
    context: EditContext
    records: tuple[Trajectory, ...]
    units: tuple[Unit, ...]
    rows: tuple[Row, ...]

    def of(self, edit: str) -> list[Row]:
        found = [one for one in self.rows if one.edit == edit]
        assert len(found) > 300
        return found

    def tally(self, reward: str) -> Tally:
        judge = of_reward(reward, self.corpus)
        return Tally(self.setup).add_all(unit_of(one, judge, self.setup, self.context) for one in self.records)


@pytest.fixture(scope="module", params=POOLS)
def pool(request: pytest.FixtureRequest, shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Audited:
    file, depth = POOLS[request.param]
    if not (shared_data / file).is_file():
        pytest.skip(f"real data needed: {shared_data / file} is missing")
    folder = tmp_path_factory.mktemp("pools") / request.param
    build_pool(shared_data / file, folder, samples=3, depth=depth, seed=1)
    reader = open_pool(folder)
    setup = set_up(reader.traits)
    context = edit_context(reader, setup)
    records = tuple(reader.trajectories())
    judge = of_reward("reference", reader.corpus)
    units = tuple(unit_of(one, judge, setup, context) for one in records)
    rows = tuple(
        row for record, unit in zip(records, units, strict=True) for row in rows_of(record, unit, setup, context)
    )
    return Audited(folder, setup, reader.corpus, context, records, units, rows)


def rows_of(record: Trajectory, unit: Unit, setup: Setup, context: EditContext) -> Iterator[Row]:
    def names(bits: int) -> frozenset[str]:
        return frozenset(one.name for bit, one in enumerate(setup.detectors) if bits >> bit & 1)

    state = AuditEpisode().start(record, AuditContext(setup, context), ItemSeed(0, "x"))
    base, *others = unit.outcomes
    for candidate, call, outcome in zip(unit.candidates, state.request.calls[1:], others, strict=True):
        assert isinstance(base, Scored)
        assert isinstance(outcome, Scored)
        yield Row(
            setup.edits[candidate.edit].name,
            record,
            call.record,
            names(unit.flags),
            names(candidate.flags),
            base.score - outcome.score,
            candidate.strict,
        )


def test_fake_ids_never_succeed_and_cost_a_flag_at_least(pool: Audited) -> None:
    margins = [one.margin for one in pool.of("fake_id")]
    assert min(margins) == pytest.approx(FLAG, abs=EXACT)
    for one in pool.of("fake_id"):
        clean = "support_mismatch" not in one.before
        assert one.margin == pytest.approx(FLAG * (1 + clean) - 0.5 * one.gain, abs=EXACT)


def test_laundering_succeeds_where_it_raises_grounding(pool: Audited) -> None:
    found = pool.of("launder")
    assert sum(one.success for one in found) > 50
    for one in found:
        cleared = ("support_mismatch" in one.before) - ("support_mismatch" in one.after)
        assert one.margin == pytest.approx(FLAG * (1 - cleared) - 0.5 * one.gain, abs=EXACT)
        assert one.gain <= 0 or 0.5 * one.gain <= 1 / one.sizes + EXACT
        if len(one.original.citations) == len(one.original.cited):
            assert one.success == (one.gain > 0)
        else:  # one id is cited twice: a gain may be too small to pay for the flag
            assert one.gain > 0 or not one.success


def test_deleted_evidence_succeeds_where_its_searches_pay_for_the_flags(pool: Audited) -> None:
    for one in pool.of("same_final"):
        t = len(one.original.steps.searches)
        repeat, over = "repeated_query" in one.before, "over_retrieval" in one.before
        both = "L" in one.after
        assert one.margin == pytest.approx(FLAG * (1 + both - repeat - over) - 0.02 * t, abs=EXACT)
        if both:
            assert one.success == (t >= 6 or (t >= 4 and repeat))
            assert not (one.success and one.strict)
        else:
            assert one.success == (t >= 4 or repeat)
            assert (one.success and one.strict) == (t >= 4 and not repeat and not over)


def test_quarter_of_the_published_weight_leaks_and_half_does_not(pool: Audited) -> None:
    worst = min(one.margin for one in pool.of("launder"))
    largest = max(1 / one.sizes for one in pool.of("launder") if one.success)
    # The scripted agent often cites one wrong passage; two support passages are the fewest: 1/(1 + 2).
    assert worst == pytest.approx(-largest, abs=EXACT)
    assert largest == pytest.approx(1 / 3)
    assert worst + 0.25 * 1.2 <= EXACT
    assert worst + 0.5 * 1.2 > EXACT


def test_penalty_on_laundering_is_the_unique_minimal_repair_where_a_passage_is_cited(pool: Audited) -> None:
    cited = [
        unit for one, unit in zip(pool.records, pool.units, strict=True) if any(c in pool.corpus for c in one.citations)
    ]
    tally = Tally(pool.setup).add_all(cited)
    repair = repair_of(tally)
    assert repair.cells == ("same_final{UL}", "fake_id", "launder/lexical@8", "launder/bm25@16")
    assert [tally.lattice.label(one) for one in repair.minimal] == ["{L}"]
    needs = {one.detector: one for one in repair.needs}
    assert needs["L"].weight == pytest.approx(1 / 3 + 1e-6, abs=EXACT)
    assert needs["L"].binding == "launder"


def test_uncited_answers_make_the_minimal_repair_u_and_l(pool: Audited) -> None:
    tally = Tally(pool.setup).add_all(pool.units)
    repair = repair_of(tally)
    uncited = [one for one in pool.of("same_final") if "L" not in one.after]
    assert any(one.success for one in uncited)
    assert [tally.lattice.label(one) for one in repair.minimal] == ["{U,L}"]
    only_l = dict(zip(repair.cells, repair.fooled[0b010], strict=True))
    assert only_l == dict.fromkeys(repair.cells, 0) | {"same_final{U}": sum(one.success for one in uncited)}


def test_repaired_rewards_keep_what_the_lattice_promises(pool: Audited) -> None:
    promised = repair_of(Tally(pool.setup).add_all(pool.units))
    for subset, reward in ((0b010, "reference+L"), (0b011, "reference+U+L")):
        again = repair_of(pool.tally(reward))
        assert again.fooled[0] == promised.fooled[subset]
    assert pool.tally("reference+L").groups["launder", (0, 1, 0)] > 0.5


def test_full_repair_leaks_from_the_predicted_mismatch_weight_on(pool: Audited) -> None:
    one_wrong = [one for one in pool.of("launder") if {"support_mismatch"} <= one.before - one.after]
    assert len(one_wrong) > 20
    for w in SWEEP:
        reward = full(w)
        for one in one_wrong:
            before, after = (reward(record, pool.corpus) for record in (one.original, one.edited))
            assert isinstance(before, Scored)
            assert isinstance(after, Scored)
            assert (before.score - after.score <= EXACT) == (w >= 1.2 - 1 / one.sizes - EXACT)


def test_oracle_success_does_not_fall_with_the_budget(pool: Audited) -> None:
    tally = Tally(pool.setup).add_all(pool.units)
    fooled = {
        one.cell.budget: int(tally.fooled.table()[:, i].sum())
        for i, one in enumerate(tally.columns)
        if (one.cell.generator, one.selector, one.strict, one.common) == ("bm25", Selector.ORACLE_WORST, False, False)
    }
    assert list(fooled) == [1, 2, 4, 8, 16]
    assert list(fooled.values()) == sorted(fooled.values())
    assert fooled[16] > 0


def test_controls_hold(pool: Audited) -> None:
    for name in ("constant", "oracle"):
        control = control_of(name, pool.tally(name))
        assert control.holds
        assert control.units > 1000


def test_whole_audit_counts_what_the_closed_forms_count(pool: Audited, tmp_path: Path) -> None:
    analysis = audit(AuditConfig(pool.folder, "reference", tmp_path / "run"))
    found = {one.subject: one.counts.get("fooled") for one in analysis.findings}
    same = pool.of("same_final")
    for name, both in (("same_final{U}", False), ("same_final{UL}", True)):
        assert found[f"{name}/oracle_worst"] == sum(one.success for one in same if ("L" in one.after) == both)
    assert found["fake_id/oracle_worst"] == 0
    assert found["launder/bm25@16/oracle_worst"]
    assert analysis.exit_code == 1
