"""Documents into the arrays of one segment.

Every distinct word is analysed once. Counting is done with sorting over whole arrays: the pairs
(term, unit) of all units, sorted, give the postings; the same pairs by unit give the forward lists
that a later removal needs.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from kb.analysis import words
from kb.analysis.analyzer import Analyzer
from kb.index import grams
from kb.index.segment import LEAD, MOST_COUNTED
from kb.index.vocabulary import Arrays, pack

if TYPE_CHECKING:
    from numpy.typing import NDArray


T = TypeVar("T", bound=np.generic)

LEAD_WORDS = 400
"""Words of a section that make its lead: about the 2,500 characters with which the first part of a section was measured."""
_NO_WORDS = np.zeros(0, dtype=np.int32)


@dataclass(frozen=True, slots=True)
class HitUnits:
    """One hit ready for the index: catalog numbers, and the word numbers of its names and then its passages."""

    section: int
    document: int
    group: int
    words: NDArray[np.int32]
    names: Sequence[int]  # how many words each has
    passages: Sequence[tuple[int, int]]  # (passage number, how many words)


class _Forms(dict[str, int]):
    """Spellings under one language, numbered as they come; `fresh` are those whose terms have not been asked for."""

    def __init__(self, numbers: array[int], spellings: _Spellings) -> None:
        super().__init__()
        self.fresh: list[str] = []
        self._numbers = numbers
        self._spellings = spellings

    def __missing__(self, spelling: str) -> int:
        number = self[spelling] = len(self._numbers)
        self._numbers.append(self._spellings[spelling])
        self.fresh.append(spelling)
        return number


class _Spellings(dict[str, int]):
    def __missing__(self, spelling: str) -> int:
        number = self[spelling] = len(self)
        return number


class SegmentBuilder:
    """Collects hits and gives the arrays of a segment.

    A *word* is what stands in a text of one language, a *form* a spelling under one language: every word has some forms,
    every form one spelling and one term.
    """

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._terms: dict[str, int] = {}
        self._spellings = _Spellings()
        self._forms: dict[str, _Forms] = {}
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
        forms = self._forms.setdefault(language, _Forms(self._form_spellings, self._spellings))
        out = []
        for word in spelt:
            number = known.get(word)
            if number is None:
                number = known[word] = len(self._word_counts)
                found = words.spellings(word)
                self._word_forms.extend(map(forms.__getitem__, found))
                self._word_counts.append(len(found))
            out.append(number)
        fresh, forms.fresh = forms.fresh, []
        self._form_terms.extend(map(self._term, self._analyzer.terms_of(fresh, language)))
        return out

    def clear(self) -> None:
        """Let go of the documents, which are large."""
        self._hits.clear()
        self._documents.clear()

    def add(self, hit: HitUnits) -> None:
        """Take one hit."""
        self._hits.append(hit)

    def _term(self, term: str) -> int:
        return self._terms.setdefault(term, len(self._terms))

    def arrays(self, languages: Sequence[str]) -> Arrays:
        """Return everything a segment file holds; `languages` are those under whose rules queries will be read."""
        out: Arrays = {}
        word_spellings = list(self._spellings)
        word_terms = np.empty((len(word_spellings), len(languages)), dtype=np.int32)
        for column, language in enumerate(languages):
            word_terms[:, column] = [*map(self._term, self._analyzer.terms_of(word_spellings, language))]
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
        pairs = document * len(self._spellings) + spelling
        pairs.sort()
        counts = np.bincount(_distinct(pairs) % max(len(self._spellings), 1), minlength=len(self._spellings))
        return counts.astype(np.int32)

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


def _cut(words_: NDArray[np.int32], counts: Iterable[int]) -> list[NDArray[np.int32]]:
    """Return pieces of so many words each, from the first word on."""
    out = []
    start = 0
    for count in counts:
        out.append(words_[start : start + count])
        start += count
    return out


def _distinct(ordered: NDArray[T]) -> NDArray[T]:
    """Return each of some sorted numbers once."""
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


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
) -> tuple[NDArray[np.int64], NDArray[np.int32], int]:
    """Return (unit of each token, term of each token, number of units) for units given as word numbers.

    `counts`: how many terms each word has; `terms`: those of all words, one word after the other.
    """
    lengths = np.fromiter(map(len, units), dtype=np.int64, count=len(units))
    flat = np.concatenate(units) if units else _NO_WORDS
    starts = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=starts[1:])
    repeats = counts[flat]
    total = int(repeats.sum())
    ends = np.cumsum(repeats)
    within = np.arange(total, dtype=np.int64) - np.repeat(ends - repeats, repeats)
    token_terms = terms[np.repeat(starts[flat], repeats) + within]
    unit_of = np.repeat(np.repeat(np.arange(len(units), dtype=np.int64), lengths), repeats)
    return unit_of, token_terms, len(units)
