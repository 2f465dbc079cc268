"""A plan and a snapshot into ordered hits.

A hit's score is a weighted sum: its best passage and the next best, its lead (the first part of its text; for a
hit of one passage that passage) and its best name (title or alias). Ranking is exact: every hit that holds a term is scored,
and language variants of one id count once, by their best.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from kb.index.segment import MOST_COUNTED, Postings, Segment
from kb.index.snapshot import Snapshot
from kb.ranking import alternatives, bm25, touched, weights
from kb.ranking.alternatives import Form, Weighed
from kb.ranking.bm25 import Parameters, WeightedTerm
from kb.ranking.plan import Plan
from kb.ranking.touched import Field, Shares, Touched
from kb.records import record

if TYPE_CHECKING:
    from numpy.typing import NDArray


HitMask: TypeAlias = "NDArray[np.bool_]"
_TEXT = Parameters(weights.K1, weights.B)
_FLOOR = {"lucene": 0.0}
"""What a hit scores that holds none of the words: in the other variants a hit that holds some may score less than 0."""
_HEAD = Parameters(weights.K1, weights.HEAD_B)


@record
class Weights:
    """Parameters of a ranking: BM25's for both fields, and what each part adds."""

    text: Parameters = _TEXT
    head: Parameters = _HEAD
    passage: float = weights.PASSAGE_WEIGHT
    second: float = weights.SECOND_WEIGHT
    lead: float = weights.LEAD_WEIGHT
    title: float = weights.HEAD_WEIGHT


@record
class Scored:
    """A ranked hit: where it lies, its score, the units of its two best passages (-1 for none) and its best name."""

    segment: int  # position in Snapshot.segments
    hit: int
    score: float
    unit: int
    second: int
    name: int
    named: float  # what naming its id added


@record
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
    floor = _FLOOR.get(used.text.scoring, -math.inf)
    constant = (used.passage + used.second + used.lead) * bm25.constant((*text, *near)) + used.title * bm25.constant(head)
    in_text = Field(text, instead_text, snapshot.text.mean, used.text)
    in_head = Field(head, instead_head, snapshot.head.mean, used.head)
    # More than any sum of impacts can reach, so that a section that is named is first.
    ceiling = 1.0 + (used.passage + used.second + used.lead) * sum(map(_most(used.text), (*in_text.every, *near)))
    ceiling += used.title * sum(map(_most(used.head), in_head.every))
    shares = Shares(used.passage, used.second, used.lead, used.title)
    positive = used.text.scoring == used.head.scoring == "lucene"
    parts: list[Touched] = []
    boosts: list[dict[int, float]] = []
    for position, segment in enumerate(snapshot.segments):
        boost = _boosts(segment, named, ceiling) if named else {}
        mask = masks[position] if masks is not None else None
        if positive:
            parts.append(touched.find(segment, in_text, near, in_head, shares, boost, mask))
        else:
            parts.append(_of_all(segment, in_text, near, in_head, plan.forms, shares, boost, mask, floor, constant))
        boosts.append(boost)
    found = []
    for position, hit, score in _best(snapshot, parts, count, key):
        segment, part = snapshot.segments[position], parts[position]
        unit = _best_unit(segment, part.units, hit)
        second = _second_unit(segment, part.units, hit, unit)
        name = _best_name(segment, part.names, hit)
        found.append(Scored(position, hit, score, unit, second, name, boosts[position].get(hit, 0.0)))
    total = groups(snapshot, [part.hits for part in parts])
    for segment, part in zip(snapshot.segments, parts, strict=True):
        part.give_back(segment)
    return Ranking(tuple(found), total, (*text, *near), tuple(head), instead_text, instead_head)


def _boosts(segment: Segment, named: Mapping[int, float], ceiling: float) -> dict[int, float]:
    """Return what is added to the hits that are named, by hit, in order."""
    sections = segment.hit_section
    ascending: bool | None = segment.worked_out.get("sections ascend")
    if ascending is None:
        ascending = segment.worked_out["sections ascend"] = bool((sections[1:] > sections[:-1]).all())
    if not ascending:
        found = np.flatnonzero(np.isin(sections, list(named))).tolist()
        return {at: ceiling * named[int(sections[at])] for at in found}
    wanted = sorted(named)
    at = sections.searchsorted(wanted).tolist()
    return {i: ceiling * named[s] for i, s in zip(at, wanted, strict=True) if i < len(sections) and sections[i] == s}


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
    """Do as `touched.find` where a score can be 0 or less, or the same for all: by looking at every hit."""
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
    return Touched(hits, scores[hits], unit_scores, names, None)


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
    snapshot: Snapshot, parts: Sequence[Touched], count: int, key: Callable[[Sequence[int]], dict[int, str]]
) -> list[tuple[int, int, float]]:
    """Return (segment, hit, score) of the best `count` groups in order."""
    wanted = count
    while True:
        rows: list[tuple[float, int, int, int, int]] = []
        complete = True
        for position, (segment, part) in enumerate(zip(snapshot.segments, parts, strict=True)):
            found = bm25.at_least(part.scores, wanted, -math.inf)
            complete = complete and len(found) < wanted
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


def groups(snapshot: Snapshot, found: Sequence[NDArray[np.int64]]) -> int:
    """Return how many groups the hits found belong to; `found`: the positions of hits, for each segment."""
    count = 0
    for segment, hits in zip(snapshot.segments, found, strict=True):
        if len(segment.group) == len(segment.hit_section):
            count += len(hits)
        else:
            marked = np.zeros(len(segment.group), dtype=bool)
            marked[segment.hit_group[hits]] = True
            count += int(np.count_nonzero(marked))
    shared = _shared(snapshot)
    if shared is not None:
        held = [
            _distinct(groups_[np.isin(at, hits, assume_unique=True)]) for (at, groups_), hits in zip(shared, found, strict=True)
        ]
        count -= sum(map(len, held)) - len(_distinct(np.concatenate(held)))
    return count


def _shared(snapshot: Snapshot) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]] | None:
    """Return for each segment its live hits whose group lies in other segments too, and the group of each; None where none does.

    Those are language variants; worked out once for a state of the index.
    """
    if len(snapshot.segments) < 2:
        return None
    if "shared groups" not in snapshot.memo:
        live, groups_ = [], []
        for segment in snapshot.segments:
            alive = np.ones(len(segment.hit_section), dtype=bool)
            alive[segment.dead.hits] = False
            live.append(np.flatnonzero(alive))
            groups_.append(segment.group[segment.hit_group[live[-1]]])
        distinct, counts = np.unique(np.concatenate([_distinct(one) for one in groups_]), return_counts=True)
        more = distinct[counts > 1]
        found = None
        if len(more):
            inside = [np.isin(one, more) for one in groups_]
            found = [(at[mine], of[mine]) for at, of, mine in zip(live, groups_, inside, strict=True)]
        snapshot.memo["shared groups"] = found
    kept: list[tuple[NDArray[np.int64], NDArray[np.int64]]] | None = snapshot.memo["shared groups"]
    return kept


def _distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the distinct values, ascending; a fraction of what numpy's own function takes."""
    found = np.sort(values)
    return found[np.concatenate(([True], found[1:] != found[:-1]))] if len(found) else found


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
