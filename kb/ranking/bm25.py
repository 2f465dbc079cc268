"""BM25 over the postings of one segment, in four variants.

With tf the count of a term in a unit, and norm = k1 * (1 - b + b * |d| / avgdl):

- `lucene`: idf * (k1 + 1) * tf / (tf + norm), idf = ln(1 + (N - n + .5) / (n + .5)). Robertson and Zaragoza, "The Probabilistic
  Relevance Framework: BM25 and Beyond" (2009); the idf that can't turn negative is Lucene's.
- `okapi`: the same with idf = ln((N - n + .5) / (n + .5)); where that is negative, a quarter of the mean over all terms.
- `plus`: idf * (1 + (k1 + 1) * tf / (tf + norm)), idf = ln((N + 1) / n); a unit without the term gets idf too. Lv and Zhai,
  "Lower-Bounding Term Frequency Normalization" (2011).
- `l`: idf * (k1 + 1) * tf * (c + .5) / (k1 + c + .5), c = tf * k1 / norm, idf = ln((N + 1) / (n + .5)). Lv and Zhai, "When
  Documents Are Very Long, BM25 Fails!" (2011), multiplied by tf once more.

The last three are those of rank-bm25, signs included. N, n and avgdl are those of the whole base, whatever segments it lies in.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from kb.index.segment import Segment
from kb.index.snapshot import Snapshot, Totals
from kb.ranking import impacts
from kb.ranking.impacts import Impacts
from kb.records import record

if TYPE_CHECKING:
    from numpy.typing import NDArray


_BLOCK = 512
_MANY_BLOCKS = 64
_SMALL = 1 << 17
_DELTA = {"plus": 1.0, "l": 0.5}
_EPSILON = 0.25
_TERM, _FREQUENCY = attrgetter("term"), attrgetter("frequency")
FREQUENT_SHARE = 0.125
"""Terms that stand in this share of all units are kept as one number for every unit: the measured break-even."""
UP, DOWN = 1 + 1e-5, 1 - 1e-5
"""Bounds are widened by more than sums can be off by rounding."""
SPARE = 4
"""Arrays of zeros of one length that a segment keeps: as many as queries are likely to be answered side by side."""


@record
class Parameters:
    """k1 and b of one field, and the variant; `delta` counts in the variants `plus` and `l`."""

    k1: float
    b: float
    scoring: str = "lucene"

    @property
    def delta(self) -> float:
        """The lower bound that two of the variants add: the defaults of rank-bm25."""
        return _DELTA.get(self.scoring, 0.0)


@record
class WeightedTerm:
    """A query term with its weight in one field; `frequency` is the number of live units that hold it.

    `frequent`: so many that what it adds is kept for every unit. `absent`: what a unit without it is given all the same.
    """

    term: str
    frequency: int
    idf: float
    frequent: bool = False
    absent: float = 0.0


def idf(units: int, frequency: int, scoring: str = "lucene", mean: float = 0.0) -> float:
    """Return the weight of a term that stands in `frequency` of `units`.

    Positive for every frequency from 1 on, except in the variant `okapi`, which needs the `mean` of all raw weights.
    """
    if scoring == "plus":
        return math.log((units + 1) / frequency)
    if scoring == "l":
        return math.log(units + 1) - math.log(frequency + 0.5)
    if scoring == "okapi":
        raw = _raw(units, frequency)
        return raw if raw >= 0 else _EPSILON * mean
    return math.log1p((units - frequency + 0.5) / (frequency + 0.5))


def _raw(units: int, frequency: int) -> float:
    return math.log(units - frequency + 0.5) - math.log(frequency + 0.5)


def _mean_raw(snapshot: Snapshot, field: str) -> float:
    """Return the mean raw weight of all terms of a field; worked out once for a state of the index."""
    found = snapshot.memo.get(field)
    if found is None:
        totals: Totals = getattr(snapshot, field)
        counts = snapshot.frequencies(field)
        whole = math.fsum(terms * _raw(totals.units, frequency) for frequency, terms in counts.items())
        found = snapshot.memo[field] = whole / max(sum(counts.values()), 1)
    return found


def weigh(snapshot: Snapshot, field: str, terms: Sequence[tuple[str, float]], scoring: str = "lucene") -> list[WeightedTerm]:
    """Return those of the terms that some live unit of the field holds, with their idf times their own weight."""
    held = snapshot.remembered(f"{field} weighted {scoring}")
    out = []
    for pair in terms:
        try:
            found: WeightedTerm | None = held[pair]
        except KeyError:
            found = held[pair] = _weighed(snapshot, field, *pair, scoring)
        if found is not None:
            out.append(found)
    return out


def _weighed(snapshot: Snapshot, field: str, term: str, weight: float, scoring: str) -> WeightedTerm | None:
    totals: Totals = getattr(snapshot, field)
    frequency = snapshot.frequency(field, term)
    if frequency <= 0:
        return None
    mean = _mean_raw(snapshot, field) if scoring == "okapi" else 0.0
    value = weight * idf(totals.units, frequency, scoring, mean)
    absent = value * _DELTA["plus"] if scoring == "plus" else 0.0
    return WeightedTerm(term, frequency, value, frequency >= FREQUENT_SHARE * totals.units, absent)


def constant(terms: Sequence[WeightedTerm]) -> float:
    """Return what the variant adds to every unit, whether it holds the terms or not."""
    return math.fsum(term.absent for term in terms)


def scores(
    segment: Segment, field: str, terms: Sequence[WeightedTerm], mean: float, parameters: Parameters
) -> NDArray[np.float32]:
    """Return the score of every unit of a field of one segment, dead units included (they are not told apart here).

    0 where a unit holds none of the terms. What a variant adds to every unit is not in it: see `constant`.
    """
    out = np.zeros(len(getattr(segment, field).lengths), dtype=np.float32)
    _add(*in_order(segment, field, terms, mean, parameters), out)
    return out


def _add(rare: Sequence[Impacts], frequent: Sequence[Impacts], out: NDArray[np.float32]) -> None:
    for one in rare:
        one.add_to(out)
    if frequent:
        out += sum_of(frequent)


def in_order(
    segment: Segment, field: str, terms: Sequence[WeightedTerm], mean: float, parameters: Parameters
) -> tuple[list[Impacts], list[Impacts]]:
    """Return the impacts of rare and of frequent terms, each in an order that does not depend on how units lie in segments.

    A score is the sum over the rare ones plus the sum over the frequent ones, added in that order: equal to the last bit
    however it is worked out.
    """
    rare: list[Impacts] = []
    frequent: list[Impacts] = []
    of = impacts.kept(segment, field, mean, parameters).of
    for term in ordered(terms):
        found = of(segment, term)
        if found is not None and len(found.held):
            (frequent if term.frequent else rare).append(found)
    return rare, frequent


def ordered(terms: Sequence[WeightedTerm]) -> Sequence[WeightedTerm]:
    """Return terms in the order in which they are added: those in most units first."""
    return sorted(sorted(terms, key=_TERM), key=_FREQUENCY, reverse=True) if len(terms) > 1 else terms


def sum_of(frequent: Sequence[Impacts], units: NDArray[np.int64] | None = None) -> NDArray[np.float32]:
    """Return what frequent terms add to all units, or to some."""
    out = frequent[0].values.copy() if units is None else frequent[0].values[units]
    for one in frequent[1:]:
        out += one.values if units is None else one.values[units]
    return out


def best_of_all(
    segment: Segment, field: str, rare: Sequence[Impacts], frequent: Sequence[Impacts], count: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return at least the `count` best live units and their scores, unordered: every term, or every rare one, is added to all."""
    out = np.zeros(len(getattr(segment, field).lengths), dtype=np.float32)
    gone = segment.dead_mask(field)
    for one in rare:
        one.add_to(out)
    if gone is not None:
        out[gone] = 0
    if not frequent:
        units = at_least(out, count)
        return units, out[units]
    maxima = maxima_of(out)
    least = bound_of(maxima, count) * DOWN - sum(one.most for one in frequent) * UP
    if least > 0 and min(one.most for one in frequent) >= 0:
        units = above(out, maxima, least)
        exact = out[units] + sum_of(frequent, units)
    else:
        out += sum_of(frequent)
        if gone is not None:
            out[gone] = 0
        units = at_least(out, count)
        exact = out[units]
    kept = at_least(exact, count)
    return units[kept], exact[kept]


def held(segment: Segment, field: str, terms: Sequence[WeightedTerm]) -> NDArray[np.bool_]:
    """Return which units of a field hold one of the terms; in the variant `okapi` scores don't tell."""
    postings = getattr(segment, field)
    out = np.zeros(len(postings.lengths), dtype=bool)
    for term in terms:
        number = segment.number_of(term.term)
        if number is not None:
            out[postings.of(number)[0]] = True
    return out


def contributions(
    segment: Segment, field: str, unit: int, terms: Sequence[WeightedTerm], mean: float, parameters: Parameters
) -> dict[str, float]:
    """Return what each term adds to the score of one unit; -1 stands for a unit that holds nothing."""
    postings = getattr(segment, field)
    norm = impacts.norms(segment, field, mean, parameters)
    out = {weighted.term: weighted.absent for weighted in terms if weighted.absent}
    for weighted in terms if unit >= 0 else ():
        number = segment.number_of(weighted.term)
        if number is None:
            continue
        units, counts = postings.of(number)
        at = int(units.searchsorted(np.int32(unit)))
        if at < len(units) and units[at] == unit:
            value = impacts.saturated(counts[at : at + 1], norm[unit : unit + 1], weighted.idf, parameters)
            out[weighted.term] = float(value[0]) + weighted.absent
    return out


def at_least(values: NDArray[np.float32], count: int, floor: float = 0.0) -> NDArray[np.int64]:
    """Return the positions of at least the `count` highest values above `floor`, ties at the last place included, unordered.

    The count-th largest maximum of blocks bounds the count-th largest value from below; a partition of the whole array,
    mostly zeros, costs many times as much.
    """
    size = len(values)
    if size == 0:
        return np.zeros(0, dtype=np.int64)
    if size <= _BLOCK * count:
        found = (values > floor).nonzero()[0]
    else:
        maxima = maxima_of(values)
        found = above(values, maxima, bound_of(maxima, count), floor)
    if len(found) <= count:
        return found
    chosen = values[found]
    ordered = chosen.copy()
    ordered.partition(len(chosen) - count)
    best: NDArray[np.int64] = found[chosen >= ordered[len(chosen) - count]]
    return best


def maxima_of(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the maximum of each block of values."""
    found: NDArray[np.float32] = np.maximum.reduceat(values, np.arange(0, len(values), _BLOCK))
    return found


def bound_of(maxima: NDArray[np.float32], count: int) -> float:
    """Return a number that at least `count` values reach."""
    if len(maxima) < count:
        return -math.inf
    return float(np.partition(maxima, len(maxima) - count)[len(maxima) - count])


def above(values: NDArray[np.float32], maxima: NDArray[np.float32], least: float, floor: float = 0.0) -> NDArray[np.int64]:
    """Return the positions of the values from `least` on that are above `floor`."""
    blocks = np.flatnonzero(maxima >= least) if least > floor else np.flatnonzero(maxima > floor)
    if len(values) <= _SMALL or len(blocks) > _MANY_BLOCKS:
        return np.flatnonzero(values >= least) if least > floor else np.flatnonzero(values > floor)
    pieces = []
    for block in blocks.tolist():
        start = block * _BLOCK
        piece = values[start : start + _BLOCK]
        pieces.append(np.flatnonzero((piece >= least) & (piece > floor)) + start)
    return np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.int64)
