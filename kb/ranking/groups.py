"""Groups of hits: language variants of one id, which count once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kb.index.snapshot import Snapshot

if TYPE_CHECKING:
    from numpy.typing import NDArray


def count(snapshot: Snapshot, found: Sequence[NDArray[np.int64]]) -> int:
    """Return how many groups the hits found belong to; `found`: the positions of hits, for each segment."""
    out = 0
    for segment, hits in zip(snapshot.segments, found, strict=True):
        if len(segment.group) == len(segment.hit_section):
            out += len(hits)
        else:
            marked = np.zeros(len(segment.group), dtype=bool)
            marked[segment.hit_group[hits]] = True
            out += int(np.count_nonzero(marked))
    shared = _shared(snapshot)
    if shared is not None:
        held = [
            _distinct(groups_[np.isin(at, hits, assume_unique=True)]) for (at, groups_), hits in zip(shared, found, strict=True)
        ]
        out -= sum(map(len, held)) - len(_distinct(np.concatenate(held)))
    return out


def numbered(snapshot: Snapshot, first_hits: Sequence[int]) -> tuple[NDArray[np.int64] | None, int]:
    """Return the number of each live hit's group, and how many numbers there are; None where each is its hit's own.

    Hits go on from segment to segment, from `first_hits` on.
    """
    segments, shared = snapshot.segments, _shared(snapshot)
    if shared is None and all(len(segment.group) == len(segment.hit_section) for segment in segments):
        return None, sum(len(segment.hit_section) for segment in segments)
    parts, end = [], 0
    for segment in segments:
        parts.append(segment.hit_group.astype(np.int64) + end)
        end += len(segment.group)
    out = np.concatenate(parts)
    if shared is not None:
        more = _distinct(np.concatenate([of for _, of in shared]))
        for first, (at, of) in zip(first_hits, shared, strict=True):
            out[at + first] = end + more.searchsorted(of)
        end += len(more)
    return out, end


def _shared(snapshot: Snapshot) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]] | None:
    """Return for each segment its live hits whose group lies in other segments too, and the group of each; None where none does.

    Worked out once for a state of the index.
    """
    if len(snapshot.segments) < 2:
        return None
    if "shared groups" not in snapshot.memo:
        live, groups_ = [], []
        for segment in snapshot.segments:
            alive = np.ones(len(segment.hit_section), dtype=bool)
            alive[segment.dead.hits] = False
            live.append(np.flatnonzero(alive))
            groups_.append(segment.group[segment.hit_group[live[-1]]])
        distinct, counts = np.unique(np.concatenate([_distinct(one) for one in groups_]), return_counts=True)
        more = distinct[counts > 1]
        found = None
        if len(more):
            inside = [np.isin(one, more) for one in groups_]
            found = [(at[mine], of[mine]) for at, of, mine in zip(live, groups_, inside, strict=True)]
        snapshot.memo["shared groups"] = found
    kept: list[tuple[NDArray[np.int64], NDArray[np.int64]]] | None = snapshot.memo["shared groups"]
    return kept


def _distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the distinct values, ascending; a fraction of what numpy's own function takes."""
    found = np.sort(values)
    return found[np.concatenate(([True], found[1:] != found[:-1]))] if len(found) else found
