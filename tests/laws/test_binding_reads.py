from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from counterproof.binding import bind, trajectory_offers
from counterproof.core.outcomes import Scored
from counterproof.core.records import FIELD_OF_DERIVED, Trajectory
from counterproof.core.views import TRAJECTORY_ROLES
from tests.binding.trajectories import CORPUS, TRAJECTORY

OFFERS = trajectory_offers(lambda trajectory: trajectory.raw_final, CORPUS)
NAMES = st.sets(st.sampled_from(sorted(set(OFFERS) - {"record", "trajectory"})))
FIELDS = st.sets(st.sampled_from(sorted([*TRAJECTORY_ROLES, *FIELD_OF_DERIVED])))


def fields_of(names: set[str]) -> frozenset[str]:
    return frozenset[str]().union(*(OFFERS[name].fields for name in names))


def scored(outcome: Any) -> frozenset[str]:
    assert isinstance(outcome, Scored)
    return outcome.reads


@given(names=NAMES, read=NAMES)
def test_reads_are_the_named_parameters_and_the_keys_looked_up(names: set[str], read: set[str]) -> None:
    scope: dict[str, Any] = {"read": read - names}
    parameters = "".join(f"{name}, " for name in sorted(names))
    exec(
        f"def reward({parameters}**kwargs):\n    return float(sum(1 for key in read if kwargs[key] is not read))", scope
    )
    outcome = bind(scope["reward"], OFFERS).call(TRAJECTORY)
    assert scored(outcome) == fields_of(names | read)


@given(names=NAMES)
def test_order_of_parameters_does_not_matter(names: set[str]) -> None:
    scope: dict[str, Any] = {}
    for label, ordered in (("one", sorted(names)), ("other", sorted(names, reverse=True))):
        exec(f"def {label}({', '.join(ordered)}): return float(len(repr({'+'.join(map(repr, sorted(names)))})))", scope)
    if names:
        one, other = (bind(scope[label], OFFERS).call(TRAJECTORY) for label in ("one", "other"))
        assert one == other


@given(fields=FIELDS)
def test_a_tracked_record_gives_the_records_values_and_notes_exactly_what_is_read(fields: set[str]) -> None:
    def reward(record: Trajectory) -> float:
        return float(all(getattr(record, name) == getattr(TRAJECTORY, name) for name in fields))

    outcome = bind(reward, OFFERS).call(TRAJECTORY)
    assert outcome == Scored(1.0, (), frozenset(FIELD_OF_DERIVED.get(name, name) for name in fields))
