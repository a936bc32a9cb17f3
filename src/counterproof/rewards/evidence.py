"""Evidence: an original beside its counterfactual, field by field, for the worst units of each attack."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from counterproof.core.analysis import Pair, PairField
from counterproof.core.episodes import Done, Event
from counterproof.core.errors import InputError
from counterproof.core.outcomes import Scored
from counterproof.core.records import Corpus, InvalidAction, Search, Trajectory
from counterproof.core.seeds import ItemSeed
from counterproof.rewards.cells import Setup
from counterproof.rewards.edits import EditContext
from counterproof.rewards.episode import AuditContext
from counterproof.rewards.tally import Example, Tally


def wanted(tally: Tally) -> dict[str, tuple[Example, ...]]:
    """Return the examples to build pairs of, by trajectory id; one that several attacks name is built once."""
    found: dict[str, dict[str, Example]] = {}
    for index in sorted(tally.examples):
        for example in tally.examples[index]:
            found.setdefault(example.trajectory_id, {}).setdefault(pair_key(tally.setup, example), example)
    return {trajectory: tuple(examples.values()) for trajectory, examples in found.items()}


def pair_key(setup: Setup, example: Example) -> str:
    """Return the key of an example's pair: trajectory, edit and candidate."""
    return f"{example.trajectory_id}/{setup.edits[example.edit].name}/{example.key}"


def pairs_of(record: Trajectory, examples: Iterable[Example], setup: Setup, context: EditContext) -> tuple[Pair, ...]:
    """Return the pairs of one trajectory, rebuilt from the record.

    Raises:
        InputError: The record no longer yields a candidate that was scored, so it is not the record of the run.
    """
    pairs = []
    for example in examples:
        one = setup.edits[example.edit]
        try:
            candidates = {candidate.key: candidate for candidate in one.make(one.view(record), context)}
        except (Exception, SystemExit) as error:  # noqa: BLE001 - an edit from outside is foreign code
            one.blame(record, error)
        if example.key not in candidates:
            raise InputError(
                f"{record.trajectory_id} has no candidate {one.name}/{example.key}; is this the run's pool?"
            )
        edited = one.apply(record, candidates[example.key])
        pairs.append(_pair(pair_key(setup, example), one.title, example, (record, edited), context.corpus))
    return tuple(pairs)


def _pair(key: str, title: str, example: Example, records: tuple[Trajectory, Trajectory], corpus: Corpus) -> Pair:
    before, after = (_fields(record, corpus) for record in records)
    fields = tuple(PairField(name, before[name], after[name]) for name in before)
    first, second = example.outcomes
    if not (isinstance(first, Scored) and isinstance(second, Scored)):
        return Pair(key, title, fields)
    scores = (("original", first.score), ("counterfactual", second.score), ("margin", example.margin))
    ones, others = dict(first.components), dict(second.components)
    components = tuple((name, ones.get(name, 0.0), others.get(name, 0.0)) for name in sorted(ones.keys() | others))
    return Pair(key, title, fields, scores, components)


def _fields(record: Trajectory, corpus: Corpus) -> dict[str, str]:
    return {
        "question": record.question,
        "steps": "\n".join(_step(step, corpus) for step in record.steps) or "(none)",
        "final message": record.raw_final,
        "answer": record.answer,
        "citations": "\n".join(_named(cited, record, corpus) for cited in record.citations) or "(none)",
        "gold answers": " | ".join(record.gold_answers) or "(none logged)",
        "support": "\n".join(_titled(one, corpus) for one in sorted(record.support_ids)) or "(none logged)",
    }


def _step(step: object, corpus: Corpus) -> str:
    if isinstance(step, Search):
        found = "; ".join(_titled(one, corpus) for one in step.passages) or step.observation[:200] or "nothing"
        return f"search: {step.query}\n  -> {found}"
    if isinstance(step, InvalidAction):
        return f"invalid: {step.text}"
    return str(getattr(step, "text", step))


def _titled(passage: str, corpus: Corpus) -> str:
    return f"[{passage}] {corpus[passage].title}".rstrip() if passage in corpus else f"[{passage}]"


def _named(cited: str, record: Trajectory, corpus: Corpus) -> str:
    if cited in record.retrieved:
        how = "retrieved"
    elif cited in corpus:
        how = "never retrieved"
    else:
        how = "in no passage of the corpus" if corpus.complete else "not among the passages seen"
    return f"{_titled(cited, corpus)} ({how})"


def encode_pairs(pairs: Iterable[Pair]) -> bytes:
    """Return pairs as bytes for the ledger."""
    body = [
        [one.key, one.title, [[f.name, f.before, f.after] for f in one.fields], one.scores, one.components]
        for one in pairs
    ]
    return json.dumps(body, separators=(",", ":")).encode()


def decode_pairs(payload: bytes) -> tuple[Pair, ...]:
    """Return the pairs that `encode_pairs` wrote."""
    return tuple(
        Pair(
            key,
            title,
            tuple(PairField(*one) for one in fields),
            tuple((name, value) for name, value in scores),
            tuple((name, before, after) for name, before, after in components),
        )
        for key, title, fields, scores, components in json.loads(payload)
    )


@dataclass(frozen=True, slots=True)
class EvidenceEpisode:
    """Rebuild the pairs of one trajectory; asks for nothing."""

    examples: Mapping[str, tuple[Example, ...]]

    def start(self, item: Trajectory, context: AuditContext, seed: ItemSeed) -> tuple[Pair, ...]:
        """Return the pairs."""
        return pairs_of(item, self.examples[item.trajectory_id], context.setup, context.edits)

    def step(self, state: tuple[Pair, ...], event: Event | None) -> tuple[tuple[Pair, ...], Done[tuple[Pair, ...]]]:
        """Return the pairs as the result."""
        return state, Done(state)

    def encode(self, result: tuple[Pair, ...]) -> bytes:
        """Return the pairs as bytes for the ledger."""
        return encode_pairs(result)
