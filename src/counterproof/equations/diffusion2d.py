"""The two-dimensional transfer: FitzHugh-Nagumo trajectories and tests whose spatial modes are tied to the view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError
from counterproof.equations.library import Supports, all_supports
from counterproof.equations.quadrature import quadrature_weights, sine_tests
from counterproof.equations.verdicts import OUTSIDE, Rule
from counterproof.equations.verifier import ViewTable, table_of
from counterproof.equations.views import View, lab_views, reference_views

TERMS = ("1", "u", "u^2", "u^3", "v", "lap u", "uv", "v^2")
TRUE_TERMS = ("1", "u", "u^3", "v", "lap u")
CONTRACTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("C1", TERMS[:6]),
    ("C2", TERMS),
    ("without v", ("1", "u", "u^2", "u^3", "lap u", "uv")),
    ("without u^3", ("1", "u", "u^2", "v", "lap u", "uv", "v^2")),
    ("without u", ("1", "u^2", "u^3", "v", "lap u", "uv", "v^2")),
)
"""Two complete libraries and three that lack a true term (for v: every power of v alone)."""

COUNTS_2D = (13, 25, 49)
FRAMES, DROPPED = 101, 4
TRANSFER_RULE = Rule(tau=0.035, gamma=0.001, slack=0.002)
TRANSFER_VIEWS = lab_views(FRAMES - DROPPED - 1, COUNTS_2D)
TRANSFER_CONSTANT = 90_317
_BLOCK = 8


@dataclass(frozen=True, slots=True)
class Reaction:
    """u_t = D_u lap u + u - u^3 - k - v, v_t = D_v lap v + u - v on (-1, 1)^2 with no-flux walls, t in [0, 5].

    Attributes:
        cells: Cells along an axis.
        d_u: Diffusion of u.
        d_v: Diffusion of v.
        k: The constant.
        duration: End time; 101 frames are stored.
        substeps: Runge-Kutta steps for each frame.
    """

    cells: int = 32
    d_u: float = 1e-3
    d_v: float = 5e-3
    k: float = 5e-3
    duration: float = 5.0
    substeps: int = 2


DEFAULT_REACTION = Reaction()


def reaction_fields(seeds: Sequence[int], setting: Reaction = DEFAULT_REACTION) -> NDArray[np.float32]:
    """Return u and v of each seed, (E, 2, 101, cells, cells), in single precision.

    Cell-centred five-point Laplacian, classical RK4, an independent N(0, 1) start in every cell.

    Raises:
        InputError: There is no seed.
    """
    if not len(seeds):
        raise InputError("give at least one seed")
    n = setting.cells
    state = np.stack(
        [np.random.Generator(np.random.PCG64([TRANSFER_CONSTANT, s, 0])).standard_normal((2, n, n)) for s in seeds]
    )
    frames = np.empty((len(seeds), 2, FRAMES, n, n), dtype=np.float32)
    frames[:, :, 0] = state
    dt = setting.duration / (FRAMES - 1) / setting.substeps
    for i in range(1, FRAMES):
        for _ in range(setting.substeps):
            k1 = _slope(state, setting)
            k2 = _slope(state + dt / 2 * k1, setting)
            k3 = _slope(state + dt / 2 * k2, setting)
            k4 = _slope(state + dt * k3, setting)
            state = state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        frames[:, :, i] = state
    return frames


def _slope(state: NDArray[np.float64], setting: Reaction) -> NDArray[np.float64]:
    padded = np.pad(state, ((0, 0), (0, 0), (1, 1), (1, 1)), mode="edge")
    around = padded[..., :-2, 1:-1] + padded[..., 2:, 1:-1] + padded[..., 1:-1, :-2] + padded[..., 1:-1, 2:]
    lap = (around - 4 * state) * (setting.cells / 2) ** 2
    u, v = state[:, 0], state[:, 1]
    slope = np.empty_like(state)
    slope[:, 0] = setting.d_u * lap[:, 0] + u - u * u * u - setting.k - v
    slope[:, 1] = setting.d_v * lap[:, 1] + u - v
    return slope


def add_reaction_noise(fields: NDArray[np.float32], seeds: Sequence[int], level: float) -> NDArray[np.float64]:
    """Return fields with level * rms * N(0, 1) added to u and v, the rms of each of them over its trajectory."""
    noisy = fields.astype(np.float64)
    if level == 0:
        return noisy
    for e, seed in enumerate(seeds):
        rng = np.random.Generator(np.random.PCG64([TRANSFER_CONSTANT, seed, 1 + round(level * 1e6)]))
        rms = np.sqrt(np.mean(noisy[e] ** 2, axis=(1, 2, 3), keepdims=True))
        noisy[e] += level * rms * rng.standard_normal(noisy[e].shape)
    return noisy


@dataclass(frozen=True, slots=True)
class Contract:
    """A library that the verifier is told to search, as columns of `TERMS`.

    Attributes:
        name: Its name.
        columns: Columns of `TERMS`.
        supports: Supports of up to five of its columns.
        truth: The true signature: a support, or `OUTSIDE` where a true term is missing.
    """

    name: str
    columns: tuple[int, ...]
    supports: Supports
    truth: int

    @property
    def is_complete(self) -> bool:
        """Whether the library holds every true term."""
        return self.truth != OUTSIDE


def contracts() -> tuple[Contract, ...]:
    """Return the five library contracts of the transfer."""
    found = []
    for name, terms in CONTRACTS:
        columns = tuple(TERMS.index(term) for term in terms)
        supports = all_supports(len(columns), 5)
        complete = set(TRUE_TERMS) <= set(terms)
        truth = supports.index([terms.index(term) for term in TRUE_TERMS]) if complete else OUTSIDE
        found.append(Contract(name, columns, supports, truth))
    return tuple(found)


def transfer_grams(
    fields: NDArray[np.float64], views: Sequence[View] = TRANSFER_VIEWS, duration: float = 5.0
) -> NDArray[np.float64]:
    """Return the Gram matrices of [A b] on every view, (E, V, 9, 9); the first four frames are dropped.

    A view with K temporal sines uses the spatial tests cos(p pi (x + 1)/2) cos(q pi (y + 1)/2), 0 <= p, q <= K - 1: the
    coarser the view in time, the coarser in space. The Laplacian moves on the test function, whose eigenvalue is
    -(pi/2)^2 (p^2 + q^2).

    Args:
        fields: u and v, (E, 2, 101, cells, cells).
        views: Views of the 97 kept frames.
        duration: Time of the last frame.
    """
    parts = [_grams(fields[at : at + _BLOCK, :, DROPPED:], views, duration) for at in range(0, len(fields), _BLOCK)]
    return np.concatenate(parts)


def _grams(fields: NDArray[np.float64], views: Sequence[View], duration: float) -> NDArray[np.float64]:
    u, v = fields[:, 0], fields[:, 1]
    largest = max(view.modes for view in views)
    projected = _projections((np.ones_like(u[:1]), u, u * u, u * u * u, v, u * v, v * v), largest)
    one, p_u, p_u2, p_u3, p_v, p_uv, p_v2 = projected
    eigen = -((np.pi / 2) ** 2) * (np.arange(largest)[:, None] ** 2 + np.arange(largest) ** 2)
    columns = [np.broadcast_to(one, p_u.shape), p_u, p_u2, p_u3, p_v, eigen * p_u, p_uv, p_v2]
    stacked = np.stack(columns, axis=1)  # (E, J, T, p, q)
    grams = np.empty((len(u), len(views), len(TERMS) + 1, len(TERMS) + 1))
    step = duration / (FRAMES - 1)
    for i, view in enumerate(views):
        n, k = view.samples, view.modes
        spacing = step * view.grid.stride
        weights = quadrature_weights("simpson", n, spacing)
        values, slopes = sine_tests(n, k, spacing * (n - 1))
        shown = stacked[:, :, view.grid.places, :k, :k].reshape(len(u), len(TERMS), n, k * k)
        design = np.matmul(weights * values, shown)
        target = -np.matmul(weights * slopes, shown[:, 1])
        rows = np.concatenate([design, target[:, None]], axis=1).reshape(len(u), len(TERMS) + 1, -1)
        grams[:, i] = rows @ np.swapaxes(rows, 1, 2)
    return grams


def _projections(functions: Sequence[NDArray[np.float64]], modes: int) -> list[NDArray[np.float64]]:
    cells = functions[0].shape[-1]
    x = (np.arange(cells) + 0.5) / cells  # (x + 1)/2 at cell centres
    cosines = np.cos(np.pi * np.arange(modes)[:, None] * x) * (2 / cells)
    return [np.matmul(np.matmul(cosines, function), cosines.T) for function in functions]


def transfer_table(
    grams: NDArray[np.float64],
    contract: Contract,
    rule: Rule = TRANSFER_RULE,
    views: Sequence[View] = TRANSFER_VIEWS,
) -> ViewTable:
    """Return what the verifier says under one library contract, from Gram matrices over all eight terms."""
    kept = [*contract.columns, len(TERMS)]
    names = tuple(TERMS[j] for j in contract.columns)
    return table_of(grams[:, :, kept][:, :, :, kept], views, names, contract.supports, rule)


@dataclass(frozen=True, slots=True)
class Admission:
    """Whether a transfer set may count at all, decided on its reference view before any policy is scored.

    Attributes:
        correctness: Pooled share of right verdicts over the complete contracts.
        wrong_definitive: Wrong definitive verdicts on the complete contracts.
        rejections: Share of right rejections of each omission contract, by name.
    """

    correctness: float
    wrong_definitive: int
    rejections: tuple[tuple[str, float], ...]

    @property
    def is_admitted(self) -> bool:
        """At least 95 % right and none wrong on complete libraries, at least 90 % right on each omission."""
        right = self.correctness >= 0.95 and self.wrong_definitive == 0
        return right and all(share >= 0.9 for _, share in self.rejections)


def admission(reference: Sequence[tuple[Contract, NDArray[np.int64]]]) -> Admission:
    """Return the admission of a transfer set.

    Args:
        reference: For each contract, the signatures at the reference view, (E,).

    Raises:
        InputError: There is no complete contract.
    """
    complete = [(contract, said) for contract, said in reference if contract.is_complete]
    if not complete:
        raise InputError("admission needs at least one contract with a complete library")
    right = sum(int((said == contract.truth).sum()) for contract, said in complete)
    total = sum(said.size for _, said in complete)
    wrong = sum(int(((said != contract.truth) & (said >= OUTSIDE)).sum()) for contract, said in complete)
    rejections = tuple(
        (contract.name, float(np.mean(said == OUTSIDE))) for contract, said in reference if not contract.is_complete
    )
    return Admission(right / total, wrong, rejections)


def transfer_reference_view() -> View:
    """Return the reference view of the transfer: all 97 kept frames and five temporal modes."""
    return reference_views(FRAMES - DROPPED - 1, (5,))[0]


@dataclass(frozen=True, slots=True)
class TransferStudy:
    """The transfer: every seed at every noise level under every library contract.

    Attributes:
        seeds: Seeds of the trajectories; the seed is the cluster.
        noise: Noise levels.
        rule: Thresholds of the verifier.
        setting: The simulation.
        views: Permitted views.
    """

    seeds: tuple[int, ...]
    noise: tuple[float, ...] = (0.0, 0.001, 0.005)
    rule: Rule = TRANSFER_RULE
    setting: Reaction = DEFAULT_REACTION
    views: tuple[View, ...] = TRANSFER_VIEWS


@dataclass(frozen=True, slots=True)
class ContractResult:
    """What the verifier says under one contract; episodes are ordered by noise level, then seed.

    Attributes:
        contract: The contract.
        permitted: Table of the permitted views.
        reference: Signatures at the reference view, (E,).
        seed: Seeds, (E,).
        noise: Noise levels, (E,).
    """

    contract: Contract
    permitted: ViewTable
    reference: NDArray[np.int64]
    seed: NDArray[np.int64]
    noise: NDArray[np.float64]

    @property
    def truth(self) -> NDArray[np.int64]:
        """True signatures, (E,)."""
        return np.full(len(self.seed), self.contract.truth, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class TransferResult:
    """What a transfer gave: its admission, decided on the reference view alone, and one table for each contract."""

    admission: Admission
    contracts: tuple[ContractResult, ...]


def run_transfer(study: TransferStudy) -> TransferResult:
    """Return the tables of a transfer study under all five contracts."""
    fields = reaction_fields(study.seeds, study.setting)
    views = (*study.views, transfer_reference_view())
    grams = np.concatenate(
        [
            transfer_grams(add_reaction_noise(fields, study.seeds, level), views, study.setting.duration)
            for level in study.noise
        ]
    )
    seed = np.tile(np.asarray(study.seeds, dtype=np.int64), len(study.noise))
    noise = np.repeat(np.asarray(study.noise, dtype=np.float64), len(study.seeds))
    found = []
    for contract in contracts():
        table = transfer_table(grams, contract, study.rule, views)
        shown = table.shown(range(len(study.views)))
        found.append(ContractResult(contract, shown, table.signature[:, -1], seed, noise))
    return TransferResult(admission([(one.contract, one.reference) for one in found]), tuple(found))
