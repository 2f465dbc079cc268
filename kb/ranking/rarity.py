"""How rare a word is among the texts of its own languages.

A base holds more of one language than of another. A German word that every third German passage has is rare in a base whose
German part is small, and by the idf of the whole base it would outweigh what the same question asks for in English.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from kb.analysis.languages import script, script_of
from kb.index.segment import Segment
from kb.index.snapshot import Snapshot
from kb.ranking import weights
from kb.ranking.bm25 import idf

if TYPE_CHECKING:
    from numpy.typing import NDArray

NOTHING: Mapping[str, float] = {}
_MOST_COUNTED = 20_000


def shares(snapshot: Snapshot, terms: Iterable[str]) -> Mapping[str, float]:
    """Return what terms count for in passages and leads, as a share of their idf in the whole base; those left out count whole.

    With N_l units of a language l of which n_l hold a term, the term's idf in l is that of n_l in N_l + LANGUAGE_MARGIN * N; its
    share is the mean of these over all units that hold it, divided by its idf in the whole base, and 1 at most.
    """
    if len(snapshot.languages) < 2:
        return NOTHING
    held: dict[str, float] = snapshot.remembered("shares of rarity")
    out = {}
    for term in terms:
        share = held.get(term)
        if share is None:
            share = held[term] = _share(snapshot, term)
        if share < 1:
            out[term] = share
    return out


def is_foreign(snapshot: Snapshot, terms: Iterable[str], language: str) -> bool:
    """Tell whether terms of the script of a language stand in texts, and in none of that language."""
    own = script_of(language)
    counts = [
        _joined(snapshot, [_holding(segment, term) for segment in snapshot.segments]) for term in terms if script(term) == own
    ]
    return any(any(one.values()) for one in counts) and not any(one.get(language) for one in counts)


def _share(snapshot: Snapshot, term: str) -> float:
    frequency = snapshot.frequency("text", term)
    if frequency <= 0:
        return 1.0
    units = _units(snapshot)
    margin = weights.LANGUAGE_MARGIN * snapshot.text.units
    counts = _joined(snapshot, [_holding(segment, term) for segment in snapshot.segments])
    total = sum(count * idf(round(units[language] + margin), count) for language, count in counts.items() if count)
    return min(total / frequency / idf(snapshot.text.units, frequency), 1.0)


def _units(snapshot: Snapshot) -> dict[str, int]:
    """Return how many live units each language has."""
    found: dict[str, int] | None = snapshot.memo.get("units by language")
    if found is None:
        found = snapshot.memo["units by language"] = _joined(snapshot, [_live(segment) for segment in snapshot.segments])
    return found


def _joined(snapshot: Snapshot, parts: Iterable[NDArray[np.int64]]) -> dict[str, int]:
    out: dict[str, int] = {}
    for segment, counts in zip(snapshot.segments, parts, strict=True):
        for language, count in zip(segment.languages, counts.tolist(), strict=True):
            out[language] = out.get(language, 0) + count
    return out


def _live(segment: Segment) -> NDArray[np.int64]:
    """Return how many live units of a segment are in each of its languages."""
    languages = _languages(segment)
    every: NDArray[np.int64] | None = segment.worked_out.get("units by language")
    if every is None:
        every = segment.worked_out["units by language"] = _counted(segment, languages)
    return every - _counted(segment, languages[segment.dead.units]) if segment.dead.units.size else every


def _holding(segment: Segment, term: str) -> NDArray[np.int64]:
    """Return how many live units of a segment hold a term, by language. Removals are few beside what is counted once."""
    number = segment.number_of(term)
    if number is None:
        return np.zeros(len(segment.languages), dtype=np.int64)
    languages, units = _languages(segment), segment.text.of(number)[0]
    kept: dict[int, NDArray[np.int64]] = segment.worked_out.setdefault("terms by language", {})
    every = kept.get(number)
    if every is None:
        if len(kept) >= _MOST_COUNTED:
            kept.clear()
        every = kept[number] = _counted(segment, languages[units])
    dead = segment.dead.units
    if not dead.size or not units.size:  # a term may stand in names alone
        return every
    at = np.minimum(units.searchsorted(dead), len(units) - 1)
    return every - _counted(segment, languages[dead[units[at] == dead]])


def _counted(segment: Segment, languages: NDArray[np.uint8]) -> NDArray[np.int64]:
    return np.bincount(languages, minlength=len(segment.languages))


def _languages(segment: Segment) -> NDArray[np.uint8]:
    """Return the language of each unit, as its position among the segment's."""
    found: NDArray[np.uint8] | None = segment.worked_out.get("languages of units")
    if found is None:
        found = segment.worked_out["languages of units"] = segment.hit_language[segment.unit_hit]
    return found
