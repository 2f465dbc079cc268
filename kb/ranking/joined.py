"""The segments of a state of the index as one run of units, names and hits, and what terms add to them.

Numbers go on from segment to segment, so that a query costs Python's own time once and not once for each segment. What later
writes have removed is in no posting here. A state of a single segment shares that one's arrays.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kb.index.segment import Segment
from kb.index.snapshot import Snapshot
from kb.ranking import bm25, groups, impacts
from kb.ranking.bm25 import Parameters, WeightedTerm

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

_LEAST_KEPT = 16 << 20
_MOST_KEPT = 128 << 20
"""Bytes of what terms add that are kept: a quarter of what the segment files have, from 16 to 128 MB; the oldest go first."""


class Term:
    """What a term adds in a field: `values` for each of the units `held`, ascending, or for every unit where it is `frequent`.

    `most`: the highest of the values. `place` orders terms so that sums do not depend on how units lie in segments, nor on the
    order of a query.
    """

    __slots__ = ("frequent", "held", "most", "place", "values", "weighted")

    def __init__(self, weighted: WeightedTerm, held: NDArray[np.int32], values: NDArray[np.float32]) -> None:
        self.weighted = weighted
        self.held = held
        self.values = values
        self.frequent = weighted.frequent
        self.most = float(values.max()) if len(values) else 0.0
        self.place = (-weighted.frequency, weighted.term)

    @property
    def at_held(self) -> NDArray[np.float32]:
        """What is added to each of the units that hold the term."""
        return self.values[self.held] if self.frequent else self.values


class Joined:
    """The units, names and hits of all segments. `group`: the number of each hit's group, below `groups`; None for its own.

    `one_each`: every hit has one unit and no more, whose number is the hit's own.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        segments = self.segments = snapshot.segments
        self.first_unit, self.units = _counted(len(segment.text.lengths) for segment in segments)
        self.first_name, self.names = _counted(len(segment.head.lengths) for segment in segments)
        self.first_hit, self.hits = _counted(len(segment.hit_section) for segment in segments)
        self.hit_start = _starts([segment.hit_start for segment in segments], self.first_unit)
        self.name_start = _starts([segment.name_start for segment in segments], self.first_name)
        self.name_hit = _moved([_name_hits(segment) for segment in segments], self.first_hit)
        self.one_each = self.units == self.hits and all(_one_each(segment) for segment in segments)
        self.unit_hit = _moved([segment.unit_hit for segment in segments], self.first_hit)
        self.group, self.groups = groups.numbered(snapshot, self.first_hit)
        self._means = {"text": snapshot.text.mean, "head": snapshot.head.mean}
        self._sizes = {"text": self.units, "head": self.names}
        self._spare: dict[Any, list[Any]] = {}
        self._terms: dict[tuple[str, float, float], dict[Any, Term | None]] = {}
        self._room = min(max(_LEAST_KEPT, sum(segment.arrays.size for segment in segments) // 4), _MOST_KEPT)
        self._bytes = 0

    # -- places ----------------------------------------------------------------------------------------------------

    def segment_of(self, hit: int) -> int:
        """Return the position of the segment that a hit lies in."""
        return bisect_right(self.first_hit, hit) - 1

    def sections_of(self, hits: Sequence[int]) -> list[int]:
        """Return the sections of hits, in their order."""
        places = ((hit, self.segment_of(hit)) for hit in hits)
        return [int(self.segments[at].hit_section[hit - self.first_hit[at]]) for hit, at in places]

    # -- terms -----------------------------------------------------------------------------------------------------

    def weigh(self, snapshot: Snapshot, field: str, terms: Sequence[tuple[str, float]], parameters: Parameters) -> list[Term]:
        """Return those of the terms that some live unit of a field holds, each with its own weight; in their order."""
        held = self._of_field(field, parameters)
        out = []
        for pair in terms:
            try:
                found = held[pair]
            except KeyError:
                weighted = bm25.weigh(snapshot, field, [pair], parameters.scoring)
                found = held[pair] = self._joined(field, weighted[0], parameters) if weighted else None
            if found is not None:
                out.append(found)
        return out

    def term(self, field: str, weighted: WeightedTerm, parameters: Parameters) -> Term:
        """Return what a term that has been weighed adds."""
        held = self._of_field(field, parameters)
        key = (weighted.term, weighted.idf, weighted.frequent)
        found = held.get(key)
        if found is None:
            found = held[key] = self._joined(field, weighted, parameters)
        return found

    def _of_field(self, field: str, parameters: Parameters) -> dict[Any, Term | None]:
        if self._bytes > self._room:
            self._make_room()
        key = (field, parameters.k1, parameters.b)
        found = self._terms.get(key)
        if found is None:
            found = self._terms[key] = {}
        return found

    def _make_room(self) -> None:
        """Let go of the older half of what is kept for each field."""
        self._bytes = 0
        for held in list(self._terms.values()):
            for key in list(held)[: len(held) // 2 + 1]:
                held.pop(key, None)
            self._bytes += sum(_bytes_of(term) for term in list(held.values()) if term is not None)

    def _joined(self, field: str, weighted: WeightedTerm, parameters: Parameters) -> Term:
        mean = self._means[field]
        first = self.first_unit if field == "text" else self.first_name
        held: list[NDArray[np.int32]] = []
        values: list[NDArray[np.float32]] = []
        for base, segment in zip(first, self.segments, strict=False):
            one = impacts.of(segment, field, weighted, mean, parameters)
            if one is None:
                if weighted.frequent:
                    values.append(np.zeros(len(getattr(segment, field).lengths), dtype=np.float32))
                continue
            here, adds = one.held, one.values
            gone = segment.dead_mask(field)
            if gone is not None:
                live = ~gone[here]
                if weighted.frequent:
                    adds = adds.copy()
                    adds[gone] = 0
                elif not live.all():
                    adds = adds[live]
                here = here if live.all() else here[live]
            held.append(here if base == 0 else here + np.int32(base))
            values.append(adds)
        if weighted.idf == 0:  # it adds nothing, and so brings in nothing
            held, values = [], [np.zeros(self._sizes[field], dtype=np.float32)] if weighted.frequent else []
        made = Term(weighted, _one(held, np.int32), _one(values, np.float32))
        self._bytes += _bytes_of(made)
        return made

    # -- sums ------------------------------------------------------------------------------------------------------

    def take(self, size: int) -> NDArray[np.float32]:
        """Return an array of zeros that nobody else has."""
        held = self._spare.get(size)
        return held.pop() if held else np.zeros(size, dtype=np.float32)

    def give(self, array: NDArray[np.float32], written: NDArray[np.integer] | None) -> None:
        """Make an array zeros again, where it was `written` or, for None, everywhere, and keep it for the next query."""
        if written is None:
            array.fill(0)
        else:
            array[written] = 0
        held = self._spare.setdefault(len(array), [])
        if len(held) < bm25.SPARE:
            held.append(array)

    def once(self, numbers: NDArray[np.integer], size: int) -> NDArray[np.integer]:
        """Return each of some numbers once, in no order; all are below `size`."""
        # Of those that are written to one place the last stays, and that one alone finds itself there again.
        held = self._spare.setdefault(("places", size), [])
        places = held.pop() if held else np.empty(size, dtype=np.int32)
        order = np.arange(len(numbers), dtype=np.int32)
        places[numbers] = order
        last = places.take(numbers) == order
        if len(held) < bm25.SPARE:
            held.append(places)
        found: NDArray[np.integer] = numbers[last]
        return found


def of(snapshot: Snapshot) -> Joined:
    """Return the segments of a snapshot as one; worked out once."""
    found: Joined | None = snapshot.memo.get("joined")
    if found is None:
        found = snapshot.memo["joined"] = Joined(snapshot)
    return found


def add(terms: Sequence[Term], out: NDArray[np.float32]) -> None:
    """Add what terms give to units: rare ones one after the other, then the sum of the frequent ones, as `bm25.scores` does."""
    frequent = None
    for term in sorted(terms, key=_place) if len(terms) > 1 else terms:
        if not term.frequent:
            np.add.at(out, term.held, term.values)
        elif frequent is None:
            frequent = term.values
        else:
            frequent = frequent + term.values
    if frequent is not None:
        out += frequent


def _place(term: Term) -> tuple[int, str]:
    return term.place


def _bytes_of(term: Term) -> int:
    return int(term.held.nbytes + term.values.nbytes)


def _counted(sizes: Iterable[int]) -> tuple[list[int], int]:
    """Return the number that each part begins with, and how many all have."""
    firsts, end = [], 0
    for size in sizes:
        firsts.append(end)
        end += size
    return firsts, end


def _moved(parts: Sequence[NDArray[np.int32]], firsts: Sequence[int]) -> NDArray[np.int32]:
    if len(parts) == 1:
        return parts[0]
    return _one([part + np.int32(first) for part, first in zip(parts, firsts, strict=True)], np.int32)


def _starts(parts: Sequence[NDArray[np.int32]], firsts: Sequence[int]) -> NDArray[np.int32]:
    if len(parts) == 1:
        return parts[0]
    moved = [part[:-1] + np.int32(first) for part, first in zip(parts, firsts, strict=True)]
    last = [parts[-1][-1:] + np.int32(firsts[-1])] if parts else [np.zeros(1, dtype=np.int32)]
    return np.concatenate([*moved, *last], dtype=np.int32)


def _one(parts: Sequence[NDArray[Any]], kind: type) -> NDArray[Any]:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts, dtype=kind) if parts else np.zeros(0, dtype=kind)


def _one_each(segment: Segment) -> bool:
    """Tell whether each hit of a segment has one unit."""
    found: bool | None = segment.worked_out.get("one each")
    if found is None:
        starts = segment.hit_start
        found = segment.worked_out["one each"] = bool((starts[1:] - starts[:-1] == 1).all())
    return found


def _name_hits(segment: Segment) -> NDArray[np.int32]:
    """Return the hit of each name of a segment."""
    found: NDArray[np.int32] | None = segment.worked_out.get("name hits")
    if found is None:
        found = np.repeat(np.arange(len(segment.hit_section), dtype=np.int32), np.diff(segment.name_start))
        segment.worked_out["name hits"] = found
    return found
