"""Documents into the arrays of one segment.

Every distinct word is analysed once. Counting is done with sorting over whole arrays: the pairs
(term, unit) of all units, sorted, give the postings; the same pairs by unit give the forward lists
that a later removal needs.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count
from typing import TYPE_CHECKING, Any

import numpy as np

from kb.analysis import words
from kb.analysis.analyzer import Analyzer
from kb.index import grams
from kb.index.segment import LEAD, MOST_COUNTED
from kb.index.vocabulary import Arrays, pack
from kb.records import record

if TYPE_CHECKING:
    from numpy.typing import NDArray


LEAD_WORDS = 400
"""Words of a section that make its lead: about the 2,500 characters with which the first part of a section was measured."""
_NO_WORDS = np.zeros(0, dtype=np.int32)


@record
class HitUnits:
    """One hit ready for the index: catalog numbers, and the word numbers of its names and then its passages."""

    section: int
    document: int
    group: int
    language: str
    words: NDArray[np.int32]
    names: Sequence[int]  # how many words each has
    passages: Sequence[tuple[int, int]]  # (passage number, how many words)


class SegmentBuilder:
    """Collects hits and gives the arrays of a segment.

    A *word* is what stands in a text of one language, a *form* a spelling under one language: every word has some forms,
    every form one spelling and one term.
    """

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._terms: dict[str, int] = {}
        self._spellings: dict[str, int] = {}
        self._forms: dict[str, dict[str, int]] = {}  # language -> spelling -> form
        self._form_spellings = array("i")
        self._form_terms = array("i")
        self._words: dict[str, dict[str, int]] = {}
        self._word_forms = array("i")
        self._word_counts = array("i")  # how many forms each word has
        self._given: dict[int, list[str]] = {}  # the words that each preparer has numbered
        self._tables: dict[tuple[int, str], NDArray[np.int32]] = {}  # its numbers -> word numbers, -1 where not seen yet
        self._documents: list[NDArray[np.int32]] = []
        self._hits: list[HitUnits] = []

    def words(self, language: str, numbers: bytes, preparer: int, fresh: Sequence[str]) -> NDArray[np.int32]:
        """Take one more document; return its words as numbers of this builder.

        `numbers` and `fresh` are a preparer's, as in `Prepared`. Words not seen before under the language are analysed.
        """
        self._given.setdefault(preparer, []).extend(fresh)
        asked = np.frombuffer(numbers, dtype=np.int32)
        held = _distinct(np.sort(asked))
        self._documents.append(self.words_under(language, held, preparer))
        return self._tables.get((preparer, language), _NO_WORDS)[asked]

    def words_under(self, language: str, asked: NDArray[np.int32], preparer: int) -> NDArray[np.int32]:
        """Return words that a preparer has numbered as numbers of this builder under a language."""
        given = self._given[preparer]
        table = self._tables.get((preparer, language), _NO_WORDS)
        if len(table) < len(given):
            table = np.append(table, np.full(2 * len(given) - len(table), -1, np.int32))
            self._tables[preparer, language] = table
        unseen = _distinct(np.sort(asked[table[asked] < 0]))
        if len(unseen):
            table[unseen] = self._numbered([given[number] for number in unseen.tolist()], language)
        return table[asked]

    def _numbered(self, spelt: Sequence[str], language: str) -> list[int]:
        known = self._words.setdefault(language, {})
        forms = self._forms.setdefault(language, {})
        fresh = [word for word in spelt if word not in known]
        known.update(zip(fresh, count(len(self._word_counts))))
        found = [*map(words.spellings, fresh)]
        self._word_counts.extend(map(len, found))
        flat = [*chain.from_iterable(found)]
        unseen = [spelling for spelling in dict.fromkeys(flat) if spelling not in forms]
        forms.update(zip(unseen, count(len(self._form_terms))))
        self._word_forms.extend(map(forms.__getitem__, flat))
        self._form_spellings.extend(_numbers(self._spellings, unseen))
        self._form_terms.extend(_numbers(self._terms, self._analyzer.terms_of(unseen, language)))
        return [*map(known.__getitem__, spelt)]

    def add(self, hit: HitUnits) -> None:
        """Take one hit."""
        self._hits.append(hit)

    def arrays(self, languages: Sequence[str]) -> Arrays:
        """Return everything a segment file holds; `languages` are those under whose rules queries will be read."""
        out: Arrays = {}
        word_spellings = list(self._spellings)
        word_terms = np.empty((len(word_spellings), len(languages)), dtype=np.int32)
        for column, language in enumerate(languages):
            word_terms[:, column] = [*_numbers(self._terms, self._analyzer.terms_of(word_spellings, language))]
        vocabulary, order = pack("term", list(self._terms))
        out.update(vocabulary)
        renumber = np.empty(len(order), dtype=np.int32)
        renumber[order] = np.arange(len(order), dtype=np.int32)
        out.update(word_arrays(word_spellings, word_terms, self._document_counts(), renumber))
        counts = np.frombuffer(self._word_counts, dtype=np.int32)
        terms = renumber[np.frombuffer(self._form_terms, dtype=np.int32)[np.frombuffer(self._word_forms, dtype=np.int32)]]

        units, unit_hit, unit_passage, starts = self._units()
        out["unit_hit"] = np.asarray(unit_hit, dtype=np.int32)
        out["unit_passage"] = np.asarray(unit_passage, dtype=np.int64)
        out["hit_start"] = np.asarray(starts, dtype=np.int32)
        out["hit_section"] = np.fromiter((hit.section for hit in self._hits), np.int64, len(self._hits))
        out["hit_document"] = np.fromiter((hit.document for hit in self._hits), np.int64, len(self._hits))
        places = {language: place for place, language in enumerate(languages)}
        out["hit_language"] = np.fromiter((places[hit.language] for hit in self._hits), np.uint8, len(self._hits))
        groups = np.fromiter((hit.group for hit in self._hits), np.int64, len(self._hits))
        out["group"], out["hit_group"] = group_arrays(groups)
        out.update(postings("text", *_spread(units, counts, terms), len(order)))
        names = [name for hit in self._hits for name in _cut(hit.words, hit.names)]
        out["name_start"] = np.cumsum([0, *(len(hit.names) for hit in self._hits)], dtype=np.int32)
        out.update(postings("head", *_spread(names, counts, terms), len(order)))
        return out

    def _document_counts(self) -> NDArray[np.int32]:
        """Return in how many documents each spelling stands."""
        spellings = np.frombuffer(self._form_spellings, dtype=np.int32)[np.frombuffer(self._word_forms, dtype=np.int32)]
        document, spelling, _ = _spread(self._documents, np.frombuffer(self._word_counts, dtype=np.int32), spellings)
        pairs, bits = sorted_pairs(document, spelling, len(self._documents), len(self._spellings))
        distinct = pairs[first_of_each(pairs)] & pairs.dtype.type((1 << bits) - 1)
        return np.bincount(distinct, minlength=len(self._spellings)).astype(np.int32)

    def _units(self) -> tuple[list[NDArray[np.int32]], list[int], list[int], list[int]]:
        units: list[NDArray[np.int32]] = []
        unit_hit: list[int] = []
        unit_passage: list[int] = []
        starts = [0]
        for number, hit in enumerate(self._hits):
            text = hit.words[sum(hit.names) :]
            units += _cut(text, [count for _, count in hit.passages])
            unit_passage += [passage for passage, _ in hit.passages]
            if len(hit.passages) > 1:
                units.append(text[:LEAD_WORDS])
                unit_passage.append(LEAD)
            unit_hit += [number] * (len(units) - len(unit_hit))
            starts.append(len(units))
        return units, unit_hit, unit_passage, starts


def _numbers(known: dict[str, int], strings: Iterable[str]) -> Iterator[int]:
    """Yield the number of each string; one that is not known yet gets the next."""
    for string in strings:
        yield known.setdefault(string, len(known))


def _cut(words_: NDArray[np.int32], counts: Iterable[int]) -> list[NDArray[np.int32]]:
    """Return pieces of so many words each, from the first word on."""
    out = []
    start = 0
    for length in counts:
        out.append(words_[start : start + length])
        start += length
    return out


def postings(name: str, unit_of: NDArray[np.int32], terms: NDArray[np.int32], units: int, vocabulary: int) -> Arrays:
    """Return the arrays of one field from its tokens: the unit and the term of each."""
    keys, bits = sorted_pairs(terms, unit_of, vocabulary, units)
    first = first_of_each(keys)
    counts = np.diff(np.append(first, len(keys)))
    found = keys[first]
    posting_term = (found >> bits).astype(np.int32)
    posting_unit = (found & found.dtype.type((1 << bits) - 1)).astype(np.int32)
    lengths = np.bincount(unit_of, minlength=units).astype(np.int32)
    return field_arrays(name, posting_term, posting_unit, np.minimum(counts, MOST_COUNTED).astype(np.uint8), lengths, vocabulary)


def sorted_pairs(
    high: NDArray[np.integer[Any]], low: NDArray[np.integer[Any]], highs: int, lows: int
) -> tuple[NDArray[np.integer[Any]], int]:
    """Return pairs of numbers below `highs` and `lows`, sorted, each packed into one number, and the bits of the low one.

    Sorting packed numbers is several times faster than a stable sort of positions, and small ones sort faster still.
    """
    bits = max(lows - 1, 1).bit_length()
    small = bits + max(highs - 1, 1).bit_length() <= 32
    keys: NDArray[np.integer[Any]] = high.astype(np.uint32 if small else np.uint64)
    keys <<= bits
    keys |= low.astype(keys.dtype)  # numpy mixes no signed numbers with unsigned ones of 64 bits
    keys.sort()
    return keys, bits


def _distinct(ordered: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return each of some sorted numbers once."""
    return ordered[first_of_each(ordered)]


def first_of_each(ordered: NDArray[Any]) -> NDArray[np.int64]:
    """Return the position of the first of each run of equal numbers."""
    begins = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
    return np.flatnonzero(begins)


def field_arrays(
    name: str,
    posting_term: NDArray[np.int32],
    posting_unit: NDArray[np.int32],
    counts: NDArray[np.uint8],
    lengths: NDArray[np.int32],
    vocabulary: int,
) -> Arrays:
    """Return the arrays of one field from its postings, sorted by term, then unit."""
    starts = np.zeros(vocabulary + 1, dtype=np.int64)
    np.cumsum(np.bincount(posting_term, minlength=vocabulary), out=starts[1:])
    pairs, bits = sorted_pairs(posting_unit, posting_term, len(lengths), vocabulary)
    forward_starts = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(np.bincount(posting_unit, minlength=len(lengths)), out=forward_starts[1:])
    return {
        f"{name}_start": starts,
        f"{name}_unit": posting_unit,
        f"{name}_count": counts,
        f"{name}_length": lengths,
        f"{name}_forward_start": forward_starts,
        f"{name}_forward_term": (pairs & pairs.dtype.type((1 << bits) - 1)).astype(np.int32),
    }


def word_arrays(
    spellings: Sequence[str], terms: NDArray[np.int32], documents: NDArray[np.int32], renumber: NDArray[np.int32]
) -> Arrays:
    """Return the word table: each spelling with its term under each language (`terms`: spellings x languages)."""
    out, order = pack("word", spellings)
    table = renumber[terms[order]] if terms.size else terms
    out["word_term"] = table.ravel()
    out["word_documents"] = documents[order]
    ordered = [spellings[i] for i in order.tolist()]
    out["word_length"] = np.fromiter((min(len(s), 255) for s in ordered), np.uint8, len(ordered))
    out["word_signature"] = grams.signatures(ordered)
    # By code points, which is the order of their UTF-8 too: what begins alike lies side by side.
    out["word_order"] = np.array(sorted(range(len(ordered)), key=ordered.__getitem__), dtype=np.int32)
    out.update(grams.pack(ordered))
    # The same table from the terms' side: the spellings a term stands for, wanted to mark words in a snippet.
    by_term = np.argsort(table.ravel(), kind="stable")
    starts = np.zeros(len(renumber) + 1, dtype=np.int64)
    np.cumsum(np.bincount(table.ravel(), minlength=len(renumber)), out=starts[1:])
    out["term_word_start"] = starts
    out["term_word"] = (by_term // max(terms.shape[1], 1)).astype(np.int32)
    return out


def group_arrays(groups: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the distinct groups, sorted, and for each hit the position of its group among them."""
    distinct, positions = np.unique(groups, return_inverse=True)
    return distinct, positions.astype(np.int32)


def _spread(
    units: Sequence[NDArray[np.int32]], counts: NDArray[np.int32], terms: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32], int]:
    """Return (unit of each token, term of each token, number of units) for units given as word numbers.

    `counts`: how many terms each word has; `terms`: those of all words, one word after the other.
    """
    lengths = np.fromiter(map(len, units), dtype=np.int64, count=len(units))
    flat = np.concatenate(units) if units else _NO_WORDS
    starts = np.cumsum(counts, dtype=np.int32) - counts
    repeats = counts[flat]
    ends = np.append(np.int32(0), np.cumsum(repeats, dtype=np.int32))
    token_terms = terms[np.repeat(starts[flat] - ends[:-1], repeats) + np.arange(ends[-1], dtype=np.int32)]
    tokens = np.diff(ends[np.append(0, np.cumsum(lengths))])
    return np.repeat(np.arange(len(units), dtype=np.int32), tokens), token_terms, len(units)
