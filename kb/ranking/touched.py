"""Scores of the hits that hold a term, and of no others: what a query costs is what its terms touch, not what the base holds.

For scores that can't be negative, those of the variant `lucene`. Each step is the one that `kb.ranking.ranker` takes for all
hits at once, on fewer of them: sums are added in the same order, so the scores are the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kb.index.segment import LEAD, Segment
from kb.ranking import alternatives, bm25, impacts
from kb.ranking.alternatives import Weighed
from kb.ranking.bm25 import Parameters, WeightedTerm
from kb.records import record

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FEW_SHARE = 1 / 4
"""Up to this share of all positions, sorting them is faster than marking them: the measured break-even."""


@record
class Field:
    """A field's part of a query: its terms, what may stand for them, the mean length of the field's units, BM25's parameters."""

    terms: Sequence[WeightedTerm]
    instead: Sequence[Weighed]
    mean: float
    parameters: Parameters

    @property
    def every(self) -> list[WeightedTerm]:
        """The terms, and those of what may stand for them."""
        return [*self.terms, *(term for one in self.instead for term in one.terms)]


@record
class Shares:
    """What the best passage, the next best, the lead and the best name add to a hit, as shares of their scores."""

    passage: float
    second: float
    lead: float
    title: float


@record
class Touched:
    """Hits of one segment, ascending, with their scores; and the scores of all units and names, 0 where nothing is held.

    Once all is read, `give_back` lets the next query have what was made for all units; `written` says where they are not 0.
    """

    hits: NDArray[np.int64]
    scores: NDArray[np.float32]
    units: NDArray[np.float32]
    names: NDArray[np.float32]
    written: tuple[NDArray[np.int64], NDArray[np.int64]] | None

    def give_back(self, segment: Segment) -> None:
        """Let the next query have the arrays."""
        for scores, written in zip((self.units, self.names), self.written or (), strict=False):
            _give(segment, scores, written)


def find(
    segment: Segment,
    text: Field,
    near: Sequence[WeightedTerm],
    head: Field,
    shares: Shares,
    boosts: Mapping[int, float],
    allowed: NDArray[np.bool_] | None,
) -> Touched:
    """Return the live hits that hold one of the terms or are in `boosts`, where `allowed` lets them through.

    `near`: terms that add to hits that hold others. `boosts`: what is added to single hits.
    """
    units, names = _take(segment, len(segment.text.lengths)), _take(segment, len(segment.head.lengths))
    in_units, in_names = _add(segment, "text", text, units), _add(segment, "head", head, names)
    named = _name_hits(segment)[in_names]
    hits = _distinct([segment.unit_hit[in_units], named, np.fromiter(boosts, np.int32, len(boosts))], len(segment.hit_section))
    scores = _of_units(segment, units, in_units, hits, shares)
    if len(names):
        best = _take(segment, len(segment.hit_section))
        np.maximum.at(best, named, names[in_names])
        scores += np.float32(shares.title) * best[hits]
        _give(segment, best, named)
    if near:
        plain = _of_units(segment, units, in_units, hits, shares)
        more = _take(segment, len(units))
        also = bm25.add(segment, "text", near, text.mean, text.parameters, more)
        units[also] = units[also] + more[also]  # written by position: a unit may stand there more than once
        _give(segment, more, also)
        in_units = np.concatenate([in_units, also])
        scores += (_of_units(segment, units, in_units, hits, shares) - plain) * (scores > 0)
    for hit, value in boosts.items():
        at = int(hits.searchsorted(hit))
        scores[at] = max(scores[at], np.float32(0)) + np.float32(value)
    kept = scores > 0
    _without(kept, hits, segment.dead.hits)
    if allowed is not None:
        kept &= allowed[hits]
    if not kept.all():
        hits, scores = hits[kept], scores[kept]
    return Touched(hits, scores, units, names, (in_units, in_names))


def _add(segment: Segment, name: str, field: Field, out: NDArray[np.float32]) -> NDArray[np.int64]:
    """Add the scores of a field's units to zeros; return the units written."""
    written = bm25.add(segment, name, field.terms, field.mean, field.parameters, out)
    if field.instead:
        alternatives.add(segment, name, field.instead, field.mean, field.parameters, out)
        forms = (impacts.of(segment, name, term, field.mean, field.parameters) for one in field.instead for term in one.terms)
        written = np.concatenate([written, *(one.held for one in forms if one is not None)])
    return written


def _of_units(
    segment: Segment, units: NDArray[np.float32], written: NDArray[np.int64], hits: NDArray[np.int64], shares: Shares
) -> NDArray[np.float32]:
    """Return the score of each of the hits from the scores of its units; those `written` are all that are not 0."""
    if not len(units):
        return np.zeros(len(hits), dtype=np.float32)
    last = segment.hit_start[hits + 1] - 1
    lead = units[last]
    lead[last < segment.hit_start[hits]] = 0  # a hit without text
    if _one_each(segment):
        only: NDArray[np.float32] = np.float32(shares.passage) * lead + np.float32(shares.lead) * lead
        return only
    of_hit, passages = segment.unit_hit[written].astype(np.int64), units[written]
    passages[segment.unit_passage[written] == LEAD] = 0
    best = _take(segment, len(segment.hit_section))
    np.maximum.at(best, of_hit, passages)
    # The next best: what is left once each hit's best is taken away; of equals all go.
    lower = passages < best[of_hit]
    below = of_hit[lower]
    second = _take(segment, len(segment.hit_section))
    np.maximum.at(second, below, passages[lower])
    out = np.float32(shares.passage) * best[hits] + np.float32(shares.lead) * lead
    out += np.float32(shares.second) * second[hits]
    _give(segment, best, of_hit)
    _give(segment, second, below)
    return out


def _distinct(parts: Sequence[NDArray[np.integer]], size: int) -> NDArray[np.int64]:
    """Return the distinct positions in the parts, ascending; all are below `size`."""
    found = np.concatenate(parts, dtype=np.int32)
    if len(found) > _FEW_SHARE * size:
        marked = np.zeros(size, dtype=bool)
        marked[found] = True
        return np.flatnonzero(marked)
    found.sort()
    new = np.ones(len(found), dtype=bool)
    np.not_equal(found[1:], found[:-1], out=new[1:])
    return found[new].astype(np.int64)


def _without(kept: NDArray[np.bool_], hits: NDArray[np.int64], dead: NDArray[np.int32]) -> None:
    """Take the dead out of what is kept."""
    if len(dead) and len(hits):
        at = np.minimum(hits.searchsorted(dead), len(hits) - 1)
        kept[at[hits[at] == dead]] = False


def _one_each(segment: Segment) -> bool:
    """Tell whether each hit has one passage at most."""
    found: bool | None = segment.worked_out.get("one each")
    if found is None:
        starts = segment.hit_start
        found = len(segment.text.lengths) == int(np.count_nonzero(starts[1:] > starts[:-1]))
        segment.worked_out["one each"] = found
    return found


def _name_hits(segment: Segment) -> NDArray[np.int32]:
    """Return the hit of each name."""
    found: NDArray[np.int32] | None = segment.worked_out.get("name hits")
    if found is None:
        found = np.repeat(np.arange(len(segment.hit_section), dtype=np.int32), np.diff(segment.name_start))
        segment.worked_out["name hits"] = found
    return found


def _take(segment: Segment, size: int) -> NDArray[np.float32]:
    """Return an array of zeros that nobody else has."""
    held = segment.scratch.get(size)
    return held.pop() if held else np.zeros(size, dtype=np.float32)


def _give(segment: Segment, array: NDArray[np.float32], written: NDArray[np.integer]) -> None:
    """Make an array zeros again and keep it for the next query."""
    array[written] = 0
    held = segment.scratch.setdefault(len(array), [])
    if len(held) < bm25.SPARE:
        held.append(array)
