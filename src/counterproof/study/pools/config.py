"""The settings of the scripted search agent: every rate that it plants, in one value."""

from __future__ import annotations

from dataclasses import dataclass, fields

from counterproof.core.errors import InputError, Problem


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """Rates of the scripted agent; `pool.json` records them. All are ours, fixed before a pool was looked at.

    A rate is a probability in [0, 1], drawn independently; weights are relative. Faults of citations apply where the
    agent answered, retrieved something and cites (so not where it abstained or left citations out).

    Attributes:
        searches: Weights of one, two, ... five searches.
        no_search: Rate of trajectories that answer without any search.
        question_as_query: Rate at which the first query is the whole question, else its content words.
        exact_repeat: Rate, per search after the first, of asking an earlier query again word for word.
        near_repeat: Rate, per search after the first, of asking an earlier query with one word more (word for word
            when it has fewer than four distinct words, where one more would not be a repeat at Jaccard .8).
        focus: Rate, per follow-up, of adding words of the question to the span that it is about.
        thought: Rate, per search, of free text before it.
        invalid_action: Rate, per search, of an action before it that the environment cannot carry out.
        accuracy: Rate of giving a gold answer where one occurs in the retrieved text (reads gold answers).
        closed_book: Rate of giving a gold answer without any evidence (reads gold answers).
        abstain: Rate of giving no answer (and then no citation).
        long_answer: Rate of an answer of more than 30 tokens.
        citations: Weights of citing one, two, three, four passages, as far as that many were retrieved.
        stray_citation: Rate of citing a retrieved passage at random in place of one that looks like evidence.
        no_citation: Rate of answering without a citation although something was retrieved.
        unretrieved_citation: Rate of citing a real passage that was not retrieved.
        fake_citation: Rate of citing an id that no passage has.
        duplicate_citation: Rate of citing one passage twice.
    """

    searches: tuple[float, ...] = (0.18, 0.27, 0.25, 0.18, 0.12)
    no_search: float = 0.02
    question_as_query: float = 0.6
    exact_repeat: float = 0.06
    near_repeat: float = 0.06
    focus: float = 0.5
    thought: float = 0.5
    invalid_action: float = 0.05
    accuracy: float = 0.75
    closed_book: float = 0.2
    abstain: float = 0.04
    long_answer: float = 0.04
    citations: tuple[float, ...] = (0.3, 0.4, 0.2, 0.1)
    stray_citation: float = 0.08
    no_citation: float = 0.03
    unretrieved_citation: float = 0.02
    fake_citation: float = 0.015
    duplicate_citation: float = 0.02

    def __post_init__(self) -> None:
        """Check every setting.

        Raises:
            InputError: A rate lies outside [0, 1], or weights are not five (searches) or four (citations) numbers from
                0 with a positive sum.
        """
        problems = [
            Problem(one.name, f"is {value}", "give a rate from 0 to 1")
            for one in fields(self)
            if isinstance(value := getattr(self, one.name), (int, float)) and not 0 <= value <= 1
        ]
        for name, length in (("searches", 5), ("citations", 4)):
            weights: tuple[float, ...] = getattr(self, name)
            if len(weights) != length or not all(weight >= 0 for weight in weights) or not 0 < sum(weights) < 1e9:
                problems.append(Problem(name, f"is {weights}", f"give {length} weights from 0 with a positive sum"))
        if self.exact_repeat + self.near_repeat > 1:
            problems.append(Problem("exact_repeat + near_repeat", "is above 1", "lower one of them"))
        if problems:
            raise InputError("the scripted agent cannot be set up", problems)
