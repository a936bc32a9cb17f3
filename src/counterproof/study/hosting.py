"""Build a verifier where it will run: in this process for built-ins, in a worker for everybody else's code."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from counterproof.core.errors import BindingError
from counterproof.core.hashing import digest
from counterproof.core.outcomes import Outcome
from counterproof.core.records import Corpus, Trajectory
from counterproof.rewards.reference import REWARDS, Reward, built_in_reward

FACTORY = "counterproof.study.hosting:make_perform"
"""What a worker imports to build its verifier."""


@dataclass(frozen=True, slots=True)
class VerifierSource:
    """What is known of a verifier once it was found and bound.

    Attributes:
        name: How it is shown; never a path of this machine.
        signature: What each parameter is bound to.
        sha256: Digest of the file that defines it; of the built-in's name and version; of the name where there is none.
        line: The line of that file at which it begins; 0 when unknown.
        built_in: Whether it is one of ours.
    """

    name: str
    signature: str
    sha256: str
    line: int = 0
    built_in: bool = False


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to build a verifier anywhere: what a worker gets.

    Attributes:
        spec: `package.module:function`, `path.py:function`, a built-in name or an entry point's name.
        format: Name of the log format whose text rewards read.
        corpus: P.
    """

    spec: str
    format: str
    corpus: Corpus = field(repr=False)


def is_built_in(spec: str) -> bool:
    """Return whether a spec names a built-in reward, which runs in this process."""
    return ":" not in spec and (spec in REWARDS or spec.partition("+")[0] in {"reference", "outcome"})


def built_in(spec: str, corpus: Corpus) -> tuple[VerifierSource, Callable[[Any], Outcome]]:
    """Return a built-in reward, bound to a corpus.

    Raises:
        BindingError: There is none of that name.
    """
    reward: Reward = built_in_reward(spec)
    signature = (
        f"{reward.name}(trajectory, corpus): {reward.title}; reads {', '.join(sorted(reward.reads)) or 'nothing'}"
    )
    source = VerifierSource(reward.name, signature, digest({"built-in": reward.name, "version": 1}), built_in=True)
    return source, partial(reward, corpus=corpus)


def build(recipe: Recipe) -> tuple[VerifierSource, Callable[[Any], Outcome]]:
    """Find, import and bind the verifier of a recipe. Imports foreign code: call it in a worker unless it is trusted.

    Raises:
        BindingError: It cannot be found, imported or bound.
    """
    from counterproof.adapters import FORMATS
    from counterproof.binding import bind, load_function, trajectory_offers

    if is_built_in(recipe.spec):
        return built_in(recipe.spec, recipe.corpus)
    spec = recipe.spec if ":" in recipe.spec else _entry_point(recipe.spec)
    log_format = FORMATS[recipe.format]

    def render(record: Trajectory) -> str:
        return log_format.render(record, recipe.corpus)  # raises CannotRender where the text would say something else

    loaded = load_function(spec)
    bound = bind(loaded.function, trajectory_offers(render, recipe.corpus))
    name = spec.rpartition("/")[2]
    sha256 = loaded.source_sha256 or digest({"without source": name})
    return VerifierSource(name, bound.signature, sha256, loaded.source_line), bound.call


def _entry_point(name: str) -> str:
    from importlib.metadata import entry_points

    from counterproof.core.errors import nearest

    found = {point.name: point.value for point in entry_points(group="counterproof.rewards")}
    if name.endswith(".py"):
        raise BindingError(f"'{name}' names a file and no function in it; give {name}:function")
    if name not in found:
        raise BindingError(
            f"'{name}' is no built-in reward and no installed plug-in; {nearest(name, [*REWARDS, *found])} "
            "(your own: package.module:function or path.py:function)"
        )
    return found[name]


def make_perform(payload: bytes) -> Callable[[str, Any], Outcome]:
    """Return what a worker calls for each job; its greeting says what was bound."""
    source, call = build(pickle.loads(payload))

    class Perform:
        greeting = json.dumps(asdict(source))

        def __call__(self, verifier: str, record: Any) -> Outcome:
            return call(record)

    return Perform()
