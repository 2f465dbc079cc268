"""The best units of one segment, without the scores of all.

After Turtle and Flood, "Query evaluation: strategies and optimizations" (1995).

What a term adds at most is known. Once some units are known to reach a score, a unit that holds only terms which together add
less is not among the best: the postings of common terms are read only at the units that rarer terms leave. Scores are those of
`kb.ranking.bm25.scores` to the last bit: bounds decide what is looked at, never what it scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from kb.index.segment import Segment
from kb.ranking import bm25
from kb.ranking.bm25 import Parameters, WeightedTerm
from kb.ranking.impacts import Impacts

if TYPE_CHECKING:
    from numpy.typing import NDArray

Best: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.float32]]"

_UP, _DOWN = 1 + 1e-5, 1 - 1e-5
"""Bounds are widened by more than sums can be off by rounding."""
_FEW_POSTINGS = 4096
_FEW_SHARE = 1 / 64
"""So many postings of rare terms, or such a share of all units: each unit that holds one is looked at."""
_MOST_ADDED = 80_000
"""Up to so many postings of rare terms all are added; of more only those that are needed."""
_FIRST_SHARE, _FIRST_TERMS = 1 / 256, 4
"""The rarest terms, of at least so many postings for each unit, lead to the units whose scores bound those of the best."""
_FIRST_POSTINGS = 1000
_SCANNED_SHARE = 1 / 8
"""From this share of postings on, all units are looked through: the measured break-even."""
_MOST_SEEDS = 300
_FEW = 192
"""So many candidates are scored at once; of more some are ruled out first."""
_PER_LOOKUP = 20
"""Postings that are added in the time that looking up one unit takes."""
_MOST_CANDIDATES = 20_000
_FEW_BEST = 1000
_LARGEST_CODE = 250


def best_units(
    segment: Segment,
    field: str,
    terms: Sequence[WeightedTerm],
    mean: float,
    parameters: Parameters,
    count: int,
    floor: float = 0.0,
) -> Best:
    """Return at least the `count` best live units of a field and their scores, ties at the last place included, unordered.

    Units that score less than `floor` may be left out: with what the best of other segments score, less is looked at.
    Only units that score more than 0 are returned. Terms must not weigh less than nothing where they are to be left out; those
    of the variant `okapi` can, and then all units are scored.
    """
    rare, frequent = bm25.in_order(segment, field, terms, mean, parameters)
    postings = 0
    found: Best | None = None
    for one in rare:
        postings += len(one.values)
        if one.most <= 0:
            break
    else:
        rest = sum([one.most for one in frequent])
        if postings and min([one.most for one in frequent], default=1.0) > 0:
            dead = segment.dead.units if field == "text" else segment.dead.names
            size = len(getattr(segment, field).lengths)
            if floor > 0 and (rest + sum([one.most for one in rare])) * _UP < floor:
                return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)
            if postings > _MOST_ADDED:
                found = _of_some_terms(segment, rare, frequent, rest, size, dead, count, floor)
            else:
                found = _of_all_rare(segment, rare, frequent, rest, size, dead, count, floor, postings)
    return _of_all(segment, field, rare, frequent, count) if found is None else found


def _of_all(segment: Segment, field: str, rare: Sequence[Impacts], frequent: Sequence[Impacts], count: int) -> Best:
    """Add every term to every unit, or at least every rare one."""
    out = np.zeros(len(getattr(segment, field).lengths), dtype=np.float32)
    gone = segment.dead_mask(field)
    for one in rare:
        one.add_to(out)
    if gone is not None:
        out[gone] = 0
    if not frequent:
        units = bm25.at_least(out, count)
        return units, out[units]
    maxima = bm25.maxima_of(out)
    least = bm25.bound_of(maxima, count) * _DOWN - sum(one.most for one in frequent) * _UP
    if least > 0 and min(one.most for one in frequent) >= 0:
        units = bm25.above(out, maxima, least)
        exact = out[units] + bm25.sum_of(frequent, units)
    else:
        out += bm25.sum_of(frequent)
        if gone is not None:
            out[gone] = 0
        units = bm25.at_least(out, count)
        exact = out[units]
    kept = bm25.at_least(exact, count)
    return units[kept], exact[kept]


def _of_all_rare(
    segment: Segment,
    rare: Sequence[Impacts],
    frequent: Sequence[Impacts],
    rest: float,
    size: int,
    dead: NDArray[np.int32],
    count: int,
    floor: float,
    postings: int,
) -> Best | None:
    """Add all rare terms; look at what frequent ones add only where that can matter. None where that is everywhere."""
    spare = segment.scratch.setdefault(size, [])
    sums = spare.pop() if spare else np.zeros(size, dtype=np.float32)
    for one in rare:
        np.add.at(sums, one.held, one.values)
    if len(dead):
        sums[dead] = 0
    first = list(rare)
    if postings > _FEW_POSTINGS and postings > _FEW_SHARE * size:
        first = _first(rare, _FIRST_POSTINGS)
    units = np.concatenate([one.held for one in first], dtype=np.int64)
    values = sums[units]
    # A unit may stand here once for each term: among so many values are `count` units.
    least = _highest(values, count * len(first))
    if not frequent:
        bound = least = max(least, floor)
    else:
        seeds = units[(values >= least).nonzero()[0][:_MOST_SEEDS]] if least > 0 else units[:0]
        reached = (sums[seeds] + bm25.sum_of(frequent, seeds)).tolist()
        known = sorted(dict(zip(seeds.tolist(), reached, strict=True)).values())
        if len(known) >= count:
            least = max(least, known[-count])
        least = max(least, floor)
        bound = least * _DOWN - rest * _UP
    if len(first) < len(rare) and postings >= _SCANNED_SHARE * size:
        units = ((sums >= bound) if bound > 0 else (sums > 0)).nonzero()[0]
        values = sums[units]
        sums.fill(0)
    else:
        if len(first) < len(rare):
            units = np.concatenate([one.held for one in rare], dtype=np.int64)
            values = sums[units]
        chosen = ((values >= bound) if bound > 0 else (values > 0)).nonzero()[0]
        sums[units] = 0
        units, values = units[chosen], values[chosen]
    if len(spare) < bm25.SPARE:
        spare.append(sums)
    if frequent and (bound <= 0 or len(units) > _MOST_CANDIDATES):
        return None
    if frequent:
        values += bm25.sum_of(frequent, units)
    return _best(units, values, count, least * _DOWN)


def _first(rare: Sequence[Impacts], postings: float) -> list[Impacts]:
    """Return the rarest terms: several, of at least so many postings in all."""
    out: list[Impacts] = []
    count = 0
    for one in reversed(rare):
        out.append(one)
        count += len(one.values)
        if count >= postings and len(out) >= _FIRST_TERMS - 1:
            break
    return out


def _of_some_terms(
    segment: Segment,
    rare: Sequence[Impacts],
    frequent: Sequence[Impacts],
    rest: float,
    size: int,
    dead: NDArray[np.int32],
    count: int,
    floor: float,
) -> Best | None:
    """Find candidates by sums of bytes, each a term's impact rounded up: a quarter of the memory is touched."""
    lists = rare[::-1]
    whole = sum([one.most for one in lists])
    step = 0.5
    while whole * _UP + step * len(lists) > _LARGEST_CODE * step:
        step *= 2
    spare = segment.worked_out.setdefault("sums of bytes", [])
    sums: NDArray[np.uint8] = spare.pop() if spare else np.zeros(size, dtype=np.uint8)
    found = _Candidates(sums, lists, frequent, rest + whole, step, dead).best(count, floor)
    sums.fill(0)
    if len(spare) < bm25.SPARE:
        spare.append(sums)
    return found


class _Candidates:
    """One query over one segment: terms added so far, rarest first, and what those not yet added can add at most (`rest`)."""

    def __init__(
        self,
        sums: NDArray[np.uint8],
        lists: Sequence[Impacts],
        frequent: Sequence[Impacts],
        rest: float,
        step: float,
        dead: NDArray[np.int32],
    ) -> None:
        self._sums, self._lists, self._frequent, self._dead = sums, lists, frequent, dead
        self._rest, self._step = rest, step
        self._count = 0

    def best(self, count: int, floor: float) -> Best | None:
        """Return the best units; None where too many would have to be looked at."""
        lists, spent = self._lists, 0
        while self._count < len(lists) and (spent < _FIRST_SHARE * len(self._sums) or self._count < _FIRST_TERMS):
            spent += self._add()
        units, codes = self._read(np.concatenate([one.held for one in lists[: self._count]], dtype=np.int64))
        seeds = np.unique(units[_highest_codes(codes, count * self._count)])
        known = self._exact(seeds)
        least = max(_highest(known, count), floor)
        read = self._count
        while self._count < len(lists) and self._rest * _UP >= least * _DOWN:
            self._add()
        if self._rest * _UP >= least * _DOWN:
            return None
        if read < self._count:
            units = np.concatenate([units, *(one.held for one in lists[read : self._count])], dtype=np.int64)
            units, codes = self._read(units)
        units, codes = self._narrowed(units, codes, least)
        candidates = self._ruled_out(units, codes * np.float32(self._step), least) if len(units) > _FEW else units
        if len(candidates) > _MOST_CANDIDATES:
            return None
        new = sorted({*candidates.tolist()}.difference(seeds.tolist()))
        if new:
            others = np.array(new, dtype=np.int64)
            seeds, known = np.concatenate([seeds, others]), np.concatenate([known, self._exact(others)])
        return _best(seeds, known, count, least * _DOWN)

    def _add(self) -> int:
        """Add the next term; return how many postings it has."""
        one = self._lists[self._count]
        codes = one.codes.get(self._step)
        if codes is None:
            one.codes.clear()
            codes = one.codes[self._step] = np.ceil(one.values * np.float32(_UP / self._step)).astype(np.uint8)
        np.add.at(self._sums, one.held, codes)
        self._count += 1
        self._rest -= one.most
        return len(codes)

    def _read(self, units: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Return units and their sums."""
        if len(self._dead):
            self._sums[self._dead] = 0
        return units, self._sums[units]

    def _narrowed(
        self, units: NDArray[np.int64], codes: NDArray[np.uint8], least: float
    ) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Return the units that may score `least`, once as many terms are added as it takes for few to be left."""
        while True:
            chosen = (codes >= max(int((least * _DOWN - self._rest * _UP) / self._step), 1)).nonzero()[0]
            units, codes = units[chosen], codes[chosen]
            if len(units) <= _FEW or self._count == len(self._lists):
                return units, codes
            if len(self._lists[self._count].values) > _PER_LOOKUP * len(units):
                return units, codes
            self._add()
            units, codes = self._read(units)

    def _ruled_out(self, units: NDArray[np.int64], values: NDArray[np.float32], least: float) -> NDArray[np.int64]:
        """Return the units that may still score `least` when what they hold of the other terms is looked up."""
        rest = self._rest
        for one in (*self._lists[self._count :], *self._frequent):
            values = values + one.at(units)
            rest -= one.most
            kept = (values >= least * _DOWN - rest * _UP).nonzero()[0]
            units, values = units[kept], values[kept]
            if len(units) <= _FEW:
                break
        return units

    def _exact(self, units: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the scores of units, added in the order in which `bm25.scores` adds."""
        numbers = units.astype(np.int32)
        out = _looked_up(self._lists[-1], numbers)
        for one in self._lists[-2::-1]:
            out += _looked_up(one, numbers)
        if self._frequent:
            out += bm25.sum_of(self._frequent, units)
        return out


def _looked_up(one: Impacts, units: NDArray[np.int32]) -> NDArray[np.float32]:
    """Return what a rare term adds to some units, faster than `Impacts.at` for few."""
    at = one.held.searchsorted(units)
    found: NDArray[np.float32] = one.values.take(at, mode="clip") * (one.held.take(at, mode="clip") == units)
    return found


def _highest(values: NDArray[np.float32], count: int) -> float:
    """Return the count-th highest value, 0 where there are fewer."""
    rank = len(values) - count
    if rank < 0:
        return 0.0
    part = values.copy()
    part.partition(rank)
    return float(part[rank])


def _highest_codes(codes: NDArray[np.uint8], count: int) -> NDArray[np.int64]:
    """Return the positions of about `count` highest codes above 0, at most a few hundred."""
    low, high = 1, int(codes.max()) + 1
    while high - low > 1:
        middle = (low + high) >> 1
        if np.count_nonzero(codes >= middle) >= count:
            low = middle
        else:
            high = middle
    return (codes >= low).nonzero()[0][:_MOST_SEEDS]


def _best(units: NDArray[np.int64], values: NDArray[np.float32], count: int, least: float) -> Best:
    """Return the best of units that may stand there more than once, of which `count` are known to reach `least`."""
    if len(units) > _FEW // 4:
        chosen = (values >= least).nonzero()[0]
        units, values = units[chosen], values[chosen]
    if len(units) > _FEW_BEST:
        units, first = np.unique(units, return_index=True)
        kept = bm25.at_least(values[first], count)
        return units[kept], values[first][kept]
    found = dict(zip(units.tolist(), values.tolist(), strict=True))
    if len(found) > count:
        last = sorted(found.values())[-count]
        found = {unit: value for unit, value in found.items() if value >= last}
    return np.array(list(found), dtype=np.int64), np.array(list(found.values()), dtype=np.float32)
