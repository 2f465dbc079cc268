"""Scores compared with those of rank-bm25, an independent program, over the terms that the index itself holds."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kb.config import SCORINGS
from kb.index.segment import Postings
from kb.index.snapshot import Snapshot, Totals
from kb.ranking import bm25
from kb.ranking.bm25 import Parameters

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_UNITS = 200_000
"""More than this is not compared: the other program takes a gigabyte and a tenth of a second for each query there."""
TOLERANCE = 1e-5
_SEED = 7
_FILLER = ""
_QUERY_TERMS = (1, 6)


@dataclass(frozen=True, slots=True)
class Comparison:
    """How one variant compares: `difference` is the greatest of a score from the other's, in proportion where above 1."""

    scoring: str
    queries: int
    units: int
    difference: float

    @property
    def ok(self) -> bool:
        """True where no score is further off than single precision explains."""
        return self.difference <= TOLERANCE


def documents(snapshot: Snapshot, field: str) -> list[list[str]]:
    """Return the terms of every live unit of a field, as often as they stand there, segment by segment."""
    out: list[list[str]] = []
    for segment in snapshot.segments:
        postings: Postings = getattr(segment, field)
        names = np.array([*segment.terms.strings(), _FILLER], dtype=object)
        units = len(postings.lengths)
        terms = np.repeat(np.arange(len(names) - 1), np.diff(postings.starts))
        counts = postings.counts.astype(np.int64)
        # A count that the format could not hold is filled up, so that lengths are right.
        missing = postings.lengths - np.bincount(postings.units, weights=counts, minlength=units).astype(np.int64)
        unit_of = np.concatenate((np.repeat(postings.units, counts), np.repeat(np.arange(units), missing)))
        term_of = np.concatenate((np.repeat(terms, counts), np.full(int(missing.sum()), len(names) - 1)))
        order = np.argsort(unit_of, kind="stable")
        tokens = names[term_of[order]].tolist()
        ends = np.cumsum(postings.lengths).tolist()
        gone = segment.dead_mask(field)
        live = range(units) if gone is None else np.flatnonzero(~gone).tolist()
        out.extend(tokens[ends[unit] - int(postings.lengths[unit]) : ends[unit]] for unit in live)
    return out


def scores(snapshot: Snapshot, field: str, terms: Sequence[str], parameters: Parameters) -> NDArray[np.float64]:
    """Return our own scores of every live unit, in the order of `documents`."""
    weighted = bm25.weigh(snapshot, field, [(term, 1.0) for term in terms], parameters.scoring)
    totals: Totals = getattr(snapshot, field)
    out = []
    for segment in snapshot.segments:
        found = bm25.scores(segment, field, weighted, totals.mean, parameters).astype(np.float64)
        gone = segment.dead_mask(field)
        out.append((found if gone is None else found[~gone]) + bm25.constant(weighted))
    return np.concatenate(out) if out else np.zeros(0)


def compare(snapshot: Snapshot, queries: int, k1: float, b: float, field: str = "text") -> Iterator[Comparison]:
    """Yield how each variant compares over a seeded sample of queries, made of terms that stand together in a unit."""
    held = documents(snapshot, field)
    filled = [document for document in held if document]
    if not filled or len(held) > MOST_UNITS:
        return
    chance = random.Random(_SEED)
    asked = []
    for _ in range(queries):
        # Some from another unit: a term that most units lack has to be right too.
        pool = chance.choice(filled) + chance.choice(filled)[:3]
        asked.append(sorted(set(chance.choices(pool, k=chance.randint(*_QUERY_TERMS))) - {_FILLER}))
    for scoring in SCORINGS:
        other = _other(held, scoring, k1, b)
        worst = 0.0
        for query in asked:
            expected = other.get_scores(query)
            off = np.abs(scores(snapshot, field, query, Parameters(k1, b, scoring)) - expected)
            worst = max(worst, float((off / np.maximum(np.abs(expected), 1.0)).max()))
        yield Comparison(scoring, queries, len(held), worst)


def _other(held: list[list[str]], scoring: str, k1: float, b: float) -> Any:
    from rank_bm25 import BM25L, BM25Okapi, BM25Plus

    kind = {"plus": BM25Plus, "l": BM25L}.get(scoring, BM25Okapi)
    other = kind(held, k1=k1, b=b)
    if scoring == "lucene":  # that program has no such variant: its own counts and lengths, the other weight of a term
        frequency: dict[str, int] = {}
        for document in held:
            for term in set(document):
                frequency[term] = frequency.get(term, 0) + 1
        other.idf = {term: bm25.idf(len(held), count) for term, count in frequency.items()}
    return other
