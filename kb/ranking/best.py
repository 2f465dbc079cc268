"""The best hits for a plan, found without scoring every hit, for scores that can't be negative: those of the variant `lucene`.

Terms are added up for all units, in a fraction of the time that best passages, leads and names take to be put together. What
a hit can reach at most is told from its best unit; only hits that may be among the best by that are scored (Turtle and Flood,
"Query evaluation: strategies and optimizations", 1995). Each step is the one that `kb.ranking.every` takes for all hits, in the
same order, so the scores are the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kb.ranking import alternatives, bm25, joined
from kb.ranking.alternatives import Weighed
from kb.ranking.bm25 import Parameters
from kb.ranking.joined import Joined, Term
from kb.records import record

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FEW_SHARE = 1 / 40
"""Up to this share of all units, looking at those that hold a term is faster than looking at all: the measured break-even."""
_SCAN_SHARE = 1 / 8
"""The same for looking once, at what they have come to."""
_ENOUGH = 40
"""For so many units for each hit that is wanted the rarest terms are looked at, for a bound that the best reach."""
_LITTLE = 0.15
"""Share of a good score that counts as little."""
_MORE = 4
"""How many times the hits wanted are looked up by their units, for a bound: several units may be one hit's."""
_ROUNDING = 1e-5


@record
class Shares:
    """What the best passage, the next best, the lead and the best name add to a hit, as shares of their scores."""

    passage: float
    second: float
    lead: float
    title: float

    @property
    def bound(self) -> bool:
        """True where a hit that holds a term scores more than 0, and no more than all shares of its best unit and name."""
        return min(self.passage, self.lead, self.title) > 0 and self.second >= 0


class Sums:
    """What the terms of a query add up to: for each unit, each name, and, by its best name, each hit."""

    def __init__(self, whole: Joined, shares: Shares) -> None:
        self._whole = whole
        self._shares = shares
        self.units = whole.take(whole.units)
        self.widened = self.units  # with what similar words add
        self.names = whole.take(whole.names)
        self._terms: list[Term] = []  # all that add to units, those that add least at most first
        self._held: NDArray[np.integer] | None = None  # units that hold a term, some more than once; None where all are looked at
        self._written: NDArray[np.integer] | None = None
        self._in_names: NDArray[np.integer] = np.zeros(0, dtype=np.int32)  # the names that hold a term, some more than once
        self._partial = False  # whether some of them may hold only a word of a form, which adds nothing
        self._boosts: Mapping[int, float] = {}
        self._allowed: NDArray[np.bool_] | None = None

    def add_text(self, terms: Sequence[Term], instead: Sequence[Weighed], near: Sequence[Term], parameters: Parameters) -> None:
        """Add the terms of the text, what may stand for them, and similar words, which bring in no hits."""
        whole = self._whole
        joined.add(terms, self.units)
        forms = alternatives.add_joined(whole, "text", instead, parameters, self.units) if instead else []
        self._terms = sorted([*terms, *forms, *near], key=_most)
        if near:
            more = whole.take(whole.units)
            joined.add(near, more)
            self.widened = self.units + more
            whole.give(more, None)
        parts = [term.held for term in (*terms, *forms)]
        if sum(map(len, parts)) < _FEW_SHARE * whole.units:
            self._held = self._written = _one(parts)
            if forms:
                self._held = self._held[self.units.take(self._held) > 0]

    def add_names(self, terms: Sequence[Term], instead: Sequence[Weighed], parameters: Parameters) -> None:
        """Add the terms of the names, and what may stand for them."""
        whole = self._whole
        joined.add(terms, self.names)
        forms = alternatives.add_joined(whole, "head", instead, parameters, self.names) if instead else []
        self._partial = bool(forms)
        self._in_names = _one([term.held for term in (*terms, *forms)])

    def boost(self, boosts: Mapping[int, float]) -> None:
        """Add numbers above 0 to single hits, which need hold no term."""
        self._boosts = boosts

    def allow(self, allowed: NDArray[np.bool_]) -> None:
        """Take away what is added to hits that may not be returned. Call it when all is added."""
        gone = ~allowed.take(self._whole.unit_hit)
        self.units[gone] = 0
        self.widened[gone] = 0
        self._held = None
        self._allowed = allowed

    def give_back(self) -> None:
        """Let the next query have the arrays."""
        self._whole.give(self.units, self._written)
        self._whole.give(self.names, self._in_names)

    # -- scores ----------------------------------------------------------------------------------------------------

    def of(self, hits: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return the scores of hits."""
        plain = self._of_units(self.units, hits)
        scores = plain + np.float32(self._shares.title) * self._of_names(hits)
        if self.widened is not self.units:
            scores += (self._of_units(self.widened, hits) - plain) * (scores > 0)
        if self._boosts:
            for at, hit in enumerate(hits.tolist()):
                if hit in self._boosts:
                    scores[at] = max(scores[at], np.float32(0)) + np.float32(self._boosts[hit])
        return scores

    def _of_names(self, hits: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return what the best names of hits add up to."""
        first = self._whole.name_start.take(hits)
        counts = self._whole.name_start.take(hits + 1) - first
        out = self.names.take(first)
        several = (counts > 1).nonzero()[0]
        if len(several):
            sizes = counts[several]
            begin = np.cumsum(sizes) - sizes
            at = np.repeat(first[several] - begin, sizes)
            at += np.arange(len(at), dtype=at.dtype)
            out[several] = np.maximum.reduceat(self.names.take(at), begin)
        return out

    def _of_units(self, units: NDArray[np.float32], hits: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return what the units of hits add to them: the best, the next best and the lead."""
        whole, shares = self._whole, self._shares
        if whole.one_each:
            lead = units.take(hits)
            only: NDArray[np.float32] = np.float32(shares.passage) * lead + np.float32(shares.lead) * lead
            return only
        starts = whole.hit_start
        first, last = starts.take(hits), starts.take(hits + 1)
        counts = last - first
        best = np.zeros(len(hits), dtype=np.float32)
        second = np.zeros(len(hits), dtype=np.float32)
        lead = np.zeros(len(hits), dtype=np.float32)
        filled = counts.nonzero()[0]
        lead[filled] = units.take(last[filled] - 1)
        single = counts == 1
        best[single] = lead[single]
        several = (counts > 1).nonzero()[0]
        if len(several):
            sizes = counts[several] - 1  # the lead is no passage
            begin = np.cumsum(sizes) - sizes
            at = np.repeat(first[several] - begin, sizes)
            at += np.arange(len(at), dtype=at.dtype)
            passages = units.take(at)
            highest = np.maximum.reduceat(passages, begin)
            best[several] = highest
            # The next best: what is left once each hit's best is taken away; of equals all go.
            passages[passages >= np.repeat(highest, sizes)] = 0
            second[several] = np.maximum.reduceat(passages, begin)
        out = np.float32(shares.passage) * best + np.float32(shares.lead) * lead
        out += np.float32(shares.second) * second
        return out

    # -- bounds ----------------------------------------------------------------------------------------------------

    def total(self) -> int:
        """Return how many groups hold a term in their text or a name, or are boosted."""
        whole = self._whole
        names = self._in_names
        if self._partial:
            names = names[self.names.take(names) > 0]
        named = self._returnable(whole.name_hit.take(names))
        if whole.one_each and whole.group is None:
            count = _distinct(self._held) if self._held is not None else int(np.count_nonzero(self.units > 0))
            return count + len(whole.once(named[self.units.take(named) <= 0], whole.hits))
        units = self._held if self._held is not None else (self.units > 0).nonzero()[0]
        hits = np.concatenate([whole.unit_hit.take(units), named])
        marked = np.zeros(whole.groups, dtype=bool)
        marked[hits if whole.group is None else whole.group.take(hits)] = True
        return int(np.count_nonzero(marked))

    def candidates(self, wanted: int) -> tuple[NDArray[np.integer], NDArray[np.float32]]:
        """Return at least so many of the best hits, or all there are, each once and in no order, with their scores."""
        whole, shares = self._whole, self._shares
        least = self._least(wanted) * (1 - _ROUNDING)
        # Whatever reaches it has a name that adds more than little of it, or a text that adds all but little.
        little = _LITTLE * least
        names = self._in_names
        names = names[self.names.take(names) >= np.float32(little * (1 - _ROUNDING) / shares.title)]
        by_name = self._returnable(whole.name_hit.take(names))
        hits = whole.once(np.concatenate([self._may_reach(least - little), by_name]), whole.hits)
        scores = self.of(hits)
        found = bm25.at_least(scores, wanted)
        return hits[found], scores[found]

    def _returnable(self, hits: NDArray[np.integer]) -> NDArray[np.integer]:
        """Return those of some hits that may be returned, and with them those that are boosted."""
        if self._boosts:
            hits = np.concatenate([hits, np.array([*self._boosts], dtype=np.int32)])
        return hits if self._allowed is None else hits[self._allowed.take(hits)]

    def _least(self, wanted: int) -> float:
        """Return a score that so many hits reach by their text alone; 0 where none can be told."""
        whole, shares = self._whole, self._shares
        parts: list[NDArray[np.int32]] = []
        size = 0
        for term in sorted(self._terms, key=_frequency):
            parts.append(term.held)
            size += len(term.held)
            if size >= wanted * _ENOUGH:
                break
        units = _one(parts)
        if not len(units):
            return 0.0
        values = self.units.take(units)
        several = wanted * len(parts)  # a unit may stand here once for each term
        if whole.one_each:
            return _reached(values, several) * (shares.passage + shares.lead)
        chosen = (values >= np.float32(_reached(values, several * _MORE))).nonzero()[0]
        units, values = units[chosen], values[chosen]
        best: dict[int, float] = {}
        hits = whole.unit_hit.take(units)
        ends = whole.hit_start.take(hits + 1).tolist()
        begins = whole.hit_start.take(hits).tolist()
        for unit, hit, value, begin, end in zip(units.tolist(), hits.tolist(), values.tolist(), begins, ends, strict=True):
            if unit < end - 1 or unit == begin:  # the last of several is the lead
                best[hit] = max(best.get(hit, 0.0), value)
        return _reached(np.array([*best.values()]), wanted) * shares.passage

    def _may_reach(self, least: float) -> NDArray[np.integer]:
        """Return the hits, some more than once, that can score so much by their text."""
        whole, shares = self._whole, self._shares
        most = shares.passage + shares.lead + (0.0 if whole.one_each else shares.second)
        units = self._from(least * (1 - _ROUNDING) / most)
        return units if whole.one_each else whole.unit_hit.take(units)

    def _from(self, least: float) -> NDArray[np.integer]:
        """Return the units, some more than once, with a sum from `least` on that is above 0."""
        # What the terms that are left out add together is less: each unit looked for holds one of the others.
        rest, first = 0.0, 0
        while first < len(self._terms) and rest + self._terms[first].most < least * (1 - _ROUNDING):
            rest += self._terms[first].most
            first += 1
        parts = [term.held for term in self._terms[first:]]
        if self._held is None and sum(map(len, parts)) > _SCAN_SHARE * self._whole.units:
            return (self.widened >= np.float32(least) if least > 0 else self.widened > 0).nonzero()[0]
        units = _one(parts)
        values = self.widened.take(units)
        return units[values >= np.float32(least) if least > 0 else values > 0]


def _one(parts: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)


def _distinct(numbers: NDArray[np.integer]) -> int:
    """Return how many distinct numbers there are."""
    found = np.sort(numbers)
    return int(np.count_nonzero(found[1:] != found[:-1])) + 1 if len(found) else 0


def _reached(values: NDArray[np.floating], count: int) -> float:
    """Return the number that so many of some values reach, 0 where there are fewer."""
    return float(np.partition(values, len(values) - count)[len(values) - count]) if len(values) >= count else 0.0


def _most(term: Term) -> float:
    return term.most


def _frequency(term: Term) -> int:
    return len(term.held)


def best(sums: Sums, whole: Joined, count: int, key: Callable[[Sequence[int]], Mapping[int, str]]) -> list[tuple[int, float]]:
    """Return hit and score of the best `count` groups in order; `key` gives the ids of sections, by which ties are ordered."""
    wanted = count
    while True:
        hits, scores = sums.candidates(wanted)
        order = np.argsort(-scores, kind="stable")
        ranked = hits.take(order).tolist()
        values = scores.take(order).tolist()
        if len({*values}) < len(values):
            sections = dict(zip(ranked, whole.sections_of(ranked), strict=True))
            names = key([*sections.values()])
            pairs = sorted(zip(ranked, values, strict=True), key=lambda pair: (-pair[1], names[sections[pair[0]]], pair[0]))
        else:
            pairs = [*zip(ranked, values, strict=True)]
        if whole.group is not None:
            seen: dict[int, tuple[int, float]] = {}
            for (hit, value), group in zip(pairs, whole.group.take([hit for hit, _ in pairs]).tolist(), strict=True):
                seen.setdefault(group, (hit, value))
            pairs_of = [*seen.values()]
        else:
            pairs_of = pairs
        if len(pairs_of) >= count or len(pairs) < wanted:
            return pairs_of[:count]
        wanted *= 2
