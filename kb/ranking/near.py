"""Words that look alike: other forms, compounds and derivations that no stem joins.

`Speicherkapazität` says something about `Kapazität`, `надёжный` about `надёжность`. Such words add a
little to a section that holds a word of the query anyway. Only a word that the index does not hold at
all, and a part of a German compound, may bring in sections by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kb.index import grams
from kb.index.segment import Segment, ranges
from kb.index.snapshot import Snapshot
from kb.ranking import weights
from kb.records import record

if TYPE_CHECKING:
    from numpy.typing import NDArray

_COMPOUNDING = {"de", "nl", "sv", "da", "no", "fi", "hu", "et"}


@record
class Near:
    """A spelling like the one looked for; `similarity` from 0 to 1; `part`: one of the two is a part of the other."""

    spelling: str
    similarity: float
    part: bool


def spellings(snapshot: Snapshot) -> int:
    """Return how many spellings the index holds (those in several segments count in each)."""
    found: int | None = snapshot.memo.get("spellings")
    if found is None:
        found = snapshot.memo["spellings"] = sum(len(segment.words) for segment in snapshot.segments)
    return found


def small(snapshot: Snapshot) -> bool:
    """Tell whether a base is small enough to look for similar words of every word of a query."""
    return spellings(snapshot) <= weights.NEAR_VOCABULARY


def compounding(snapshot: Snapshot) -> bool:
    """Tell whether the base holds a language that writes compounds as one word."""
    return not _COMPOUNDING.isdisjoint(snapshot.languages)


def near(spelling: str, snapshot: Snapshot) -> list[Near]:
    """Return the most similar live spellings, the best first, the spelling itself left out."""
    if len(spelling) < grams.SHORTEST or not spelling.isalpha():
        return []
    held: dict[tuple[str | float, ...], list[Near]] = snapshot.remembered("similar words")
    key = (spelling, weights.NEAR_LEAST, weights.NEAR_MOST, weights.PART_LEAST, weights.PART_SHORTEST)
    found = held.get(key)
    if found is None:
        found = held[key] = _near(spelling, snapshot)
    return found


def is_name(tokens: Sequence[Sequence[str]], snapshot: Snapshot) -> bool:
    """Tell whether a query is a name of the base. `tokens`: for each spelling of the query the terms that stand for it."""
    return any((held == len(tokens)).any() for _, _, held in _names(tokens, snapshot))


def left_over(
    tokens: Sequence[Sequence[str]], doubtful: Mapping[str, int], lacking: int, snapshot: Snapshot
) -> list[tuple[str, str]]:
    """Return what may have been meant where a query is a name but for one word: (spelling of the query, spelling of the name).

    `tokens`: for each spelling of the query the terms that stand for it; so many of them at most may stand in no name
    (`lacking`). `doubtful`: spellings of the query, each with the edits that it may be away. They are not counted here; what is
    returned has about the same length and characters. Nothing where the query is a name as it stands.
    """
    near = []
    for segment, units, held in _names(tokens, snapshot):
        units = units[held >= max(len(tokens) - lacking, 1)]
        if len(units):
            if held.max() >= len(tokens):
                return []
            near.append((segment, units))
    if not near:
        return []
    out: dict[tuple[str, str], None] = {}
    asked = {term for terms in tokens for term in terms}
    wanted = list(zip(doubtful.items(), grams.signatures(list(doubtful)), strict=True))
    for segment, units in near:
        terms = segment.head.forward_terms[ranges(segment.head.forward_starts, units)]
        for term in asked:
            terms = terms[terms != segment.number_of(term)]  # None is no number
        words = segment.term_words[ranges(segment.term_word_starts, terms)]
        lengths, signatures = segment.word_lengths[words].astype(np.int16), segment.word_signatures[words]
        for (spelt, most), own in wanted:
            alike = (np.abs(lengths - len(spelt)) <= most) & (np.bitwise_count(signatures ^ own) <= 2 * most)
            out.update(dict.fromkeys((spelt, segment.words[word]) for word in words[alike].tolist()))
    return list(out)


def _names(tokens: Sequence[Sequence[str]], snapshot: Snapshot) -> Iterator[tuple[Segment, NDArray[np.int64], NDArray[np.int64]]]:
    """Yield for each segment the live names of as many words as a query has, and how many of its words each holds."""
    for segment in snapshot.segments:
        units = _of_length(segment, len(tokens))
        numbers = [number for terms in tokens for term in terms if (number := segment.number_of(term)) is not None]
        if len(units) and numbers:
            found = np.concatenate([segment.head.of(number)[0] for number in numbers])
            yield segment, units, np.bincount(found, minlength=len(segment.head.lengths))[units]


def _of_length(segment: Segment, length: int) -> NDArray[np.int64]:
    """Return the live names of so many words."""
    held: dict[int, NDArray[np.int64]] = segment.worked_out.setdefault("names by length", {})
    found = held.get(length)
    if found is None:
        found = held[length] = np.flatnonzero(segment.head.lengths == length)
    gone = segment.dead_mask("head")
    return found if gone is None else found[~gone[found]]


def _near(spelling: str, snapshot: Snapshot) -> list[Near]:
    found: dict[str, float] = {}
    parts = compounding(snapshot)
    for segment in snapshot.segments:
        words, similarity = grams.sharing(segment, spelling)
        alike = similarity >= weights.NEAR_LEAST
        if parts:
            alike |= _may_be_part(segment, spelling, words, similarity)
        for at in alike.nonzero()[0].tolist():
            other = segment.words[int(words[at])]
            if similarity[at] >= weights.NEAR_LEAST or _part(spelling, other):
                found[other] = float(similarity[at])
    found.pop(spelling, None)
    out: list[Near] = []
    for other in sorted(found, key=lambda other: (-found[other], other)):
        if len(out) == weights.NEAR_MOST:
            break
        if snapshot.documents_with(other):
            out.append(Near(other, found[other], _part(spelling, other)))
    return out


def _may_be_part(segment: Segment, spelling: str, words: NDArray[np.int32], similarity: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which words share all grams but one with a spelling, or it with them: how a short word lies in a long compound."""
    own = grams.count_of(len(spelling))
    theirs = segment.word_lengths[words].astype(np.int64) + 3 - grams.SIZE
    shared = similarity * (own + theirs) / 2
    return (similarity >= weights.PART_LEAST) & (shared > np.minimum(own, theirs) - 1.5)


def _part(first: str, second: str) -> bool:
    short, long = sorted((first, second), key=len)
    return len(short) >= weights.PART_SHORTEST and (long.startswith(short) or long.endswith(short))
