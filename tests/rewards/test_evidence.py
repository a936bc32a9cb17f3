import pytest

from counterproof.core.analysis import Pair, PairField
from counterproof.core.episodes import Done
from counterproof.core.errors import InputError
from counterproof.core.outcomes import Scored
from counterproof.core.records import Corpus
from counterproof.core.seeds import ItemSeed
from counterproof.rewards.edits import EditContext
from counterproof.rewards.episode import AuditContext
from counterproof.rewards.evidence import EvidenceEpisode, decode_pairs, encode_pairs, pair_key, pairs_of, wanted
from counterproof.rewards.tally import Example
from tests.rewards.records import CORPUS, SETUP, context, of_reward, record, tally_of, with_others

OUTCOMES = (Scored(1.0, (("a", 0.75), ("b", 0.25))), Scored(0.5, (("a", 0.75), ("c", -0.25))))


def example(edit: int = 1, key: str = "0") -> Example:
    return Example(0.5, "t1", key, edit, OUTCOMES)


def test_pair_shows_both_records_field_by_field() -> None:
    one = record((("who drums", "ab"),), others=with_others("hm", "!serch"))
    (pair,) = pairs_of(one, [example(0, "all")], SETUP, context())
    fields = {field.name: field for field in pair.fields}
    assert pair.key == "t1/same_final/all"
    assert [name for name, field in fields.items() if field.changed] == ["steps", "citations"]
    assert fields["steps"].before == "search: who drums\n  -> [a] Rush; [b] Neil Peart\nhm\ninvalid: serch"
    assert fields["steps"].after == "hm\ninvalid: serch"
    # The citation itself is kept; what is said of it follows from the searches.
    assert fields["citations"].before == "[b] Neil Peart (retrieved)"
    assert fields["citations"].after == "[b] Neil Peart (never retrieved)"
    assert fields["support"].before == "[a] Rush\n[b] Neil Peart"


def test_pair_shows_scores_margin_and_every_component() -> None:
    (pair,) = pairs_of(record(), [example()], SETUP, context())
    assert pair.scores == (("original", 1.0), ("counterfactual", 0.5), ("margin", 0.5))
    assert pair.components == (("a", 0.75, 0.75), ("b", 0.25, 0.0), ("c", 0.0, -0.25))


def test_citation_of_no_passage_is_told_apart_from_one_that_was_not_seen() -> None:
    seen = EditContext(Corpus(CORPUS.passages, complete=False), context().rankers, context().depths)
    for using, words in ((context(), "in no passage of the corpus"), (seen, "not among the passages seen")):
        (pair,) = pairs_of(record(), [example()], SETUP, using)
        after = next(field.after for field in pair.fields if field.name == "citations")
        assert after.startswith("[nonexistent-")
        assert after.endswith(f" ({words})")


def test_record_of_another_pool_is_refused() -> None:
    with pytest.raises(InputError, match="t1 has no candidate fake_id/7; is this the run's pool"):
        pairs_of(record(), [example(key="7")], SETUP, context())


def test_examples_that_several_attacks_name_are_built_once() -> None:
    tally = tally_of([record(citations="f", searches=(("who", "af"),))], of_reward("reference"))
    found = wanted(tally)
    assert found.keys() == {"t1"}
    keys = [pair_key(SETUP, one) for one in found["t1"]]
    assert len(keys) == len(set(keys))
    # Six cells of launder name one candidate, same_final and fake_id one each.
    assert sum(key.startswith("t1/launder/") for key in keys) == 1
    assert len(keys) == 3


def test_pairs_read_back_as_they_were_written() -> None:
    pairs = (
        Pair("k", "t", (PairField("a", "x", "y"), PairField("b", "é\n", "")), (("margin", 0.1),), (("c", 1.0, -0.5),)),
        Pair("k2", "", ()),
    )
    assert decode_pairs(encode_pairs(pairs)) == pairs
    assert decode_pairs(encode_pairs(())) == ()


def test_episode_asks_for_nothing() -> None:
    episode = EvidenceEpisode({"t1": (example(),)})
    state = episode.start(record(), AuditContext(SETUP, context()), ItemSeed(0, "x"))
    state, done = episode.step(state, None)
    assert isinstance(done, Done)
    assert decode_pairs(episode.encode(done.result)) == pairs_of(record(), [example()], SETUP, context())
