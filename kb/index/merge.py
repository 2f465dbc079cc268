"""Several segments into one, without what has been removed from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from kb.analysis.analyzer import Analyzer
from kb.index.builder import field_arrays, group_arrays, word_arrays
from kb.index.segment import Postings, Segment
from kb.index.vocabulary import Arrays, pack

if TYPE_CHECKING:
    from numpy.typing import NDArray


T = TypeVar("T", bound=np.generic)


def merge(segments: Sequence[Segment], languages: Sequence[str], analyzer: Analyzer) -> Arrays:
    """Return the arrays of one segment that holds the live hits of all, in their order.

    Linear in the postings: each list keeps its order, so nothing is sorted again. Spellings get their
    terms under `languages` anew where a segment was written before the base held all of them.
    """
    terms: dict[str, int] = {}
    maps = []
    for segment in segments:
        maps.append(
            np.fromiter(
                (terms.setdefault(term, len(terms)) for term in segment.terms.strings()),
                dtype=np.int32,
                count=len(segment.terms),
            )
        )
    spellings: dict[str, list[int]] = {}
    documents: dict[str, int] = {}
    for segment, numbers in zip(segments, maps, strict=True):
        known = [segment.languages.index(x) if x in segment.languages else None for x in languages]
        rows = segment.word_terms.reshape(len(segment.words), len(segment.languages)).tolist()
        counts = segment.word_documents.copy()
        counts[segment.dead.words[0]] -= segment.dead.words[1]
        for spelling, row, count in zip(segment.words.strings(), rows, counts.tolist(), strict=True):
            if count <= 0:
                continue
            documents[spelling] = documents.get(spelling, 0) + count
            if spelling not in spellings:
                spellings[spelling] = [
                    int(numbers[row[column]])
                    if column is not None
                    else terms.setdefault(analyzer.term(spelling, language), len(terms))
                    for column, language in zip(known, languages, strict=True)
                ]
    out, order = pack("term", list(terms))
    renumber = np.empty(len(order), dtype=np.int32)
    renumber[order] = np.arange(len(order), dtype=np.int32)
    table = np.array(list(spellings.values()), dtype=np.int32).reshape(len(spellings), len(languages))
    held = np.fromiter(documents.values(), dtype=np.int32, count=len(documents))
    out.update(word_arrays(list(spellings), table, held, renumber))

    units_live = [_live(len(s.unit_hit), s.dead.units) for s in segments]
    hits_live = [_live(len(s.hit_section), s.dead.hits) for s in segments]
    names_live = [_live(len(s.head.lengths), s.dead.names) for s in segments]
    hit_maps = _renumbered(hits_live)
    unit_maps = _renumbered(units_live)
    name_maps = _renumbered(names_live)
    out["unit_hit"] = _join([m[s.unit_hit][live] for s, m, live in zip(segments, hit_maps, units_live, strict=True)])
    out["unit_passage"] = _join([s.unit_passage[live] for s, live in zip(segments, units_live, strict=True)])
    groups = _join([s.group[s.hit_group[live]] for s, live in zip(segments, hits_live, strict=True)])
    out["group"], out["hit_group"] = group_arrays(groups)
    for name in ("hit_section", "hit_document"):
        out[name] = _join([getattr(s, name)[live] for s, live in zip(segments, hits_live, strict=True)])
    places = {language: place for place, language in enumerate(languages)}
    out["hit_language"] = _join(
        [
            np.array([places.get(language, 0) for language in s.languages], dtype=np.uint8)[s.hit_language[live]]
            for s, live in zip(segments, hits_live, strict=True)
        ]
    )
    for name in ("hit_start", "name_start"):
        counts = _join([np.diff(getattr(s, name))[live] for s, live in zip(segments, hits_live, strict=True)])
        out[name] = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
    term_maps = [renumber[numbers] for numbers in maps]
    for name, keep, number in (("text", units_live, unit_maps), ("head", names_live, name_maps)):
        fields: list[Postings] = [getattr(segment, name) for segment in segments]
        out.update(_field(name, fields, term_maps, keep, number, len(order)))
    return out


def _field(
    name: str,
    fields: Sequence[Postings],
    term_maps: Sequence[NDArray[np.int32]],
    keep: Sequence[NDArray[np.bool_]],
    number: Sequence[NDArray[np.int32]],
    vocabulary: int,
) -> Arrays:
    counts = np.zeros((len(fields), vocabulary), dtype=np.int64)
    live_postings = []
    for row, (field, terms, live) in enumerate(zip(fields, term_maps, keep, strict=True)):
        alive = live[field.units]
        live_postings.append(alive)
        sums = np.concatenate(([0], np.cumsum(alive)))
        counts[row, terms] = sums[field.starts[1:]] - sums[field.starts[:-1]]
    starts = np.concatenate(([0], np.cumsum(counts.sum(axis=0))))[:-1]
    total = int(counts.sum())
    posting_unit = np.empty(total, dtype=np.int32)
    posting_count = np.empty(total, dtype=np.uint8)
    before = starts + np.concatenate((np.zeros((1, vocabulary), np.int64), np.cumsum(counts, axis=0)[:-1]))
    for row, (field, terms, alive) in enumerate(zip(fields, term_maps, live_postings, strict=True)):
        mine = counts[row, terms]
        target = np.repeat(before[row, terms] - (np.cumsum(mine) - mine), mine) + np.arange(int(mine.sum()))
        posting_unit[target] = number[row][field.units[alive]]
        posting_count[target] = field.counts[alive]
    posting_term = np.repeat(np.arange(vocabulary, dtype=np.int32), counts.sum(axis=0))
    lengths = _join([field.lengths[live] for field, live in zip(fields, keep, strict=True)])
    return field_arrays(name, posting_term, posting_unit, posting_count, lengths, vocabulary)


def _live(count: int, dead: NDArray[np.int32]) -> NDArray[np.bool_]:
    live = np.ones(count, dtype=bool)
    live[dead] = False
    return live


def _renumbered(live: Sequence[NDArray[np.bool_]]) -> list[NDArray[np.int32]]:
    out, start = [], 0
    for mask in live:
        out.append((np.cumsum(mask) - 1 + start).astype(np.int32))
        start += int(mask.sum())
    return out


def _join(arrays: Sequence[NDArray[T]]) -> NDArray[T]:
    return np.concatenate(arrays)
