"""All hits for a plan, for scores that can be 0 or less, or the same for hits with and without a term: each one is scored."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kb.index.segment import Segment
from kb.index.snapshot import Snapshot
from kb.ranking import alternatives, bm25, groups
from kb.ranking.alternatives import Form, Weighed
from kb.ranking.best import Shares
from kb.ranking.bm25 import Parameters, WeightedTerm
from kb.ranking.plan import Plan
from kb.ranking.ranker import (
    HitMask,
    Ranking,
    Scored,
    Weights,
    best_name,
    best_unit,
    boosts_of,
    ceiling,
    holding,
    second_unit,
    terms_of,
)
from kb.records import record

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FLOOR = {"lucene": 0.0}
"""What a hit scores that holds none of the words: in the other variants a hit that holds some may score less than 0."""


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
class Touched:
    """Hits of one segment, ascending, with their scores; and the scores of all units and names, 0 where nothing is held."""

    hits: NDArray[np.int64]
    scores: NDArray[np.float32]
    units: NDArray[np.float32]
    names: NDArray[np.float32]


def rank(
    snapshot: Snapshot,
    plan: Plan,
    count: int,
    named: Mapping[int, float],
    masks: Sequence[HitMask | None] | None,
    key: Callable[[Sequence[int]], dict[int, str]],
    used: Weights,
) -> Ranking:
    """Do as `kb.ranking.ranker.rank`."""
    text = bm25.weigh(snapshot, "text", plan.in_text(plan.terms), used.text.scoring)
    near = bm25.weigh(snapshot, "text", plan.in_text(plan.near), used.text.scoring)
    head = bm25.weigh(snapshot, "head", plan.terms, used.head.scoring)
    instead_text = alternatives.weigh(snapshot, "text", plan.alternatives, used.text.scoring, plan.shares)
    instead_head = alternatives.weigh(snapshot, "head", plan.alternatives, used.head.scoring)
    floor = _FLOOR.get(used.text.scoring, -math.inf)
    constant = (used.passage + used.second + used.lead) * bm25.constant((*text, *near)) + used.title * bm25.constant(head)
    in_text = Field(text, instead_text, snapshot.text.mean, used.text)
    in_head = Field(head, instead_head, snapshot.head.mean, used.head)
    most = ceiling([*text, *terms_of(instead_text), *near], [*head, *terms_of(instead_head)], used)
    shares = Shares(used.passage, used.second, used.lead, used.title)
    parts: list[Touched] = []
    boosts: list[dict[int, float]] = []
    for position, segment in enumerate(snapshot.segments):
        boost = boosts_of(segment, named, most) if named else {}
        mask = masks[position] if masks is not None else None
        parts.append(_of_all(segment, in_text, near, in_head, plan.forms, shares, boost, mask, floor, constant))
        boosts.append(boost)
    found = []
    for position, hit, score in _best(snapshot, parts, count, key):
        segment, part = snapshot.segments[position], parts[position]
        unit = best_unit(segment, part.units, hit)
        second = second_unit(segment, part.units, hit, unit)
        name = best_name(segment, part.names, hit)
        found.append(Scored(position, hit, score, unit, second, name, boosts[position].get(hit, 0.0)))
    total = groups.count(snapshot, [part.hits for part in parts])
    return Ranking(tuple(found), total, (*text, *near), tuple(head), instead_text, instead_head)


def _of_all(
    segment: Segment,
    text: Field,
    near: Sequence[WeightedTerm],
    head: Field,
    forms: Sequence[Form],
    shares: Shares,
    boosts: Mapping[int, float],
    allowed: HitMask | None,
    floor: float,
    constant: float,
) -> Touched:
    """Return the hits of a segment that are found, with their scores."""
    unit_scores = bm25.scores(segment, "text", text.terms, text.mean, text.parameters)
    if text.instead:
        alternatives.add(segment, "text", text.instead, text.mean, text.parameters, unit_scores)
    held = bm25.held(segment, "text", text.every) if text.parameters.scoring == "okapi" else None
    scores = _hit_scores(segment, unit_scores, shares, held)
    names = bm25.scores(segment, "head", head.terms, head.mean, head.parameters)
    if head.instead:
        alternatives.add(segment, "head", head.instead, head.mean, head.parameters, names)
    if len(names):
        scores += np.float32(shares.title) * np.maximum.reduceat(names, segment.name_start[:-1])
    if near:
        widened = unit_scores + bm25.scores(segment, "text", near, text.mean, text.parameters)
        scores += (_hit_scores(segment, widened, shares) - _hit_scores(segment, unit_scores, shares)) * (scores > 0)
        unit_scores = widened
    if floor:
        # What was not found is told apart by the lowest there is.
        scores += np.float32(constant)
        scores[~holding(segment, [term.term for term in (*text.terms, *head.terms)], forms)] = floor
    for at, value in boosts.items():
        scores[at] = max(scores[at], np.float32(0)) + np.float32(value)
    scores[segment.dead.hits] = floor
    if allowed is not None:
        scores[~allowed] = floor
    hits = np.flatnonzero(scores > floor)
    return Touched(hits, scores[hits], unit_scores, names)


def _hit_scores(
    segment: Segment, units: NDArray[np.float32], used: Shares, held: NDArray[np.bool_] | None = None
) -> NDArray[np.float32]:
    """Return the score of each hit from those of its units; `held`, where scores can be negative: the units that count."""
    hits = len(segment.hit_section)
    out = np.zeros(hits, dtype=np.float32)
    if not len(units):
        return out
    filled, first, last, is_lead = segment.layout
    lead = units[last]
    if len(units) == len(filled):  # one passage each: nothing to compare; rounded as below, whatever lies beside it
        out[filled] = np.float32(used.passage) * units + np.float32(used.lead) * units
        return out
    passages = units.copy() if held is None else np.where(held, units, np.minimum(units.min(), 0))
    passages[is_lead] = passages.min() if held is not None else 0
    best = np.zeros(hits, dtype=np.float32)
    best[filled] = np.maximum.reduceat(passages, first)
    out[filled] = np.float32(used.passage) * best[filled] + np.float32(used.lead) * lead
    # The next best: the same once each hit's best is taken away; of equals all go, in whatever order they lie.
    passages[passages >= best[segment.unit_hit]] = 0
    out[filled] += np.float32(used.second) * np.maximum.reduceat(passages, first)
    return out


def _best(
    snapshot: Snapshot, parts: Sequence[Touched], count: int, key: Callable[[Sequence[int]], dict[int, str]]
) -> list[tuple[int, int, float]]:
    """Return (segment, hit, score) of the best `count` groups in order."""
    wanted = count
    while True:
        rows: list[tuple[float, int, int, int, int]] = []
        lowest = -math.inf  # above this all hits are in the rows
        complete = True
        for position, (segment, part) in enumerate(zip(snapshot.segments, parts, strict=True)):
            found = bm25.at_least(part.scores, wanted, -math.inf)
            if len(found) >= wanted:
                complete = False
                lowest = max(lowest, float(part.scores[found].min()))
            hits = part.hits[found]
            groups_ = segment.group[segment.hit_group[hits]]
            rows.extend(
                zip(
                    part.scores[found].tolist(),
                    itertools.repeat(position),
                    hits.tolist(),
                    groups_.tolist(),
                    segment.hit_section[hits].tolist(),
                    strict=False,
                )
            )
        rows = [row for row in rows if row[0] >= lowest]
        if len({row[0] for row in rows}) < len(rows):  # equals are in order of their ids
            names = key([row[4] for row in rows])
            rows.sort(key=lambda row: (-row[0], names[row[4]], row[1], row[2]))
        else:
            rows.sort(reverse=True)
        seen: dict[int, tuple[int, int, float]] = {}
        for score, position, at, group, _ in rows:
            seen.setdefault(group, (position, at, score))
        if len(seen) >= count or complete:
            return list(seen.values())[:count]
        wanted *= 2
