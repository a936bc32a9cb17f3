"""Named arrays as a stage of the ledger: equal arrays give equal bytes, and none of them needs a file of its own."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterproof.core.errors import CorruptLedgerError
from counterproof.store import DONE, Ledger, Row

PART = 1 << 20
"""Bytes of one row."""


def freeze_arrays(ledger: Ledger, stage: str, arrays: Mapping[str, NDArray[Any]], after: tuple[str, ...] = ()) -> None:
    """Write arrays as a stage and freeze it; do nothing where it is frozen already.

    Args:
        ledger: The run's ledger.
        stage: The stage.
        arrays: Arrays by name; numbers, flags or text.
        after: Stages whose roots this one builds on.
    """
    if ledger.is_frozen(stage):
        return
    out = io.BytesIO()
    for name in sorted(arrays):
        out.write(len(name).to_bytes(2, "little") + name.encode())
        np.save(out, np.ascontiguousarray(arrays[name]), allow_pickle=False)
    data = out.getvalue()
    with ledger.writer(stage, after=tuple(ledger.root(name) for name in after)) as writer:
        for start in range(0, max(1, len(data)), PART):
            key = f"part-{start // PART:08d}"
            if key not in writer.finished:
                writer.append([Row(key, 0, DONE, "", data[start : start + PART])])
        writer.freeze()


def frozen_arrays(ledger: Ledger, stage: str) -> dict[str, Any]:
    """Return the arrays of a stage, by name.

    Raises:
        CorruptLedgerError: The stage holds something else.
    """
    data = io.BytesIO(b"".join(payload for _, payload in ledger.results(stage)))
    found: dict[str, Any] = {}
    try:
        while head := data.read(2):
            name = data.read(int.from_bytes(head, "little")).decode()
            found[name] = np.load(data, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise CorruptLedgerError(f"stage '{stage}' holds no arrays: {error}") from None
    return found
