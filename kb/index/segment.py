"""One immutable segment: the postings of some documents, and the words they were written with.

Two fields. `text`: one unit for each passage, and one more, the lead, for each hit of several
passages. `head`: one unit for each name of a hit (its title, each alias, its title with those above it). A posting is
a unit (int32) and how often the term stands there (uint8), and nothing else: document frequency,
average length and the scoring variant are applied when a query is answered, so that edits leave no
trace in scores.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kb.index.arrays import ArrayFile
from kb.index.dead import Dead
from kb.index.vocabulary import Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray


LEAD = -1
"""Stands for a passage number in `unit_passage` where the unit is a lead."""
MOST_COUNTED = 255
"""A term that stands more often in one unit counts as if it stood there so often: a byte holds it."""
_MOST_NUMBERS = 20_000


_NONE = np.zeros(0, np.int32)
NOTHING_DEAD = Dead(_NONE, _NONE, _NONE, (_NONE, _NONE), (_NONE, _NONE), (_NONE, _NONE))


class Postings:
    """The postings of one field: for each term the units that hold it, and for each unit its length in terms."""

    def __init__(self, arrays: ArrayFile, name: str) -> None:
        self.starts: NDArray[np.int64] = arrays[f"{name}_start"]
        self.units: NDArray[np.int32] = arrays[f"{name}_unit"]
        self.counts: NDArray[np.uint8] = arrays[f"{name}_count"]
        self.lengths: NDArray[np.int32] = arrays[f"{name}_length"]
        self.forward_starts: NDArray[np.int64] = arrays[f"{name}_forward_start"]
        self.forward_terms: NDArray[np.int32] = arrays[f"{name}_forward_term"]

    def of(self, term: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """Return the units that hold a term, ascending, and how often each does."""
        start, end = self.starts[term], self.starts[term + 1]
        return self.units[start:end], self.counts[start:end]

    def frequency(self, term: int) -> int:
        """Return how many units hold a term, dead ones included."""
        return int(self.starts[term + 1]) - int(self.starts[term])

    def terms_of(self, unit: int) -> NDArray[np.int32]:
        """Return the distinct terms of one unit."""
        return self.forward_terms[self.forward_starts[unit] : self.forward_starts[unit + 1]]


class Segment:
    """A segment as a query sees it: its mapped arrays, and what has been removed from it since."""

    def __init__(self, number: int, arrays: ArrayFile, languages: Sequence[str] = (), dead: Dead = NOTHING_DEAD) -> None:
        self.number = number
        self.arrays = arrays
        self.languages = tuple(languages)
        self._numbers: dict[str, int | None] = {}
        self.dead = dead
        self.keep_nothing()
        self.terms = Vocabulary(arrays, "term")
        self.words = Vocabulary(arrays, "word")
        self.text = Postings(arrays, "text")
        self.head = Postings(arrays, "head")
        self.unit_hit: NDArray[np.int32] = arrays["unit_hit"]
        self.unit_passage: NDArray[np.int64] = arrays["unit_passage"]
        self.hit_section: NDArray[np.int64] = arrays["hit_section"]
        self.hit_document: NDArray[np.int64] = arrays["hit_document"]
        self.hit_language: NDArray[np.uint8] = arrays["hit_language"]  # position in `languages`
        self.hit_group: NDArray[np.int32] = arrays["hit_group"]
        self.group: NDArray[np.int64] = arrays["group"]
        self.hit_start: NDArray[np.int32] = arrays["hit_start"]
        self.name_start: NDArray[np.int32] = arrays["name_start"]
        self.word_terms: NDArray[np.int32] = arrays["word_term"]
        self.gram_hashes: NDArray[np.uint32] = arrays["gram_hash"]
        self.gram_starts: NDArray[np.int32] = arrays["gram_start"]
        self.gram_words: NDArray[np.int32] = arrays["gram_word"]
        self.word_documents: NDArray[np.int32] = arrays["word_documents"]
        self.word_lengths: NDArray[np.uint8] = arrays["word_length"]
        self.word_signatures: NDArray[np.uint64] = arrays["word_signature"]
        self.word_order: NDArray[np.int32] = arrays["word_order"]
        self.term_word_starts: NDArray[np.int64] = arrays["term_word_start"]
        self.term_words: NDArray[np.int32] = arrays["term_word"]

    def keep_nothing(self) -> None:
        """Begin with nothing worked out: what kb.ranking makes of the arrays is kept here, so that it goes when they do."""
        self.norms: dict[tuple[str, float, float, float], NDArray[np.float32]] = {}
        self.impacts: dict[Any, Any] = {}
        self.impact_bytes = [0]
        self.scratch: dict[int, list[NDArray[np.float32]]] = {}  # zeros, by their number
        self.worked_out: dict[str, Any] = {}
        self._gone: dict[str, NDArray[np.bool_]] = {}
        self._layout: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.bool_]] | None = None

    @classmethod
    def open(cls, number: int, path: Path, languages: Sequence[str] = (), dead: Dead = NOTHING_DEAD) -> Segment:
        """Map a segment's file. FileNotFoundError or IndexDamaged where it can't be used."""
        return cls(number, ArrayFile.open(path), languages, dead)

    @property
    def layout(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.bool_]]:
        """Return the hits that have text, its first and last unit (the lead, or only passage); which units are leads."""
        if self._layout is None:
            starts = self.hit_start
            filled = np.flatnonzero(starts[1:] > starts[:-1])
            self._layout = (filled, starts[filled], starts[filled + 1] - 1, self.unit_passage == LEAD)
        return self._layout

    def with_dead(self, dead: Dead) -> Segment:
        """Return the same segment, files shared, with other removals."""
        if dead is self.dead:
            return self
        import copy  # no search needs it

        other = copy.copy(self)
        other.dead = dead
        other._gone = {}
        return other

    def number_of(self, term: str) -> int | None:
        """Return a term's number, or None where no text of the segment holds it; remembered, for queries repeat terms."""
        try:
            return self._numbers[term]
        except KeyError:
            if len(self._numbers) >= _MOST_NUMBERS:
                self._numbers.clear()
            found = self._numbers[term] = self.terms.find(term)
            return found

    def dead_mask(self, field: str) -> NDArray[np.bool_] | None:
        """Return which units of a field are dead, or None where none is."""
        positions = self.dead.units if field == "text" else self.dead.names
        if not positions.size:
            return None
        found = self._gone.get(field)
        if found is None:
            found = np.zeros(len(getattr(self, field).lengths), dtype=bool)
            found[positions] = True
            self._gone[field] = found
        return found

    def terms_of_word(self, spelling: str, languages: Sequence[str]) -> tuple[str, ...] | None:
        """Return the distinct terms of a spelling under each language, as stored when it was indexed.

        None where the spelling was never seen here, or one of the languages was not held yet.
        """
        found = self.terms_by_language(spelling)
        if not found or any(language not in found for language in languages):
            return None
        return tuple(dict.fromkeys(found[language] for language in languages))

    def terms_by_language(self, spelling: str) -> dict[str, str]:
        """Return the term of a spelling under each language held, as stored; empty where the spelling was never seen here."""
        word = self.words.find(spelling)
        if word is None:
            return {}
        row = self.word_terms[word * len(self.languages) : (word + 1) * len(self.languages)].tolist()
        return {language: self.terms[term] for language, term in zip(self.languages, row, strict=True)}

    def words_beginning(self, beginning: str) -> NDArray[np.int32]:
        """Return the numbers of the spellings that begin with some characters, in the order of their code points."""
        first = bisect_left(self.word_order, beginning, key=self.words.__getitem__)
        # No spelling holds the last code point there is: it stands after everything that goes on from the beginning.
        last = bisect_left(self.word_order, beginning + chr(sys.maxunicode), lo=first, key=self.words.__getitem__)
        return self.word_order[first:last]

    def spellings_of(self, term: str) -> set[str]:
        """Return the spellings that have a term under some language."""
        number = self.terms.find(term)
        if number is None:
            return set()
        start, end = self.term_word_starts[number], self.term_word_starts[number + 1]
        return {self.words[int(word)] for word in self.term_words[start:end]}


def ranges(starts: NDArray[np.int32] | NDArray[np.int64], chosen: NDArray[np.int32] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Return all positions from starts[i] up to starts[i + 1] for each chosen i."""
    counts = (starts[chosen + 1] - starts[chosen]).astype(np.int64)
    offsets = np.cumsum(counts) - counts
    return np.repeat(starts[chosen].astype(np.int64) - offsets, counts) + np.arange(int(counts.sum()), dtype=np.int64)


def dead_count(held: tuple[NDArray[np.int32], NDArray[np.int32]], number: int) -> int:
    """Return how many of a term's postings, or of a spelling's documents, are dead."""
    numbers, counts = held
    if not numbers.size:
        return 0
    at = int(numbers.searchsorted(number))
    return int(counts[at]) if at < len(numbers) and numbers[at] == number else 0
