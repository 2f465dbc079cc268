"""The best hits of a query out of candidates that an engine finds.

The engine returns the units with the highest scores by its sparse vectors. All units of the hits they belong to are then
scored here, by the catalog's own postings and statistics, exactly as without an engine. What has not been returned can't
score more than the lowest that has, in text and in names; once the last hit wanted scores more than a hit of two such parts
could, it and all before it are the right ones. Otherwise more is asked for.

The bound holds though the vectors were written with another mean length: by the formula of BM25 a longer mean raises a value
by no more than the ratio of the means. So edits can't change the order; they can only make the engine return more. It is
the threshold algorithm of Fagin, Lotem and Naor, "Optimal aggregation algorithms for middleware" (2003), over two lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kb.engines.narrow import masks_of, narrow, widened
from kb.engines.points import number_of, sparse
from kb.engines.store import NAMES, TEXT, Ask, Found, Store
from kb.index.snapshot import Snapshot
from kb.ranking import bm25, groups, ranker
from kb.ranking.bm25 import WeightedTerm
from kb.ranking.plan import Plan
from kb.ranking.ranker import HitMask, Ranking, Weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIRST = 512
"""Points asked for at first, in text and in names."""
GROWTH = 4
MOST = 131_072
"""Beyond this many points the catalog's own postings answer."""
_SLACK = 1.0001
"""What the rounding of a server's 32-bit sums may take from a score, many times over."""


class CandidateRanker:
    """Ranks as `kb.ranking.ranker.rank` does, with candidates from a store.

    `means`: mean lengths in text and names by which the collection's vectors were written. `parameters`: BM25's, likewise; a
    ranking by others, or by another variant than Lucene's, is made without the store. `match`: which points may answer.
    `gone` is called, and the ranking made without the store, where the collection is not there any more, `lacking` where it lacks
    points that it should hold.
    """

    def __init__(
        self,
        store: Store,
        collection: str,
        means: tuple[float, float],
        parameters: Sequence[Any],
        match: Mapping[str, Sequence[str | int]],
        gone: Callable[[], None],
        lacking: Callable[[], None],
        first: int = FIRST,
    ) -> None:
        self._store = store
        self._collection = collection
        self._means = means
        self._parameters = tuple(parameters)
        self._match = match
        self._gone = gone
        self._lacking = lacking
        self._first = first

    def __call__(
        self,
        snapshot: Snapshot,
        plan: Plan,
        count: int,
        *,
        named: Mapping[int, float] | None = None,
        masks: Sequence[HitMask | None] | None = None,
        key: Callable[[Sequence[int]], dict[int, str]],
        weights_: Weights | None = None,
    ) -> Ranking:
        """Return the best `count` hits for a plan. Arguments and outcome as for `kb.ranking.ranker.rank`."""
        used = weights_ or Weights()

        def whole() -> Ranking:
            return ranker.rank(snapshot, plan, count, named=named, masks=masks, key=key, weights_=used)

        def among(hits: list[NDArray[np.int64]]) -> Ranking:
            few = narrow(snapshot, hits)
            found = ranker.rank(few, plan, count, named=named, masks=masks_of(hits, masks), key=key, weights_=used)
            return widened(found, few)

        if (used.text, used.head) != self._parameters or used.text.scoring != "lucene":
            return whole()
        allowed = allowed_hits(masks)
        if allowed is not None and sum(map(len, allowed)) <= self._first:
            return among(allowed)  # fewer than would be asked for: each is scored
        text = bm25.weigh(snapshot, "text", plan.in_text([*plan.all_terms, *plan.near]))
        head = bm25.weigh(snapshot, "head", plan.all_terms)
        limit = self._first
        while limit <= MOST:
            answers = self._ask(text, head, limit)
            if answers is None:
                self._gone()
                return whole()
            hits = hits_of(snapshot, answers, named or ())
            found = among(hits)
            unseen = self._unseen(snapshot, answers, limit, used)
            if unseen == 0.0:
                if found.total < _total(snapshot, plan, named or (), masks):
                    self._lacking()
                    return whole()
                return found
            if len(found.hits) == count and found.hits[-1].score > unseen:
                return replace(found, total=_total(snapshot, plan, named or (), masks))
            limit *= GROWTH
        return whole()

    def _ask(self, text: list[WeightedTerm], head: list[WeightedTerm], limit: int) -> list[list[Found]] | None:
        asks = [
            Ask(using, sparse([number_of(t.term) for t in terms], [t.idf for t in terms]), limit, self._match)
            for using, terms in ((TEXT, text), (NAMES, head))
            if terms
        ]
        answers = self._store.ask(self._collection, asks) if asks else []
        if answers is None:
            return None
        found = iter(answers)
        return [next(found) if terms else [] for terms in (text, head)]

    def _unseen(self, snapshot: Snapshot, answers: Sequence[Sequence[Found]], limit: int, used: Weights) -> float:
        """Return the most that a hit can score of which no unit was returned; 0 where all were."""
        text, head = (rows[-1].score if len(rows) >= limit else 0.0 for rows in answers)
        text *= max(1.0, snapshot.text.mean / (self._means[0] or 1.0))
        head *= max(1.0, snapshot.head.mean / (self._means[1] or 1.0))
        return _SLACK * (max(used.passage + used.second + used.lead, 0.0) * text + max(used.title, 0.0) * head)


def allowed_hits(masks: Sequence[HitMask | None] | None) -> list[NDArray[np.int64]] | None:
    """Return for each segment the hits that may answer, None where all may."""
    if masks is None or any(mask is None for mask in masks):
        return None
    return [np.flatnonzero(mask) for mask in masks if mask is not None]


def hits_of(snapshot: Snapshot, answers: Iterable[Iterable[Found]], named: Iterable[int]) -> list[NDArray[np.int64]]:
    """Return for each segment the live hits that one of the points found belongs to, or that the query names."""
    sections = {int(found.payload["hit"]) for rows in answers for found in rows}.union(named)
    wanted = np.fromiter(sections, dtype=np.int64, count=len(sections))
    out = []
    for segment in snapshot.segments:
        held = np.isin(segment.hit_section, wanted)
        held[segment.dead.hits] = False
        out.append(np.flatnonzero(held))
    return out


def _total(snapshot: Snapshot, plan: Plan, named: Iterable[int] | None, masks: Sequence[HitMask | None] | None) -> int:
    """Return how many groups hold a term of the query, from the catalog's own postings."""
    terms = [term for term, _ in plan.terms]
    held = []
    for position, segment in enumerate(snapshot.segments):
        mask = ranker.holding(segment, terms, plan.forms)
        if named:
            mask |= np.isin(segment.hit_section, list(named))
        mask[segment.dead.hits] = False
        allowed = masks[position] if masks is not None else None
        if allowed is not None:
            mask &= allowed
        held.append(np.flatnonzero(mask))
    return groups.count(snapshot, held)
