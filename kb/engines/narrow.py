"""A snapshot of a few hits: what the ranking needs of them, with the statistics of the whole base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kb.index.builder import group_arrays
from kb.index.segment import NOTHING_DEAD, Postings, Segment, ranges
from kb.index.snapshot import Snapshot
from kb.ranking.ranker import HitMask, Ranking, Scored

if TYPE_CHECKING:
    from numpy.typing import NDArray


class NarrowPostings(Postings):
    """The postings of some units of a field."""

    def __init__(self, whole: Postings, units: NDArray[np.int64]) -> None:
        self._whole = whole
        self._units = units.astype(np.int32)
        self.lengths = whole.lengths[units]

    def of(self, term: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """Return the chosen units that hold a term, by their place among the chosen, and how often each does."""
        units, counts = self._whole.of(term)
        if not len(units) or not len(self._units):
            return self._units[:0], counts[:0]
        at = np.minimum(units.searchsorted(self._units), len(units) - 1)
        held = np.flatnonzero(units[at] == self._units)
        return held.astype(np.int32), counts[at[held]]


class NarrowSegment(Segment):
    """Some hits of a segment, with their units and names; everything else is the segment's own."""

    def __init__(self, whole: Segment, hits: NDArray[np.int64]) -> None:
        self.__dict__.update(whole.__dict__)
        self.keep_nothing()
        self.dead = NOTHING_DEAD
        self.hits = hits
        self.units = ranges(whole.hit_start, hits)
        self.names = ranges(whole.name_start, hits)
        self.text = NarrowPostings(whole.text, self.units)
        self.head = NarrowPostings(whole.head, self.names)
        self.hit_section = whole.hit_section[hits]
        self.hit_document = whole.hit_document[hits]
        self.group, self.hit_group = group_arrays(whole.group[whole.hit_group[hits]])
        self.hit_start = _starts(whole.hit_start, hits)
        self.name_start = _starts(whole.name_start, hits)
        self.unit_hit = np.repeat(np.arange(len(hits), dtype=np.int32), np.diff(self.hit_start))
        self.unit_passage = whole.unit_passage[self.units]


class NarrowSnapshot(Snapshot):
    """Some hits of a snapshot. Frequencies and totals are those of all."""

    __slots__ = ("_whole",)
    _whole: Snapshot

    def frequency(self, field: str, term: str) -> int:
        """Return how many live units of the whole base hold a term in a field."""
        return self._whole.frequency(field, term)


def narrow(snapshot: Snapshot, hits: Sequence[NDArray[np.int64]]) -> NarrowSnapshot:
    """Return a snapshot of some hits: for each segment their positions, ascending."""
    segments = tuple(NarrowSegment(segment, chosen) for segment, chosen in zip(snapshot.segments, hits, strict=True))
    out = NarrowSnapshot(snapshot.generation, snapshot.languages, segments, snapshot.text, snapshot.head, {})
    object.__setattr__(out, "_whole", snapshot)  # frozen, as its parent is
    return out


def masks_of(hits: Sequence[NDArray[np.int64]], masks: Sequence[HitMask | None] | None) -> list[HitMask | None] | None:
    """Return masks over the chosen hits."""
    if masks is None:
        return None
    return [None if mask is None else mask[chosen] for chosen, mask in zip(hits, masks, strict=True)]


def widened(ranking: Ranking, snapshot: NarrowSnapshot) -> Ranking:
    """Return a ranking of chosen hits with the positions they have in the whole snapshot."""
    return replace(ranking, hits=tuple(_whole(scored, snapshot) for scored in ranking.hits))


def _whole(scored: Scored, snapshot: NarrowSnapshot) -> Scored:
    segment = snapshot.segments[scored.segment]
    assert isinstance(segment, NarrowSegment)
    return replace(
        scored,
        hit=int(segment.hits[scored.hit]),
        unit=int(segment.units[scored.unit]) if scored.unit >= 0 else -1,
        second=int(segment.units[scored.second]) if scored.second >= 0 else -1,
        name=int(segment.names[scored.name]),
    )


def _starts(starts: NDArray[np.int32], chosen: NDArray[np.int64]) -> NDArray[np.int32]:
    return np.concatenate(([0], np.cumsum(starts[chosen + 1] - starts[chosen]))).astype(np.int32)
