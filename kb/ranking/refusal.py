"""When a question is about something else than the base: the base lacks words of it, and the best hit has little of the rest.

Read only where the base lacks a word of the question. A section that happens to hold one common word of a question is no
answer to it; one that is called by that word may well be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kb.ranking import near, weights

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from kb.index.segment import Postings, Segment
    from kb.index.snapshot import Snapshot
    from kb.ranking.plan import Asked, Plan
    from kb.ranking.ranker import Scored


def is_about_something_else(snapshot: Snapshot, made: Plan, best: Scored) -> bool:
    """Tell whether a question whose best hit is `best` has little to do with the base.

    In a base of few words an unseen one says little about a question; there nothing is refused.
    """
    count = len(made.words)
    if count < 2 or best.named or made.support >= 1 or near.spellings(snapshot) < weights.LEAST_VOCABULARY:
        return False
    segment = snapshot.segments[best.segment]
    held = sum(_covered(segment, best.hit, word) for word in made.words) / sum(word.weight for word in made.words)
    words = weights.WORDS_SPEAK * min(count, weights.MOST_WORDS_SPEAK)
    if made.support + weights.HELD_SPEAKS * held + words >= weights.LEAST_EVIDENCE:
        return False
    return not _is_called_so(segment, best.hit, made.words) and not any(
        _is_rare(snapshot, word) and _is_of_a_name(snapshot, word, count) for word in made.words
    )


def _covered(segment: Segment, hit: int, word: Asked) -> float:
    """Return how much a hit says about a word: its weight, or a share of that where it holds only words that are like it."""
    if any(len(found) for found in (*_in_names(segment, hit, word.terms), *_in_text(segment, hit, word.terms))):
        return word.weight
    parts = any(len(found) for found in (*_in_names(segment, hit, word.parts), *_in_text(segment, hit, word.parts)))
    return word.weight * weights.NEAR_WEIGHT if parts else 0.0


def _is_called_so(segment: Segment, hit: int, words: Iterable[Asked]) -> bool:
    """Tell whether one of a hit's names is much like the question, or a single word of it.

    Dice's coefficient of their words, function words of the name counted.
    """
    asked = list(words)
    held: dict[int, int] = {}
    for word in asked:
        for name in {int(name) for names in _in_names(segment, hit, word.terms) for name in names}:
            if word.sure and segment.head.lengths[name] == 1:
                return True
            held[name] = held.get(name, 0) + 1
    sizes = {name: len(asked) + int(segment.head.lengths[name]) for name in held}
    return any(2 * count / sizes[name] >= weights.NAME_LIKENESS for name, count in held.items())


def _is_rare(snapshot: Snapshot, word: Asked) -> bool:
    """Tell whether a word, as it is spelt, stands in few texts."""
    frequent = max((snapshot.frequency("text", term) for term in word.terms), default=0)
    return word.sure and frequent <= weights.RARE_UNITS


def _is_of_a_name(snapshot: Snapshot, word: Asked, asked: int) -> bool:
    """Tell whether some name in the base is short enough for one word in common to make it like a question of so many words."""
    longest = 2 / weights.NAME_LIKENESS - asked
    for segment in snapshot.segments:
        for term in word.terms:
            number = segment.number_of(term)
            if number is not None and (segment.head.lengths[segment.head.of(number)[0]] <= longest).any():
                return True
    return False


def _in_text(segment: Segment, hit: int, terms: Iterable[str]) -> Iterable[NDArray[np.int32]]:
    return _of_hit(segment, segment.text, segment.hit_start, hit, terms)


def _in_names(segment: Segment, hit: int, terms: Iterable[str]) -> Iterable[NDArray[np.int32]]:
    return _of_hit(segment, segment.head, segment.name_start, hit, terms)


def _of_hit(
    segment: Segment, field: Postings, starts: NDArray[np.int32], hit: int, terms: Iterable[str]
) -> Iterable[NDArray[np.int32]]:
    """Yield for each term the units of a hit that hold it."""
    first, last = np.int32(starts[hit]), np.int32(starts[hit + 1])
    for term in terms:
        number = segment.number_of(term)
        if number is not None:
            units = field.of(number)[0]
            yield units[units.searchsorted(first) : units.searchsorted(last)]
