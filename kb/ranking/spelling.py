"""Words that the index has never seen, read as the known words that were most likely meant.

A word is corrected piece by piece: `Evidence-Grpah` and `U.Commitmet` have one misspelt piece each. Among known spellings that
are equally few edits away the one counts that stands together with the other words of the query. Where a dictionary knows the
language, it says which words are none: those it holds are rarely slips, and a slip in a form that no text has is found in it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kb.analysis import words
from kb.analysis.distance import one_edit_away, signature, within
from kb.index import grams
from kb.index.segment import Segment
from kb.index.snapshot import Snapshot
from kb.ranking import bm25, rarity, weights
from kb.ranking.bm25 import Parameters
from kb.records import record, replace

if TYPE_CHECKING:
    from numpy.typing import NDArray

Known = Callable[[str], Sequence[str]]
"""Returns the terms of a spelling that the index holds."""
IsWord = Callable[[str], bool | None]
"""Tells whether a dictionary holds a spelling; None where there is no dictionary for it."""
_LETTERS = re.compile(r"[^\W\d_]+")
_TEXT = Parameters(weights.K1, weights.B)
_HEAD = Parameters(weights.K1, weights.HEAD_B)


def allowance(word: str) -> int:
    """Return how many edits a word of its length may be away, in characters."""
    return 0 if len(word) < weights.SPELLING_SHORTEST_IN_COMPANY else 1 if len(word) < weights.SPELLING_TWO_EDITS_FROM else 2


@record
class Candidate:
    """A known spelling that may have been meant; `documents` hold it.

    `doubtful`: it begins with another letter, which people rarely mistype; the other words of the query have to speak for it.
    """

    spelling: str
    edits: int
    similarity: float
    documents: int
    doubtful: bool


@record
class _Doubt:
    """A misspelt piece of a word, by place, and what may have been meant: of equal distance, the likeliest first."""

    word: str
    start: int
    end: int
    candidates: tuple[Candidate, ...]


def corrections(
    unknown: Iterable[str],
    unseen: Iterable[str],
    company: Iterable[str],
    snapshot: Snapshot,
    known: Known,
    is_word: IsWord,
    language: str | None = None,
) -> dict[str, str]:
    """Return the words that can be corrected, each with what it was most likely meant to be.

    `unknown`: words of the query of which the index lacks a piece; `company`: the terms of those that it knows. `unseen`: forms
    that stand nowhere, of terms that it knows: most are right, but `adress` may be the stem of a word in another language.
    `language`: the one that the query is in, None where that is not clear.
    """
    doubts = [doubt for word in unknown for doubt in _doubts(word, snapshot, known, is_word)]
    if language is not None:
        own = [replace(doubt, candidates=_of_language(doubt.candidates, language, snapshot, known)) for doubt in doubts]
        doubts = [doubt for doubt in own if doubt.candidates]
    doubts.sort(key=lambda doubt: (len(doubt.candidates) > 1 or _is_short(doubt), len(doubt.candidates)))
    terms = list(company)
    chosen: dict[str, list[tuple[int, int, str]]] = {}
    for doubt in doubts:
        best = _likeliest(doubt, _Company(snapshot, tuple(terms)), known)
        if best is not None:
            terms += known(best)
            chosen.setdefault(doubt.word, []).append((doubt.start, doubt.end, best))
    for word in unseen:
        for match in _LETTERS.finditer(word):
            spelt = words.normalise(match.group())
            best = None
            if snapshot.stored_terms(spelt) is None:
                best = _rather(spelt, _Company(snapshot, tuple(terms)), snapshot, known, is_word)
            terms += known(spelt if best is None else best)
            if best is not None:
                chosen.setdefault(word, []).append((*match.span(), best))
    return {word: _replaced(word, pieces) for word, pieces in chosen.items()}


def candidates(spelt: str, snapshot: Snapshot) -> list[Candidate]:
    """Return the known spellings nearest to one: those the fewest edits away, by shared 4-grams, then the more frequent first."""
    most = allowance(spelt)
    found: dict[str, int] = {}
    for segment in snapshot.segments if most else ():
        for candidate in _within_reach(segment, spelt, most):
            if candidate in found or not candidate.isalpha() or _is_derived(spelt, candidate):
                continue
            if len(spelt) >= weights.SPELLING_SHORTEST or _is_slip(spelt, candidate):
                edits = within(spelt, candidate, most)
                if edits is not None:
                    found[candidate] = edits
    held = [
        Candidate(candidate, edits, grams.similarity(spelt, candidate), documents, _begins_otherwise(spelt, candidate))
        for candidate, edits in found.items()
        if (documents := snapshot.documents_with(candidate))
    ]
    least = min((candidate.edits for candidate in held), default=0)
    nearest = [candidate for candidate in held if candidate.edits == least]
    return sorted(nearest, key=lambda one: (-one.similarity, -one.documents, one.spelling))[: weights.SPELLING_MOST_COMPARED]


def _doubts(word: str, snapshot: Snapshot, known: Known, is_word: IsWord) -> list[_Doubt]:
    """Return the pieces of a word that are unknown and like something known. Words with digits are names, and have none."""
    if any(char.isdigit() for char in word):
        return []
    out = []
    for match in _LETTERS.finditer(word):
        piece = match.group()
        spelt = words.normalise(piece)
        if known(spelt):
            continue
        found = candidates(spelt, snapshot)
        right = is_word(spelt)
        if right is False and not (found and found[0].edits == 1):
            found = _in_other_forms(spelt, known, is_word) or found
        if right:
            found = [replace(candidate, doubtful=True) for candidate in found]
        humps = [hump for hump in words.parts(piece) if hump != piece] if not found else []
        if found:
            out.append(_Doubt(word, *match.span(), tuple(found)))
        at = match.start()
        for hump in humps:
            near = [] if known(words.normalise(hump)) else candidates(words.normalise(hump), snapshot)
            if near:
                out.append(_Doubt(word, at, at + len(hump), tuple(near)))
            at += len(hump)
    return out


def _of_language(candidates: Sequence[Candidate], language: str, snapshot: Snapshot, known: Known) -> tuple[Candidate, ...]:
    """Return what may have been meant in a query of a language: its own words, else those of others that begin alike.

    In a German question to English texts `Frist` may be a slip for `first`, and is more likely itself; a name may be misspelt.
    """
    foreign = {one.spelling for one in candidates if rarity.is_foreign(snapshot, known(one.spelling), language)}
    own = tuple(one for one in candidates if one.spelling not in foreign)
    return own if any(not one.doubtful for one in own) else tuple(one for one in candidates if one in own or not one.doubtful)


def _in_other_forms(spelt: str, known: Known, is_word: IsWord) -> list[Candidate]:
    """Return the words of the dictionary one edit away that are forms of a word which the index holds.

    A text may say `ледник` and a query `лъдниками`, which is far from every spelling that stands in it.
    """
    if len(spelt) < weights.SPELLING_SHORTEST:
        return []
    found = [one for one in one_edit_away(spelt) if is_word(one) and known(one)]
    out = [Candidate(one, 1, grams.similarity(spelt, one), 1, _begins_otherwise(spelt, one)) for one in found]
    return sorted(out, key=lambda one: (-one.similarity, one.spelling))[: weights.SPELLING_MOST_COMPARED]


def _is_short(doubt: _Doubt) -> bool:
    return doubt.end - doubt.start < weights.SPELLING_SHORTEST


def _likeliest(doubt: _Doubt, company: _Company, known: Known) -> str | None:
    sure = [] if _is_short(doubt) else [candidate.spelling for candidate in doubt.candidates if not candidate.doubtful]
    if len(sure) == len(doubt.candidates) == 1:
        return sure[0]
    kept = [company.of(known(candidate.spelling)) for candidate in doubt.candidates]
    best = max(kept)
    if best <= 0:
        return next(iter(sure), None)
    return doubt.candidates[kept.index(best)].spelling


def _rather(spelt: str, company: _Company, snapshot: Snapshot, known: Known, is_word: IsWord) -> str | None:
    """Return the word that goes far better with the others than a form whose term is known, if there is one.

    What a dictionary holds stays as it is; what it lacks has to go less well with the others than another word.
    """
    right = is_word(spelt)
    if right:
        return None
    own = known(spelt)
    others = [(known(candidate.spelling), candidate.spelling) for candidate in candidates(spelt, snapshot)]
    kept = {spelling: company.of(terms) for terms, spelling in others if set(terms).isdisjoint(own)}
    best = max(kept, key=lambda spelling: kept[spelling], default=None)
    return (
        best if best is not None and kept[best] > (1 if right is False else weights.SPELLING_RATHER) * company.of(own) else None
    )


class _Company:
    """How well the other words of a query go with a term: the score they give the best unit or name that holds it."""

    def __init__(self, snapshot: Snapshot, terms: tuple[str, ...]) -> None:
        self._snapshot = snapshot
        self._terms = tuple((term, 1.0) for term in dict.fromkeys(terms))

    def of(self, terms: Sequence[str]) -> float:
        best = 0.0
        for segment, fields in zip(self._snapshot.segments, self._scores, strict=True):
            for field, scores in fields.items():
                for term in terms:
                    number = segment.number_of(term)
                    units = getattr(segment, field).of(number)[0] if number is not None else ()
                    if len(units):
                        best = max(best, float(scores[units].max()))
        return best

    @cached_property
    def _scores(self) -> list[Mapping[str, NDArray[np.float32]]]:
        out: list[Mapping[str, NDArray[np.float32]]] = []
        for segment in self._snapshot.segments:
            fields = {}
            for field, totals, parameters in (("text", self._snapshot.text, _TEXT), ("head", self._snapshot.head, _HEAD)):
                weighted = bm25.weigh(self._snapshot, field, self._terms)
                scores = bm25.scores(segment, field, weighted, totals.mean, parameters)
                gone = segment.dead_mask(field)
                if gone is not None:
                    scores[gone] = 0
                fields[field] = scores
            out.append(fields)
        return out


def _is_slip(spelt: str, candidate: str) -> bool:
    """Tell whether a short word lost a letter, or has two in the wrong order."""
    return len(candidate) == len(spelt) + 1 or sorted(candidate) == sorted(spelt)


def _is_derived(spelt: str, candidate: str) -> bool:
    """Tell whether one word is the other with several letters before it: `unauthorised` is no slip for `authorised`."""
    short, long = sorted((spelt, candidate), key=len)
    return len(long) - len(short) > 1 and long.endswith(short)


def _begins_otherwise(spelt: str, candidate: str) -> bool:
    """Tell whether the first letter differs, and neither was lost nor changed places with the second."""
    return spelt[0] != candidate[0] and candidate[1:] != spelt and candidate[:2] != spelt[1::-1]


def _within_reach(segment: Segment, spelt: str, most: int) -> list[str]:
    near = np.abs(segment.word_lengths.astype(np.int16) - len(spelt)) <= most
    numbers = np.flatnonzero(near)
    if not len(numbers):
        return []
    differing = np.bitwise_count(segment.word_signatures[numbers] ^ np.uint64(signature(spelt)))
    return [segment.words[int(number)] for number in numbers[differing <= 2 * most]]


def _replaced(word: str, pieces: Sequence[tuple[int, int, str]]) -> str:
    for start, end, better in sorted(pieces, reverse=True):
        word = word[:start] + _cased(word[start:end], better) + word[end:]
    return unicodedata.normalize("NFC", word)


def _cased(piece: str, better: str) -> str:
    """Return a correction with the capitals of the word that it stands for: `BoundedContxt` is `BoundedContext`.

    Where a slip stands beside an inner capital, nothing says where the capitals of the right word are.
    """
    if piece.islower() or piece.isupper() or piece.istitle():
        return better if piece.islower() else better.upper() if piece.isupper() and len(piece) > 1 else better.capitalize()
    most = min(len(piece), len(better))
    first = next((at for at in range(most) if piece[at].lower() != better[at]), most)
    last = next((at for at in range(most - first) if piece[-1 - at].lower() != better[-1 - at]), most - first)
    beside = piece[max(first - 1, 0) : len(piece) - last + 1]
    return piece[:first] + better[first : len(better) - last] + piece[len(piece) - last :] if beside.islower() else better
