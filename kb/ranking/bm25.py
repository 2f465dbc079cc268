"""BM25 over the postings of one segment.

score(t, d) = idf(t) * (k1 + 1) * tf / (tf + k1 * (1 - b + b * |d| / avgdl)),
idf(t) = ln(1 + (N - n + .5) / (n + .5)).

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009); the idf that can't turn
negative is Lucene's. N, n and avgdl are those of the whole base, whatever segments it lies in.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kb.index.segment import Segment
from kb.index.snapshot import Snapshot, Totals

if TYPE_CHECKING:
    from numpy.typing import NDArray


_BLOCK = 512


@dataclass(frozen=True, slots=True)
class Parameters:
    """k1 and b of one field."""

    k1: float
    b: float


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    """A query term with its idf in one field; `frequency` is the number of live units that hold it."""

    term: str
    frequency: int
    idf: float


def idf(units: int, frequency: int) -> float:
    """Return ln(1 + (N - n + .5) / (n + .5)): positive for every n from 0 to N."""
    return math.log1p((units - frequency + 0.5) / (frequency + 0.5))


def weigh(snapshot: Snapshot, field: str, terms: Sequence[tuple[str, float]]) -> list[WeightedTerm]:
    """Return those of the terms that some live unit of the field holds, with their idf times their own weight."""
    totals: Totals = getattr(snapshot, field)
    out = []
    for term, weight in terms:
        frequency = snapshot.frequency(field, term)
        if frequency > 0:
            out.append(WeightedTerm(term, frequency, weight * idf(totals.units, frequency)))
    return out


def scores(
    segment: Segment, field: str, terms: Sequence[WeightedTerm], mean: float, parameters: Parameters
) -> NDArray[np.float32]:
    """Return the score of every unit of a field of one segment, dead units included (they are not told apart here)."""
    postings = getattr(segment, field)
    out = np.zeros(len(postings.lengths), dtype=np.float32)
    norm = norms(segment, field, mean, parameters)
    for weighted in terms:
        number = segment.terms.find(weighted.term)
        if number is None:
            continue
        units, counts = postings.of(number)
        if len(units):
            np.add.at(out, units, impacts(counts, norm[units], weighted.idf, parameters.k1))
    return out


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


def impacts(counts: NDArray[np.uint8], norm: NDArray[np.float32], weight: float, k1: float) -> NDArray[np.float32]:
    """Return what each posting of a term adds to its unit's score."""
    tf = counts.astype(np.float32)
    return np.float32(weight * (k1 + 1)) * tf / (tf + norm)


def contributions(
    segment: Segment, field: str, unit: int, terms: Sequence[WeightedTerm], mean: float, parameters: Parameters
) -> dict[str, float]:
    """Return what each term adds to the score of one unit."""
    postings = getattr(segment, field)
    norm = norms(segment, field, mean, parameters)
    out = {}
    for weighted in terms:
        number = segment.terms.find(weighted.term)
        if number is None:
            continue
        units, counts = postings.of(number)
        at = int(units.searchsorted(np.int32(unit)))
        if at < len(units) and units[at] == unit:
            out[weighted.term] = float(impacts(counts[at : at + 1], norm[unit : unit + 1], weighted.idf, parameters.k1)[0])
    return out


def at_least(values: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Return the positions of at least the `count` highest positive values, ties at the last place included, unordered.

    The count-th largest maximum of blocks bounds the count-th largest value from below; a partition of the whole array,
    mostly zeros, costs many times as much.
    """
    size = len(values)
    if size == 0:
        return np.zeros(0, dtype=np.int64)
    blocks = -(-size // _BLOCK)
    if blocks <= count:
        found = np.flatnonzero(values > 0)
    else:
        whole = size // _BLOCK * _BLOCK
        maxima = values[:whole].reshape(-1, _BLOCK).max(axis=1)
        if whole != size:
            maxima = np.append(maxima, values[whole:].max())
        bound = max(float(np.partition(maxima, blocks - count)[blocks - count]), 0.0)
        candidates = np.flatnonzero(maxima >= bound) if bound > 0 else np.flatnonzero(maxima > 0)
        pieces = []
        for block in candidates.tolist():
            start = block * _BLOCK
            piece = values[start : start + _BLOCK]
            pieces.append(np.flatnonzero((piece >= bound) & (piece > 0)) + start)
        found = np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.int64)
    if len(found) <= count:
        return found
    held = values[found]
    last = np.partition(held, len(held) - count)[len(held) - count]
    best: NDArray[np.int64] = found[held >= last]
    return best
