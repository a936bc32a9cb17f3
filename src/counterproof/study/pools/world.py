"""A small fact world with invented names: multi-hop questions and passages that belong to nobody else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle, islice

import numpy as np

from counterproof.adapters.questions import Question
from counterproof.core.errors import InputError
from counterproof.core.records import Corpus, build_corpus, passage_id
from counterproof.core.seeds import ItemSeed
from counterproof.study.pools.searching import pick

QUESTIONS = 60
"""Questions in a world unless told otherwise."""

# Every name ends in a cluster that ends no word of English, so that none is the name of a real place or person.
_ONSETS = ("b", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "z")
_VOWELS = ("a", "e", "i", "o", "u")
_CODAS = ("lv", "rv", "zd", "mv", "lzk", "rzt", "nv", "vd")
_TRADES = ("clocks", "lenses", "barges", "ropes", "kilns", "compasses", "looms", "bells")
_ARTS = ("painter", "rower", "botanist", "organist")
_THINGS = ("Lantern", "Orchard", "Ferry", "Winter", "Bridge", "Ledger", "Harbour", "Mirror")


@dataclass(frozen=True, slots=True)
class _River:
    name: str
    lake: str
    length: int


@dataclass(frozen=True, slots=True)
class _Town:
    name: str
    river: _River
    founded: int


@dataclass(frozen=True, slots=True)
class _Company:
    name: str
    seat: _Town
    trade: str


@dataclass(frozen=True, slots=True)
class _Person:
    name: str
    home: _Town
    employer: _Company
    born: int


@dataclass(frozen=True, slots=True)
class _Book:
    name: str
    author: _Person
    year: int


@dataclass(frozen=True, slots=True)
class _World:
    rivers: tuple[_River, ...]
    towns: tuple[_Town, ...]
    companies: tuple[_Company, ...]
    people: tuple[_Person, ...]
    books: tuple[_Book, ...]


_Entity = _River | _Town | _Company | _Person | _Book
_Asked = tuple[str, tuple[str, ...], tuple[_Entity, ...]]


def fact_world(seed: int, questions: int = QUESTIONS) -> tuple[tuple[Question, ...], Corpus]:
    """Return multi-hop questions of an invented world, and all its passages.

    Rivers flow into lakes, towns lie on rivers, companies have their seats in towns, people were born in towns and
    work for companies, books have authors. A question follows two to four of these facts, or compares two people;
    each fact stands in the one passage about its entity, so a question has two to four supporting passages. Every
    entity also has a passage of the same title and another text, and many have one of a similar title (a namesake, an
    upper course) with facts of its own. The same arguments give the same world.

    Args:
        seed: Of the run.
        questions: How many, at least 1; the world grows with them.

    Raises:
        InputError: `questions` is less than 1.
    """
    if questions < 1:
        raise InputError(f"a world with {questions} questions was asked for; ask for at least 1")
    rng = ItemSeed(seed, "fact world").generator()
    world = _imagine(questions, rng)
    passages = [*_about(world), *_aside(world, rng)]
    corpus = build_corpus((f"world/{i}", title, text) for i, (title, text) in enumerate(passages))
    asked = [ask(world, int(i)) for ask, i in _schedule(world, questions, rng)]
    return tuple(_question(i, one) for i, one in enumerate(asked)), corpus


def _imagine(questions: int, rng: np.random.Generator) -> _World:
    names = _names(rng)
    lakes = [f"Lake {next(names)}" for _ in range(3 + questions // 12)]
    rivers = tuple(_River(next(names), pick(lakes, rng), int(rng.integers(20, 400))) for _ in range(4 + questions // 6))
    towns = tuple(
        _Town(next(names), pick(rivers, rng), int(rng.integers(900, 1800))) for _ in range(6 + questions // 4)
    )
    companies = tuple(
        _Company(f"{next(names)} Works", pick(towns, rng), pick(_TRADES, rng)) for _ in range(5 + questions // 5)
    )
    people = tuple(
        _Person(f"{next(names)} {next(names)}", pick(towns, rng), pick(companies, rng), int(rng.integers(1850, 1980)))
        for _ in range(8 + questions // 2)
    )
    books = tuple(
        _Book(f"The {pick(_THINGS, rng)} of {next(names)}", pick(people, rng), int(rng.integers(1880, 2020)))
        for _ in range(8 + questions // 2)
    )
    return _World(rivers, towns, companies, people, books)


def _names(rng: np.random.Generator) -> Iterator[str]:
    used: set[str] = set()
    while True:
        syllables = [pick(_ONSETS, rng) + pick(_VOWELS, rng) for _ in range(2 + int(rng.integers(2)))]
        name = ("".join(syllables) + pick(_CODAS, rng)).capitalize()
        if name not in used:
            used.add(name)
            yield name


def _passage(one: _Entity) -> tuple[str, str]:
    """Return title and text of the one passage that states an entity's facts."""
    match one:
        case _River(name, lake, length):
            text = f"The {name} is a river of {length} kilometres. It rises in the hills and flows into {lake}."
        case _Town(name, river, founded):
            text = f"{name} is a town founded in {founded}. The river {river.name} flows through {name}."
        case _Company(name, seat, trade):
            text = f"{name} is a company that makes {trade}. It has its seat in the town of {seat.name}."
        case _Person(name, home, employer, born):
            text = f"{name} was born in {born} in the town of {home.name} and works for {employer.name} as an engineer."
        case _Book(name, author, year):
            text = f"{name} is a novel of {year}. Its author is {author.name}, who wrote it in one summer."
    return one.name, text


def _about(world: _World) -> Iterator[tuple[str, str]]:
    for group in (world.rivers, world.towns, world.companies, world.people, world.books):
        yield from map(_passage, group)


def _aside(world: _World, rng: np.random.Generator) -> Iterator[tuple[str, str]]:
    """Yield the distractors: another text under the same title, and similar titles with facts of their own."""
    for river in world.rivers:
        yield river.name, f"The {river.name} freezes in most winters. Barges carry timber on it."
        yield f"Upper {river.name}", f"The Upper {river.name} is a brook that joins the {pick(world.rivers, rng).name}."
    for town in world.towns:
        yield town.name, f"{town.name} holds a market on Thursdays. Its hall burned down in {town.founded + 90}."
        yield f"New {town.name}", f"New {town.name} is a village on the river {pick(world.rivers, rng).name}."
    for company in world.companies:
        yield (
            company.name,
            f"{company.name} once sold {pick(_TRADES, rng)} as well, and closed a branch in {_year(rng)}.",
        )
    for person in world.people:
        yield person.name, f"{person.name} collects old maps of {pick(world.towns, rng).name} and speaks at fairs."
        art, home = pick(_ARTS, rng), pick(world.towns, rng)
        title = f"{person.name} ({art})"
        yield title, f"{title} was born in {_year(rng)} in the town of {home.name} and became a {art}."
    for book in world.books:
        yield (
            book.name,
            f"A second edition of {book.name} was printed in {pick(world.towns, rng).name} in {_year(rng)}.",
        )


def _year(rng: np.random.Generator) -> int:
    return int(rng.integers(1850, 1980))


def _schedule(
    world: _World, questions: int, rng: np.random.Generator
) -> Iterator[tuple[Callable[[_World, int], _Asked], int]]:
    """Yield each question's kind and the entity that it starts from: kinds in turn, no entity twice in a kind."""
    orders = {kind: iter(rng.permutation(len(world.people)).tolist()) for kind in _KINDS}
    for kind in islice(cycle(_KINDS), questions):
        yield kind, next(orders[kind])


def _birthplace(world: _World, i: int) -> _Asked:
    book = world.books[i]
    return f"In which town was the author of {book.name} born?", _town(book.author.home), (book, book.author)


def _river_of_author(world: _World, i: int) -> _Asked:
    book = world.books[i]
    home = book.author.home
    text = f"Which river flows through the town where the author of {book.name} was born?"
    return text, _river(home.river), (book, book.author, home)


def _lake_of_author(world: _World, i: int) -> _Asked:
    book = world.books[i]
    home = book.author.home
    text = f"Into which lake flows the river of the town where the author of {book.name} was born?"
    lake = home.river.lake
    return text, (lake, lake.removeprefix("Lake ")), (book, book.author, home, home.river)


def _seat_of_author(world: _World, i: int) -> _Asked:
    book = world.books[i]
    employer = book.author.employer
    text = f"In which town does the company have its seat that the author of {book.name} works for?"
    return text, _town(employer.seat), (book, book.author, employer)


def _seat_of_employer(world: _World, i: int) -> _Asked:
    person = world.people[i]
    text = f"In which town does the company have its seat that {person.name} works for?"
    return text, _town(person.employer.seat), (person, person.employer)


def _river_of_employer(world: _World, i: int) -> _Asked:
    book = world.books[i]
    employer = book.author.employer
    text = f"Which river flows through the seat of the company that the author of {book.name} works for?"
    return text, _river(employer.seat.river), (book, book.author, employer, employer.seat)


def _older(world: _World, i: int) -> _Asked:
    one, other = world.people[i], _partner(world, i)
    first = min(one, other, key=lambda person: person.born)
    return f"Who was born first, {one.name} or {other.name}?", (first.name, first.name.split()[-1]), (one, other)


def _same_town(world: _World, i: int) -> _Asked:
    one, other = world.people[i], _partner(world, i)
    answer = "yes" if one.home == other.home else "no"
    return f"Were {one.name} and {other.name} born in the same town?", (answer,), (one, other)


_KINDS = (
    _birthplace,
    _river_of_author,
    _lake_of_author,
    _seat_of_employer,
    _river_of_employer,
    _older,
    _seat_of_author,
    _same_town,
)


def _partner(world: _World, i: int) -> _Person:
    """Return the next person who was born in another year."""
    one = world.people[i]
    others = (*world.people[i + 1 :], *world.people[:i])
    return next((other for other in others if other.born != one.born), others[0])


def _town(town: _Town) -> tuple[str, ...]:
    return town.name, f"the town of {town.name}"


def _river(river: _River) -> tuple[str, ...]:
    return river.name, f"River {river.name}"


def _question(number: int, asked: _Asked) -> Question:
    text, golds, facts = asked
    support = frozenset(passage_id(*_passage(one)) for one in facts)
    return Question(f"world-{number:04d}", text, golds, support, tuple(sorted(support)))
