"""A plan and a snapshot into ordered hits.

A hit's score is a weighted sum: its best passage and the next best, its lead (the first part of its text; for a
hit of one passage that passage) and its best name (title or alias). Ranking is exact: every hit that holds a term counts,
and language variants of one id count once, by their best.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from kb.index.segment import MOST_COUNTED, Postings, Segment
from kb.index.snapshot import Snapshot
from kb.ranking import alternatives, joined, weights
from kb.ranking.alternatives import Form, Weighed
from kb.ranking.best import Shares, Sums, best
from kb.ranking.bm25 import Parameters, WeightedTerm
from kb.ranking.joined import Joined
from kb.ranking.plan import Plan
from kb.records import record

if TYPE_CHECKING:
    from numpy.typing import NDArray


HitMask: TypeAlias = "NDArray[np.bool_]"
_TEXT = Parameters(weights.K1, weights.B)
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

    `instead_text` and `instead_head`: the alternatives of terms, as each field holds them. `allowed`: for each segment the hits
    that could be returned, None where all could.
    """

    hits: tuple[Scored, ...]
    total: int
    text: tuple[WeightedTerm, ...]
    head: tuple[WeightedTerm, ...]
    instead_text: tuple[Weighed, ...] = ()
    instead_head: tuple[Weighed, ...] = ()
    allowed: Sequence[HitMask | None] | None = None

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
    shares = Shares(used.passage, used.second, used.lead, used.title)
    if not (used.text.scoring == used.head.scoring == "lucene" and shares.bound):
        from kb.ranking import every  # on use: hardly any base asks for it

        return every.rank(snapshot, plan, count, named or {}, masks, key, used)
    whole = joined.of(snapshot)
    text = whole.weigh(snapshot, "text", plan.in_text(plan.terms), used.text)
    near = whole.weigh(snapshot, "text", plan.in_text(plan.near), used.text) if plan.near else []
    head = whole.weigh(snapshot, "head", plan.terms, used.head)
    instead_text = alternatives.weigh(snapshot, "text", plan.alternatives, shares=plan.shares) if plan.alternatives else ()
    instead_head = alternatives.weigh(snapshot, "head", plan.alternatives) if plan.alternatives else ()
    in_text, in_near, in_head = ([term.weighted for term in terms] for terms in (text, near, head))
    sums = Sums(whole, shares)
    sums.add_text(text, instead_text, near, used.text)
    sums.add_names(head, instead_head, used.head)
    boosts: dict[int, float] = {}
    if named:
        most = ceiling([*in_text, *terms_of(instead_text), *in_near], [*in_head, *terms_of(instead_head)], used)
        for first, segment in zip(whole.first_hit, snapshot.segments, strict=True):
            found = boosts_of(segment, named, most)
            boosts |= {first + hit: value for hit, value in found.items() if value > 0 and hit not in segment.dead.hits}
    if boosts:
        sums.boost(boosts)
    if masks is not None:
        sums.allow(_joined_masks(snapshot, masks))
    hits = [_scored(whole, sums, hit, score, boosts.get(hit, 0.0)) for hit, score in best(sums, whole, count, key)]
    total = sums.total()
    sums.give_back()
    return Ranking(tuple(hits), total, (*in_text, *in_near), tuple(in_head), instead_text, instead_head)


def _scored(whole: Joined, sums: Sums, hit: int, score: float, named: float) -> Scored:
    """Return one of the best hits with what stands for it."""
    position = whole.segment_of(hit)
    segment, at = whole.segments[position], hit - whole.first_hit[position]
    unit, second = whole.first_unit[position], whole.first_name[position]
    names = sums.names[second : second + len(segment.head.lengths)]
    if whole.one_each:
        return Scored(position, at, score, at, -1, best_name(segment, names, at), named)
    units = sums.widened[unit : unit + len(segment.text.lengths)]
    unit = best_unit(segment, units, at)
    return Scored(position, at, score, unit, second_unit(segment, units, at, unit), best_name(segment, names, at), named)


def _joined_masks(snapshot: Snapshot, masks: Sequence[HitMask | None]) -> HitMask:
    parts = [np.ones(len(s.hit_section), dtype=bool) if m is None else m for s, m in zip(snapshot.segments, masks, strict=True)]
    return np.concatenate([np.zeros(0, dtype=bool), *parts])


def ceiling(text: Iterable[WeightedTerm], head: Iterable[WeightedTerm], used: Weights) -> float:
    """Return more than any sum of what terms add can reach, so that a section that is named is first."""
    most = 1.0 + (used.passage + used.second + used.lead) * sum(map(_most(used.text), text))
    return most + used.title * sum(map(_most(used.head), head))


def terms_of(instead: Iterable[Weighed]) -> list[WeightedTerm]:
    """Return the terms of alternatives."""
    return [term for one in instead for term in one.terms]


def boosts_of(segment: Segment, named: Mapping[int, float], ceiling: float) -> dict[int, float]:
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


def best_unit(segment: Segment, units: NDArray[np.float32], hit: int) -> int:
    """Return the best passage's unit of a hit, -1 where it has no text."""
    start, end = int(segment.hit_start[hit]), int(segment.hit_start[hit + 1])
    if end - start > 1:
        end -= 1  # the lead is no passage
    if start == end:
        return -1
    return start + int(np.argmax(units[start:end]))


def second_unit(segment: Segment, units: NDArray[np.float32], hit: int, best: int) -> int:
    """Return the next best passage's unit of a hit, -1 where no other one scores."""
    start, end = int(segment.hit_start[hit]), int(segment.hit_start[hit + 1]) - 1
    if end - start < 2:
        return -1
    held = np.where(units[start:end] < units[best], units[start:end], 0)
    return start + int(np.argmax(held)) if held.max() > 0 else -1


def best_name(segment: Segment, names: NDArray[np.float32], hit: int) -> int:
    """Return the best name of a hit."""
    start, end = int(segment.name_start[hit]), int(segment.name_start[hit + 1])
    return start if end == start + 1 else start + int(np.argmax(names[start:end]))


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
