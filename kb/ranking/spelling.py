"""The nearest known spelling of a word that the index has never seen."""

from __future__ import annotations

import numpy as np

from kb.analysis import words
from kb.analysis.distance import signature, within
from kb.index import grams
from kb.index.segment import Segment
from kb.index.snapshot import Snapshot

SHORTEST = 5
"""Words of fewer characters are not corrected: nearly every other short word is one edit away."""
TWO_EDITS_FROM = 9
"""From this many characters on, two edits are allowed."""


def allowance(word: str) -> int:
    """Return how many edits a word of its length may be away, in characters."""
    return 0 if len(word) < SHORTEST else 1 if len(word) < TWO_EDITS_FROM else 2


def correct(word: str, snapshot: Snapshot) -> str | None:
    """Return the known spelling nearest to a word: by edits, then by shared 4-grams, then the more frequent; or None.

    Words with digits or inner signs (numbers, versions, identifiers) are never corrected.
    """
    spelt = words.normalise(word)
    most = allowance(spelt)
    if not most or not spelt.isalpha():
        return None
    found: dict[str, tuple[int, float, int]] = {}
    for segment in snapshot.segments:
        for candidate in _candidates(segment, spelt, most):
            distance = within(spelt, candidate, most)
            if distance is not None and candidate not in found:
                found[candidate] = (distance, -grams.similarity(spelt, candidate), -snapshot.documents_with(candidate))
    live = {candidate: rank for candidate, rank in found.items() if rank[2]}
    return min(live, key=lambda candidate: (*live[candidate], candidate)) if live else None


def _candidates(segment: Segment, spelt: str, most: int) -> list[str]:
    near = np.abs(segment.word_lengths.astype(np.int16) - len(spelt)) <= most
    numbers = np.flatnonzero(near)
    if not len(numbers):
        return []
    differing = np.bitwise_count(segment.word_signatures[numbers] ^ np.uint64(signature(spelt)))
    return [segment.words[int(number)] for number in numbers[differing <= 2 * most]]
