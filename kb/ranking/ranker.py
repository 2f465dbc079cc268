"""A plan and a snapshot into ordered hits.

A hit's score is a weighted sum: its best passage and the next best, its lead (the first part of its text; for a
hit of one passage that passage) and its best name (title or alias). Ranking is exact: every hit that holds a term is scored,
and language variants of one id count once, by their best.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from kb.index.segment import MOST_COUNTED, Postings, Segment
from kb.index.snapshot import Snapshot
from kb.ranking import alternatives, bm25, weights
from kb.ranking.alternatives import Form, Weighed
from kb.ranking.bm25 import Parameters, WeightedTerm
from kb.ranking.plan import Plan

if TYPE_CHECKING:
    from numpy.typing import NDArray


HitMask: TypeAlias = "NDArray[np.bool_]"
_TEXT = Parameters(weights.K1, weights.B)
_FLOOR = {"lucene": 0.0}
"""What a hit scores that holds none of the words: in the other variants a hit that holds some may score less than 0."""
_HEAD = Parameters(weights.K1, weights.HEAD_B)


@dataclass(frozen=True, slots=True)
class Weights:
    """Parameters of a ranking: BM25's for both fields, and what each part adds."""

    text: Parameters = _TEXT
    head: Parameters = _HEAD
    passage: float = weights.PASSAGE_WEIGHT
    second: float = weights.SECOND_WEIGHT
    lead: float = weights.LEAD_WEIGHT
    title: float = weights.HEAD_WEIGHT


@dataclass(frozen=True, slots=True)
class Scored:
    """A ranked hit: where it lies, its score, the units of its two best passages (-1 for none) and its best name."""

    segment: int  # position in Snapshot.segments
    hit: int
    score: float
    unit: int
    second: int
    name: int
    named: float  # what naming its id added


@dataclass(frozen=True, slots=True)
class Ranking:
    """All that was found: `total` groups, and the best hits, one a group, in order of score (ties by `key`).

    `instead_text` and `instead_head`: the alternatives of terms, as each field holds them.
    """

    hits: tuple[Scored, ...]
    total: int
    text: tuple[WeightedTerm, ...]
    head: tuple[WeightedTerm, ...]
    instead_text: tuple[Weighed, ...] = ()
    instead_head: tuple[Weighed, ...] = ()

    @property
    def terms(self) -> tuple[WeightedTerm, ...]:
        """All terms that were looked for: those of names, then of text."""
        others = (term for one in (*self.instead_head, *self.instead_text) for term in one.terms)
        return (*others, *self.head, *self.text)


def rank(
    snapshot: Snapshot,
    plan: Plan,
    count: int,
    *,
    named: Mapping[int, float] | None = None,
    masks: Sequence[HitMask | None] | None = None,
    key: Callable[[Sequence[int]], dict[int, str]],
    weights_: Weights | None = None,
) -> Ranking:
    """Return the best `count` hits for a plan.

    `named`: sections that the query names by id or title, with the share of the highest possible score that this adds;
    they come first. `masks`: for each segment the hits that may be
    returned. `key` gives the ids of sections, by which ties are ordered.
    """
    used = weights_ or Weights()
    text = bm25.weigh(snapshot, "text", plan.terms, used.text.scoring)
    near = bm25.weigh(snapshot, "text", plan.near, used.text.scoring)
    head = bm25.weigh(snapshot, "head", plan.terms, used.head.scoring)
    instead_text = alternatives.weigh(snapshot, "text", plan.alternatives, used.text.scoring)
    instead_head = alternatives.weigh(snapshot, "head", plan.alternatives, used.head.scoring)
    every_text = [*text, *(term for one in instead_text for term in one.terms)]
    every_head = [*head, *(term for one in instead_head for term in one.terms)]
    # More than any sum of impacts can reach, so that a section that is named is first.
    ceiling = 1.0 + (used.passage + used.second + used.lead) * sum(map(_most(used.text), (*every_text, *near)))
    ceiling += used.title * sum(map(_most(used.head), every_head))
    floor = _FLOOR.get(used.text.scoring, -math.inf)
    constant = (used.passage + used.second + used.lead) * bm25.constant((*text, *near)) + used.title * bm25.constant(head)
    totals: list[NDArray[np.float32]] = []
    units: list[NDArray[np.float32]] = []
    heads: list[NDArray[np.float32]] = []
    boosts: list[dict[int, float]] = []
    for position, segment in enumerate(snapshot.segments):
        unit_scores = bm25.scores(segment, "text", text, snapshot.text.mean, used.text)
        if instead_text:
            alternatives.add(segment, "text", instead_text, snapshot.text.mean, used.text, unit_scores)
        held = bm25.held(segment, "text", every_text) if used.text.scoring == "okapi" else None
        scores = _hit_scores(segment, unit_scores, used, held)
        widened = unit_scores + bm25.scores(segment, "text", near, snapshot.text.mean, used.text) if near else unit_scores
        names = bm25.scores(segment, "head", head, snapshot.head.mean, used.head)
        if instead_head:
            alternatives.add(segment, "head", instead_head, snapshot.head.mean, used.head, names)
        if len(names):
            scores += np.float32(used.title) * np.maximum.reduceat(names, segment.name_start[:-1])
        if near:
            scores += (_hit_scores(segment, widened, used) - _hit_scores(segment, unit_scores, used)) * (scores > 0)
        if floor:
            # A score can be 0 or less here, or the same for all: what was not found is told apart by the lowest there is.
            scores += np.float32(constant)
            scores[~holding(segment, [term.term for term in (*text, *head)], plan.forms)] = floor
        boost = _boosts(segment, named, ceiling) if named else {}
        for at, value in boost.items():
            scores[at] = max(scores[at], np.float32(0)) + np.float32(value)
        scores[segment.dead.hits] = floor
        mask = masks[position] if masks is not None else None
        if mask is not None:
            scores[~mask] = floor
        totals.append(scores)
        units.append(widened)
        heads.append(names)
        boosts.append(boost)
    found = []
    for position, hit, score in _best(snapshot, totals, count, key, floor):
        segment, unit_scores = snapshot.segments[position], units[position]
        unit = _best_unit(segment, unit_scores, hit)
        second = _second_unit(segment, unit_scores, hit, unit)
        name = _best_name(segment, heads[position], hit)
        found.append(Scored(position, hit, score, unit, second, name, boosts[position].get(hit, 0.0)))
    return Ranking(tuple(found), groups(snapshot, totals, floor), (*text, *near), tuple(head), instead_text, instead_head)


def _boosts(segment: Segment, named: Mapping[int, float], ceiling: float) -> dict[int, float]:
    found = np.flatnonzero(np.isin(segment.hit_section, list(named)))
    return {int(at): ceiling * named[int(segment.hit_section[at])] for at in found}


def lead_units(segment: Segment) -> NDArray[np.int32]:
    """Return for each hit its lead's unit, or the unit of its only passage; -1 for a hit without text."""
    ends = segment.hit_start[1:] - 1
    return np.where(segment.hit_start[1:] > segment.hit_start[:-1], ends, -1).astype(np.int32)


def _most(parameters: Parameters) -> Callable[[WeightedTerm], float]:
    """Return the function that says what a term can add to a unit at most."""
    factor = parameters.k1 + 1 + parameters.delta
    if parameters.scoring == "l":
        factor *= MOST_COUNTED
    return lambda term: abs(term.idf) * factor


def _hit_scores(
    segment: Segment, units: NDArray[np.float32], used: Weights, held: NDArray[np.bool_] | None = None
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


def _best_unit(segment: Segment, units: NDArray[np.float32], hit: int) -> int:
    start, end = int(segment.hit_start[hit]), int(segment.hit_start[hit + 1])
    if end - start > 1:
        end -= 1  # the lead is no passage
    if start == end:
        return -1
    return start + int(np.argmax(units[start:end]))


def _second_unit(segment: Segment, units: NDArray[np.float32], hit: int, best: int) -> int:
    start, end = int(segment.hit_start[hit]), int(segment.hit_start[hit + 1]) - 1
    if end - start < 2:
        return -1
    held = np.where(units[start:end] < units[best], units[start:end], 0)
    return start + int(np.argmax(held)) if held.max() > 0 else -1


def _best_name(segment: Segment, names: NDArray[np.float32], hit: int) -> int:
    start, end = int(segment.name_start[hit]), int(segment.name_start[hit + 1])
    return start + int(np.argmax(names[start:end]))


def _best(
    snapshot: Snapshot,
    totals: Sequence[NDArray[np.float32]],
    count: int,
    key: Callable[[Sequence[int]], dict[int, str]],
    floor: float,
) -> list[tuple[int, int, float]]:
    """Return (segment, hit, score) of the best `count` groups in order."""
    wanted = count
    while True:
        rows: list[tuple[float, int, int, int, int]] = []
        complete = True
        for position, (segment, scores) in enumerate(zip(snapshot.segments, totals, strict=True)):
            found = bm25.at_least(scores, wanted, floor)
            complete = complete and len(found) < wanted
            rows.extend(
                (
                    float(scores[at]),
                    position,
                    int(at),
                    int(segment.group[segment.hit_group[at]]),
                    int(segment.hit_section[at]),
                )
                for at in found
            )
        rows.sort(key=lambda row: -row[0])
        names = key([row[4] for row in rows])
        rows.sort(key=lambda row: (-row[0], names[row[4]], row[1], row[2]))
        seen: dict[int, tuple[int, int, float]] = {}
        for score, position, at, group, _ in rows:
            seen.setdefault(group, (position, at, score))
        if len(seen) >= count or complete:
            return list(seen.values())[:count]
        wanted *= 2


def groups(snapshot: Snapshot, totals: Sequence[NDArray[np.float32]], floor: float = 0.0) -> int:
    """Return how many groups have a hit with a score."""
    count = 0
    for segment, scores in zip(snapshot.segments, totals, strict=True):
        found = scores > floor
        if len(segment.group) != len(scores):
            marked = np.zeros(len(segment.group), dtype=bool)
            marked[segment.hit_group[found]] = True
            found = marked
        count += int(np.count_nonzero(found))
    shared = _shared(snapshot)
    if any(len(hits) for hits, _ in shared):
        times: dict[int, int] = {}
        for (hits, groups_), scores in zip(shared, totals, strict=True):
            for group in set(groups_[scores[hits] > floor].tolist()):
                times[group] = times.get(group, 0) + 1
        count -= sum(times.values()) - len(times)
    return count


def _shared(snapshot: Snapshot) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return for each segment its hits whose group lies in other segments too, and the group of each.

    Those are language variants; worked out once for a state of the index.
    """
    found: list[tuple[NDArray[np.int64], NDArray[np.int64]]] | None = snapshot.memo.get("shared groups")
    if found is None:
        held = [segment.group for segment in snapshot.segments]
        distinct, counts = np.unique(np.concatenate(held), return_counts=True) if held else (np.zeros(0, np.int64), np.zeros(0))
        shared = distinct[counts > 1]
        found = []
        for segment in snapshot.segments:
            groups_ = segment.group[segment.hit_group]
            hits = np.flatnonzero(np.isin(groups_, shared))
            found.append((hits, groups_[hits]))
        snapshot.memo["shared groups"] = found
    return found


def mask_of(segment: Segment, documents: Iterable[int]) -> HitMask:
    """Return which hits of a segment belong to one of the documents."""
    return np.isin(segment.hit_document, np.fromiter(documents, dtype=np.int64))


def holding(segment: Segment, terms: Iterable[str], forms: Iterable[Form] = ()) -> HitMask:
    """Return which hits hold at least one of the terms in their text or head, or in one unit all words of one of the forms."""
    out = np.zeros(len(segment.hit_section), dtype=bool)
    for words in (*(((term,),) for term in terms), *(form.words for form in forms)):
        out[segment.unit_hit[_with_all(segment, segment.text, words)]] = True
        out[segment.name_start.searchsorted(_with_all(segment, segment.head, words), side="right") - 1] = True
    return out


def _with_all(segment: Segment, field: Postings, words: Sequence[Sequence[str]]) -> NDArray[np.int32]:
    """Return the units of a field that hold one of the terms of every word."""
    found: NDArray[np.int32] | None = None
    for terms in words:
        numbers = [number for term in terms if (number := segment.terms.find(term)) is not None]
        units = [field.of(number)[0] for number in numbers]
        held = units[0] if len(units) == 1 else np.unique(np.concatenate(units)) if units else np.zeros(0, dtype=np.int32)
        found = held if found is None else found[np.isin(found, held)]
    return np.zeros(0, dtype=np.int32) if found is None else found
