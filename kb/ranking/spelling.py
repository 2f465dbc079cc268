"""Words that the index has never seen, read as the known words that were most likely meant.

A word is corrected piece by piece: `Evidence-Grpah` and `U.Commitmet` have one misspelt piece each. Among known spellings that
are equally few edits away the one counts that stands together with the other words of the query. Where a dictionary knows the
language, it says which words are none: those it holds are rarely slips, and a slip in a form that no text has is found in it.
"""

from __future__ import annotations

import math
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
from kb.ranking import bm25, near, rarity, weights
from kb.ranking.bm25 import Parameters
from kb.records import record, replace

if TYPE_CHECKING:
    from numpy.typing import NDArray

Known = Callable[[str], Sequence[str]]
"""Returns the terms of a spelling that the index holds."""
IsWord = Callable[[str], bool | None]
"""Tells whether a dictionary holds a spelling; None where there is no dictionary for it."""
_LETTERS = re.compile(r"[^\W\d_]+")
_DIGITS = re.compile(r"\d+")
_TEXT = Parameters(weights.K1, weights.B)
_HEAD = Parameters(weights.K1, weights.HEAD_B)


def allowance(word: str) -> int:
    """Return how many edits a word of its length may be away, in characters."""
    return 0 if len(word) < weights.SPELLING_SHORTEST_IN_COMPANY else 1 if len(word) < weights.SPELLING_TWO_EDITS_FROM else 2


@record
class Candidate:
    """A known spelling that may have been meant, `edits` away.

    `likelihood`: how likely it was meant, whatever else was asked; a logarithm, to compare words that are equally near.
    `doubtful`: it begins with another letter, which people rarely mistype; the other words of the query have to speak for it.
    """

    spelling: str
    edits: int
    likelihood: float
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


def of_a_name(
    pairs: Iterable[tuple[str, str]], asked: Sequence[str], doubtful: Mapping[str, int], snapshot: Snapshot, terms_of: Known
) -> dict[str, str]:
    """Return the one word of a query that keeps it from being a name of the base, with what it was meant to be; else nothing.

    `pairs`: what `near.left_over` returned. `asked`: the words of the query; `doubtful`: their spellings that may be wrong, each
    with the edits that it may be away; `terms_of`: returns the terms of a spelling.
    """
    best: tuple[tuple[int, float, str], str, str] | None = None
    for spelt, other in pairs:
        edits = within(spelt, other, doubtful[spelt])
        if not edits or _digits(spelt) != _digits(other) or _is_derived(spelt, other):
            continue
        place = _place(spelt, asked)
        if place is None:
            continue
        word, start, end = place
        better = _replaced(word, [(start, end, other)])
        tokens = [terms_of(one) for each in asked for one in words.spellings(better if each == word else each)]
        if near.is_name(tokens, snapshot):
            order = (edits, -likelihood(spelt, other, edits, snapshot.documents_with(other)), other)
            best = min(best or (order, word, better), (order, word, better))
    return {best[1]: best[2]} if best is not None else {}


def _place(spelt: str, asked: Sequence[str]) -> tuple[str, int, int] | None:
    """Return the word of which a spelling is the whole or a piece between signs, and where in it."""
    for word in asked:
        if words.normalise(word) == spelt:
            return word, 0, len(word)
        for match in _LETTERS.finditer(word):
            if words.normalise(match.group()) == spelt:
                return word, *match.span()
    return None


def _digits(spelt: str) -> list[str]:
    return _DIGITS.findall(spelt)


def candidates(spelt: str, snapshot: Snapshot) -> list[Candidate]:
    """Return the known spellings nearest to one: those the fewest edits away, the likeliest first."""
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
        Candidate(candidate, edits, likelihood(spelt, candidate, edits, documents), _begins_otherwise(spelt, candidate))
        for candidate, edits in found.items()
        if (documents := snapshot.documents_with(candidate))
    ]
    least = min((candidate.edits for candidate in held), default=0)
    return _likeliest_first(spelt, [candidate for candidate in held if candidate.edits == least])


def likelihood(spelt: str, meant: str, edits: int, documents: int) -> float:
    """Return how likely a spelling is a slip of a word that so many documents hold, as a logarithm; 0 for an unseen word.

    The noisy channel of Kernighan, Church and Gale, "A spelling correction program based on a noisy channel model" (1990): how
    likely the word is, times how likely it becomes the spelling. There are few ways to lose a letter of a word or to swap two,
    and many for a letter to get into it.
    """
    known = weights.SPELLING_FREQUENCY * math.log1p(documents)
    if edits != 1:
        return known
    if _is_slip(spelt, meant):
        return known + weights.SPELLING_LOST
    return known - weights.SPELLING_STRAY if len(spelt) > len(meant) and not _is_doubled(spelt, meant) else known


def _likeliest_first(spelt: str, found: Sequence[Candidate]) -> list[Candidate]:
    """Return as many as are compared, of equally likely ones those first that share more 4-grams with the spelling."""
    order = sorted(found, key=lambda one: (-one.likelihood, -grams.similarity(spelt, one.spelling), one.spelling))
    return order[: weights.SPELLING_MOST_COMPARED]


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
    return _likeliest_first(
        spelt, [Candidate(one, 1, likelihood(spelt, one, 1, 1), _begins_otherwise(spelt, one)) for one in found]
    )


def _is_short(doubt: _Doubt) -> bool:
    return doubt.end - doubt.start < weights.SPELLING_SHORTEST


def _likeliest(doubt: _Doubt, company: _Company, known: Known) -> str | None:
    sure = [] if _is_short(doubt) else [candidate.spelling for candidate in doubt.candidates if not candidate.doubtful]
    if len(sure) == len(doubt.candidates) == 1:
        return sure[0]
    best: tuple[float, str] | None = None
    for candidate in doubt.candidates:
        kept = company.of(known(candidate.spelling))
        likely = candidate.likelihood + math.log1p(kept)
        if (kept > 0 or candidate.spelling in sure) and (best is None or likely > best[0]):
            best = (likely, candidate.spelling)
    return best[1] if best is not None else None


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


def _is_doubled(spelt: str, candidate: str) -> bool:
    """Tell whether a spelling is a word with one letter typed twice."""
    return any(spelt[at] == spelt[at - 1] and spelt[:at] + spelt[at + 1 :] == candidate for at in range(1, len(spelt)))


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

    Where letters were lost beside an inner capital, nothing says where the capitals of the right word are.
    """
    if piece.islower() or piece.isupper() or piece.istitle():
        return better if piece.islower() else better.upper() if piece.isupper() and len(piece) > 1 else better.capitalize()
    most = min(len(piece), len(better))
    first = next((at for at in range(most) if piece[at].lower() != better[at]), most)
    last = next((at for at in range(most - first) if piece[-1 - at].lower() != better[-1 - at]), most - first)
    wrong, right = piece[first : len(piece) - last], better[first : len(better) - last]
    if wrong.isupper() and len(wrong) == len(right) == 1:
        right = right.upper()
    elif not (wrong or piece[max(first - 1, 0) : first + 1]).islower():
        return better
    return piece[:first] + right + piece[len(piece) - last :]
