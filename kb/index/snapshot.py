"""One state of an index, as a reader sees it: its segments and the totals that scores need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kb.index.arrays import ArrayFile
from kb.index.catalog import Catalog, SegmentRow
from kb.index.segment import Postings, Segment, dead_count
from kb.records import record

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kb.analysis.analyzer import Analyzer

_MOST_REMEMBERED = 20_000


@record
class Totals:
    """Live units of a field and their mean length in terms."""

    units: int
    mean: float


@record
class Snapshot:
    """The segments of one generation. Frequencies and totals count what is live, so they equal those of a new index."""

    generation: int
    languages: tuple[str, ...]
    segments: tuple[Segment, ...]
    text: Totals
    head: Totals
    memo: dict[str, Any]  # kept by kb.ranking

    def terms_of(self, spelling: str, analyzer: Callable[[], Analyzer]) -> tuple[str, ...]:
        """Return the terms of a spelling: as stored where it is known, else worked out by the analyzer."""
        found = self.stored_terms(spelling)
        return analyzer().query_terms(spelling, self.languages) if found is None else found

    def stored_terms(self, spelling: str) -> tuple[str, ...] | None:
        """Return the terms of a spelling as stored, None where the index has never seen it."""
        held = self.remembered("terms of a spelling")
        if spelling not in held:
            stored = (segment.terms_of_word(spelling, self.languages) for segment in self.segments)
            held[spelling] = next((terms for terms in stored if terms is not None), None)
        found: tuple[str, ...] | None = held[spelling]
        return found

    def term_of(self, spelling: str, language: str) -> str | None:
        """Return the term of a spelling under one language as stored, None where the index has never seen it."""
        held = self.remembered("terms by language")
        found: dict[str, str] | None = held.get(spelling)
        if found is None:
            found = held[spelling] = {}
            for segment in reversed(self.segments):
                found.update(segment.terms_by_language(spelling))
        return found.get(language)

    def frequency(self, field: str, term: str) -> int:
        """Return how many live units of a field hold a term."""
        held = self.remembered(f"{field} frequencies")
        count: int | None = held.get(term)
        if count is None:
            count = 0
            for segment in self.segments:
                number = segment.number_of(term)
                if number is not None:
                    postings: Postings = getattr(segment, field)
                    count += postings.frequency(number) - dead_count(getattr(segment.dead, field), number)
            held[term] = count
        return count

    def frequencies(self, field: str) -> dict[int, int]:
        """Return how many terms stand in a number of live units, by that number; terms in none are left out."""
        if len(self.segments) == 1:
            live = _live_frequencies(self.segments[0], field)
        else:
            sums: dict[str, int] = {}
            for segment in self.segments:
                counts = _live_frequencies(segment, field).tolist()
                for term, count in zip(segment.terms.strings(), counts, strict=True):
                    sums[term] = sums.get(term, 0) + count
            live = np.fromiter(sums.values(), dtype=np.int64, count=len(sums))
        numbers, terms = np.unique(live[live > 0], return_counts=True)
        return dict(zip(numbers.tolist(), terms.tolist(), strict=True))

    def documents_with(self, spelling: str) -> int:
        """Return how many live documents hold a spelling."""
        count = 0
        for segment in self.segments:
            word = segment.words.find(spelling)
            if word is not None:
                count += int(segment.word_documents[word]) - dead_count(segment.dead.words, word)
        return count

    def spellings_of(self, terms: Iterable[str]) -> dict[str, str]:
        """Return spelling -> term for everything that is written for one of the terms."""
        return {spelling: term for term in terms for spelling in self.spellings_of_term(term)}

    def spellings_of_term(self, term: str) -> tuple[str, ...]:
        """Return all that is written for a term."""
        held = self.remembered("spellings of a term")
        found: tuple[str, ...] | None = held.get(term)
        if found is None:
            found = held[term] = tuple(spelling for segment in self.segments for spelling in segment.spellings_of(term))
        return found

    def remembered(self, what: str) -> dict[Any, Any]:
        """Return what was worked out of one kind, for more to be put in: queries repeat words. Once large it begins anew."""
        held: dict[Any, Any] | None = self.memo.get(what)
        if held is None or len(held) >= _MOST_REMEMBERED:
            held = self.memo[what] = {}
        return held


def load(catalog: Catalog, reuse: Snapshot | None = None) -> Snapshot:
    """Return the catalog's present state; segments already open in `reuse` are shared.

    Call it inside `catalog.reading()`. FileNotFoundError where a writer has removed a file since: read again.
    """
    generation = catalog.generation
    if reuse is not None and reuse.generation == generation:
        return reuse
    rows = catalog.segments()
    opened: Mapping[int, Segment] = {s.number: s for s in reuse.segments} if reuse is not None else {}
    segments = []
    for row in rows:
        held = opened.get(row.number)
        if held is not None and held.arrays.name == row.file:
            segments.append(held.with_dead(row.dead))
        else:
            segments.append(open_segment(catalog, row))
    return Snapshot(
        generation,
        catalog.languages,
        tuple(segments),
        _totals([(row.units, row.unit_terms) for row in rows]),
        _totals([(row.names, row.name_terms) for row in rows]),
        {},
    )


def open_segment(catalog: Catalog, row: SegmentRow) -> Segment:
    """Open a segment. FileNotFoundError where a later write has removed its file; IndexDamaged where it is unusable."""
    if catalog.folder is None:
        return Segment(row.number, ArrayFile(catalog.buffers[row.file], row.file), row.languages, row.dead)
    return Segment(row.number, ArrayFile.open(catalog.folder / "segments" / row.file), row.languages, row.dead)


def _live_frequencies(segment: Segment, field: str) -> NDArray[np.int64]:
    postings: Postings = getattr(segment, field)
    counts = np.diff(postings.starts)
    terms, dead = getattr(segment.dead, field)
    counts[terms] -= dead
    return counts


def _totals(rows: list[tuple[int, int]]) -> Totals:
    units = sum(row[0] for row in rows)
    return Totals(units, sum(row[1] for row in rows) / units if units else 0.0)
