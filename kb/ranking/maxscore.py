"""The best units of one segment, without the scores of all.

After Turtle and Flood, "Query evaluation: strategies and optimizations" (1995).

What a term adds at most is known. Once some units are known to reach a score, a unit that holds only terms which together add
less is not among the best: the postings of common terms are read only at the units that rarer terms leave. Scores are those of
`kb.ranking.bm25.scores` to the last bit: bounds decide what is looked at, never what it scores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from kb.index.segment import Segment
from kb.ranking import bm25, frequent, impacts
from kb.ranking.bm25 import DOWN, UP, Parameters, WeightedTerm
from kb.ranking.frequent import Frequent
from kb.ranking.impacts import Impacts, Kept

if TYPE_CHECKING:
    from numpy.typing import NDArray

Best: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.float32]]"

_FEW_POSTINGS = 4096
_FEW_SHARE = 1 / 64
"""So many postings of rare terms, or such a share of all units: each unit that holds one is looked at."""
_LARGE = 1 << 18
"""From so many units on numbers for all of them do not fit next to the processor: there is a byte for each instead."""
_MOST_ADDED, _MOST_ADDED_LARGE = 80_000, 25_000
"""Up to so many postings of rare terms all are added; of more, and sooner in a large segment, only those that are needed."""
_FIRST_SHARE, _FIRST_TERMS = 1 / 256, 4
"""The rarest terms, of at least so many postings for each unit, lead to the units whose scores bound those of the best."""
_FIRST_POSTINGS = 1000
_SCANNED_SHARE = 1 / 8
"""From this share of postings on, all units are looked through: the measured break-even."""
_GATHERED_SHARE = 1 / 32
"""Up to this share of all units those that hold a term are looked at one by one; of more the highest of each column tell."""
_ROWS = 128
"""All units are looked at as a table of so many rows: where a column's highest is too low nothing of it is looked at."""
_COUNTED = 10_000
"""Up to so many codes counting each is faster than trying which one is reached."""
_SEEDS, _MOST_SEEDS = 64, 300
"""Of the units that come highest at first so many are scored; more where several come equally high."""
_FEW = 64
"""So many candidates are scored at once; of more some are ruled out first."""
_PER_LOOKUP = 20
"""Postings that are added in the time that looking up one unit takes."""
_MOST_CANDIDATES = 20_000
_SEVERAL, _FEW_BEST = 48, 1000
_STEP = 0.5
"""The least step of sums of bytes."""
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
    size = len(getattr(segment, field).lengths)
    table = impacts.kept(segment, field, mean, parameters)
    rare: list[Impacts] = []
    many: list[WeightedTerm] = []
    for term in bm25.ordered(terms):
        if term.frequent:
            many.append(term)
        elif (one := table.of(segment, term)) is not None and len(one.held):
            rare.append(one)
    found: Best | None = None
    if rare and min([term.idf for term in terms]) > 0:
        query = _Query(segment, field, mean, parameters, many, table)
        if floor > 0 and (query.rest + sum([one.most for one in rare])) * UP < floor:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)
        postings = sum([len(one.values) for one in rare])
        if postings > (_MOST_ADDED if size < _LARGE else _MOST_ADDED_LARGE):
            found = _of_some_terms(query, rare, count, floor)
        else:
            found = _of_all_rare(query, rare, count, floor, postings)
    return bm25.best_of_all(segment, field, rare, _held(segment, table, many), count) if found is None else found


class _Query:
    """What a query asks of a field of a segment: its dead units, and its frequent terms, which add at most `rest`."""

    def __init__(
        self,
        segment: Segment,
        field: str,
        mean: float,
        parameters: Parameters,
        many: Sequence[WeightedTerm],
        table: Kept[Impacts],
    ) -> None:
        self.segment, self.size = segment, len(getattr(segment, field).lengths)
        self.dead = segment.dead.units if field == "text" else segment.dead.names
        self.frequent: Sequence[Impacts | Frequent] = ()
        self._by_field = segment, field, mean, parameters
        self._bytes: list[Frequent] = []
        if many and self.size >= _LARGE:
            bytes_of = frequent.kept(*self._by_field).of
            self.frequent = self._bytes = [one for term in many if (one := bytes_of(segment, term)) is not None and one.most > 0]
        elif many:
            self.frequent = self._numbers = _held(segment, table, many)
        self.rest = sum([one.most for one in self.frequent])

    def added(self, units: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return what the frequent terms add to some units."""
        if self._bytes:
            return frequent.sum_of(self._bytes, units, impacts.norms(*self._by_field), self._by_field[3])
        return bm25.sum_of(self._numbers, units)


def _held(segment: Segment, table: Kept[Impacts], terms: Sequence[WeightedTerm]) -> list[Impacts]:
    """Return the impacts of those of some terms that a segment holds."""
    return [one for term in terms if (one := table.of(segment, term)) is not None and len(one.held)]


def _of_all_rare(query: _Query, rare: Sequence[Impacts], count: int, floor: float, postings: int) -> Best | None:
    """Add all rare terms; look at what frequent ones add only where that can matter. None where that is everywhere."""
    size, dead, rest = query.size, query.dead, query.rest
    spare = query.segment.scratch.setdefault(size, [])
    sums = spare.pop() if spare else np.zeros(size, dtype=np.float32)
    for one in rare:
        np.add.at(sums, one.held, one.values)
    if len(dead):
        sums[dead] = 0
    first = list(rare)
    if postings > _FEW_POSTINGS and postings > _FEW_SHARE * size:
        first = _first(rare, _FIRST_POSTINGS)
    units = np.concatenate([one.held for one in first], dtype=np.int64)
    values = sums.take(units)
    # A unit may stand here once for each term: among so many values are `count` units.
    least = _highest(values, count * len(first))
    if not query.frequent:
        bound = least = max(least, floor)
    else:
        seeds = units[(values >= least).nonzero()[0][:_MOST_SEEDS]] if least > 0 else units[:0]
        reached = (sums[seeds] + query.added(seeds)).tolist()
        known = sorted(dict(zip(seeds.tolist(), reached, strict=True)).values())
        if len(known) >= count:
            least = max(least, known[-count])
        least = max(least, floor)
        bound = least * DOWN - rest * UP
    if len(first) < len(rare) and postings >= _SCANNED_SHARE * size:
        units = ((sums >= bound) if bound > 0 else (sums > 0)).nonzero()[0]
        values = sums.take(units)
        sums.fill(0)
    else:
        if len(first) < len(rare):
            units = np.concatenate([one.held for one in rare], dtype=np.int64)
            values = sums.take(units)
        chosen = ((values >= bound) if bound > 0 else (values > 0)).nonzero()[0]
        sums[units] = 0
        units, values = units[chosen], values[chosen]
    if len(spare) < bm25.SPARE:
        spare.append(sums)
    if query.frequent and (bound <= 0 or len(units) > _MOST_CANDIDATES):
        return None
    if query.frequent:
        values += query.added(units)
    return _best(units, values, count, least * DOWN)


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


def _of_some_terms(query: _Query, rare: Sequence[Impacts], count: int, floor: float) -> Best | None:
    """Find candidates by sums of bytes, each a term's impact rounded up: a quarter of the memory is touched."""
    whole = sum([one.most for one in rare])
    step = _STEP
    while whole * UP + step * len(rare) > _LARGEST_CODE * step:
        step *= 2
    room = -(-query.size // _ROWS) * _ROWS  # for a whole last row
    spare = query.segment.worked_out.setdefault(f"sums of {room} bytes", [])
    sums: NDArray[np.uint8] = spare.pop() if spare else np.zeros(room, dtype=np.uint8)
    found = _Candidates(query, sums, rare[::-1], query.rest + whole, step).best(count, floor)
    sums.fill(0)
    if len(spare) < bm25.SPARE:
        spare.append(sums)
    return found


class _Candidates:
    """One query over one segment: terms added so far, rarest first, and what those not yet added can add at most (`rest`)."""

    def __init__(self, query: _Query, sums: NDArray[np.uint8], lists: Sequence[Impacts], rest: float, step: float) -> None:
        self._query, self._sums, self._lists = query, sums, lists
        self._rest, self._step = rest, step
        self._count = self._spent = 0
        self._read: tuple[int, NDArray[np.int64], NDArray[np.uint8]] | None = None
        self._maxima: tuple[int, NDArray[np.uint8]] | None = None

    def best(self, count: int, floor: float) -> Best | None:
        """Return the best units; None where too many would have to be looked at."""
        lists = self._lists
        while self._count < len(lists) and (self._spent < _FIRST_SHARE * len(self._sums) or self._count < _FIRST_TERMS):
            self._add()
        seeds = self._highest(count)
        known = self._exact(seeds)
        least = max(_highest(known, count), floor)
        while self._count < len(lists) and self._rest * UP >= least * DOWN:
            self._add()
        if self._rest * UP >= least * DOWN:
            return None
        candidates = self._narrowed(least)
        if len(candidates) > _MOST_CANDIDATES:
            return None
        new = sorted({*candidates.tolist()}.difference(seeds.tolist()))
        if new:
            others = np.array(new, dtype=np.int64)
            seeds, known = np.concatenate([seeds, others]), np.concatenate([known, self._exact(others)])
        return _best(seeds, known, count, least * DOWN)

    def _add(self) -> None:
        """Add the next term."""
        one = self._lists[self._count]
        codes = one.codes.get(self._step)
        if codes is None:
            one.codes.clear()
            codes = one.codes[self._step] = np.ceil(one.values * np.float32(UP / self._step)).astype(np.uint8)
        np.add.at(self._sums, one.held, codes)
        self._count += 1
        self._spent += len(codes)
        self._rest -= one.most

    def _few(self) -> bool:
        """Tell whether looking at each unit that holds a term is faster than looking at all; take away what is dead."""
        if len(self._query.dead):
            self._sums[self._query.dead] = 0
        return self._spent <= _GATHERED_SHARE * len(self._sums)

    def _held(self) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Return the units that hold a term that was added, some more than once, and their sums."""
        if self._read is None or self._read[0] != self._count:
            units = np.concatenate([one.held for one in self._lists[: self._count]], dtype=np.int64)
            self._read = self._count, units, self._sums.take(units)
        return self._read[1:]

    def _highest_of_columns(self) -> NDArray[np.uint8]:
        if self._maxima is None or self._maxima[0] != self._count:
            self._maxima = self._count, self._sums.reshape(_ROWS, -1).max(axis=0)
        return self._maxima[1]

    def _of_columns(self, columns: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Return the units of some columns, and their sums."""
        width = len(self._sums) // _ROWS
        units = (np.arange(0, len(self._sums), width)[:, None] + columns).ravel()
        return units, self._sums.take(units)

    def _highest(self, count: int) -> NDArray[np.int64]:
        """Return some units of which the sums are highest: `count`, or some more, of those that hold a term; each once."""
        if self._few():
            units, codes = self._held()
            chosen = (codes >= _level(codes, max(count * self._count, _SEEDS))).nonzero()[0][:_MOST_SEEDS]
            return np.array(sorted({*units[chosen].tolist()}), dtype=np.int64)
        count = max(count, _SEEDS)
        maxima = self._highest_of_columns()
        units, codes = self._of_columns((maxima >= _level(maxima, count)).nonzero()[0][:_MOST_SEEDS])
        return units[(codes >= _level(codes, count)).nonzero()[0][:_MOST_SEEDS]]

    def _least_code(self, least: float) -> int:
        """Return the sum that a unit must have to be able to score `least`."""
        return max(math.ceil((least * DOWN - self._rest * UP) / self._step), 1)

    def _narrowed(self, least: float) -> NDArray[np.int64]:
        """Return the units that may score `least`, some more than once; terms are added or looked up until few are left."""
        code = self._least_code(least)
        columns = None if self._few() else (self._highest_of_columns() >= code).nonzero()[0]
        if columns is None or len(columns) * _ROWS > self._spent:
            units, codes = self._held()
        else:
            units, codes = self._of_columns(columns)
        while True:
            chosen = (codes >= code).nonzero()[0]
            units, codes = units[chosen], codes[chosen]
            if len(units) <= _FEW or self._count == len(self._lists):
                break
            if len(self._lists[self._count].values) > _PER_LOOKUP * len(units):
                break
            self._add()
            codes = self._sums.take(units)
            code = self._least_code(least)
        return self._ruled_out(units, codes * np.float32(self._step), least) if len(units) > _FEW else units

    def _ruled_out(self, units: NDArray[np.int64], values: NDArray[np.float32], least: float) -> NDArray[np.int64]:
        """Return the units that may still score `least` when what they hold of the other terms is looked up."""
        rest = self._rest
        for one in (*self._query.frequent, *self._lists[self._count :]):
            values = values + one.most_at(units)
            rest -= one.most
            kept = (values >= least * DOWN - rest * UP).nonzero()[0]
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
        if self._query.frequent:
            out += self._query.added(units)
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


def _level(codes: NDArray[np.uint8], count: int) -> int:
    """Return the highest code that `count` of some codes reach, 1 where fewer are above 0."""
    if len(codes) <= _COUNTED:
        held = np.bincount(codes).tolist()
        for code in range(len(held) - 1, 1, -1):
            count -= held[code]
            if count <= 0:
                return code
        return 1
    low, high = 1, int(codes.max(initial=0)) + 1
    while high - low > 1:
        middle = (low + high) >> 1
        if np.count_nonzero(codes >= middle) >= count:
            low = middle
        else:
            high = middle
    return low


def _best(units: NDArray[np.int64], values: NDArray[np.float32], count: int, least: float) -> Best:
    """Return the best of units that may stand there more than once, of which `count` are known to reach `least`."""
    if len(units) > _SEVERAL:
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
