"""What an audit compares: applicable edits and detectors, and the attack cells that results are reported in."""

from __future__ import annotations

from dataclasses import dataclass

from counterproof.core.errors import InputError, Problem, nearest
from counterproof.rewards.detectors import DETECTORS, STRICT, Detector
from counterproof.rewards.edits import EDITS, SINGLE, Edit

TOLERANCE = 1e-9
"""A margin of at most this, in reward units, counts as success: ties count."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One attack that gets a row of its own.

    Attributes:
        edit: Index of the edit.
        generator: Which list of candidates.
        budget: K, the number of ranks used; None means all.
        stratum: The set of targets, as a bit mask, that units of this cell have; None means any.
        name: For example `launder/lexical@8` or `same_final{U}`.
        primary: Whether a repair must close it.
    """

    edit: int
    generator: str
    budget: int | None
    stratum: int | None
    name: str
    primary: bool


@dataclass(frozen=True, slots=True)
class Setup:
    """Edits and detectors that apply to a pool, in the order of their indices and bits.

    Attributes:
        edits: Applicable edits.
        detectors: Applicable detectors.
        skipped: Name and reason of each edit or detector that does not apply.
    """

    edits: tuple[Edit, ...]
    detectors: tuple[Detector, ...]
    skipped: tuple[tuple[str, str], ...] = ()

    @property
    def contract_mask(self) -> int:
        """Bits of the contract detectors."""
        return sum(1 << bit for bit, one in enumerate(self.detectors) if one.contract)

    @property
    def strict_mask(self) -> int:
        """Bits of the detectors that a strictly isolated edit leaves unchanged, besides the contract's."""
        built_in = {one.name for one in DETECTORS}
        return sum(
            1 << bit
            for bit, one in enumerate(self.detectors)
            if not one.contract and (one.name in STRICT or one.name not in built_in)
        )

    @property
    def lattice(self) -> tuple[int, ...]:
        """Bits of the detectors that a repair may use: those with a weight."""
        return tuple(bit for bit, one in enumerate(self.detectors) if one.weight is not None)

    def mask(self, names: frozenset[str]) -> int:
        """Return the bits of the named detectors; those that do not apply have none."""
        return sum(1 << bit for bit, one in enumerate(self.detectors) if one.name in names)

    def names(self, mask: int) -> str:
        """Return the names of the detectors in a bit mask, joined."""
        chosen = [one.name for bit, one in enumerate(self.detectors) if mask >> bit & 1]
        return ("" if all(len(name) == 1 for name in chosen) else ",").join(chosen)


def set_up(
    traits: frozenset[str], edits: tuple[Edit, ...] = EDITS, detectors: tuple[Detector, ...] = DETECTORS
) -> Setup:
    """Return what applies to a pool that has these traits, and why the rest does not.

    Raises:
        InputError: Two edits or two detectors share a name, or an edit targets a detector that there is not.
    """
    problems = [
        Problem(kind, f"'{name}' is defined more than once", "rename one")
        for kind, names in (("edits", [e.name for e in edits]), ("detectors", [d.name for d in detectors]))
        for name in sorted({name for name in names if names.count(name) > 1})
    ]
    known = [one.name for one in detectors]
    problems += [
        Problem(f"edit '{one.name}'", f"targets '{name}', which is no detector", nearest(name, known))
        for one in edits
        for name in sorted(one.aims.difference(known))
    ]
    if len(detectors) > 62:
        problems.append(Problem("detectors", f"{len(detectors)} given", "at most 62 can be audited at once"))
    if problems:
        raise InputError("these edits and detectors cannot be audited together", problems)
    chosen = tuple(one for one in detectors if one.needs <= traits)
    names = {one.name for one in chosen}
    skipped = [(f"detector {one.name}", _lacking(one.needs - traits)) for one in detectors if one not in chosen]
    usable = []
    for one in edits:
        if one.needs <= traits:
            usable.append(one)
        else:
            skipped.append((f"edit {one.name}", _lacking(one.needs - traits)))
    if not names:
        skipped.append(("detectors", "none applies"))
    return Setup(tuple(usable), chosen, tuple(skipped))


def _lacking(missing: frozenset[str]) -> str:
    words = {
        "corpus": "corpus of all that the agent could search",
        "passages": "ids of retrieved passages",
        "passage_texts": "texts of passages",
        "citations": "citations",
        "gold_answers": "gold answers",
        "support_ids": "support ids",
        "answers": "final answers",
    }
    return "the log has no " + " and no ".join(words.get(name, name) for name in sorted(missing))


def cells_of(setup: Setup) -> tuple[Cell, ...]:
    """Return the cells of an audit: an edit with several target sets has one a stratum, else one a budget."""
    cells: list[Cell] = []
    for index, one in enumerate(setup.edits):
        masks = dict.fromkeys(setup.mask(names) for names in one.strata)
        for mask in masks:
            label = f"{one.name}{{{setup.names(mask)}}}"
            cells.append(Cell(index, SINGLE, None, mask, label, primary=True))
        if masks:
            continue
        for generator, budgets in one.generators:
            for budget in budgets:
                name = one.name if generator == SINGLE else f"{one.name}/{generator}@{budget}"
                largest = generator == SINGLE or budget == budgets[-1]
                cells.append(
                    Cell(index, generator, None if generator == SINGLE else budget, None, name, primary=largest)
                )
    return tuple(cells)
