"""A space-time field on a uniform grid, as every reader returns it, and its raw form before the checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import InputError, Problem, nearest
from counterproof.core.plan import Digest


@dataclass(frozen=True, slots=True)
class Field:
    """A field sampled on a uniform grid; T times, N, M, ... points along each space axis, C channels.

    Attributes:
        name: File name without its ending; with the sample's name where the file holds several.
        t: Times, equispaced and ascending, (T,).
        space: Points of each space axis, equispaced and ascending: ((N,),) in one dimension, ((N,), (M,)) in two.
        channels: Name of each channel.
        values: Finite values, (T, N, ...); a last axis (C) only where there are several channels.
        digest: SHA-256 of times, points, channel names and values, whatever the file's format.
        notes: What was guessed or changed on reading, for the reader of a report.
    """

    name: str
    t: NDArray[np.float64]
    space: tuple[NDArray[np.float64], ...]
    channels: tuple[str, ...]
    values: NDArray[np.float64]
    digest: Digest
    notes: tuple[str, ...]

    @property
    def x(self) -> NDArray[np.float64]:
        """Points of the first space axis, (N,)."""
        return self.space[0]

    def channel(self, name: str | None = None) -> NDArray[np.float64]:
        """Return the values of one channel, (T, N, ...).

        Args:
            name: Which; may be left out where there is one only.

        Raises:
            InputError: There is no such channel, or there are several and none was named.
        """
        if name is None and len(self.channels) == 1:
            return self.values
        if name not in self.channels:
            hint = nearest(name, self.channels) if name else f"choose from: {', '.join(self.channels)}"
            raise InputError(f"{self.name} has {len(self.channels)} channels, asked for {name!r}; {hint}")
        return self.values if len(self.channels) == 1 else self.values[..., self.channels.index(name)]


@dataclass(frozen=True, slots=True)
class RawField:
    """What a file holds, before the checks.

    Attributes:
        name: Name of the field.
        file: Name of the file, for messages.
        axes: Coordinates by role `t`, `x`, `y`, `z`, as stored; a missing one is absent and noted as a problem.
        channels: Values by channel, as stored, without an axis of samples.
        ordered: Whether the layout fixes the order (t, x, y, z).
        stacked: Whether the last axis holds channels.
        notes: What was guessed.
        problems: What was found wrong so far.
    """

    name: str
    file: str
    axes: Mapping[str, NDArray[Any]]
    channels: Mapping[str, NDArray[Any]]
    ordered: bool = False
    stacked: bool = False
    notes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = field(default=())
