"""What each posting of a term adds to its unit's score, worked out once and kept with the segment.

A segment file holds counts only, so that edits leave no trace. What a term adds depends on statistics of the whole base, and
stays the same until the next write; terms that come often (function words, the words of a subject) are worked out once. A term
that stands in many units is kept as one number for every unit: adding a whole array takes a fraction of adding at positions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import numpy as np

from kb.index.segment import Postings, Segment
from kb.records import record

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kb.ranking.bm25 import Parameters, WeightedTerm

_LEAST_KEPT = 64 << 20
_MOST_KEPT = 512 << 20
"""Bytes that are kept for a segment: as many as its file has, from 64 to 512 MB; what was not used lately goes first."""
_MOST_ABSENT = 100_000
"""Terms remembered at once, where that takes no room to speak of: those that a segment does not hold."""


@record
class Impacts:
    """What a term adds: `values` for each of `units`, ascending, or for every unit where `units` is None; `most` of them.

    `held`: the units that hold the term, in either case. `codes`: what `kb.ranking.maxscore` has made of the values.
    """

    units: NDArray[np.int32] | None
    values: NDArray[np.float32]
    most: float
    held: NDArray[np.int32]
    codes: dict[float, NDArray[np.uint8]]

    @property
    def nbytes(self) -> int:
        """The bytes that are kept of it, codes included: those of `held` lie in the segment's file."""
        return self.values.nbytes + len(self.held)

    def add_to(self, out: NDArray[np.float32]) -> None:
        """Add to the scores of all units."""
        if self.units is None:
            np.add(out, self.values, out=out)
        else:
            np.add.at(out, self.units, self.values)

    def most_at(self, units: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return what is added to some units, 0 for those that don't hold the term."""
        if self.units is None:
            return self.values[units]
        if not len(self.units):
            return np.zeros(len(units), dtype=np.float32)
        numbers = units.astype(np.int32)
        at = self.units.searchsorted(numbers)
        found: NDArray[np.float32] = self.values.take(at, mode="clip") * (self.units.take(at, mode="clip") == numbers)
        return found


def of(segment: Segment, field: str, weighted: WeightedTerm, mean: float, parameters: Parameters) -> Impacts | None:
    """Return what a term adds in a field of a segment; None where the segment does not hold it."""
    return kept(segment, field, mean, parameters).of(segment, weighted)


def kept(segment: Segment, field: str, mean: float, parameters: Parameters) -> Kept[Impacts]:
    """Return what is kept of a field of a segment under some parameters: a query of many terms looks it up once."""
    key = (field, mean, parameters.k1, parameters.b, parameters.scoring)
    found: Kept[Impacts] | None = segment.impacts.get(key)
    if found is None:
        found = segment.impacts[key] = _Table(field, mean, parameters)
    return found


class _Sized(Protocol):
    @property
    def nbytes(self) -> int: ...


T = TypeVar("T", bound=_Sized)


class Kept(Generic[T]):
    """What was worked out of terms in one segment when first asked for: what was used lately, and what before that.

    It is kept by the segment, and does not hold it: the segment's file is let go as soon as nobody uses it.
    """

    def __init__(self, field: str, mean: float, parameters: Parameters) -> None:
        self._field, self._mean, self._parameters = field, mean, parameters
        self._lately: dict[tuple[str, float, bool], T | None] = {}
        self._before: dict[tuple[str, float, bool], T | None] = {}

    def of(self, segment: Segment, weighted: WeightedTerm) -> T | None:
        """Return what is kept of a term; None where the segment does not hold it."""
        key = (weighted.term, weighted.idf, weighted.frequent)
        try:
            return self._lately[key]
        except KeyError:
            return self._found(segment, key, weighted)

    def _found(self, segment: Segment, key: tuple[str, float, bool], weighted: WeightedTerm) -> T | None:
        if key in self._before:
            found = self._before[key]
        else:
            number = segment.number_of(weighted.term)
            found = None if number is None else self._made(segment, number, weighted)
        if found is not None:
            _make_room(segment, found.nbytes)
        elif len(self._lately) >= _MOST_ABSENT:
            self._lately = {}
        self._lately[key] = found
        return found

    def _made(self, segment: Segment, number: int, weighted: WeightedTerm) -> T:
        raise NotImplementedError

    def held(self) -> list[T | None]:
        """Return all that is kept."""
        return [*self._lately.values(), *self._before.values()]

    def grow_old(self) -> bool:
        """Let go of what was not used lately; tell whether anything is left."""
        self._lately, self._before = {}, self._lately
        return bool(self._before)


class _Table(Kept[Impacts]):
    """The impacts of the terms of a field of a segment."""

    def _made(self, segment: Segment, number: int, weighted: WeightedTerm) -> Impacts:
        postings: Postings = getattr(segment, self._field)
        units, counts = postings.of(number)
        norm = norms(segment, self._field, self._mean, self._parameters).take(units)
        values = saturated(counts, norm, weighted.idf, self._parameters)
        most = float(values.max()) if len(values) else 0.0
        if not weighted.frequent:
            return Impacts(units, values, most, units, {})
        dense = np.zeros(len(postings.lengths), dtype=np.float32)
        dense[units] = values
        return Impacts(None, dense, most, units, {})


def _make_room(segment: Segment, new: int) -> None:
    """Count bytes that are to be kept. What was used lately may take half of the room, what was used before that the other."""
    limit = min(max(_LEAST_KEPT, segment.arrays.size), _MOST_KEPT)
    segment.impact_bytes[0] += new
    if segment.impact_bytes[0] > limit // 2:
        for key, one in list(segment.impacts.items()):
            if not one.grow_old():
                segment.impacts.pop(key, None)
        segment.impact_bytes[0] = new


def norms(segment: Segment, field: str, mean: float, parameters: Parameters) -> NDArray[np.float32]:
    """Return k1 * (1 - b + b * |d| / avgdl) for every unit of a field; kept with the segment."""
    key = (field, mean, parameters.k1, parameters.b)
    found = segment.norms.get(key)
    if found is None:
        lengths = getattr(segment, field).lengths
        found = (parameters.k1 * (1 - parameters.b + parameters.b * (lengths / (mean or 1.0)))).astype(np.float32)
        segment.norms.clear() if len(segment.norms) > 8 else None
        segment.norms[key] = found
    return found


def saturated(
    counts: NDArray[np.uint8], norm: NDArray[np.float32], weight: float | NDArray[np.float64], parameters: Parameters
) -> NDArray[np.float32]:
    """Return what postings add to their units' scores: `counts` of the term and `norm` of the unit, element by element.

    `counts` may have a row for each of several terms, and `weight` the weight of each in a row of its own.
    """
    tf = counts.astype(np.float32)
    k1 = np.float32(parameters.k1)
    factor = np.asarray(weight * (parameters.k1 + 1), dtype=np.float32)
    if parameters.scoring != "l":
        lucene: NDArray[np.float32] = tf + norm
        tf *= factor
        return np.divide(tf, lucene, out=lucene)
    # rank-bm25's BM25L, which multiplies by tf once more than Lv and Zhai do; norm / k1 is 1 - b + b * |d| / avgdl.
    shifted = (tf * k1 / norm if parameters.k1 else tf) + np.float32(parameters.delta)
    out: NDArray[np.float32] = factor * tf * shifted / (k1 + shifted)
    return out
