"""Terms that stand in many units, kept as a byte for each unit: a quarter of what one number for each takes.

The byte is how often the term stands in the unit. What that adds is told from the length of the unit, and it is bounded by the
most that so many occurrences add to any.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kb.index.segment import Postings, Segment
from kb.ranking import impacts
from kb.ranking.impacts import Kept

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kb.ranking.bm25 import Parameters, WeightedTerm


class Frequent:
    """A frequent term in one field of a segment, of a weight above 0.

    `counts`: of each unit how often the term stands there; `most_of`: for each count the most that it adds; `most`: the highest.
    """

    __slots__ = ("counts", "most", "most_of", "weight")

    def __init__(self, postings: Postings, term: int, weight: float, norms: NDArray[np.float32], parameters: Parameters) -> None:
        units, counts = postings.of(term)
        self.weight = weight
        self.counts = np.zeros(len(postings.lengths), dtype=np.uint8)
        self.counts[units] = counts
        self.most_of = np.zeros(256, dtype=np.float32)
        np.maximum.at(self.most_of, counts, impacts.saturated(counts, norms.take(units), weight, parameters))
        self.most = float(self.most_of.max())

    @property
    def nbytes(self) -> int:
        """The bytes that are kept of it."""
        return self.counts.nbytes + self.most_of.nbytes

    def most_at(self, units: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return what is added to some units at most."""
        return self.most_of.take(self.counts.take(units))


class _Table(Kept[Frequent]):
    """The frequent terms of a field of a segment."""

    def _made(self, segment: Segment, number: int, weighted: WeightedTerm) -> Frequent:
        postings: Postings = getattr(segment, self._field)
        norms = impacts.norms(segment, self._field, self._mean, self._parameters)
        return Frequent(postings, number, weighted.idf, norms, self._parameters)


def kept(segment: Segment, field: str, mean: float, parameters: Parameters) -> Kept[Frequent]:
    """Return what is kept of the frequent terms of a field of a segment under some parameters."""
    key = ("frequent", field, mean, parameters.k1, parameters.b, parameters.scoring)
    found: Kept[Frequent] | None = segment.impacts.get(key)
    if found is None:
        found = segment.impacts[key] = _Table(field, mean, parameters)
    return found


def sum_of(
    terms: Sequence[Frequent], units: NDArray[np.int64], norms: NDArray[np.float32], parameters: Parameters
) -> NDArray[np.float32]:
    """Return what terms add to some units, to the last bit what `kb.ranking.bm25.sum_of` gives. `norms`: those of all units."""
    norm = norms.take(units)
    if len(terms) == 1:
        return _added(terms[0].counts.take(units), norm, terms[0].weight, parameters)
    counts = np.empty((len(terms), len(units)), dtype=np.uint8)
    for number, one in enumerate(terms):
        one.counts.take(units, out=counts[number], mode="clip")
    rows = _added(counts, norm, np.array([one.weight for one in terms])[:, None], parameters)
    out: NDArray[np.float32] = rows[0]
    for row in rows[1:]:
        out += row
    return out


def _added(
    counts: NDArray[np.uint8], norm: NDArray[np.float32], weight: float | NDArray[np.float64], parameters: Parameters
) -> NDArray[np.float32]:
    """Return what terms add that may not stand in a unit."""
    if parameters.k1 > 0:  # what stands nowhere adds nothing
        return impacts.saturated(counts, norm, weight, parameters)
    return impacts.saturated(np.maximum(counts, 1), norm, weight, parameters) * (counts > 0)
