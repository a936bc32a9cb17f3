"""The two orders of a pair: how often they agree, and both as one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from counterproof.adapters.verdicts.calls import Coded
from counterproof.panel.table import FailureKind

_NAMED = 5


def agreement_notes(coded: Sequence[Coded]) -> list[str]:
    """Return how often the two orders of a channel agree; under a half its verdicts may name positions."""
    pairs: dict[tuple[str, str, str], list[int]] = {}
    for entry in coded:
        if entry.code >= 0:
            call = entry.call
            pairs.setdefault((call.channel, call.item, call.repeat), []).append(entry.code)
    same: dict[str, list[bool]] = {}
    for (channel, _, _), codes in pairs.items():
        if len(codes) == 2:
            same.setdefault(channel, []).append(codes[0] == codes[1])
    shares = {channel: sum(agreed) / len(agreed) for channel, agreed in same.items()}
    if not shares:
        return []
    low, high = min(shares, key=shares.__getitem__), max(shares, key=shares.__getitem__)
    notes = [f"the two orders agree on {shares[low]:.1%} ({low}) to {shares[high]:.1%} ({high}) of the pairs"]
    doubtful = sorted(channel for channel, share in shares.items() if share < 0.5)
    if doubtful:
        listed = ", ".join(doubtful[:_NAMED]) + (
            f" and {len(doubtful) - _NAMED} more" if len(doubtful) > _NAMED else ""
        )
        notes.append(
            f"orders agree on less than half of the pairs in {listed}: do verdicts name outputs, or positions?"
        )
    return notes


def merge_orders(coded: Sequence[Coded]) -> tuple[list[Coded], str]:
    """Return one call for the orders of each pair, and a note that counts those that failed by it.

    A call costs what its orders cost together; where no cost is stated, each counts 1.
    """
    sides: dict[str, set[str]] = {}
    groups: dict[tuple[str, str, str], list[Coded]] = {}
    for entry in coded:
        call = entry.call
        sides.setdefault(call.channel, set()).add(call.side)
        groups.setdefault((call.item, call.channel, call.repeat), []).append(entry)
    if all(entry.call.cost is None for entry in coded):
        groups = {key: [replace(entry, call=replace(entry.call, cost=1.0)) for entry in g] for key, g in groups.items()}
    merged = [_merge(group, len(sides[channel])) for (_, channel, _), group in groups.items()]
    alone = sum(entry.code < 0 and entry.kind is None for entry in merged)
    torn = sum(entry.kind is FailureKind.SCHEMA_DISAGREEMENT for entry in merged)
    note = f"orders merged: {torn} pairs failed because the orders disagree, {alone} lack an order"
    return merged, note


def _merge(group: Sequence[Coded], sides: int) -> Coded:
    """Return one call for the orders of a pair: their common verdict, the failure of one, or their disagreement."""
    costs = [entry.call.cost for entry in group]
    seconds = [entry.call.seconds for entry in group]
    call = replace(
        group[0].call,
        side="",
        cost=None if None in costs else sum(cost for cost in costs if cost is not None),
        seconds=None if None in seconds else sum(time for time in seconds if time is not None),
    )
    failed = next((entry for entry in group if entry.kind is not None), None)
    if failed is not None:
        return Coded(call, -1, failed.kind)
    codes = {entry.code for entry in group}
    if len(group) < sides or -1 in codes:
        return Coded(replace(call, cost=None, seconds=None), -1, None)
    return Coded(call, codes.pop(), None) if len(codes) == 1 else Coded(call, -1, FailureKind.SCHEMA_DISAGREEMENT)
