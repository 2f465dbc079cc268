"""Words that look alike: other forms, compounds and derivations that no stem joins.

`Speicherkapazität` says something about `Kapazität`, `надёжный` about `надёжность`. Such words add a
little to a section that holds a word of the query anyway. Only a word that the index does not hold at
all, and a part of a German compound, may bring in sections by themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kb.index import grams
from kb.index.segment import Segment
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
