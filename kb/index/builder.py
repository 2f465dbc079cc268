"""Documents into the arrays of one segment.

Every distinct word is analysed once. Counting is done with sorting over whole arrays: the pairs
(term, unit) of all units, sorted, give the postings; the same pairs by unit give the forward lists
that a later removal needs.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from kb.analysis import words
from kb.analysis.analyzer import Analyzer
from kb.index import grams
from kb.index.segment import LEAD, MOST_COUNTED
from kb.index.vocabulary import Arrays, pack

if TYPE_CHECKING:
    from numpy.typing import NDArray


LEAD_WORDS = 400
"""Words of a section that make its lead: about the 2,500 characters with which the first part of a section was measured."""


class WordNumbers(dict[str, int]):
    """Words of one language to numbers; an unseen word is analysed on the way."""

    def __init__(self, builder: SegmentBuilder, language: str) -> None:
        super().__init__()
        self._builder = builder
        self._language = language

    def __missing__(self, word: str) -> int:
        number = self[word] = self._builder.add_word(word, self._language)
        return number

    def of(self, text: str) -> array[int]:
        """Return the numbers of a text's words, in order."""
        return array("i", map(self.__getitem__, words.WORD.findall(text)))


class SpellingTerms(dict[str, int]):
    """Spellings under one language to term numbers; an unseen spelling is analysed on the way."""

    def __init__(self, builder: SegmentBuilder, language: str) -> None:
        super().__init__()
        self._builder = builder
        self._language = language

    def __missing__(self, spelling: str) -> int:
        number = self[spelling] = self._builder.add_spelling(spelling, self._language)
        return number


@dataclass(frozen=True, slots=True)
class HitUnits:
    """One hit ready for the index: catalog numbers, and the word numbers of its names and passages."""

    section: int
    document: int
    group: int
    names: Sequence[array[int]]
    passages: Sequence[tuple[int, array[int]]]  # (passage number, word numbers)


class SegmentBuilder:
    """Collects hits and gives the arrays of a segment."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._terms: dict[str, int] = {}
        self._word_terms: list[list[int]] = []
        self._word_spellings: list[list[int]] = []
        self._documents: list[array[int]] = []
        self._spelling_terms: dict[str, SpellingTerms] = {}
        self._spellings: dict[str, int] = {}  # spelling -> number
        self._maps: dict[str, WordNumbers] = {}
        self._hits: list[HitUnits] = []

    def words(self, language: str) -> WordNumbers:
        """Return the word numbers of a language."""
        if language not in self._maps:
            self._maps[language] = WordNumbers(self, language)
            self._spelling_terms[language] = SpellingTerms(self, language)
        return self._maps[language]

    def add_word(self, word: str, language: str) -> int:
        """Analyse a word not seen before under a language and return its number."""
        spellings = words.spellings(word)
        self._word_terms.append([*map(self._spelling_terms[language].__getitem__, spellings)])
        self._word_spellings.append([*map(self._spellings.__getitem__, spellings)])
        return len(self._word_terms) - 1

    def add_spelling(self, spelling: str, language: str) -> int:
        """Note a spelling not seen before under a language and return its term's number."""
        self._spellings.setdefault(spelling, len(self._spellings))
        return self._term(self._analyzer.term(spelling, language))

    def clear(self) -> None:
        """Let go of everything; the maps and the builder hold each other, and a build runs without the cycle collector."""
        self._maps.clear()
        self._spelling_terms.clear()
        self._hits.clear()
        self._documents.clear()

    def add_document(self, words_: array[int]) -> None:
        """Note which words, by their numbers, one more document holds."""
        self._documents.append(words_)

    def add(self, hit: HitUnits) -> None:
        """Take one hit."""
        self._hits.append(hit)

    def _term(self, term: str) -> int:
        return self._terms.setdefault(term, len(self._terms))

    def arrays(self, languages: Sequence[str]) -> Arrays:
        """Return everything a segment file holds; `languages` are those under whose rules queries will be read."""
        out: Arrays = {}
        word_spellings = list(self._spellings)
        word_terms = np.fromiter(
            (self._term(self._analyzer.term(s, language)) for s in word_spellings for language in languages),
            dtype=np.int32,
            count=len(word_spellings) * len(languages),
        ).reshape(len(word_spellings), len(languages))
        vocabulary, order = pack("term", list(self._terms))
        out.update(vocabulary)
        renumber = np.empty(len(order), dtype=np.int32)
        renumber[order] = np.arange(len(order), dtype=np.int32)
        out.update(word_arrays(word_spellings, word_terms, self._document_counts(), renumber))
        counts, terms = _ragged(self._word_terms)
        terms = renumber[terms] if len(terms) else terms

        units, unit_hit, unit_passage, starts = self._units()
        out["unit_hit"] = np.asarray(unit_hit, dtype=np.int32)
        out["unit_passage"] = np.asarray(unit_passage, dtype=np.int64)
        out["hit_start"] = np.asarray(starts, dtype=np.int32)
        out["hit_section"] = np.fromiter((hit.section for hit in self._hits), np.int64, len(self._hits))
        out["hit_document"] = np.fromiter((hit.document for hit in self._hits), np.int64, len(self._hits))
        groups = np.fromiter((hit.group for hit in self._hits), np.int64, len(self._hits))
        out["group"], out["hit_group"] = group_arrays(groups)
        out.update(postings("text", *_spread(units, counts, terms), len(order)))
        names = [name for hit in self._hits for name in hit.names]
        out["name_start"] = np.cumsum([0, *(len(hit.names) for hit in self._hits)], dtype=np.int32)
        out.update(postings("head", *_spread(names, counts, terms), len(order)))
        return out

    def _document_counts(self) -> NDArray[np.int32]:
        """Return in how many documents each spelling stands."""
        document, spelling, _ = _spread(self._documents, *_ragged(self._word_spellings))
        pairs = document * len(self._spellings) + spelling
        pairs.sort()
        distinct = pairs[np.diff(pairs, prepend=-1) != 0]
        return np.bincount(distinct % max(len(self._spellings), 1), minlength=len(self._spellings)).astype(np.int32)

    def _units(self) -> tuple[list[array[int]], list[int], list[int], list[int]]:
        units: list[array[int]] = []
        unit_hit: list[int] = []
        unit_passage: list[int] = []
        starts = [0]
        for number, hit in enumerate(self._hits):
            for passage, numbers in hit.passages:
                units.append(numbers)
                unit_hit.append(number)
                unit_passage.append(passage)
            if len(hit.passages) > 1:
                lead = array("i")
                for _, numbers in hit.passages:
                    lead.extend(numbers)
                    if len(lead) >= LEAD_WORDS:
                        break
                units.append(lead[:LEAD_WORDS])
                unit_hit.append(number)
                unit_passage.append(LEAD)
            starts.append(len(units))
        return units, unit_hit, unit_passage, starts


def postings(name: str, unit_of: NDArray[np.int64], terms: NDArray[np.int32], units: int, vocabulary: int) -> Arrays:
    """Return the arrays of one field from its tokens: the unit and the term of each."""
    keys = terms.astype(np.int64) * max(units, 1) + unit_of
    keys.sort()
    first = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))) if len(keys) else np.zeros(0, np.int64)
    distinct = keys[first]
    counts = np.diff(np.append(first, len(keys)))
    posting_term = (distinct // max(units, 1)).astype(np.int32)
    posting_unit = (distinct - posting_term.astype(np.int64) * max(units, 1)).astype(np.int32)
    lengths = np.bincount(unit_of, minlength=units).astype(np.int32)
    return field_arrays(name, posting_term, posting_unit, np.minimum(counts, MOST_COUNTED).astype(np.uint8), lengths, vocabulary)


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
    # Sorting pairs packed into one number is several times faster than a stable sort of positions.
    pairs = posting_unit.astype(np.int64) << 32 | posting_term
    pairs.sort()
    forward_starts = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(np.bincount(posting_unit, minlength=len(lengths)), out=forward_starts[1:])
    return {
        f"{name}_start": starts,
        f"{name}_unit": posting_unit,
        f"{name}_count": counts,
        f"{name}_length": lengths,
        f"{name}_forward_start": forward_starts,
        f"{name}_forward_term": (pairs & 0xFFFFFFFF).astype(np.int32),
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


def _ragged(rows: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    counts = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    flat = np.fromiter(chain.from_iterable(rows), dtype=np.int32, count=int(counts.sum()))
    return counts, flat


def _spread(
    units: Sequence[array[int]], counts: NDArray[np.int64], terms: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32], int]:
    """Return (unit of each token, term of each token, number of units) for units given as word numbers."""
    lengths = np.fromiter(map(len, units), dtype=np.int64, count=len(units))
    flat = np.frombuffer(b"".join(unit.tobytes() for unit in units), dtype=np.int32)
    starts = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=starts[1:])
    repeats = counts[flat]
    total = int(repeats.sum())
    ends = np.cumsum(repeats)
    within = np.arange(total, dtype=np.int64) - np.repeat(ends - repeats, repeats)
    token_terms = terms[np.repeat(starts[flat], repeats) + within]
    unit_of = np.repeat(np.repeat(np.arange(len(units), dtype=np.int64), lengths), repeats)
    return unit_of, token_terms, len(units)
