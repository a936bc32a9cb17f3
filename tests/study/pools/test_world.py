import re
from collections import Counter

import pytest

from counterproof.adapters.questions import Question
from counterproof.core.errors import InputError
from counterproof.core.records import Corpus
from counterproof.study.pools.world import fact_world

QUESTIONS, CORPUS = fact_world(7, 80)
FACTS = {
    p.title: p.text
    for p in CORPUS.passages.values()
    if re.search(r"is a river|is a town|is a company|in the town of .* works|is a novel", p.text)
}


def fact(title: str, pattern: str) -> str:
    """What the one passage about an entity states."""
    found = re.search(pattern, FACTS[title])
    assert found, (title, pattern)
    return found[1]


def author(book: str) -> str:
    return fact(book, r"Its author is (.+?), who")


def home(person: str) -> str:
    return fact(person, r"in the town of (\w+)")


def employer(person: str) -> str:
    return fact(person, r"works for (.+?) as")


def seat(company: str) -> str:
    return fact(company, r"in the town of (\w+)")


def river(town: str) -> str:
    return fact(town, r"The river (\w+) flows")


def solve(question: str) -> str:
    """Answer by reading the passages, hop by hop."""
    if found := re.fullmatch(r"In which town was the author of (.+) born\?", question):
        return home(author(found[1]))
    if found := re.fullmatch(r"Which river flows through the town where the author of (.+) was born\?", question):
        return river(home(author(found[1])))
    if found := re.fullmatch(
        r"Into which lake flows the river of the town where the author of (.+) was born\?", question
    ):
        return fact(river(home(author(found[1]))), r"flows into (Lake \w+)")
    if found := re.fullmatch(
        r"In which town does the company have its seat that the author of (.+) works for\?", question
    ):
        return seat(employer(author(found[1])))
    if found := re.fullmatch(r"In which town does the company have its seat that (.+) works for\?", question):
        return seat(employer(found[1]))
    if found := re.fullmatch(
        r"Which river flows through the seat of the company that the author of (.+) works for\?", question
    ):
        return river(seat(employer(author(found[1]))))
    if found := re.fullmatch(r"Who was born first, (.+) or (.+)\?", question):
        return min(found.groups(), key=lambda person: int(fact(person, r"born in (\d+)")))
    found = re.fullmatch(r"Were (.+) and (.+) born in the same town\?", question)
    assert found, question
    return "yes" if home(found[1]) == home(found[2]) else "no"


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: str(question.question_id))
def test_gold_answer_follows_from_the_passages(question: Question) -> None:
    assert question.gold_answers[0] == solve(question.question)


def test_support_is_what_the_answer_needs_and_stands_in_the_corpus() -> None:
    for question in QUESTIONS:
        assert question.support_ids <= set(CORPUS.passages)
        assert all(CORPUS[passage].title in FACTS for passage in question.support_ids)
    assert set(Counter(len(question.support_ids) for question in QUESTIONS)) == {2, 3, 4}


def test_answers_that_are_names_stand_in_a_supporting_passage() -> None:
    for question in QUESTIONS:
        gold = question.gold_answers[0]
        assert gold in ("yes", "no") or any(gold in CORPUS[passage].text for passage in question.support_ids)


def test_questions_and_their_ids_are_distinct() -> None:
    assert len({question.question for question in QUESTIONS}) == len(QUESTIONS) == 80
    assert len({question.question_id for question in QUESTIONS}) == 80


def test_titles_with_several_texts_and_similar_titles_exist() -> None:
    titles = Counter(passage.title for passage in CORPUS.passages.values())
    assert max(titles.values()) >= 2
    assert any(title.endswith(")") for title in titles)
    assert any(title.startswith("Upper ") for title in titles)


def test_world_is_a_function_of_its_arguments() -> None:
    assert fact_world(7, 80) == (QUESTIONS, CORPUS)
    assert fact_world(8, 80) != (QUESTIONS, CORPUS)


@pytest.mark.parametrize("size", [1, 8, 500])
def test_world_grows_with_its_questions(size: int) -> None:
    asked, corpus = fact_world(0, size)
    assert len({question.question for question in asked}) == size
    assert isinstance(corpus, Corpus)
    assert len(corpus) > 2 * size
    assert corpus.complete


def test_world_without_questions_is_refused() -> None:
    with pytest.raises(InputError, match="at least 1"):
        fact_world(0, 0)
